//! Values that move with time.

use std::fmt;

/// Number type of instants.
pub trait Instant: Copy + Ord + fmt::Debug {
    /// After all others.
    const NEVER: Self;
}

impl Instant for u64 {
    const NEVER: Self = u64::MAX;
}

impl Instant for u128 {
    const NEVER: Self = u128::MAX;
}

/// A value that moves with time, in whole instants.
///
/// Nobody asks how large it is, only which of two comes first, and until when: whoever knows the curve answers that exactly, in
/// integers or fractions, so that no order depends on how something was rounded.
pub trait Curve {
    /// The clock by which it moves. Any that does not go back will do: one that is not proportional to time may make curves straight.
    type Instant: Instant;

    /// Whether `self` comes before `other` at `now`. Must be a strict total order at every instant, so ties are broken.
    fn beats(&self, other: &Self, now: Self::Instant) -> bool;

    /// `self` beats `other` at `now`: the first instant at which that may no longer hold, after `now`.
    ///
    /// May be too early, which costs a comparison, and never too late; [`Instant::NEVER`] means that it holds for ever.
    fn holds_until(&self, other: &Self, now: Self::Instant) -> Self::Instant;
}

/// Curves on which their structures are tested.
#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// value(t) = slope × t + offset, the larger first, the lower name first among equals.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(crate) struct Line {
        pub(crate) slope: i64,
        pub(crate) offset: i64,
        pub(crate) name: u32,
    }

    impl Line {
        pub(crate) fn at(&self, now: u64) -> (i64, std::cmp::Reverse<u32>) {
            (self.slope * now as i64 + self.offset, std::cmp::Reverse(self.name))
        }
    }

    impl Curve for Line {
        type Instant = u64;

        fn beats(&self, other: &Self, now: u64) -> bool {
            self.at(now) > other.at(now)
        }

        fn holds_until(&self, other: &Self, now: u64) -> u64 {
            if other.slope <= self.slope {
                return u64::MAX;
            }
            let gap = self.at(now).0 - other.at(now).0;
            now + (gap / (other.slope - self.slope)).max(1) as u64
        }
    }
}
