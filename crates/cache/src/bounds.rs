//! Two numbers between which the least total latency of a cache lies.

use trueplane_study::rounded::Toward;

/// Bounds on the least total latency, in the unit of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// No schedule of the cache has a smaller total latency.
    pub lower: u64,
    /// Some schedule of it has this total latency.
    pub upper: u64,
}

impl Bounds {
    /// The distance between the bounds: (upper − lower) / lower, without end if only the lower one is zero.
    pub fn gap(self) -> f64 {
        if self.upper <= self.lower { 0.0 } else { self.upper as f64 / self.lower as f64 - 1.0 }
    }
}

/// Share by which `total` is above `bound`; none where that is no number.
pub(crate) fn above(total: u128, bound: u64) -> Option<f64> {
    match (total, bound) {
        (0, 0) => Some(0.0),
        (_, 0) => None,
        _ => Some(total as f64 / bound as f64 - 1.0),
    }
}

/// A gap beside the one that was asked for, which is smaller.
pub(crate) fn apart(gap: f64, asked: f64) -> String {
    if gap.is_finite() { Toward::Up.percent_beside(gap, asked) } else { "without end".to_owned() }
}
