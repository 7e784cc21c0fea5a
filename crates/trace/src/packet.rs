//! The key of a packet: which flow, source or destination it belongs to.

use etherparse::{
    EtherType, LaxIpPayloadSlice, LaxNetSlice, LaxSlicedPacket,
    err::Layer,
    err::ip::{HeaderError, LaxHeaderSliceError},
};

use crate::options::PacketKey;

/// A captured packet from the outermost header on that says what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layers<'a> {
    /// An Ethernet frame.
    Ethernet(&'a [u8]),
    /// An IP packet without a frame.
    Ip(&'a [u8]),
    /// Payload of an Ethernet frame of this EtherType; its addresses were not captured.
    EtherType(u16, &'a [u8]),
    /// Nothing that can be told.
    Other,
}

impl<'a> Layers<'a> {
    /// The headers of the packet, as far as they make sense; `None` if the first one does not.
    pub fn headers(self) -> Option<LaxSlicedPacket<'a>> {
        match self {
            Layers::Ethernet(frame) => LaxSlicedPacket::from_ethernet(frame).ok(),
            Layers::Ip(packet) => LaxSlicedPacket::from_ip(packet).ok(),
            Layers::EtherType(number, data) => Some(LaxSlicedPacket::from_ether_type(number.into(), data)),
            Layers::Other => None,
        }
    }

    /// Captured bytes of the packet, from the outermost header on that says what it is; nothing if none does.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Layers::Ethernet(bytes) | Layers::Ip(bytes) | Layers::EtherType(_, bytes) => bytes,
            Layers::Other => &[],
        }
    }

    /// The layers of `data`, captured on a link of this type; the number of the link type if it is unknown.
    pub(super) fn of(data: &'a [u8], link: Link) -> Result<Self, u16> {
        let after = |at: usize, header: usize| match (data.get(at..at + 2), data.get(header..)) {
            (Some(&[high, low]), Some(payload)) => {
                Layers::EtherType(u16::from_be_bytes([high, low]), payload)
            }
            _ => Layers::Other,
        };
        Ok(match link {
            Link::Ethernet => Layers::Ethernet(data),
            Link::Raw => Layers::Ip(data),
            Link::Loopback => data.get(4..).map_or(Layers::Other, Layers::Ip),
            Link::Sll => after(SLL.0, SLL.1),
            Link::Sll2 => after(SLL2.0, SLL2.1),
            Link::Unknown(number) => return Err(number),
        })
    }
}

/// Offset of the EtherType in a Linux "cooked" header of version 1, and the length of the header.
const SLL: (usize, usize) = (14, 16);

/// Offset of the EtherType in a Linux "cooked" header of version 2, and the length of the header.
const SLL2: (usize, usize) = (0, 20);

/// Link type of a capture: the header that its packets start with; the numbers are those of <https://www.tcpdump.org/linktypes.html>.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Ethernet,
    /// Nothing before the IP header.
    Raw,
    /// The BSD loopback: four bytes of address family.
    Loopback,
    /// Linux "cooked", version 1.
    Sll,
    /// Linux "cooked", version 2.
    Sll2,
    /// Anything else, by its number.
    Unknown(u16),
}

impl Link {
    /// The link type with this number.
    pub(super) fn of(number: u16) -> Self {
        match number {
            1 => Link::Ethernet,
            // 12 and 14 are what some systems write for 101; 228 and 229 are IPv4 and IPv6 alone.
            101 | 12 | 14 | 228 | 229 => Link::Raw,
            0 | 108 => Link::Loopback,
            113 => Link::Sll,
            276 => Link::Sll2,
            other => Link::Unknown(other),
        }
    }
}

/// Why a packet is no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoKey {
    NotIp,
    /// The IP header, or what comes before it, is cut short or contradicts itself.
    Malformed,
    UnknownLink(u16),
}

