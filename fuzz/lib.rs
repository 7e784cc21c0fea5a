//! What the fuzz targets do with an input: read it, and check what no input may break.
//!
//! One module for every kind of input. The tests of its crate include the module, too, and do the same with the seeds.
#![forbid(unsafe_code)]

#[path = "../crates/cache/fuzz/certificate.rs"]
pub mod cache_certificate;
#[path = "../crates/fair/fuzz/demands.rs"]
pub mod fair_demands;
#[path = "../crates/fair/fuzz/jobs.rs"]
pub mod fair_jobs;
#[path = "../crates/fair/fuzz/snapshot.rs"]
pub mod fair_snapshot;
#[path = "../crates/proxy/fuzz/rules.rs"]
pub mod http_rules;
#[path = "../crates/limit/fuzz/classifier.rs"]
pub mod limit;
#[path = "../crates/limit/fuzz/bpf.rs"]
pub mod limit_bpf;
#[path = "../crates/network/fuzz/tables.rs"]
pub mod network_tables;
#[path = "../crates/pqueue/fuzz/mod.rs"]
pub mod pqueue;
#[path = "../crates/proxy/fuzz/disk.rs"]
pub mod proxy_disk;
#[path = "../crates/spray/fuzz/packet.rs"]
pub mod spray_packet;
#[path = "../crates/spray/fuzz/rules.rs"]
pub mod spray_rules;
#[path = "../crates/surge/fuzz/jobs.rs"]
pub mod surge_jobs;
#[path = "../crates/surge/fuzz/reassembly.rs"]
pub mod surge_reassembly;
#[path = "../crates/surge/fuzz/replay.rs"]
pub mod surge_replay;
#[path = "../crates/surge/fuzz/rules.rs"]
pub mod surge_rules;
#[path = "../crates/trace/fuzz/readers.rs"]
mod traces;

pub use traces::*;
