//! Congestion control: how many bytes may be on their way.
//!
//! | file | window | source |
//! |---|---|---|
//! | [`reno`] | halved on loss, one segment more each round trip | RFC 5681 |
//! | [`cubic`] | a cubic of the time since the loss | RFC 9438 |
//! | [`dctcp`] | cut by the share of marked bytes | RFC 8257 |
//!
//! [`window`] holds what they share, [`hystart`] an earlier end of slow start (RFC 9406), and [`Control`] is one of them that is chosen while
//! the program runs. What is lost, and when, is [recovery](super::recovery)'s to decide.

pub mod any;
pub mod cubic;
pub mod dctcp;
pub mod hystart;
pub mod reno;
pub mod window;

use trueplane_units::Nanos;

use super::settings::BadSettings;

pub use any::Control;
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use reno::Reno;
pub use window::{Window, WindowSettings};

/// What the ends of a connection do about marks of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Echo {
    /// Packets are not marked.
    #[default]
    Off,
    /// The receiver echoes a mark until the sender says that it has reduced its window (RFC 3168 §6.1).
    Classic,
    /// The receiver echoes for which bytes the mark was there (RFC 8257 §3.2).
    Accurate,
}

/// An acknowledgement as congestion control sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledged {
    /// Time of its arrival.
    pub now: Nanos,
    /// Bytes by which the acknowledgement number grew.
    pub bytes: u64,
    /// Whether it echoes a mark.
    pub is_marked: bool,
    /// First sequence number that is not acknowledged, after it (SND.UNA).
    pub acknowledged: u64,
    /// First sequence number that was never sent (SND.NXT).
    pub next: u64,
    /// Bytes on their way before it came.
    pub in_flight: u64,
    /// Round-trip time that it measures, if it does.
    pub sample: Option<Nanos>,
    /// Smoothed round-trip time; zero before the first measurement.
    pub smoothed: Nanos,
    /// Whether the window held a segment back since what it acknowledges was sent.
    pub is_limited: bool,
    /// Whether the window may grow: fast recovery is not under way.
    pub may_grow: bool,
}

/// Decides how many bytes may be on their way.
///
/// All windows are in bytes.
pub trait CongestionControl {
    /// Checks that its settings make sense for a sender of segments of so many bytes.
    ///
    /// # Errors
    ///
    /// If they do not.
    fn check(&self, _segment: u32) -> Result<(), BadSettings> {
        Ok(())
    }

    /// Congestion window (cwnd).
    fn cwnd(&self) -> u64;

    /// Slow start threshold (ssthresh).
    fn ssthresh(&self) -> u64;

    /// How marks are echoed to it.
    fn echo(&self) -> Echo {
        Echo::Off
    }

    /// An acknowledgement arrived, one that acknowledges new bytes.
    fn on_ack(&mut self, ack: &Acknowledged);

    /// Fast recovery begins; `flight` bytes are not acknowledged.
    fn on_loss(&mut self, flight: u64, now: Nanos);

    /// The retransmission timer expired; `is_first`: for the first time since bytes were acknowledged.
    fn on_timeout(&mut self, flight: u64, is_first: bool, now: Nanos);

    /// A mark was echoed, for the first time in this window of data.
    fn on_mark(&mut self, flight: u64, now: Nanos);

    /// Nothing was sent for longer than the time-out.
    fn on_idle(&mut self);

    /// Nothing was outstanding for so long, which is no more than the time-out.
    fn on_pause(&mut self, _time: Nanos) {}

    /// The SYN had to be sent again.
    fn on_lost_handshake(&mut self);

    /// Lowers the window to `most`, so that the end of fast recovery sends no burst.
    fn limit(&mut self, most: u64);
}
