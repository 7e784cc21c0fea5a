//! What packets are to the threads: the upper two bits of their marks. The other 62 are the source's.

use trueplane_units::Nanos;

use trueplane_spray::Packet;
use trueplane_spray::packet::headers::Link;

/// A copy for a replica's state, whose verdict nobody wants.
const HISTORY: u64 = 1 << 63;

/// No packet: the end of a group of packets, and the time at which it is to be handled.
const TIME: u64 = 1 << 62;

/// Marks of sources are below this.
pub(crate) const LIMIT: u64 = TIME;

/// Makes `copy` one of `packet` for another core.
pub(crate) fn make_history(copy: &mut Packet, packet: &Packet) {
    copy.refill(packet.link(), |bytes| {
        bytes.clear();
        bytes.extend_from_slice(packet.bytes());
    });
    copy.set_input(packet.input());
    copy.set_tag(HISTORY);
}

/// Makes it the end of a group that is handled at `now`.
pub(crate) fn make_time(packet: &mut Packet, now: Nanos) {
    packet.refill(Link::Ip, Vec::clear);
    packet.set_tag(TIME | (now.0 % TIME));
}

/// Whether it is a copy.
pub(crate) fn is_history(packet: &Packet) -> bool {
    packet.tag() & HISTORY != 0
}

/// The time, if it ends a group.
pub(crate) fn time(packet: &Packet) -> Option<Nanos> {
    let tag = packet.tag();
    (tag & (HISTORY | TIME) == TIME).then_some(Nanos(tag & !TIME))
}

/// Whether it is the source's.
pub(crate) fn is_own(packet: &Packet) -> bool {
    packet.tag() < LIMIT
}
