//! Dynamic queue limits: how many bytes a device takes, so that its link never waits for more.

use trueplane_network::Nanos;

/// Time between two looks at how much less would do.
const HOLD: Nanos = Nanos::from_millis(1);

/// A limit of the bytes in a device. It grows when the device ran empty while it was at its limit, and shrinks by what was never needed for a while.
///
/// Numbers of bytes are counted from the start, in signed numbers. Source: Herbert, *bql: Byte Queue Limits*, 2011, as Linux and ns-3 have it.
#[derive(Debug, Default)]
pub(crate) struct QueueLimits {
    limit: i64,
    /// Bytes that have entered, and that had when the last ones left.
    entered: i64,
    entered_before: i64,
    /// Bytes that have left.
    left: i64,
    /// Bytes of the last packet that entered, and of the one that was last when bytes left before.
    last: i64,
    last_before: i64,
    /// Bytes above the limit when the last ones left.
    above_before: i64,
    /// Least number of bytes that were not needed since a time.
    slack: Option<i64>,
    since: Nanos,
}

impl QueueLimits {
    /// Whether the device takes a packet. The last one may go beyond the limit.
    pub(crate) fn has_room(&self) -> bool {
        self.entered - self.left <= self.limit
    }

    /// A packet enters the device.
    pub(crate) fn enters(&mut self, bytes: u32) {
        self.last = i64::from(bytes);
        self.entered += self.last;
    }

    /// A packet leaves the device.
    pub(crate) fn leaves(&mut self, bytes: u32, now: Nanos) {
        let left = self.left + i64::from(bytes);
        let above = (self.entered - self.left - self.limit).max(0);
        let was_all = left >= self.entered_before;
        let is_empty = self.entered == left;
        let mut limit = self.limit;
        if above > 0 && is_empty || self.above_before > 0 && was_all {
            limit += (left - self.entered_before).max(0) + self.above_before;
            (self.slack, self.since) = (None, now);
        } else if !is_empty && self.entered_before > self.left && !was_all {
            let unused = self.limit + self.above_before - 2 * i64::from(bytes);
            let of_last = if self.above_before > 0 { self.last_before - self.above_before } else { 0 };
            let slack = unused.max(of_last).max(0);
            let least = self.slack.map_or(slack, |least| least.min(slack));
            self.slack = Some(least);
            if now > self.since.after(HOLD) {
                limit = (limit - least).max(0);
                (self.slack, self.since) = (None, now);
            }
        }
        self.above_before = if limit == self.limit { above } else { 0 };
        (self.limit, self.left) = (limit, left);
        (self.entered_before, self.last_before) = (self.entered, self.last);
    }
}
