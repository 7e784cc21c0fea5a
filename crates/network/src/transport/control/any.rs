//! A congestion control that is chosen while the program runs.

use trueplane_units::Nanos;

use super::{Acknowledged, CongestionControl, Cubic, Dctcp, Echo, Reno};
use crate::transport::settings::BadSettings;

/// One of the congestion controls.
#[derive(Clone, Debug)]
pub enum Control {
    /// Reno: the window is halved on loss.
    Reno(Reno),
    /// CUBIC: the window is a cubic of the time since the loss.
    Cubic(Cubic),
    /// DCTCP: the window is cut by the share of marked bytes.
    Dctcp(Dctcp),
}

/// Calls the same method of the one that it is.
macro_rules! each {
    ($any:expr, $one:ident => $call:expr) => {
        match $any {
            Control::Reno($one) => $call,
            Control::Cubic($one) => $call,
            Control::Dctcp($one) => $call,
        }
    };
}

impl CongestionControl for Control {
    fn check(&self, segment: u32) -> Result<(), BadSettings> {
        each!(self, one => one.check(segment))
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        each!(self, one => one.cwnd())
    }

    fn ssthresh(&self) -> u64 {
        each!(self, one => one.ssthresh())
    }

    fn echo(&self) -> Echo {
        each!(self, one => one.echo())
    }

    fn on_ack(&mut self, ack: &Acknowledged) {
        each!(self, one => one.on_ack(ack));
    }

    fn on_loss(&mut self, flight: u64, now: Nanos) {
        each!(self, one => one.on_loss(flight, now));
    }

    fn on_timeout(&mut self, flight: u64, is_first: bool, now: Nanos) {
        each!(self, one => one.on_timeout(flight, is_first, now));
    }

    fn on_mark(&mut self, flight: u64, now: Nanos) {
        each!(self, one => one.on_mark(flight, now));
    }

    fn on_idle(&mut self) {
        each!(self, one => one.on_idle());
    }

    fn on_pause(&mut self, time: Nanos) {
        each!(self, one => one.on_pause(time));
    }

    fn on_lost_handshake(&mut self) {
        each!(self, one => one.on_lost_handshake());
    }

    fn limit(&mut self, most: u64) {
        each!(self, one => one.limit(most));
    }
}

impl From<Reno> for Control {
    fn from(one: Reno) -> Self {
        Control::Reno(one)
    }
}

impl From<Cubic> for Control {
    fn from(one: Cubic) -> Self {
        Control::Cubic(one)
    }
}

impl From<Dctcp> for Control {
    fn from(one: Dctcp) -> Self {
        Control::Dctcp(one)
    }
}
