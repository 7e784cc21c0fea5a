//! What the table asks of a queue.

use trueplane_pqueue::bbq::{Bbq, Operation, Status};
use trueplane_pqueue::hffs::Inserted;
use trueplane_pqueue::{DoubleEnded, Handle, Hffs, Partitioned, PriorityQueue, Refused};

use super::vector::Entry;

/// One or several queues. What is not everybody's has an answer in `Some`; those that lack it answer `None`.
pub trait Subject {
    fn capacity(&self) -> usize;
    /// Of all queues together.
    fn total(&self) -> usize;
    fn len_of(&self, queue: usize) -> usize;
    fn insert(&mut self, queue: usize, priority: u64, item: u32) -> Result<Inserted<u32>, Refused<u32>>;
    fn extract_min(&mut self, queue: usize) -> Option<Entry>;
    fn extract_max(&mut self, _queue: usize) -> Option<Option<Entry>> {
        None
    }
    fn peek_min(&self, _queue: usize) -> Option<Option<Entry>> {
        None
    }
    fn peek_max(&self, _queue: usize) -> Option<Option<Entry>> {
        None
    }
    fn remove(&mut self, _handle: Handle) -> Option<(usize, Entry)> {
        None
    }
    /// Holds what else it tells about itself to what waits, around a priority.
    fn check(&self, _waiting: &[Vec<Entry>], _around: u64) {}
}

fn owned(peeked: Option<(u64, &u32)>) -> Option<Entry> {
    peeked.map(|(priority, &item)| (priority, item))
}

fn unnamed(displaced: Option<Entry>) -> Inserted<u32> {
    Inserted { handle: None, displaced }
}

/// A queue with one end.
pub struct OneEnd<Q>(pub Q);

impl<Q: PriorityQueue<u32>> Subject for OneEnd<Q> {
    fn capacity(&self) -> usize {
        self.0.capacity()
    }
    fn total(&self) -> usize {
        assert_eq!(self.0.is_empty(), self.0.len() == 0);
        self.0.len()
    }
    fn len_of(&self, _queue: usize) -> usize {
        self.0.len()
    }
    fn insert(&mut self, _queue: usize, priority: u64, item: u32) -> Result<Inserted<u32>, Refused<u32>> {
        self.0.insert(priority, item).map(unnamed)
    }
    fn extract_min(&mut self, _queue: usize) -> Option<Entry> {
        self.0.extract_min()
    }
    fn peek_min(&self, _queue: usize) -> Option<Option<Entry>> {
        Some(owned(self.0.peek_min()))
    }
}

/// A queue with both ends.
pub struct BothEnds<Q>(pub Q);

impl<Q: DoubleEnded<u32>> Subject for BothEnds<Q> {
    fn capacity(&self) -> usize {
        self.0.capacity()
    }
    fn total(&self) -> usize {
        assert_eq!(self.0.is_empty(), self.0.len() == 0);
        self.0.len()
    }
    fn len_of(&self, _queue: usize) -> usize {
        self.0.len()
    }
    fn insert(&mut self, _queue: usize, priority: u64, item: u32) -> Result<Inserted<u32>, Refused<u32>> {
        self.0.insert(priority, item).map(unnamed)
    }
    fn extract_min(&mut self, _queue: usize) -> Option<Entry> {
        self.0.extract_min()
    }
    fn extract_max(&mut self, _queue: usize) -> Option<Option<Entry>> {
        Some(self.0.extract_max())
    }
    fn peek_min(&self, _queue: usize) -> Option<Option<Entry>> {
        Some(owned(self.0.peek_min()))
    }
    fn peek_max(&self, _queue: usize) -> Option<Option<Entry>> {
        Some(owned(self.0.peek_max()))
    }
}

