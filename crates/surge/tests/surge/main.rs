//! Orders of service, attacks and applications from outside: against their rules, naive forms, theory, real captures and the seeds of the
//! fuzzer; and the engine of a benchmark.

mod attacker;
mod compare;
mod conformance;
mod jobs;
mod matching;
#[cfg(target_os = "linux")]
mod pipeline;
mod reassembly;
mod server;
mod sweep;
mod theorem;
mod theory;