/// The key of the packet `data`: the `digest` of the bytes that tell it apart.
pub(super) fn key_of(
    data: &[u8],
    link: Link,
    choice: PacketKey,
    digest: impl FnOnce(&[u8]) -> u64,
) -> Result<u64, NoKey> {
    let packet = slice(data, link)?;
    match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let is_later_fragment = header.fragments_offset().value() > 0;
            let transport = transport_of(ip.payload(), is_later_fragment);
            Ok(hash(header.source(), header.destination(), transport, choice, digest))
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let is_later_fragment = is_later_ipv6_fragment(header.next_header().0, ip.extensions().slice());
            let transport = transport_of(ip.payload(), is_later_fragment);
            Ok(hash(header.source(), header.destination(), transport, choice, digest))
        }
        Some(LaxNetSlice::Arp(_)) => Err(NoKey::NotIp),
        None if is_cut(&packet) => Err(NoKey::Malformed),
        None => Err(NoKey::NotIp),
    }
}

/// Finds the IP packet within `data`.
fn slice(data: &[u8], link: Link) -> Result<LaxSlicedPacket<'_>, NoKey> {
    match link {
        Link::Ethernet => LaxSlicedPacket::from_ethernet(data).map_err(|_| NoKey::Malformed),
        Link::Raw => raw(data),
        Link::Loopback => {
            let (family, rest) = data.split_first_chunk().ok_or(NoKey::Malformed)?;
            // In the byte order of the machine that captured; IPv6 has a number for every BSD.
            match u32::from_le_bytes(*family).min(u32::from_be_bytes(*family)) {
                2 | 10 | 24 | 28 | 30 => raw(rest),
                _ => Err(NoKey::NotIp),
            }
        }
        Link::Sll => after_ether_type(data, SLL),
        Link::Sll2 => after_ether_type(data, SLL2),
        Link::Unknown(number) => Err(NoKey::UnknownLink(number)),
    }
}

fn raw(data: &[u8]) -> Result<LaxSlicedPacket<'_>, NoKey> {
    LaxSlicedPacket::from_ip(data).map_err(|error| match error {
        LaxHeaderSliceError::Content(HeaderError::UnsupportedIpVersion { .. }) => NoKey::NotIp,
        _ => NoKey::Malformed,
    })
}

/// A packet whose EtherType stands at byte `at` of a header that is `header` bytes long.
fn after_ether_type(data: &[u8], (at, header): (usize, usize)) -> Result<LaxSlicedPacket<'_>, NoKey> {
    let payload = data.get(header..).ok_or(NoKey::Malformed)?;
    let ether_type = EtherType(u16::from_be_bytes([data[at], data[at + 1]]));
    Ok(LaxSlicedPacket::from_ether_type(ether_type, payload))
}

/// Whether what stopped the parser was an IP packet, or a VLAN tag before one, that it could not make sense of.
fn is_cut(packet: &LaxSlicedPacket<'_>) -> bool {
    matches!(packet.stop_err, Some((_, layer)) if layer != Layer::Arp)
}

/// Whether the extension headers of an IPv6 packet, of which `kind` is the first, make it a fragment other than the
/// first.
///
/// We walk them ourselves: etherparse 0.21's iterator reads out of bounds where its parser stopped at a malformed one.
fn is_later_ipv6_fragment(mut kind: u8, mut headers: &[u8]) -> bool {
    loop {
        let (next, length) = match (kind, headers) {
            // RFC 8200 §4.5: thirteen bits of offset.
            (44, [_, _, high, low, ..]) if u16::from_be_bytes([*high, *low]) >> 3 > 0 => return true,
            (44, [next, ..]) => (*next, 8),
            // §4.3, §4.4, §4.6: hop-by-hop options, routing, destination options.
            (0 | 43 | 60, [next, units, ..]) => (*next, 8 * (usize::from(*units) + 1)),
            // RFC 4302 §2: authentication.
            (51, [next, units, ..]) => (*next, 4 * (usize::from(*units) + 2)),
            _ => return false,
        };
        let Some(rest) = headers.get(length..) else { return false };
        (kind, headers) = (next, rest);
    }
}

/// Protocol, source port and destination port; the ports are zero where there are none.
fn transport_of(payload: &LaxIpPayloadSlice<'_>, is_later_fragment: bool) -> [u8; 5] {
    let protocol = payload.ip_number.0;
    // TCP, UDP, DCCP, SCTP and UDP-Lite start with the two ports.
    let has_ports = matches!(protocol, 6 | 17 | 33 | 132 | 136) && !is_later_fragment;
    let ports = payload.payload.first_chunk().filter(|_| has_ports);
    let [p0, p1, p2, p3] = ports.copied().unwrap_or_default();
    [protocol, p0, p1, p2, p3]
}

