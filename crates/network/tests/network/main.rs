//! Transport against faults, scripts and naive models.

mod conformance;
mod path;
mod senders;
