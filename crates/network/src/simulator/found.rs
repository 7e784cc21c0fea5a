//! Flow completion times by size.

use trueplane_units::Nanos;

use super::flow::Completed;

/// Flows from one size up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeClass {
    /// Least size in bytes.
    pub from: u64,
    /// Size in bytes that is too large.
    pub below: u64,
}

impl SizeClass {
    /// Flows below 100 kB.
    pub const SMALL: SizeClass = SizeClass { from: 0, below: 100_000 };
    /// Flows of 1 MB and more.
    pub const LARGE: SizeClass = SizeClass { from: 1_000_000, below: u64::MAX };
}

/// Completion times of the flows of a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Number of flows.
    pub flows: usize,
    /// Mean, in milliseconds.
    pub mean_ms: f64,
    /// 99th percentile by the nearest rank, in milliseconds.
    pub p99_ms: f64,
}

impl Times {
    /// The times of the flows of a class; `None` if there is none.
    pub fn of(completed: &[Completed], class: SizeClass) -> Option<Times> {
        let is_in = |one: &&Completed| (class.from..class.below).contains(&one.spec.bytes);
        let mut times: Vec<Nanos> = completed.iter().filter(is_in).map(Completed::time).collect();
        times.sort_unstable();
        let flows = times.len();
        let last = *times.get((flows * 99).div_ceil(100).saturating_sub(1))?;
        let sum: u128 = times.iter().map(|time| u128::from(time.0)).sum();
        Some(Times { flows, mean_ms: sum as f64 / flows as f64 / 1e6, p99_ms: last.0 as f64 / 1e6 })
    }
}
