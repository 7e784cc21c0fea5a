//! A loss recovery that is chosen while the program runs.

use trueplane_units::Nanos;

use super::{Episode, Heard, LossRecovery, NewReno, RackTlp, Sack, TimeoutOnly, Verdict};
use crate::transport::round_trip::RoundTrip;
use crate::transport::scoreboard::Scoreboard;
use crate::transport::span::Span;

/// One of the loss recoveries.
#[derive(Clone, Debug)]
pub enum Recovery {
    /// NewReno: duplicate and partial acknowledgements tell of losses.
    NewReno(NewReno),
    /// SACK: segments that arrived beyond a gap tell of losses.
    Sack(Sack),
    /// RACK-TLP: later segments that arrived and time tell of losses.
    RackTlp(RackTlp),
    /// Nothing but the retransmission timer tells of losses.
    TimeoutOnly(TimeoutOnly),
}

/// Calls the same method of the one that it is.
macro_rules! each {
    ($any:expr, $one:ident => $call:expr) => {
        match $any {
            Recovery::NewReno($one) => $call,
            Recovery::Sack($one) => $call,
            Recovery::RackTlp($one) => $call,
            Recovery::TimeoutOnly($one) => $call,
        }
    };
}

impl LossRecovery for Recovery {
    fn reads_sack(&self) -> bool {
        each!(self, one => one.reads_sack())
    }

    fn episode(&self) -> &Episode {
        each!(self, one => one.episode())
    }

    fn in_flight(&self, board: &Scoreboard) -> u64 {
        each!(self, one => one.in_flight(board))
    }

    fn on_ack(&mut self, board: &mut Scoreboard, heard: &Heard<'_>) -> Verdict {
        each!(self, one => one.on_ack(board, heard))
    }

    fn on_timeout(&mut self, board: &mut Scoreboard, round_trip: &RoundTrip, now: Nanos) {
        each!(self, one => one.on_timeout(board, round_trip, now));
    }

    fn on_sent(&mut self, board: &Scoreboard, round_trip: &RoundTrip, expiry: Option<Nanos>, now: Nanos) {
        each!(self, one => one.on_sent(board, round_trip, expiry, now));
    }

    fn timer(&self) -> Option<Nanos> {
        each!(self, one => one.timer())
    }

    fn on_timer(&mut self, board: &mut Scoreboard, round_trip: &RoundTrip, now: Nanos) -> Verdict {
        each!(self, one => one.on_timer(board, round_trip, now))
    }

    fn on_probe(&mut self, span: Span, is_repeated: bool) {
        each!(self, one => one.on_probe(span, is_repeated));
    }

    fn rescue(&self, board: &Scoreboard) -> Option<Span> {
        each!(self, one => one.rescue(board))
    }

    fn probes_with_a_byte(&self) -> bool {
        each!(self, one => one.probes_with_a_byte())
    }
}

impl From<NewReno> for Recovery {
    fn from(one: NewReno) -> Self {
        Recovery::NewReno(one)
    }
}

impl From<Sack> for Recovery {
    fn from(one: Sack) -> Self {
        Recovery::Sack(one)
    }
}

impl From<RackTlp> for Recovery {
    fn from(one: RackTlp) -> Self {
        Recovery::RackTlp(one)
    }
}

impl From<TimeoutOnly> for Recovery {
    fn from(one: TimeoutOnly) -> Self {
        Recovery::TimeoutOnly(one)
    }
}
