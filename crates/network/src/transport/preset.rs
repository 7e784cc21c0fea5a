//! Senders as the literature has them.
//!
//! Those called standard have the mechanisms of the RFCs, and the values of the simulations which SP-PIFO's authors published. The published
//! simulator has mechanisms of its own, which [`simplified`](super::simplified) has one by one, beside these. Its table says what differs.

use trueplane_units::Nanos;

use super::control::{CongestionControl, Dctcp, Reno, WindowSettings};
use super::recovery::{NewReno, RackTlp, TimeoutOnly};
use super::reduction::Reduction;
use super::round_trip::TimeoutSettings;
use super::settings::{ReceiverSettings, SenderSettings};

/// Payload of a segment in the published simulations, in bytes.
pub const PUBLISHED_SEGMENT: u32 = 1_380;

/// Window that a receiver offers in the published simulations, and the greatest congestion window, in bytes.
pub const PUBLISHED_WINDOW: u32 = 65_535;

/// Time-out in the published simulations: as RFC 6298 from the first measurement on, without a least value.
const PUBLISHED_TIMEOUT: TimeoutSettings = TimeoutSettings::without_least(Nanos::from_micros(300));

/// First time-out of pFabric's sender: three round-trip times of the fabric.
const PFABRIC_TIMEOUT: Nanos = Nanos(96_384);

/// Segments with which pFabric's sender starts: a bandwidth-delay product and what may wait.
const PFABRIC_START: u32 = 30;

/// Settings of a sender in the simulations that SP-PIFO's authors published.
///
/// Segments of 1380 bytes, a handshake first, no FIN; the first time-out after 300 µs, then SRTT + 4 RTTVAR, without a least value.
pub const PUBLISHED: SenderSettings = SenderSettings {
    segment: PUBLISHED_SEGMENT,
    handshake: true,
    fin: false,
    first_window: PUBLISHED_WINDOW,
    timeout: PUBLISHED_TIMEOUT,
    pacing: None,
    reduction: Reduction::AtOnce,
};

/// Windows of that sender: 3 segments at first, threshold of 30 segments, at most 65,535 bytes.
pub const PUBLISHED_WINDOWS: WindowSettings = WindowSettings {
    segment: PUBLISHED_SEGMENT,
    initial: 3,
    threshold: Some(30),
    loss: 1,
    least_threshold: 2,
    most: PUBLISHED_WINDOW as u64,
    hystart: false,
};

/// Windows of pFabric's senders: they start at the threshold.
const PFABRIC_WINDOWS: WindowSettings = WindowSettings { initial: PFABRIC_START, ..PUBLISHED_WINDOWS };

/// The parts of a sender: what is set, its congestion control, its loss recovery.
pub type Parts<C, R> = (SenderSettings, C, R);

/// TCP with the settings of the simulations that SP-PIFO's authors published: Reno and NewReno as in the RFCs.
pub fn standard_tcp() -> Parts<Reno, NewReno> {
    (PUBLISHED, Reno::new(PUBLISHED_WINDOWS), NewReno::new())
}

/// DCTCP (RFC 8257) with the same settings.
pub fn standard_dctcp() -> Parts<Dctcp, NewReno> {
    (PUBLISHED, Dctcp::new(PUBLISHED_WINDOWS), NewReno::new())
}

/// TCP with the settings that pFabric's sender has in the published simulations: it starts at the threshold, and its first time-out is three
/// round-trip times.
pub fn standard_pfabric() -> Parts<Reno, NewReno> {
    let timeout = TimeoutSettings { initial: PFABRIC_TIMEOUT, ..PUBLISHED_TIMEOUT };
    (SenderSettings { timeout, ..PUBLISHED }, Reno::new(PFABRIC_WINDOWS), NewReno::new())
}

/// pFabric's minimal transport (Alizadeh et al., SIGCOMM 2013, §4.3): the timer alone, which never changes, and probes after five time-outs.
pub fn minimal_pfabric() -> Parts<Reno, TimeoutOnly> {
    let timeout = TimeoutSettings { initial: PFABRIC_TIMEOUT, is_fixed: true, ..PUBLISHED_TIMEOUT };
    (SenderSettings { timeout, ..PUBLISHED }, Reno::new(PFABRIC_WINDOWS), TimeoutOnly::new())
}

/// Payload of a segment of Linux over Ethernet, in bytes: 1500 without the headers of IPv4 and TCP, which has timestamps.
pub const LINUX_SEGMENT: u32 = 1_448;

/// Window of a receiver that never holds Linux's sender back, in bytes.
const LINUX_BUFFER: u32 = 6 << 20;

/// Longest time for which Linux delays an acknowledgement while segments come one after the other (TCP_DELACK_MIN).
const LINUX_DELAY: Nanos = Nanos::from_millis(40);

/// Settings of a sender of Linux 6: the standard ones, a least time-out of 200 ms, and proportional rate reduction.
pub const LINUX: SenderSettings = SenderSettings {
    reduction: Reduction::Proportional,
    first_window: LINUX_BUFFER,
    timeout: TimeoutSettings { least: Nanos::from_millis(200), ..TimeoutSettings::STANDARD },
    ..SenderSettings::standard(LINUX_SEGMENT)
};

/// Settings of a receiver of Linux 6: an acknowledgement for every second segment.
pub const LINUX_RECEIVER: ReceiverSettings =
    ReceiverSettings { delay: Some(LINUX_DELAY), ..ReceiverSettings::immediate(LINUX_BUFFER, LINUX_SEGMENT) };

/// Windows of Linux 6, which are the standard ones.
pub const LINUX_WINDOWS: WindowSettings = WindowSettings::standard(LINUX_SEGMENT);

/// TCP of Linux 6 with a congestion control: RACK-TLP. Slow start is the standard one, without HyStart.
pub fn linux<C: CongestionControl>(control: C) -> Parts<C, RackTlp> {
    (LINUX, control, RackTlp::new(LINUX_DELAY))
}
