//! One connection of a script: what it is like, what it sends next, and what became of its packets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::packets::{self, Segment};
use trueplane_spray::packet::headers::{Link, protocol};
use trueplane_spray::packet::tcp_flags::{ACK, FIN, RST, SYN};
use trueplane_spray::{FlowId, Packet, Verdict};

/// Address and port of the service, to which clients connect: the load balancer's default.
pub(crate) const SERVICE: (Ipv4Addr, u16) = (Ipv4Addr::new(198, 51, 100, 1), 80);

/// Kind of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Both ends finish.
    Tcp,
    /// One end resets it.
    Reset,
    /// It falls silent for some rounds and goes on.
    Sleeper,
    /// A SYN and no more.
    HalfOpen,
    Udp,
    Echo,
    /// Data of a connection that never began.
    Stray,
}

/// Next step of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Open,
    Answer,
    Data,
    Sleep,
    Finish,
    FinishBack,
    Reset,
    Last,
}

impl Kind {
    pub(crate) fn steps(self) -> &'static [Step] {
        use Step::{Answer, Data, Finish, FinishBack, Last, Open, Reset, Sleep};
        match self {
            Self::Tcp => &[Open, Answer, Data, Finish, FinishBack, Last],
            Self::Reset => &[Open, Answer, Data, Reset, Data],
            // Nobody answers once it may be over: its public port may be another's by then, and whose, hangs on which was chosen.
            Self::Sleeper => &[Open, Answer, Data, Sleep, Data, Finish],
            Self::HalfOpen => &[Open],
            Self::Udp | Self::Echo => &[Open, Data],
            Self::Stray => &[Last],
        }
    }

    pub(crate) fn protocol(self) -> u8 {
        match self {
            Self::Udp => protocol::UDP,
            Self::Echo => protocol::ICMP,
            _ => protocol::TCP,
        }
    }
}

/// A connection under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connection {
    pub(crate) number: u32,
    pub(crate) kind: Kind,
    /// Its part of the randomness.
    pub(crate) key: u64,
    /// Flow as the end that opens the connection sends it.
    pub(crate) flow: FlowId,
    /// Flow as it left the network function.
    pub(crate) seen: FlowId,
    pub(crate) step: usize,
    /// Whether its opening passed.
    pub(crate) is_open: bool,
    /// Packets of this step that are to be sent, and to come back.
    pub(crate) unsent: u16,
    pub(crate) unreturned: u16,
    pub(crate) word: u64,
    pub(crate) step_word: u64,
}

impl Connection {
    pub(crate) fn new(number: u32, seed: u64) -> Self {
        let key = mix(seed, number.into());
        let kind = match key % 16 {
            0..=6 => Kind::Tcp,
            7 | 8 => Kind::Reset,
            9 | 10 => Kind::Sleeper,
            11 => Kind::HalfOpen,
            12 | 13 => Kind::Udp,
            14 => Kind::Echo,
            _ => Kind::Stray,
        };
        // No two connections have the same client, or only when 16 million came between them.
        let client = (1 << 16) | (number % 0xff_0000);
        let port = 1024 + (key >> 8) as u16 % 60_000;
        let flow = if kind == Kind::Echo {
            let server = Ipv4Addr::new(192, 0, 2, (key >> 32) as u8);
            FlowId::new(protocol::ICMP, (private(client), port), (server.into(), 0))
        } else if (key >> 4).is_multiple_of(16) {
            let address = |prefix: u16, host: u32| {
                Ipv6Addr::from_bits(u128::from(prefix) << 112 | u128::from(host)).into()
            };
            FlowId::new(kind.protocol(), (address(0xfd00, client), port), (address(0x2001, 7), 443))
        } else if (key >> 16).is_multiple_of(2) {
            FlowId::new(kind.protocol(), (private(client), port), (SERVICE.0.into(), SERVICE.1))
        } else {
            let server = Ipv4Addr::new(192, 0, 2, (key >> 32) as u8);
            let ports = [80, 443, 22, 53, 8080, 23, 25, 5432];
            FlowId::new(
                kind.protocol(),
                (private(client), port),
                (server.into(), ports[(key >> 24) as usize % 8]),
            )
        };
        Self {
            number,
            kind,
            key,
            flow,
            seen: flow,
            step: 0,
            is_open: false,
            unsent: 0,
            unreturned: 0,
            word: 0,
            step_word: 0,
        }
    }