impl<const LEVELS: usize> Subject for Hffs<u32, LEVELS> {
    fn capacity(&self) -> usize {
        PriorityQueue::capacity(self)
    }
    fn total(&self) -> usize {
        assert_eq!(self.is_empty(), self.occupancy().is_empty());
        PriorityQueue::len(self)
    }
    fn len_of(&self, _queue: usize) -> usize {
        self.occupancy().len()
    }
    fn insert(&mut self, _queue: usize, priority: u64, item: u32) -> Result<Inserted<u32>, Refused<u32>> {
        let inserted = self.insert_named(priority, item)?;
        if let Some(handle) = inserted.handle {
            assert_eq!(self.find(handle), Some((priority, &item)));
        }
        Ok(inserted)
    }
    fn extract_min(&mut self, _queue: usize) -> Option<Entry> {
        PriorityQueue::extract_min(self)
    }
    fn extract_max(&mut self, _queue: usize) -> Option<Option<Entry>> {
        Some(DoubleEnded::extract_max(self))
    }
    fn peek_min(&self, _queue: usize) -> Option<Option<Entry>> {
        Some(owned(PriorityQueue::peek_min(self)))
    }
    fn peek_max(&self, _queue: usize) -> Option<Option<Entry>> {
        Some(owned(DoubleEnded::peek_max(self)))
    }
    fn remove(&mut self, handle: Handle) -> Option<(usize, Entry)> {
        let found = owned(self.find(handle));
        assert_eq!(Hffs::remove(self, handle), found);
        found.map(|entry| (0, entry))
    }
    fn check(&self, waiting: &[Vec<Entry>], around: u64) {
        let waiting = &waiting[0];
        let occupancy = self.occupancy();
        assert_eq!(occupancy.count_below(around), waiting.partition_point(|entry| entry.0 < around));
        for height in 0..LEVELS {
            let size = 64u64.pow(height as u32);
            let inside = waiting.iter().filter(|entry| entry.0 / size == around / size).count();
            assert_eq!(occupancy.subtree_len(height, (around / size) as usize), inside, "height {height}");
        }
    }
}

impl<const LEVELS: usize> Subject for Partitioned<u32, LEVELS> {
    fn capacity(&self) -> usize {
        Partitioned::capacity(self)
    }
    fn total(&self) -> usize {
        assert_eq!(self.is_empty(), Partitioned::len(self) == 0);
        Partitioned::len(self)
    }
    fn len_of(&self, queue: usize) -> usize {
        Partitioned::len_of(self, queue)
    }
    fn insert(&mut self, queue: usize, priority: u64, item: u32) -> Result<Inserted<u32>, Refused<u32>> {
        let handle = Partitioned::insert(self, queue, priority, item)?;
        Ok(Inserted { handle: Some(handle), displaced: None })
    }
    fn extract_min(&mut self, queue: usize) -> Option<Entry> {
        Partitioned::extract_min(self, queue)
    }
    fn extract_max(&mut self, queue: usize) -> Option<Option<Entry>> {
        Some(Partitioned::extract_max(self, queue))
    }
    fn peek_min(&self, queue: usize) -> Option<Option<Entry>> {
        Some(owned(Partitioned::peek_min(self, queue)))
    }
    fn peek_max(&self, queue: usize) -> Option<Option<Entry>> {
        Some(owned(Partitioned::peek_max(self, queue)))
    }
    fn remove(&mut self, handle: Handle) -> Option<(usize, Entry)> {
        let (queue, priority, item) = Partitioned::remove(self, handle)?;
        Some((queue, (priority, item)))
    }
}

impl Subject for Bbq {
    fn capacity(&self) -> usize {
        self.layout().shape().capacity as usize
    }
    fn total(&self) -> usize {
        (0..self.layout().shape().partitions).map(|partition| self.occupancy(partition) as usize).sum()
    }
    fn len_of(&self, queue: usize) -> usize {
        self.occupancy(queue as u32) as usize
    }
    fn insert(&mut self, queue: usize, priority: u64, item: u32) -> Result<Inserted<u32>, Refused<u32>> {
        let operation = Operation::Enqueue { priority: priority as u32, data: item.into() };
        match self.issue(queue as u32, operation) {
            Ok(response) if response.status == Status::Ok => Ok(unnamed(None)),
            Ok(response) => {
                assert_eq!(response.status, Status::Full);
                Err(Refused::Full(item))
            }
            Err(_) => Err(Refused::OutOfSpan(item)),
        }
    }
    fn extract_min(&mut self, queue: usize) -> Option<Entry> {
        dequeue(self, queue, Operation::DequeueMin)
    }
    fn extract_max(&mut self, queue: usize) -> Option<Option<Entry>> {
        Some(dequeue(self, queue, Operation::DequeueMax))
    }
    fn check(&self, _waiting: &[Vec<Entry>], _around: u64) {
        assert_eq!(Bbq::check(self), Ok(()));
    }
}

fn dequeue(bbq: &mut Bbq, queue: usize, operation: Operation) -> Option<Entry> {
    let response = bbq.issue(queue as u32, operation).expect("the partition exists");
    assert!(matches!(response.status, Status::Ok | Status::Empty));
    (response.status == Status::Ok).then_some((response.priority.into(), response.data as u32))
}
