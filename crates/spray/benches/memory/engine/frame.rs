//! Frames as real ones are: Ethernet, IPv4 or IPv6, TCP, UDP or an echo of ICMP, with all checksums right.

use std::net::IpAddr;

use etherparse::{PacketBuilder, TcpHeader};
use trueplane_spray::packet::headers::{Transport, Version, protocol};
use trueplane_spray::packet::tcp_flags;
use trueplane_spray::{FlowId, Packet};

/// Fields of a TCP header besides the ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) flags: u8,
    pub(crate) sequence: u32,
    pub(crate) acknowledged: u32,
}

/// Writes a frame of `flow`, instead of what is in `bytes`. An echo asks if its flow has a source port, its identifier, and answers if it
/// has a destination port. `segment` is for TCP.
pub(crate) fn write(bytes: &mut Vec<u8>, flow: &FlowId, segment: Segment, payload: &[u8]) {
    bytes.clear();
    let (source, destination) = (flow.source_port(), flow.destination_port());
    let has = |flag| segment.flags & flag != 0;
    let step = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
    let step = match (flow.source(), flow.destination()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => step.ipv4(from.octets(), to.octets(), 64),
        (from, to) => step.ipv6(octets(from), octets(to), 64),
    };
    let written = match flow.protocol() {
        protocol::TCP => {
            let header = TcpHeader {
                acknowledgment_number: segment.acknowledged,
                syn: has(tcp_flags::SYN),
                ack: has(tcp_flags::ACK),
                fin: has(tcp_flags::FIN),
                rst: has(tcp_flags::RST),
                ..TcpHeader::new(source, destination, segment.sequence, u16::MAX)
            };
            step.tcp_header(header).write(bytes, payload)
        }
        protocol::UDP => step.udp(source, destination).write(bytes, payload),
        _ if source != 0 => step.icmpv4_echo_request(source, 1).write(bytes, payload),
        _ => step.icmpv4_echo_reply(destination, 1).write(bytes, payload),
    };
    written.expect("memory takes what is written");
}

fn octets(address: IpAddr) -> [u8; 16] {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    }
}

/// Whether all checksums of a whole packet are right.
pub(crate) fn is_right(packet: &Packet) -> bool {
    let bytes = packet.bytes();
    let Some(ip) = packet.headers().ip else { return false };
    let Some(payload) = bytes.get(ip.payload..ip.end) else { return false };
    let (header, addresses) = match ip.version {
        Version::V4 => (fold(sum(&bytes[ip.offset..ip.payload])) == 0xffff, ip.offset + 12..ip.offset + 20),
        Version::V6 => (true, ip.offset + 8..ip.offset + 40),
    };
    let pseudo = match packet.headers().transport {
        Transport::Icmp if ip.version == Version::V4 => 0,
        _ => sum(&bytes[addresses]) + u64::from(ip.protocol) + payload.len() as u64,
    };
    header && fold(pseudo + sum(payload)) == 0xffff
}

/// Sum of words of 16 bits, big-endian; an odd last byte is the upper half of one.
fn sum(bytes: &[u8]) -> u64 {
    let mut words = bytes.chunks_exact(4);
    let whole: u64 = words
        .by_ref()
        .map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
        .map(|word| u64::from(word >> 16) + u64::from(word & 0xffff))
        .sum();
    let rest = words.remainder();
    let at = |at: usize| u64::from(rest.get(at).copied().unwrap_or(0));
    whole + (at(0) << 8) + at(1) + (at(2) << 8)
}

/// Folds the carries in.
fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
