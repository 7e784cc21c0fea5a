//! FIFOs in strict priority: the priority queue that switches have.
//!
//! Every priority has a FIFO of its own memory; the first that is not empty is served. A full FIFO refuses what comes, however empty
//! the others are (tail drop).

use crate::occupancy::OccupancyTree;
use crate::{BadShape, MOST_ITEMS, PriorityQueue, Refused};

/// More FIFOs than these cannot be asked for; switches have 8 to 128 a port.
pub const MOST_QUEUES: u64 = OccupancyTree::<2>::WIDEST;

/// FIFOs of one length, the first of which goes first.
///
/// Every operation is O(1) in the worst case. Memory: one `Option<T>` for every place.
#[derive(Clone, Debug)]
pub struct FifoBank<T> {
    depth: usize,
    /// The ring of the first FIFO, then those of the others.
    slots: Box<[Option<T>]>,
    /// Index of the head of each FIFO in its ring.
    heads: Box<[u32]>,
    /// Length of each FIFO.
    lengths: OccupancyTree<2>,
}

impl<T> FifoBank<T> {
    /// `queues` FIFOs for `depth` items each.
    ///
    /// # Errors
    ///
    /// If either is 0, there are more than [`MOST_QUEUES`], or they hold more than [`MOST_ITEMS`] together.
    pub fn new(queues: usize, depth: usize) -> Result<Self, BadShape> {
        BadShape::check("a number of queues", queues as u64, 1..=MOST_QUEUES)?;
        BadShape::check("a depth", depth as u64, 1..=MOST_ITEMS / queues as u64)?;
        Ok(Self {
            depth,
            slots: std::iter::repeat_with(|| None).take(queues * depth).collect(),
            heads: vec![0; queues].into(),
            lengths: OccupancyTree::new(queues as u64)?,
        })
    }

    /// The number of FIFOs.
    pub fn queues(&self) -> usize {
        self.heads.len()
    }

    /// Number of items that each of the FIFOs can hold.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Number of items in the FIFO `queue`.
    #[inline]
    pub fn len_of(&self, queue: usize) -> usize {
        self.lengths.count(queue as u64)
    }

    /// Whether the FIFO `queue` takes in one more item.
    #[inline]
    pub fn has_room(&self, queue: usize) -> bool {
        self.len_of(queue) < self.depth()
    }

    /// Adds `item` to the end of the FIFO `queue`; it comes back if that is full, or does not exist.
    ///
    /// # Errors
    ///
    /// As [`PriorityQueue::insert`].
    #[inline]
    pub fn push(&mut self, queue: usize, item: T) -> Result<(), Refused<T>> {
        if queue >= self.queues() {
            return Err(Refused::OutOfSpan(item));
        }
        let len = self.len_of(queue);
        if len >= self.depth {
            return Err(Refused::Full(item));
        }
        let place = self.place(queue, len);
        self.slots[place] = Some(item);
        self.lengths.add(queue as u64);
        Ok(())
    }

    /// Takes out the first item of the FIFO `queue`.
    #[inline]
    pub fn pop(&mut self, queue: usize) -> Option<T> {
        if !self.lengths.remove(queue as u64) {
            return None;
        }
        let item = self.slots[self.place(queue, 0)].take();
        let next = self.heads[queue] + 1;
        self.heads[queue] = if next as usize == self.depth { 0 } else { next };
        item
    }

    /// The first item of the FIFO `queue`.
    pub fn front(&self, queue: usize) -> Option<&T> {
        if self.len_of(queue) == 0 { None } else { self.slots[self.place(queue, 0)].as_ref() }
    }

    /// The first FIFO that is not empty.
    #[inline]
    pub fn first_queue(&self) -> Option<usize> {
        self.lengths.min().map(|queue| queue as usize)
    }

    /// All items, each with its FIFO as a priority, in the order of [`Self::extract_min`]: O(queues + items).
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        (0..self.queues()).flat_map(move |queue| {
            let places = (0..self.len_of(queue)).map(move |offset| self.place(queue, offset));
            places.filter_map(move |place| Some((queue as u64, self.slots[place].as_ref()?)))
        })
    }

    /// Index in `slots` of the item that is `offset` < depth places behind the head of `queue`.
    #[inline]
    fn place(&self, queue: usize, offset: usize) -> usize {
        let in_ring = self.heads[queue] as usize + offset;
        queue * self.depth + if in_ring >= self.depth { in_ring - self.depth } else { in_ring }
    }
}

crate::methods::one_end!([T] FifoBank<T>);

impl<T> PriorityQueue<T> for FifoBank<T> {
    /// Number of items that all FIFOs together can hold.
    fn capacity(&self) -> usize {
        self.slots.len()
    }

    fn len(&self) -> usize {
        self.lengths.len()
    }

    /// The priority is the FIFO. Full is what that FIFO is, not the bank.
    fn insert(&mut self, priority: u64, item: T) -> Result<Option<(u64, T)>, Refused<T>> {
        self.push(usize::try_from(priority).unwrap_or(usize::MAX), item).map(|()| None)
    }

    fn peek_min(&self) -> Option<(u64, &T)> {
        let queue = self.first_queue()?;
        Some((queue as u64, self.front(queue)?))
    }

    fn extract_min(&mut self) -> Option<(u64, T)> {
        let queue = self.first_queue()?;
        Some((queue as u64, self.pop(queue)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fifo_is_a_ring_of_its_own() {
        let mut bank = FifoBank::new(3, 2).unwrap();
        for round in 0..5 {
            assert_eq!(bank.push(2, round * 10), Ok(()));
            assert_eq!(bank.push(2, round * 10 + 1), Ok(()));
            assert_eq!(bank.push(2, 99), Err(Refused::Full(99)));
            assert_eq!(bank.push(1, 7), Ok(()));
            assert_eq!(bank.push(3, 7), Err(Refused::OutOfSpan(7)));
            assert_eq!([0, 1, 2].map(|queue| bank.len_of(queue)), [0, 1, 2]);
            assert_eq!(bank.extract_min(), Some((1, 7)));
            assert_eq!(bank.peek_min(), Some((2, &(round * 10))));
            assert_eq!(
                [bank.pop(2), bank.pop(2), bank.pop(2)],
                [Some(round * 10), Some(round * 10 + 1), None]
            );
        }
        assert!(FifoBank::<u8>::new(0, 1).is_err() && FifoBank::<u8>::new(1, 0).is_err());
        assert!(FifoBank::<u8>::new(4097, 1).is_err() && FifoBank::<u8>::new(4096, usize::MAX).is_err());
    }
}
