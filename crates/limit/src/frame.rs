//! What the classifier wants to know of a packet: VLAN, addresses, and whether it may be marked.
//!
//! A program in the kernel has to come to the same answer for the same bytes, so the rules are few and have no exception:
//!
//! 1. An Ethernet II header of 14 bytes.
//! 2. At most two VLAN tags of four bytes each, with TPID 0x8100, 0x88a8 or 0x9100. The id of the *outermost* counts, zero
//!    (a priority tag) included; a tag that is cut short has none.
//! 3. Then IPv4 (EtherType 0x0800, version 4, IHL of at least 5, `IHL × 4` bytes of header within the frame) or IPv6
//!    (0x86dd, version 6, 40 bytes within the frame), which gives the addresses and the ECN bits. Lengths, checksums,
//!    fragments and extension headers do not matter: the addresses are in the first header of every packet.
//! 4. Whatever else (a third tag, a header that is cut short, ARP, an 802.3 length, the wrong version) has no addresses; it
//!    keeps the VLAN that was found before.
//!
//! The headers are read by `etherparse`'s slices of single headers, whose conditions are exactly these. Its readers of whole
//! packets are not used: they take other tags (MACsec) and more of them for known, and have opinions on lengths.

use std::net::IpAddr;

use etherparse::{Ethernet2HeaderSlice, Ipv4HeaderSlice, Ipv6HeaderSlice, SingleVlanHeaderSlice};

/// Longest stack of VLAN tags behind which addresses are looked for.
pub const MAX_TAGS: usize = 2;

/// EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;

/// EtherType of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86dd;

/// The tag protocol identifiers: of 802.1Q, of 802.1ad, and the one that was used for the latter before.
pub const VLAN_TPIDS: [u16; 3] = [0x8100, 0x88a8, 0x9100];

/// Facts of a packet that the classifier looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Id of the outermost VLAN tag, 0 to 4095.
    pub vlan: Option<u16>,
    /// Addresses of the IP header, if there is one.
    pub addresses: Option<Addresses>,
    /// Whether the packet can be marked instead of dropped: its ECN bits are ECT(0), ECT(1) or CE (RFC 3168 §5).
    pub ecn_capable: bool,
}

/// Addresses of a packet; both are of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Addresses {
    /// The sender.
    pub source: IpAddr,
    /// The receiver.
    pub destination: IpAddr,
}

impl Frame {
    /// Reads an Ethernet frame, without its checksum. Never fails: see the module's rules.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut frame = Self::default();
        let Ok(ethernet) = Ethernet2HeaderSlice::from_slice(bytes) else { return frame };
        let mut ether_type = ethernet.ether_type().0;
        let mut rest = &bytes[ethernet.slice().len()..];
        for _ in 0..MAX_TAGS {
            if !VLAN_TPIDS.contains(&ether_type) {
                break;
            }
            let Ok(tag) = SingleVlanHeaderSlice::from_slice(rest) else { return frame };
            frame.vlan.get_or_insert(tag.vlan_identifier().value());
            ether_type = tag.ether_type().0;
            rest = &rest[tag.slice().len()..];
        }
        Self { vlan: frame.vlan, ..Self::of_ip(ether_type, rest) }
    }

    /// Reads an IP packet that has no frame around it, as some captures have; its version tells the family.
    pub fn parse_ip(bytes: &[u8]) -> Self {
        match bytes.first().map(|byte| byte >> 4) {
            Some(4) => Self::of_ip(ETHERTYPE_IPV4, bytes),
            Some(6) => Self::of_ip(ETHERTYPE_IPV6, bytes),
            _ => Self::default(),
        }
    }

    /// Reads the header of type `ether_type` at the start of `bytes`.
    fn of_ip(ether_type: u16, bytes: &[u8]) -> Self {
        let read = match ether_type {
            ETHERTYPE_IPV4 => Ipv4HeaderSlice::from_slice(bytes).ok().map(|header| {
                (header.source_addr().into(), header.destination_addr().into(), header.ecn().value())
            }),
            ETHERTYPE_IPV6 => Ipv6HeaderSlice::from_slice(bytes).ok().map(|header| {
                (header.source_addr().into(), header.destination_addr().into(), header.ecn().value())
            }),
            _ => None,
        };
        read.map_or_else(Self::default, |(source, destination, ecn)| Self {
            vlan: None,
            addresses: Some(Addresses { source, destination }),
            ecn_capable: ecn != 0,
        })
    }
}

