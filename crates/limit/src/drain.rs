//! Draining without multiplication.
//!
//! A switch has no multiplier in its pipeline: what a limiter drains in a time is looked up. A table with a line for every
//! time would have 2³² of them, so that times are put together into ranges, each of which drains as if one representative
//! time had passed. How far that may be off decides how many ranges there are.
//!
//! | maximum error | ranges | as TCAM prefixes |
//! |---|---|---|
//! | 1% | 976 | 12122 |
//! | 6% | 177 | 2434 |
//! | 12% | 91 | 1299 |
//! | 50% | 21 | 355 |
//!
//! Source: Shinde 2020, §3.1.3 (the precomputed drain), §4.3.1 and figure 12 (the errors). How it places the ranges is not
//! said there; here they are as long as the error permits.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{Nanos, scale_share, text_value, unexpected};

use crate::format::rate_bits;
use crate::policy::Nimble;
use crate::{Limiter, Step, format};

/// A way to find out what has drained since the last packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Drain {
    /// Exact multiplication.
    Exact,
    /// From a table whose entries err by at most so many millionths.
    Table(u32),
}

const EXPECTED: &str = "exact, or a maximum error from 0.1% to 50% such as 6%";

text_value!(Drain, EXPECTED);

impl Drain {
    /// The maximum error, as a ratio.
    pub fn error_max(self) -> f64 {
        match self {
            Drain::Exact => 0.0,
            Drain::Table(millionths) => f64::from(millionths) / 1e6,
        }
    }
}

impl FromStr for Drain {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.trim() == "exact" {
            return Ok(Drain::Exact);
        }
        let millionths = scale_share(text, WHOLE).filter(|millionths| (1_000..=500_000).contains(millionths));
        let millionths = millionths.and_then(|millionths| u32::try_from(millionths).ok());
        millionths.map(Drain::Table).ok_or_else(|| unexpected(EXPECTED, text))
    }
}

impl fmt::Display for Drain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Drain::Exact => f.pad("exact"),
            Drain::Table(millionths) => f.pad(&format!("{}%", f64::from(*millionths) / 10_000.0)),
        }
    }
}

/// Ranges of elapsed ticks, each with one representative, for every time from 1 to 2³² − 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrainTable {
    max_error_ppm: u32,
    /// The last tick of every range; the first range starts at 1, the next one after the end of the one before.
    ends: Vec<u32>,
    /// Ticks for which each range drains.
    representatives: Vec<u32>,
}

/// The maximum error is not between 0 and 1, both excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a maximum error above 0 and below 1000000 ppm (100%), got {0} ppm")]
pub struct DrainError(pub u32);

/// Parts in a whole, as errors are counted.
const WHOLE: u64 = 1_000_000;

impl DrainTable {
    /// The table with the fewest ranges whose representatives are within `max_error_ppm` millionths of every time.
    ///
    /// A representative `r` is good for all times from `lo` to `hi` if `r ≤ (1 + e) × lo` and `r ≥ (1 − e) × hi`. The largest
    /// `r` thus permits the longest range; taking it again and again from 1 on gives the fewest. Within what its range
    /// permits the representative then is the one with the least error at either end, `2 × lo × hi ÷ (lo + hi)`.
    pub fn new(max_error_ppm: u32) -> Result<Self, DrainError> {
        let error = u64::from(max_error_ppm);
        if error == 0 || error >= WHOLE {
            return Err(DrainError(max_error_ppm));
        }
        let last = u64::from(u32::MAX);
        let (mut ends, mut representatives) = (Vec::new(), Vec::new());
        let mut lo = 1;
        while lo <= last {
            let largest = lo * (WHOLE + error) / WHOLE;
            let hi = (largest * WHOLE / (WHOLE - error)).min(last);
            let smallest = (hi * (WHOLE - error)).div_ceil(WHOLE);
            let middle = (2 * u128::from(lo) * u128::from(hi) / u128::from(lo + hi)) as u64;
            ends.push(hi as u32);
            // Both bounds lie within the range or next to it, but above its last tick, which is the last of all.
            representatives.push(middle.clamp(smallest, largest).min(last) as u32);
            lo = hi + 1;
        }
        Ok(Self { max_error_ppm, ends, representatives })
    }

    /// Largest error of a representative, in millionths of the time.
    pub fn max_error_ppm(&self) -> u32 {
        self.max_error_ppm
    }

