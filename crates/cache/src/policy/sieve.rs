//! SIEVE: a queue, a bit for each object, and a hand that does not go back.

use trueplane_units::Nanos;

use crate::list::List;
use crate::marks::Marks;
use crate::{Object, Policy, Room, Slot};

/// A hit only sets the object's bit. The hand walks from the oldest to the newest object and around, clears the bits
/// that it finds set and evicts the first object whose bit is not.
///
/// O(1) amortised. Source: Y. Zhang et al., *SIEVE is simpler than LRU*, NSDI 2024, algorithm 1.
#[derive(Clone, Debug, Default)]
pub struct Sieve {
    queue: List,
    visited: Marks,
    hand: Option<u32>,
}

impl Sieve {
    /// SIEVE of an empty cache.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Policy for Sieve {
    fn touch(&mut self, slot: Slot, _object: Object, times: u64, _now: Nanos) {
        self.mark(slot, times);
    }

    fn hits_only_mark(&self) -> bool {
        true
    }

    #[inline]
    fn mark(&self, slot: Slot, times: u64) {
        self.visited.raise(slot, times, 1);
    }

    fn admit(&mut self, slot: Slot, _fetch: Nanos, now: Nanos, room: &mut Room<'_>) {
        self.make_room(now, room);
        self.visited.clear(slot);
        self.queue.push(slot.0);
    }

    fn remove(&mut self, slot: Slot, _object: Object, _now: Nanos) {
        // A hand that points to it goes on to the next.
        if self.hand == Some(slot.0) {
            self.hand = self.queue.newer_than(slot.0);
        }
        self.queue.remove(slot.0);
    }

    #[inline]
    fn make_room(&mut self, _now: Nanos, room: &mut Room<'_>) {
        while room.lacking() {
            let mut victim =
                self.hand.or(self.queue.oldest()).expect("what does not fit alone is not admitted");
            while std::mem::take(self.visited.of(victim)) > 0 {
                victim = self.queue.newer_than(victim).or(self.queue.oldest()).expect("it is not empty");
            }
            self.hand = self.queue.newer_than(victim);
            self.queue.remove(victim);
            room.evict(Slot(victim));
        }
    }
}
