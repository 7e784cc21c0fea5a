//! Time and workloads: what drives the policies of `trueplane-core` in simulation.
//!
//! 1. [`trace`]: requests from files and standard input, whatever their format.
//! 2. [`cache`]: caching with delayed hits.
#![forbid(unsafe_code)]

pub mod cache;
