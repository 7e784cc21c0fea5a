//! What is compared: what stands at the port of the shared link, and the senders.

use trueplane_limit::policy::PolicyName as LimiterName;
use trueplane_units::{Nanos, choices};

use crate::transport::control::WindowSettings;
use crate::transport::preset::Parts;
use crate::transport::round_trip::TimeoutSettings;
use crate::transport::{Control, Cubic, Dctcp, NewReno, RackTlp, Recovery, Reno, SenderSettings};

/// Mechanism that keeps tenants apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Nothing does: all share a FIFO.
    Nothing,
    /// A limiter for each tenant stands before a FIFO that does not mark.
    Limiter {
        /// Limiter that it is.
        name: LimiterName,
        /// Whether it marks before it drops.
        marks: bool,
    },
    /// Each tenant has a queue.
    Queues,
}

/// Properties of a policy that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Mechanism that keeps tenants apart.
    pub mechanism: Mechanism,
}

impl Properties {
    const fn limiter(name: LimiterName, marks: bool) -> Self {
        Self { mechanism: Mechanism::Limiter { name, marks } }
    }
}

choices! {
    /// A policy for the tenants of a link, by name.
    pub enum PolicyName: Properties {
        /// No limits: one FIFO for all, which marks packets while more than a threshold waits.
        Fifo = "fifo" { mechanism: Mechanism::Nothing },
        /// A Nimble limiter for each tenant, which marks above a threshold and drops beyond the burst.
        Nimble = "nimble" { ..Properties::limiter(LimiterName::Nimble, true) },
        /// The same limiters without marks.
        NimbleDrops = "nimble-drops" { ..Properties::limiter(LimiterName::Nimble, false) },
        /// A token bucket for each tenant, which drops what exceeds it and marks nothing.
        TokenBucket = "token-bucket" { ..Properties::limiter(LimiterName::TokenBucket, false) },
        /// A queue for each tenant, served by deficit round robin in proportion to the limits. Tenants borrow what others leave, as in HTB.
        Drr = "drr" { mechanism: Mechanism::Queues },
    }
    not in all {
        /// GCRA for each tenant, which drops what exceeds it and marks nothing.
        Gcra = "gcra" { ..Properties::limiter(LimiterName::Gcra, false) },
        /// The meter of RFC 2697 for each tenant. It marks what it colours yellow.
        SrTcm = "srtcm" { ..Properties::limiter(LimiterName::SrTcm, true) },
        /// The meter of RFC 2698 for each tenant. It marks what it colours yellow, that is above half of the limit.
        TrTcm = "trtcm" { ..Properties::limiter(LimiterName::TrTcm, true) },
    }
}

choices! {
    /// The senders of all flows, by name.
    pub enum TransportName {
        /// DCTCP (RFC 8257): slows down in proportion to marks, with RACK-TLP.
        Dctcp = "dctcp",
        /// CUBIC (RFC 9438): reacts to losses, with RACK-TLP.
        Cubic = "cubic",
        /// NewReno (RFC 6582): reacts to losses, without selective acknowledgements.
        NewReno = "newreno",
    }
}

/// Payload of a full packet, in bytes.
pub const SEGMENT: u32 = 1_460;

/// Bytes of a packet beside its payload: the headers of IPv4 and TCP.
pub const HEADER: u32 = 40;

/// Full packet on the wire, in bytes.
pub const PACKET: u32 = SEGMENT + HEADER;

/// Window that a receiver offers, in bytes: more than any path here holds.
const RECEIVER_WINDOW: u32 = 16 << 20;

impl TransportName {
    /// Whether its packets may be marked.
    pub fn heeds_marks(self) -> bool {
        self == Self::Dctcp
    }

    /// Its connections, with time-outs of at least so long. They are open when flows start and stay open, as those of long-running
    /// applications.
    pub fn senders(self, least_timeout: Nanos) -> Parts<Control, Recovery> {
        let windows = WindowSettings { most: RECEIVER_WINDOW.into(), ..WindowSettings::standard(SEGMENT) };
        let timeout =
            TimeoutSettings { least: least_timeout, ..TimeoutSettings::without_least(least_timeout) };
        let settings = SenderSettings {
            handshake: false,
            fin: false,
            first_window: RECEIVER_WINDOW,
            timeout,
            ..SenderSettings::standard(SEGMENT)
        };
        // Receivers acknowledge each packet at once.
        let rack = || Recovery::from(RackTlp::new(Nanos(0)));
        let (control, recovery): (Control, Recovery) = match self {
            Self::Dctcp => (Dctcp::new(windows).into(), rack()),
            Self::Cubic => (Cubic::new(windows).into(), rack()),
            Self::NewReno => (Reno::new(windows).into(), NewReno::new().into()),
        };
        (settings, control, recovery)
    }
}
