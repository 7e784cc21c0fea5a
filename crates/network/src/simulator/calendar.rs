//! The calendar of events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trueplane_units::Nanos;

/// Nanoseconds in a bucket, as a power of two.
const WIDTH_BITS: u32 = 6;

/// Buckets in the ring, a power of two: it reaches 262 µs ahead, beyond the longest packet on a link of 1 Gbit/s.
const BUCKETS: usize = 1 << 12;

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
/// A ring of buckets of 64 ns holds what happens next, a heap what happens later. Each bucket is a list through one slab, whose places are
/// used again while they are still in the processor's cache. A bucket is sorted when it is reached. Events are not taken out: an owner gives each a stamp and ignores those that no longer count.
///
/// Cost: amortised O(1) in the ring for a bounded number of events in a bucket, O(log n) for n events beyond it.
#[derive(Debug)]
pub struct Calendar {
    /// First event of each bucket in the slab, the latest added first.
    ring: Vec<u32>,
    slab: Vec<Listed>,
    /// First free place of the slab.
    free: u32,
    /// One bit for each bucket that is not empty.
    occupied: Vec<u64>,
    /// Number of the bucket that is being read, counted from time zero.
    current: u64,
    /// Events of that bucket, the next one last.
    open: Vec<Event>,
    later: BinaryHeap<Reverse<(Nanos, u64, u32, u32)>>,
    added: u64,
    len: usize,
}

/// An event in a bucket.
#[derive(Clone, Copy, Debug)]
struct Listed {
    event: Event,
    /// Place of the one that was added before it.
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
            ring: vec![END; BUCKETS],
            slab: Vec::new(),
            free: END,
            occupied: vec![0; BUCKETS / 64],
            current: 0,
            open: Vec::new(),
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
        if bucket == self.current {
            // The next is last: behind all that are not earlier, that is before them here.
            let place = self.open.partition_point(|known| known.time > event.time);
            self.open.insert(place, event);
        } else if bucket < self.current + BUCKETS as u64 {
            self.put(bucket, event);
        } else {
            self.added += 1;
            self.later.push(Reverse((event.time, self.added, event.what, event.stamp)));
        }
    }

    #[inline]
    fn put(&mut self, bucket: u64, event: Event) {
        let index = bucket as usize % BUCKETS;
        let listed = Listed { event, next: self.ring[index] };
        let place = self.free;
        if let Some(known) = self.slab.get_mut(place as usize) {
            self.free = known.next;
            *known = listed;
            self.ring[index] = place;
        } else {
            self.ring[index] = self.slab.len() as u32;
            self.slab.push(listed);
        }
        self.occupied[index / 64] |= 1 << (index % 64);
    }

    /// Takes the next event.
    #[inline]
    pub fn take(&mut self) -> Option<Event> {
        while self.open.is_empty() {
            if self.len == 0 {
                return None;
            }
            self.advance();
        }
        self.len -= 1;
        self.open.pop()
    }

    /// Opens the next bucket that has events.
    fn advance(&mut self) {
        let near = self.next_occupied();
        let far = self.later.peek().map(|Reverse((time, ..))| time.0 >> WIDTH_BITS);
        let next = match (near, far) {
            (Some(near), Some(far)) => near.min(far),
            (one, other) => one.or(other).unwrap_or(self.current),
        };
        self.current = next;
        // What comes within reach goes to the ring before anything else can be added there, and so keeps its place.
        let reach = (self.current + BUCKETS as u64) << WIDTH_BITS;
        while let Some(&Reverse((time, _, what, stamp))) =
            self.later.peek().filter(|Reverse(first)| first.0.0 < reach)
        {
            self.later.pop();
            self.put(time.0 >> WIDTH_BITS, Event { time, what, stamp });
        }
        let index = self.current as usize % BUCKETS;
        let mut place = std::mem::replace(&mut self.ring[index], END);
        while place != END {
            let listed = &mut self.slab[place as usize];
            self.open.push(listed.event);
            let next = std::mem::replace(&mut listed.next, self.free);
            self.free = place;
            place = next;
        }
        self.occupied[index / 64] &= !(1 << (index % 64));
        // Those of one time stay as they are, the latest added first.
        self.open.sort_by_key(|event| Reverse(event.time));
    }

    /// The next bucket of the ring that has events, behind the current one.
    fn next_occupied(&self) -> Option<u64> {
        let words = self.occupied.len();
        let start = (self.current as usize + 1) % BUCKETS;
        // The first word from the start on, the others, and the first again for what lies before the start.
        for step in 0..=words {
            let word = (start / 64 + step) % words;
            let mut bits = self.occupied[word];
            if step == 0 {
                bits &= u64::MAX << (start % 64);
            } else if step == words {
                bits &= !(u64::MAX << (start % 64));
            }
            if bits != 0 {
                let index = word * 64 + bits.trailing_zeros() as usize;
                let distance = (index + BUCKETS - start) % BUCKETS;
                return Some(self.current + 1 + distance as u64);
            }
        }
        None
    }
}
