//! DCTCP: a window that is cut by the share of marked bytes.

use trueplane_units::Nanos;

use super::window::{Window, WindowSettings};
use super::{Acknowledged, CongestionControl, Echo};
use crate::transport::segment::FIRST_BYTE;
use crate::transport::settings::BadSettings;

/// One in the fixed-point numbers of the estimate.
const ONE: u64 = 1 << 20;

/// Weight of the last window in the estimate: g = 1/16 (RFC 8257 §4.2).
const GAIN_SHIFT: u32 = 4;

/// DCTCP: the window is cut by half of the estimated share of marked bytes.
///
/// alpha ← (1 − g) alpha + g × marked bytes ÷ acknowledged bytes, once a window of data; with marks, cwnd ← cwnd × (1 − alpha ÷ 2).
///
/// - Unit: bytes; alpha in 2⁻²⁰.
/// - Cost: O(1).
/// - Source: RFC 8257 §3.3. Losses count as in Reno (§3.5). The cut comes with the first mark of a window, and not at its end.
#[derive(Clone, Debug)]
pub struct Dctcp {
    window: Window,
    alpha: u64,
    acked: u64,
    marked: u64,
    /// The window of data that is counted ends here (DCTCP.WindowEnd).
    window_end: u64,
}

impl Dctcp {
    /// The initial window; the estimate begins with all bytes marked.
    pub fn new(settings: WindowSettings) -> Self {
        Self { window: Window::new(settings), alpha: ONE, acked: 0, marked: 0, window_end: FIRST_BYTE } // RFC 8257 §3.3
    }

    /// Estimated share of marked bytes, in 2⁻²⁰.
    pub fn alpha(&self) -> u64 {
        self.alpha
    }
}

impl CongestionControl for Dctcp {
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
        Echo::Accurate
    }

    fn on_ack(&mut self, ack: &Acknowledged) {
        if ack.acknowledged <= FIRST_BYTE {
            return; // a SYN is no data that could have been marked
        }
        self.acked += ack.bytes;
        if ack.is_marked {
            self.marked += ack.bytes;
        }
        if ack.acknowledged > self.window_end && self.acked > 0 {
            let share = self.marked * ONE / self.acked;
            self.alpha = self.alpha - (self.alpha >> GAIN_SHIFT) + (share >> GAIN_SHIFT);
            self.window_end = ack.next;
            (self.acked, self.marked) = (0, 0);
        }
        if !ack.is_marked {
            self.window.grow(ack);
        }
    }

    fn on_loss(&mut self, flight: u64, _now: Nanos) {
        self.window.reduce(flight / 2); // RFC 8257 §3.5
    }

    fn on_timeout(&mut self, flight: u64, is_first: bool, _now: Nanos) {
        if is_first {
            self.window.set_threshold(flight / 2);
        }
        self.window.restart_after_loss();
    }

    fn on_mark(&mut self, _flight: u64, _now: Nanos) {
        let cwnd = self.window.cwnd();
        self.window.reduce(cwnd - cwnd * self.alpha / (2 * ONE)); // RFC 8257 §3.3, step 9
    }

    fn on_idle(&mut self) {
        self.window.restart_after_idle();
    }

    fn on_lost_handshake(&mut self) {
        self.window.restart_after_loss();
    }

    fn limit(&mut self, most: u64) {
        self.window.set(self.window.cwnd().min(most));
    }
}
