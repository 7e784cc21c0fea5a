//! Where the headers of a packet lie.
//!
//! 1. Ethernet II and at most two VLAN tags (or none of that: [`Link::Ip`]).
//! 2. IPv4 with its options, or IPv6 with at most [`MAX_EXTENSIONS`] extension headers. A header that is cut short, a wrong version and a
//!    length below the header's own are *no* IP: nothing of it can be trusted.
//! 3. TCP with its options, UDP, and the first eight bytes of ICMP and ICMPv6. What is cut short or follows in a later fragment has no
//!    transport; its protocol is known all the same. Only where extension headers are too many or cut short, the protocol is the number of one
//!    ([`is_extension`]): what the packet carries is not known.
//!
//! Checksums are not looked at: whoever changes a header keeps a checksum as right or wrong as it was. Lengths beyond the frame's end
//! (captures are cut) end with the frame.

use etherparse::{
    Ethernet2HeaderSlice, IpAuthHeaderSlice, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice,
    Ipv6RawExtHeaderSlice, SingleVlanHeaderSlice, TcpHeaderSlice,
};

/// Extension headers of IPv6 that are passed on the way to the transport; one more, and it has none.
pub const MAX_EXTENSIONS: usize = 8;

/// Numbers of protocols (IANA).
pub mod protocol {
    /// ICMP of IPv4.
    pub const ICMP: u8 = 1;
    /// The number of TCP.
    pub const TCP: u8 = 6;
    /// The number of UDP.
    pub const UDP: u8 = 17;
    /// ICMP of IPv6.
    pub const ICMPV6: u8 = 58;
}

/// Whether a number in a chain of IPv6 stands for an extension header and not for what the packet carries (RFC 7045 §2.3): as the
/// [protocol](Ip::protocol) of a whole packet, it says that the chain was not read to its end, or is of no use to anybody here
/// (mobility, host identity, shim). Encryption (50) ends what can be read, and is a protocol of its own.
pub fn is_extension(number: u8) -> bool {
    matches!(number, 0 | 43 | 44 | 51 | 60 | 135 | 139 | 140)
}

/// Link layer around the IP packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// An Ethernet II frame.
    #[default]
    Ethernet,
    /// Nothing: it begins with IP.
    Ip,
}

/// The version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Version 4.
    V4,
    /// Version 6.
    V6,
}

/// Part of a datagram that a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    /// All of it.
    Whole,
    /// The first of several, which has the ports.
    First,
    /// Another one.
    Later,
}

/// The IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ip {
    /// Offset of the IP header in the frame.
    pub offset: usize,
    /// Its version.
    pub version: Version,
    /// The protocol behind it, and behind the extension headers; the number of one of these, where the chain cannot be read to its end.
    pub protocol: u8,
    /// Offset of the IP payload in the frame.
    pub payload: usize,
    /// End of the packet in the frame: by its own length, or with the frame, if that comes first.
    pub end: usize,
    /// Part of a datagram that the packet is.
    pub fragment: Fragment,
}

impl Ip {
    /// Whether the extension headers of a whole packet of IPv6 do not lead to what it carries, which may be anything.
    #[inline]
    pub fn is_opaque(&self) -> bool {
        self.version == Version::V6 && self.fragment == Fragment::Whole && is_extension(self.protocol)
    }
}

/// The transport header, which begins at [`Ip::payload`] and is whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// Unknown, cut short, or in another fragment.
    #[default]
    None,
    /// TCP with so many bytes of header.
    Tcp {
        /// Options included, 20 to 60.
        length: usize,
    },
    /// UDP with its header.
    Udp,
    /// ICMP, or ICMPv6 in IPv6: at least its first eight bytes.
    Icmp,
}

/// Positions of the headers in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headers {
    /// IP, if it is that.
    pub ip: Option<Ip>,
    /// Transport header that IP carries.
    pub transport: Transport,
}

impl Headers {
    /// Reads the headers of `bytes`. Never fails: see the module's rules. O(headers).
    #[inline]
    pub fn parse(bytes: &[u8], link: Link) -> Self {
        let start = match link {
            Link::Ip => Some(0),
            Link::Ethernet => ip_of_ethernet(bytes),
        };
        let ip = start.and_then(|offset| ip_at(bytes, offset));
        let transport = ip.map_or(Transport::None, |ip| transport_of(bytes, &ip));
        Self { ip, transport }
    }

