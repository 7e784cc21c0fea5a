//! The calendar of events.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trueplane_units::Nanos;

use super::bitmap::Bitmap;

/// Slots of the near ring, one for each nanosecond: it reaches 16 µs ahead, beyond the longest packet on a link of 1 Gbit/s.
const SLOTS: usize = 1 << SLOT_BITS;
const SLOT_BITS: u32 = 14;

/// Nanoseconds of a block, as a power of two. The near ring moves on block by block.
const BLOCK_BITS: u32 = 10;

/// Blocks of the near ring.
const NEAR: u64 = (SLOTS >> BLOCK_BITS) as u64;

/// Blocks of the far ring, behind those of the near one: it reaches 4 ms ahead.
const FAR: usize = 1 << 12;

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
/// - A near ring has a slot for each nanosecond, and bits say which slots have events. A slot holds one event itself; more events of the
///   same nanosecond follow it in a list. Nothing is compared or sorted.
/// - A far ring has a list for each block of 1,024 ns. When the near ring moves on by a block, the events of the block that it reaches
///   go to their slots.
/// - A heap holds what happens later than that.
///
/// The lists lead through one slab, whose places are used again while they are still in the processor's cache. Events are not taken out:
/// an owner gives each a stamp and ignores those that no longer count.
///
/// Cost: O(1) in the rings, O(log n) for n events beyond them. Memory: 300 kB, 16 bytes for
/// each event in a list, and 24 for each in the heap.
#[derive(Debug)]
pub struct Calendar {
    /// Word of `near_bits` that is being read, counted from time zero.
    word: u64,
    near: Box<[Slot; SLOTS]>,
    near_bits: Bitmap<{ SLOTS / 64 }>,
    /// The event of each block of the far ring that was added last, in the slab.
    far: Box<[u32; FAR]>,
    far_bits: Bitmap<{ FAR / 64 }>,
    later: BinaryHeap<Reverse<(Nanos, u64, u32, u32)>>,
    /// Number of events that were ever added to the heap.
    added: u64,
    slab: Vec<Listed>,
    /// First free place of the slab.
    free: u32,
    len: usize,
}

/// The events of a nanosecond: the first, and the list of the others.
#[derive(Clone, Copy, Debug)]
struct Slot {
    what: u32,
    stamp: u32,
    next: u32,
    /// The last one of the list, if there is a list.
    last: u32,
}

/// An event in a list; the list knows the rest of its time.
#[derive(Clone, Copy, Debug)]
struct Listed {
    what: u32,
    stamp: u32,
    next: u32,
    /// Nanosecond in its block.
    nano: u32,
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
            word: 0,
            near: Box::new([Slot { what: 0, stamp: 0, next: END, last: END }; SLOTS]),
            near_bits: Bitmap::new(),
            far: Box::new([END; FAR]),
            far_bits: Bitmap::new(),
            later: BinaryHeap::new(),
            added: 0,
            slab: Vec::new(),
            free: END,
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

    /// First block of the near ring, counted from time zero.
    #[inline]
    fn block(&self) -> u64 {
        self.word >> (BLOCK_BITS - 6)
    }

    /// Adds an event, which must not lie before the last one that was taken.
    // The parts of an event come in registers: if they came in memory, two writes of four bytes would have to wait for one read of eight.
    #[inline(always)]
    pub fn add(&mut self, event: Event) {
        self.len += 1;
        debug_assert!(event.time.0 >> 6 >= self.word);
        if (event.time.0 >> BLOCK_BITS) - self.block() < NEAR {
            self.put_near(event.time.0, event.what, event.stamp);
        } else {
            self.put_beyond(event);
        }
    }

    /// Puts an event into the near ring.
    #[inline(always)]
    fn put_near(&mut self, time: u64, what: u32, stamp: u32) {
        let index = time as usize % SLOTS;
        if self.near_bits.insert(index) {
            self.near[index] = Slot { what, stamp, next: END, last: END };
        } else {
            self.put_behind(index, what, stamp);
        }
    }

    /// Puts an event behind others of the same nanosecond.
    #[inline(never)]
    fn put_behind(&mut self, index: usize, what: u32, stamp: u32) {
        let place = self.place(Listed { what, stamp, next: END, nano: 0 });
        let slot = &mut self.near[index];
        let before = std::mem::replace(&mut slot.last, place);
        match self.slab.get_mut(before as usize) {
            Some(before) if slot.next != END => before.next = place,
            _ => slot.next = place,
        }
    }

    /// Puts an event into the far ring or into the heap.
    #[inline(never)]
    fn put_beyond(&mut self, event: Event) {
        let block = event.time.0 >> BLOCK_BITS;
        if block - self.block() - NEAR < FAR as u64 {
            self.put_far(event);
        } else {
            self.added += 1;
            self.later.push(Reverse((event.time, self.added, event.what, event.stamp)));
        }
    }

    /// Puts an event into the far ring.
    fn put_far(&mut self, event: Event) {
        let index = (event.time.0 >> BLOCK_BITS) as usize % FAR;
        let nano = event.time.0 as u32 % (1 << BLOCK_BITS);
        let next = self.far[index];
        self.far[index] = self.place(Listed { what: event.what, stamp: event.stamp, next, nano });
        self.far_bits.insert(index);
    }

