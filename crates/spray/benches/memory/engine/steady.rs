//! Few flows or many, as fast as can be: what rates are measured with.
//!
//! Every flow opens with a SYN; then flows send data in turns, so that the packets of different flows are perfectly interleaved, as the
//! paper sends them (§3.4). The payload of every packet is another, and so is its checksum. A packet is made of a frame that was made
//! before, by writing its number into it and bringing the checksum up to date.

use std::net::Ipv4Addr;

use trueplane_units::Nanos;

use super::connection::{SERVICE, mix};
use super::packets::{self, Segment};
use super::source::{Next, Source};
use trueplane_spray::packet::headers::{Link, protocol};
use trueplane_spray::packet::{checksum, tcp_flags};
use trueplane_spray::{FlowId, Packet, Verdict};

/// At most so many flows.
pub(crate) const MOST_FLOWS: u32 = 1 << 22;

/// Bytes of payload, so that a frame is of 64 bytes with its trailer.
const PAYLOAD: usize = 6;

/// Offsets of TCP's checksum and payload in a frame.
const CHECKSUM: usize = 14 + 20 + 16;
const NUMBER: usize = 14 + 20 + 20;

/// The source.
#[derive(Debug)]
pub(crate) struct Steady {
    flows: Vec<FlowId>,
    /// A frame with data for each flow, with zeros for its number.
    frames: Vec<Vec<u8>>,
    /// Number of flows that have been opened.
    opened: usize,
    /// For each flow, whether its SYN has passed.
    is_open: Vec<bool>,
    warm_up: u64,
    packets: u64,
    sent: u64,
    on_the_way: u64,
    turn: usize,
    /// The number that a packet of each flow should have at least to be in order.
    expected: Vec<u64>,
    outcome: Outcome,
    now: Nanos,
    begun: Option<Nanos>,
}

/// Results of the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Packets of data that came back while it was measured.
    pub(crate) packets: u64,
    /// Those that were forwarded.
    pub(crate) forwarded: u64,
    /// Those that left after one that came later: RFC 4737 §3.3.
    pub(crate) reordered: u64,
    /// Time from the end of warming up to the return of the last packet.
    pub(crate) took: Nanos,
    /// Flows whose SYN did not pass, and which so send nothing.
    pub(crate) refused: u64,
}

impl Outcome {
    /// Packets forwarded per second.
    pub(crate) fn rate(&self) -> f64 {
        self.forwarded as f64 * 1e9 / self.took.0.max(1) as f64
    }
}

impl Steady {
    /// Traffic of `flows` flows with addresses and ports drawn by `seed`, and of `packets` packets in all, of which `warm_up` come before
    /// the measurement.
    pub(crate) fn new(flows: u32, packets: u64, warm_up: u64, seed: u64) -> Self {
        let flows: Vec<FlowId> = (0..flows.clamp(1, MOST_FLOWS))
            .map(|number| {
                let key = mix(seed, number.into());
                let client = Ipv4Addr::from_bits(10 << 24 | 1 << 23 | number);
                let port = 1024 + key as u16 % 60_000;
                FlowId::new(protocol::TCP, (client.into(), port), (SERVICE.0.into(), SERVICE.1))
            })
            .collect();
        let frame = |flow: &FlowId| {
            let mut bytes = Vec::new();
            let segment = Segment { flags: tcp_flags::ACK, sequence: 1, acknowledged: 1 };
            packets::write(&mut bytes, Link::Ethernet, flow, segment, &[0; PAYLOAD]);
            bytes
        };
        Self {
            frames: flows.iter().map(frame).collect(),
            is_open: vec![false; flows.len()],
            expected: vec![0; flows.len()],
            flows,
            opened: 0,
            warm_up,
            packets,
            sent: 0,
            on_the_way: 0,
            turn: 0,
            outcome: Outcome::default(),
            now: Nanos(0),
            begun: None,
        }
    }

    /// Results of the measurement.
    pub(crate) fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn open(&mut self, packet: &mut Packet) -> Next {
        let flow = &self.flows[self.opened];
        let segment = Segment { flags: tcp_flags::SYN, ..Segment::default() };
        packet.refill(Link::Ethernet, |bytes| packets::write(bytes, Link::Ethernet, flow, segment, &[]));
        packet.set_tag(self.opened as u64);
        self.opened += 1;
        self.on_the_way += 1;
        Next::Packet
    }

    /// The next flow that is open.
    fn next_flow(&mut self) -> Option<usize> {
        for _ in 0..self.flows.len() {
            let flow = self.turn;
            self.turn = if flow + 1 == self.flows.len() { 0 } else { flow + 1 };
            if self.is_open[flow] {
                return Some(flow);
            }
        }
        None
    }
}

impl Source for Steady {
    fn fill(&mut self, packet: &mut Packet) -> Next {
        if self.opened < self.flows.len() {
            return self.open(packet);
        }
        if self.sent == 0 && self.on_the_way > 0 {
            return Next::Wait;
        }
        let ended = if self.on_the_way == 0 { Next::End } else { Next::Wait };
        if self.sent == self.packets {
            return ended;
        }
        let Some(flow) = self.next_flow() else { return ended };
        if self.sent == self.warm_up {
            self.begun = Some(self.now);
        }
        self.sent += 1;
        self.on_the_way += 1;
        // Mixed, so that low bits of the checksum look random, as they do with real payloads.
        let number = (mix(self.sent, 7) as u32).to_be_bytes();
        packet.refill(Link::Ethernet, |bytes| {
            bytes.clear();
            bytes.extend_from_slice(&self.frames[flow]);
            let sum = u16::from_be_bytes([bytes[CHECKSUM], bytes[CHECKSUM + 1]]);
            let sum = checksum::updated(sum, &[0; 4], &number);
            bytes[CHECKSUM..CHECKSUM + 2].copy_from_slice(&sum.to_be_bytes());
            bytes[NUMBER..NUMBER + 4].copy_from_slice(&number);
        });
        packet.set_input(0);
        packet.set_tag(self.sent << 22 | flow as u64);
        Next::Packet
    }

    fn back(&mut self, packet: &Packet) {
        self.on_the_way -= 1;
        let (number, flow) = (packet.tag() >> 22, (packet.tag() & u64::from(MOST_FLOWS - 1)) as usize);
        let passed = !matches!(packet.verdict(), Verdict::Drop(_));
        if number == 0 {
            self.is_open[flow] = passed;
            self.outcome.refused += u64::from(!passed);
            return;
        }
        let is_late = passed && number < self.expected[flow];
        if passed && !is_late {
            self.expected[flow] = number + 1;
        }
        if number > self.warm_up {
            self.outcome.packets += 1;
            self.outcome.forwarded += u64::from(passed);
            self.outcome.reordered += u64::from(is_late);
        }
    }

    fn now(&mut self, elapsed: Nanos) -> Nanos {
        self.now = elapsed;
        if let Some(begun) = self.begun {
            // The last time that it is asked, all packets are back.
            self.outcome.took = elapsed.since(begun);
        }
        elapsed
    }
}
