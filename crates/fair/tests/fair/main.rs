//! Policies, readers and studies of shared clusters from outside: against their rules, naive forms, worked examples, real logs and the
//! seeds of the fuzzer.

mod allocation;
mod conformance;
mod demands;
mod jobs;
mod recommend;
mod simulate;
mod snapshot;
mod uses;
