//! Edits are held to full computation by `etherparse`, and what they leave alone to what was there.

use std::net::IpAddr;

use etherparse::{IpNumber, Ipv4Header, Ipv6Header, NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use proptest::prelude::*;

use super::headers::{Fragment, Link};
use super::*;

const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Sort {
    Tcp,
    Udp,
    Echo { asks: bool },
}

/// A packet with right checksums.
fn packet(sort: Sort, source: (IpAddr, u16), destination: (IpAddr, u16), payload: &[u8]) -> Vec<u8> {
    let link = PacketBuilder::ethernet2(MAC, MAC);
    let step = match (source.0, destination.0) {
        (IpAddr::V4(a), IpAddr::V4(b)) => link.ipv4(a.octets(), b.octets(), 64),
        (IpAddr::V6(a), IpAddr::V6(b)) => link.ipv6(a.octets(), b.octets(), 64),
        _ => unreachable!("both are of one family"),
    };
    let mut bytes = Vec::new();
    let written = match (sort, source.0) {
        (Sort::Tcp, _) => step.tcp(source.1, destination.1, 7, 1000).ack(9).write(&mut bytes, payload),
        (Sort::Udp, _) => step.udp(source.1, destination.1).write(&mut bytes, payload),
        (Sort::Echo { asks: true }, IpAddr::V4(_)) => {
            step.icmpv4_echo_request(source.1, 3).write(&mut bytes, payload)
        }
        (Sort::Echo { asks: false }, IpAddr::V4(_)) => {
            step.icmpv4_echo_reply(destination.1, 3).write(&mut bytes, payload)
        }
        (Sort::Echo { asks: true }, _) => step.icmpv6_echo_request(source.1, 3).write(&mut bytes, payload),
        (Sort::Echo { asks: false }, _) => {
            step.icmpv6_echo_reply(destination.1, 3).write(&mut bytes, payload)
        }
    };
    written.unwrap();
    bytes
}

/// Whether all checksums are what a full computation has.
fn checksums_are_right(bytes: &[u8]) -> bool {
    let sliced = SlicedPacket::from_ethernet(bytes).unwrap();
    let of_header = match &sliced.net {
        Some(NetSlice::Ipv4(ip)) => {
            ip.header().header_checksum() == ip.header().to_header().calc_header_checksum()
        }
        _ => true,
    };
    let of_transport = match (&sliced.net, &sliced.transport) {
        (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) => {
            tcp.calc_checksum_ipv4(ip.header().source(), ip.header().destination()).unwrap() == tcp.checksum()
        }
        (Some(NetSlice::Ipv6(ip)), Some(TransportSlice::Tcp(tcp))) => {
            tcp.calc_checksum_ipv6(ip.header().source(), ip.header().destination()).unwrap() == tcp.checksum()
        }
        (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Udp(udp))) => {
            let full = udp.to_header().calc_checksum_ipv4(&ip.header().to_header(), udp.payload()).unwrap();
            udp.checksum() == full
        }
        (Some(NetSlice::Ipv6(ip)), Some(TransportSlice::Udp(udp))) => {
            let full = udp.to_header().calc_checksum_ipv6(&ip.header().to_header(), udp.payload()).unwrap();
            udp.checksum() == full
        }
        (Some(NetSlice::Ipv4(_)), Some(TransportSlice::Icmpv4(icmp))) => {
            icmp.icmp_type().calc_checksum(icmp.payload()) == icmp.checksum()
        }
        (Some(NetSlice::Ipv6(ip)), Some(TransportSlice::Icmpv6(icmp))) => {
            icmp.is_checksum_valid(ip.header().source(), ip.header().destination())
        }
        _ => false,
    };
    of_header && of_transport
}

fn any_address(v6: bool) -> impl Strategy<Value = IpAddr> {
    any::<u128>().prop_map(move |bits| {
        if v6 {
            std::net::Ipv6Addr::from_bits(bits).into()
        } else {
            std::net::Ipv4Addr::from_bits(bits as u32).into()
        }
    })
}

fn any_sort() -> impl Strategy<Value = Sort> {
    prop_oneof![Just(Sort::Tcp), Just(Sort::Udp), any::<bool>().prop_map(|asks| Sort::Echo { asks })]
}

/// Source, destination, and another address of the same family.
fn any_ends() -> impl Strategy<Value = [(IpAddr, u16); 3]> {
    any::<bool>().prop_flat_map(|v6| {
        let end = || (any_address(v6), any::<u16>());
        [end(), end(), end()]
    })
}

/// The two ends of a query: only who asks has an identifier.
fn with_identifier(sort: Sort, mut ends: [(IpAddr, u16); 3]) -> [(IpAddr, u16); 3] {
    match sort {
        Sort::Echo { asks: true } => ends[1].1 = 0,
        Sort::Echo { asks: false } => ends[0].1 = 0,
        Sort::Tcp | Sort::Udp => {}
    }
    ends
}

