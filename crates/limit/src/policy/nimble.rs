//! Nimble's leaky bucket.

use std::hint::select_unpredictable;

use trueplane_units::{BitsPerSec, Bytes, Nanos};

use crate::format::{
    FormatError, LATE_TICKS, REFRESH_NANOS, RateWord, TICK_NANOS, TICK_SHIFT, UNIT_SHIFT, UNITS_PER_BYTE,
    burst_units, ticks,
};
use crate::{Limiter, Step, Verdict};

/// Nimble: a counter that fills by the packets that pass, drains at the rate, and drops what would overflow the burst.
///
/// With `q` the occupancy, `d` what the rate drained since the last packet, and `n` the packet's size: if `q + n − d` is above
/// the burst the packet is dropped and only `d` is taken off; otherwise the occupancy becomes `q + n − d`, and the packet is
/// marked if that is above the threshold. The counter never falls below zero.
///
/// Since `d` is taken off after `n` was added, a packet is itself drained by the idle time before it, as the source has it:
/// what passes in any time `t` is at most burst + rate × (`t` + one quantum) + one packet. Time is counted in whole quanta of
/// a common clock ([`RateWord`]), so the long-run rate has no error but that of the configured word.
///
/// A drop writes nothing (unless the bucket ran empty, or its clock might wrap): since draining is exact, it can as well be
/// done with the next packet that passes, and every verdict is the same for packets in the order of their times (after a drop,
/// a late one may be dropped that would have passed). So a limiter under a flood is only read, and cores that
/// share it do not take its cache line from each other.
///
/// Cost: O(1), 16 bytes, one multiplication, one write. Source: Shinde 2020, §3.1.3, Algorithm 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[repr(C)]
pub struct Nimble {
    /// Time of the last packet, in ticks modulo 2³².
    pub last_ticks: u32,
    /// Occupancy of the bucket, in units of 1/64 byte.
    pub occupancy_units: u32,
    /// Rate and marking threshold.
    pub rate: RateWord,
    /// Capacity of the bucket, in units of 1/64 byte.
    pub burst_units: u32,
}

const _: () = assert!(size_of::<Nimble>() == 16);

impl Nimble {
    /// A refresh leaves limiters alone that were used within this many ticks (17.2 s): they are far from the wrap.
    pub const REFRESH_TICKS: u32 = (REFRESH_NANOS >> TICK_SHIFT >> 1) as u32;

    const TICKS_BETWEEN_REFRESHES: u64 = REFRESH_NANOS >> TICK_SHIFT;

    /// An empty bucket at time zero.
    pub fn new(rate: BitsPerSec, burst: Bytes, mark: Option<Bytes>) -> Result<Self, FormatError> {
        Ok(Self {
            last_ticks: 0,
            occupancy_units: 0,
            rate: RateWord::new(rate, mark)?,
            burst_units: burst_units(burst)?,
        })
    }

    /// The same limiter, idle for half a wrap at `now`: for a driver whose clock does not begin at zero, since a clock of zero
    /// might lie in what is late for it.
    pub fn idle_at(self, now: Nanos) -> Self {
        Self { last_ticks: ticks(now).wrapping_sub(1 << 31), ..self }
    }

    /// Occupancy of the bucket, rounded up to bytes, as of the last packet.
    #[inline]
    pub fn occupancy(&self) -> Bytes {
        Bytes(u64::from(self.occupancy_units).div_ceil(UNITS_PER_BYTE))
    }

    /// Capacity of the bucket, in whole bytes.
    pub fn burst(&self) -> Bytes {
        Bytes(u64::from(self.burst_units) / UNITS_PER_BYTE)
    }

    /// Ticks since the last packet, modulo the wrap; `None` if `now` is before it (up to [`LATE_TICKS`]).
    #[inline]
    pub(in super::super) fn elapsed(&self, now: u32) -> Option<u32> {
        let elapsed = now.wrapping_sub(self.last_ticks);
        (elapsed <= u32::MAX - LATE_TICKS).then_some(elapsed)
    }

    /// Units that the rate drains from the last packet to `now`.
    #[inline]
    fn drained(&self, now: u32) -> u64 {
        // Boundaries of quanta that were crossed. Differences of rounded-down times add up to the rounded-down difference, so
        // nothing is lost between packets; the clock wraps at a multiple of every quantum.
        let quantum = self.rate.quantum();
        let into_quantum = self.last_ticks & ((1 << quantum) - 1);
        let quanta = (u64::from(into_quantum) + u64::from(now.wrapping_sub(self.last_ticks))) >> quantum;
        quanta * u64::from(self.rate.mantissa())
    }

