//! The words of a Nimble limiter: four of 32 bits, the same in Rust, in eBPF and in hardware.
//!
//! | word | unit | range |
//! |---|---|---|
//! | time of last packet | [`TICK_NANOS`] = 16 ns, modulo 2³² | wraps every 68.7 s |
//! | occupancy | [`UNITS_PER_BYTE`] = 1/64 byte | 64 MiB |
//! | burst | 1/64 byte | 64 MiB |
//! | rate and marking threshold | see [`RateWord`] | 1 kbit/s to 400 Gbit/s, within 0.025% |
//!
//! A rate is a whole number of units in a power of two of ticks (its *quantum*), so that draining is exact: what
//! passes between two packets is counted in whole quanta of the common clock, nothing is rounded, and nothing is lost
//! however close together packets come. Rounding is left to the rate alone, once, when it is configured.

use std::fmt;

use trueplane_units::{BitsPerSec, Bytes, Nanos};

/// Length of a clock tick as a power of two of nanoseconds.
pub const TICK_SHIFT: u32 = 4;

/// Length of a clock tick in nanoseconds.
pub const TICK_NANOS: u64 = 1 << TICK_SHIFT;

/// Units of occupancy in a byte, as a power of two.
pub const UNIT_SHIFT: u32 = 6;

/// Units of occupancy in a byte.
pub const UNITS_PER_BYTE: u64 = 1 << UNIT_SHIFT;

/// Longest time by which a packet may precede the last packet, in ticks (4.3 s).
///
/// A difference of clock readings in the last stretch before the wrap is taken for a reading that is late, not for a minute
/// of idleness: cores read their clocks before they reach the limiter, not in the order in which they do, and may be held up
/// in between. With refreshes no limiter is idle for so long that it could be mistaken.
pub const LATE_TICKS: u32 = 1 << 28;

/// Time between refreshes of every limiter, so that idleness is never mistaken modulo the wrap: half of it, 34.4 s.
pub const REFRESH_NANOS: u64 = 1 << (31 + TICK_SHIFT);

/// The slowest rate that can be configured.
pub const MIN_RATE: BitsPerSec = BitsPerSec(1_000);

/// The fastest rate that can be configured.
pub const MAX_RATE: BitsPerSec = BitsPerSec(400_000_000_000);

/// The largest burst that can be configured: 64 MiB less one unit, rounded down to bytes.
pub const MAX_BURST: Bytes = Bytes((u32::MAX as u64) >> UNIT_SHIFT);

/// Positions of the parts of a [`RateWord`], lowest bit and width.
pub mod rate_bits {
    /// Units per quantum.
    pub const MANTISSA: (u32, u32) = (0, 16);
    /// Length of the quantum as a power of two of ticks.
    pub const QUANTUM: (u32, u32) = (16, 5);
    /// Exponent of the marking threshold.
    pub const MARK_SHIFT: (u32, u32) = (21, 5);
    /// Mantissa of the marking threshold.
    pub const MARK_MANTISSA: (u32, u32) = (26, 6);
}

/// Units that are drained per quantum are at least so many where the rate leaves a choice: a rounding of half a unit is
/// then 1/4096 of it, and a quantum is at most 64 bytes, the smallest Ethernet frame.
const MIN_MANTISSA: u64 = 1 << 11;

/// Why a rate, a burst or a threshold cannot be configured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The rate is outside [`MIN_RATE`] to [`MAX_RATE`].
    #[error("expected a rate from {MIN_RATE} to {MAX_RATE}, got {0:#}")]
    Rate(BitsPerSec),
    /// The burst is zero or above [`MAX_BURST`].
    #[error("expected a burst from 1B to {max}B, got {found}B", max = MAX_BURST.0, found = .0.0)]
    Burst(Bytes),
}

/// The tick that holds the instant `now`, modulo 2³².
pub const fn ticks(now: Nanos) -> u32 {
    (now.0 >> TICK_SHIFT) as u32
}

/// The burst in units.
pub fn burst_units(burst: Bytes) -> Result<u32, FormatError> {
    match u32::try_from(burst.0.saturating_mul(UNITS_PER_BYTE)) {
        Ok(units) if units > 0 => Ok(units),
        _ => Err(FormatError::Burst(burst)),
    }
}

/// Rate and marking threshold of a limiter in one word.
///
/// - bits 0–15, mantissa: units drained per quantum;
/// - bits 16–20, quantum: a power of two of ticks;
/// - bits 21–25 and 26–31, marking threshold: `mantissa << shift` units, that is six significant bits; a mantissa of zero
///   never marks.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct RateWord(pub u32);

impl RateWord {
    /// The word closest to `rate`, within 0.025%, that marks above `mark` (never, if there is none).
    pub fn new(rate: BitsPerSec, mark: Option<Bytes>) -> Result<Self, FormatError> {
        if !(MIN_RATE..=MAX_RATE).contains(&rate) {
            return Err(FormatError::Rate(rate));
        }
        // Units per 2^quantum ticks, rounded to the nearest.
        let mantissa = |quantum: u32| {
            let numerator = (u128::from(rate.0) * u128::from(UNITS_PER_BYTE * TICK_NANOS)) << quantum;
            const DENOMINATOR: u128 = 8 * 1_000_000_000;
            ((numerator + DENOMINATOR / 2) / DENOMINATOR) as u64
        };
        let quantum = (0..).find(|&quantum| mantissa(quantum) >= MIN_MANTISSA).unwrap_or_default();
        let rate_part =
            place(rate_bits::MANTISSA, mantissa(quantum)) | place(rate_bits::QUANTUM, quantum.into());
        Ok(Self(rate_part).with_mark(mark))
    }

