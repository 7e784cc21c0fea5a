#![doc = include_str!("../README.md")]
//!
//! ## The modules
//!
//! 1. [`transport`]: senders and receivers as state machines: time and segments in, segments and the next wake-up out.
//!
//! With the feature `study`:
//!
//! 1. `simulator`: hosts, links, switches and flows, packet by packet.
//! 2. `fabric`: the study of flow completion times under packet schedulers.
//! 3. `feedback`: the study of the order of packets with senders that react.
//! 4. `isolation`: the study of tenants that share a link, with and without limits.
//! 5. `reordering`: the study of what packet spraying in a middlebox costs TCP.
#![forbid(unsafe_code)]

#[cfg(feature = "study")]
pub mod fabric;
#[cfg(feature = "study")]
pub mod feedback;
#[cfg(feature = "study")]
pub mod isolation;
#[cfg(feature = "study")]
pub mod reordering;
#[cfg(feature = "study")]
pub mod simulator;
pub mod transport;

pub use trueplane_units::Nanos;
