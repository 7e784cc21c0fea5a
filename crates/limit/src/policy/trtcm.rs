//! The two-rate three-colour meter.

use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::Nanobits;
use crate::{Limiter, Step, Verdict};

/// trTCM: beyond the peak rate packets are red, beyond the committed rate yellow, else green.
///
/// Two token buckets: one fills at the peak information rate (PIR) up to the peak burst size (PBS), the other at the
/// committed rate (CIR) up to the committed burst size (CBS). A packet of `n` bytes is red if the peak bucket lacks `n`;
/// else yellow if the committed bucket lacks `n`, and takes `n` from the peak bucket; else green, and takes `n` from both.
/// What is not red in any time `t` is at most PBS + PIR × `t`, what is green also at most CBS + CIR × `t`. Both start full.
///
/// As a [`Limiter`] it is colour-blind, and green passes, yellow is marked, red is dropped. [`step_from`](Self::step_from) is
/// colour-aware.
///
/// Unit: [`Nanobits`]. Cost: O(1), 96 bytes, two 64-bit multiplications to 128 bits. Source: RFC 2698; for limits Shinde 2020,
/// §4.3.1 and figure 13, "Nimble with meters". Departure: rates are in bits instead of bytes of IP packets per second, and what
/// counts as a packet's bytes is the driver's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TwoRateMeter {
    peak_rate: BitsPerSec,
    committed_rate: BitsPerSec,
    peak_burst: Nanobits,
    committed_burst: Nanobits,
    peak: Nanobits,
    committed: Nanobits,
    last: Nanos,
}

/// Why a two-rate meter cannot be configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TwoRateError {
    /// The peak rate is below the committed one.
    #[error("expected a peak rate of at least the committed rate {committed:#}, got {peak:#}")]
    PeakBelowCommitted {
        /// The peak information rate.
        peak: BitsPerSec,
        /// The committed information rate.
        committed: BitsPerSec,
    },
    /// A burst is zero.
    #[error("expected a peak and a committed burst above 0B, got {}B and {}B", .peak.0, .committed.0)]
    NoBurst {
        /// The peak burst size.
        peak: Bytes,
        /// The committed burst size.
        committed: Bytes,
    },
}

impl TwoRateMeter {
    /// A meter with full buckets at time zero, from (PIR, PBS) and (CIR, CBS).
    pub fn new(peak: (BitsPerSec, Bytes), committed: (BitsPerSec, Bytes)) -> Result<Self, TwoRateError> {
        // RFC 2698 §2.
        if peak.0 < committed.0 {
            return Err(TwoRateError::PeakBelowCommitted { peak: peak.0, committed: committed.0 });
        }
        if peak.1.0 == 0 || committed.1.0 == 0 {
            return Err(TwoRateError::NoBurst { peak: peak.1, committed: committed.1 });
        }
        let (peak_burst, committed_burst) = (peak.1.into(), committed.1.into());
        Ok(Self {
            peak_rate: peak.0,
            committed_rate: committed.0,
            peak_burst,
            committed_burst,
            peak: peak_burst,
            committed: committed_burst,
            last: Nanos(0),
        })
    }

    /// Returns the verdict on a packet that an earlier meter has given `color`, which this one never makes better.
    #[inline]
    pub fn step_from(&self, color: Verdict, bytes: u32, now: Nanos) -> Step<Self> {
        let refused = self.at(now);
        // RFC 2698 §3.
        let peak = refused.peak.minus(bytes.into()).filter(|_| color != Verdict::Drop);
        let Some(peak) = peak else {
            return Step { verdict: Verdict::Drop, admitted: refused, refused };
        };
        match refused.committed.minus(bytes.into()).filter(|_| color == Verdict::Pass) {
            Some(committed) => {
                Step { verdict: Verdict::Pass, admitted: Self { peak, committed, ..refused }, refused }
            }
            None => Step { verdict: Verdict::Mark, admitted: Self { peak, ..refused }, refused },
        }
    }

    /// The meter at `now`, with the tokens that have come in.
    #[inline]
    fn at(&self, now: Nanos) -> Self {
        let span = now.since(self.last);
        Self {
            peak: self.peak.plus(Nanobits::earned(self.peak_rate, span)).min(self.peak_burst),
            committed: self
                .committed
                .plus(Nanobits::earned(self.committed_rate, span))
                .min(self.committed_burst),
            last: self.last.max(now),
            ..*self
        }
    }
}

impl Limiter for TwoRateMeter {
    #[inline]
    fn step(&self, bytes: u32, now: Nanos) -> Step<Self> {
        // Colour-blind is to take every packet for green.
        self.step_from(Verdict::Pass, bytes, now)
    }
}

#[cfg(test)]
mod tests {
    use Verdict::{Drop, Mark, Pass};

    use super::*;

    /// Peak 2000 B/s and 3000 B, committed 1000 B/s and 2000 B.
    fn meter() -> TwoRateMeter {
        TwoRateMeter::new((BitsPerSec(16_000), Bytes(3_000)), (BitsPerSec(8_000), Bytes(2_000))).unwrap()
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn colours_by_hand_blind() {
        let mut meter = meter();
        let mut offer = |bytes, seconds| meter.offer(bytes, Nanos(seconds * SECOND));
        // (peak, committed): (3000, 2000) → (1500, 500) → (0, 500) → red.
        assert_eq!([1_500, 1_500, 1].map(|bytes| offer(bytes, 0)), [Pass, Mark, Drop]);
        // One second: (2000, 1500) → (500, 0) → (0, 0) → red.
        assert_eq!([1_500, 500, 1].map(|bytes| offer(bytes, 1)), [Pass, Mark, Drop]);
        // A red packet takes nothing, so that after another second (2000, 1000) are there.
        assert_eq!([2_001, 1_000, 1_000].map(|bytes| offer(bytes, 2)), [Drop, Pass, Mark]);
    }

    #[test]
    fn colours_by_hand_aware() {
        let mut meter = meter();
        let mut step = |color, bytes| {
            let step = meter.step_from(color, bytes, Nanos(0));
            meter = step.settled();
            step.verdict
        };
        // A red packet stays red and takes nothing, a yellow one leaves the committed bucket alone.
        assert_eq!(step(Drop, 64), Drop);
        assert_eq!(step(Mark, 1_000), Mark);
        assert_eq!(step(Pass, 2_000), Pass);
        assert_eq!(step(Pass, 1), Drop);
    }

    #[test]
    fn rates_in_the_wrong_order_and_empty_bursts_are_refused() {
        let error =
            TwoRateMeter::new((BitsPerSec(999), Bytes(1)), (BitsPerSec(1_000), Bytes(1))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected a peak rate of at least the committed rate 1kbps, got 999bps"
        );
        let error = TwoRateMeter::new((BitsPerSec(1), Bytes(0)), (BitsPerSec(1), Bytes(7))).unwrap_err();
        assert_eq!(error.to_string(), "expected a peak and a committed burst above 0B, got 0B and 7B");
    }
}
