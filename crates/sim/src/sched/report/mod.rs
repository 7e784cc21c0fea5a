//! The reports of the studies of order: facts, tables and pictures.

mod bandwidth;
mod inversions;
mod plots;
