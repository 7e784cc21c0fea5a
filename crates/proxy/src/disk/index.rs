//! Where objects stand on the disk: 24 bytes of memory for each, and a byte of the table. And what was removed.

use hashbrown::HashTable;
use hashbrown::hash_table::{Entry as TableEntry, OccupiedEntry};

use super::folder::Key;
use super::format::{Cost, Digest, Entry, Kind, Place};
use super::numbers::Numbers;

/// An object on the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    /// The first half of the digest of its name. Nobody can choose names by it, and two names with the same one cost each other their place, no more:
    /// whoever reads compares the names.
    pub(super) key: u64,
    pub(super) place: Place,
    pub(super) length: u32,
    pub(super) cost: Cost,
    /// Times that it was read since it was written, up to 255.
    pub(super) hits: u8,
    pub(super) kind: Kind,
}

impl Slot {
    pub(super) fn new(entry: &Entry, segment: u32) -> Self {
        let place = Place { segment, offset: entry.offset };
        Self { key: entry.key, place, length: entry.length, cost: entry.cost, hits: 0, kind: entry.kind }
    }

    /// Nanoseconds of waiting that it has saved.
    pub(super) fn saved(&self) -> f64 {
        f64::from(self.hits) * self.cost.nanos()
    }

    /// The same per byte.
    pub(super) fn density(&self) -> f64 {
        self.saved() / f64::from(self.length.max(1))
    }
}

/// All objects on the disk.
#[derive(Default)]
pub(super) struct Slots {
    slots: HashTable<Slot>,
}

impl Slots {
    /// None yet, with room for so many: the table does not move until there are more.
    pub(super) fn with_room(count: usize) -> Self {
        Self { slots: HashTable::with_capacity(count) }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn find(&self, key: u64) -> Option<Slot> {
        self.slots.find(key, |slot| slot.key == key).copied()
    }

    /// Where an object stands that is to be read, which counts.
    pub(super) fn hit(&mut self, key: u64) -> Option<Slot> {
        let slot = self.slots.find_mut(key, |slot| slot.key == key)?;
        slot.hits = slot.hits.saturating_add(1);
        Some(*slot)
    }

    /// An object has been written, instead of what was there under its key.
    pub(super) fn insert(&mut self, slot: Slot) {
        match self.slots.entry(slot.key, |other| other.key == slot.key, |other| other.key) {
            TableEntry::Occupied(mut entry) => *entry.get_mut() = slot,
            TableEntry::Vacant(entry) => drop(entry.insert(slot)),
        }
    }

    /// Takes out a key. Returns whether it was there.
    pub(super) fn remove(&mut self, key: u64) -> bool {
        let found = self.slots.find_entry(key, |slot| slot.key == key).ok();
        found.map(OccupiedEntry::remove).is_some()
    }

    /// Takes out a key if it still stands there.
    pub(super) fn remove_from(&mut self, key: u64, place: Place) {
        if let Ok(entry) = self.slots.find_entry(key, |slot| slot.key == key && slot.place == place) {
            entry.remove();
        }
    }

    /// Takes out all that stands in a segment of which nobody knows what that is. It looks at all slots.
    pub(super) fn remove_segment(&mut self, number: u32) {
        self.slots.retain(|slot| slot.place.segment != number);
    }

    /// Does what records did, in their order.
    pub(super) fn replay(&mut self, entries: &[Entry], segment: u32) {
        self.slots.reserve(entries.len(), |slot| slot.key);
        for entry in entries {
            match entry.kind {
                Kind::Removed => drop(self.remove(entry.key)),
                Kind::Object | Kind::Varies => self.insert(Slot::new(entry, segment)),
            }
        }
    }
}

/// What stands on the disk, and what was removed. One lock is around it, which puts all in order.
pub(super) struct Index {
    pub(super) slots: Slots,
    pub(super) numbers: Numbers,
    /// The key by which names are hashed; none before the folder could be opened.
    pub(super) key: Option<Key>,
    /// The first half of the digest of the name whose record is being written.
    pub(super) writing: Option<u64>,
    /// Whether the disk may hold what has no slot: before the folder is open, and while everything is removed.
    pub(super) is_unsure: bool,
    /// Segments up to this one are gone, or go now.
    pub(super) gone: u32,
}

impl Index {
    pub(super) fn new() -> Self {
        let numbers = Numbers::new();
        Self { slots: Slots::default(), numbers, key: None, writing: None, is_unsure: true, gone: 0 }
    }

    pub(super) fn digest(&self, name: &[u8]) -> Option<Digest> {
        self.key.map(|key| key.digest(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_24_bytes() {
        assert_eq!(size_of::<Slot>(), 24);
    }

    #[test]
    fn records_are_replayed_in_order() {
        let entry = |key, offset, kind| Entry { key, offset, length: 100, cost: Cost(0), kind };
        let mut index = Slots::default();
        index.replay(
            &[entry(1, 32, Kind::Object), entry(2, 132, Kind::Object), entry(1, 232, Kind::Object)],
            1,
        );
        assert_eq!((index.len(), index.find(1).map(|slot| slot.place.offset)), (2, Some(232)));
        index.replay(&[entry(1, 32, Kind::Removed)], 2);
        assert!(index.find(1).is_none() && index.find(2).is_some());
        assert_eq!(index.hit(2).map(|slot| slot.hits), Some(1));
        index.remove_from(2, Place { segment: 2, offset: 132 });
        assert_eq!(index.len(), 1);
        index.remove_from(2, Place { segment: 1, offset: 132 });
        assert_eq!(index.len(), 0);
    }
}
