//! Random replacement: the baseline that knows nothing.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_units::Nanos;

use crate::dense::DenseMap;
use crate::{Object, Policy, Room, Slot};

/// Evicts a resident object drawn uniformly from a seeded generator. O(1).
#[derive(Clone, Debug)]
pub struct Random {
    residents: DenseMap<()>,
    draw: Xoshiro256PlusPlus,
}

impl Random {
    /// Random replacement whose draws follow from `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self { residents: DenseMap::default(), draw: Xoshiro256PlusPlus::seed_from_u64(seed) }
    }
}

/// A position below `len`; the bias is below len / 2^64.
pub(super) fn below(draw: &mut Xoshiro256PlusPlus, len: usize) -> usize {
    ((u128::from(draw.next_u64()) * len as u128) >> 64) as usize
}

impl Policy for Random {
    fn touch(&mut self, _slot: Slot, _object: Object, _times: u64, _now: Nanos) {}

    fn hits_only_mark(&self) -> bool {
        true
    }

    fn admit(&mut self, slot: Slot, _fetch: Nanos, now: Nanos, room: &mut Room<'_>) {
        self.make_room(now, room);
        self.residents.insert(slot, ());
    }

    fn remove(&mut self, slot: Slot, _object: Object, _now: Nanos) {
        self.residents.remove(slot);
    }

    fn make_room(&mut self, _now: Nanos, room: &mut Room<'_>) {
        while room.lacking() {
            let (victim, ()) = self.residents.entries()[below(&mut self.draw, self.residents.len())];
            self.residents.remove(victim);
            room.evict(victim);
        }
    }
}