    /// The ranges: first tick, last tick, representative.
    pub fn ranges(&self) -> impl Iterator<Item = (u32, u32, u32)> + '_ {
        let firsts = std::iter::once(1).chain(self.ends.iter().map(|end| end.wrapping_add(1)));
        firsts.zip(&self.ends).zip(&self.representatives).map(|((first, &end), &ticks)| (first, end, ticks))
    }

    /// Lines of the table, where a line may hold a range.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no range; never true.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Lines of the table, where a line holds a value and a mask (TCAM) and a range takes several.
    pub fn prefixes(&self) -> u64 {
        self.ranges().map(|(first, last, _)| prefixes(first, last)).sum()
    }

    /// The ticks to drain for `elapsed`, zero for no time.
    #[inline]
    pub fn representative(&self, elapsed: u32) -> u32 {
        if elapsed == 0 {
            return 0;
        }
        // The last range ends with the last tick, so that there is one for every time.
        self.representatives[self.ends.partition_point(|&end| end < elapsed)]
    }
}

/// The fewest prefixes that make up the range: the largest aligned block that fits, again and again.
fn prefixes(first: u32, last: u32) -> u64 {
    let (mut next, end) = (u64::from(first), u64::from(last) + 1);
    let mut count = 0;
    while next < end {
        let aligned = if next == 0 { 32 } else { next.trailing_zeros() };
        let fits = (end - next).ilog2();
        next += 1 << aligned.min(fits);
        count += 1;
    }
    count
}

/// Nimble as a switch without multiplication has it: drains for the representative of the time that has passed.
///
/// What is drained is rounded down to units of 1/64 byte. In any time `t` thus at most burst + (1 + e) × rate × `t` + one packet
/// pass, where `t` is counted in whole ticks, begun ones included; and of (1 − e) × rate × `t`, what is let through lacks no more
/// than one unit for every packet that passes. Since drops put off what they have to drain ([`Nimble`]), a flood of them loses
/// nothing.
///
/// Cost: a binary search here, one lookup in a switch. Source: see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tabled<'a> {
    /// The limiter.
    pub nimble: Nimble,
    /// Table by which the limiter drains.
    pub table: &'a DrainTable,
}

// The product of a time and a mantissa has 48 bits.
const _: () = assert!(u32::BITS + rate_bits::MANTISSA.1 <= u64::BITS);

