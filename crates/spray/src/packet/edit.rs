//! Addresses and ports, written in place, with every checksum that covers them brought up to date.

use std::net::IpAddr;

use super::headers::{Headers, Ip, Transport, Version, protocol};
use super::{Kind, Packet, checksum, word};

/// One end of a packet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Source,
    Destination,
}

impl End {
    fn other(self) -> Self {
        if self == Self::Source { Self::Destination } else { Self::Source }
    }
}

impl Packet {
    /// Makes it come from `address` and `port` (of a query of ICMP, the identifier of who asks), with all checksums kept as right or wrong as
    /// they were. What an error of ICMP quotes went the other way: its destination is changed, too. Returns whether it could: without IP, and
    /// with an address of the other family, nothing changes. O(1).
    pub fn set_source(&mut self, address: IpAddr, port: u16) -> bool {
        self.set(End::Source, address, port)
    }

    /// Makes it go to `address` and `port`, as [`set_source`](Self::set_source) makes it come from them.
    pub fn set_destination(&mut self, address: IpAddr, port: u16) -> bool {
        self.set(End::Destination, address, port)
    }

    /// Takes one from the hops that the packet may still go and returns what is left; `None`, and nothing changed, if none were.
    pub fn decrement_hops(&mut self) -> Option<u8> {
        let inner = &mut *self.0;
        let ip = inner.headers.ip?;
        let at = ip.offset + if ip.version == Version::V4 { 8 } else { 7 };
        let left = inner.bytes.get(at)?.checked_sub(1)?;
        if ip.version == Version::V4 {
            // The word of hops and protocol, which the header's checksum covers.
            let next = *inner.bytes.get(at + 1)?;
            write(
                &mut inner.bytes,
                at,
                &[left, next],
                &Sums { header: Some(ip.offset + 10), ..Sums::default() },
            );
        } else {
            inner.bytes[at] = left;
        }
        Some(left)
    }

    fn set(&mut self, end: End, address: IpAddr, port: u16) -> bool {
        let inner = &mut *self.0;
        let Some(ip) = inner.headers.ip else { return false };
        if address.is_ipv4() != (ip.version == Version::V4) {
            return false;
        }
        let mut sums = Sums::of(&inner.headers, &inner.bytes);
        if inner.kind == Kind::Error {
            let message = ip.payload + 2;
            let quoted = Headers::quoted(&inner.bytes[..ip.end], ip.payload + 8);
            let within = Sums { message: Some(message), ..Sums::of(&quoted, &inner.bytes) };
            rewrite(&mut inner.bytes, &quoted, &within, end.other(), address, port);
            // Its own header has no ports.
            sums.transport = sums.transport.filter(|_| ip.version == Version::V6);
            rewrite_address(&mut inner.bytes, &ip, &sums, end, address);
        } else {
            rewrite(&mut inner.bytes, &inner.headers, &sums, end, address, port);
        }
        (inner.kind, inner.flow) = inner.headers.identify(&inner.bytes);
        true
    }
}

/// Offsets of the checksums that cover a packet's addresses.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// IPv4's, of the header.
    header: Option<usize>,
    /// The transport's.
    transport: Option<usize>,
    /// The transport's is UDP's, in which zero means none.
    zero_is_none: bool,
    /// ICMP's, of the message that quotes the packet, the other checksums included.
    message: Option<usize>,
}

impl Sums {
    fn of(headers: &Headers, bytes: &[u8]) -> Self {
        let Some(ip) = headers.ip else { return Self::default() };
        let at = match headers.transport {
            // A quotation of TCP is often cut before its checksum.
            Transport::Tcp { length: 18.. } => Some(ip.payload + 16),
            Transport::Udp => Some(ip.payload + 6),
            Transport::Icmp => Some(ip.payload + 2),
            Transport::Tcp { .. } | Transport::None => None,
        };
        let is_udp = headers.transport == Transport::Udp;
        let transport = at.filter(|&at| word(bytes, at).is_some_and(|sum| !is_udp || sum != 0));
        let header = (ip.version == Version::V4).then_some(ip.offset + 10);
        Self { header, transport, zero_is_none: is_udp, message: None }
    }
}

/// Writes an end's address and port.
fn rewrite(bytes: &mut [u8], headers: &Headers, sums: &Sums, end: End, address: IpAddr, port: u16) {
    let Some(ip) = headers.ip else { return };
    // ICMP's own checksum does not cover the addresses; that of everything else does.
    let covers = !(ip.version == Version::V4 && ip.protocol == protocol::ICMP);
    let of_address = Sums { transport: sums.transport.filter(|_| covers), ..*sums };
    rewrite_address(bytes, &ip, &of_address, end, address);
    let at = match (headers.transport, end) {
        (Transport::None, _) => return,
        (Transport::Icmp, _) => match asks(&ip, bytes) {
            Some(asks) if asks == (end == End::Source) => ip.payload + 4,
            _ => return,
        },
        (_, End::Source) => ip.payload,
        (_, End::Destination) => ip.payload + 2,
    };
    write(bytes, at, &port.to_be_bytes(), &Sums { header: None, ..*sums });
}

fn rewrite_address(bytes: &mut [u8], ip: &Ip, sums: &Sums, end: End, address: IpAddr) {
    let first = end == End::Source;
    match address {
        IpAddr::V4(address) => write(bytes, ip.offset + if first { 12 } else { 16 }, &address.octets(), sums),
        IpAddr::V6(address) => write(bytes, ip.offset + if first { 8 } else { 24 }, &address.octets(), sums),
    }
}

/// Whether a message of ICMP is a query that asks (its source has the identifier), or one that answers.
fn asks(ip: &Ip, bytes: &[u8]) -> Option<bool> {
    match (ip.version, bytes.get(ip.payload)?) {
        (Version::V4, 8 | 13) | (Version::V6, 128) => Some(true),
        (Version::V4, 0 | 14) | (Version::V6, 129) => Some(false),
        _ => None,
    }
}

/// Writes whole words and brings the checksums up to date.
fn write(bytes: &mut [u8], at: usize, new: &[u8], sums: &Sums) {
    let Some(place) = bytes.get_mut(at..at + new.len()) else { return };
    let mut old = [0; 16];
    let old = &mut old[..new.len()];
    old.copy_from_slice(place);
    place.copy_from_slice(new);
    patch(bytes, sums.message, false, old, new);
    for (sum, zero_is_none) in [(sums.header, false), (sums.transport, sums.zero_is_none)] {
        if let Some((before, after)) = patch(bytes, sum, zero_is_none, old, new) {
            patch(bytes, sums.message, false, &before.to_be_bytes(), &after.to_be_bytes());
        }
    }
}

/// Brings one checksum up to date; what it was and is.
fn patch(
    bytes: &mut [u8],
    at: Option<usize>,
    zero_is_none: bool,
    old: &[u8],
    new: &[u8],
) -> Option<(u16, u16)> {
    let at = at?;
    let before = word(bytes, at)?;
    let after = match checksum::updated(before, old, new) {
        0 if zero_is_none => 0xffff,
        after => after,
    };
    bytes[at..at + 2].copy_from_slice(&after.to_be_bytes());
    Some((before, after))
}
