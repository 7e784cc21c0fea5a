//! How far from optimal: the bounds of `cache bound` against brute force, against each other, and against every policy.

mod cases;
#[cfg(feature = "lp")]
mod lp;
mod model;
mod naive;
mod policies;
