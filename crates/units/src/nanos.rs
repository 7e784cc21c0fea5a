//! Time in nanoseconds.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A span of time or an instant on the driver's clock, in nanoseconds.
///
/// Policies never read a clock: the driver passes the time in. A slotted driver counts one time step as one unit.
///
/// A program with a clock converts what it measures:
///
/// ```
/// use std::time::Duration;
/// use trueplane_units::Nanos;
///
/// assert_eq!(Nanos::from(Duration::from_micros(1_500)), Nanos(1_500_000));
/// assert_eq!(Duration::from(Nanos::from_millis(3)), Duration::from_millis(3));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// The latest instant there is; stands for "never".
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// A number of seconds; saturates at [`Nanos::MAX`], from 18,446,744,074 s on (about 584 years).
    #[inline]
    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(seconds.saturating_mul(1_000_000_000))
    }

    /// A number of milliseconds; saturates at [`Nanos::MAX`], from 18,446,744,073,710 ms on (about 584 years).
    #[inline]
    pub const fn from_millis(milliseconds: u64) -> Nanos {
        Nanos(milliseconds.saturating_mul(1_000_000))
    }

    /// A number of microseconds; saturates at [`Nanos::MAX`], from 18,446,744,073,709,552 µs on (about 584 years).
    #[inline]
    pub const fn from_micros(microseconds: u64) -> Nanos {
        Nanos(microseconds.saturating_mul(1_000))
    }

    /// The time from `earlier` to `self`, zero if it has not come yet.
    #[inline]
    pub fn since(self, earlier: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(earlier.0))
    }

    /// The instant `span` after `self`; saturates at [`Nanos::MAX`].
    #[inline]
    pub fn after(self, span: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(span.0))
    }
}

/// Exact up to [`Nanos::MAX`], about 584 years; longer durations saturate there.
impl From<Duration> for Nanos {
    #[inline]
    fn from(span: Duration) -> Self {
        Nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}

/// Exact. [`Nanos::MAX`] becomes a duration of about 584 years.
impl From<Nanos> for Duration {
    #[inline]
    fn from(span: Nanos) -> Self {
        Duration::from_nanos(span.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_larger_units_are_converted_and_saturate() {
        const SECOND: Nanos = Nanos::from_secs(1);
        assert_eq!(
            [SECOND, Nanos::from_millis(1_000), Nanos::from_micros(1_000_000)],
            [Nanos(1_000_000_000); 3]
        );
        // The last count that is exact, and two that saturate.
        let counts = |last: u64| [last, last + 1, u64::MAX];
        let (seconds, millis, micros) = (18_446_744_073, 18_446_744_073_709, 18_446_744_073_709_551);
        let expected = |last: u64, scale: u64| [Nanos(last * scale), Nanos::MAX, Nanos::MAX];
        assert_eq!(counts(seconds).map(Nanos::from_secs), expected(seconds, 1_000_000_000));
        assert_eq!(counts(millis).map(Nanos::from_millis), expected(millis, 1_000_000));
        assert_eq!(counts(micros).map(Nanos::from_micros), expected(micros, 1_000));
    }

    #[test]
    fn durations_are_converted_both_ways() {
        for nanos in [0, 1, 999_999_999, 1_000_000_001, u64::MAX] {
            assert_eq!(Duration::from(Nanos(nanos)), Duration::from_nanos(nanos));
            assert_eq!(Nanos::from(Duration::from_nanos(nanos)), Nanos(nanos));
        }
        let longest = Duration::from_nanos(u64::MAX);
        assert_eq!(Nanos::from(longest + Duration::from_nanos(1)), Nanos::MAX);
        assert_eq!(Nanos::from(Duration::MAX), Nanos::MAX);
    }
}
