//! Virtual scheduling in whole numbers, whatever is counted.

use trueplane_units::Nanos;

/// The arithmetic of GCRA for any unit: so many units are earned in a nanosecond, and as many as the burst may be used at once.
///
/// Its variable is the *theoretical arrival time* (TAT), multiplied by the rate so that it is a whole number: the units that would
/// have been earned by then since time zero. [`Gcra`](super::Gcra) counts billionths of a bit;
/// [`RequestLimiter`](crate::requests::RequestLimiter) counts requests times the length of its period. Sums saturate.
///
/// Cost: O(1), one 64-bit multiplication to 128 bits; [`earliest`](Self::earliest) divides as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Schedule {
    /// Units earned in a nanosecond.
    pub(crate) rate: u64,
    /// Units that may be used at once after an idle time.
    #[serde(with = "crate::wide")]
    pub(crate) burst: u128,
}

impl Schedule {
    /// Units earned from time zero to `now`.
    #[inline]
    pub(crate) fn arrival(self, now: Nanos) -> u128 {
        u128::from(self.rate) * u128::from(now.0)
    }

    /// The TAT after `cost` units were used at `now`; `None` if that is more than the burst leaves.
    #[inline]
    pub(crate) fn admit(self, tat: u128, cost: u128, now: Nanos) -> Option<u128> {
        let arrival = self.arrival(now);
        let after = tat.max(arrival).saturating_add(cost);
        (after <= arrival.saturating_add(self.burst)).then_some(after)
    }

    /// The earliest instant at which `cost` units may be used if nothing else is; `None` if there is none before the end of time.
    pub(crate) fn earliest(self, tat: u128, cost: u128) -> Option<Nanos> {
        if cost > self.burst {
            return None;
        }
        self.instant(tat.saturating_add(cost).saturating_sub(self.burst))
    }

    /// Units of the burst that are in use at `now`; zero if the limiter is as if nothing had ever come.
    pub(crate) fn backlog(self, tat: u128, now: Nanos) -> u128 {
        tat.saturating_sub(self.arrival(now))
    }

    /// The first instant by which `units` have been earned since time zero.
    fn instant(self, units: u128) -> Option<Nanos> {
        match (units, u128::from(self.rate)) {
            (0, _) => Some(Nanos(0)),
            (_, 0) => None,
            (units, rate) => u64::try_from(units.div_ceil(rate)).ok().map(Nanos),
        }
    }

    /// The first instant at which nothing of the burst is in use; `None` if that is after the end of time.
    pub(crate) fn fresh(self, tat: u128) -> Option<Nanos> {
        self.instant(tat)
    }
}
