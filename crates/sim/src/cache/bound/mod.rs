//! How far from optimal: the least total latency of a trace, from below and from above.
//!
//! 1. [`problem`]: the trace as an instance of BELATEDLY.
//! 2. [`search`]: prices that prove a lower bound and a schedule that is an upper one, ever closer to each other.

pub mod problem;
pub mod search;

pub use problem::{Options, Problem};
pub use search::{Limits, Solution, search};
