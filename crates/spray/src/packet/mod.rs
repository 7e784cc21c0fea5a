//! A packet that a core owns: its bytes, where its headers lie, and what is to become of it.
//!
//! 1. [`headers`]: where the headers lie.
//! 2. [`checksum`]: kept right by what changes.
//! 3. `edit`: addresses and ports, written in place.

pub mod checksum;
mod edit;
pub mod headers;
#[cfg(test)]
mod tests;

use std::fmt;

use trueplane_units::choices;

use self::headers::{Fragment, Headers, Ip, Link, Transport, Version};
use crate::FlowId;

/// The flags of TCP that make a packet one of a connection's, and the one that tells a SYN from its answer.
pub mod tcp_flags {
    /// The sender has no more data.
    pub const FIN: u8 = 0x01;
    /// The connection begins.
    pub const SYN: u8 = 0x02;
    /// The connection is over.
    pub const RST: u8 = 0x04;
    /// Something is acknowledged.
    pub const ACK: u8 = 0x10;
    /// TCP flags that may change the state of a connection (§3.2.2).
    pub const CONNECTION: u8 = FIN | SYN | RST;
}

/// Kind of a packet, as a network function sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A segment of TCP with these flags.
    Tcp(u8),
    /// A datagram of UDP.
    Udp,
    /// A query of ICMP that asks or answers: echo, timestamp.
    Query,
    /// An error of ICMP. Its flow is the one in whose direction it goes: the other direction of the packet that it quotes.
    Error,
    /// A fragment but the first: it has no ports.
    Fragment,
    /// Another protocol, or a transport header that is cut short; its flow has no ports.
    Other,
    /// No IP, or none that can be trusted.
    NotIp,
}

choices! {
    /// Reason why a packet was dropped.
    pub enum Reason {
        /// No handler said what to do with it.
        Undecided = "undecided",
        /// It is not what the function works on: no IP, no known transport, another version.
        Unfit = "unfit",
        /// A fragment but the first, which cannot be attributed to a flow.
        Fragment = "fragment",
        /// It belongs to no flow that is known, and does not begin one.
        NoFlow = "no_flow",
        /// A rule refuses it.
        Refused = "refused",
        /// The flow table is full.
        TableFull = "table_full",
        /// No port is left.
        NoPort = "no_port",
        /// No backend is there.
        NoBackend = "no_backend",
        /// The ring to the designated core was full, and so was what waits for it.
        RingFull = "ring_full",
    }
}

/// Verdict on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// Forward the packet to where it was going: out of the other interface.
    Forward,
    /// Send the packet out of this interface.
    Transmit(u8),
    /// Drop the packet.
    Drop(Reason),
    /// Hand the packet over to the designated core of its flow, as a connection packet: for packets that begin a flow without connection
    /// packets, such as UDP's. Only [`regular_packets`](super::NetworkFunction::regular_packets) may return this.
    HandOver,
}

/// A packet. It moves between cores as a pointer.
pub struct Packet(Box<Inner>);

struct Inner {
    /// Verdict on the packet.
    verdict: Verdict,
    kind: Kind,
    input: u8,
    flow: Option<FlowId>,
    headers: Headers,
    link: Link,
    tag: u64,
    bytes: Vec<u8>,
}

impl Packet {
    /// The packet in `bytes`.
    pub fn new(bytes: Vec<u8>, link: Link) -> Self {
        let mut packet = Self(Box::new(Inner {
            verdict: Verdict::Drop(Reason::Undecided),
            kind: Kind::NotIp,
            input: 0,
            flow: None,
            headers: Headers::default(),
            link,
            tag: 0,
            bytes,
        }));
        packet.parse();
        packet
    }

    /// Makes it another packet in the same memory: `fill` writes its bytes into what it is given, which it may resize.
    pub fn refill(&mut self, link: Link, fill: impl FnOnce(&mut Vec<u8>)) {
        fill(&mut self.0.bytes);
        self.0.link = link;
        self.0.verdict = Verdict::Drop(Reason::Undecided);
        self.parse();
    }

    fn parse(&mut self) {
        let inner = &mut *self.0;
        inner.headers = Headers::parse(&inner.bytes, inner.link);
        (inner.kind, inner.flow) = inner.headers.identify(&inner.bytes);
    }

    /// Its bytes, link header included.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Its memory back.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.bytes
    }

    /// Link layer around the IP packet.
    #[inline]
    pub fn link(&self) -> Link {
        self.0.link
    }

    /// Positions of the packet's headers.
    #[inline]
    pub fn headers(&self) -> &Headers {
        &self.0.headers
    }

    /// Kind of the packet.
    #[inline]
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The flow that it belongs to as it is now, if it has addresses at all.
    #[inline]
    pub fn flow(&self) -> Option<&FlowId> {
        self.0.flow.as_ref()
    }

    /// The flags of TCP, none if it is not that.
    #[inline]
    pub fn tcp_flags(&self) -> u8 {
        if let Kind::Tcp(flags) = self.0.kind { flags } else { 0 }
    }

    /// Whether it may change the state of a connection: TCP's SYN, FIN or RST (§3.2.2).
    #[inline]
    pub fn is_connection(&self) -> bool {
        self.tcp_flags() & tcp_flags::CONNECTION != 0
    }

    /// TCP's checksum, what a card sprays by (§3.3).
    #[inline]
    pub fn tcp_checksum(&self) -> Option<u16> {
        let Transport::Tcp { length: 20.. } = self.0.headers.transport else { return None };
        self.word(self.0.headers.ip?.payload + 16)
    }

    /// Payload of the transport; empty without a transport header.
    pub fn payload(&self) -> &[u8] {
        let Some(ip) = self.0.headers.ip else { return &[] };
        let own = match self.0.headers.transport {
            Transport::None => return &[],
            Transport::Tcp { length } => length,
            Transport::Udp | Transport::Icmp => 8,
        };
        self.0.bytes.get(ip.payload + own..ip.end).unwrap_or_default()
    }

    /// Verdict on the packet.
    #[inline]
    pub fn verdict(&self) -> Verdict {
        self.0.verdict
    }

    /// Says what is to become of it.
    #[inline]
    pub fn set_verdict(&mut self, verdict: Verdict) {
        self.0.verdict = verdict;
    }

    /// The interface on which it came.
    #[inline]
    pub fn input(&self) -> u8 {
        self.0.input
    }

    /// Says on which interface it came.
    #[inline]
    pub fn set_input(&mut self, interface: u8) {
        self.0.input = interface;
    }

    /// A mark of whoever drives the functions, which do not touch it: a number, a time.
    #[inline]
    pub fn tag(&self) -> u64 {
        self.0.tag
    }

    /// Sets the mark.
    #[inline]
    pub fn set_tag(&mut self, tag: u64) {
        self.0.tag = tag;
    }

    #[inline]
    fn word(&self, at: usize) -> Option<u16> {
        word(&self.0.bytes, at)
    }
}

