//! The calendar of events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trueplane_units::Nanos;

/// Nanoseconds in a bucket, as a power of two: as many as a word has bits.
const WIDTH_BITS: u32 = 6;
const WIDTH: usize = 1 << WIDTH_BITS;

/// Buckets in the ring, a word of words: it reaches 262 µs ahead, beyond the longest packet on a link of 1 Gbit/s.
const BUCKETS: usize = WIDTH * WIDTH;

/// An event: 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time at which it happens.
    pub time: Nanos,
    /// Kind and number of what it happens to, as its owner packs them.
    pub what: u32,
    /// A stamp by which the owner knows whether it still counts.
    pub stamp: u32,
}

/// Events in the order of their times; those of one time in the order in which they were added.
///
/// A ring of buckets of 64 ns holds what happens next, a heap what happens later. When a bucket is reached, its events go to 64 slots, one for
/// each nanosecond, and bits say which slots have any: nothing is ever compared or sorted. Buckets and slots are lists through one slab,
/// whose places are used again while they are still in the processor's cache. Events are not taken out: an owner gives each a stamp and
/// ignores those that no longer count.
///
/// Cost: O(1) in the ring, O(log n) for n events beyond it.
#[derive(Debug)]
pub struct Calendar {
    slab: Vec<Listed>,
    /// First free place of the slab.
    free: u32,
    /// One bit for each slot that has events.
    ready: u64,
    /// Number of the bucket that is being read, counted from time zero.
    current: u64,
    /// The events of that bucket, nanosecond by nanosecond.
    slots: Box<[Slot; WIDTH]>,
    /// One bit for each word of `occupied` that is not 0.
    summary: u64,
    /// One bit for each other bucket that has events.
    occupied: Box<[u64; WIDTH]>,
    /// The last event of each bucket in the slab.
    ring: Box<[u32]>,
    later: BinaryHeap<Reverse<(Nanos, u64, u32, u32)>>,
    added: u64,
    len: usize,
}

/// The events of a nanosecond, the earliest added first.
#[derive(Clone, Copy, Debug)]
struct Slot {
    first: u32,
    last: u32,
}

/// An event in a list; the list knows the rest of its time.
#[derive(Clone, Copy, Debug)]
struct Listed {
    what: u32,
    stamp: u32,
    /// Nanosecond in its bucket.
    slot: u32,
    /// Place of the next one in a slot, or of the one that was added before in a bucket.
    next: u32,
}

/// The end of a list.
const END: u32 = u32::MAX;

impl Default for Calendar {
    fn default() -> Self {
        Self::new()
    }
}

