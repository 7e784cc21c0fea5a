//! What the fuzz targets do with an input: read it, and check what no input may break.
//!
//! One module for every subsystem that reads what strangers wrote; the tests of its crate include the module and do the
//! same with the seeds.
#![forbid(unsafe_code)]

pub mod cache_certificate;
pub mod fair_demands;
pub mod fair_jobs;
pub mod fair_snapshot;
pub mod limit;
pub mod limit_bpf;
pub mod pqueue;
pub mod spray_packet;
pub mod surge_jobs;
pub mod surge_reassembly;
pub mod surge_replay;
pub mod surge_rules;
mod traces;

pub use traces::*;
