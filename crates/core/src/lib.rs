//! Decisions only: the policies, models and metrics of trueplane.
//!
//! Nothing here reads a clock, does I/O, starts a thread or draws from a global random number generator: time is an
//! argument and randomness is seeded, so that one implementation of a policy serves the simulator (`trueplane-sim`) and
//! could serve a live system.
//!
//! From the bottom up:
//!
//! 1. [`cache`]: caching with delayed hits.
#![forbid(unsafe_code)]

pub mod cache;
