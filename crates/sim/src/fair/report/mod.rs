//! The reports of the studies of clusters: facts, tables and pictures.

mod plots;
mod simulate;
mod sweep;