proptest! {
    #[test]
    fn edits_keep_checksums_right(
        sort in any_sort(), ends in any_ends(), source: bool, payload in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let [a, b, new] = with_identifier(sort, ends);
        let before = packet(sort, a, b, &payload);
        prop_assume!(checksums_are_right(&before));
        let mut edited = Packet::new(before.clone(), Link::Ethernet);
        let flow = *edited.flow().unwrap();
        prop_assert_eq!((flow.source(), flow.source_port()), a);
        prop_assert_eq!((flow.destination(), flow.destination_port()), b);
        let expected = if source {
            let port = if a.1 == 0 && sort == (Sort::Echo { asks: false }) { 0 } else { new.1 };
            prop_assert!(edited.set_source(new.0, new.1));
            flow.with_source(new.0, port)
        } else {
            let port = if sort == (Sort::Echo { asks: true }) { 0 } else { new.1 };
            prop_assert!(edited.set_destination(new.0, new.1));
            flow.with_destination(new.0, port)
        };
        prop_assert_eq!(edited.flow(), Some(&expected));
        prop_assert!(checksums_are_right(edited.bytes()), "{:?}", edited.bytes());
        prop_assert_eq!(edited.payload(), &payload[..]);
        // And back again: every byte is what it was.
        if source { edited.set_source(a.0, a.1) } else { edited.set_destination(b.0, b.1) };
        prop_assert_eq!(edited.bytes(), &before[..]);
    }

    #[test]
    fn hops_are_counted_down_to_zero(ends in any_ends()) {
        let mut edited = Packet::new(packet(Sort::Udp, ends[0], ends[1], b"x"), Link::Ethernet);
        for left in (0..64).rev() {
            prop_assert_eq!(edited.decrement_hops(), Some(left));
            prop_assert!(checksums_are_right(edited.bytes()));
        }
        let bytes = edited.bytes().to_vec();
        prop_assert_eq!(edited.decrement_hops(), None);
        prop_assert_eq!(edited.bytes(), &bytes[..]);
    }

    /// An error of ICMP quotes a packet, whole or cut: its own header and what it quotes are rewritten, and all checksums with it.
    #[test]
    fn errors_are_rewritten_with_what_they_quote(
        sort in any_sort(), ends in any_ends(), router in any_address(false), keep in 28usize..80,
        payload in prop::collection::vec(any::<u8>(), 0..40), outgoing: bool,
    ) {
        let [a, b, new] = with_identifier(sort, ends);
        prop_assume!(a.0.is_ipv4());
        let quoted = packet(sort, a, b, &payload)[14..].to_vec();
        let quoted = &quoted[..keep.min(quoted.len())];
        let IpAddr::V4(router) = router else { unreachable!() };
        let IpAddr::V4(to) = a.0 else { unreachable!() };
        let mut bytes = Vec::new();
        let error = etherparse::Icmpv4Type::DestinationUnreachable(etherparse::icmpv4::DestUnreachableHeader::Port);
        PacketBuilder::ethernet2(MAC, MAC).ipv4(router.octets(), to.octets(), 64).icmpv4(error).write(&mut bytes, quoted).unwrap();
        let mut edited = Packet::new(bytes.clone(), Link::Ethernet);
        prop_assert_eq!(edited.kind(), Kind::Error);
        let flow = *edited.flow().unwrap();
        // It goes back to who sent the quoted packet.
        prop_assert_eq!((flow.destination(), flow.destination_port(), flow.source()), (a.0, a.1, b.0));
        let quotes_destination = outgoing;
        if quotes_destination {
            edited.set_source(new.0, new.1);
        } else {
            edited.set_destination(new.0, new.1);
        }
        prop_assert!(checksums_are_right(edited.bytes()), "{:?}", edited.bytes());
        let inner = &edited.bytes()[14 + 20 + 8..];
        let header = Ipv4Header::from_slice(inner).unwrap().0;
        prop_assert_eq!(header.header_checksum, header.calc_header_checksum());
        let (outer, _) = Ipv4Header::from_slice(&edited.bytes()[14..]).unwrap();
        if quotes_destination {
            prop_assert_eq!((IpAddr::from(header.destination), IpAddr::from(outer.source)), (new.0, new.0));
        } else {
            prop_assert_eq!((IpAddr::from(header.source), IpAddr::from(outer.destination)), (new.0, new.0));
        }
        // What is quoted whole has the checksum that its sender gave it.
        if quoted.len() == 20 + 20 + payload.len() && sort == Sort::Tcp {
            let whole = [&bytes[..14], inner].concat();
            prop_assert!(checksums_are_right(&whole));
        }
    }

    /// Whatever the bytes are: a kind, edits within the packet, and no panic.
    #[test]
    fn any_bytes_are_a_packet(mut bytes in prop::collection::vec(any::<u8>(), 0..120), version: u8, ethernet: bool) {
        if let (true, Some(first)) = (version < 200, bytes.get_mut(if ethernet { 14 } else { 0 })) {
            *first = if version < 100 { 0x45 } else { 0x60 };
        }
        if ethernet && bytes.len() > 14 {
            bytes[12..14].copy_from_slice(if version < 100 { &[8, 0] } else { &[0x86, 0xdd] });
        }
        let link = if ethernet { Link::Ethernet } else { Link::Ip };
        let mut packet = Packet::new(bytes.clone(), link);
        prop_assert_eq!(packet.flow().is_some(), packet.kind() != Kind::NotIp);
        for address in [IpAddr::from([1, 2, 3, 4]), IpAddr::from([7u16; 8])] {
            packet.set_source(address, 5);
            packet.set_destination(address, 6);
        }
        packet.decrement_hops();
        prop_assert_eq!(packet.bytes().len(), bytes.len());
        let Some(ip) = packet.headers().ip else {
            prop_assert_eq!(packet.bytes(), &bytes[..]);
            return Ok(());
        };
        prop_assert_eq!(&packet.bytes()[..ip.offset], &bytes[..ip.offset]);
        prop_assert_eq!(&packet.bytes()[ip.end..], &bytes[ip.end..]);
        prop_assert!(ip.offset <= ip.payload && ip.payload <= ip.end && ip.end <= bytes.len());
    }

    /// What `etherparse`'s own reader of whole packets finds is where this one finds it.
    #[test]
    fn headers_lie_where_etherparse_finds_them(sort in any_sort(), ends in any_ends(), payload in prop::collection::vec(any::<u8>(), 0..40)) {
        let [a, b, _] = with_identifier(sort, ends);
        let bytes = packet(sort, a, b, &payload);
        let sliced = SlicedPacket::from_ethernet(&bytes).unwrap();
        let ours = Packet::new(bytes.clone(), Link::Ethernet);
        let ip = ours.headers().ip.unwrap();
        let rest = sliced.net.unwrap();
        let theirs = rest.ip_payload_ref().unwrap();
        prop_assert_eq!(theirs.payload, &bytes[ip.payload..ip.end]);
        prop_assert_eq!(theirs.ip_number, IpNumber(ip.protocol));
        prop_assert_eq!(ours.payload(), &payload[..]);
    }
}

