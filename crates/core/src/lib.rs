//! Decisions only: the policies, models and metrics of trueplane.
//!
//! Nothing here reads a clock, does I/O, starts a thread or draws from a global random number generator: time is an
//! argument and randomness is seeded, so that one implementation of a policy serves the simulator (`trueplane-sim`) and
//! could serve a live system.
//!
//! From the bottom up:
//!
//! 1. [`cache`]: caching with delayed hits.
//! 2. [`offload`]: what a switch's table answers, and how late it learns.
#![forbid(unsafe_code)]

pub mod cache;
pub mod offload;
