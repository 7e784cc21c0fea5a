//! Work per bit: exact, and as an integer rank.
//!
//! A find-first-set queue has a place for every rank, so a fraction has to become one of few integers. *Which* integers decides what
//! the theorem is worth. Theorem 3 of Atre 2025 (§3.4.4) bounds the displacement factor of WSJF by the load, because a packet of the
//! attacker only goes ahead of innocent packets that take no less work per bit. If ranks are the ratios **within a factor of
//! 1 + ε**, it may also go ahead of those that take up to 1 + ε times less, and of no others: whatever work the attacker buys with a
//! bit then displaces at most 1 + ε times as many innocent bits, and the displacement factor is at most 1 + ε times that of the
//! theorem. Steps of one width (so many ns per bit each) have no such ε: all that is below the first step has one rank, and a
//! processor whose innocent packets are all there serves them and the attacker's first come, first served.
//!
//! Hence steps of one *proportion*, as floating-point numbers have them: a power of two and M more bits. 64 × 2^M ranks are
//! right within 2^−M from 2^−32 to 2^32 ns per bit (a word is of 64 powers of two), and saturate outside.

use std::cmp::Ordering;

use trueplane_units::Nanos;

/// Below it all ratios have the first rank: 2^−32 ns per bit, 4.3 exabit a second.
const LEAST_EXPONENT: u32 = 32;
/// Number of powers of two that have ranks of their own.
const EXPONENTS: u64 = 64;

/// The most bits of a mantissa: more ranks than these have no place in a find-first-set queue of three levels.
pub const MOST_MANTISSA_BITS: u32 = 12;

/// Work per bit as a fraction: nanoseconds for so many bits.
///
/// Compared exactly, by cross multiplication: 1/2 equals 2/4.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    work: u64,
    bits: u64,
}

impl Ratio {
    /// `work` for every `bits` bits; no bits at all count as one.
    #[inline]
    pub fn new(work: Nanos, bits: u64) -> Self {
        Self { work: work.0, bits: bits.max(1) }
    }

    /// The numerator.
    pub fn work(self) -> Nanos {
        Nanos(self.work)
    }

    /// The denominator, in bits; above zero.
    pub fn bits(self) -> u64 {
        self.bits
    }

    /// Number of ranks with this many bits of mantissa: all ranks are below it.
    pub const fn span(mantissa_bits: u32) -> u64 {
        EXPONENTS << mantissa_bits
    }

    /// Its rank with `mantissa_bits` ≤ [`MOST_MANTISSA_BITS`] bits of mantissa; more count as that many.
    ///
    /// Never smaller for a larger ratio. Two ratios of one rank differ by a factor of less than 1 + 2^−`mantissa_bits`, if they lie
    /// from 2^−32 to below 2^32 ns per bit; what is below has the first rank, what is above the last. One 64-bit division, if `bits`
    /// is below 2^(63 − `mantissa_bits`), else one of 128 bits.
    #[inline]
    pub fn quantise(self, mantissa_bits: u32) -> u64 {
        let mantissa_bits = mantissa_bits.min(MOST_MANTISSA_BITS);
        if self.work == 0 {
            return 0;
        }
        // With the highest bit of the work set, the quotient has more bits than the mantissa needs, and what the division cuts off
        // lies behind them.
        let shift = self.work.leading_zeros();
        let work = self.work << shift;
        if self.bits >> (63 - mantissa_bits) != 0 {
            return Self::quantise_wide(work, shift, self.bits, mantissa_bits);
        }
        let quotient = work / self.bits;
        let exponent = quotient.ilog2();
        let mantissa = quotient >> (exponent - mantissa_bits);
        Self::rank(i64::from(exponent) - i64::from(shift), mantissa, mantissa_bits)
    }

    /// The same for so many bits that a quotient of 64 bits might be too short.
    #[cold]
    fn quantise_wide(work: u64, shift: u32, bits: u64, mantissa_bits: u32) -> u64 {
        let quotient = (u128::from(work) << 64) / u128::from(bits);
        let exponent = quotient.ilog2();
        let mantissa = (quotient >> (exponent - mantissa_bits)) as u64;
        Self::rank(i64::from(exponent) - 64 - i64::from(shift), mantissa, mantissa_bits)
    }

    /// The rank of mantissa · 2^(exponent − `mantissa_bits`); the mantissa has its highest bit at `mantissa_bits`.
    #[inline]
    fn rank(exponent: i64, mantissa: u64, mantissa_bits: u32) -> u64 {
        let biased = exponent + i64::from(LEAST_EXPONENT);
        if biased < 0 {
            return 0;
        }
        // The highest bit of the mantissa, which is always set, is taken away again.
        let rank = ((biased as u64) << mantissa_bits) + mantissa - (1 << mantissa_bits);
        rank.min(Self::span(mantissa_bits) - 1)
    }

