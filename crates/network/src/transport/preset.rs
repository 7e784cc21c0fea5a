//! Senders as the literature has them.
//!
//! Those called simplified have the values of the simulations which SP-PIFO's authors published, and the mechanisms of the RFCs. The published
//! simulator has mechanisms of its own, which [`simplified`](super::simplified) has one by one, beside these. Its table says what differs.

use trueplane_units::Nanos;

use super::control::{Dctcp, Reno, WindowSettings};
use super::recovery::{NewReno, TimeoutOnly};
use super::round_trip::TimeoutSettings;
use super::settings::SenderSettings;

/// Payload of a segment of the simplified sender, in bytes.
pub const SIMPLIFIED_SEGMENT: u32 = 1_380;

/// Window that the simplified receiver offers, and the greatest congestion window, in bytes.
pub const SIMPLIFIED_WINDOW: u32 = 65_535;

/// Time-out of the simplified senders: as RFC 6298 from the first measurement on, without a least value.
const SIMPLIFIED_TIMEOUT: TimeoutSettings = TimeoutSettings::without_least(Nanos::from_micros(300));

/// First time-out of pFabric's sender: three round-trip times of the fabric.
const PFABRIC_TIMEOUT: Nanos = Nanos(96_384);

/// Segments with which pFabric's sender starts: a bandwidth-delay product and what may wait.
const PFABRIC_START: u32 = 30;

/// Sender of the simulations that SP-PIFO's authors published, without its window and its recovery.
///
/// Segments of 1380 bytes, a handshake first, no FIN; the first time-out after 300 µs, then SRTT + 4 RTTVAR, without a least value.
pub const SIMPLIFIED: SenderSettings = SenderSettings {
    segment: SIMPLIFIED_SEGMENT,
    handshake: true,
    fin: false,
    first_window: SIMPLIFIED_WINDOW,
    timeout: SIMPLIFIED_TIMEOUT,
    pacing: None,
};

/// Window of that sender: 3 segments at first, threshold of 30 segments, at most 65,535 bytes.
pub const SIMPLIFIED_WINDOWS: WindowSettings = WindowSettings {
    segment: SIMPLIFIED_SEGMENT,
    initial: 3,
    threshold: Some(30),
    loss: 1,
    least_threshold: 2,
    most: SIMPLIFIED_WINDOW as u64,
};

/// Windows of pFabric's senders: they start at the threshold.
const PFABRIC_WINDOWS: WindowSettings = WindowSettings { initial: PFABRIC_START, ..SIMPLIFIED_WINDOWS };

/// The parts of a sender: what is set, its congestion control, its loss recovery.
pub type Parts<C, R> = (SenderSettings, C, R);

/// TCP of the simulations that SP-PIFO's authors published.
pub fn simplified_tcp() -> Parts<Reno, NewReno> {
    (SIMPLIFIED, Reno::new(SIMPLIFIED_WINDOWS), NewReno::new())
}

/// DCTCP of the simulations that SP-PIFO's authors published: the same sender with marks.
pub fn simplified_dctcp() -> Parts<Dctcp, NewReno> {
    (SIMPLIFIED, Dctcp::new(SIMPLIFIED_WINDOWS), NewReno::new())
}

/// pFabric's sender in the simulations that SP-PIFO's authors published: their TCP, which starts at the threshold, and whose first time-out
/// is three round-trip times.
pub fn simplified_pfabric() -> Parts<Reno, NewReno> {
    let timeout = TimeoutSettings { initial: PFABRIC_TIMEOUT, ..SIMPLIFIED_TIMEOUT };
    (SenderSettings { timeout, ..SIMPLIFIED }, Reno::new(PFABRIC_WINDOWS), NewReno::new())
}

/// pFabric's minimal transport (Alizadeh et al., SIGCOMM 2013, §4.3): the timer alone, which never changes, and probes after five time-outs.
pub fn minimal_pfabric() -> Parts<Reno, TimeoutOnly> {
    let timeout = TimeoutSettings { initial: PFABRIC_TIMEOUT, is_fixed: true, ..SIMPLIFIED_TIMEOUT };
    (SenderSettings { timeout, ..SIMPLIFIED }, Reno::new(PFABRIC_WINDOWS), TimeoutOnly::new())
}
