//! The circuit to describe, and the switch that it is for.

use serde::Serialize;
use trueplane_units::{BitsPerSec, Bytes};

use super::design::Design;
use super::shapes::Proposal;

/// Bytes that a frame takes on the wire besides itself: preamble, start of frame and gap (IEEE 802.3).
const WIRE_OVERHEAD: u64 = 20;

/// A switch whose ports' packets are scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Switch {
    /// Number k of ports.
    pub ports: u64,
    /// Rate of each port.
    pub port_rate_bps: BitsPerSec,
    /// Length of a frame, with its checksum.
    pub frame: Bytes,
}

impl Switch {
    /// Packets a second that come by all ports together, rounded up.
    pub fn packets_per_sec(&self) -> u64 {
        let bits = (self.frame.0 + WIRE_OVERHEAD) * 8;
        let all = u128::from(self.port_rate_bps.0) * u128::from(self.ports);
        u64::try_from(all.div_ceil(u128::from(bits))).unwrap_or(u64::MAX)
    }
}

/// Circuit to describe, and the switch that it is for.
#[derive(Clone, Debug)]
pub struct Options {
    /// The circuit.
    pub design: Design,
    /// Clock rate that is wished for, in Hz. Nothing is counted at a higher one than the circuit has been seen to reach.
    pub clock_hz: Option<u64>,
    /// Switch that the circuit is for.
    pub switch: Switch,
    /// Trees that the circuit was chosen from, if it was.
    pub shapes: Vec<Proposal>,
}
