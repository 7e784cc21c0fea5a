//! Loss recovery: what is lost, when that is known, and what is sent again.
//!
//! | file | learns of a loss by | source |
//! |---|---|---|
//! | [`new_reno`] | three duplicate acknowledgements, then partial ones | RFC 5681, RFC 6582 |
//! | [`sack`] | three segments that arrived beyond it | RFC 6675 |
//! | [`rack`] | a later one that arrived, and time; probes the tail | RFC 8985 |
//! | [`timeout_only`] | its timer alone | pFabric, SIGCOMM 2013 |
//!
//! [`episode`] holds what they share, and [`Recovery`] is one of them that is chosen while the program runs. How much may be sent is
//! [congestion control](super::control)'s to decide.

pub mod any;
pub mod episode;
pub mod new_reno;
pub mod rack;
pub mod sack;
pub mod timeout_only;

use trueplane_units::Nanos;

use super::round_trip::RoundTrip;
use super::scoreboard::{Delivered, Scoreboard};
use super::span::Span;

pub use any::Recovery;
pub use episode::{Episode, Stage};
pub use new_reno::NewReno;
pub use rack::RackTlp;
pub use sack::Sack;
pub use timeout_only::TimeoutOnly;

/// An acknowledgement as loss recovery sees it, after the scoreboard has taken it.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// Time of its arrival.
    pub now: Nanos,
    /// What it said that was not known.
    pub delivered: &'a Delivered,
    /// Its acknowledgement number.
    pub ack: u64,
    /// Whether it repeats the last one: a duplicate as RFC 5681 §2 defines it.
    pub is_duplicate: bool,
    /// Whether it reports bytes that arrived twice (RFC 2883).
    pub has_duplicate_block: bool,
    /// Round-trip times up to and with this one.
    pub round_trip: &'a RoundTrip,
    /// Segment size (SMSS), in bytes.
    pub segment: u64,
    /// Time at which the retransmission timer expires, if this acknowledgement starts it anew as usual.
    pub expiry: Option<Nanos>,
}

/// What follows from what loss recovery has learnt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// A loss begins an episode: the window has to be reduced.
    pub is_congested: bool,
    /// What is lost first is sent now, whatever the window.
    pub sends_now: bool,
    /// An episode ended, and the window must be no more than this.
    pub limit: Option<u64>,
    /// A probe of the tail is due (RFC 8985 §7.3).
    pub probes_tail: bool,
    /// The retransmission timer runs on, though new bytes are acknowledged.
    pub keeps_timer: bool,
}

/// Finds what is lost.
pub trait LossRecovery {
    /// Whether it reads SACK blocks.
    fn reads_sack(&self) -> bool;

    /// The episode that is under way.
    fn episode(&self) -> &Episode;

    /// Bytes that count against the congestion window.
    fn in_flight(&self, board: &Scoreboard) -> u64 {
        board.pipe()
    }

    /// An acknowledgement arrived.
    fn on_ack(&mut self, board: &mut Scoreboard, heard: &Heard<'_>) -> Verdict;

    /// The retransmission timer expired.
    fn on_timeout(&mut self, board: &mut Scoreboard, round_trip: &RoundTrip, now: Nanos);

    /// A new segment was sent; the retransmission timer expires at `expiry`.
    fn on_sent(&mut self, _board: &Scoreboard, _round_trip: &RoundTrip, _expiry: Option<Nanos>, _now: Nanos) {
    }

    /// Time at which its own timer expires.
    fn timer(&self) -> Option<Nanos> {
        None
    }

    /// Its own timer expired.
    fn on_timer(&mut self, _board: &mut Scoreboard, _round_trip: &RoundTrip, _now: Nanos) -> Verdict {
        Verdict::default()
    }

    /// The tail was probed: what was sent, and whether it had been sent before.
    fn on_probe(&mut self, _span: Span, _is_repeated: bool) {}

    /// What it would send again though it is not known to be lost, as there is room and no new data.
    fn rescue(&self, _board: &Scoreboard) -> Option<Span> {
        None
    }

    /// Whether it sends only the first lost byte until something is acknowledged.
    fn probes_with_a_byte(&self) -> bool {
        false
    }
}
