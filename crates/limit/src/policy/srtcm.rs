//! The single-rate three-colour meter.

use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::Nanobits;
use crate::{Limiter, Step, Verdict};

/// srTCM: one rate fills a committed bucket, and what overflows it an excess bucket; packets are green, yellow or red.
///
/// Tokens come in at the committed information rate (CIR): first into the committed bucket up to its burst size (CBS), then
/// into the excess bucket up to its own (EBS). A packet of `n` bytes is green if the committed bucket has `n`, and takes
/// them; else yellow if the excess bucket has `n`, and takes those; else red. What is not red in any time `t` is at most
/// CBS + EBS + CIR × `t`, what is green at most CBS + CIR × `t`. Both buckets start full.
///
/// As a [`Limiter`] it is colour-blind, and green passes, yellow is marked, red is dropped. [`step_from`](Self::step_from) is
/// colour-aware.
///
/// Unit: [`Nanobits`]. Cost: O(1), 80 bytes, one 64-bit multiplication to 128 bits. Source: RFC 2697; for limits Shinde 2020,
/// §4.3.1 and figure 13, "Nimble with meters". Departure: CIR is in bits instead of bytes of IP packets per second, and what
/// counts as a packet's bytes is the driver's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SingleRateMeter {
    rate: BitsPerSec,
    committed_burst: Nanobits,
    excess_burst: Nanobits,
    committed: Nanobits,
    excess: Nanobits,
    last: Nanos,
}

/// Why a single-rate meter cannot be configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SingleRateError {
    /// No packet could ever be green or yellow.
    #[error("expected a committed or an excess burst above 0B, got 0B for both")]
    NoBurst,
}

impl SingleRateMeter {
    /// A meter with full buckets at time zero.
    pub fn new(
        rate: BitsPerSec,
        committed_burst: Bytes,
        excess_burst: Bytes,
    ) -> Result<Self, SingleRateError> {
        // RFC 2697 §2: at least one of the bursts is above zero.
        if committed_burst.0 == 0 && excess_burst.0 == 0 {
            return Err(SingleRateError::NoBurst);
        }
        let (committed, excess) = (committed_burst.into(), excess_burst.into());
        Ok(Self { rate, committed_burst: committed, excess_burst: excess, committed, excess, last: Nanos(0) })
    }

    /// Returns the verdict on a packet that an earlier meter has given `color`, which this one never makes better.
    #[inline]
    pub fn step_from(&self, color: Verdict, bytes: u32, now: Nanos) -> Step<Self> {
        let refused = self.at(now);
        // RFC 2697 §3.
        if color == Verdict::Pass
            && let Some(committed) = refused.committed.minus(bytes.into())
        {
            return Step { verdict: Verdict::Pass, admitted: Self { committed, ..refused }, refused };
        }
        if color <= Verdict::Mark
            && let Some(excess) = refused.excess.minus(bytes.into())
        {
            return Step { verdict: Verdict::Mark, admitted: Self { excess, ..refused }, refused };
        }
        Step { verdict: Verdict::Drop, admitted: refused, refused }
    }

    /// The meter at `now`, with the tokens that have come in.
    #[inline]
    fn at(&self, now: Nanos) -> Self {
        let tokens = self.committed.plus(Nanobits::earned(self.rate, now.since(self.last)));
        let overflow = tokens.minus(self.committed_burst).unwrap_or_default();
        Self {
            committed: tokens.min(self.committed_burst),
            excess: self.excess.plus(overflow).min(self.excess_burst),
            last: self.last.max(now),
            ..*self
        }
    }
}

impl Limiter for SingleRateMeter {
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

    /// 1000 B/s, 2000 B committed, 3000 B excess.
    fn meter() -> SingleRateMeter {
        SingleRateMeter::new(BitsPerSec(8_000), Bytes(2_000), Bytes(3_000)).unwrap()
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn colours_by_hand_blind() {
        let mut meter = meter();
        let mut offer = |bytes, seconds| meter.offer(bytes, Nanos(seconds * SECOND));
        // (committed, excess): (2000, 3000) → (500, 3000) → (500, 1500) → (500, 0) → red → (0, 0).
        let colours = [1_500, 1_500, 1_500, 1_500, 500].map(|bytes| offer(bytes, 0));
        assert_eq!(colours, [Pass, Mark, Mark, Drop, Pass]);
        // 3 s bring 3000 B: 2000 into the committed bucket, and what overflows into the other.
        assert_eq!([2_000, 1_000, 1].map(|bytes| offer(bytes, 3)), [Pass, Mark, Drop]);
    }

    #[test]
    fn colours_by_hand_aware() {
        let mut meter = meter();
        let mut step = |color, bytes| {
            let step = meter.step_from(color, bytes, Nanos(0));
            meter = step.settled();
            step.verdict
        };
        // A red packet stays red and takes nothing, a yellow one takes excess although there are committed tokens.
        assert_eq!(step(Drop, 64), Drop);
        assert_eq!(step(Mark, 3_000), Mark);
        assert_eq!(step(Mark, 1), Drop);
        assert_eq!(step(Pass, 2_000), Pass);
        assert_eq!(step(Pass, 1), Drop);
    }

    #[test]
    fn a_meter_without_bursts_is_refused() {
        let error = SingleRateMeter::new(BitsPerSec(1), Bytes(0), Bytes(0)).unwrap_err();
        assert_eq!(error.to_string(), "expected a committed or an excess burst above 0B, got 0B for both");
    }
}
