//! A packet of any bytes, and what may be done to it.

use std::net::IpAddr;

use trueplane_spray::packet::Kind;
use trueplane_spray::packet::headers::Link;
use trueplane_spray::{Packet, dispatch};

/// Reads a packet and edits it in every way. The first byte says what is around it, the next sixteen are the address that is written.
///
/// # Panics
///
/// If an edit writes outside the IP packet, changes its length, or is not undone by the opposite edit.
pub fn edit(input: &[u8]) {
    let Some((head, bytes)) = input.split_at_checked(17) else { return };
    let link = if head[0] & 1 == 0 { Link::Ethernet } else { Link::Ip };
    let mut packet = Packet::new(bytes.to_vec(), link);
    let arrival = dispatch::Arrival::of(&packet);
    assert!(arrival.bucket() < 128);
    let Some(flow) = packet.flow().copied() else {
        assert_eq!(packet.kind(), Kind::NotIp);
        assert!(!packet.set_source([1, 2, 3, 4].into(), 5) && packet.decrement_hops().is_none());
        assert_eq!(packet.bytes(), bytes);
        return;
    };
    let ip = packet.headers().ip.expect("what has a flow is IP");
    let address: IpAddr = if flow.is_v6() {
        <[u8; 16]>::try_from(&head[1..]).expect("sixteen bytes").into()
    } else {
        <[u8; 4]>::try_from(&head[1..5]).expect("four bytes").into()
    };
    assert!(packet.set_source(address, 7), "the family is the packet's");
    assert!(packet.set_destination(address, 8));
    let _ = (packet.decrement_hops(), packet.payload().len(), packet.tcp_checksum());
    assert_eq!(packet.bytes().len(), bytes.len());
    assert_eq!(&packet.bytes()[..ip.offset], &bytes[..ip.offset]);
    assert_eq!(&packet.bytes()[ip.end..], &bytes[ip.end..]);
    // What it is does not change, but for what an error quotes, which may have been its own address.
    let again = Packet::new(packet.bytes().to_vec(), link);
    assert_eq!(
        (again.kind(), again.flow(), again.headers()),
        (packet.kind(), packet.flow(), packet.headers())
    );
}
