//! The hardware queue for its users: what a circuit of `rtl/bbq` takes, how many of them a switch needs, and the files to build it from.
//!
//! 1. [`rtl`]: the study: tables, latency, operations a second, instances.
//! 2. [`bundle`]: the files: sources, a wrapper with the parameters, a test bench with the model's answers, and how to run it.

pub mod bundle;
pub mod rtl;