    /// Takes a place of the slab.
    fn place(&mut self, listed: Listed) -> u32 {
        let place = self.free;
        match self.slab.get_mut(place as usize) {
            Some(known) => {
                self.free = known.next;
                *known = listed;
                place
            }
            None => {
                self.slab.push(listed);
                self.slab.len() as u32 - 1
            }
        }
    }

    /// Gives a place of the slab back, and returns what was there.
    fn vacate(&mut self, place: u32) -> Option<Listed> {
        let known = self.slab.get_mut(place as usize)?;
        let listed = std::mem::replace(known, Listed { next: self.free, ..*known });
        self.free = place;
        Some(listed)
    }

    /// Takes the next event.
    #[inline]
    pub fn take(&mut self) -> Option<Event> {
        let mut bits = self.near_bits.word(self.word as usize);
        if bits == 0 {
            if self.len == 0 {
                return None;
            }
            self.advance();
            bits = self.near_bits.word(self.word as usize);
        }
        self.len -= 1;
        let time = self.word << 6 | u64::from(bits.trailing_zeros());
        let index = time as usize % SLOTS;
        let Slot { what, stamp, next, .. } = self.near[index];
        if next == END {
            self.near_bits.remove(index);
        } else {
            self.follow(index, next);
        }
        Some(Event { time: Nanos(time), what, stamp })
    }

    /// Puts the first event of a slot's list into the slot.
    #[inline(never)]
    fn follow(&mut self, index: usize, place: u32) {
        if let Some(Listed { what, stamp, next, .. }) = self.vacate(place) {
            let slot = &mut self.near[index];
            *slot = Slot { what, stamp, next, last: slot.last };
        }
    }

    /// Goes to the next word that has events.
    #[inline]
    fn advance(&mut self) {
        if let Some(ahead) = self.near_bits.next_word(self.word as usize) {
            let before = self.block();
            self.word += ahead as u64;
            if self.block() != before {
                self.reach(before);
            }
        } else {
            self.jump();
        }
    }

    /// Goes to the next word that has events, if the near ring has none.
    #[cold]
    fn jump(&mut self) {
        let before = self.block();
        self.word = self.next_far() << (BLOCK_BITS - 6);
        self.reach(before);
        if self.near_bits.word(self.word as usize) == 0 {
            self.word += self.near_bits.next_word(self.word as usize).unwrap_or(0) as u64;
        }
    }

    /// The next block that has events, if the near ring has none.
    fn next_far(&self) -> u64 {
        let start = self.block() + NEAR;
        let far = self.far_bits.next(start as usize % FAR).map_or(u64::MAX, |ahead| start + ahead as u64);
        let later = self.later.peek().map_or(u64::MAX, |Reverse((time, ..))| time.0 >> BLOCK_BITS);
        far.min(later)
    }

    /// Moves what comes within reach of the rings, before anything else can be added there, so that it keeps its place. The near ring
    /// began with the block `before` until now.
    #[inline(never)]
    fn reach(&mut self, before: u64) {
        let (start, reach) = (before + NEAR, self.block() + NEAR);
        while let Some(ahead) =
            self.far_bits.next(start as usize % FAR).filter(|ahead| start + (*ahead as u64) < reach)
        {
            self.open(start + ahead as u64);
        }
        while let Some(&Reverse((time, _, what, stamp))) = self
            .later
            .peek()
            .filter(|Reverse(first)| first.0.0 >> BLOCK_BITS < reach.saturating_add(FAR as u64))
        {
            self.later.pop();
            if time.0 >> BLOCK_BITS < reach {
                self.put_near(time.0, what, stamp);
            } else {
                self.put_far(Event { time, what, stamp });
            }
        }
    }

    /// Moves the events of a block from the far ring to the near one.
    fn open(&mut self, block: u64) {
        let index = block as usize % FAR;
        self.far_bits.remove(index);
        // The latest added comes first in the list, and has to come last in its slot.
        let (mut place, mut turned) = (std::mem::replace(&mut self.far[index], END), END);
        while let Some(listed) = self.slab.get_mut(place as usize) {
            (turned, place) = (place, std::mem::replace(&mut listed.next, turned));
        }
        while let Some(Listed { what, stamp, next, nano }) = self.vacate(turned) {
            self.put_near(block << BLOCK_BITS | u64::from(nano), what, stamp);
            turned = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of the slab that events had are used again.
    #[test]
    fn memory_does_not_grow_with_the_number_of_events() {
        let mut calendar = Calendar::new();
        for number in 0..100_000 {
            for ahead in [0, 0, 0, 20_000, 20_000, 5_000_000] {
                let time = Nanos(u64::from(number) * 10_000 + ahead);
                calendar.add(Event { time, what: number, stamp: 0 });
            }
            while calendar.len() > 600 {
                calendar.take();
            }
        }
        assert!(calendar.slab.len() <= 606, "{}", calendar.slab.len());
    }
}
