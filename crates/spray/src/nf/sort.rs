//! What functions that keep connections ask of a packet before they look for its flow.

use crate::packet::headers::{Fragment, Ip, Link, Version, protocol};
use crate::packet::tcp_flags::{ACK, CONNECTION, SYN};
use crate::{FlowId, Kind, Packet, Reason, Verdict};

/// Kind of a packet, as functions that keep connections see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// TCP, UDP, or a query of ICMP, of this flow.
    Flow(FlowId),
    /// An error of ICMP about this flow: no sign of life, and nothing that begins one.
    Error(FlowId),
    /// Another protocol of IP between these addresses, or a transport header that cannot be read.
    Other(FlowId),
    /// Nothing that has a flow: what becomes of it.
    Decided(Verdict),
}

/// Sorts a packet.
///
/// Fragments are dropped, the first one too: those that follow it have no ports, and nothing is put together here. So is a packet of IPv6 whose
/// extension headers do not lead to what it carries, which may be anything. Of what is not IP, only the resolution of addresses (ARP) goes
/// on, without which nobody behind the function would be found.
pub(super) fn sort(packet: &Packet) -> Sort {
    let (Some(flow), Some(ip)) = (packet.flow(), packet.headers().ip) else {
        let verdict =
            if ether_type(packet) == Some(ARP) { Verdict::Forward } else { Verdict::Drop(Reason::Unfit) };
        return Sort::Decided(verdict);
    };
    if ip.fragment != Fragment::Whole {
        return Sort::Decided(Verdict::Drop(Reason::Fragment));
    }
    if ip.is_opaque() {
        return Sort::Decided(Verdict::Drop(Reason::Unfit));
    }
    match packet.kind() {
        Kind::Tcp(_) | Kind::Udp | Kind::Query => Sort::Flow(*flow),
        Kind::Error => Sort::Error(*flow),
        Kind::Other | Kind::Fragment | Kind::NotIp => Sort::Other(*flow),
    }
}

/// The flow of a packet that is a sign of life of it: what regular packets look up.
#[inline]
pub(super) fn alive(packet: &Packet) -> Option<FlowId> {
    let whole = packet.headers().ip.is_some_and(|ip| ip.fragment == Fragment::Whole);
    let has_flow = matches!(packet.kind(), Kind::Tcp(_) | Kind::Udp | Kind::Query);
    if whole && has_flow { packet.flow().copied() } else { None }
}

/// Whether a packet that belongs to no flow may begin one: a SYN that answers nothing, any datagram, a query that asks.
pub(super) fn begins(packet: &Packet) -> bool {
    match packet.kind() {
        Kind::Tcp(flags) => flags & (CONNECTION | ACK) == SYN,
        Kind::Udp => true,
        Kind::Query => packet.headers().ip.is_some_and(|ip| asks(&ip, packet.bytes())),
        Kind::Error | Kind::Fragment | Kind::Other | Kind::NotIp => false,
    }
}

/// Whether a packet that belongs to no flow is for the flow's designated core to begin one with; a SYN is there already.
pub(super) fn hands_over(packet: &Packet) -> bool {
    !matches!(packet.kind(), Kind::Tcp(_)) && begins(packet)
}

/// Whether a query of ICMP asks: echo and timestamp (RFC 792), echo (RFC 4443).
fn asks(ip: &Ip, bytes: &[u8]) -> bool {
    let message = bytes.get(ip.payload);
    match ip.version {
        Version::V4 => matches!(message, Some(8 | 13)),
        Version::V6 => message == Some(&128),
    }
}

/// Whether it is neighbour discovery of IPv6 from this link, which stands where IPv4 has ARP: types 133 to 136 that have passed no router
/// (RFC 4861 §6.1 and §7.1; RFC 4890 §4.4.1).
pub(super) fn is_neighbour_discovery(packet: &Packet) -> bool {
    let Some(ip) = packet.headers().ip else { return false };
    let bytes = packet.bytes();
    ip.version == Version::V6
        && ip.protocol == protocol::ICMPV6
        && bytes.get(ip.offset + 7) == Some(&255)
        && matches!(bytes.get(ip.payload), Some(133..=136))
}

/// Whether a packet says that it is IP, be it one that can be read or not: all without a link header is.
pub(super) fn says_ip(packet: &Packet) -> bool {
    packet.link() == Link::Ip || matches!(ether_type(packet), Some(0x0800 | 0x86dd))
}

/// The resolution of addresses.
const ARP: u16 = 0x0806;

/// EtherType of an Ethernet frame behind two tags at most; `None` if the frame is no Ethernet frame, or cut short. A number below 1,536
/// is a length, and a third tag is returned as the EtherType behind the second.
fn ether_type(packet: &Packet) -> Option<u16> {
    if packet.link() != Link::Ethernet {
        return None;
    }
    let type_at = |at: usize| match packet.bytes().get(at..at + 2) {
        Some(&[high, low]) => Some(u16::from_be_bytes([high, low])),
        _ => None,
    };
    let is_tag = |number: u16| matches!(number, 0x8100 | 0x88a8 | 0x9100);
    let first = type_at(12)?;
    if !is_tag(first) {
        return Some(first);
    }
    let second = type_at(16)?;
    if is_tag(second) { type_at(20) } else { Some(second) }
}
