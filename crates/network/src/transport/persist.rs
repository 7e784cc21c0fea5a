//! Probes of a window that is closed (RFC 9293 §3.8.6.1).

use trueplane_units::Nanos;

use super::round_trip::RoundTrip;

/// Probes are no longer apart than this (RFC 1122 §4.2.2.17 leaves it open; it is the most that RFC 6298 §2.5 asks of an RTO).
const MOST: Nanos = Nanos::from_secs(60);

/// Decides when a closed window is probed: after a time-out, and each time twice as long after the last probe.
#[derive(Clone, Debug, Default)]
pub struct Persist {
    timer: Option<Nanos>,
    /// Probes since the window was closed.
    probes: u32,
    /// Sequence number behind the last probe.
    end: u64,
}

impl Persist {
    /// Time of the next probe, if the window is closed.
    #[inline]
    pub fn timer(&self) -> Option<Nanos> {
        self.timer
    }

    /// Sequence number behind the last probe. A probe is not on the scoreboard: the receiver is free to drop it.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// There is something to send, and the window is closed.
    pub fn close(&mut self, round_trip: &RoundTrip, now: Nanos) {
        if self.timer.is_none() {
            self.arm(round_trip, now);
        }
    }

    /// The window is open again.
    pub fn open(&mut self) {
        (self.timer, self.probes) = (None, 0);
    }

    /// A probe leaves that ends before this sequence number.
    pub fn probe(&mut self, end: u64, round_trip: &RoundTrip, now: Nanos) {
        self.probes += 1;
        self.end = end;
        self.arm(round_trip, now);
    }

    fn arm(&mut self, round_trip: &RoundTrip, now: Nanos) {
        let doubled = u128::from(round_trip.undoubled().0) << self.probes.min(32);
        let wait = Nanos(u64::try_from(doubled).unwrap_or(u64::MAX)).min(MOST);
        // Without a least RTO a round trip may take no time at all.
        self.timer = Some(now.after(wait.max(Nanos(1))));
    }
}
