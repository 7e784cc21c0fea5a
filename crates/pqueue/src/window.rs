//! Priorities that grow without end, such as virtual times and deadlines.

use crate::partitioned::Partitioned;
use crate::{BadShape, DoubleEnded, Handle, PriorityQueue, Refused};

/// Rule for an item for which the window has no place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
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
/// A window floats or is anchored. A *floating* window ([`Self::new`]) has no clock: it goes wherever the first priority of an
/// empty queue is. An *anchored* window ([`Self::starting_at`], [`Self::advance`]) begins in the half of `now`, the latest time that it
/// was told or that it served, and does not move ahead of it. The table says what becomes of a priority that is not in the window:
///
/// | priority | floating | anchored |
/// |---|---|---|
/// | any, and the queue is empty | the window moves there, up or down | the window moves to `now`, then as in the rows below |
/// | behind the window and below the last one served, or below `now`: *late* | waits with the window's first priority, behind what is there | the same |
/// | behind the window otherwise, as the window had moved ahead of it | [`Beyond`] decides | [`Beyond`] decides; only if an item from before the first [`Self::advance`] still holds the window ahead |
/// | beyond the window, and its first half is empty | the window moves by a half, then [`Beyond`] decides | the same, if `now` is past the first half |
/// | beyond the window otherwise | [`Beyond`] decides | [`Beyond`] decides |
///
/// So in a floating window one priority that is far too large makes smaller ones be refused or lose their order until the queue is
/// next empty. In an anchored one it changes nothing for the others. Timers that may be any time ahead have a queue of their own,
/// [`TimerQueue`](crate::TimerQueue), which refuses none.
///
/// The priority that comes with an item is the one that it waited with: with [`Beyond::Refuse`] its own, or that of the window's
/// beginning if it was late. Priorities are 64-bit integers that do not wrap: at one for every nanosecond they last for 584 years.
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
    /// The priority that was served last or the latest time that the queue was told, or 0: what is below is late.
    served: u64,
    /// Whether the window stays at `served`, instead of going where the first priority of an empty queue is.
    is_anchored: bool,
    queues: Partitioned<T, LEVELS>,
}

impl<T, const LEVELS: usize> RollingWindow<T, LEVELS> {
    /// A floating window of twice `half` priorities, for `capacity` items.
    ///
    /// # Errors
    ///
    /// If either is 0, the window is wider than 64^`LEVELS` or the capacity beyond [`MOST_ITEMS`](super::MOST_ITEMS).
    pub fn new(half: u64, capacity: usize, beyond: Beyond) -> Result<Self, BadShape> {
        let queues = Partitioned::new(2, half, capacity)?;
        Ok(Self { beyond, half, first: 0, served: 0, is_anchored: false, queues })
    }

    /// A window like [`Self::new`], anchored at `now`.
    ///
    /// ```
    /// use trueplane_pqueue::{Refused, RollingWindow, window::Beyond};
    ///
    /// let mut deadlines: RollingWindow<&str> = RollingWindow::starting_at(0, 1024, 10, Beyond::Refuse)?;
    /// assert_eq!(deadlines.insert(600_000, "far"), Err(Refused::OutOfSpan("far")));
    /// deadlines.insert(1_000, "near")?;
    /// assert_eq!(deadlines.extract_min(), Some((1_000, "near")));
    ///
    /// deadlines.advance(599_500);
    /// deadlines.insert(600_000, "far")?;
    /// deadlines.insert(1_000, "late")?;
    /// assert_eq!(deadlines.extract_min().map(|(_, item)| item), Some("late"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn starting_at(now: u64, half: u64, capacity: usize, beyond: Beyond) -> Result<Self, BadShape> {
        let mut window = Self::new(half, capacity, beyond)?;
        window.advance(now);
        Ok(window)
    }

    /// Tells the queue that the time is `now`, and anchors its window there from then on. A time that goes back counts as the latest.
    ///
    /// Nothing is taken out. The window moves up to `now` as far as what waits in it allows, and not past it: what is due holds it. So
    /// whoever takes out what is due after each call has a window that begins in the half of `now`. O(1).
    pub fn advance(&mut self, now: u64) {
        self.is_anchored = true;
        self.served = self.served.max(now);
        self.first = self.moved_to_now();
    }

    /// The first half of an anchored window, once it has moved towards the time as far as what waits lets it.
    fn moved_to_now(&self) -> u64 {
        let to = self.served / self.half;
        match self.halves().map(|queue| self.queues.len_of(queue)) {
            [0, 0] => to,
            [0, _] if to > self.first => self.first + 1,
            _ => self.first,
        }
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
        if self.is_anchored {
            return self.moved_to_now();
        }
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

    /// All items with their priorities in the order of [`Self::extract_min`]: O(`LEVELS`) for each priority, O(1) for each item.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        (0u64..).zip(self.halves()).flat_map(move |(half, queue)| {
            self.queues.iter(queue).map(move |(place, item)| (self.priority(half, place), item))
        })
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

crate::methods::both_ends!([T, const LEVELS: usize] RollingWindow<T, LEVELS>);

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
        let priority = self.priority(0, place);
        // An item that was due before the time that the queue was told does not turn it back.
        self.served = if self.is_anchored { self.served.max(priority) } else { priority };
        Some((priority, item))
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
