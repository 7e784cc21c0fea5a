//! Timers: items with deadlines, near or far.

use crate::slab::{Buckets, Handle};
use crate::{BadShape, Refused};

/// Bits of a deadline that a wheel resolves: a digit of it, if it is written to base 64.
const BITS: u32 = 6;
const WIDTH: u64 = 1 << BITS;
/// Number of wheels: 64 bits have 11 digits.
const WHEELS: u64 = u64::BITS.div_ceil(BITS) as u64;

/// A queue of timers: what is due is taken out in the order of its deadlines, and any timer can be cancelled
/// or rescheduled.
///
/// Time is an argument, in whatever unit the program counts it: nanoseconds since it started, milliseconds, ticks. Deadlines are all
/// 64-bit integers; none is refused because it is far away.
///
/// ```
/// use trueplane_pqueue::TimerQueue;
///
/// // Room for 1000 timers; it is 5 o'clock.
/// let mut timers = TimerQueue::new(5, 1000)?;
/// let close = timers.insert(600_000, "close")?;
/// timers.insert(1_000, "retry")?;
/// timers.insert(1_000, "log")?;
/// assert_eq!(timers.next_deadline(), Some(1_000));
///
/// let due: Vec<_> = timers.expire(2_000).collect();
/// assert_eq!(due, [(1_000, "retry"), (1_000, "log")]);
/// assert_eq!(timers.cancel(close), Some((600_000, "close")));
/// assert!(timers.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// - *Order*: by deadline; timers of one deadline in the order in which they were inserted or got that deadline.
/// - *Late timers*, whose deadline is before the queue's time when they get it, count as due at that time: they come before
///   all that is due later, and behind what is due at that time already. They keep their own deadline.
/// - *Time* never goes back: a call with an earlier time counts as one with [`Self::now`]. While timers are being taken out, the time
///   stands at the deadline of the last one; it reaches the time that a call was told once nothing more is due then.
///
/// Cost: O(1) to insert, to cancel and to reschedule. A timer is moved at most 10 times from far to near while time passes, so that taking it out
/// is O(1) amortised; one call may move all timers. Nothing is allocated after construction. Memory: about 48 bytes for each place of
/// the capacity beside the item, and 9 KB.
///
/// How: 11 wheels of 64 slots, one for each digit of a deadline to base 64. A timer lies in the wheel of the first digit in which its
/// deadline differs from the time, in the slot of that digit. So slots in the order of wheels are in the order of deadlines,
/// the tree of [`OccupancyTree`](crate::OccupancyTree) finds the first one, and when time reaches a slot of a later wheel, its
/// timers are spread over the earlier ones.
///
/// Source: Varghese, Lauck, *Hashed and Hierarchical Timing Wheels*, SOSP 1987, scheme 7. Departures: the wheels of digits need no overflow
/// list, and time skips empty slots instead of visiting each.
#[derive(Clone, Debug)]
pub struct TimerQueue<T> {
    now: u64,
    /// Slot `d` of wheel `w` is bucket 64 · w + d. Each item has its deadline beside it.
    slots: Buckets<(u64, T), 2>,
}

impl<T> TimerQueue<T> {
    /// A queue for `capacity` timers at the time `now`.
    ///
    /// # Errors
    ///
    /// If the capacity is 0 or beyond [`MOST_ITEMS`](crate::MOST_ITEMS).
    pub fn new(now: u64, capacity: usize) -> Result<Self, BadShape> {
        Ok(Self { now, slots: Buckets::new(WHEELS * WIDTH, capacity)? })
    }

    /// Number of timers that the queue can hold.
    pub fn capacity(&self) -> usize {
        self.slots.capacity()
    }

    /// Number of timers in the queue, due or not.
    pub fn len(&self) -> usize {
        self.slots.occupancy().len()
    }

    /// Whether there are no timers.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time of the queue: the latest that it was told, or the deadline of the last timer taken out while others are still due.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Adds a timer that is due from `deadline` on: O(1).
    ///
    /// # Errors
    ///
    /// The item comes back with [`Refused::Full`] if there are as many timers as the queue can hold, and for no other reason.
    #[inline]
    pub fn insert(&mut self, deadline: u64, item: T) -> Result<Handle, Refused<T>> {
        if self.slots.is_full() {
            return Err(Refused::Full(item));
        }
        Ok(self.slots.push(self.slot(deadline), (deadline, item)))
    }

    /// The deadline and the item of a timer that is still there: O(1).
    pub fn find(&self, timer: Handle) -> Option<(u64, &T)> {
        self.slots.find(timer).map(|(_, (deadline, item))| (*deadline, item))
    }

    /// The deadline and the item of a timer that is still there, with the item to change: O(1).
    pub fn get_mut(&mut self, timer: Handle) -> Option<(u64, &mut T)> {
        self.slots.find_mut(timer).map(|(_, (deadline, item))| (*deadline, item))
    }

