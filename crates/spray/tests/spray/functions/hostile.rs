//! Every function with packets that nobody should send: a verdict for each, and nothing written where no header is.

use trueplane_spray::nf::{FunctionName, FunctionOptions, Visit, with_function};
use trueplane_spray::packet::headers::{Headers, Ip, Link, Transport, Version};
use trueplane_spray::packet::tcp_flags::{ACK, RST, SYN};
use trueplane_spray::{FlowId, Kind, Limits, NetworkFunction, Packet};

use super::packets::{ICMP, ICMPV6, TCP, UDP, bytes, error_about, packet};
use super::team::{Team, forwarded};

/// Flows of both families that a function has something to do with.
fn flows(name: FunctionName, options: &FunctionOptions) -> Vec<FlowId> {
    let v6 = |protocol, to| {
        FlowId::new(protocol, ("2001:db8::1".parse().unwrap(), 5000), ("2001:db8::2".parse().unwrap(), to))
    };
    let mut flows: Vec<_> = [TCP, UDP].map(|protocol| options.example_flow(name, 3, protocol)).into();
    let echo = options.example_flow(name, 4, ICMP);
    flows.push(echo.with_destination(echo.destination(), 0));
    flows.extend([v6(TCP, 443), v6(UDP, 53), v6(ICMPV6, 0)]);
    // Protocols without ports: GRE, SCTP.
    flows.extend([47, 132].map(|protocol| options.example_flow(name, 5, protocol)));
    flows
}

/// Packets of these flows, and of their other directions, as they should be.
fn proper(flows: &[FlowId]) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for flow in flows {
        for flow in [*flow, flow.reversed()] {
            for flags in [SYN, ACK, RST] {
                all.push(bytes(&flow, flags, b"0123456789abc"));
            }
            let about = packet(&flow, ACK, b"0123456789abc");
            all.push(error_about(flow.destination(), &about, 100).into_bytes());
            all.push(error_about(flow.destination(), &about, 28).into_bytes());
        }
    }
    all.dedup();
    all
}

pub(crate) fn framed(ip: &[u8], tags: usize) -> Vec<u8> {
    let mut frame = vec![2; 12];
    (0..tags).for_each(|_| frame.extend([0x81, 0x00, 0, 7]));
    frame.extend(if ip.first().is_some_and(|byte| byte >> 4 == 6) { [0x86, 0xdd] } else { [0x08, 0x00] });
    frame.extend(ip);
    frame
}

/// An IPv6 packet with this chain of extension headers, each eight bytes, before what it carries.
pub(crate) fn extended(ip: &[u8], chain: &[u8], fragment: [u8; 2]) -> Vec<u8> {
    let mut bytes = ip[..40].to_vec();
    let last = bytes[6];
    let length = (ip.len() - 40 + 8 * chain.len()) as u16;
    bytes[4..6].copy_from_slice(&length.to_be_bytes());
    let kinds: Vec<u8> = chain.iter().copied().chain([last]).collect();
    bytes[6] = kinds[0];
    for pair in kinds.windows(2) {
        // Of the authentication header, a length of zero is eight bytes as well.
        let second = if pair[0] == 44 { fragment } else { [0, 0] };
        bytes.extend([pair[1], 0, second[0], second[1], 0, 0, 0, 1]);
    }
    bytes.extend(&ip[40..]);
    bytes
}

