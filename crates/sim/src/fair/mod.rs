//! A shared cluster on a user's own log of jobs.
//!
//! 1. [`workload`]: logs of tasks, read and generated.

pub mod workload;
