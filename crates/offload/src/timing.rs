//! Slots and seconds.

use trueplane_units::Nanos;

use crate::pace::Pace;

const SECOND: u128 = 1_000_000_000;

/// Packet rate: one packet in each slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// Slots a second, at least 1.
    pub rate: u64,
}

impl Timing {
    /// Number of slots that have begun after `time`, rounded up, at least one for any time at all; at most `u64::MAX`.
    pub fn slots(self, time: Nanos) -> u64 {
        let slots = (u128::from(time.0) * u128::from(self.rate)).div_ceil(SECOND);
        u64::try_from(slots).unwrap_or(u64::MAX)
    }

    /// Duration of `slots`, rounded down; at most [`Nanos::MAX`].
    pub fn nanos(self, slots: u64) -> Nanos {
        let nanos = u128::from(slots) * SECOND / u128::from(self.rate.max(1));
        Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Seconds, for people and plots.
    pub fn seconds(self, slots: u64) -> f64 {
        slots as f64 / self.rate.max(1) as f64
    }

    /// `per_second` events a second.
    pub fn pace(self, per_second: u64) -> Pace {
        Pace::new(self.rate, per_second)
    }

    /// The batches of `batch` entries that `update_rate` entries a second make.
    pub fn batches(self, batch: u64, update_rate: u64) -> Pace {
        Pace::new(self.rate.saturating_mul(batch), update_rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_slots_at_the_rate() {
        let timing = Timing { rate: 80_000_000 };
        assert_eq!(timing.slots(Nanos(10_000)), 800);
        assert_eq!((timing.slots(Nanos(0)), timing.slots(Nanos(1)), timing.slots(Nanos(13))), (0, 1, 2));
        assert_eq!(timing.nanos(3), Nanos(37));
        assert_eq!(timing.batches(256, 20_000).due(), 1_024_000);
    }
}