    /// Whether packet `part` of this step goes the way of the opening.
    fn is_outward(&self, part: u16) -> bool {
        match self.kind.steps()[self.step] {
            Step::Answer | Step::FinishBack => false,
            // One end resets as often as the other.
            Step::Reset => self.key >> 41 & 1 == 0,
            Step::Data if self.kind == Kind::Sleeper && self.step > 3 => true,
            Step::Data => mix(self.key, u64::from(part) | 1 << 20) & 1 == 0,
            _ => true,
        }
    }

    pub(crate) fn write(&self, part: u16, packet: &mut Packet) {
        let outward = self.is_outward(part);
        let flow = if outward { self.flow } else { self.seen.reversed() };
        let flags = match self.kind.steps()[self.step] {
            Step::Open => SYN,
            Step::Answer => SYN | ACK,
            Step::Finish | Step::FinishBack => FIN | ACK,
            Step::Reset => RST,
            Step::Data | Step::Last | Step::Sleep => ACK,
        };
        let noise = mix(self.key, (self.step as u64) << 16 | u64::from(part));
        let segment = Segment { flags, sequence: noise as u32, acknowledged: (noise >> 32) as u32 };
        let payload = [noise.to_be_bytes(), (!noise).to_le_bytes()].concat();
        let carried =
            if flags == ACK || self.kind.protocol() != protocol::TCP { noise as usize % 17 } else { 0 };
        packet.refill(Link::Ethernet, |bytes| {
            packets::write(bytes, Link::Ethernet, &flow, segment, &payload[..carried]);
        });
        packet.set_input(u8::from(!outward));
    }

    /// Adds what became of packet `part` of this step, in whatever order they come.
    pub(crate) fn note(&mut self, part: u16, packet: &Packet, is_right: bool) {
        let verdict = match packet.verdict() {
            Verdict::Forward => 1,
            Verdict::Transmit(interface) => 0x100 | u64::from(interface),
            Verdict::Drop(reason) => 0x200 | reason as u64,
            Verdict::HandOver => 0x300,
        };
        // The chosen port is what may differ: everything else of the addresses is looked at.
        let (sent, seen) = if self.is_outward(part) {
            (self.flow, self.seen)
        } else {
            (self.flow.reversed(), self.seen.reversed())
        };
        let addresses = match packet.flow() {
            Some(flow) if *flow == sent => 1,
            Some(flow) if *flow == seen => 2,
            _ => 3,
        };
        let end = |address: IpAddr| match address {
            IpAddr::V4(address) => u64::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits() as u64,
        };
        let to = mix(end(self.seen.source()), end(self.seen.destination()))
            ^ u64::from(self.seen.destination_port());
        let hops = packet
            .headers()
            .ip
            .and_then(|ip| packet.bytes().get(ip.offset + if self.flow.is_v6() { 7 } else { 8 }));
        let rest = u64::from(hops.copied().unwrap_or(0)) << 2 | addresses;
        let word = mix(mix(verdict << 16 | u64::from(part), rest << 1 | u64::from(is_right)), to);
        self.step_word = self.step_word.wrapping_add(word);
        self.unreturned -= 1;
    }
}

/// An address of 10.0.0.0/8.
fn private(host: u32) -> IpAddr {
    Ipv4Addr::from_bits(10 << 24 | host).into()
}

/// Mixes two words: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
pub(crate) fn mix(one: u64, other: u64) -> u64 {
    let mut word = one.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ other.wrapping_add(0x632b_e59b_d9b4_e019);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