#[test]
fn fragments_have_no_ports_but_the_first() {
    let whole = packet(Sort::Udp, ([10, 0, 0, 1].into(), 5), ([10, 0, 0, 2].into(), 6), &[0; 30]);
    let kind_of = |fragment: u16| {
        let mut bytes = whole.clone();
        bytes[20..22].copy_from_slice(&fragment.to_be_bytes());
        let packet = Packet::new(bytes, Link::Ethernet);
        (packet.kind(), packet.headers().ip.unwrap().fragment, packet.flow().unwrap().source_port())
    };
    assert_eq!(kind_of(0x4000), (Kind::Udp, Fragment::Whole, 5));
    assert_eq!(kind_of(0x2000), (Kind::Udp, Fragment::First, 5));
    assert_eq!(kind_of(0x2001), (Kind::Fragment, Fragment::Later, 0));
    assert_eq!(kind_of(0x0001), (Kind::Fragment, Fragment::Later, 0));
}

#[test]
fn extension_headers_are_passed_and_too_many_are_not() {
    let (a, b) = (
        "2001:db8::1".parse::<std::net::Ipv6Addr>().unwrap(),
        "2001:db8::2".parse::<std::net::Ipv6Addr>().unwrap(),
    );
    let udp = packet(Sort::Udp, (a.into(), 5), (b.into(), 6), b"hello")[54..].to_vec();
    let with_extensions = |count: usize| {
        let length = (8 * count + udp.len()) as u16;
        let next = if count > 0 { 60 } else { 17 };
        let header = Ipv6Header {
            payload_length: length,
            next_header: IpNumber(next),
            hop_limit: 9,
            source: a.octets(),
            destination: b.octets(),
            ..Ipv6Header::default()
        };
        let mut bytes = header.to_bytes().to_vec();
        for left in (0..count).rev() {
            bytes.extend([if left > 0 { 60 } else { 17 }, 0, 1, 4, 0, 0, 0, 0]);
        }
        bytes.extend(&udp);
        Packet::new(bytes, Link::Ip)
    };
    for count in 0..=headers::MAX_EXTENSIONS {
        assert_eq!(
            (with_extensions(count).kind(), with_extensions(count).payload()),
            (Kind::Udp, &b"hello"[..]),
            "{count}"
        );
    }
    let too_many = with_extensions(headers::MAX_EXTENSIONS + 1);
    assert_eq!((too_many.kind(), too_many.flow().unwrap().destination_port()), (Kind::Other, 0));
}
