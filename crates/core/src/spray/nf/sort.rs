//! What functions that keep connections ask of a packet before they look for its flow.

use crate::spray::packet::headers::{Fragment, Ip, Version, protocol};
use crate::spray::packet::tcp_flags::{ACK, CONNECTION, SYN};
use crate::spray::{FlowId, Kind, Packet, Reason, Verdict};

/// What a packet is to them.
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
/// Fragments are dropped, the first one too: those that follow it have no ports, and nothing is put together here. Of what is not IP, only the
/// resolution of addresses (ARP) goes on, without which nobody behind the function would be found.
pub(super) fn sort(packet: &Packet) -> Sort {
    let (Some(flow), Some(ip)) = (packet.flow(), packet.headers().ip) else {
        let verdict = if is_arp(packet.bytes()) { Verdict::Forward } else { Verdict::Drop(Reason::Unfit) };
        return Sort::Decided(verdict);
    };
    if ip.fragment != Fragment::Whole {
        return Sort::Decided(Verdict::Drop(Reason::Fragment));
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

/// Whether an Ethernet frame, with two tags at most, is one of ARP.
fn is_arp(bytes: &[u8]) -> bool {
    let mut at = 12;
    for _ in 0..3 {
        match bytes.get(at..at + 2) {
            Some([0x08, 0x06]) => return true,
            Some([0x81, 0x00] | [0x88, 0xa8] | [0x91, 0x00]) => at += 4,
            _ => return false,
        }
    }
    false
}
