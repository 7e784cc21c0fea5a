//! The clock of a reader: what time a request gets, and whether it may.

use trueplane_core::units::Nanos;

use super::Clock;

/// Gives requests their times, in the order of the trace.
pub(super) struct Timeline {
    clock: Clock,
    may_go_back: bool,
    /// The last timestamp, or the next step.
    now: u64,
}

impl Timeline {
    /// A timeline at zero. With `may_go_back`, someone else puts the requests in order.
    pub(super) fn new(clock: Clock, may_go_back: bool) -> Self {
        Self { clock, may_go_back, now: 0 }
    }

    /// Whether timestamps are to be read at all.
    pub(super) fn is_timed(&self) -> bool {
        self.clock == Clock::Timestamps
    }

    /// Whether someone else puts the requests in order.
    pub(super) fn may_go_back(&self) -> bool {
        self.may_go_back
    }

    /// A step passes without a request.
    pub(super) fn idle(&mut self) {
        if self.clock == Clock::Steps {
            self.now += 1;
        }
    }

    /// The time of a request that the trace dates `timestamp`, which is ignored when steps are counted.
    #[inline]
    pub(super) fn stamp(&mut self, timestamp: Nanos) -> Result<Nanos, String> {
        match self.clock {
            Clock::Steps => {
                let step = self.now;
                self.now += 1;
                Ok(Nanos(step))
            }
            Clock::Timestamps => {
                if timestamp.0 < self.now && !self.may_go_back {
                    return Err(backwards(Nanos(self.now), timestamp));
                }
                self.now = timestamp.0;
                Ok(timestamp)
            }
        }
    }
}

#[cold]
fn backwards(before: Nanos, after: Nanos) -> String {
    format!("time goes backwards, from {} to {}; --sort accepts that", seconds(before), seconds(after))
}

/// `1731689870.5s`: to the last digit, unlike [`Nanos`]'s own four.
fn seconds(time: Nanos) -> String {
    let text = format!("{}.{:09}", time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_must_not_go_back_unless_they_may() {
        let mut strict = Timeline::new(Clock::Timestamps, false);
        assert_eq!(strict.stamp(Nanos(2_500_000_000)), Ok(Nanos(2_500_000_000)));
        assert_eq!(strict.stamp(Nanos(2_500_000_000)), Ok(Nanos(2_500_000_000)));
        assert_eq!(
            strict.stamp(Nanos(1_000_000_000)),
            Err("time goes backwards, from 2.5s to 1s; --sort accepts that".to_owned())
        );
        let mut lax = Timeline::new(Clock::Timestamps, true);
        assert_eq!(lax.stamp(Nanos(2)), Ok(Nanos(2)));
        assert_eq!(lax.stamp(Nanos(1)), Ok(Nanos(1)));
    }

    #[test]
    fn steps_count_whatever_the_timestamps_say() {
        let mut steps = Timeline::new(Clock::Steps, false);
        assert_eq!(steps.stamp(Nanos(9)), Ok(Nanos(0)));
        steps.idle();
        assert_eq!(steps.stamp(Nanos(3)), Ok(Nanos(2)));
    }
}
