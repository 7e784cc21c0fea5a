//! Workloads, engines and studies from outside: against naive models, published figures, real captures and the seeds of the fuzzer.

mod cache_bound;
mod cache_bound_certificate;
mod cache_continuous;
mod cache_naive;
mod cache_naive_examples;
mod cache_shapes;
mod cache_slotted;
