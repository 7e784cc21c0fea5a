//! CUBIC: a window that grows by the time since the last loss.

use trueplane_units::Nanos;

use super::window::{Window, WindowSettings};
use super::{Acknowledged, CongestionControl, Echo};
use crate::transport::settings::BadSettings;

/// C = 0.4 segments per s³, as a fraction (RFC 9438 §5).
const C: (u128, u128) = (4, 10);

/// beta = 0.7, the factor of the window after a loss, in tenths (RFC 9438 §4.6).
const BETA_TENTHS: u64 = 7;

/// alpha = 3 (1 − beta) ÷ (1 + beta) = 9/17, the additive increase that is as fast as Reno's on average (RFC 9438 §4.3).
const ALPHA: (u64, u64) = (9, 17);

/// Cube of the microseconds of a second.
const CUBIC_MICROS: u128 = 1_000_000_000_000_000_000;

/// Longest time from the loss that the cubic is computed for, in µs: a good hour, so that its cube fits into 128 bits.
const MOST_MICROS: u64 = 1 << 32;

/// CUBIC: cwnd = C (t − K)³ + W_max, t after the last loss.
///
/// - Unit: bytes, time in µs; all in integers.
/// - Cost: O(1); an integer cube root for each loss.
/// - Source: RFC 9438, with fast convergence (§4.7). Departure: a spurious loss is not undone (§4.9). HyStart++ (§4.10) is a setting.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: Window,
    echo: Echo,
    /// Window before the last reduction, lowered by fast convergence (W_max).
    most: u64,
    /// Window at the last reduction (cwnd_prior).
    prior: u64,
    epoch: Option<Epoch>,
    /// Time of the last acknowledgement.
    last: Nanos,
}

/// Congestion avoidance since it began.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Nanos,
    /// Time from the start until the window is `origin` (K).
    plateau_micros: u64,
    /// Window at the plateau.
    origin: u64,
    /// Window that Reno would have (W_est).
    estimate: u64,
    /// Remainder of the estimate's last growth, in bytes × 17 × cwnd.
    estimate_rest: u64,
    /// Remainder of the window's last growth, in bytes × cwnd.
    rest: u64,
}

impl Cubic {
    /// The initial window; marks are not echoed.
    pub fn new(settings: WindowSettings) -> Self {
        Self {
            window: Window::new(settings),
            echo: Echo::Off,
            most: 0,
            prior: 0,
            epoch: None,
            last: Nanos(0),
        }
    }

    /// The same with marks of queues, each of which counts as a loss.
    #[must_use]
    pub fn with_ecn(mut self) -> Self {
        self.echo = Echo::Classic;
        self
    }

    /// Begins an epoch of congestion avoidance (RFC 9438 §4.2).
    fn begin(&self, now: Nanos) -> Epoch {
        let cwnd = self.window.cwnd();
        let below = self.most.saturating_sub(cwnd);
        // RFC 9438 §4.2 (2): K = cube root of (W_max − cwnd) ÷ C.
        let cube = u128::from(below) * CUBIC_MICROS * C.1 / (C.0 * u128::from(self.window.segment()));
        Epoch {
            start: now,
            plateau_micros: cube_root(cube),
            origin: self.most.max(cwnd),
            estimate: cwnd,
            estimate_rest: 0,
            rest: 0,
        }
    }