impl Calendar {
    /// An empty calendar at time zero.
    pub fn new() -> Self {
        Self {
            slab: Vec::new(),
            free: END,
            ready: 0,
            current: 0,
            slots: Box::new([Slot { first: END, last: END }; WIDTH]),
            summary: 0,
            occupied: Box::new([0; WIDTH]),
            ring: vec![END; BUCKETS].into(),
            later: BinaryHeap::new(),
            added: 0,
            len: 0,
        }
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds an event, which must not lie before the last one that was taken.
    #[inline]
    pub fn add(&mut self, event: Event) {
        self.len += 1;
        let bucket = event.time.0 >> WIDTH_BITS;
        debug_assert!(bucket >= self.current);
        if bucket.wrapping_sub(self.current + 1) < BUCKETS as u64 - 1 {
            self.put(event);
        } else {
            self.add_elsewhere(event);
        }
    }

    /// Adds an event of the bucket that is being read, or beyond the ring. These are few; apart from the others they cost those nothing.
    #[cold]
    fn add_elsewhere(&mut self, event: Event) {
        if event.time.0 >> WIDTH_BITS == self.current {
            self.put_now(event);
        } else {
            self.added += 1;
            self.later.push(Reverse((event.time, self.added, event.what, event.stamp)));
        }
    }

    /// Takes a place of the slab for an event that comes before `next` in its list.
    #[inline]
    fn place(&mut self, event: Event, next: u32) -> u32 {
        let slot = event.time.0 as u32 % WIDTH as u32;
        if self.free == END {
            self.grow();
        }
        let place = self.free;
        let known = &mut self.slab[place as usize];
        self.free = known.next;
        *known = Listed { what: event.what, stamp: event.stamp, slot, next };
        place
    }

    /// Adds a free place to the slab.
    #[cold]
    fn grow(&mut self) {
        self.free = self.slab.len() as u32;
        self.slab.push(Listed { what: 0, stamp: 0, slot: 0, next: END });
    }

    /// Puts an event into the ring.
    #[inline]
    fn put(&mut self, event: Event) {
        let index = (event.time.0 >> WIDTH_BITS) as usize % BUCKETS;
        self.ring[index] = self.place(event, self.ring[index]);
        self.occupied[index / WIDTH] |= 1 << (index % WIDTH);
        self.summary |= 1 << (index / WIDTH);
    }

    /// Puts an event into its slot of the bucket that is being read, behind the others.
    fn put_now(&mut self, event: Event) {
        let place = self.place(event, END);
        let slot = event.time.0 as usize % WIDTH;
        let Slot { first, last } = self.slots[slot];
        if first == END {
            self.slots[slot] = Slot { first: place, last: place };
            self.ready |= 1 << slot;
        } else {
            self.slab[last as usize].next = place;
            self.slots[slot].last = place;
        }
    }

    /// Takes the next event.
    #[inline]
    pub fn take(&mut self) -> Option<Event> {
        while self.ready == 0 {
            if self.len == 0 {
                return None;
            }
            self.advance();
        }
        self.len -= 1;
        let slot = self.ready.trailing_zeros();
        let first = &mut self.slots[slot as usize].first;
        let place = *first;
        let listed = &mut self.slab[place as usize];
        let Listed { what, stamp, next, .. } = *listed;
        listed.next = self.free;
        self.free = place;
        *first = next;
        if next == END {
            self.ready &= self.ready - 1;
        }
        Some(Event { time: Nanos(self.current << WIDTH_BITS | u64::from(slot)), what, stamp })
    }

    /// Opens the next bucket that has events.
    #[inline]
    fn advance(&mut self) {
        let near = self.next_occupied().unwrap_or(u64::MAX);
        let far = self.later.peek().map_or(u64::MAX, |Reverse((time, ..))| time.0 >> WIDTH_BITS);
        self.current = near.min(far);
        if far < self.current.saturating_add(BUCKETS as u64) {
            self.bring_near();
        }
        let index = self.current as usize % BUCKETS;
        let mut place = std::mem::replace(&mut self.ring[index], END);
        // The latest added comes first, and so each goes before those that are in its slot already.
        while let Some(listed) = self.slab.get_mut(place as usize) {
            let slot = listed.slot as usize % WIDTH;
            let is_last = self.ready >> slot & 1 == 0;
            let Slot { first, last } = self.slots[slot];
            let before = std::mem::replace(&mut listed.next, if is_last { END } else { first });
            self.slots[slot] = Slot { first: place, last: if is_last { place } else { last } };
            self.ready |= 1 << slot;
            place = before;
        }
        self.occupied[index / WIDTH] &= !(1 << (index % WIDTH));
        if self.occupied[index / WIDTH] == 0 {
            self.summary &= !(1 << (index / WIDTH));
        }
    }

    /// Moves what comes within reach to the ring, before anything else can be added there, so that it keeps its place.
    #[cold]
    fn bring_near(&mut self) {
        let reach = self.current + BUCKETS as u64;
        while let Some(&Reverse((time, _, what, stamp))) =
            self.later.peek().filter(|Reverse(first)| first.0.0 >> WIDTH_BITS < reach)
        {
            self.later.pop();
            self.put(Event { time, what, stamp });
        }
    }

    /// The next bucket of the ring that has events, behind the current one.
    #[inline]
    fn next_occupied(&self) -> Option<u64> {
        let start = (self.current as usize + 1) % BUCKETS;
        let (mut word, bits) = (start / WIDTH, self.occupied[start / WIDTH] >> (start % WIDTH));
        let index = if bits != 0 {
            start + bits.trailing_zeros() as usize
        } else if self.summary != 0 {
            // The words behind this one, and itself last: what it has lies before the start.
            let next = self.summary.rotate_right(word as u32 + 1).trailing_zeros() as usize;
            word = (word + 1 + next) % WIDTH;
            word * WIDTH + self.occupied[word].trailing_zeros() as usize
        } else {
            return None;
        };
        Some(self.current + 1 + (index.wrapping_sub(start) % BUCKETS) as u64)
    }
}
