//! The reports of the studies of limits: facts, tables and pictures.

mod precision;
mod replay;
mod size;
