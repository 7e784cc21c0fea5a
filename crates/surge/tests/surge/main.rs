//! Orders of service, attacks and applications from outside: against their rules, naive forms, theory, real captures and the seeds of the
//! fuzzer.

mod attacker;
mod compare;
mod conformance;
mod jobs;
mod matching;
mod reassembly;
mod server;
mod sweep;
mod theorem;
mod theory;
