//! Caching with delayed hits: where the requests come from, what they look like, and what becomes of them.
//!
//! 1. [`generate`]: synthetic request traces with bursts.
//! 2. [`scan`]: what a study must know of a trace before it runs; [`analyze`] reports it.
//! 3. [`latency`]: how long the backing store takes.
//! 4. [`engine`]: requests and the ends of fetches in the order of time, around the cache of `trueplane-core`.
//! 5. [`oracle`]: the future, for the offline policies.
//! 6. [`cell`]: one policy at one capacity and latency.
//! 7. [`compare`]: all of them, side by side with the classical model, over a [`grid`]; [`verdict`] says who is fooled,
//!    [`report`] and [`plots`] show it.
//! 8. [`bound`]: the least latency that any of them could have had; [`check`] verifies its certificates.

pub mod analyze;
mod beware;
pub mod bound;
pub mod cell;
pub mod check;
pub mod compare;
pub mod engine;
pub mod generate;
pub mod grid;
pub mod latency;
pub mod oracle;
pub mod plots;
pub mod report;
pub mod scan;
pub mod verdict;
