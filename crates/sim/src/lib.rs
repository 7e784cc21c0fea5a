//! Time and workloads: what drives the policies of `trueplane-core` in simulation.
//!
//! 1. [`trace`]: requests from files and standard input, whatever their format.
//! 2. [`cache`]: caching with delayed hits.
//! 3. [`offload`]: a switch's table and the loop that keeps it up to date.
#![forbid(unsafe_code)]

pub mod cache;
pub mod offload;