/// What can be wrong with a packet.
fn hostile(ip: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = (0..=ip.len()).map(|length| ip[..length].to_vec()).collect();
    for at in 0..ip.len() {
        for byte in [0, 0xff, ip[at] ^ 0x80, ip[at] ^ 0x01, ip[at].wrapping_add(1)] {
            let mut bytes = ip.to_vec();
            bytes[at] = byte;
            all.push(bytes);
        }
    }
    match ip[0] >> 4 {
        4 => {
            for (flags, offset) in [(0x20, 0), (0x20, 3), (0, 9), (0x1f, 0xff), (0xe0, 0)] {
                let mut bytes = ip.to_vec();
                (bytes[6], bytes[7]) = (flags, offset);
                all.push(bytes);
            }
            // Options, as long as they can be.
            let mut bytes = ip.to_vec();
            bytes[0] = 0x4f;
            bytes.splice(20..20, [1; 40]);
            let length = (bytes.len() as u16).to_be_bytes();
            bytes[2..4].copy_from_slice(&length);
            all.push(bytes);
        }
        _ => {
            for kind in [0, 43, 44, 51, 60, 59, 135] {
                for count in [1, 2, 7, 8, 9, 20] {
                    all.push(extended(ip, &vec![kind; count], [0, 0]));
                }
            }
            for fragment in [[0, 1], [0, 8], [0xff, 0xf9], [0, 0]] {
                all.push(extended(ip, &[0, 44], fragment));
                all.push(extended(ip, &[44, 60, 44], fragment));
            }
        }
    }
    all
}

/// Where a function may write: hops, addresses and checksums of IP, and the transport header.
fn may_change(headers: &Headers, at: usize) -> bool {
    let Some(Ip { offset, version, payload, .. }) = headers.ip else { return false };
    let own = match version {
        Version::V4 => (offset + 8..offset + 9).contains(&at) || (offset + 10..offset + 20).contains(&at),
        Version::V6 => (offset + 7..offset + 40).contains(&at),
    };
    let transport = match headers.transport {
        Transport::None => 0,
        Transport::Tcp { .. } => 20,
        Transport::Udp | Transport::Icmp => 8,
    };
    own || (payload..payload + transport).contains(&at)
}

fn is_in_order(before: &Packet, after: &Packet) {
    assert_eq!(before.bytes().len(), after.bytes().len());
    let headers = before.headers();
    let quoted = match (before.kind(), headers.ip) {
        (Kind::Error, Some(ip)) => Headers::quoted(&before.bytes()[..ip.end], ip.payload + 8),
        _ => Headers::default(),
    };
    for (at, (old, new)) in before.bytes().iter().zip(after.bytes()).enumerate() {
        let may_change = forwarded(after) && (may_change(headers, at) || may_change(&quoted, at));
        assert!(old == new || may_change, "byte {at} of {before:?} {after:?}");
    }
    // What the packet says of itself is what its bytes say.
    let parsed = Headers::parse(after.bytes(), after.link());
    assert_eq!(parsed, *after.headers());
    assert_eq!(parsed.identify(after.bytes()), (after.kind(), after.flow().copied()));
}

struct Attack<'a> {
    proper: &'a [Vec<u8>],
}

impl Visit for Attack<'_> {
    type Output = (u64, u64);

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> (u64, u64) {
        let mut team = Team::new(&function, 3, Limits::new(2048), 17);
        let mut sent = 0;
        // First what opens flows, so that what follows finds some.
        for bytes in self.proper {
            let packet = Packet::new(bytes.clone(), Link::Ip);
            is_in_order(&packet, &team.pass_anywhere(packet.clone()));
            sent += 1;
        }
        for ip in self.proper {
            for bytes in hostile(ip) {
                let tagged = team.below(4);
                for packet in
                    [Packet::new(framed(&bytes, tagged), Link::Ethernet), Packet::new(bytes, Link::Ip)]
                {
                    is_in_order(&packet, &team.pass_anywhere(packet.clone()));
                    sent += 1;
                }
            }
        }
        let counts = team.counts();
        assert_eq!((counts.arrived, counts.done()), (sent, sent));
        (counts.forwarded, counts.dropped.iter().sum())
    }
}

#[test]
fn every_packet_has_a_verdict() {
    let options = FunctionOptions::default();
    for &name in FunctionName::ALL {
        let proper = proper(&flows(name, &options));
        let (forwarded, dropped) = with_function(name, &options, Attack { proper: &proper }).unwrap();
        let watches = matches!(name, FunctionName::Monitor | FunctionName::Redundancy);
        assert!(forwarded > 0 && (dropped > 0) != watches, "{name}: {forwarded} {dropped}");
    }
}
