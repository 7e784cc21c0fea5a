//! The clock of a reader: what time a request gets, and whether it may.
//!
//! Captures of several queues, and logs of several writers, step back a little now and then. A [`Timeline`] lets a timestamp
//! lie up to [`REACH`] behind the latest, and says how far time is [settled](Timeline::settled), so that whoever hands
//! requests or packets over can hold them back until then and sort them in memory that does not grow.

use trueplane_units::Nanos;

use crate::Clock;

/// Largest step back of a timestamp from the latest one.
pub(super) const REACH: Nanos = Nanos(10_000_000);

/// A timestamp may always lie behind those of the last so many others, as far as [`REACH`] and [`PERIOD_BYTES`] let it, and
/// behind those of twice as many at most.
pub(super) const PERIOD: u32 = 1 << 14;

/// The same in bytes of what has to wait.
pub(super) const PERIOD_BYTES: usize = 32 << 20;

/// Order in which timestamps may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// They never step back.
    Strict,
    /// They step back a little.
    Near,
    /// Somebody else puts requests in order.
    Any,
}

/// Gives requests their times, in the order of the trace.
pub(super) struct Timeline {
    clock: Clock,
    order: Order,
    /// The latest timestamp, or the next step.
    now: u64,
    /// The first and the latest step, where the trace numbers them itself.
    numbered: Option<(u64, u64)>,
    /// No timestamp may be earlier: the latest when the last period but one ended.
    floor: u64,
    /// The latest when the last period ended.
    next_floor: u64,
    /// Number of items in this period so far.
    items: u32,
    bytes: usize,
}

impl Timeline {
    /// A timeline at zero.
    pub(super) fn new(clock: Clock, order: Order) -> Self {
        Self { clock, order, now: 0, numbered: None, floor: 0, next_floor: 0, items: 0, bytes: 0 }
    }

    /// Whether timestamps are to be read at all.
    pub(super) fn is_timed(&self) -> bool {
        self.clock == Clock::Timestamps
    }

    /// Whether someone else puts the requests in order.
    pub(super) fn may_go_back(&self) -> bool {
        self.order == Order::Any
    }

    /// A step passes without a request.
    pub(super) fn idle(&mut self) {
        if self.clock == Clock::Steps {
            self.now += 1;
        }
    }

    /// The step of a request that the trace numbers itself, from any number on. Numbers that are left out are idle steps.
    pub(super) fn number(&mut self, step: u64) -> Result<Nanos, String> {
        let first = match self.numbered {
            Some((_, latest)) if step <= latest => {
                return Err(format!(
                    "expected a step after {latest}, got {step}: a step has one request; --time-unit says how long a step is and makes it a time"
                ));
            }
            Some((first, _)) => first,
            None => step,
        };
        self.numbered = Some((first, step));
        Ok(Nanos(step - first))
    }

    /// No later request has a time before this: what is up to here can be handed over in its order.
    pub(super) fn settled(&self) -> Nanos {
        match (self.clock, self.order) {
            (Clock::Steps, _) | (Clock::Timestamps, Order::Any) => Nanos(u64::MAX),
            (Clock::Timestamps, Order::Strict) => Nanos(self.now),
            (Clock::Timestamps, Order::Near) => Nanos(self.now.saturating_sub(REACH.0).max(self.floor)),
        }
    }

    /// The time of a request that the trace dates `timestamp`, which is ignored when steps are counted.
    #[inline]
    pub(super) fn stamp(&mut self, timestamp: Nanos) -> Result<Nanos, String> {
        self.stamp_sized(timestamp, 0)
    }

