//! Room for a newcomer.

use super::entry::{Entry, State, residents};
use crate::{Object, Slot};

/// The cache as a policy sees it while it makes room: for a newcomer, which already counts as resident, or because the capacity has
/// changed.
pub struct Room<'a> {
    pub(super) entries: &'a mut [Entry],
    pub(super) used: &'a mut u64,
    pub(super) capacity: u64,
    pub(super) leaving: &'a mut Vec<Slot>,
}

impl Room<'_> {
    /// The object in a slot.
    pub fn object(&self, slot: Slot) -> Object {
        self.entries[slot.index()].object
    }

    /// The slots of all resident objects. O(n) for the n objects that the cache ever held at once.
    pub fn residents(&self) -> impl Iterator<Item = Slot> {
        residents(self.entries).map(|(_, slot)| slot)
    }

    /// The cache's capacity.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The total size of what is resident, a newcomer included.
    pub fn used(&self) -> u64 {
        *self.used
    }

    /// Whether something must still leave.
    pub fn lacking(&self) -> bool {
        *self.used > self.capacity
    }

    /// Sends away a resident object, or the newcomer that is being admitted.
    ///
    /// # Panics
    /// If the slot holds no resident object: a policy that evicts what is not there is broken.
    pub fn evict(&mut self, slot: Slot) {
        let entry = &mut self.entries[slot.index()];
        assert!(
            matches!(entry.state, State::Resident),
            "evicted {:?}, which is not resident",
            entry.object.key
        );
        entry.state = State::Free;
        *self.used -= entry.object.size;
        self.leaving.push(slot);
    }
}
