//! Independent queues over one memory.

use crate::slab::{Buckets, Handle};
use crate::{BadShape, OccupancyTree, Refused};

/// As many queues as asked for, each with the same number of priorities, over one tree and one memory for items.
///
/// Queue q has the stretch of the tree from q · `span` on; the search for its first item begins at the start of that stretch and must
/// not leave it (the mask of §4.4.2; it needs no stretch to be aligned). No memory belongs to a queue: any of them may take all
/// places. Every operation is O(`LEVELS`) in the worst case.
///
/// Source: Atre 2025 §4.4.2.
#[derive(Clone, Debug)]
pub struct Partitioned<T, const LEVELS: usize = 3> {
    span: u64,
    lengths: Box<[u32]>,
    buckets: Buckets<T, LEVELS>,
}

impl<T, const LEVELS: usize> Partitioned<T, LEVELS> {
    /// `queues` queues for the priorities below `span` each, with room for `capacity` items in all.
    ///
    /// # Errors
    ///
    /// If any is 0, the priorities of all queues are more than 64^`LEVELS`, or the capacity is beyond [`MOST_ITEMS`](super::MOST_ITEMS).
    pub fn new(queues: usize, span: u64, capacity: usize) -> Result<Self, BadShape> {
        BadShape::check("a number of queues", queues as u64, 1..=OccupancyTree::<LEVELS>::WIDEST)?;
        BadShape::check("a span for each queue", span, 1..=OccupancyTree::<LEVELS>::WIDEST / queues as u64)?;
        let buckets = Buckets::new(queues as u64 * span, capacity)?;
        Ok(Self { span, lengths: vec![0; queues].into(), buckets })
    }

    /// The number of queues.
    pub fn queues(&self) -> usize {
        self.lengths.len()
    }

    /// The priorities of every queue are below it.
    pub fn span(&self) -> u64 {
        self.span
    }

    /// Number of items that all queues together can hold.
    pub fn capacity(&self) -> usize {
        self.buckets.capacity()
    }

    /// Number of items in all queues together.
    pub fn len(&self) -> usize {
        self.buckets.occupancy().len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of items in `queue`.
    #[inline]
    pub fn len_of(&self, queue: usize) -> usize {
        self.lengths.get(queue).map_or(0, |&len| len as usize)
    }

    /// Adds `item` to `queue`, behind those of the same priority.
    ///
    /// # Errors
    ///
    /// The item comes back if there is no place for it, no such queue or no such priority.
    #[inline]
    pub fn insert(&mut self, queue: usize, priority: u64, item: T) -> Result<Handle, Refused<T>> {
        if queue >= self.queues() || priority >= self.span {
            return Err(Refused::OutOfSpan(item));
        }
        if self.buckets.is_full() {
            return Err(Refused::Full(item));
        }
        self.lengths[queue] += 1;
        Ok(self.buckets.push(queue as u64 * self.span + priority, item))
    }

    /// The smallest priority of `queue` and its oldest item.
    pub fn peek_min(&self, queue: usize) -> Option<(u64, &T)> {
        self.peek(queue, self.min(queue)?)
    }

    /// The largest priority of `queue` and its oldest item.
    pub fn peek_max(&self, queue: usize) -> Option<(u64, &T)> {
        self.peek(queue, self.max(queue)?)
    }

    /// Takes the oldest item of the smallest priority out of `queue`.
    #[inline]
    pub fn extract_min(&mut self, queue: usize) -> Option<(u64, T)> {
        self.extract(queue, self.min(queue)?)
    }

    /// Takes the oldest item of the largest priority out of `queue`.
    #[inline]
    pub fn extract_max(&mut self, queue: usize) -> Option<(u64, T)> {
        self.extract(queue, self.max(queue)?)
    }

    /// All items of `queue` with their priorities in the order of [`Self::extract_min`]: O(`LEVELS`) for each priority, O(1) for each item.
    pub fn iter(&self, queue: usize) -> impl Iterator<Item = (u64, &T)> {
        // A queue that does not exist has no buckets.
        let buckets = if queue < self.queues() {
            queue as u64 * self.span..(queue as u64 + 1) * self.span
        } else {
            0..0
        };
        let start = buckets.start;
        self.buckets.iter(buckets).map(move |(bucket, item)| (bucket - start, item))
    }

    /// Drops all items of all queues, each at the cost of [`Self::extract_min`]. The memory is kept.
    pub fn clear(&mut self) {
        for queue in 0..self.queues() {
            while self.extract_min(queue).is_some() {}
        }
    }

    /// Takes out an item wherever it is, and tells its queue and priority; `None` if it has left.
    pub fn remove(&mut self, handle: Handle) -> Option<(usize, u64, T)> {
        let (bucket, item) = self.buckets.remove(handle)?;
        let queue = (bucket / self.span) as usize;
        self.lengths[queue] -= 1;
        Some((queue, bucket % self.span, item))
    }

    /// The first bucket of `queue` that is not empty.
    #[inline]
    fn min(&self, queue: usize) -> Option<u64> {
        if self.len_of(queue) == 0 {
            None
        } else {
            self.buckets.occupancy().min_from(queue as u64 * self.span)
        }
    }

    #[inline]
    fn max(&self, queue: usize) -> Option<u64> {
        if self.len_of(queue) == 0 {
            return None;
        }
        self.buckets.occupancy().max_to((queue as u64 + 1) * self.span - 1)
    }

    fn peek(&self, queue: usize, bucket: u64) -> Option<(u64, &T)> {
        Some((bucket - queue as u64 * self.span, self.buckets.front(bucket)?))
    }

    #[inline]
    fn extract(&mut self, queue: usize, bucket: u64) -> Option<(u64, T)> {
        let item = self.buckets.pop(bucket)?;
        self.lengths[queue] -= 1;
        Some((bucket - queue as u64 * self.span, item))
    }
}
