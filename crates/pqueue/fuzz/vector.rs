//! Queues that are too simple to be wrong: sorted vectors.

use trueplane_pqueue::{Overflow, Refused};

/// A priority, and an item.
pub type Entry = (u64, u32);

/// How many items there may be.
#[derive(Clone, Copy, Debug)]
pub enum Room {
    /// In all queues together.
    Together(usize),
    /// Of each priority.
    Each(usize),
}

/// Queues of which each is sorted, and items of one priority as they came.
#[derive(Clone, Debug)]
pub struct Vectors {
    /// The largest priority that is taken.
    pub largest: u64,
    /// How many items are taken.
    pub room: Room,
    /// What happens when there are more.
    pub overflow: Overflow,
    /// What waits in each queue.
    pub queues: Vec<Vec<Entry>>,
}

impl Vectors {
    /// How many items all queues hold.
    pub fn total(&self) -> usize {
        self.queues.iter().map(Vec::len).sum()
    }

    /// Adds an item by the rules of the trait.
    pub fn insert(&mut self, queue: usize, priority: u64, item: u32) -> Result<Option<Entry>, Refused<u32>> {
        if priority > self.largest || queue >= self.queues.len() {
            return Err(Refused::OutOfSpan(item));
        }
        let is_full = match self.room {
            Room::Together(most) => self.total() == most,
            Room::Each(most) => self.queues[queue].iter().filter(|entry| entry.0 == priority).count() == most,
        };
        let mut displaced = None;
        if is_full {
            let worst = self.queues[queue].last().map(|entry| entry.0);
            match self.overflow {
                Overflow::Refuse => return Err(Refused::Full(item)),
                Overflow::DropIfWorst if worst <= Some(priority) => return Ok(Some((priority, item))),
                Overflow::DropIfWorst | Overflow::DropWorst => {
                    displaced = worst.and_then(|worst| self.take(queue, worst));
                }
                rule => panic!("what does {rule:?} do?"),
            }
        }
        let place = self.queues[queue].partition_point(|entry| entry.0 <= priority);
        self.queues[queue].insert(place, (priority, item));
        Ok(displaced)
    }

    /// The oldest item of a priority.
    pub fn oldest(&self, queue: usize, priority: u64) -> Option<Entry> {
        self.queues[queue].iter().find(|entry| entry.0 == priority).copied()
    }

    /// The oldest item of the smallest priority.
    pub fn min(&self, queue: usize) -> Option<Entry> {
        self.queues[queue].first().copied()
    }

    /// The oldest item of the largest priority.
    pub fn max(&self, queue: usize) -> Option<Entry> {
        self.oldest(queue, self.queues[queue].last()?.0)
    }

    /// Takes out the oldest item of a priority.
    pub fn take(&mut self, queue: usize, priority: u64) -> Option<Entry> {
        let place = self.queues[queue].iter().position(|entry| entry.0 == priority)?;
        Some(self.queues[queue].remove(place))
    }

    /// Takes out an item wherever it is.
    pub fn remove(&mut self, item: u32) -> Option<(usize, Entry)> {
        self.queues.iter_mut().enumerate().find_map(|(number, queue)| {
            let place = queue.iter().position(|entry| entry.1 == item)?;
            Some((number, queue.remove(place)))
        })
    }
}
