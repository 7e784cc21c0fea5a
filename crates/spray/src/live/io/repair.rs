//! What the kernel leaves undone in a packet.

use crate::packet::headers::{Fragment, Headers, Link, Transport, Version, protocol};
use crate::{Kind, Packet};

/// Bytes of both Ethernet addresses, behind which tags stand.
const ADDRESSES: usize = 12;

/// Writes a frame into `to`, with the tag that the kernel took off.
pub(crate) fn with_tag(to: &mut Vec<u8>, frame: &[u8], tag: Option<(u16, u16)>) {
    to.clear();
    match tag {
        Some((kind, tag)) if frame.len() >= ADDRESSES => {
            to.extend_from_slice(&frame[..ADDRESSES]);
            to.extend_from_slice(&kind.to_be_bytes());
            to.extend_from_slice(&tag.to_be_bytes());
            to.extend_from_slice(&frame[ADDRESSES..]);
        }
        _ => to.extend_from_slice(frame),
    }
}

/// Completes a transport's checksum that covers the pseudo header only; returns whether there was one.
///
/// Who sends through an interface that claims to compute checksums writes the sum of the pseudo header, not complemented, in their place (the
/// kernel's `CHECKSUM_PARTIAL`); between namespaces, nothing ever completes it. O(length).
pub(crate) fn complete(frame: &mut [u8]) -> bool {
    let headers = Headers::parse(frame, Link::Ethernet);
    let Some(ip) = headers.ip.filter(|ip| ip.fragment == Fragment::Whole) else { return false };
    let field = match headers.transport {
        Transport::Tcp { .. } => 16,
        Transport::Udp => 6,
        Transport::Icmp | Transport::None => return false,
    };
    let segment = &mut frame[ip.payload..ip.end];
    let sum = !sum(segment);
    // Zero says that there is none.
    let sum = if sum == 0 && headers.transport == Transport::Udp { 0xffff } else { sum };
    segment[field..field + 2].copy_from_slice(&sum.to_be_bytes());
    true
}

/// Whether a transport's checksum covers the pseudo header only, where nobody says so: whether it is that sum.
///
/// One right checksum in 65536 is that by chance; completed, it is the same again. O(1).
pub(crate) fn is_partial(frame: &[u8]) -> bool {
    let headers = Headers::parse(frame, Link::Ethernet);
    let Some(ip) = headers.ip.filter(|ip| ip.fragment == Fragment::Whole) else { return false };
    let (field, number) = match headers.transport {
        Transport::Tcp { .. } => (16, protocol::TCP),
        Transport::Udp => (6, protocol::UDP),
        Transport::Icmp | Transport::None => return false,
    };
    let addresses = match ip.version {
        Version::V4 => ip.offset + 12..ip.offset + 20,
        Version::V6 => ip.offset + 8..ip.offset + 40,
    };
    let length = (ip.end - ip.payload) as u64;
    let pseudo =
        fold(u64::from(sum(&frame[addresses])) + u64::from(number) + (length >> 16) + (length & 0xffff));
    frame[ip.payload + field..ip.payload + field + 2] == pseudo.to_be_bytes()
}

/// The sum of words of 16 bits, folded.
fn sum(bytes: &[u8]) -> u16 {
    let mut pairs = bytes.chunks_exact(2);
    let mut sum: u64 = pairs.by_ref().map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    sum += pairs.remainder().first().map_or(0, |&last| u64::from(last) << 8);
    fold(sum)
}

fn fold(mut sum: u64) -> u16 {
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Whether a packet is between neighbours, and no network function's business: what is not IP, such as ARP, and the discovery of neighbours and
/// routers (RFC 4861), which no router forwards.
pub(crate) fn is_link_control(packet: &Packet) -> bool {
    let Some(ip) = packet.headers().ip else { return packet.kind() == Kind::NotIp };
    let at = |offset: usize| packet.bytes().get(offset).copied().unwrap_or(0);
    ip.version == Version::V6
        && ip.protocol == protocol::ICMPV6
        && ip.fragment == Fragment::Whole
        && at(ip.offset + 7) == 255
        && (133..=137).contains(&at(ip.payload))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A UDP packet from 10.0.0.1:1 to 10.0.0.2:2 with this payload and checksum.
    fn udp(payload: &[u8], checksum: u16) -> Vec<u8> {
        let mut frame = [&[2; 12][..], &[8, 0, 0x45, 0]].concat();
        frame.extend((28 + payload.len() as u16).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, 1, 0, 2]);
        frame.extend((8 + payload.len() as u16).to_be_bytes());
        frame.extend(checksum.to_be_bytes());
        frame.extend(payload);
        frame
    }

    fn pseudo_header(length: u16) -> Vec<u8> {
        [&[10, 0, 0, 1, 10, 0, 0, 2, 0, 17][..], &length.to_be_bytes()].concat()
    }

    #[test]
    fn a_completed_checksum_is_right() {
        for payload in [&[][..], &[1], &[0xff, 0xfe, 3], &[0; 40]] {
            let pseudo = pseudo_header(8 + payload.len() as u16);
            let mut frame = udp(payload, sum(&pseudo));
            assert!(is_partial(&frame));
            // What lies behind the packet is not covered.
            frame.extend([9, 9, 9]);
            assert!(complete(&mut frame));
            assert!(!is_partial(&frame));
            let segment = &frame[34..42 + payload.len()];
            let padded = [segment, &[0][..segment.len() % 2]].concat();
            assert_eq!(sum(&[pseudo, padded].concat()), 0xffff);
        }
        assert!(!complete(&mut [0; 20]) && !is_partial(&[0; 20]));
    }

    #[test]
    fn tags_are_put_back() {
        let (frame, mut tagged) = (udp(&[7], 0), Vec::new());
        with_tag(&mut tagged, &frame, Some((0x88a8, 0x1234)));
        assert_eq!(tagged[..18], [&frame[..12], &[0x88, 0xa8, 0x12, 0x34], &frame[12..14]].concat());
        assert_eq!(tagged[18..], frame[14..]);
        with_tag(&mut tagged, &frame, None);
        assert_eq!(tagged, frame);
    }

    #[test]
    fn neighbours_talk_past_the_function() {
        let of = |frame: Vec<u8>| is_link_control(&Packet::new(frame, Link::Ethernet));
        let arp = [&[0xff; 12][..], &[8, 6], &[0; 28]].concat();
        assert!(of(arp));
        assert!(!of(udp(&[], 0)));
        let icmp = |hops: u8, kind: u8| {
            let ip = [&[0x60, 0, 0, 0, 0, 8, 58, hops][..], &[0xfd; 32]].concat();
            [&[2; 12][..], &[0x86, 0xdd], &ip, &[kind, 0, 0, 0, 0, 0, 0, 0]].concat()
        };
        assert!(of(icmp(255, 135)));
        assert!(!of(icmp(64, 135)), "from afar");
        assert!(!of(icmp(255, 128)), "an echo");
    }
}