    /// Gives a timer that is still there another deadline, in place, and returns the old one; `None` if the timer has left. O(1).
    ///
    /// The handle stays valid. The timer takes its place in the order as if it were inserted now: behind the others of its new deadline,
    /// even if that is the old one. A full queue takes it, too.
    ///
    /// ```
    /// # use trueplane_pqueue::TimerQueue;
    /// let mut timers = TimerQueue::new(0, 1)?;
    /// let idle = timers.insert(30_000, "close")?;
    /// assert_eq!(timers.reschedule(idle, 45_000), Some(30_000));
    /// assert_eq!(timers.cancel(idle), Some((45_000, "close")));
    /// assert_eq!(timers.reschedule(idle, 60_000), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reschedule(&mut self, timer: Handle, deadline: u64) -> Option<u64> {
        let slot = self.slot(deadline);
        let (_, (current, _)) = self.slots.find_mut(timer)?;
        let old = std::mem::replace(current, deadline);
        self.slots.relocate(timer, slot);
        Some(old)
    }

    /// Takes out a timer before it is due, with its deadline; `None` if it has left. O(1).
    pub fn cancel(&mut self, timer: Handle) -> Option<(u64, T)> {
        self.slots.remove(timer).map(|(_, timer)| timer)
    }

    /// Takes out all timers that are due at `now`, with their deadlines, in order.
    ///
    /// Timers that the iterator has not returned when it is dropped stay in the queue, and the next call returns them.
    ///
    /// The iterator borrows the queue. A handler that inserts, cancels or reschedules timers runs in a loop over [`Self::pop_due`] instead,
    /// which also returns what the handler inserts and is due at `now`:
    ///
    /// ```
    /// # use trueplane_pqueue::TimerQueue;
    /// # let mut timers = TimerQueue::new(0, 10)?;
    /// # timers.insert(10, "probe")?;
    /// let now = 35;
    /// while let Some((deadline, item)) = timers.pop_due(now) {
    ///     timers.insert(deadline + 10, item)?; // every 10 units
    /// }
    /// assert_eq!(timers.next_deadline(), Some(40));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn expire(&mut self, now: u64) -> impl Iterator<Item = (u64, T)> {
        std::iter::from_fn(move || self.pop_due(now))
    }

    /// Takes out the first timer that is due at `now`, with its deadline: O(1) amortised.
    #[inline]
    pub fn pop_due(&mut self, now: u64) -> Option<(u64, T)> {
        let slot = self.advance(now.max(self.now))?;
        self.slots.pop(slot)
    }

    /// The deadline of the timer that [`Self::expire`] returns first; `None` if there are none.
    ///
    /// O(1) if it is in the same 64 units as the time (both ÷ 64 are equal), else O(timers in the slot of the first): a loop that only
    /// wants to know how long it may sleep asks [`Self::wake_at`].
    pub fn next_deadline(&self) -> Option<u64> {
        let slot = self.slots.occupancy().min()?;
        if slot < WIDTH {
            return self.slots.front(slot).map(|(deadline, _)| *deadline);
        }
        self.slots.iter(slot..slot + 1).map(|(_, (deadline, _))| *deadline).min()
    }

    /// The time until which nothing is due, for the next call of [`Self::expire`]; `None` if there are no timers. O(1).
    ///
    /// It is the queue's time if a timer is due already, and the next deadline if that is in the same 64 units as the time (both ÷ 64 are
    /// equal). Else it is an earlier time: call [`Self::expire`] then and ask again, at most 10 times for each deadline that a timer gets.
    pub fn wake_at(&self) -> Option<u64> {
        self.slots.occupancy().min().map(|slot| self.start(slot))
    }

    /// All timers with their deadlines, in no particular order: O(1) for each.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.slots.iter(0..WHEELS * WIDTH).map(|(_, (deadline, item))| (*deadline, item))
    }

    /// Drops all timers: O(n). The queue keeps its memory and its time.
    pub fn clear(&mut self) {
        while let Some(slot) = self.slots.occupancy().min() {
            self.slots.pop(slot);
        }
    }

    /// The slot of a timer at this time: that of the first digit in which its deadline differs from the time.
    #[inline]
    fn slot(&self, deadline: u64) -> u64 {
        let due = deadline.max(self.now);
        let wheel = (due ^ self.now).checked_ilog2().unwrap_or(0) / BITS;
        u64::from(wheel) * WIDTH + (due >> (wheel * BITS)) % WIDTH
    }

    /// The first instant of a slot: the digits of the time before that of the slot, then that, then zeros.
    #[inline]
    fn start(&self, slot: u64) -> u64 {
        let shift = (slot / WIDTH) as u32 * BITS;
        let before = self.now.checked_shr(shift + BITS).map_or(0, |digits| digits << (shift + BITS));
        before | (slot % WIDTH) << shift
    }

    /// Lets time pass until `to`, or until something is due; returns the slot of what is due.
    ///
    /// No slot is passed before it is empty. Hence a time between two digits of the same wheel changes the slot of no other timer: the
    /// digits before its own are those of the time, as they were, and its own is larger.
    #[inline]
    fn advance(&mut self, to: u64) -> Option<u64> {
        while let Some(slot) = self.slots.occupancy().min() {
            let start = self.start(slot);
            if start > to {
                break;
            }
            self.now = start;
            if slot < WIDTH {
                return Some(slot);
            }
            self.spread(slot);
        }
        self.now = to;
        None
    }

    /// Moves the timers of a slot that time has reached to slots of earlier wheels, in their order.
    #[cold]
    fn spread(&mut self, slot: u64) {
        while let Some(&(deadline, _)) = self.slots.front(slot) {
            self.slots.shift(slot, self.slot(deadline));
        }
    }
}
