//! Where threads meet: bounded rings of packets with one thread at each end.
//!
//! A packet passes as a pointer. Batches pass at once, so that both ends look at each other's index once a batch (`rtrb`, after the ring of
//! Lamport, 1977, with cached indices).

use std::collections::VecDeque;

use rtrb::{Consumer, Producer, RingBuffer};

use crate::Packet;

/// A ring with room for so many packets, one at least.
pub fn ring(room: usize) -> (Giver, Taker) {
    let (producer, consumer) = RingBuffer::new(room.max(1));
    (Giver(producer), Taker(consumer))
}

/// The end where packets are put in.
#[derive(Debug)]
pub struct Giver(Producer<Packet>);

impl Giver {
    /// Takes packets from the front as far as there is room, and leaves the others; returns how many it took.
    pub fn give(&mut self, packets: &mut VecDeque<Packet>) -> usize {
        if packets.is_empty() {
            return 0;
        }
        let count = self.0.slots().min(packets.len());
        match self.0.write_chunk_uninit(count) {
            Ok(chunk) => chunk.fill_from_iter(packets.drain(..count)),
            Err(_) => 0,
        }
    }

    /// Number of packets for which the ring has room.
    pub fn room(&self) -> usize {
        self.0.slots()
    }

    /// Number of packets in the ring.
    pub fn queued(&self) -> usize {
        self.0.buffer().capacity() - self.0.slots()
    }
}

/// The end where they are taken out.
#[derive(Debug)]
pub struct Taker(Consumer<Packet>);

impl Taker {
    /// Whether there is nothing to take.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds at most so many to `packets`; returns how many.
    pub fn take(&mut self, most: usize, packets: &mut Vec<Packet>) -> usize {
        let count = self.0.slots().min(most);
        if count == 0 {
            return 0;
        }
        match self.0.read_chunk(count) {
            Ok(chunk) => {
                packets.extend(chunk);
                count
            }
            Err(_) => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::headers::Link;

    fn packet(tag: u64) -> Packet {
        let mut packet = Packet::new(Vec::new(), Link::Ip);
        packet.set_tag(tag);
        packet
    }

    #[test]
    fn a_full_ring_takes_no_more_than_it_has_room_for() {
        let (mut giver, mut taker) = ring(4);
        let mut waiting: VecDeque<Packet> = (0..6).map(packet).collect();
        assert_eq!((giver.give(&mut waiting), waiting.len()), (4, 2));
        assert_eq!((giver.room(), giver.queued(), giver.give(&mut waiting)), (0, 4, 0));
        let mut taken = Vec::new();
        assert_eq!((taker.take(3, &mut taken), giver.give(&mut waiting)), (3, 2));
        assert_eq!((taker.take(9, &mut taken), taker.take(9, &mut taken)), (3, 0));
        assert!(taken.iter().map(Packet::tag).eq(0..6));
    }

    #[test]
    fn nothing_is_lost_or_overtaken_between_threads() {
        let count = 100_000;
        let (mut giver, mut taker) = ring(7);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let mut waiting = VecDeque::new();
                let mut tags = 0..count;
                while !(waiting.is_empty() && tags.is_empty()) {
                    waiting.extend(tags.by_ref().take(5).map(packet));
                    if giver.give(&mut waiting) == 0 {
                        std::thread::yield_now();
                    }
                }
            });
            let (mut taken, mut next) = (Vec::new(), 0);
            while next < count {
                if taker.take(3, &mut taken) == 0 {
                    std::thread::yield_now();
                }
                for packet in taken.drain(..) {
                    assert_eq!(packet.tag(), next);
                    next += 1;
                }
            }
            assert_eq!(taker.take(1, &mut taken), 0);
        });
    }
}
