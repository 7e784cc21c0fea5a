//! Packets that wait because an earlier one may still come.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use trueplane_units::Nanos;

use crate::packet::Link;

/// A packet of a capture with its bytes.
pub(super) struct HeldPacket {
    pub(super) time: Nanos,
    pub(super) length: u32,
    pub(super) link: Link,
    pub(super) data: Vec<u8>,
    /// Its place in the capture, which decides between packets of one time.
    number: u64,
}

/// Packets by their times.
#[derive(Default)]
pub(super) struct Held {
    packets: BinaryHeap<Reverse<HeldPacket>>,
    /// The memory of packets that have left.
    spare: Vec<Vec<u8>>,
    added: u64,
}

impl Held {
    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Adds a packet.
    pub(super) fn add(&mut self, time: Nanos, length: u32, link: Link, bytes: &[u8]) {
        let mut data = self.spare.pop().unwrap_or_default();
        data.extend_from_slice(bytes);
        self.packets.push(Reverse(HeldPacket { time, length, link, data, number: self.added }));
        self.added += 1;
    }

    /// Takes the first packet, if it is not later than `settled`.
    pub(super) fn take(&mut self, settled: Nanos) -> Option<HeldPacket> {
        let Reverse(first) = self.packets.peek()?;
        if first.time > settled {
            return None;
        }
        self.packets.pop().map(|Reverse(packet)| packet)
    }

    /// Takes the memory of a packet back.
    pub(super) fn recycle(&mut self, packet: HeldPacket) {
        // A long one would keep its memory for short ones.
        if packet.data.capacity() <= 1 << 11 {
            let mut data = packet.data;
            data.clear();
            self.spare.push(data);
        }
    }
}

impl Ord for HeldPacket {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time, self.number).cmp(&(other.time, other.number))
    }
}

impl PartialOrd for HeldPacket {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for HeldPacket {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for HeldPacket {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_by_time_and_those_of_one_time_in_their_order() {
        let mut held = Held::default();
        for (time, data) in [(3, b"a"), (1, b"b"), (3, b"c"), (2, b"d"), (1, b"e")] {
            held.add(Nanos(time), 1, Link::Raw, data);
        }
        let mut left = |settled: u64| {
            let mut left = Vec::new();
            while let Some(packet) = held.take(Nanos(settled)) {
                left.extend_from_slice(&packet.data);
                held.recycle(packet);
            }
            String::from_utf8(left).unwrap()
        };
        assert_eq!([left(0), left(1), left(2), left(3)], ["", "be", "d", "ac"]);
        assert!(held.is_empty());
    }
}
