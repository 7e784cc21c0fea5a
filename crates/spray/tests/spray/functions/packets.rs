//! Packets made from flows, and whether their checksums are right.

use std::net::IpAddr;

use etherparse::checksum::Sum16BitWords;
use etherparse::{
    Icmpv4Type, Icmpv6Type, IpHeaders, IpNumber, Ipv4Header, Ipv6Header, PacketBuilder, TcpHeader, icmpv4,
    icmpv6,
};
use trueplane_spray::packet::headers::{Headers, Ip, Link, Transport, Version};
use trueplane_spray::packet::tcp_flags::{ACK, FIN, RST, SYN};
use trueplane_spray::{FlowId, Kind, Packet};

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
pub(crate) const ICMP: u8 = 1;
pub(crate) const ICMPV6: u8 = 58;

/// A packet of a flow; with these flags, of TCP.
pub(crate) fn packet(flow: &FlowId, flags: u8, payload: &[u8]) -> Packet {
    Packet::new(bytes(flow, flags, payload), Link::Ip)
}

/// Its bytes.
pub(crate) fn bytes(flow: &FlowId, flags: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes, Link::Ip, flow, Segment { flags, sequence: 1000, acknowledged: 2000 }, payload);
    bytes
}

/// Fields of a TCP header besides the ports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    pub(crate) flags: u8,
    pub(crate) sequence: u32,
    pub(crate) acknowledged: u32,
}

/// Writes a packet of `flow`, instead of what is in `bytes`. A query of ICMP asks if its flow has its identifier at the source. `segment`
/// is for TCP.
pub(crate) fn write(bytes: &mut Vec<u8>, link: Link, flow: &FlowId, segment: Segment, payload: &[u8]) {
    bytes.clear();
    let ip = match (flow.source(), flow.destination()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => IpHeaders::Ipv4(
            Ipv4Header::new(0, 64, IpNumber::TCP, from.octets(), to.octets()).expect("it is empty"),
            Default::default(),
        ),
        (IpAddr::V6(from), IpAddr::V6(to)) => IpHeaders::Ipv6(
            Ipv6Header {
                hop_limit: 64,
                source: from.octets(),
                destination: to.octets(),
                ..Default::default()
            },
            Default::default(),
        ),
        _ => unreachable!("two families"),
    };
    let ip = match link {
        Link::Ethernet => PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]).ip(ip),
        _ => PacketBuilder::ip(ip),
    };
    let (from, to) = (flow.source_port(), flow.destination_port());
    let has = |flag| segment.flags & flag != 0;
    let written = match flow.protocol() {
        TCP => {
            let header = TcpHeader {
                acknowledgment_number: if has(ACK) { segment.acknowledged } else { 0 },
                syn: has(SYN),
                ack: has(ACK),
                fin: has(FIN),
                rst: has(RST),
                ..TcpHeader::new(from, to, segment.sequence, 5000)
            };
            ip.tcp_header(header).write(bytes, payload)
        }
        UDP => ip.udp(from, to).write(bytes, payload),
        ICMP if to == 0 => ip.icmpv4_echo_request(from, 1).write(bytes, payload),
        ICMP => ip.icmpv4_echo_reply(to, 1).write(bytes, payload),
        ICMPV6 if to == 0 => ip.icmpv6_echo_request(from, 1).write(bytes, payload),
        ICMPV6 => ip.icmpv6_echo_reply(to, 1).write(bytes, payload),
        other => ip.write(bytes, IpNumber(other), payload),
    };
    written.expect("it can be written");
}

/// An error of ICMP from `router` to who sent `quoted`, of which it quotes so many bytes.
pub(crate) fn error_about(router: IpAddr, quoted: &Packet, length: usize) -> Packet {
    let flow = quoted.flow().expect("it has addresses");
    let quote = &quoted.bytes()[..length.min(quoted.bytes().len())];
    let mut bytes = Vec::new();
    match (router, flow.source()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => PacketBuilder::ipv4(from.octets(), to.octets(), 64)
            .icmpv4(Icmpv4Type::DestinationUnreachable(icmpv4::DestUnreachableHeader::Host))
            .write(&mut bytes, quote),
        (IpAddr::V6(from), IpAddr::V6(to)) => PacketBuilder::ipv6(from.octets(), to.octets(), 64)
            .icmpv6(Icmpv6Type::DestinationUnreachable(icmpv6::DestUnreachableCode::NoRoute))
            .write(&mut bytes, quote),
        _ => unreachable!("two families"),
    }
    .expect("it can be written");
    Packet::new(bytes, Link::Ip)
}

/// What an error quotes.
pub(crate) fn quotation(error: &Packet) -> &[u8] {
    assert_eq!(error.kind(), Kind::Error);
    error.payload()
}

/// Whether all checksums of a packet are right by a full computation, and those of what an error quotes, as far as it does.
pub(crate) fn checksums_are_right(packet: &Packet) -> bool {
    let headers = packet.headers();
    let Some(ip) = headers.ip else { return true };
    let quoted = Headers::quoted(&packet.bytes()[..ip.end], ip.payload + 8);
    whole(packet.bytes(), headers, &ip)
        && (packet.kind() != Kind::Error || quoted.ip.is_none_or(|ip| header(packet.bytes(), &ip)))
}

fn header(bytes: &[u8], ip: &Ip) -> bool {
    let length = usize::from(bytes[ip.offset] & 15) * 4;
    let header = &bytes[ip.offset..ip.offset + length];
    ip.version == Version::V6 || Sum16BitWords::new().add_slice(header).ones_complement() == 0
}

fn whole(bytes: &[u8], headers: &Headers, ip: &Ip) -> bool {
    let segment = &bytes[ip.payload..ip.end];
    let is_none = headers.transport == Transport::Udp && segment[6..8] == [0, 0];
    if headers.transport == Transport::None || is_none {
        return header(bytes, ip);
    }
    let addresses = match ip.version {
        Version::V4 => &bytes[ip.offset + 12..ip.offset + 20],
        Version::V6 => &bytes[ip.offset + 8..ip.offset + 40],
    };
    let mut sum = Sum16BitWords::new().add_slice(segment);
    if ip.protocol != ICMP {
        sum = sum.add_slice(addresses).add_2bytes([0, ip.protocol]);
        sum = sum.add_2bytes((segment.len() as u16).to_be_bytes());
    }
    header(bytes, ip) && sum.ones_complement() == 0
}