    /// Returns a time like [`Timeline::stamp`], of something that takes `bytes` while it waits.
    #[inline]
    pub(super) fn stamp_sized(&mut self, timestamp: Nanos, bytes: usize) -> Result<Nanos, String> {
        match self.clock {
            Clock::Steps => {
                let step = self.now;
                self.now += 1;
                Ok(Nanos(step))
            }
            Clock::Timestamps => {
                if timestamp.0 >= self.now {
                    self.now = timestamp.0;
                } else if timestamp < self.settled() && !self.may_go_back() {
                    return Err(backwards(Nanos(self.now), timestamp));
                }
                self.items += 1;
                self.bytes += bytes;
                if self.items == PERIOD || self.bytes >= PERIOD_BYTES {
                    (self.floor, self.next_floor) = (self.next_floor, self.now);
                    (self.items, self.bytes) = (0, 0);
                }
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

    const SECOND: u64 = 1_000_000_000;

    fn refused(from: &str, to: &str) -> Result<Nanos, String> {
        Err(format!("time goes backwards, from {from} to {to}; --sort accepts that"))
    }

    #[test]
    fn timestamps_must_not_go_back_unless_they_may() {
        let mut strict = Timeline::new(Clock::Timestamps, Order::Strict);
        assert_eq!(strict.stamp(Nanos(5 * SECOND / 2)), Ok(Nanos(5 * SECOND / 2)));
        assert_eq!(strict.stamp(Nanos(5 * SECOND / 2)), Ok(Nanos(5 * SECOND / 2)));
        assert_eq!(strict.settled(), Nanos(5 * SECOND / 2));
        assert_eq!(strict.stamp(Nanos(5 * SECOND / 2 - 1)), refused("2.5s", "2.499999999s"));
        let mut any = Timeline::new(Clock::Timestamps, Order::Any);
        assert_eq!(any.stamp(Nanos(2 * SECOND)), Ok(Nanos(2 * SECOND)));
        assert_eq!(any.stamp(Nanos(1)), Ok(Nanos(1)));
        assert_eq!(any.settled(), Nanos(u64::MAX));
    }

    #[test]
    fn small_steps_back_are_near() {
        let mut near = Timeline::new(Clock::Timestamps, Order::Near);
        assert_eq!(near.settled(), Nanos(0));
        near.stamp(Nanos(SECOND)).unwrap();
        assert_eq!(near.settled(), Nanos(SECOND - REACH.0));
        let back = Nanos(SECOND - REACH.0);
        assert_eq!((near.stamp(back), near.stamp(back)), (Ok(back), Ok(back)));
        assert_eq!(near.stamp(Nanos(back.0 - 1)), refused("1s", "0.989999999s"));
    }

    /// Every one of the first [`PERIOD`] is within reach of all of them, and then they settle.
    #[test]
    fn steps_back_over_many_others_are_refused() {
        let ahead = Nanos(SECOND + 2);
        for (items, bytes) in [(PERIOD, 0), (2, PERIOD_BYTES / 2)] {
            let mut near = Timeline::new(Clock::Timestamps, Order::Near);
            for _ in 1..2 * items {
                near.stamp_sized(ahead, bytes).unwrap();
            }
            assert_eq!(near.stamp(Nanos(SECOND)), Ok(Nanos(SECOND)));
            near.stamp_sized(ahead, bytes).unwrap();
            assert_eq!(near.settled(), ahead);
            assert_eq!(near.stamp(Nanos(SECOND)), refused("1.000000002s", "1s"));
        }
    }

    #[test]
    fn steps_may_be_numbered_from_anywhere_and_leave_some_out() {
        let mut steps = Timeline::new(Clock::Steps, Order::Near);
        assert_eq!(steps.number(17), Ok(Nanos(0)));
        steps.idle();
        assert_eq!(steps.number(18), Ok(Nanos(1)));
        assert_eq!(steps.number(1000), Ok(Nanos(983)));
        assert!(steps.number(1000).unwrap_err().starts_with("expected a step after 1000, got 1000"));
    }

    #[test]
    fn steps_count_whatever_the_timestamps_say() {
        let mut steps = Timeline::new(Clock::Steps, Order::Near);
        assert_eq!(steps.stamp(Nanos(9)), Ok(Nanos(0)));
        steps.idle();
        assert_eq!(steps.stamp(Nanos(3)), Ok(Nanos(2)));
    }
}
