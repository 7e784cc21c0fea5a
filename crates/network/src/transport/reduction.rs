//! How the window gets smaller when a loss begins a recovery.

/// Way in which the window gets smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// At once: nothing more is sent until less is on its way than the new window holds (RFC 5681 §3.2, RFC 6675 §5).
    #[default]
    AtOnce,
    /// In proportion to what arrives, so that segments leave all through the recovery (RFC 9937). A loss recovery that reads no SACK blocks
    /// reduces at once.
    Proportional,
}

/// Proportional rate reduction: what may be on its way in a recovery.
///
/// For each byte that arrives, as many are sent as the new window is smaller than the flight was. When less is on its way than the new window
/// holds, what was not sent is made up for: by as much as arrives, and a segment more if the acknowledgement tells of no further loss.
///
/// - Unit: bytes.
/// - Cost: O(1).
/// - Source: RFC 9937 §6. Departures: what is left of a segment waits for the next acknowledgement, and
///   until something is sent, any amount below a segment counts as one.
#[derive(Clone, Copy, Debug)]
pub struct Proportional {
    /// Window at the end of the recovery (ssthresh).
    threshold: u64,
    /// Bytes that could arrive when the recovery began (RecoverFS).
    flight: u64,
    /// Bytes that arrived since (prr_delivered).
    delivered: u64,
    /// Bytes that were sent since, for the first time or again (prr_out).
    sent: u64,
    /// Bytes that may be on their way now (cwnd).
    window: u64,
}

impl Proportional {
    /// A recovery begins, in which the window becomes `threshold`.
    ///
    /// `flight` are the bytes that were on their way, or lost, before the acknowledgement that begins it; `in_flight` those that are on their way
    /// after it.
    pub fn new(threshold: u64, flight: u64, in_flight: u64) -> Self {
        Self { threshold, flight: flight.max(1), delivered: 0, sent: 0, window: in_flight }
    }

    /// Bytes that may be on their way.
    #[inline]
    pub fn window(&self) -> u64 {
        self.window
    }

    /// So many bytes arrived, and `in_flight` are on their way; `is_safe`: the acknowledgement number grew, and nothing more is lost.
    pub fn hear(&mut self, delivered: u64, in_flight: u64, is_safe: bool, segment: u64) {
        if delivered == 0 {
            return; // RFC 9937 §6: such an acknowledgement changes nothing
        }
        self.delivered += delivered;
        let count = if in_flight > self.threshold {
            let share = u128::from(self.delivered) * u128::from(self.threshold);
            let share = share.div_ceil(u128::from(self.flight));
            u64::try_from(share).unwrap_or(u64::MAX).saturating_sub(self.sent)
        } else {
            let missed = self.delivered.saturating_sub(self.sent).max(delivered);
            let extra = if is_safe { segment } else { 0 };
            (missed + extra).min(self.threshold - in_flight)
        };
        // RFC 9937 §6: a recovery begins with a segment that is sent again.
        let count = if self.sent == 0 { count.max(segment) } else { count };
        self.window = in_flight + count;
    }

    /// Counts bytes that are sent.
    #[inline]
    pub fn send(&mut self, bytes: u64) {
        self.sent += bytes;
    }
}
