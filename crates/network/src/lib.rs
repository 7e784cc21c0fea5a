#![doc = include_str!("../README.md")]
//!
//! ## The modules
//!
//! 1. [`transport`]: senders and receivers as state machines: time and segments in, segments and the next wake-up out.
#![forbid(unsafe_code)]

pub mod transport;

pub use trueplane_units::Nanos;
