//! S3-FIFO: three queues, because most objects are wanted once.

use trueplane_units::Nanos;

use crate::ghost::GhostList;
use crate::list::List;
use crate::marks::Marks;
use crate::{Object, Policy, Room, Slot, grow};

/// The share of the capacity that newcomers pass through, 1/10 (§4.2).
const SMALL_SHARE: u64 = 10;
/// Two bits count the hits (§4.2).
const MOST_HITS: u8 = 3;
/// Hits in the small queue that earn a place in the main one: more than one (algorithm 1, line 20).
const EARNED: u8 = 2;

/// Newcomers enter a small FIFO queue; those hit twice there go on to the main FIFO queue, the others leave and are
/// remembered for as long as the main queue is large. A remembered object goes to the main queue at once, where every
/// hit buys another round.
///
/// O(1) amortised. Source: J. Yang et al., *FIFO queues are all you need for cache eviction*, SOSP 2023, algorithm 1.
/// Departure: after a promotion the share of the small queue is looked at again, where the original goes on until one
/// object has left it.
#[derive(Clone, Debug, Default)]
pub struct S3Fifo {
    small: List,
    small_size: u64,
    main: List,
    ghosts: GhostList,
    hits: Marks,
    /// Whether the object in a slot is in the main queue.
    is_main: Vec<bool>,
}

impl S3Fifo {
    /// S3-FIFO of an empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the small queue's oldest on, into the main queue or out.
    fn evict_small(&mut self, room: &mut Room<'_>) -> bool {
        let Some(oldest) = self.small.pop() else { return false };
        let object = room.object(Slot(oldest));
        self.small_size -= object.size;
        if *self.hits.of(oldest) >= EARNED {
            *self.hits.of(oldest) = 0;
            self.is_main[oldest as usize] = true;
            self.main.push(oldest);
        } else {
            room.evict(Slot(oldest));
            self.ghosts.push(object);
            self.shrink_ghosts(room);
        }
        true
    }

    /// Forgets the oldest ghosts beyond the size of the main queue.
    fn shrink_ghosts(&mut self, room: &Room<'_>) {
        self.ghosts.shrink(room.capacity() - room.capacity() / SMALL_SHARE);
    }

    /// Evicts until there is room.
    fn evict(&mut self, room: &mut Room<'_>) {
        while room.lacking() {
            let small_is_full = self.small_size >= (room.capacity() / SMALL_SHARE).max(1);
            let moved = if small_is_full || self.main.is_empty() {
                self.evict_small(room)
            } else {
                self.evict_main(room)
            };
            assert!(moved, "what does not fit alone is not admitted");
        }
    }

    /// Gives the main queue's oldest another round or sends it away.
    fn evict_main(&mut self, room: &mut Room<'_>) -> bool {
        let Some(oldest) = self.main.pop() else { return false };
        let hits = self.hits.of(oldest);
        if *hits > 0 {
            *hits -= 1;
            self.main.push(oldest);
        } else {
            room.evict(Slot(oldest));
        }
        true
    }
}

impl Policy for S3Fifo {
    fn touch(&mut self, slot: Slot, _object: Object, times: u64, _now: Nanos) {
        self.mark(slot, times);
    }

    fn hits_only_mark(&self) -> bool {
        true
    }

    #[inline]
    fn mark(&self, slot: Slot, times: u64) {
        self.hits.raise(slot, times, MOST_HITS);
    }

    fn admit(&mut self, slot: Slot, _fetch: Nanos, _now: Nanos, room: &mut Room<'_>) {
        let object = room.object(slot);
        // Before anything is evicted: that could push it off the list (algorithm 1, lines 8 to 14).
        let is_remembered = self.ghosts.remove(object.key);
        self.evict(room);
        self.hits.clear(slot);
        grow(&mut self.is_main, slot, false);
        self.is_main[slot.index()] = is_remembered;
        if is_remembered {
            self.main.push(slot.0);
        } else {
            self.small.push(slot.0);
            self.small_size += object.size;
        }
    }

    fn remove(&mut self, slot: Slot, object: Object, _now: Nanos) {
        if self.is_main[slot.index()] {
            self.main.remove(slot.0);
        } else {
            self.small.remove(slot.0);
            self.small_size -= object.size;
        }
    }

    fn make_room(&mut self, _now: Nanos, room: &mut Room<'_>) {
        self.evict(room);
        self.shrink_ghosts(room);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Access, Directory, Key, Outcome};
    use super::*;

    fn ask(cache: &mut Directory<S3Fifo>, key: u64) {
        let access = Access::at(Nanos(0));
        let (outcome, slot) = cache.request(Object { key: Key(key), size: 1 }, access);
        if outcome == Outcome::Miss {
            let _ = cache.fetched(slot, Nanos(0), Nanos(0));
        }
    }

    #[test]
    fn the_oldest_ghost_is_remembered_although_its_return_makes_another() {
        let mut cache = Directory::new(S3Fifo::default(), 10);
        // 0 to 9 fill the cache; 10 to 18 push out 0 to 8, and these nine are all that the list remembers.
        (0..19).for_each(|key| ask(&mut cache, key));
        // It pushes out 9, for which the list has room only if 0 is looked up first.
        ask(&mut cache, 0);
        // In the main queue it stays, where ten newcomers would push it out of the small one.
        (100..120).for_each(|key| ask(&mut cache, key));
        assert!(cache.contains(Key(0)));
        assert!(!cache.contains(Key(18)));
    }
}
