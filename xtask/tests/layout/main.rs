//! The layout of the repository as rules: who may import whom, and that what documents point to is there.

mod chart;
mod circles;
mod circuits;
mod crates;
mod fuzz;
mod paths;
mod shape;
mod source;

use std::path::Path;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
