//! The flight by which congestion control judges a loss.

/// Remembers what was sent before the first duplicate acknowledgement.
///
/// Each of the first duplicates lets a new segment leave (RFC 3042). Those do not count as flight when the loss is known
/// (RFC 5681 §3.2 (2), RFC 6675 §5 (4.2)).
#[derive(Clone, Copy, Debug, Default)]
pub struct Flight {
    /// First sequence number that was not sent before the first duplicate.
    limit: Option<u64>,
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

    /// Bytes of the flight without those of limited transmit.
    ///
    /// What fits into the congestion window beside the rest would have left without duplicates, too.
    pub fn without_limited_transmit(&self, acknowledged: u64, next: u64, cwnd: u64) -> u64 {
        let before = self.limit.map_or(next, |limit| limit.max(acknowledged)) - acknowledged;
        (next - acknowledged).min(before.max(cwnd))
    }
}
