//! Priorities that grow without end, such as virtual times and deadlines.

use crate::partitioned::Partitioned;
use crate::{BadShape, DoubleEnded, Handle, PriorityQueue, Refused};

/// Rule for an item for which the window has no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Beyond {
    /// It is refused with [`Refused::OutOfSpan`].
    #[default]
    Refuse,
    /// It waits with the priority of the window that is nearest, behind what is there; among such items, and against those that come to
    /// that priority later, the order is lost.
    Last,
}

/// A queue for the priorities of a window that moves along as it is served.
///
/// The window is two halves, each a queue for `half` priorities over one memory; it begins at a multiple of `half`. When its first
/// half is empty and something is to be served, the second half becomes the first, and the queue behind it becomes the new second
/// half. It does not move as soon as the first half is empty, and so does not pass what was served last: **as long as every priority
/// is at least the one served last, and at most `half` above it, the order is exact**, for ever.
///
/// What is outside:
///
/// - *late*, behind the window and below what was served last: the item waits with the window's first priority, behind what is there.
///   So it is served before all that is due later, and after what was as late as it.
/// - *behind* the window, but not below what was served last: the window had moved ahead to a priority that came to an empty queue.
///   [`Beyond`] decides, for otherwise the item would report a priority that is larger than its own.
/// - *beyond* the window: if the first half is empty, the window first moves as far as what is in it allows. Then [`Beyond`] decides.
/// - *an empty queue* has a window wherever the next priority is, above or below. So while one priority waits that was far too large,
///   smaller ones are refused or lose their order, but no longer than until the queue is next empty.
///
/// The priority that comes with an item is the one that it waited with: with [`Beyond::Refuse`] its own, or that of the window's
/// beginning if it was late. Priorities are 64-bit integers that
/// do not wrap: at one for every nanosecond they last for 584 years.
///
/// Every operation is O(`LEVELS`) in the worst case.
///
/// Source: Atre 2025 §4.5.2, after the circular queue of Eiffel, NSDI 2019, §3.1. There the window moves as soon as its first half
/// is empty, by which an item that is due before the half would have ended comes behind the window.
#[derive(Clone, Debug)]
pub struct RollingWindow<T, const LEVELS: usize = 3> {
    beyond: Beyond,
    half: u64,
    /// The number of the first half since priority 0. The queue of a half is the one of its number's parity.
    first: u64,
    /// The priority that was served last, or 0: what is below is late.
    served: u64,
    queues: Partitioned<T, LEVELS>,
}

impl<T, const LEVELS: usize> RollingWindow<T, LEVELS> {
    /// A window of twice `half` priorities from 0 on, for `capacity` items.
    ///
    /// # Errors
    ///
    /// If either is 0, the window is wider than 64^`LEVELS` or the capacity beyond [`MOST_ITEMS`](super::MOST_ITEMS).
    pub fn new(half: u64, capacity: usize, beyond: Beyond) -> Result<Self, BadShape> {
        Ok(Self { beyond, half, first: 0, served: 0, queues: Partitioned::new(2, half, capacity)? })
    }

    /// The first priority of the window, and the number of those in it.
    pub fn window(&self) -> (u64, u64) {
        (self.first * self.half, 2 * self.half)
    }

    /// The queues of the first and the second half.
    fn halves(&self) -> [usize; 2] {
        let first = (self.first % 2) as usize;
        [first, 1 - first]
    }

    /// The first half, once the window has moved to where `priority` is in it as far as what waits lets it.
    fn rolled_to(&self, priority: u64) -> u64 {
        let [first, second] = self.halves().map(|queue| self.queues.len_of(queue));
        match (priority / self.half).checked_sub(self.first) {
            Some(0 | 1) => self.first,
            _ if first == 0 && second == 0 => priority / self.half,
            Some(_) if first == 0 => self.first + 1,
            _ => self.first,
        }
    }

    /// Adds an item like [`PriorityQueue::insert`], and returns its name.
    ///
    /// # Errors
    ///
    /// As [`PriorityQueue::insert`].
    #[inline]
    pub fn insert_named(&mut self, priority: u64, item: T) -> Result<Handle, Refused<T>> {
        // Without a division, where there is nothing to move.
        let (number, place) = match priority.checked_sub(self.first * self.half) {
            Some(offset) if offset < self.half => (self.first, offset),
            Some(offset) if offset - self.half < self.half => (self.first + 1, offset - self.half),
            _ => return self.insert_outside(priority, item),
        };
        self.queues.insert((number % 2) as usize, place, item)
    }

    /// Adds an item that is not in the window as it is.
    #[cold]
    fn insert_outside(&mut self, priority: u64, item: T) -> Result<Handle, Refused<T>> {
        let first = self.rolled_to(priority);
        let (number, place) = match (priority / self.half).checked_sub(first) {
            None if self.beyond == Beyond::Last || priority < self.served => (first, 0),
            None => return Err(Refused::OutOfSpan(item)),
            Some(halves @ 0..=1) => (first + halves, priority % self.half),
            Some(_) if self.beyond == Beyond::Last => (first + 1, self.half - 1),
            Some(_) => return Err(Refused::OutOfSpan(item)),
        };
        let handle = self.queues.insert((number % 2) as usize, place, item)?;
        self.first = first;
        Ok(handle)
    }

    /// Takes out an item wherever it is, with the priority that it waited with; `None` if it has left.
    pub fn remove(&mut self, handle: Handle) -> Option<(u64, T)> {
        let (queue, place, item) = self.queues.remove(handle)?;
        let half = u64::from(queue != self.halves()[0]);
        Some((self.priority(half, place), item))
    }

    /// Index of the half at the front: the second, if there is nothing in the first.
    fn front(&self) -> u64 {
        u64::from(self.queues.len_of(self.halves()[0]) == 0)
    }

    /// Index of the half at the back.
    fn back(&self) -> u64 {
        u64::from(self.queues.len_of(self.halves()[1]) > 0)
    }

    /// The priority that `place` has in a half.
    fn priority(&self, half: u64, place: u64) -> u64 {
        (self.first + half) * self.half + place
    }
}

impl<T, const LEVELS: usize> PriorityQueue<T> for RollingWindow<T, LEVELS> {
    fn capacity(&self) -> usize {
        self.queues.capacity()
    }

    fn len(&self) -> usize {
        self.queues.len()
    }

    #[inline]
    fn insert(&mut self, priority: u64, item: T) -> Result<Option<(u64, T)>, Refused<T>> {
        self.insert_named(priority, item).map(|_| None)
    }

    fn peek_min(&self) -> Option<(u64, &T)> {
        let half = self.front();
        let (place, item) = self.queues.peek_min(self.halves()[half as usize])?;
        Some((self.priority(half, place), item))
    }

    #[inline]
    fn extract_min(&mut self) -> Option<(u64, T)> {
        let half = self.front();
        let (place, item) = self.queues.extract_min(self.halves()[half as usize])?;
        self.first += half;
        self.served = self.priority(0, place);
        Some((self.served, item))
    }
}

impl<T, const LEVELS: usize> DoubleEnded<T> for RollingWindow<T, LEVELS> {
    fn peek_max(&self) -> Option<(u64, &T)> {
        let half = self.back();
        let (place, item) = self.queues.peek_max(self.halves()[half as usize])?;
        Some((self.priority(half, place), item))
    }

    #[inline]
    fn extract_max(&mut self) -> Option<(u64, T)> {
        let half = self.back();
        let (place, item) = self.queues.extract_max(self.halves()[half as usize])?;
        Some((self.priority(half, place), item))
    }
}
