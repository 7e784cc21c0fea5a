//! Policies, the classifier and studies of limits from outside: against their rules, naive forms, committed vectors and the seeds of the
//! fuzzer.

mod classifier;
mod classifier_vectors;
mod conformance;
mod precision;
mod replay;
mod vectors;