    /// The step at `now`, if `drained` units have left since the last packet.
    #[inline]
    pub(in super::super) fn settle(&self, bytes: u32, now: u32, drained: u64) -> Step<Self> {
        let before = u64::from(self.occupancy_units);
        let after = (before + (u64::from(bytes) << UNIT_SHIFT)).saturating_sub(drained);
        let left = before.saturating_sub(drained);
        // Whom a limiter drops or marks nobody foresees: a branch would cost more than all the rest.
        let drop = after > u64::from(self.burst_units);
        let mark = after > self.rate.mark_units().unwrap_or(u64::MAX);
        let passed = select_unpredictable(mark, Verdict::Mark, Verdict::Pass);
        let verdict = select_unpredictable(drop, Verdict::Drop, passed);
        let lazy = drained < before && now.wrapping_sub(self.last_ticks) < Self::REFRESH_TICKS;
        let refused = Self {
            last_ticks: select_unpredictable(lazy, self.last_ticks, now),
            occupancy_units: select_unpredictable(lazy, self.occupancy_units, left as u32),
            ..*self
        };
        let admitted = Self {
            last_ticks: select_unpredictable(drop, refused.last_ticks, now),
            // Without a drop it is within the burst, which is 32 bits.
            occupancy_units: select_unpredictable(drop, refused.occupancy_units, after as u32),
            ..*self
        };
        Step { verdict, admitted, refused }
    }

    /// Drains a limiter that has long been idle, so that its clock does not wrap unseen.
    ///
    /// If every limiter is refreshed once per [`REFRESH_NANOS`], idle times of any length are told right. A refresh is like a packet
    /// of no bytes: idle time before it no longer drains the packet after it. Without refreshes, a limiter
    /// may take an idle time for one that is shorter by a multiple of 68.7 s, and drain too little; it never lets
    /// through too much.
    #[inline]
    pub fn refresh(&mut self, now: Nanos) {
        if self.elapsed(ticks(now)).is_some_and(|elapsed| elapsed >= Self::REFRESH_TICKS) {
            self.advance(now);
        }
    }

    /// Applies a refresh at every whole multiple of [`REFRESH_NANOS`] after `last`, the time of the last packet, and up to `now`, at a cost
    /// that does not depend on how many there are.
    ///
    /// For a driver that refreshes a limiter only when it next meets a packet, and so knows times that do not wrap.
    #[inline]
    pub fn refresh_between(&mut self, last: Nanos, now: Nanos) {
        let (done, due) = (last.0 / REFRESH_NANOS, now.0 / REFRESH_NANOS);
        // The first may leave the limiter alone; the second cannot, as twice the time has passed.
        for turn in (done + 1..=due).take(2) {
            self.refresh(Nanos(turn * REFRESH_NANOS));
        }
        let rest = due.saturating_sub(done).saturating_sub(2);
        if rest > 0 {
            // From one to the next lies a whole number of quanta of every rate, and nothing comes in between.
            let quanta = rest << (Self::TICKS_BETWEEN_REFRESHES.ilog2() - self.rate.quantum());
            let drained = quanta.saturating_mul(self.rate.mantissa().into());
            self.occupancy_units = u64::from(self.occupancy_units).saturating_sub(drained) as u32;
            self.last_ticks = ticks(Nanos(due * REFRESH_NANOS));
        }
    }

    /// Lets time pass until `now`, without a packet.
    #[inline]
    pub fn advance(&mut self, now: Nanos) {
        let now = self.time(now);
        self.occupancy_units = u64::from(self.occupancy_units).saturating_sub(self.drained(now)) as u32;
        self.last_ticks = now;
    }

    /// The time of a packet in ticks. For a late one time stands still, and nothing is drained.
    #[inline]
    fn time(&self, now: Nanos) -> u32 {
        let now = ticks(now);
        if self.elapsed(now).is_some() { now } else { self.last_ticks }
    }
}

impl Limiter for Nimble {
    #[inline]
    fn step(&self, bytes: u32, now: Nanos) -> Step<Self> {
        let now = self.time(now);
        self.settle(bytes, now, self.drained(now))
    }

    #[inline]
    fn offer(&mut self, bytes: u32, now: Nanos) -> Verdict {
        // After a drop both outcomes are the same; and only these two words change.
        let Step { verdict, admitted, .. } = self.step(bytes, now);
        self.last_ticks = admitted.last_ticks;
        self.occupancy_units = admitted.occupancy_units;
        verdict
    }

    /// 64.4 s after the last packet: from then on a packet is taken for a late one. A driver that
    /// [refreshes](Nimble::refresh) its limiters asks again after that.
    fn horizon(&self, now: Nanos) -> Nanos {
        const AHEAD: u64 = (u32::MAX - LATE_TICKS) as u64;
        let left = match self.elapsed(ticks(now)) {
            Some(elapsed) => AHEAD - u64::from(elapsed),
            None => AHEAD + u64::from(self.last_ticks.wrapping_sub(ticks(now))),
        };
        // The last nanosecond of the last tick; beyond the end of time the clock does not go.
        let tick = u128::from((now.0 >> TICK_SHIFT) + left);
        let horizon = (tick << TICK_SHIFT) + u128::from(TICK_NANOS - 1);
        Nanos(u64::try_from(horizon).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
#[path = "nimble/tests.rs"]
mod tests;
