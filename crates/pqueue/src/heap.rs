//! The standard library's binary heap: what comparisons cost.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::{BadShape, MOST_ITEMS, PriorityQueue, Refused};

/// An item in a [`BinaryHeap`], on top of which is the greatest: that of the smallest key, and of those the one that came first.
#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    pub(super) key: u64,
    /// Number of items that came before it.
    pub(super) sequence: u64,
    pub(super) item: T,
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.key, other.sequence).cmp(&(self.key, self.sequence))
    }
}

impl<T> PartialOrd for Entry<T> {
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

/// A [`BinaryHeap`] that serves items of one priority in the order in which they came.
///
/// A heap alone would serve them in any order; every item so carries a number, 8 bytes more. O(log n) comparisons for every
/// insertion and extraction; nothing is allocated after construction. It has no other end, and so a full heap can only refuse.
#[derive(Clone, Debug)]
pub struct Heap<T> {
    capacity: usize,
    arrivals: u64,
    entries: BinaryHeap<Entry<T>>,
}

impl<T> Heap<T> {
    /// A heap for `capacity` items.
    ///
    /// # Errors
    ///
    /// If it is 0 or beyond [`MOST_ITEMS`].
    pub fn new(capacity: usize) -> Result<Self, BadShape> {
        BadShape::check("a capacity", capacity as u64, 1..=MOST_ITEMS)?;
        Ok(Self { capacity, arrivals: 0, entries: BinaryHeap::with_capacity(capacity) })
    }

    /// All items with their priorities, in no particular order: O(1) for each.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.entries.iter().map(|entry| (entry.key, &entry.item))
    }
}

crate::methods::one_end!([T] Heap<T>);

impl<T> PriorityQueue<T> for Heap<T> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn insert(&mut self, priority: u64, item: T) -> Result<Option<(u64, T)>, Refused<T>> {
        if self.entries.len() == self.capacity {
            return Err(Refused::Full(item));
        }
        self.entries.push(Entry { key: priority, sequence: self.arrivals, item });
        self.arrivals += 1;
        Ok(None)
    }

    fn peek_min(&self) -> Option<(u64, &T)> {
        self.entries.peek().map(|entry| (entry.key, &entry.item))
    }

    fn extract_min(&mut self) -> Option<(u64, T)> {
        self.entries.pop().map(|entry| (entry.key, entry.item))
    }
}
