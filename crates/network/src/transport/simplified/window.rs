//! The congestion window of the published simulator.

use super::settings::Simplified;

/// A byte in the fixed-point numbers of windows: growth by a fraction of a byte counts.
const BYTE: u64 = 1 << 10;

/// One in the fixed-point numbers of DCTCP's estimate.
const ONE: u64 = 1 << 20;

/// Weight of the last window in DCTCP's estimate: g = 1/16.
const GAIN_SHIFT: u32 = 4;

/// Least threshold, in segments.
const LEAST_THRESHOLD: u64 = 2;

/// A congestion window, its threshold, and DCTCP's estimate of the share of marked bytes.
///
/// - Unit: bytes; inside 2⁻¹⁰ bytes, and 2⁻²⁰ for the estimate.
/// - Cost: O(1).
/// - Source: `NewRenoTcpSocket` and `NewRenoDctcpSocket` in `nsg-ethz/SP-PIFO`, which have floating-point numbers in their place.
#[derive(Clone, Debug)]
pub struct Window {
    segment: u64,
    most: u64,
    cwnd: u64,
    ssthresh: u64,
    alpha: u64,
    /// Bytes acknowledged since the estimate was renewed.
    acked: u64,
    /// Bytes of these whose acknowledgement echoed a mark.
    marked: u64,
    /// Acknowledgement number that renews the estimate.
    window_end: u64,
}

impl Window {
    /// The initial window.
    pub fn new(settings: &Simplified) -> Self {
        let segment = u64::from(settings.segment) * BYTE;
        Self {
            segment,
            most: u64::from(settings.most) * BYTE,
            cwnd: segment * u64::from(settings.initial),
            ssthresh: segment * u64::from(settings.threshold),
            alpha: 0,
            acked: 0,
            marked: 0,
            window_end: 0,
        }
    }

    /// Bytes that may be on their way.
    #[inline]
    pub fn usable(&self) -> u64 {
        self.cwnd.min(self.most) / BYTE
    }

    /// Congestion window in bytes, which may be greater than what is used of it.
    pub fn cwnd(&self) -> u64 {
        self.cwnd / BYTE
    }

    /// Slow start threshold in bytes.
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh / BYTE
    }

    /// Estimated share of marked bytes, in 2⁻²⁰.
    pub fn alpha(&self) -> u64 {
        self.alpha
    }

    /// An acknowledgement of new bytes arrives outside of fast recovery.
    pub fn grow(&mut self) {
        let growth =
            if self.cwnd < self.ssthresh { self.segment } else { self.segment * self.segment / self.cwnd };
        self.cwnd = (self.cwnd + growth).min(self.most);
    }

    /// Fast recovery begins, with so many bytes in flight.
    pub fn begin_recovery(&mut self, flight: u64) {
        self.ssthresh = (flight / 2 * BYTE).max(LEAST_THRESHOLD * self.segment);
        self.cwnd = self.ssthresh + 3 * self.segment;
    }

    /// A duplicate acknowledgement in fast recovery: a segment has left the network.
    pub fn inflate(&mut self) {
        self.cwnd += self.segment;
    }

    /// An acknowledgement of so many new bytes that does not end fast recovery.
    pub fn deflate(&mut self, acked: u64) {
        self.cwnd = (self.cwnd + self.segment).saturating_sub(acked * BYTE).max(self.segment);
    }

    /// Fast recovery ends, with so many bytes in flight before the acknowledgement that ends it.
    pub fn end_recovery(&mut self, flight: u64) {
        self.cwnd = self.ssthresh.min(flight * BYTE + self.segment);
    }

    /// The timer expires, with so many bytes in flight.
    pub fn time_out(&mut self, flight: u64) {
        self.ssthresh = (flight * BYTE / 2).max(LEAST_THRESHOLD * self.segment);
        self.cwnd = self.segment;
    }

    /// DCTCP: an acknowledgement of so many new bytes, which may be none, echoes a mark or not.
    pub fn hear_mark(&mut self, ack: u64, acked: u64, is_marked: bool) {
        self.acked += acked;
        if is_marked {
            self.marked += acked;
        }
        if ack >= self.window_end {
            let share = (self.marked * ONE).checked_div(self.acked);
            self.alpha =
                share.map_or(0, |share| self.alpha - (self.alpha >> GAIN_SHIFT) + (share >> GAIN_SHIFT));
            (self.acked, self.marked) = (0, 0);
            self.window_end = ack + self.cwnd();
        }
        if is_marked {
            let cut = (u128::from(self.cwnd) * u128::from(self.alpha) / u128::from(2 * ONE)) as u64;
            self.cwnd = (self.cwnd - cut).max(self.segment);
            self.ssthresh = self.cwnd.max(LEAST_THRESHOLD * self.segment);
        }
    }
}
