//! Push in, extract out: the smallest rank of those that may leave already.

use std::collections::BinaryHeap;

use crate::heap::Entry;
use crate::{BadShape, MOST_ITEMS, Refused};

/// A queue whose items are ranked, and may each not leave before a time of their own.
///
/// It serves the smallest rank of those that are eligible at the time, and those of one rank in the order in which they came, not
/// in that in which they became eligible. With this a scheduler need not be work-conserving: shapers, and fair queueing that
/// holds back what is ahead of its share (WF²Q), cannot be had from ranks alone.
///
/// Times are any integers that do not go backwards, real or virtual. A time that is earlier than the latest one seen counts as
/// that one: what is eligible stays so.
///
/// Two heaps: what waits, by the time from which it may leave, and what is ready, by rank. An item goes through each of them
/// once: O(log n) amortised; a single call can move all n over, O(n log n). Nothing is allocated after construction.
///
/// Source: Shrivastav, *Fast, Scalable, and Programmable Packet Scheduler in Hardware*, SIGCOMM 2019. There eligibility may also
/// ask for a range of groups, which partitions the queue, and an item may be taken out by its name; neither is here. Hardware
/// looks at √n sublists at once, which order nothing differently.
#[derive(Clone, Debug)]
pub struct Pieo<T> {
    capacity: usize,
    arrivals: u64,
    /// The latest time seen.
    now: u64,
    /// Items that become eligible after `now`, by the time at which they do; with their ranks.
    waiting: BinaryHeap<Entry<(u64, T)>>,
    /// Eligible items, by rank.
    ready: BinaryHeap<Entry<T>>,
}

impl<T> Pieo<T> {
    /// A queue for `capacity` items, at time 0.
    ///
    /// # Errors
    ///
    /// If the capacity is 0 or beyond [`MOST_ITEMS`].
    pub fn new(capacity: usize) -> Result<Self, BadShape> {
        BadShape::check("a capacity", capacity as u64, 1..=MOST_ITEMS)?;
        let (waiting, ready) = (BinaryHeap::with_capacity(capacity), BinaryHeap::with_capacity(capacity));
        Ok(Self { capacity, arrivals: 0, now: 0, waiting, ready })
    }

    /// Number of items that the queue can hold.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Number of items in the queue, eligible or not.
    pub fn len(&self) -> usize {
        self.waiting.len() + self.ready.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds `item`, which may leave from the time `eligible_from` on.
    ///
    /// # Errors
    ///
    /// The item comes back if the queue is full.
    pub fn insert(&mut self, rank: u64, eligible_from: u64, item: T) -> Result<(), Refused<T>> {
        if self.len() == self.capacity {
            return Err(Refused::Full(item));
        }
        let sequence = self.arrivals;
        self.arrivals += 1;
        if eligible_from <= self.now {
            self.ready.push(Entry { key: rank, sequence, item });
        } else {
            self.waiting.push(Entry { key: eligible_from, sequence, item: (rank, item) });
        }
        Ok(())
    }

    /// The rank and the item that [`Self::extract_min`] would return.
    pub fn peek_min(&mut self, now: u64) -> Option<(u64, &T)> {
        self.advance(now);
        self.ready.peek().map(|entry| (entry.key, &entry.item))
    }

    /// Takes out the item of the smallest rank that is eligible at `now`, and of several the oldest.
    pub fn extract_min(&mut self, now: u64) -> Option<(u64, T)> {
        self.advance(now);
        self.ready.pop().map(|entry| (entry.key, entry.item))
    }

    /// When there is an item to take out, from `now` on: at once, later, or never unless one comes.
    pub fn next_eligible(&mut self, now: u64) -> Option<u64> {
        self.advance(now);
        if self.ready.is_empty() { self.waiting.peek().map(|entry| entry.key) } else { Some(self.now) }
    }

    /// All items with their ranks, eligible or not, in no particular order: O(1) for each.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        let ready = self.ready.iter().map(|entry| (entry.key, &entry.item));
        ready.chain(self.waiting.iter().map(|Entry { item: (rank, item), .. }| (*rank, item)))
    }

    /// Drops all items: O(n). The queue keeps its memory and the latest time.
    pub fn clear(&mut self) {
        self.ready.clear();
        self.waiting.clear();
    }

    /// Moves what is eligible at `now` over to what is ready.
    fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
        while self.waiting.peek().is_some_and(|entry| entry.key <= self.now) {
            if let Some(Entry { sequence, item: (rank, item), .. }) = self.waiting.pop() {
                self.ready.push(Entry { key: rank, sequence, item });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_not_leave_yet_is_passed_over() {
        let mut pieo = Pieo::new(3).unwrap();
        pieo.insert(1, 20, "first, later").unwrap();
        pieo.insert(7, 0, "last, at once").unwrap();
        pieo.insert(1, 10, "first, soon").unwrap();
        assert_eq!(pieo.insert(0, 0, "too much"), Err(Refused::Full("too much")));
        assert_eq!(pieo.extract_min(9), Some((7, "last, at once")));
        assert_eq!((pieo.extract_min(9), pieo.next_eligible(9)), (None, Some(10)));
        // Time stands still when it should go backwards; of one rank, the first to come goes first.
        assert_eq!(pieo.peek_min(20), Some((1, &"first, later")));
        assert_eq!(pieo.next_eligible(5), Some(20));
        assert_eq!(pieo.extract_min(0), Some((1, "first, later")));
        assert_eq!(pieo.extract_min(0), Some((1, "first, soon")));
        assert_eq!((pieo.len(), pieo.next_eligible(30)), (0, None));
    }
}
