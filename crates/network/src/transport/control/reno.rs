//! Reno: the standard window.

use trueplane_units::Nanos;

use super::window::{Window, WindowSettings};
use super::{Acknowledged, CongestionControl, Echo};
use crate::transport::settings::BadSettings;

/// Reno: half of the flight after a loss, a segment more each round trip.
///
/// - Unit: bytes.
/// - Cost: O(1).
/// - Source: RFC 5681; marks as losses by RFC 3168 §6.1.2.
#[derive(Clone, Debug)]
pub struct Reno {
    window: Window,
    echo: Echo,
}

impl Reno {
    /// The initial window; marks are not echoed.
    pub fn new(settings: WindowSettings) -> Self {
        Self { window: Window::new(settings), echo: Echo::Off }
    }

    /// The same with marks of queues, each of which counts as a loss.
    #[must_use]
    pub fn with_ecn(mut self) -> Self {
        self.echo = Echo::Classic;
        self
    }
}

impl CongestionControl for Reno {
    fn check(&self, segment: u32) -> Result<(), BadSettings> {
        self.window.check(segment)
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.window.cwnd()
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh()
    }

    fn echo(&self) -> Echo {
        self.echo
    }

    fn on_ack(&mut self, ack: &Acknowledged) {
        // RFC 3168 §6.1.2: an acknowledgement with an echo does not let the window grow.
        if !ack.is_marked {
            self.window.grow(ack);
        }
    }

    fn on_loss(&mut self, flight: u64, _now: Nanos) {
        self.window.reduce(flight / 2); // RFC 5681 §3.1 (4)
    }

    fn on_timeout(&mut self, flight: u64, is_first: bool, _now: Nanos) {
        // RFC 5681 §3.1: the threshold stays if the same segment times out again.
        if is_first {
            self.window.set_threshold(flight / 2);
        }
        self.window.restart_after_loss();
    }

    fn on_mark(&mut self, flight: u64, _now: Nanos) {
        self.window.reduce(flight / 2); // RFC 3168 §6.1.2: as a loss
    }

    fn on_idle(&mut self) {
        self.window.restart_after_idle();
    }

    fn on_lost_handshake(&mut self) {
        self.window.restart_after_loss(); // RFC 5681 §3.1: IW is one segment then
    }

    fn limit(&mut self, most: u64) {
        self.window.set(self.window.cwnd().min(most));
    }
}
