//! Push in, first out: the exact queue that the others are held against.

use std::collections::VecDeque;

use crate::{BadShape, DoubleEnded, MOST_ITEMS, Overflow, PriorityQueue, Refused};

/// A sorted vector: exact for every priority, served from both ends.
///
/// An item is put where it belongs among all that wait, and leaves from the front: what an ideal scheduler does, and what others
/// approximate. Insertion finds the place in O(log n) and moves what is on the shorter side of it, O(n); the minimum is O(1), the
/// maximum as many moves as there are items of that priority. Nothing is allocated after construction. That is fast for some
/// thousand items, and simple for any number.
///
/// Source: Sivaraman et al., *Programmable Packet Scheduling at Line Rate*, SIGCOMM 2016, where hardware compares with all items
/// at once.
#[derive(Clone, Debug)]
pub struct Pifo<T> {
    capacity: usize,
    overflow: Overflow,
    /// Items by priority, and those of one in the order in which they came.
    items: VecDeque<(u64, T)>,
}

impl<T> Pifo<T> {
    /// A queue for `capacity` items.
    ///
    /// # Errors
    ///
    /// If it is 0 or beyond [`MOST_ITEMS`].
    pub fn new(capacity: usize, overflow: Overflow) -> Result<Self, BadShape> {
        BadShape::check("a capacity", capacity as u64, 1..=MOST_ITEMS)?;
        Ok(Self { capacity, overflow, items: VecDeque::with_capacity(capacity) })
    }

    /// All items with their priorities in the order of [`Self::extract_min`]: O(1) for each.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.items.iter().map(|(priority, item)| (*priority, item))
    }

    /// Index of the oldest item of the largest priority.
    fn worst(&self) -> Option<usize> {
        let (priority, _) = self.items.back()?;
        Some(self.items.partition_point(|(other, _)| other < priority))
    }
}

crate::methods::both_ends!([T] Pifo<T>);

impl<T> PriorityQueue<T> for Pifo<T> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn len(&self) -> usize {
        self.items.len()
    }

    fn insert(&mut self, priority: u64, item: T) -> Result<Option<(u64, T)>, Refused<T>> {
        let mut displaced = None;
        if self.items.len() == self.capacity {
            let is_worst = self.items.back().is_none_or(|&(worst, _)| priority >= worst);
            match self.overflow {
                Overflow::Refuse => return Err(Refused::Full(item)),
                Overflow::DropIfWorst if is_worst => return Ok(Some((priority, item))),
                Overflow::DropIfWorst | Overflow::DropWorst => displaced = self.extract_max(),
            }
        }
        let place = self.items.partition_point(|&(other, _)| other <= priority);
        self.items.insert(place, (priority, item));
        Ok(displaced)
    }

    fn peek_min(&self) -> Option<(u64, &T)> {
        self.items.front().map(|(priority, item)| (*priority, item))
    }

    fn extract_min(&mut self) -> Option<(u64, T)> {
        self.items.pop_front()
    }
}

impl<T> DoubleEnded<T> for Pifo<T> {
    fn peek_max(&self) -> Option<(u64, &T)> {
        self.items.get(self.worst()?).map(|(priority, item)| (*priority, item))
    }

    fn extract_max(&mut self) -> Option<(u64, T)> {
        self.items.remove(self.worst()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_keeps_the_best() {
        let mut pifo = Pifo::new(3, Overflow::DropIfWorst).unwrap();
        for (item, priority) in [30, 10, 30].into_iter().enumerate() {
            assert_eq!(pifo.insert(priority, item), Ok(None));
        }
        assert_eq!(pifo.insert(30, 3), Ok(Some((30, 3))));
        assert_eq!(pifo.insert(20, 4), Ok(Some((30, 0))));
        assert_eq!((pifo.peek_min(), pifo.peek_max()), (Some((10, &1)), Some((30, &2))));
        let order = std::iter::from_fn(|| pifo.extract_min()).collect::<Vec<_>>();
        assert_eq!(order, [(10, 1), (20, 4), (30, 2)]);
    }
}
