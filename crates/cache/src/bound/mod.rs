//! How far from optimal: the least total latency of a trace, from below and from above.
//!
//! 1. [`problem`]: the trace as an instance of BELATEDLY.
//! 2. [`mod@search`]: prices that prove a lower bound and a schedule that is an upper one, ever closer to each other.
//! 3. [`replay`]: a schedule followed by the simulator; [`export`] writes down what becomes of every request.
//! 4. [`certificate`]: both bounds with all that proves them, for [`check`](super::check).
//! 5. `lp`, with the feature of that name: the exact way, for small traces.
//! 6. [`study`]: the bounds, how far from them every policy is, and ([`burstiness`]) for which objects Bélády is wrong;
//!    `report`, `plots` and [`verdict`] show it.
//! 7. [`mod@column`]: the same as a column of `cache compare`.

pub mod burstiness;
pub mod certificate;
pub mod column;
pub mod export;
#[cfg(feature = "lp")]
pub mod lp;
mod plots;
pub mod problem;
pub mod replay;
pub(super) mod report;
pub mod search;
pub mod study;
pub mod verdict;

pub use problem::{Options, Problem};
pub use search::{Limits, Solution, search};