/// The bits of an address, the first one highest: what prefixes are compared in. An IPv4 address fills the upper 32 of them.
pub fn address_bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()) << 96,
        IpAddr::V6(address) => address.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V4: [u8; 20] = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 192, 0, 2, 1];

    /// A frame with these tags, EtherType and payload.
    fn frame(tags: &[(u16, u16)], ether_type: u16, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 12];
        for (tpid, tci) in tags {
            bytes.extend([tpid.to_be_bytes(), tci.to_be_bytes()].concat());
        }
        bytes.extend(ether_type.to_be_bytes());
        bytes.extend(payload);
        bytes
    }

    fn v6() -> [u8; 40] {
        let mut header = [0; 40];
        header[0] = 0x60;
        header[8] = 0xfd;
        header[24] = 0xfe;
        header
    }

    #[test]
    fn the_outermost_of_at_most_two_tags_counts() {
        let expected = Frame::parse_ip(&V4);
        assert_eq!(expected.addresses.unwrap().destination, IpAddr::from([192, 0, 2, 1]));
        let tags = [(0x88a8, 0xe064), (0x8100, 7), (0x9100, 9)];
        assert_eq!(Frame::parse(&frame(&[], 0x0800, &V4)), expected);
        assert_eq!(Frame::parse(&frame(&tags[..1], 0x0800, &V4)), Frame { vlan: Some(100), ..expected });
        assert_eq!(Frame::parse(&frame(&tags[..2], 0x0800, &V4)), Frame { vlan: Some(100), ..expected });
        let only_vlan = Frame { vlan: Some(100), ..Frame::default() };
        assert_eq!(Frame::parse(&frame(&tags, 0x0800, &V4)), only_vlan);
        assert_eq!(Frame::parse(&frame(&[(0x9100, 0x2000)], 0x0800, &V4)).vlan, Some(0));
    }

    #[test]
    fn what_is_cut_short_has_no_addresses() {
        let whole = frame(&[(0x8100, 5), (0x8100, 6)], 0x86dd, &v6());
        for length in 0..whole.len() {
            let vlan = (length >= 18).then_some(5);
            assert_eq!(Frame::parse(&whole[..length]), Frame { vlan, ..Frame::default() }, "{length}");
        }
        assert!(Frame::parse(&whole).addresses.is_some());
        let mut options = [V4.to_vec(), vec![0; 40]].concat();
        options[0] = 0x4f;
        assert!(Frame::parse(&frame(&[], 0x0800, &options)).addresses.is_some());
        assert!(Frame::parse(&frame(&[], 0x0800, &options[..59])).addresses.is_none());
    }

    #[test]
    fn wrong_versions_lengths_and_types_have_no_addresses() {
        let with_first = |first: u8, mut header: Vec<u8>| {
            header[0] = first;
            header
        };
        for (ether_type, payload) in [
            (0x0800, with_first(0x44, V4.to_vec())),
            (0x0800, with_first(0x46, V4.to_vec())),
            (0x0800, with_first(0x65, V4.to_vec())),
            (0x0800, v6().to_vec()),
            (0x86dd, with_first(0x40, v6().to_vec())),
            (0x0806, V4.to_vec()),
            (20, V4.to_vec()),
        ] {
            assert_eq!(Frame::parse(&frame(&[], ether_type, &payload)), Frame::default());
        }
    }

    #[test]
    fn the_ecn_bits_tell_whether_a_packet_can_be_marked() {
        for ecn in 0..4 {
            let mut v4 = V4;
            v4[1] = 0xfc | ecn;
            assert_eq!(Frame::parse_ip(&v4).ecn_capable, ecn != 0);
            let mut v6 = v6();
            (v6[0], v6[1]) = (0x6f, 0xcf | ecn << 4);
            assert_eq!(Frame::parse_ip(&v6).ecn_capable, ecn != 0);
        }
    }
}