    /// The same rate that marks above `mark`, or never.
    pub fn with_mark(self, mark: Option<Bytes>) -> Self {
        let rate_only = (1 << rate_bits::MARK_SHIFT.0) - 1;
        Self(self.0 & rate_only | mark.map_or(0, threshold))
    }

    /// Units drained per quantum.
    pub const fn mantissa(self) -> u32 {
        take(rate_bits::MANTISSA, self.0)
    }

    /// The length of the quantum: 2 to this power of ticks.
    pub const fn quantum(self) -> u32 {
        take(rate_bits::QUANTUM, self.0)
    }

    /// The occupancy in units above which packets are marked, `None` if never.
    pub const fn mark_units(self) -> Option<u64> {
        match take(rate_bits::MARK_MANTISSA, self.0) {
            0 => None,
            mantissa => Some((mantissa as u64) << take(rate_bits::MARK_SHIFT, self.0)),
        }
    }

    /// The marking threshold in bytes, `None` if there is none.
    pub fn mark(self) -> Option<Bytes> {
        self.mark_units().map(|units| Bytes(units / UNITS_PER_BYTE))
    }

    /// The rate that is enforced, exactly up to floating point, in bits per second.
    pub fn bits_per_sec(self) -> f64 {
        let bits = f64::from(self.mantissa()) * 8.0 / UNITS_PER_BYTE as f64;
        bits * 1e9 / (TICK_NANOS << self.quantum()) as f64
    }
}

impl fmt::Debug for RateWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RateWord({} bit/s, mark {:?})", self.bits_per_sec(), self.mark())
    }
}

/// `value` at its place in the word.
const fn place((lowest, width): (u32, u32), value: u64) -> u32 {
    debug_assert!(value >> width == 0);
    (value as u32) << lowest
}

/// The part of `word` at that place.
const fn take((lowest, width): (u32, u32), word: u32) -> u32 {
    (word >> lowest) & ((1 << width) - 1)
}

/// The marking threshold's part of the word: six significant bits of `mark` in units, rounded down, at least one unit.
fn threshold(mark: Bytes) -> u32 {
    let units = mark.0.saturating_mul(UNITS_PER_BYTE).clamp(1, u32::MAX.into());
    let shift = (u64::BITS - units.leading_zeros()).saturating_sub(rate_bits::MARK_MANTISSA.1);
    place(rate_bits::MARK_SHIFT, shift.into()) | place(rate_bits::MARK_MANTISSA, units >> shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rate_is_within_a_fortieth_of_a_percent() {
        let mut rate = MIN_RATE.0;
        while rate <= MAX_RATE.0 {
            let word = RateWord::new(BitsPerSec(rate), None).unwrap();
            let error = (word.bits_per_sec() / rate as f64 - 1.0).abs();
            assert!(error <= 0.000_245, "{rate}: {error}");
            let quantum_bytes = f64::from(word.mantissa()) / UNITS_PER_BYTE as f64;
            assert!(word.quantum() == 0 || quantum_bytes <= 64.0, "{rate}: drains {quantum_bytes} B at once");
            rate += rate / 977 + 1;
        }
    }

    #[test]
    fn rates_and_bursts_outside_the_range_are_refused() {
        for rate in [0, 999, MAX_RATE.0 + 1, u64::MAX] {
            assert_eq!(RateWord::new(BitsPerSec(rate), None), Err(FormatError::Rate(BitsPerSec(rate))));
        }
        assert_eq!(burst_units(MAX_BURST), Ok(u32::MAX - 63));
        for burst in [0, MAX_BURST.0 + 1, u64::MAX] {
            assert_eq!(burst_units(Bytes(burst)), Err(FormatError::Burst(Bytes(burst))));
        }
        let message = "expected a rate from 1kbps to 400Gbps, got 999bps";
        assert_eq!(FormatError::Rate(BitsPerSec(999)).to_string(), message);
        let message = "expected a rate from 1kbps to 400Gbps, got 400.000000001Gbps";
        assert_eq!(FormatError::Rate(BitsPerSec(MAX_RATE.0 + 1)).to_string(), message);
    }

    #[test]
    fn thresholds_keep_six_significant_bits_and_are_never_above_what_was_asked_for() {
        for bytes in [0u64, 1, 63, 64, 1500, 150_000, 1 << 20, MAX_BURST.0, u64::MAX] {
            let word = RateWord::new(MIN_RATE, Some(Bytes(bytes))).unwrap();
            let asked = bytes.saturating_mul(UNITS_PER_BYTE).clamp(1, u32::MAX.into());
            let units = word.mark_units().unwrap();
            assert!(units <= asked && asked - units <= asked / 32, "{bytes}: {units}");
        }
        assert_eq!(RateWord::new(MIN_RATE, None).unwrap().mark_units(), None);
    }
}
