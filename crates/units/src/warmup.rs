//! The start of a run that is served but not counted.

use std::fmt;
use std::str::FromStr;

use crate::{Nanos, Value as _, scale_share, text_value, unexpected};

/// Millionths in one.
const ONE: u64 = 1_000_000;

/// The start of a run that is served but not counted, as people write it: a number (`10K`), a time (`1s`) or a share of all (`10%` or
/// `0.1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// Number that come at the start.
    Count(u64),
    /// Time from the first on, within which none count.
    Time(Nanos),
    /// Share of all, in millionths, at most a million.
    Share(u32),
}

/// What errors and help texts say of a warm-up.
const EXPECTED: &str = "a number such as 10K, a time such as 1s or a share such as 10%";

impl Warmup {
    /// The number that the warm-up leaves uncounted, out of `all`. `within` tells how many come within a time of the first.
    ///
    /// A share is rounded down. A number or a time may be as long as the run, or longer.
    pub fn of(self, all: u64, within: impl FnOnce(Nanos) -> u64) -> u64 {
        match self {
            Self::Count(count) => count,
            Self::Time(time) => within(time),
            Self::Share(millionths) => {
                let part = u128::from(all) * u128::from(millionths) / u128::from(ONE);
                u64::try_from(part).unwrap_or(u64::MAX)
            }
        }
    }
}

impl FromStr for Warmup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let share = || {
            let millionths = scale_share(text, ONE).filter(|share| *share <= ONE)?;
            u32::try_from(millionths).ok().map(Self::Share)
        };
        let count = u64::parse(text).ok().map(Self::Count);
        let time = || text.parse().ok().map(Self::Time);
        count.or_else(time).or_else(share).ok_or_else(|| unexpected(EXPECTED, text))
    }
}

impl fmt::Display for Warmup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Time(time) => write!(f, "{time:#}"),
            Self::Share(millionths) => write!(f, "{}%", f64::from(*millionths) / 1e4),
        }
    }
}

text_value!(Warmup, EXPECTED);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warmups_are_numbers_times_or_shares() {
        let of = |text: &str| text.parse::<Warmup>().map(|warmup| warmup.of(2_000, |time| time.0 / 1_000));
        for (text, expected) in [
            ("0", 0),
            ("3K", 3_000),
            ("1us", 1),
            ("1s", 1_000_000),
            ("10%", 200),
            ("0.1", 200),
            ("0.05%", 1),
            ("0.04%", 0),
            ("0%", 0),
            ("100%", 2_000),
        ] {
            assert_eq!(of(text), Ok(expected), "{text}");
        }
        assert_eq!(Warmup::Share(1_000_000).of(u64::MAX, |_| 0), u64::MAX);
    }

    #[test]
    fn nonsense_is_refused_and_all_else_reads_back() {
        for bad in ["", "_", "-1", "-5ms", "1e99", "soon", "-1s", "10Mpps", "1.5", "101%", "-10%", "%"] {
            assert_eq!(Warmup::parse(bad), Err(unexpected(EXPECTED, bad)));
        }
        for text in ["0", "1000000", "1s", "1.5ms", "10%", "0.0001%", "100%"] {
            assert_eq!(Warmup::parse(text).map(|warmup| warmup.show()).as_deref(), Ok(text));
        }
    }
}