    fn avoid(&mut self, ack: &Acknowledged) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin(ack.now));
        let (cwnd, segment) = (self.window.cwnd(), self.window.segment());
        // RFC 9438 §4.2: the window a round trip from now is what it heads for, at most 1.5 times as large.
        let ahead = ack.now.since(epoch.start).after(ack.smoothed);
        let target = epoch.window(ahead, segment).clamp(cwnd, cwnd + cwnd / 2);
        // RFC 9438 §4.3 (4): W_est grows by alpha segments in a window, and by one once it has reached the window before the loss.
        let alpha = if epoch.estimate >= self.prior { (1, 1) } else { ALPHA };
        let growth = segment * ack.bytes * alpha.0 * (ALPHA.1 / alpha.1) + epoch.estimate_rest;
        epoch.estimate += growth / (ALPHA.1 * cwnd);
        epoch.estimate_rest = growth % (ALPHA.1 * cwnd);
        if epoch.estimate > epoch.window(ack.now.since(epoch.start), segment) {
            self.window.set(cwnd.max(epoch.estimate)); // RFC 9438 §4.3
        } else {
            // RFC 9438 §4.4: (target − cwnd) ÷ cwnd for each acknowledged segment.
            let growth = (target - cwnd) * ack.bytes + epoch.rest;
            epoch.rest = growth % cwnd;
            self.window.set(cwnd + growth / cwnd);
        }
        self.epoch = Some(epoch);
    }

    /// Leaves out a time in which the window was not used up (RFC 9438 §4.2, §5.8: it must not count).
    fn skip(&mut self, time: Nanos) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start = epoch.start.after(time);
        }
    }

    fn reduce(&mut self) {
        let cwnd = self.window.cwnd();
        self.prior = cwnd;
        // RFC 9438 §4.7: fast convergence; W_max ← cwnd × (1 + beta) ÷ 2 if there was more before.
        self.most = if cwnd < self.most { cwnd * (10 + BETA_TENTHS) / 20 } else { cwnd };
        self.epoch = None;
    }
}

impl Epoch {
    /// W_cubic at `time` from the start, in bytes (RFC 9438 §4.2 (1)).
    fn window(&self, time: Nanos, segment: u64) -> u64 {
        let micros = (time.0 / 1_000).min(MOST_MICROS);
        let distance = u128::from(micros.abs_diff(self.plateau_micros));
        let height = C.0 * u128::from(segment) * distance.pow(3) / (C.1 * CUBIC_MICROS);
        let height = u64::try_from(height).unwrap_or(u64::MAX);
        if micros < self.plateau_micros {
            self.origin.saturating_sub(height)
        } else {
            self.origin.saturating_add(height)
        }
    }
}

/// The greatest number whose cube is no more than `cube`; at most 2⁴².
fn cube_root(cube: u128) -> u64 {
    let mut root = 0_u64;
    for bit in (0..42).rev() {
        let candidate = root | 1 << bit;
        if u128::from(candidate).pow(3) <= cube {
            root = candidate;
        }
    }
    root
}

impl CongestionControl for Cubic {
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
        let since_last = ack.now.since(std::mem::replace(&mut self.last, ack.now));
        if !ack.may_grow || ack.is_marked {
            return;
        }
        if !self.window.is_limiting(ack) {
            self.skip(since_last);
            return;
        }
        if self.window.is_slow_start() {
            self.window.slow_start(ack);
        } else {
            self.avoid(ack);
        }
    }

    fn on_loss(&mut self, flight: u64, _now: Nanos) {
        self.reduce();
        self.window.reduce(flight * BETA_TENTHS / 10); // RFC 9438 §4.6
    }

    fn on_timeout(&mut self, flight: u64, is_first: bool, _now: Nanos) {
        if is_first {
            self.prior = self.window.cwnd();
            self.window.set_threshold(flight * BETA_TENTHS / 10); // RFC 9438 §4.8
        }
        // RFC 9438 §4.8: the next congestion avoidance begins at its plateau, K = 0.
        (self.most, self.epoch) = (0, None);
        self.window.restart_after_loss();
    }

    fn on_mark(&mut self, flight: u64, now: Nanos) {
        self.on_loss(flight, now); // RFC 9438 §4.6: ECN-Echo as a loss
    }

    fn on_idle(&mut self) {
        self.window.restart_after_idle();
        self.epoch = None;
    }

    fn on_pause(&mut self, time: Nanos) {
        self.skip(time);
        self.last = self.last.after(time);
    }

    fn on_lost_handshake(&mut self) {
        self.window.restart_after_loss();
    }

    fn limit(&mut self, most: u64) {
        self.window.set(self.window.cwnd().min(most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cube_roots_are_rounded_down() {
        for root in [0_u64, 1, 2, 3, 10, 12_345, 1 << 20, (1 << 42) - 1] {
            let cube = u128::from(root).pow(3);
            assert_eq!(cube_root(cube), root);
            assert_eq!(cube_root(cube + 1), root.max(1));
            assert_eq!(cube_root(cube.saturating_sub(1)), root.saturating_sub(1));
        }
    }
}