impl Clone for Packet {
    fn clone(&self) -> Self {
        let inner = &*self.0;
        Self(Box::new(Inner { bytes: inner.bytes.clone(), ..*inner }))
    }
}

impl fmt::Debug for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("flow", &self.0.flow)
            .field("kind", &self.0.kind)
            .field("verdict", &self.0.verdict)
            .field("bytes", &self.0.bytes.len())
            .finish_non_exhaustive()
    }
}

/// The word of 16 bits at `at`.
#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}

impl Headers {
    /// The flow of `ip`'s addresses without ports.
    pub fn addresses(&self, bytes: &[u8], ip: Ip) -> FlowId {
        flow_of(&ip, bytes, (0, 0))
    }

    /// Kind and flow of the packet in `bytes`, of which these are the headers.
    #[inline]
    pub fn identify(&self, bytes: &[u8]) -> (Kind, Option<FlowId>) {
        let Some(ip) = self.ip else { return (Kind::NotIp, None) };
        let port = |at: usize| word(bytes, ip.payload + at).unwrap_or(0);
        let kind = match self.transport {
            Transport::Tcp { .. } => Kind::Tcp(bytes.get(ip.payload + 13).map_or(0, |&flags| flags)),
            Transport::Udp => Kind::Udp,
            Transport::Icmp => return icmp(&ip, bytes),
            Transport::None if ip.fragment == Fragment::Later => Kind::Fragment,
            Transport::None => Kind::Other,
        };
        let ports = if self.transport == Transport::None { (0, 0) } else { (port(0), port(2)) };
        (kind, Some(flow_of(&ip, bytes, ports)))
    }
}

/// The flow of a packet with these ports.
#[inline]
fn flow_of(ip: &Ip, bytes: &[u8], (source, destination): (u16, u16)) -> FlowId {
    let address = |at: usize, length: usize| {
        bytes[ip.offset + at..ip.offset + at + length]
            .iter()
            .fold(0u128, |bits, &byte| bits << 8 | u128::from(byte))
    };
    match ip.version {
        Version::V4 => {
            let short = |at: usize| {
                let at = ip.offset + at;
                u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
            };
            FlowId::v4(ip.protocol, (short(12), source), (short(16), destination))
        }
        Version::V6 => FlowId::v6(ip.protocol, (address(8, 16), source), (address(24, 16), destination)),
    }
}

/// A message of ICMP and its flow. The identifier of a query stands for the port of who asked.
fn icmp(ip: &Ip, bytes: &[u8]) -> (Kind, Option<FlowId>) {
    let identifier = word(bytes, ip.payload + 4).unwrap_or(0);
    match (ip.version, bytes[ip.payload]) {
        // Echo and timestamp (RFC 792), echo (RFC 4443): what asks, then what answers.
        (Version::V4, 8 | 13) | (Version::V6, 128) => {
            (Kind::Query, Some(flow_of(ip, bytes, (identifier, 0))))
        }
        (Version::V4, 0 | 14) | (Version::V6, 129) => {
            (Kind::Query, Some(flow_of(ip, bytes, (0, identifier))))
        }
        (Version::V4, 3 | 4 | 5 | 11 | 12) | (Version::V6, 1..=4) => {
            let quoted = Headers::quoted(&bytes[..ip.end], ip.payload + 8);
            // An error about an error has no flow of its own, or errors could nest.
            let about_error = quoted.transport == Transport::Icmp
                && quoted.ip.is_some_and(|inner| !is_query(inner.version, bytes[inner.payload]));
            // Somebody's error about a packet of the other family is nobody's here: no edit could write both.
            let same_family = quoted.ip.is_some_and(|inner| inner.version == ip.version);
            let known = quoted.transport != Transport::None && same_family && !about_error;
            let flow = known.then(|| quoted.identify(bytes).1.map(|flow| flow.reversed())).flatten();
            match flow {
                Some(flow) => (Kind::Error, Some(flow)),
                None => (Kind::Other, Some(flow_of(ip, bytes, (0, 0)))),
            }
        }
        _ => (Kind::Other, Some(flow_of(ip, bytes, (0, 0)))),
    }
}

/// Whether a message of this type asks or answers.
fn is_query(version: Version, kind: u8) -> bool {
    match version {
        Version::V4 => matches!(kind, 0 | 8 | 13 | 14),
        Version::V6 => matches!(kind, 128 | 129),
    }
}
