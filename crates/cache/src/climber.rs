//! Hill climbing: find a good share of the capacity by trying others.

/// Shares are counted in millionths of the capacity, so that the same trace gives the same shares on every machine.
pub(super) const WHOLE: u64 = 1_000_000;

/// The first step, and the step after the hit rate has changed a lot: 1/16 of the capacity.
const STEP: u64 = WHOLE / 16;
/// Each step is 98% of the one before, so that the share settles.
const DECAY_PERCENT: u64 = 98;
/// A change of the hit rate by 1/20 or more means that the workload has changed.
const RESTART: u64 = 20;

/// Moves a share of the capacity up and down, and goes on in the direction in which the hit rate rises.
///
/// The climber counts the hits of one period after another. Where a period has at least as many hits as the one before,
/// the next step goes the same way, otherwise the other way. O(1) a request; integers only.
///
/// Source: G. Einziger, O. Eytan, R. Friedman, B. Manes, *Adaptive Software Cache Management*, Middleware 2018; the
/// constants are those of the Caffeine library.
#[derive(Clone, Debug)]
pub(super) struct HillClimber {
    share: u64,
    most: u64,
    step: u64,
    grows: bool,
    period: u64,
    requests: u64,
    hits: u64,
    hits_before: u64,
}

impl HillClimber {
    /// Begins at `share` of the capacity and never exceeds `most`, both in millionths. It takes a step every `period`
    /// requests, at least 1. The first step makes the share smaller.
    pub(super) fn new(share: u64, most: u64, period: u64) -> Self {
        let period = period.max(1);
        Self { share, most, step: STEP, grows: false, period, requests: 0, hits: 0, hits_before: 0 }
    }

    /// The share now, in millionths of the capacity.
    pub(super) fn share(&self) -> u64 {
        self.share
    }

    /// Counts a request. The share changes at the end of a period.
    pub(super) fn count(&mut self, is_hit: bool) {
        self.requests += 1;
        self.hits += u64::from(is_hit);
        if self.requests == self.period {
            self.climb();
        }
    }

    fn climb(&mut self) {
        self.grows ^= self.hits < self.hits_before;
        self.share = match self.grows {
            true => (self.share + self.step).min(self.most),
            false => self.share.saturating_sub(self.step),
        };
        let has_changed = self.hits.abs_diff(self.hits_before) >= self.period.div_ceil(RESTART);
        self.step = if has_changed { STEP } else { (self.step * DECAY_PERCENT / 100).max(1) };
        self.hits_before = self.hits;
        self.hits = 0;
        self.requests = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A period of 100 requests with so many hits.
    fn period(climber: &mut HillClimber, hits: u64) -> u64 {
        (0..100).for_each(|request| climber.count(request < hits));
        climber.share()
    }

    #[test]
    fn the_share_goes_on_while_hits_rise_and_turns_when_they_fall() {
        let mut climber = HillClimber::new(500_000, 800_000, 100);
        assert_eq!(period(&mut climber, 50), 437_500);
        // 50 hits more than none are a change of the workload, so the next step is a whole one again.
        assert_eq!(period(&mut climber, 52), 375_000);
        // Two hits more are none: 98% of 62,500.
        assert_eq!(period(&mut climber, 51), 375_000 + 61_250);
        assert_eq!(period(&mut climber, 51), 375_000 + 61_250 + 60_025);
        assert_eq!(period(&mut climber, 40), 375_000 + 61_250 + 60_025 - 58_824);
        assert_eq!(period(&mut climber, 40), 375_000 + 61_250 + 60_025 - 58_824 - 62_500);
    }

    #[test]
    fn the_share_keeps_to_its_limits_and_never_stands_still() {
        let mut climber = HillClimber::new(10_000, 800_000, 100);
        assert_eq!(period(&mut climber, 50), 0);
        assert_eq!(period(&mut climber, 49), 62_500);
        let most = (0..1_000).map(|_| period(&mut climber, 49)).max();
        assert_eq!(most, Some(800_000));
        assert_eq!(climber.step, 1);
        assert_eq!(period(&mut climber, 48), 799_999);
    }
}
