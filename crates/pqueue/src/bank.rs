//! FIFOs in strict priority: the priority queue that switches have.
//!
//! Every priority has a FIFO of its own memory; the first that is not empty is served. A full FIFO refuses what comes, however empty
//! the others are (tail drop).

use crate::few::Few;
use crate::{BadShape, MOST_ITEMS, PriorityQueue, Refused};

/// More FIFOs than these cannot be asked for, as a word of words has no more bits; switches have 8 to 128 a port.
pub const MOST_QUEUES: u64 = WORD as u64 * WORD as u64;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// No place.
const END: u32 = u32::MAX;

/// FIFOs of one length, the first of which goes first.
///
/// Every operation is O(1) in the worst case. Memory: one `T` and 8 bytes for every place. The FIFOs are lists through one slab, and a place that
/// becomes free is the next one to be taken: it is the one that the processor's cache most likely has.
#[derive(Clone, Debug)]
pub struct FifoBank<T> {
    depth: usize,
    /// Number of items in all FIFOs.
    len: usize,
    /// One bit for each FIFO that has items; beyond 64 FIFOs, one for each word of `words` that is not 0.
    occupied: u64,
    /// One bit for each FIFO that has items, if there are more than 64.
    words: Box<[u64]>,
    fifos: Few<Fifo>,
    slab: Box<[Place<T>]>,
    /// First free place of the slab.
    free: u32,
}

/// A list through the slab.
#[derive(Clone, Copy, Debug, Default)]
struct Fifo {
    first: u32,
    last: u32,
    len: u32,
}

/// A place of the slab, and the place that follows it in its list.
#[derive(Clone, Debug)]
enum Place<T> {
    Free(u32),
    Taken(T, u32),
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
        let places = (queues * depth) as u32;
        let words = if queues > WORD { queues.div_ceil(WORD) } else { 0 };
        Ok(Self {
            depth,
            len: 0,
            occupied: 0,
            words: vec![0; words].into(),
            fifos: Few::new(queues),
            slab: (1..places).chain([END]).map(Place::Free).collect(),
            free: 0,
        })
    }

    /// The number of FIFOs.
    pub fn queues(&self) -> usize {
        self.fifos.len()
    }

    /// Number of items that each of the FIFOs can hold.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Number of items in the FIFO `queue`.
    #[inline]
    pub fn len_of(&self, queue: usize) -> usize {
        self.fifos.get(queue).map_or(0, |fifo| fifo.len as usize)
    }

    /// Whether the FIFO `queue` takes in one more item.
    #[inline]
    pub fn has_room(&self, queue: usize) -> bool {
        // A bank with few items has room everywhere, which takes no look at the FIFO.
        self.len < self.depth || self.len_of(queue) < self.depth
    }

    /// Adds `item` to the end of the FIFO `queue`; it comes back if that is full, or does not exist.
    ///
    /// # Errors
    ///
    /// As [`PriorityQueue::insert`].
    #[inline]
    pub fn push(&mut self, queue: usize, item: T) -> Result<(), Refused<T>> {
        let Some(fifo) = self.fifos.get_mut(queue) else { return Err(Refused::OutOfSpan(item)) };
        let place = self.free;
        // A FIFO with room leaves a place free.
        let Some(&Place::Free(free)) = self.slab.get(place as usize) else { return Err(Refused::Full(item)) };
        if fifo.len as usize >= self.depth {
            return Err(Refused::Full(item));
        }
        self.free = free;
        self.slab[place as usize] = Place::Taken(item, END);
        self.len += 1;
        let before = std::mem::replace(&mut fifo.last, place);
        fifo.len += 1;
        if fifo.len == 1 {
            fifo.first = place;
            self.occupy(queue);
        } else if let Place::Taken(_, next) = &mut self.slab[before as usize] {
            *next = place;
        }
        Ok(())
    }

    /// Takes out the first item of the FIFO `queue`.
    #[inline]
    pub fn pop(&mut self, queue: usize) -> Option<T> {
        let fifo = self.fifos.get_mut(queue).filter(|fifo| fifo.len > 0)?;
        let place = fifo.first;
        let Place::Taken(item, next) =
            std::mem::replace(&mut self.slab[place as usize], Place::Free(self.free))
        else {
            return None;
        };
        self.free = place;
        self.len -= 1;
        fifo.first = next;
        fifo.len -= 1;
        if fifo.len == 0 {
            self.vacate(queue);
        }
        Some(item)
    }

    /// Notes that the FIFO `queue` has items.
    #[inline]
    fn occupy(&mut self, queue: usize) {
        if let Some(word) = self.words.get_mut(queue / WORD) {
            *word |= 1 << (queue % WORD);
            self.occupied |= 1 << (queue / WORD);
        } else {
            self.occupied |= 1 << queue;
        }
    }

    /// Notes that the FIFO `queue` has none.
    #[inline]
    fn vacate(&mut self, queue: usize) {
        let Some(word) = self.words.get_mut(queue / WORD) else {
            self.occupied &= !(1 << queue);
            return;
        };
        *word &= !(1 << (queue % WORD));
        if *word == 0 {
            self.occupied &= !(1 << (queue / WORD));
        }
    }

    /// The first item of the FIFO `queue`.
    pub fn front(&self, queue: usize) -> Option<&T> {
        self.items(queue).next()
    }

    /// The first FIFO that is not empty.
    #[inline]
    pub fn first_queue(&self) -> Option<usize> {
        if self.occupied == 0 {
            return None;
        }
        let first = self.occupied.trailing_zeros() as usize;
        Some(self.words.get(first).map_or(first, |word| first * WORD + word.trailing_zeros() as usize))
    }

    /// All items, each with its FIFO as a priority, in the order of [`Self::extract_min`]: O(queues + items).
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        (0..self.queues()).flat_map(|queue| self.items(queue).map(move |item| (queue as u64, item)))
    }

    /// The items of the FIFO `queue`, the first one first.
    fn items(&self, queue: usize) -> impl Iterator<Item = &T> {
        let fifo = self.fifos.get(queue).filter(|fifo| fifo.len > 0);
        let mut place = fifo.map_or(END, |fifo| fifo.first);
        std::iter::from_fn(move || match self.slab.get(place as usize)? {
            Place::Taken(item, next) => {
                place = *next;
                Some(item)
            }
            Place::Free(_) => None,
        })
    }
}

