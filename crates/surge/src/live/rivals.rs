//! The queues for WSJF that the find-first-set queue is compared with: comparison heaps, with one end and with two.
//!
//! Both order by the exact ratio of work to bits, and serve equal ratios in the order in which they came, as
//! [`WsjfExact`](crate::policy::WsjfExact) does. Only what an operation costs is different, and which end they have.
//! The thesis takes Fibonacci heaps, whose constant factors are larger: a binary heap is the stronger rival.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use min_max_heap::MinMaxHeap;
use trueplane_units::Nanos;

use crate::ratio::Ratio;
use crate::{Packet, Policy};

/// A packet in a heap: by ratio, and of equal ones the oldest first.
#[derive(Clone, Debug)]
struct Entry<T> {
    ratio: Ratio,
    /// Number of packets that arrived before this one.
    serial: u64,
    packet: Packet,
    item: T,
}

impl<T> Entry<T> {
    #[inline]
    fn new(packet: Packet, item: T, serial: u64) -> Self {
        Self { ratio: Ratio::new(packet.work, packet.bits.into()), serial, packet, item }
    }

    #[inline]
    fn into_parts(self) -> (Packet, T) {
        (self.packet, self.item)
    }
}

impl<T> Ord for Entry<T> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.ratio.cmp(&other.ratio).then(self.serial.cmp(&other.serial))
    }
}

impl<T> PartialOrd for Entry<T> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Entry<T> {}

/// WSJF over a bounded binary heap, the standard library's: it finds its minimum, and nothing else.
///
/// Cost: O(log packets) to arrive and to be served. **It cannot tell its worst packet** without looking at all of them
/// ([`Policy::drop_worst`] here is O(packets)), and so belongs into a buffer that drops the newcomer
/// ([`Overflow::DropNewcomer`](crate::Overflow::DropNewcomer)).
#[derive(Clone, Debug)]
pub struct Heap<T> {
    capacity: usize,
    arrived: u64,
    waiting: BinaryHeap<Reverse<Entry<T>>>,
}

impl<T> Heap<T> {
    /// Room for `capacity` packets, all of it allocated.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, arrived: 0, waiting: BinaryHeap::with_capacity(capacity) }
    }
}

impl<T> Policy<T> for Heap<T> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    #[inline]
    fn arrive(&mut self, packet: Packet, item: T, _now: Nanos) -> Result<(), T> {
        if self.waiting.len() == self.capacity {
            return Err(item);
        }
        self.waiting.push(Reverse(Entry::new(packet, item, self.arrived)));
        self.arrived += 1;
        Ok(())
    }

    #[inline]
    fn serve(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        self.waiting.pop().map(|Reverse(entry)| entry.into_parts())
    }

    /// Drops the newest packet of the largest ratio. Looks at every packet.
    fn drop_worst(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        let mut entries = std::mem::take(&mut self.waiting).into_vec();
        // Reversed, the worst is the least.
        let worst = entries.iter().enumerate().min_by(|(_, a), (_, b)| a.cmp(b)).map(|(place, _)| place);
        let worst = worst.map(|place| entries.swap_remove(place));
        self.waiting = entries.into();
        worst.map(|Reverse(entry)| entry.into_parts())
    }
}

/// WSJF over a min-max heap, of the crate `min-max-heap`: both ends, by comparison.
///
/// The worst packet is the one of the largest ratio, and of those the newest. Cost: O(log packets) for every operation.
/// Source: Atkinson, Sack, Santoro, Strothotte, *Min-Max Heaps and Generalized Priority Queues*, CACM 1986.
#[derive(Clone, Debug)]
pub struct TwoEnded<T> {
    capacity: usize,
    arrived: u64,
    waiting: MinMaxHeap<Entry<T>>,
}

impl<T> TwoEnded<T> {
    /// Room for `capacity` packets, all of it allocated.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, arrived: 0, waiting: MinMaxHeap::with_capacity(capacity) }
    }
}

impl<T> Policy<T> for TwoEnded<T> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    #[inline]
    fn arrive(&mut self, packet: Packet, item: T, _now: Nanos) -> Result<(), T> {
        if self.waiting.len() == self.capacity {
            return Err(item);
        }
        self.waiting.push(Entry::new(packet, item, self.arrived));
        self.arrived += 1;
        Ok(())
    }

    #[inline]
    fn serve(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        self.waiting.pop_min().map(Entry::into_parts)
    }

    #[inline]
    fn drop_worst(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        self.waiting.pop_max().map(Entry::into_parts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::WsjfExact;

    /// Packets with many equal ratios among them, the same every time.
    fn packets() -> Vec<Packet> {
        let mut state = 7u64;
        let mut draw = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            1 + (state >> 33) % most
        };
        (0..2_000).map(|_| Packet { flow: 0, bits: draw(8) as u32, work: Nanos(draw(12)) }).collect()
    }

    /// Actions of `policy` on these packets when every third step serves, and every seventh drops if `drops`.
    fn history<P: Policy<usize>>(mut policy: P, drops: bool) -> Vec<Option<usize>> {
        let mut seen = Vec::new();
        for (number, packet) in packets().into_iter().enumerate() {
            if let Err(refused) = policy.arrive(packet, number, Nanos(0)) {
                seen.push(Some(usize::MAX - refused));
            }
            if number % 3 == 0 {
                seen.push(policy.serve(Nanos(0)).map(|(_, item)| item));
            }
            if drops && number % 7 == 0 {
                // Which of the equal ones goes is each policy's own business, and what they differ in later.
                seen.push(policy.drop_worst(Nanos(0)).map(|(_, item)| item));
            }
        }
        seen.extend(std::iter::from_fn(|| policy.serve(Nanos(0))).map(|(_, item)| Some(item)));
        assert!(policy.is_empty() && policy.drop_worst(Nanos(0)).is_none());
        seen
    }

    #[test]
    fn both_serve_in_the_exact_order_and_refuse_what_has_no_room() {
        let exact = history(WsjfExact::new(300).unwrap(), false);
        assert_eq!(history(Heap::new(300), false), exact);
        assert_eq!(history(TwoEnded::new(300), false), exact);
        assert!(exact.iter().flatten().any(|&item| item > 2_000), "some were refused");
    }

    #[test]
    fn both_drop_the_same_worst() {
        assert_eq!(history(Heap::new(300), true), history(TwoEnded::new(300), true));
        let mut heap = Heap::new(3);
        for (work, name) in [(5, 'b'), (9, 'c'), (1, 'a')] {
            heap.arrive(Packet { flow: 0, bits: 1, work: Nanos(work) }, name, Nanos(0)).unwrap();
        }
        assert_eq!(heap.drop_worst(Nanos(0)).map(|(_, name)| name), Some('c'));
        assert_eq!(heap.serve(Nanos(0)).map(|(_, name)| name), Some('a'));
    }
}
