//! The queues for WSJF that the find-first-set queue is compared with: heaps by comparison, with one end and with two.
//!
//! The thesis takes Fibonacci heaps, whose constant factors are larger: a binary heap is the stronger rival.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use min_max_heap::MinMaxHeap;
use trueplane_surge::ratio::Ratio;
use trueplane_surge::{Packet, Policy};
use trueplane_units::Nanos;

/// WSJF over a heap: exact ratios of work to bits, and equal ones in the order in which they came.
#[derive(Clone, Debug)]
pub(super) struct Compared<H> {
    capacity: usize,
    arrived: u64,
    heap: H,
}

/// WSJF over the standard library's binary heap, which cannot tell its worst packet: for buffers that drop the newcomer.
pub(super) type OneEnded<T> = Compared<BinaryHeap<Reverse<Entry<T>>>>;

/// WSJF over a min-max heap. The worst packet is the newest of the largest ratio.
///
/// Source: Atkinson, Sack, Santoro, Strothotte, *Min-Max Heaps and Generalized Priority Queues*, CACM 1986.
pub(super) type TwoEnded<T> = Compared<MinMaxHeap<Entry<T>>>;

/// A packet in a heap: by ratio, and of equal ones the oldest first.
#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    ratio: Ratio,
    /// Number of packets that arrived before this one.
    serial: u64,
    packet: Packet,
    item: T,
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

/// A heap of entries.
pub(super) trait Heap<T> {
    /// An empty heap with memory for so many entries.
    fn with_room(capacity: usize) -> Self;
    /// Number of entries.
    fn len(&self) -> usize;
    /// Adds an entry.
    fn push(&mut self, entry: Entry<T>);
    /// Takes out the least entry.
    fn pop_min(&mut self) -> Option<Entry<T>>;
    /// Takes out the greatest entry, if the heap can find it.
    fn pop_max(&mut self) -> Option<Entry<T>>;
}

impl<T> Heap<T> for BinaryHeap<Reverse<Entry<T>>> {
    fn with_room(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn push(&mut self, entry: Entry<T>) {
        self.push(Reverse(entry));
    }

    fn pop_min(&mut self) -> Option<Entry<T>> {
        self.pop().map(|Reverse(entry)| entry)
    }

    fn pop_max(&mut self) -> Option<Entry<T>> {
        None
    }
}

impl<T> Heap<T> for MinMaxHeap<Entry<T>> {
    fn with_room(capacity: usize) -> Self {
        Self::with_capacity(capacity)
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn push(&mut self, entry: Entry<T>) {
        self.push(entry);
    }

    fn pop_min(&mut self) -> Option<Entry<T>> {
        self.pop_min()
    }

    fn pop_max(&mut self) -> Option<Entry<T>> {
        self.pop_max()
    }
}

impl<H> Compared<H> {
    /// Room for `capacity` packets, all of it allocated.
    pub(super) fn new<T>(capacity: usize) -> Self
    where
        H: Heap<T>,
    {
        Self { capacity, arrived: 0, heap: H::with_room(capacity) }
    }
}

impl<T, H: Heap<T>> Policy<T> for Compared<H> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn len(&self) -> usize {
        self.heap.len()
    }

    #[inline]
    fn arrive(&mut self, packet: Packet, item: T, _now: Nanos) -> Result<(), T> {
        if self.heap.len() == self.capacity {
            return Err(item);
        }
        let ratio = Ratio::new(packet.work, packet.bits.into());
        self.heap.push(Entry { ratio, serial: self.arrived, packet, item });
        self.arrived += 1;
        Ok(())
    }

    #[inline]
    fn serve(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        self.heap.pop_min().map(|entry| (entry.packet, entry.item))
    }

    #[inline]
    fn drop_worst(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        self.heap.pop_max().map(|entry| (entry.packet, entry.item))
    }
}