/// The key of a packet between two addresses of `N` bytes each, 4 or 16.
fn hash<const N: usize>(
    source: [u8; N],
    destination: [u8; N],
    transport: [u8; 5],
    choice: PacketKey,
    digest: impl FnOnce(&[u8]) -> u64,
) -> u64 {
    match choice {
        PacketKey::Source => digest(&source),
        PacketKey::Destination => digest(&destination),
        PacketKey::Flow => {
            let mut bytes = [0; 2 * 16 + 5];
            let flow = &mut bytes[..2 * N + 5];
            flow[..N].copy_from_slice(&source);
            flow[N..2 * N].copy_from_slice(&destination);
            flow[2 * N..].copy_from_slice(&transport);
            digest(flow)
        }
    }
}

#[cfg(test)]
mod tests {
    use etherparse::{IpFragOffset, IpNumber, Ipv4Header, Ipv6FragmentHeader, Ipv6Header, PacketBuilder};

    use super::*;
    use crate::sip::sip_hash;

    const A: [u8; 4] = [10, 0, 0, 1];
    const B: [u8; 4] = [10, 0, 0, 2];

    fn ipv4(ports: (u16, u16)) -> Vec<u8> {
        let mut packet = Vec::new();
        PacketBuilder::ipv4(A, B, 64).udp(ports.0, ports.1).write(&mut packet, b"data").unwrap();
        packet
    }

    fn flow(data: &[u8], link: Link) -> Result<u64, NoKey> {
        key_of(data, link, PacketKey::Flow, sip_hash)
    }

    #[test]
    fn a_flow_has_one_key_on_every_link() {
        let packet = ipv4((1000, 53));
        let key = flow(&packet, Link::Raw).unwrap();
        let ethernet = |tags: &[u8]| [&[0; 12], tags, &[8, 0], &packet].concat();
        assert_eq!(flow(&ethernet(&[]), Link::Ethernet), Ok(key));
        assert_eq!(flow(&ethernet(&[0x81, 0, 0, 5]), Link::Ethernet), Ok(key));
        assert_eq!(flow(&ethernet(&[0x88, 0xa8, 0, 5, 0x81, 0, 0, 6]), Link::Ethernet), Ok(key));
        assert_eq!(flow(&[&[2, 0, 0, 0], &packet[..]].concat(), Link::Loopback), Ok(key));
        assert_eq!(flow(&[&[0, 0, 0, 2], &packet[..]].concat(), Link::Loopback), Ok(key));
        assert_eq!(flow(&[&[0; 14][..], &[8, 0], &packet[..]].concat(), Link::Sll), Ok(key));
        assert_eq!(flow(&[&[8, 0][..], &[0; 18], &packet[..]].concat(), Link::Sll2), Ok(key));
        assert_eq!(flow(&packet, Link::Unknown(127)), Err(NoKey::UnknownLink(127)));
    }

    #[test]
    fn layers_start_where_they_can_be_read() {
        let packet = ipv4((1000, 53));
        let sll = [&[0; 14][..], &[8, 0], &packet[..]].concat();
        assert_eq!(Layers::of(&sll, Link::Sll), Ok(Layers::EtherType(0x800, &packet)));
        let sll2 = [&[8, 0][..], &[0; 18], &packet[..]].concat();
        assert_eq!(Layers::of(&sll2, Link::Sll2), Ok(Layers::EtherType(0x800, &packet)));
        assert_eq!(Layers::of(&sll2[..19], Link::Sll2), Ok(Layers::Other));
        let loopback = [&[2, 0, 0, 0], &packet[..]].concat();
        assert_eq!(Layers::of(&loopback, Link::Loopback), Ok(Layers::Ip(&packet)));
        assert_eq!(Layers::of(&loopback[..3], Link::Loopback), Ok(Layers::Other));
        assert_eq!(Layers::of(&packet, Link::Raw), Ok(Layers::Ip(&packet)));
        assert_eq!(Layers::of(&packet, Link::Ethernet), Ok(Layers::Ethernet(&packet)));
        assert_eq!(Layers::of(&packet, Link::Unknown(127)), Err(127));
    }

