//! Offload: what a table in a switch answers while its control loop is behind.
//!
//! Time is in slots of one lookup each; [`timing`] turns them into seconds.
//!
//! 1. [`options`]: what to compare; [`comparison`]: what came of it.
//! 2. [`timing`], [`tally`]: time, and misses over time.

pub mod comparison;
pub mod options;
pub mod tally;
pub mod timing;
