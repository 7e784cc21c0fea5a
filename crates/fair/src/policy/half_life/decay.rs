//! Usage that decays, to the period.

use std::f64::consts::LN_2;

use trueplane_units::Nanos;

/// Decay of usage from period to period.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decay {
    /// A period over the half-life.
    half_lives: f64,
    /// Part of the usage that is lost in one period: A of Kueue.
    pub(super) lost: f64,
    period: Nanos,
    /// Usage is what was held over the period, in units × seconds, and not A times what is held at its end.
    integrates: bool,
}

impl Decay {
    pub(super) fn new(half_life: Nanos, period: Nanos, integrates: bool) -> Self {
        let half_lives = period.0 as f64 / half_life.0 as f64;
        Self { half_lives, lost: -libm::expm1(-half_lives * LN_2), period, integrates }
    }

    /// Part of the usage that is left after `periods` periods.
    pub(super) fn kept(&self, periods: u64) -> f64 {
        libm::exp2(-self.half_lives * periods as f64)
    }

    /// Σ of what is left of 1 that comes in at the end of each of so many periods.
    fn kept_of_each(&self, periods: u64) -> f64 {
        -libm::expm1(-self.half_lives * periods as f64 * LN_2) / self.lost
    }
}

/// The usage of one user.
///
/// Written down when what it holds changes, and worked out from there for any later period, so that it is the same number however
/// often, or rarely, somebody asks: with q what is kept in a period, g the gain of the period in which it was written down and h that
/// of each later one, after k ≥ 1 periods it is qᵏ·usage + qᵏ⁻¹·g + (1 + q + … + qᵏ⁻²)·h.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Usage at the beginning of the period.
    usage: f64,
    period: u64,
    /// Gain in this period until `since`: units held × seconds.
    gained: f64,
    since: Nanos,
    /// Units that have been held since `since`.
    held: f64,
}

impl Usage {
    /// After the end of `period` periods.
    pub(super) fn at(&self, period: u64, decay: &Decay) -> f64 {
        let periods = period.saturating_sub(self.period);
        if periods == 0 {
            return self.usage;
        }
        let (first, each) = if decay.integrates {
            let end = Nanos(self.period.saturating_add(1).saturating_mul(decay.period.0));
            (self.gained + self.held * seconds(end.since(self.since)), self.held * seconds(decay.period))
        } else {
            (self.held * decay.lost, self.held * decay.lost)
        };
        decay.kept(periods) * self.usage
            + decay.kept(periods - 1) * first
            + decay.kept_of_each(periods - 1) * each
    }

    /// `held` is held from `now` on, which lies in this period, and `penalty` is charged for it.
    pub(super) fn hold(&mut self, held: f64, penalty: f64, period: u64, now: Nanos, decay: &Decay) {
        let begin = Nanos(period.saturating_mul(decay.period.0));
        let (gained, since) = if self.period == period { (self.gained, self.since) } else { (0.0, begin) };
        *self = Self {
            usage: self.at(period, decay) + penalty,
            period,
            gained: gained + self.held * seconds(now.since(since)),
            since: now,
            held,
        };
    }

    /// Units that are held.
    pub(super) fn held(&self) -> f64 {
        self.held
    }
}

fn seconds(span: Nanos) -> f64 {
    span.0 as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn what_is_held_at_the_end_of_a_period_is_what_counts() {
        // A period is a half-life: A = 1/2.
        let decay = Decay::new(Nanos(10), Nanos(10), false);
        assert_eq!(decay.lost, 0.5);
        let mut usage = Usage::default();
        usage.hold(8.0, 0.0, 0, Nanos(9), &decay);
        assert_eq!(usage.at(0, &decay), 0.0);
        assert_eq!(usage.at(1, &decay), 4.0);
        assert_eq!(usage.at(2, &decay), 6.0);
        assert_eq!(usage.at(3, &decay), 7.0);
        // It lets go of it, and takes 4 for a moment that nobody sees.
        usage.hold(0.0, 0.0, 3, Nanos(30), &decay);
        usage.hold(4.0, 0.0, 3, Nanos(31), &decay);
        usage.hold(0.0, 0.0, 3, Nanos(38), &decay);
        assert_eq!(usage.at(4, &decay), 3.5);
        assert_eq!(usage.at(6, &decay), 0.875);
        assert!(usage.at(u64::MAX, &decay) == 0.0);
    }

    #[test]
    fn what_is_held_over_a_period_is_summed_to_the_nanosecond() {
        let decay = Decay::new(Nanos(10 * SECOND), Nanos(10 * SECOND), true);
        let mut usage = Usage::default();
        // 2 units for 4 s and 1 unit for the other 6 s of the first period and on.
        usage.hold(2.0, 0.0, 0, Nanos(0), &decay);
        usage.hold(1.0, 0.0, 0, Nanos(4 * SECOND), &decay);
        assert_eq!(usage.at(0, &decay), 0.0);
        assert_eq!(usage.at(1, &decay), 14.0);
        assert_eq!(usage.at(2, &decay), 17.0);
        assert_eq!(usage.at(3, &decay), 18.5);
        // Nothing any more from the middle of the third period on.
        usage.hold(0.0, 0.0, 2, Nanos(25 * SECOND), &decay);
        assert_eq!(usage.at(2, &decay), 17.0);
        assert_eq!(usage.at(3, &decay), 13.5);
        assert_eq!(usage.at(5, &decay), 3.375);
    }
}
