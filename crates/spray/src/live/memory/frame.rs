//! Frames as real ones are: Ethernet, IPv4 or IPv6, TCP, UDP or an echo of ICMP, with all checksums right.

use std::net::IpAddr;

use crate::packet::headers::{Transport, Version, protocol};
use crate::{FlowId, Packet};

/// Ethernet's header.
const ETHERNET: usize = 14;

/// Fields of a TCP header besides the ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) flags: u8,
    pub(super) sequence: u32,
    pub(super) acknowledged: u32,
}

/// Writes a frame of `flow`, instead of what is in `bytes`. An echo asks if its flow has a source port, its identifier, and answers if it
/// has a destination port. `segment` is for TCP.
pub(super) fn write(bytes: &mut Vec<u8>, flow: &FlowId, segment: Segment, payload: &[u8]) {
    bytes.clear();
    // Locally administered addresses.
    bytes.extend_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    let own = match flow.protocol() {
        protocol::TCP => 20,
        _ => 8,
    };
    let length = own + payload.len();
    let mut pseudo = match (flow.source(), flow.destination()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            bytes.extend_from_slice(&[8, 0, 0x45, 0]);
            bytes.extend_from_slice(&((20 + length) as u16).to_be_bytes());
            // No identification, not to be fragmented, 64 hops.
            bytes.extend_from_slice(&[0, 0, 0x40, 0, 64, flow.protocol(), 0, 0]);
            bytes.extend_from_slice(&source.octets());
            bytes.extend_from_slice(&destination.octets());
            let checksum = !fold(sum(&bytes[ETHERNET..]));
            bytes[ETHERNET + 10..ETHERNET + 12].copy_from_slice(&checksum.to_be_bytes());
            sum(&source.octets()) + sum(&destination.octets())
        }
        (source, destination) => {
            let octets = |address: IpAddr| match address {
                IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                IpAddr::V6(address) => address.octets(),
            };
            let (source, destination) = (octets(source), octets(destination));
            bytes.extend_from_slice(&[0x86, 0xdd, 0x60, 0, 0, 0]);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
            bytes.extend_from_slice(&[flow.protocol(), 64]);
            bytes.extend_from_slice(&source);
            bytes.extend_from_slice(&destination);
            sum(&source) + sum(&destination)
        }
    };
    pseudo += u64::from(flow.protocol()) + length as u64;
    let start = bytes.len();
    let ports = [flow.source_port().to_be_bytes(), flow.destination_port().to_be_bytes()].concat();
    let at = match flow.protocol() {
        protocol::TCP => {
            bytes.extend_from_slice(&ports);
            bytes.extend_from_slice(&segment.sequence.to_be_bytes());
            bytes.extend_from_slice(&segment.acknowledged.to_be_bytes());
            bytes.extend_from_slice(&[5 << 4, segment.flags, 0xff, 0xff, 0, 0, 0, 0]);
            16
        }
        protocol::UDP => {
            bytes.extend_from_slice(&ports);
            bytes.extend_from_slice(&(length as u16).to_be_bytes());
            bytes.extend_from_slice(&[0, 0]);
            6
        }
        _ => {
            let asks = flow.source_port() != 0;
            let identifier = if asks { flow.source_port() } else { flow.destination_port() };
            bytes.extend_from_slice(&[if asks { 8 } else { 0 }, 0, 0, 0]);
            bytes.extend_from_slice(&identifier.to_be_bytes());
            bytes.extend_from_slice(&[0, 1]);
            pseudo = 0;
            2
        }
    };
    bytes.extend_from_slice(payload);
    let checksum = match !fold(pseudo + sum(&bytes[start..])) {
        // UDP's zero says that there is none (RFC 768).
        0 if flow.protocol() == protocol::UDP => 0xffff,
        checksum => checksum,
    };
    bytes[start + at..start + at + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// Whether all checksums of a whole packet are right.
pub(super) fn is_right(packet: &Packet) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::packet::headers::Link;
    use crate::packet::tcp_flags;

    fn flows() -> Vec<FlowId> {
        let v4 = |protocol, ports: (u16, u16)| {
            FlowId::new(protocol, ([10, 1, 2, 3].into(), ports.0), ([192, 0, 2, 7].into(), ports.1))
        };
        let v6: [IpAddr; 2] = ["fd00::7".parse().unwrap(), "2001:db8::1".parse().unwrap()];
        vec![
            v4(protocol::TCP, (4000, 80)),
            v4(protocol::UDP, (4000, 53)),
            v4(protocol::ICMP, (77, 0)),
            v4(protocol::ICMP, (0, 77)),
            FlowId::new(protocol::TCP, (v6[0], 4000), (v6[1], 443)),
            FlowId::new(protocol::UDP, (v6[0], 4000), (v6[1], 443)),
        ]
    }

    #[test]
    fn frames_are_what_they_say_and_their_checksums_are_right() {
        let segment = Segment { flags: tcp_flags::SYN, sequence: 7, acknowledged: 9 };
        for flow in flows() {
            for length in 0..9 {
                let payload: Vec<u8> = (1..=length).collect();
                let mut bytes = vec![1];
                write(&mut bytes, &flow, segment, &payload);
                let mut packet = Packet::new(bytes, Link::Ethernet);
                assert_eq!((packet.flow(), packet.payload()), (Some(&flow), &payload[..]));
                assert!(is_right(&packet), "{flow} {length}");
                let last = packet.bytes().len() - 1;
                packet.refill(Link::Ethernet, |bytes| bytes[last] ^= 1);
                assert!(!is_right(&packet), "{flow} {length}");
            }
        }
    }

    #[test]
    fn what_is_edited_stays_right() {
        for flow in flows() {
            let mut bytes = Vec::new();
            write(&mut bytes, &flow, Segment::default(), b"some");
            let mut packet = Packet::new(bytes, Link::Ethernet);
            let address = if flow.is_v6() { "2001:db8::5".parse().unwrap() } else { [203, 0, 113, 1].into() };
            assert!(packet.set_source(address, 7) && packet.set_destination(address, 8));
            assert!(packet.decrement_hops().is_some() && is_right(&packet), "{flow}");
        }
        let mut bytes = Vec::new();
        write(&mut bytes, &flows()[2], Segment::default(), &[]);
        assert_eq!(Packet::new(bytes, Link::Ethernet).kind(), Kind::Query);
    }
}
