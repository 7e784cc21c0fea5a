//! The least time that a flow can take on a network without other flows.

use trueplane_units::Nanos;

use super::flow::FlowSpec;
use super::topology::{Link, Topology};

/// Sizes of the packets of a flow, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Most payload of a packet.
    pub segment: u32,
    /// Bytes of a packet beside its payload.
    pub header: u32,
}

impl Packing {
    /// Number of packets for so many bytes.
    pub fn packets(self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.segment)).max(1)
    }

    /// Bytes on the wire for so many bytes.
    pub fn wire_bytes(self, bytes: u64) -> u64 {
        bytes + self.packets(bytes) * u64::from(self.header)
    }
}

/// A lower bound of the completion time of a flow: a handshake, all its packets back to back, and the last acknowledgement, without any wait.
///
/// No sender can do better, however large its window is: each link takes the bytes one after the other. The bound is exact where all links of
/// the way have one rate. O(links of the way).
pub fn least_time(topology: &Topology, flow: &FlowSpec, packing: Packing) -> Nanos {
    let there = way(topology, flow.from, flow.to);
    let back = way(topology, flow.to, flow.from);
    let header = u64::from(packing.header);
    let handshake = one_packet(&there, header).saturating_add(one_packet(&back, header));
    let last = flow.bytes - (packing.packets(flow.bytes) - 1) * u64::from(packing.segment) + header;
    let first = flow.bytes.min(u64::from(packing.segment)) + header;
    let all = packing.wire_bytes(flow.bytes);
    let train = (0..there.len()).map(|place| train(&there, place, [first, all, last])).max();
    let delays = sum(there.iter().map(|link| link.delay.0));
    Nanos(sum([handshake, train.unwrap_or(0), delays, one_packet(&back, header)].into_iter()))
}

/// Time of a train of packets if the link at `place` is the slowest: its first packet comes there, all bytes pass, and its last packet goes on.
fn train(links: &[Link], place: usize, [first, all, last]: [u64; 3]) -> u64 {
    let before = sum(links[..place].iter().map(|link| time(link, first)));
    let after = sum(links[place + 1..].iter().map(|link| time(link, last)));
    sum([before, time(&links[place], all), after].into_iter())
}

/// Time of a single packet from one host to another, without any wait.
pub(super) fn transit(topology: &Topology, from: u32, to: u32, bytes: u32) -> Nanos {
    Nanos(one_packet(&way(topology, from, to), u64::from(bytes)))
}

/// Time of a single packet over these links.
fn one_packet(links: &[Link], bytes: u64) -> u64 {
    sum(links.iter().flat_map(|link| [time(link, bytes), link.delay.0]))
}

/// The sum of times, or the end of time.
fn sum(times: impl Iterator<Item = u64>) -> u64 {
    times.fold(0, u64::saturating_add)
}

/// Time that a link takes to send so many bytes.
fn time(link: &Link, bytes: u64) -> u64 {
    let bits = u128::from(bytes) * 8 * 1_000_000_000;
    u64::try_from(bits / u128::from(link.rate.0)).unwrap_or(u64::MAX)
}

/// The links of a shortest way.
fn way(topology: &Topology, from: u32, to: u32) -> Vec<Link> {
    let mut links = Vec::new();
    let mut node = from;
    while node != to {
        let Some(&port) = topology.ports(node, to).first() else { break };
        let link = topology.links()[port as usize];
        node = link.to;
        links.push(link);
    }
    links
}