    #[test]
    fn keys_tell_apart_what_they_should() {
        let key = |data: &[u8], choice| key_of(data, Link::Raw, choice, sip_hash);
        let (one, other) = (ipv4((1000, 53)), ipv4((1001, 53)));
        assert_ne!(flow(&one, Link::Raw), flow(&other, Link::Raw));
        for choice in [PacketKey::Source, PacketKey::Destination] {
            assert_eq!(key(&one, choice), key(&other, choice));
        }
        assert_eq!(key(&one, PacketKey::Source), Ok(sip_hash(&A)));
        assert_eq!(key(&one, PacketKey::Destination), Ok(sip_hash(&B)));
    }

    #[test]
    fn only_the_first_fragment_has_ports() {
        let fragment = |offset: u16, payload: &[u8]| {
            let mut header = Ipv4Header::new(payload.len() as u16, 64, IpNumber::UDP, A, B).unwrap();
            header.more_fragments = true;
            header.fragment_offset = IpFragOffset::try_new(offset).unwrap();
            [&header.to_bytes()[..], payload].concat()
        };
        let udp = &ipv4((1000, 53))[20..];
        assert_eq!(flow(&fragment(0, udp), Link::Raw), flow(&ipv4((1000, 53)), Link::Raw));
        assert_eq!(flow(&fragment(1, b"aaaaaaaa"), Link::Raw), flow(&fragment(2, b"bbbbbbbb"), Link::Raw));
        assert_ne!(flow(&fragment(0, udp), Link::Raw), flow(&fragment(1, udp), Link::Raw));
    }

    #[test]
    fn ipv6_fragments_too() {
        let packet = |offset: u16, payload: &[u8]| {
            let fragment = Ipv6FragmentHeader {
                next_header: IpNumber::UDP,
                fragment_offset: IpFragOffset::try_new(offset).unwrap(),
                more_fragments: true,
                identification: 7,
            };
            let header = Ipv6Header {
                payload_length: (8 + payload.len()) as u16,
                next_header: IpNumber::IPV6_FRAGMENTATION_HEADER,
                source: [1; 16],
                destination: [2; 16],
                ..Ipv6Header::default()
            };
            [&header.to_bytes()[..], &fragment.to_bytes()[..], payload].concat()
        };
        let key = |packet: &[u8]| flow(packet, Link::Raw).unwrap();
        assert_ne!(key(&packet(0, b"12345678")), key(&packet(0, b"87654321")));
        assert_eq!(key(&packet(1, b"12345678")), key(&packet(2, b"87654321")));
    }

    #[test]
    fn extension_headers_are_walked_within_bounds() {
        let destination_options = [44, 0, 1, 4, 0, 0, 0, 0];
        let later = [&destination_options[..], &[17, 0, 0, 8, 0, 0, 0, 7]].concat();
        assert!(is_later_ipv6_fragment(60, &later));
        assert!(!is_later_ipv6_fragment(60, &later[..10]));
        assert!(!is_later_ipv6_fragment(60, &[44, 255]));
        assert!(!is_later_ipv6_fragment(44, &[0, 0, 0, 1, 0, 0, 0, 7]));
        assert!(!is_later_ipv6_fragment(17, &later));
    }

    #[test]
    fn what_is_not_ip_is_told_from_what_is_broken() {
        let arp = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
        assert_eq!(flow(&arp, Link::Ethernet), Err(NoKey::NotIp));
        let lldp = [&[0; 12][..], &[0x88, 0xcc], &[0; 28]].concat();
        assert_eq!(flow(&lldp, Link::Ethernet), Err(NoKey::NotIp));
        let packet = [&[0; 12][..], &[8, 0], &ipv4((1, 2))].concat();
        for length in 0..14 + 20 {
            assert_eq!(flow(&packet[..length], Link::Ethernet), Err(NoKey::Malformed), "{length} bytes");
        }
        // Cut after the ports, as captures with a short snapshot length are.
        assert_eq!(flow(&packet[..14 + 24], Link::Ethernet), flow(&packet, Link::Ethernet));
        assert_eq!(flow(&[0x50; 40], Link::Raw), Err(NoKey::NotIp));
        assert_eq!(flow(&[0; 8], Link::Loopback), Err(NoKey::NotIp));
    }
}
