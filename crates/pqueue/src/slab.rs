//! Buckets: a FIFO for every priority, all of them lists through one memory, over a tree that knows which are empty.

use std::fmt;
use std::ops::Range;

use crate::occupancy::OccupancyTree;
use crate::{BadShape, MOST_ITEMS};

/// Names an item in a queue until it leaves it; a handle of an item that has left names nothing.
///
/// A place is used again under another name, and never under the same one. Only the queue that gave a handle, or a later clone, knows
/// what it names: in another one it may name another item, as a key of another map would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Handle {
    place: u32,
    serial: u64,
}

/// An item and the one behind it, or a free place: all that taking out the first item looks at.
#[derive(Clone, Debug)]
struct Node<T> {
    item: Option<T>,
    /// Place of the next item; what stands here of the last item of a bucket means nothing.
    next: u32,
}

/// Facts of the item in a place, or of the last that was there, that only taking it out by its handle looks at.
#[derive(Clone, Copy, Debug)]
struct Tag {
    /// The item ahead; what stands here of the first item of a bucket means nothing.
    prev: u32,
    bucket: u32,
    /// Number of items that came before it.
    serial: u64,
}

/// The first and the last item of a priority; what stands in an empty bucket means nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Bucket {
    head: u32,
    tail: u32,
}

/// FIFOs over one memory. Every operation is O(`LEVELS`) in the worst case and allocates nothing.
///
/// What an operation waits for is memory. So what an extraction reads is in a memory of its own, and small; what handles need is
/// written once and read only for them. Free places are in a stack, for a list through them would be read in the order of its links.
/// The link of the first item to the one ahead is never read, so that taking out the first leaves the second alone. And whether a
/// bucket is empty, which nothing can predict, chooses between values and not between paths.
pub(super) struct Buckets<T, const LEVELS: usize> {
    capacity: usize,
    nodes: Vec<Node<T>>,
    tags: Vec<Tag>,
    /// Number of items that have come so far.
    serial: u64,
    /// The free places of those that have been used.
    free: Vec<u32>,
    buckets: Box<[Bucket]>,
    occupancy: OccupancyTree<LEVELS>,
}

/// The items by bucket, without the memory that they lie in.
impl<T: fmt::Debug, const LEVELS: usize> fmt::Debug for Buckets<T, LEVELS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter(0..self.occupancy.span())).finish()
    }
}

/// A clone has as much room, so that it allocates nothing later either.
impl<T: Clone, const LEVELS: usize> Clone for Buckets<T, LEVELS> {
    fn clone(&self) -> Self {
        let mut nodes = Vec::with_capacity(self.capacity);
        nodes.extend_from_slice(&self.nodes);
        let mut tags = Vec::with_capacity(self.capacity);
        tags.extend_from_slice(&self.tags);
        let mut free = Vec::with_capacity(self.capacity);
        free.extend_from_slice(&self.free);
        Self {
            capacity: self.capacity,
            nodes,
            tags,
            serial: self.serial,
            free,
            buckets: self.buckets.clone(),
            occupancy: self.occupancy.clone(),
        }
    }
}