    /// The smallest ratio with this rank, but that the first rank begins at nothing.
    ///
    /// Ranks beyond the last count as the last.
    pub fn of_rank(rank: u64, mantissa_bits: u32) -> Self {
        let mantissa_bits = mantissa_bits.min(MOST_MANTISSA_BITS);
        let rank = rank.min(Self::span(mantissa_bits) - 1);
        let mantissa = (rank & ((1 << mantissa_bits) - 1)) | 1 << mantissa_bits;
        // It is mantissa · 2^power ns / 2^(32 + mantissa_bits) bits.
        let (power, denominator) = ((rank >> mantissa_bits) as u32, LEAST_EXPONENT + mantissa_bits);
        let common = power.min(denominator);
        Self { work: mantissa << (power - common), bits: 1 << (denominator - common) }
    }
}

impl Ord for Ratio {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let left = u128::from(self.work) * u128::from(other.bits);
        let right = u128::from(other.work) * u128::from(self.bits);
        left.cmp(&right)
    }
}

impl PartialOrd for Ratio {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ratio {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ratio {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Numbers of all lengths.
    fn number() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..64u32).prop_map(|(number, shift)| number >> shift)
    }

    fn ratio() -> impl Strategy<Value = Ratio> {
        (number(), number()).prop_map(|(work, bits)| Ratio::new(Nanos(work), bits))
    }

    /// `ratio` · `factor.0` / `factor.1` is at most `other`, for small factors.
    fn scaled_at_most(ratio: Ratio, factor: (u64, u64), other: Ratio) -> bool {
        use trueplane_pqueue::product::compare;
        compare([ratio.work, other.bits, factor.0], [other.work, ratio.bits, factor.1]).is_le()
    }

    proptest! {
        #[test]
        fn ranks_never_fall_and_tell_the_ratio_within_a_mantissa(ratio in ratio(), bits in 0..=MOST_MANTISSA_BITS) {
            let rank = ratio.quantise(bits);
            prop_assert!(rank < Ratio::span(bits));
            if rank > 0 {
                prop_assert!(Ratio::of_rank(rank, bits) <= ratio);
            }
            if rank + 1 < Ratio::span(bits) {
                prop_assert!(ratio < Ratio::of_rank(rank + 1, bits));
            }
        }

        #[test]
        fn a_larger_ratio_has_no_smaller_rank(a in ratio(), b in ratio(), near in 0..3u64, bits in 0..=MOST_MANTISSA_BITS) {
            // Any two, and two that are close together.
            let close = Ratio { work: a.work.saturating_add(near), ..a };
            for (a, b) in [(a, b), (a, close)] {
                prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
                let (low, high) = if a <= b { (a, b) } else { (b, a) };
                prop_assert!(low.quantise(bits) <= high.quantise(bits));
            }
        }

        #[test]
        fn ratios_of_one_rank_are_within_the_promised_factor(a in ratio(), more in number(), bits in 0..=MOST_MANTISSA_BITS) {
            let (least, most) = (Ratio { work: 1, bits: 1 << 32 }, Ratio { work: 1 << 32, bits: 1 });
            let b = Ratio { work: a.work.saturating_add(more), ..a };
            if a >= least && b < most && a.quantise(bits) == b.quantise(bits) {
                // b ≤ (1 + 2^−bits) a
                prop_assert!(scaled_at_most(b, (1 << bits, (1 << bits) + 1), a));
            }
        }

        #[test]
        fn every_rank_is_that_of_its_smallest_ratio(rank in any::<u64>(), bits in 0..=MOST_MANTISSA_BITS) {
            let rank = rank % Ratio::span(bits);
            prop_assert_eq!(Ratio::of_rank(rank, bits).quantise(bits), rank);
        }
    }

    #[test]
    fn powers_of_two_are_the_steps_without_a_mantissa() {
        let rank = |work, bits| Ratio::new(Nanos(work), bits).quantise(0);
        assert_eq!([rank(1, 1), rank(2, 1), rank(3, 1), rank(4, 1), rank(1, 2)], [32, 33, 33, 34, 31]);
        assert_eq!([rank(0, 1), rank(1, 1 << 33), rank(1, 1 << 32), rank(2, 1 << 32)], [0, 0, 0, 1]);
        assert_eq!([rank(1 << 31, 1), rank(1 << 32, 1), rank(u64::MAX, 0)], [63, 63, 63]);
        assert_eq!(Ratio::new(Nanos(4_000), 4_000), Ratio::new(Nanos(1), 1));
    }
}
