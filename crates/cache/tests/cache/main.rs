//! Policies, engines and studies of caches from outside: against their rules, a naive model, exact optima, the claims of the thesis and
//! the seeds of the fuzzer.

mod bound;
mod bound_certificate;
mod concurrent;
mod conformance;
mod continuous;
mod disturbed;
mod documents;
mod naive;
mod naive_examples;
mod shapes;
mod slotted;
mod twin;
mod uses;
