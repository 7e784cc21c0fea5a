//! The hierarchical find-first-set queue.

use crate::slab::{Buckets, Handle};
use crate::{BadShape, DoubleEnded, OccupancyTree, Overflow, PriorityQueue, Refused};

/// A queue for the priorities below a span of at most 64^`LEVELS`, served from both ends.
///
/// A FIFO for every priority, and an [`OccupancyTree`] over them. Every operation is O(`LEVELS`) in the worst case, and nothing is
/// allocated after construction, whatever an attacker sends. Memory: for every place of the capacity an `Option<T>` and 24 bytes, or 28
/// if `T` is aligned to 8; for every priority 12 bytes and a bit; and what the upper levels of the widest tree take, 17 KB if there
/// are three.
///
/// Source: Atre 2025 §3.5.4 (find first and last set), §4.2 (counts).
#[derive(Clone, Debug)]
pub struct Hffs<T, const LEVELS: usize = 3> {
    overflow: Overflow,
    buckets: Buckets<T, LEVELS>,
}

/// An item that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inserted<T> {
    /// Its name; `None` if it was itself what had to go.
    pub handle: Option<Handle>,
    /// Item that had to go, with its priority.
    pub displaced: Option<(u64, T)>,
}

impl<T, const LEVELS: usize> Hffs<T, LEVELS> {
    /// A queue for `capacity` items of priorities below `span`.
    ///
    /// # Errors
    ///
    /// If either is 0, the span is beyond 64^`LEVELS` or the capacity beyond [`MOST_ITEMS`](super::MOST_ITEMS).
    pub fn new(span: u64, capacity: usize, overflow: Overflow) -> Result<Self, BadShape> {
        Ok(Self { overflow, buckets: Buckets::new(span, capacity)? })
    }

    /// All priorities are below it.
    pub fn span(&self) -> u64 {
        self.occupancy().span()
    }

    /// Occupancy of the priorities, with the number of items of each and in every subtree.
    pub fn occupancy(&self) -> &OccupancyTree<LEVELS> {
        self.buckets.occupancy()
    }

    /// Adds an item like [`PriorityQueue::insert`], and returns its name.
    ///
    /// # Errors
    ///
    /// As [`PriorityQueue::insert`].
    #[inline]
    pub fn insert_named(&mut self, priority: u64, item: T) -> Result<Inserted<T>, Refused<T>> {
        if priority >= self.span() {
            return Err(Refused::OutOfSpan(item));
        }
        if !self.buckets.is_full() {
            return Ok(Inserted { handle: Some(self.buckets.push(priority, item)), displaced: None });
        }
        self.insert_full(priority, item)
    }

    /// Adds to a full queue by its rule.
    #[cold]
    fn insert_full(&mut self, priority: u64, item: T) -> Result<Inserted<T>, Refused<T>> {
        let worst = self.occupancy().max();
        match self.overflow {
            Overflow::Refuse => Err(Refused::Full(item)),
            Overflow::DropIfWorst if worst.is_none_or(|worst| priority >= worst) => {
                Ok(Inserted { handle: None, displaced: Some((priority, item)) })
            }
            Overflow::DropWorst | Overflow::DropIfWorst => {
                let displaced = self.extract_max();
                Ok(Inserted { handle: Some(self.buckets.push(priority, item)), displaced })
            }
        }
    }

    /// All items with their priorities in the order of [`Self::extract_min`]: O(`LEVELS`) for each priority, O(1) for each item.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.buckets.iter(0..self.span())
    }

    /// The priority of an item that is still there, and the item.
    pub fn find(&self, handle: Handle) -> Option<(u64, &T)> {
        self.buckets.find(handle)
    }

    /// Takes out an item wherever it is; `None` if it has left.
    pub fn remove(&mut self, handle: Handle) -> Option<(u64, T)> {
        self.buckets.remove(handle)
    }
}

crate::methods::both_ends!([T, const LEVELS: usize] Hffs<T, LEVELS>);

impl<T, const LEVELS: usize> PriorityQueue<T> for Hffs<T, LEVELS> {
    fn capacity(&self) -> usize {
        self.buckets.capacity()
    }

    fn len(&self) -> usize {
        self.occupancy().len()
    }

    #[inline]
    fn insert(&mut self, priority: u64, item: T) -> Result<Option<(u64, T)>, Refused<T>> {
        self.insert_named(priority, item).map(|inserted| inserted.displaced)
    }

    fn peek_min(&self) -> Option<(u64, &T)> {
        let priority = self.occupancy().min()?;
        Some((priority, self.buckets.front(priority)?))
    }

    #[inline]
    fn extract_min(&mut self) -> Option<(u64, T)> {
        let priority = self.occupancy().min()?;
        Some((priority, self.buckets.pop(priority)?))
    }
}

impl<T, const LEVELS: usize> DoubleEnded<T> for Hffs<T, LEVELS> {
    fn peek_max(&self) -> Option<(u64, &T)> {
        let priority = self.occupancy().max()?;
        Some((priority, self.buckets.front(priority)?))
    }

    #[inline]
    fn extract_max(&mut self) -> Option<(u64, T)> {
        let priority = self.occupancy().max()?;
        Some((priority, self.buckets.pop(priority)?))
    }
}