impl Limiter for Tabled<'_> {
    #[inline]
    fn step(&self, bytes: u32, now: Nanos) -> Step<Self> {
        let (nimble, now) = (self.nimble, format::ticks(now));
        let step = match nimble.elapsed(now) {
            Some(elapsed) => {
                let ticks = u64::from(self.table.representative(elapsed));
                let drained = (ticks * u64::from(nimble.rate.mantissa())) >> nimble.rate.quantum();
                nimble.settle(bytes, now, drained)
            }
            None => nimble.settle(bytes, nimble.last_ticks, 0),
        };
        let with = |nimble| Self { nimble, ..*self };
        Step { verdict: step.verdict, admitted: with(step.admitted), refused: with(step.refused) }
    }

    fn horizon(&self, now: Nanos) -> Nanos {
        self.nimble.horizon(now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trueplane_units::{BitsPerSec, Bytes};

    use super::super::Verdict;
    use super::*;

    fn within(ticks: u32, representative: u32, ppm: u32) -> bool {
        u64::from(ticks.abs_diff(representative)) * WHOLE <= u64::from(ticks) * u64::from(ppm)
    }

    #[test]
    fn drains_are_exact_or_have_an_error() {
        assert_eq!("exact".parse(), Ok(Drain::Exact));
        assert_eq!("6%".parse(), Ok(Drain::Table(60_000)));
        assert_eq!("0.5%".parse::<Drain>().unwrap().to_string(), "0.5%");
        for bad in ["", "6", "0%", "0.01%", "51%", "100%", "-1%", "1e99%", "_", "table"] {
            assert!(bad.parse::<Drain>().is_err(), "{bad}");
        }
    }

    /// The table of the module's documentation.
    #[test]
    fn sizes_by_error() {
        let sizes = [10_000, 60_000, 120_000, 500_000].map(|ppm| {
            let table = DrainTable::new(ppm).unwrap();
            (table.len(), table.prefixes())
        });
        assert_eq!(sizes, [(976, 12_122), (177, 2_434), (91, 1_299), (21, 355)]);
    }

    #[test]
    fn ranges_follow_each_other_and_both_ends_are_within_the_error() {
        for ppm in [100, 3_333, 10_000, 60_000, 120_000, 333_333, 500_000, 999_999] {
            let table = DrainTable::new(ppm).unwrap();
            let mut next = 1;
            for (first, last, representative) in table.ranges() {
                assert_eq!(u64::from(first), next, "{ppm}");
                assert!(within(first, representative, ppm), "{ppm}: {first} is taken for {representative}");
                assert!(within(last, representative, ppm), "{ppm}: {last} is taken for {representative}");
                assert_eq!(table.representative(first), representative);
                assert_eq!(table.representative(last), representative);
                // Waiting never drains less.
                assert!(next == 1 || table.representative(first - 1) < representative, "{ppm}");
                next = u64::from(last) + 1;
            }
            assert_eq!(next, 1 << 32, "{ppm}");
            assert_eq!(table.representative(0), 0);
        }
    }

    #[test]
    fn no_range_could_be_longer() {
        for ppm in [10_000, 120_000, 500_000] {
            for (first, last, _) in DrainTable::new(ppm).unwrap().ranges().filter(|range| range.1 < u32::MAX)
            {
                let all = |ticks: u32| within(first, ticks, ppm) && within(last + 1, ticks, ppm);
                let close = u64::from(first) * (WHOLE + u64::from(ppm)) / WHOLE;
                let candidates = (close as u32).saturating_sub(2)..=close as u32 + 2;
                assert!(!candidates.into_iter().any(all), "{ppm}: {first} to {last}");
            }
        }
    }

    #[test]
    fn errors_outside_the_range_are_refused() {
        for ppm in [0, 1_000_000, u32::MAX] {
            assert_eq!(DrainTable::new(ppm), Err(DrainError(ppm)));
        }
        let message = "expected a maximum error above 0 and below 1000000 ppm (100%), got 0 ppm";
        assert_eq!(DrainError(0).to_string(), message);
    }

    #[test]
    fn prefixes_are_counted_as_a_switch_would_lay_them_out() {
        // 1, 2–3, 4–7, 8; a single block; all but the first and the last value.
        assert_eq!(prefixes(1, 8), 4);
        assert_eq!(prefixes(0, u32::MAX), 1);
        assert_eq!(prefixes(1, u32::MAX - 1), 62);
        assert_eq!(prefixes(1, u32::MAX), 32);
    }

    #[test]
    fn gaps_that_have_a_range_of_their_own_drain_as_by_multiplication() {
        // 32 bytes a tick, and gaps of up to three ticks.
        let table = DrainTable::new(10_000).unwrap();
        let mut nimble = Nimble::new(BitsPerSec(16_000_000_000), Bytes(3_000), None).unwrap();
        assert_eq!(nimble.rate.quantum(), 0);
        let mut tabled = Tabled { nimble, table: &table };
        for packet in 0..10_000u64 {
            let now = Nanos(packet * 16 * (1 + packet % 3));
            assert_eq!(tabled.offer(96, now), nimble.offer(96, now));
            assert_eq!(tabled.nimble, nimble);
        }
    }

    #[test]
    fn a_flood_does_not_choke_a_slow_limiter() {
        let table = DrainTable::new(10_000).unwrap();
        let nimble = Nimble::new(BitsPerSec(1_000_000), Bytes(64), None).unwrap();
        let mut tabled = Tabled { nimble, table: &table };
        // A packet in every tick, 16 ms long: 2000 B at 1 Mbit/s, besides what the bucket holds.
        let passed = (0..1_000_000u64).filter(|tick| tabled.offer(64, Nanos(tick * 16)) == Verdict::Pass);
        let bytes = passed.count() as u64 * 64;
        assert!((1_980..=2_000 + 128).contains(&bytes), "{bytes}");
    }

    proptest! {
        #[test]
        fn every_time_is_within_the_error(ppm in 100..1_000_000u32, times in prop::collection::vec(0..32u32, 64), low: u32) {
            let table = DrainTable::new(ppm).unwrap();
            for shift in times {
                let ticks = low >> shift;
                let representative = table.representative(ticks);
                prop_assert!(within(ticks, representative, ppm), "{} ppm: {} for {}", ppm, representative, ticks);
            }
        }
    }
}
