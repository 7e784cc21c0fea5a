//! What a network may have beside hosts, links and ports. A network without it pays one test for each packet and port.

use trueplane_units::Nanos;

use super::capture::{Capture, Seen};
use super::faults::{Faults, LinkDrops, Passage};
use super::flow::FlowSpec;
use super::headers::Headers;
use super::least::transit;
use super::lengths::{Lengths, Waited};
use super::packets::{Packets, Travelling};
use super::topology::Topology;

/// Faults, headers and instruments of a network.
#[derive(Debug, Default)]
pub(super) struct Attached {
    pub(super) faults: Option<Faults>,
    pub(super) headers: Option<Headers>,
    pub(super) lengths: Option<Lengths>,
    pub(super) capture: Option<Capture>,
}

impl Attached {
    /// A host sends a packet.
    pub(super) fn sent(&self, topology: &Topology, handle: u32, packet: &Travelling, now: Nanos) {
        if let Some(headers) = &self.headers {
            let transit = transit(topology, packet.node, packet.to, packet.bytes);
            headers.sent(handle, packet.key / 2, transit, now);
        }
    }

    /// A packet comes to a port.
    #[inline]
    pub(super) fn comes(&self, handle: u32, now: Nanos) {
        if let Some(headers) = &self.headers {
            headers.comes(handle, now);
        }
    }

    /// So many packets wait at a port from now on.
    #[inline]
    pub(super) fn wait(&mut self, port: u32, packets: usize, now: Nanos) {
        if let Some(lengths) = &mut self.lengths {
            lengths.are(port, packets, now);
        }
    }

    /// The ports among `ports` that lead to a host now; none if no link is down. Without such a port the packet is counted at the first.
    #[inline]
    pub(super) fn ways(
        &mut self,
        topology: &Topology,
        ports: &[u32],
        to: u32,
        now: Nanos,
    ) -> Option<Vec<u32>> {
        let faults = self.faults.as_mut()?;
        if !faults.is_cut(now) {
            return None;
        }
        let up = faults.ways(topology, ports, to, now);
        if up.is_empty() {
            faults.no_way(ports[0]);
        }
        Some(up)
    }

    /// A port begins to send a packet, which arrives at a time if nothing is wrong. `spec` is its flow.
    pub(super) fn leaves(
        &mut self,
        port: u32,
        packet: (u32, &Packets),
        spec: &FlowSpec,
        [now, arrival]: [Nanos; 2],
    ) -> Passage {
        let (handle, packets) = packet;
        if let Some(headers) = &self.headers {
            headers.leaves(handle, port, now);
        }
        if let Some(capture) = self.capture.as_ref().filter(|capture| capture.is_of(port)) {
            let (packet, segment) = packets.look(handle);
            let is_data = packet.is_data();
            let from = if is_data { spec.from } else { spec.to };
            let seen = Seen { from, to: packet.to, flow: packet.key / 2, is_data, segment: &segment };
            capture.leaves(&seen, now);
        }
        match &mut self.faults {
            Some(faults) => faults.pass(port, now, arrival),
            None => Passage::Late(Nanos(0)),
        }
    }

    /// What waited at a port up to the end, if that is measured.
    pub(super) fn waited(&self, port: usize, end: Nanos) -> Option<Waited> {
        self.lengths.as_ref().map(|lengths| lengths.waited(port, end))
    }

    /// Packets that a link has dropped.
    pub(super) fn drops(&self, link: usize) -> LinkDrops {
        self.faults.as_ref().map_or_else(LinkDrops::default, |faults| faults.drops(link))
    }
}
