//! Every queue against its rules, a sorted vector, worked examples and committed vectors.

mod bbq;
mod bundles;
mod conformance;
mod example;
mod hardware;
mod methods;
mod timers;
mod vectors;
