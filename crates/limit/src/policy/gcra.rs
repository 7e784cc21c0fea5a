//! The generic cell rate algorithm.

use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::Nanobits;
use super::schedule::Schedule;
use crate::{Limiter, Step, Verdict};

/// GCRA, virtual scheduling: packets have a theoretical arrival time, and may come a little before it.
///
/// With `a` the time of arrival, `TAT` the theoretical one, the increment `T` what the packet takes at the rate, and `B` what the burst
/// takes: if `max(a, TAT) + T > a + B` the packet is dropped; otherwise `TAT ← max(a, TAT) + T`. So the burst means what it means for a
/// [`TokenBucket`](super::TokenBucket): what passes in any time `t` is at most burst + rate × `t`. It never marks.
///
/// Unit: times are multiplied by the rate, so that both `T` and `τ` are whole [`Nanobits`] at every rate; `TAT` then is
/// the amount that could have passed since time zero. Cost: O(1), 48 bytes, one 64-bit multiplication to 128 bits. Source:
/// ITU-T I.371 Annex A, ATM Forum Traffic Management 4.0 §4.4.2. Departures: the increment follows the size of the packet,
/// as all cells have one and packets do not; the tolerance τ, there the same for all cells, is what the burst leaves beside the packet,
/// `B − T`. A packet whose time lies before
/// that of an earlier one is held against its own time, which can only be stricter, for the algorithm keeps no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Gcra {
    schedule: Schedule,
    theoretical_arrival: Nanobits,
}

impl Gcra {
    /// A limiter that has been idle for ever.
    pub fn new(rate: BitsPerSec, burst: Bytes) -> Self {
        // Bits per second are nanobits per nanosecond.
        let schedule = Schedule { rate: rate.0, burst: Nanobits::from(burst).0 };
        Self { schedule, theoretical_arrival: Nanobits(0) }
    }
}

impl Limiter for Gcra {
    #[inline]
    fn step(&self, bytes: u32, now: Nanos) -> Step<Self> {
        match self.schedule.admit(self.theoretical_arrival.0, Nanobits::from(bytes).0, now) {
            None => Step { verdict: Verdict::Drop, admitted: *self, refused: *self },
            Some(after) => {
                let admitted = Self { theoretical_arrival: Nanobits(after), ..*self };
                Step { verdict: Verdict::Pass, admitted, refused: *self }
            }
        }
    }

    fn retry_after(&self, bytes: u32, now: Nanos) -> Option<Nanos> {
        let earliest = self.schedule.earliest(self.theoretical_arrival.0, Nanobits::from(bytes).0)?;
        Some(earliest.since(now))
    }
}

#[cfg(test)]
mod tests {
    use Verdict::{Drop, Pass};

    use super::*;

    #[test]
    fn as_many_cells_pass_at_once_as_the_burst_holds() {
        // A cell of 53 B each 424 ns; two in a burst.
        let mut gcra = Gcra::new(BitsPerSec(1_000_000_000), Bytes(106));
        let verdicts = [0, 0, 0, 0, 423, 424, 424].map(|now| gcra.offer(53, Nanos(now)));
        assert_eq!(verdicts, [Pass, Pass, Drop, Drop, Drop, Pass, Drop]);
    }

    #[test]
    fn increments_that_are_no_whole_nanoseconds_add_up() {
        // 3 bit/s: a byte takes 8/3 s. The first late one is late by a third of a nanosecond, the next is on time.
        let mut gcra = Gcra::new(BitsPerSec(3), Bytes(1));
        let verdicts = [0, 2_666_666_667, 5_333_333_334, 7_999_999_999, 8_000_000_001]
            .map(|now| gcra.offer(1, Nanos(now)));
        assert_eq!(verdicts, [Pass, Pass, Pass, Drop, Pass]);
    }

    #[test]
    fn the_end_of_time_does_not_overflow() {
        let mut gcra = Gcra::new(BitsPerSec(u64::MAX), Bytes(u64::MAX));
        assert_eq!(gcra.offer(u32::MAX, Nanos::MAX), Pass);
        assert_eq!(gcra.offer(u32::MAX, Nanos::MAX), Pass);
    }
}
