//! Lengths of queues over time.

use trueplane_units::Nanos;

/// The packets that waited at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Most packets that waited at once. The packet that is being sent does not wait.
    pub longest: u64,
    /// Sum over time of the packets that waited, in packets × ns.
    pub packet_ns: u128,
}

impl Waited {
    /// Mean number of packets that waited, over so much time; 0 over no time.
    pub fn mean(&self, time: Nanos) -> f64 {
        if time.0 == 0 { 0.0 } else { self.packet_ns as f64 / time.0 as f64 }
    }
}

/// The queue of a port, and how long it has been as it is.
#[derive(Clone, Copy, Debug, Default)]
struct Length {
    since: Nanos,
    packets: u64,
    waited: Waited,
}

/// Lengths of the queues of all ports.
#[derive(Clone, Debug, Default)]
pub(super) struct Lengths(Vec<Length>);

impl Lengths {
    /// Empty queues at time zero.
    pub(super) fn new(ports: usize) -> Self {
        Self(vec![Length::default(); ports])
    }

    /// So many packets wait at a port from now on.
    #[inline]
    pub(super) fn are(&mut self, port: u32, packets: usize, now: Nanos) {
        let length = &mut self.0[port as usize];
        length.waited.packet_ns += u128::from(length.packets) * u128::from(now.since(length.since).0);
        length.since = now;
        length.packets = packets as u64;
        length.waited.longest = length.waited.longest.max(length.packets);
    }

    /// What waited at a port up to the end.
    pub(super) fn waited(&self, port: usize, end: Nanos) -> Waited {
        let Length { since, packets, mut waited } = self.0[port];
        waited.packet_ns += u128::from(packets) * u128::from(end.since(since).0);
        waited
    }
}
