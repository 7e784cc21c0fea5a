//! Policies, the classifier and studies of limits from outside, as a user has them: against their rules, naive forms, committed vectors and the seeds of the
//! fuzzer.

mod classifier;
mod classifier_vectors;
mod conformance;
mod precision;
mod replay;
mod uses;
mod vectors;
