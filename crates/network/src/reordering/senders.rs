//! Senders by name: how they recover from losses, and how they set their windows.

use trueplane_units::{Nanos, choices};

use crate::transport::{
    Control, Cubic, NewReno, RackTlp, Recovery, Reno, Sack, SenderSettings, TimeoutSettings, WindowSettings,
};

/// Payload of a segment in bytes: what an Ethernet packet holds beside headers of IPv4 and of TCP with time stamps.
pub const SEGMENT: u32 = 1_448;

/// Bytes of a packet beside its payload: headers of IPv4 and of TCP with time stamps (52), and Ethernet with preamble and gap (38).
pub const HEADER: u32 = 90;

/// Longest time for which receivers delay an acknowledgement; Linux's least delay.
pub const DELAY: Nanos = Nanos::from_millis(40);

choices! {
    /// How a sender finds out that a packet is lost.
    pub enum RecoveryName {
        /// Three duplicate acknowledgements tell of a loss (RFC 6582).
        NewReno = "newreno",
        /// Three segments that arrived beyond a gap tell of a loss (RFC 6675).
        Sack = "sack",
        /// A later segment that arrived tells of a loss, after a time that grows with reordering (RACK-TLP, RFC 8985).
        Rack = "rack",
    }
}

choices! {
    /// How a sender sets its window.
    pub enum ControlName {
        /// As Linux does: a cubic of the time since the last loss (RFC 9438).
        Cubic = "cubic",
        /// Half after a loss, and a segment more in each round trip (RFC 5681).
        Reno = "reno",
    }
}

impl RecoveryName {
    /// The loss recovery of this name.
    pub fn make(self) -> Recovery {
        match self {
            RecoveryName::NewReno => NewReno::new().into(),
            RecoveryName::Sack => Sack::new().into(),
            RecoveryName::Rack => RackTlp::new(DELAY).into(),
        }
    }
}

impl ControlName {
    /// The congestion control of this name, with the windows of the standards.
    pub fn make(self) -> Control {
        let windows = WindowSettings::standard(SEGMENT);
        match self {
            ControlName::Cubic => Cubic::new(windows).into(),
            ControlName::Reno => Reno::new(windows).into(),
        }
    }
}

/// Settings of a sender with a least time-out, towards a receiver with such a window.
pub fn settings(least_timeout: Nanos, window: u32) -> SenderSettings {
    let timeout = TimeoutSettings { least: least_timeout, ..TimeoutSettings::STANDARD };
    SenderSettings { timeout, first_window: window, ..SenderSettings::standard(SEGMENT) }
}
