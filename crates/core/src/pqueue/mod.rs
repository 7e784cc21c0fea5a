//! Priority queues.
//!
//! - [`kinetic`]: the maximum of values that change with time by themselves.
//! - [`product`]: exact comparison of long products, which ranks that are fractions need.

pub mod kinetic;
pub mod product;

pub use kinetic::{Curve, KineticTournament};
