//! The reports of the studies of limits: facts, tables and pictures.

mod precision;
mod replay;
mod size;

/// What the classical model believes.
pub const BELIEF: &str = "TCP shares the link fairly, so that no tenant has to be limited";