    /// Reads the packet that an ICMP error quotes from `offset` on: its transport may be cut after eight bytes (RFC 792), so that
    /// a TCP header counts as whole with these.
    pub fn quoted(bytes: &[u8], offset: usize) -> Self {
        let Some(ip) = ip_at(bytes, offset) else { return Self::default() };
        let there = ip.end - ip.payload;
        let transport = match ip.protocol {
            _ if ip.fragment == Fragment::Later || there < 8 => Transport::None,
            protocol::TCP => Transport::Tcp { length: there.min(20) },
            _ => transport_of(bytes, &ip),
        };
        Self { ip: Some(ip), transport }
    }
}

/// Offset of the IP header in an Ethernet frame.
#[inline]
fn ip_of_ethernet(bytes: &[u8]) -> Option<usize> {
    let ethernet = Ethernet2HeaderSlice::from_slice(bytes).ok()?;
    let (mut ether_type, mut at) = (ethernet.ether_type().0, ethernet.slice().len());
    for _ in 0..2 {
        // 802.1Q, 802.1ad, and the one that was used for the latter before.
        if !matches!(ether_type, 0x8100 | 0x88a8 | 0x9100) {
            break;
        }
        let tag = SingleVlanHeaderSlice::from_slice(&bytes[at..]).ok()?;
        (ether_type, at) = (tag.ether_type().0, at + tag.slice().len());
    }
    matches!(ether_type, 0x0800 | 0x86dd).then_some(at)
}

/// The IP header at `offset`; its version tells the family.
#[inline]
fn ip_at(bytes: &[u8], offset: usize) -> Option<Ip> {
    let rest = bytes.get(offset..)?;
    match rest.first()? >> 4 {
        4 => ipv4(rest, offset),
        6 => ipv6(rest, offset),
        _ => None,
    }
}

#[inline]
fn ipv4(rest: &[u8], offset: usize) -> Option<Ip> {
    let header = Ipv4HeaderSlice::from_slice(rest).ok()?;
    let (own, total) = (header.slice().len(), usize::from(header.total_len()));
    // Cards that segment leave the total length zero.
    let total = if total == 0 { rest.len() } else { total };
    if total < own {
        return None;
    }
    let fragment = match (header.fragments_offset().value(), header.more_fragments()) {
        (0, false) => Fragment::Whole,
        (0, true) => Fragment::First,
        _ => Fragment::Later,
    };
    let end = offset + total.min(rest.len());
    let payload = offset + own;
    Some(Ip { offset, version: Version::V4, protocol: header.protocol().0, payload, end, fragment })
}

fn ipv6(rest: &[u8], offset: usize) -> Option<Ip> {
    let header = Ipv6HeaderSlice::from_slice(rest).ok()?;
    let own = header.slice().len();
    let length = usize::from(header.payload_length());
    // Zero is a jumbogram, or a card that segments.
    let total = if length == 0 { rest.len() } else { rest.len().min(own + length) };
    let (mut protocol, mut at, mut fragment) = (header.next_header().0, own, Fragment::Whole);
    for _ in 0..MAX_EXTENSIONS {
        let behind = &rest[at..total];
        let (next, length) = match protocol {
            // Hop-by-hop, routing, destination options.
            0 | 43 | 60 => match Ipv6RawExtHeaderSlice::from_slice(behind) {
                Ok(extension) => (extension.next_header().0, extension.slice().len()),
                Err(_) => break,
            },
            44 => match Ipv6FragmentHeaderSlice::from_slice(behind) {
                Ok(extension) => {
                    if extension.fragment_offset().value() != 0 {
                        fragment = Fragment::Later;
                    } else if extension.more_fragments() {
                        fragment = Fragment::First;
                    }
                    (extension.next_header().0, extension.slice().len())
                }
                Err(_) => break,
            },
            51 => match IpAuthHeaderSlice::from_slice(behind) {
                Ok(extension) => (extension.next_header().0, extension.slice().len()),
                Err(_) => break,
            },
            _ => break,
        };
        (protocol, at) = (next, at + length);
        // What follows in a later fragment is data.
        if fragment == Fragment::Later {
            break;
        }
    }
    Some(Ip { offset, version: Version::V6, protocol, payload: offset + at, end: offset + total, fragment })
}

#[inline]
fn transport_of(bytes: &[u8], ip: &Ip) -> Transport {
    if ip.fragment == Fragment::Later {
        return Transport::None;
    }
    let Some(rest) = bytes.get(ip.payload..ip.end) else { return Transport::None };
    match (ip.protocol, ip.version) {
        (protocol::TCP, _) => match TcpHeaderSlice::from_slice(rest) {
            Ok(header) => Transport::Tcp { length: header.slice().len() },
            Err(_) => Transport::None,
        },
        (protocol::UDP, _) if rest.len() >= 8 => Transport::Udp,
        (protocol::ICMP, Version::V4) | (protocol::ICMPV6, Version::V6) if rest.len() >= 8 => Transport::Icmp,
        _ => Transport::None,
    }
}
