//! SYNs from everywhere: connections that are there keep passing, and memory stays what it was.

use std::net::Ipv4Addr;

use trueplane_units::Nanos;

use super::connection::{SERVICE, mix};
use super::packets::{self, Segment};
use super::source::{Next, Source};
use trueplane_spray::packet::headers::{Link, protocol};
use trueplane_spray::packet::tcp_flags::{ACK, SYN};
use trueplane_spray::{FlowId, Packet, Verdict};

/// The time from packet to packet: ten million SYNs come within ten seconds.
const PACE: u64 = 1_000;

/// The mark of a SYN of the flood.
const FLOOD: u64 = 1 << 40;
/// The mark of a packet that opens a connection before the flood.
const OPENING: u64 = 0;
/// The mark of a packet of a connection that has been opened, sent during the flood.
const ESTABLISHED: u64 = 1;

/// Connections, one packet of which comes after so many SYNs of the flood, each from another address.
#[derive(Debug)]
pub(crate) struct Flood {
    connections: Vec<FlowId>,
    sources: u64,
    every: u64,
    /// Packets sent so far.
    sent: u64,
    on_the_way: u64,
    flooded: u64,
    now: Nanos,
    outcome: Outcome,
}

/// Numbers of packets that were sent and that passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// SYNs of the flood.
    pub(crate) flood: u64,
    /// Those that passed.
    pub(crate) flood_forwarded: u64,
    /// Packets of connections that were there before, sent between them.
    pub(crate) established: u64,
    /// Those that passed.
    pub(crate) established_forwarded: u64,
}

impl Outcome {
    /// Packets that passed during the flood.
    pub(crate) fn forwarded(&self) -> u64 {
        self.flood_forwarded + self.established_forwarded
    }
}

impl Flood {
    /// A flood of `sources` SYNs beside `connections` connections, with one packet of a connection after every `every` SYNs.
    pub(crate) fn new(connections: u32, sources: u64, every: u64) -> Self {
        let connection = |number: u32| client(1 << 23 | number);
        Self {
            connections: (0..connections.clamp(1, 1 << 20)).map(connection).collect(),
            sources,
            every: every.max(1),
            sent: 0,
            on_the_way: 0,
            flooded: 0,
            now: Nanos(0),
            outcome: Outcome::default(),
        }
    }

    /// Numbers of packets so far.
    pub(crate) fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn send(&mut self, packet: &mut Packet, flow: &FlowId, flags: u8, tag: u64) -> Next {
        let noise = mix(self.sent, 1);
        let payload = if flags == ACK { &noise.to_be_bytes()[..] } else { &[] };
        let segment = Segment { flags, sequence: noise as u32, acknowledged: 0 };
        packet.refill(Link::Ethernet, |bytes| packets::write(bytes, Link::Ethernet, flow, segment, payload));
        packet.set_input(0);
        packet.set_tag(tag);
        self.sent += 1;
        self.on_the_way += 1;
        self.now = self.now.after(Nanos(PACE));
        Next::Packet
    }
}

/// The flow of a client of the service.
fn client(number: u32) -> FlowId {
    let address = Ipv4Addr::from_bits(10 << 24 | number);
    FlowId::new(
        protocol::TCP,
        (address.into(), 1024 + (mix(number.into(), 0) % 60_000) as u16),
        (SERVICE.0.into(), SERVICE.1),
    )
}

impl Source for Flood {
    fn fill(&mut self, packet: &mut Packet) -> Next {
        let connections = self.connections.len() as u64;
        // All open, and are confirmed, before the flood begins.
        if self.sent < 2 * connections {
            if self.sent.is_multiple_of(2) || self.on_the_way == 0 {
                if self.on_the_way > 0 {
                    return Next::Wait;
                }
                let flow = self.connections[(self.sent / 2) as usize];
                let flags = if self.sent.is_multiple_of(2) { SYN } else { ACK };
                return self.send(packet, &flow, flags, OPENING);
            }
            return Next::Wait;
        }
        if self.sent == 2 * connections && self.on_the_way > 0 {
            return Next::Wait;
        }
        if self.flooded == self.sources {
            return if self.on_the_way == 0 { Next::End } else { Next::Wait };
        }
        let turn = self.sent - 2 * connections;
        if turn % (self.every + 1) == self.every {
            let flow = self.connections[(mix(turn, 2) % connections) as usize];
            return self.send(packet, &flow, ACK, ESTABLISHED);
        }
        // 16 million addresses of 10.0.0.0/8 without those above, and every address at another port the next time.
        let number = self.flooded as u32;
        self.flooded += 1;
        let flow = client(number % (1 << 23));
        let port = (flow.source_port() + (number >> 23) as u16).max(1024);
        let flow = flow.with_source(flow.source(), port);
        self.send(packet, &flow, SYN, FLOOD)
    }

    fn back(&mut self, packet: &Packet) {
        self.on_the_way -= 1;
        let passed = u64::from(!matches!(packet.verdict(), Verdict::Drop(_)));
        match packet.tag() {
            FLOOD => {
                self.outcome.flood += 1;
                self.outcome.flood_forwarded += passed;
            }
            ESTABLISHED => {
                self.outcome.established += 1;
                self.outcome.established_forwarded += passed;
            }
            // What opened a connection came before the flood.
            _ => {}
        }
    }

    fn now(&mut self, _elapsed: Nanos) -> Nanos {
        self.now
    }
}