crate::methods::one_end!([T] FifoBank<T>);

impl<T> PriorityQueue<T> for FifoBank<T> {
    /// Number of items that all FIFOs together can hold.
    fn capacity(&self) -> usize {
        self.slab.len()
    }

    fn len(&self) -> usize {
        self.len
    }

    /// The priority is the FIFO. Full is what that FIFO is, not the bank.
    fn insert(&mut self, priority: u64, item: T) -> Result<Option<(u64, T)>, Refused<T>> {
        self.push(usize::try_from(priority).unwrap_or(usize::MAX), item).map(|()| None)
    }

    fn peek_min(&self) -> Option<(u64, &T)> {
        let queue = self.first_queue()?;
        Some((queue as u64, self.front(queue)?))
    }

    #[inline]
    fn extract_min(&mut self) -> Option<(u64, T)> {
        let queue = self.first_queue()?;
        Some((queue as u64, self.pop(queue)?))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Also where the FIFOs are more than a word has bits.
        #[test]
        fn is_a_queue_for_each_priority(
            queues in prop_oneof![1..10_usize, 63..66_usize, Just(200_usize)],
            depth in 1..4_usize,
            steps in prop::collection::vec((any::<u8>(), 0..4_u8), 0..300),
        ) {
            let mut bank = FifoBank::new(queues, depth).unwrap();
            let mut naive = vec![VecDeque::new(); queues];
            for (item, (queue, step)) in (0_u32..).zip(steps) {
                let queue = usize::from(queue) % queues;
                let first = naive.iter().position(|fifo| !fifo.is_empty());
                match step {
                    0 => prop_assert_eq!(bank.pop(queue), naive[queue].pop_front()),
                    1 => {
                        let expected = first.and_then(|first| Some((first as u64, naive[first].pop_front()?)));
                        prop_assert_eq!(bank.extract_min(), expected);
                    }
                    _ if naive[queue].len() == depth => prop_assert_eq!(bank.push(queue, item), Err(Refused::Full(item))),
                    _ => {
                        prop_assert_eq!(bank.push(queue, item), Ok(()));
                        naive[queue].push_back(item);
                    }
                }
                prop_assert_eq!(bank.len_of(queue), naive[queue].len());
                prop_assert_eq!(bank.has_room(queue), naive[queue].len() < depth);
                prop_assert_eq!(bank.front(queue), naive[queue].front());
                prop_assert_eq!(bank.first_queue(), naive.iter().position(|fifo| !fifo.is_empty()));
                prop_assert_eq!(bank.len(), naive.iter().map(VecDeque::len).sum::<usize>());
                let all = naive.iter().zip(0..).flat_map(|(fifo, queue)| fifo.iter().map(move |item| (queue, item)));
                prop_assert!(bank.iter().eq(all));
            }
        }
    }

    #[test]
    fn every_fifo_has_room_of_its_own() {
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
