//! The limiters, one file each.
//!
//! [`Nimble`] is the one that is deployed: 16 bytes, and twins in other languages. The others are references to hold against
//! it. Their state is exact and takes rates, bursts and times of any size, at the price of wider words. [`PolicyName`] has their names.

mod gcra;
mod hierarchy;
pub mod name;
mod nanobits;
mod nimble;
pub(crate) mod schedule;
mod srtcm;
mod token_bucket;
mod trtcm;

pub use gcra::Gcra;
pub use hierarchy::Hierarchy;
pub use name::PolicyName;
pub use nanobits::Nanobits;
pub use nimble::Nimble;
pub use srtcm::{SingleRateError, SingleRateMeter};
pub use token_bucket::TokenBucket;
pub use trtcm::{TwoRateError, TwoRateMeter};
