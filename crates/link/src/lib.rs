#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod link;
mod options;

pub use link::{Arrived, Counts, Fate, Link, Terms};
pub use options::{Faults, LinkOptions};
