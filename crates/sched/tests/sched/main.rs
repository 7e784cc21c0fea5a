//! Schedulers, ranks and the study of order from outside: against their rules, a naive port, queueing theory, the shapes of the paper's
//! figures and real captures.

mod bandwidth;
mod conformance;
mod example;
mod inversions;
mod naive;
mod port;
mod stop;
