//! What can be read of a sender.

use super::Sender;
use crate::transport::control::CongestionControl;
use crate::transport::recovery::LossRecovery;
use crate::transport::reduction::Proportional;
use crate::transport::round_trip::RoundTrip;
use crate::transport::scoreboard::Scoreboard;
use crate::transport::segment::FIRST_BYTE;

impl<C: CongestionControl, R: LossRecovery> Sender<C, R> {
    /// Congestion control of the sender.
    pub fn control(&self) -> &C {
        &self.control
    }

    /// Loss recovery of the sender.
    pub fn recovery(&self) -> &R {
        &self.recovery
    }

    /// What is sent and not acknowledged.
    pub fn board(&self) -> &Scoreboard {
        &self.board
    }

    /// Round-trip time and time-out.
    pub fn round_trip(&self) -> &RoundTrip {
        &self.round_trip
    }

    /// Bytes that count against the window.
    pub fn in_flight(&self) -> u64 {
        self.recovery.in_flight(&self.board)
    }

    /// Bytes that may be on their way: the congestion window, or in a recovery what proportional rate reduction allows.
    #[inline]
    pub fn window(&self) -> u64 {
        self.reduction.as_ref().map_or_else(|| self.control.cwnd(), Proportional::window)
    }

    /// Bytes that were written and are not acknowledged.
    pub fn unacknowledged(&self) -> u64 {
        let data_end = self.stream.data_end();
        data_end - self.board.acknowledged().clamp(FIRST_BYTE, data_end)
    }

    /// Time-outs since bytes were acknowledged.
    pub fn timeouts(&self) -> u32 {
        self.timeouts
    }

    /// End of the window that the receiver offers, as a sequence number.
    pub fn window_end(&self) -> u64 {
        self.offered.end()
    }
}
