//! What congestion control is told of the flight.

use trueplane_units::Nanos;

/// Remembers what the flight of the moment does not show.
///
/// Each of the first duplicates lets a new segment leave (RFC 3042). Those do not count as flight when the loss is known
/// (RFC 5681 §3.2 (2), RFC 6675 §5 (4.2)). A window that held a segment back was used, also if it has room when the acknowledgement comes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flight {
    /// First sequence number that was not sent before the first duplicate.
    limit: Option<u64>,
    /// The window held back what comes from this sequence number on.
    limited_until: u64,
    /// Time at which nothing was outstanding any more.
    quiet_since: Nanos,
}

impl Flight {
    /// An acknowledgement arrived: one of new bytes ends a row of duplicates, and a duplicate begins one.
    pub fn hear(&mut self, is_new: bool, is_duplicate: bool, next: u64) {
        if is_new {
            self.limit = None;
        }
        if is_duplicate {
            self.limit.get_or_insert(next);
        }
    }

    /// The congestion window holds back the segment at `next`.
    pub fn hold(&mut self, next: u64) {
        self.limited_until = next;
    }

    /// Whether the window held a segment back since the first byte that is not acknowledged was sent.
    pub fn is_limited(&self, acknowledged: u64) -> bool {
        acknowledged < self.limited_until
    }

    /// Nothing is outstanding any more.
    pub fn end(&mut self, now: Nanos) {
        self.quiet_since = now;
    }

    /// Time for which nothing was outstanding.
    pub fn pause(&self, now: Nanos) -> Nanos {
        now.since(self.quiet_since)
    }

    /// Bytes of the flight without those of limited transmit.
    ///
    /// What fits into the congestion window beside the rest would have left without duplicates, too.
    pub fn without_limited_transmit(&self, acknowledged: u64, next: u64, cwnd: u64) -> u64 {
        let before = self.limit.map_or(next, |limit| limit.max(acknowledged)) - acknowledged;
        (next - acknowledged).min(before.max(cwnd))
    }
}
