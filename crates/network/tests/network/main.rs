//! Transport against faults, scripts and naive models.

mod conformance;
mod example;
mod fabric;
mod feedback;
mod isolation;
mod naive;
mod path;
mod presets;
mod properties;
mod receivers;
mod reordering;
mod script;
mod scripts;
mod senders;
mod simplified;
mod simulator;
mod windows;
