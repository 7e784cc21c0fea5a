//! What packets are to the threads: the upper two bits of their marks. The other 62 are the source's.

use trueplane_units::Nanos;

use crate::Packet;
use crate::packet::headers::Link;

/// A copy for a replica's state, whose verdict nobody wants.
const HISTORY: u64 = 1 << 63;

/// No packet: the end of a group of packets, and the time at which it is to be handled.
const TIME: u64 = 1 << 62;

/// Marks of sources are below this.
pub(super) const LIMIT: u64 = TIME;

/// Makes `copy` one of `packet` for another core.
pub(super) fn make_history(copy: &mut Packet, packet: &Packet) {
    copy.refill(packet.link(), |bytes| {
        bytes.clear();
        bytes.extend_from_slice(packet.bytes());
    });
    copy.set_input(packet.input());
    copy.set_tag(HISTORY);
}

/// Makes it the end of a group that is handled at `now`.
pub(super) fn make_time(packet: &mut Packet, now: Nanos) {
    packet.refill(Link::Ip, Vec::clear);
    packet.set_tag(TIME | (now.0 % TIME));
}

/// Whether it is a copy.
pub(super) fn is_history(packet: &Packet) -> bool {
    packet.tag() & HISTORY != 0
}

/// The time, if it ends a group.
pub(super) fn time(packet: &Packet) -> Option<Nanos> {
    let tag = packet.tag();
    (tag & (HISTORY | TIME) == TIME).then_some(Nanos(tag & !TIME))
}

/// Whether it is the source's.
pub(super) fn is_own(packet: &Packet) -> bool {
    packet.tag() < LIMIT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_apart() {
        let new = || Packet::new(vec![1, 2, 3], Link::Ip);
        let (mut own, mut copy, mut end) = (new(), new(), new());
        own.set_tag(LIMIT - 1);
        own.set_input(1);
        make_history(&mut copy, &own);
        make_time(&mut end, Nanos(77));
        assert_eq!([&own, &copy, &end].map(is_own), [true, false, false]);
        assert_eq!([&own, &copy, &end].map(is_history), [false, true, false]);
        assert_eq!([&own, &copy, &end].map(time), [None, None, Some(Nanos(77))]);
        assert_eq!((copy.bytes(), copy.input(), end.bytes()), (own.bytes(), 1, &[][..]));
    }
}