impl<T, const LEVELS: usize> Buckets<T, LEVELS> {
    pub(super) fn new(span: u64, capacity: usize) -> Result<Self, BadShape> {
        BadShape::check("a capacity", capacity as u64, 1..=MOST_ITEMS)?;
        let occupancy = OccupancyTree::new(span)?;
        Ok(Self {
            capacity,
            nodes: Vec::with_capacity(capacity),
            tags: Vec::with_capacity(capacity),
            serial: 0,
            free: Vec::with_capacity(capacity),
            buckets: vec![Bucket::default(); span as usize].into(),
            occupancy,
        })
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(super) fn is_full(&self) -> bool {
        self.occupancy.len() == self.capacity
    }

    /// Occupancy of the priorities, with the number of items of each.
    pub(super) fn occupancy(&self) -> &OccupancyTree<LEVELS> {
        &self.occupancy
    }

    /// Adds `item` to the end of `bucket`; the buckets must not be full.
    #[inline]
    pub(super) fn push(&mut self, bucket: u64, item: T) -> Handle {
        let place = self.allocate(item);
        let prev = self.link(bucket, place);
        let serial = self.serial;
        self.serial += 1;
        self.tags[place as usize] = Tag { prev, bucket: bucket as u32, serial };
        self.occupancy.add(bucket);
        Handle { place, serial }
    }

    /// Puts `place` at the end of `bucket`, whose count does not include it yet, and returns the place ahead.
    #[inline]
    fn link(&mut self, bucket: u64, place: u32) -> u32 {
        let is_empty = self.occupancy.count(bucket) == 0;
        let ends = &mut self.buckets[bucket as usize];
        // Alone in its bucket it is linked to itself, which means nothing.
        let tail = if is_empty { place } else { ends.tail };
        ends.head = if is_empty { place } else { ends.head };
        ends.tail = place;
        self.nodes[tail as usize].next = place;
        tail
    }

    /// Moves the first item of the bucket `from` to the end of `to`, which is another bucket. Its handle still names it.
    #[inline]
    pub(super) fn shift(&mut self, from: u64, to: u64) {
        if !self.occupancy.remove(from) {
            return;
        }
        let ends = &mut self.buckets[from as usize];
        let place = ends.head;
        ends.head = self.nodes[place as usize].next;
        let prev = self.link(to, place);
        let tag = &mut self.tags[place as usize];
        (tag.prev, tag.bucket) = (prev, to as u32);
        self.occupancy.add(to);
    }

    /// The items of some buckets, each with its bucket: bucket by bucket, and the oldest of a bucket first.
    pub(super) fn iter(&self, buckets: Range<u64>) -> impl Iterator<Item = (u64, &T)> {
        let from = move |bucket| self.occupancy.min_from(bucket).filter(|&found| found < buckets.end);
        std::iter::successors(from(buckets.start), move |&bucket| from(bucket + 1)).flat_map(|bucket| {
            let node = |place: u32| &self.nodes[place as usize];
            let head = node(self.buckets[bucket as usize].head);
            std::iter::successors(Some(head), move |&item| Some(node(item.next)))
                .take(self.occupancy.count(bucket))
                .filter_map(move |node| Some((bucket, node.item.as_ref()?)))
        })
    }

    /// The first item of `bucket`.
    #[inline]
    pub(super) fn front(&self, bucket: u64) -> Option<&T> {
        if self.occupancy.count(bucket) == 0 {
            return None;
        }
        self.nodes[self.buckets[bucket as usize].head as usize].item.as_ref()
    }

    /// Takes out the first item of `bucket`.
    #[inline]
    pub(super) fn pop(&mut self, bucket: u64) -> Option<T> {
        if !self.occupancy.remove(bucket) {
            return None;
        }
        let ends = &mut self.buckets[bucket as usize];
        let place = ends.head;
        ends.head = self.nodes[place as usize].next;
        self.release(place)
    }

    /// The bucket of an item that is still there, and the item.
    pub(super) fn find(&self, handle: Handle) -> Option<(u64, &T)> {
        let tag = self.tags.get(handle.place as usize).filter(|tag| tag.serial == handle.serial)?;
        // An item that has left has left its tag.
        Some((tag.bucket.into(), self.nodes[handle.place as usize].item.as_ref()?))
    }

    /// As [`Self::find`], with the item to change.
    pub(super) fn find_mut(&mut self, handle: Handle) -> Option<(u64, &mut T)> {
        let (bucket, _) = self.find(handle)?;
        Some((bucket, self.nodes[handle.place as usize].item.as_mut()?))
    }

    /// Takes out an item wherever it is, if it is still there.
    pub(super) fn remove(&mut self, handle: Handle) -> Option<(u64, T)> {
        let (bucket, _) = self.find(handle)?;
        self.unlink(bucket, handle.place);
        Some((bucket, self.release(handle.place)?))
    }

    /// Moves an item that is still there to the end of the bucket `to`, which may be its own. Its handle still names it.
    pub(super) fn relocate(&mut self, handle: Handle, to: u64) {
        let Some((from, _)) = self.find(handle) else { return };
        self.unlink(from, handle.place);
        let prev = self.link(to, handle.place);
        let tag = &mut self.tags[handle.place as usize];
        (tag.prev, tag.bucket) = (prev, to as u32);
        self.occupancy.add(to);
    }

    /// Takes the item in `place` out of the list of `bucket` and out of its count; it stays in its place.
    fn unlink(&mut self, bucket: u64, place: u32) {
        let (next, prev) = (self.nodes[place as usize].next, self.tags[place as usize].prev);
        let ends = &mut self.buckets[bucket as usize];
        match (ends.head == place, ends.tail == place) {
            (true, true) => {}
            (true, false) => ends.head = next,
            (false, true) => ends.tail = prev,
            (false, false) => {
                self.nodes[prev as usize].next = next;
                self.tags[next as usize].prev = prev;
            }
        }
        self.occupancy.remove(bucket);
    }

    #[inline]
    fn allocate(&mut self, item: T) -> u32 {
        if let Some(place) = self.free.pop() {
            self.nodes[place as usize].item = Some(item);
            return place;
        }
        self.nodes.push(Node { item: Some(item), next: 0 });
        self.tags.push(Tag { prev: 0, bucket: 0, serial: 0 });
        self.nodes.len() as u32 - 1
    }

    #[inline]
    fn release(&mut self, place: u32) -> Option<T> {
        self.free.push(place);
        self.nodes[place as usize].item.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(buckets: &Buckets<u32, 2>) -> [*const (); 3] {
        [buckets.nodes.as_ptr().cast(), buckets.tags.as_ptr().cast(), buckets.free.as_ptr().cast()]
    }

    /// Fills and empties it twice, out of order the second time, and tells where its memory is.
    fn exercise(buckets: &mut Buckets<u32, 2>) -> [*const (); 3] {
        for round in 0..2 {
            let handles: Vec<Handle> = (0..64).map(|item| buckets.push(u64::from(item % 7), item)).collect();
            assert!(buckets.is_full());
            for &handle in handles.iter().rev().step_by(1 + round) {
                buckets.remove(handle);
            }
            while let Some(bucket) = buckets.occupancy().min() {
                buckets.pop(bucket);
            }
        }
        memory(buckets)
    }

    #[test]
    fn memory_stays_where_it_is_in_clones_too() {
        let mut buckets = Buckets::new(7, 64).unwrap();
        let mut clone = buckets.clone();
        for buckets in [&mut buckets, &mut clone] {
            let before = memory(buckets);
            assert_eq!(exercise(buckets), before);
        }
    }

    #[test]
    fn a_handle_of_another_queue_breaks_nothing() {
        let (mut small, mut large) =
            (Buckets::<_, 1>::new(2, 4).unwrap(), Buckets::<_, 1>::new(60, 9).unwrap());
        let foreign: Vec<Handle> = (0..9).map(|item| large.push(59 - item, item)).collect();
        small.push(1, 'x');
        // It may name what is there, where that is; it is not taken for what it named elsewhere.
        assert_eq!(foreign.iter().filter_map(|&handle| small.remove(handle)).collect::<Vec<_>>(), [(1, 'x')]);
        assert!(small.occupancy().is_empty());
        assert_eq!(small.pop(1), None);
    }
}
