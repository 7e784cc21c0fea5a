//! Tables of which a controller inserts and removes entries one by one.

use std::hash::{BuildHasherDefault, Hash, Hasher};

use hashbrown::HashMap;

use crate::Key;
use crate::hash::mix;

/// A key after [`mix`], which is a bijection: as good as the key itself, and random bits wherever some are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mixed(pub u64);

impl From<Key> for Mixed {
    #[inline]
    fn from(key: Key) -> Self {
        Self(mix(key))
    }
}

impl Hash for Mixed {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0);
    }
}

/// The number of an entry: below the table's capacity, its own while it is in the table, and later another's. Policies
/// keep what they know of entries in plain arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry(pub u32);

impl Entry {
    /// The number as an index into an array.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Table in which a switch looks keys up.
pub trait Table {
    /// Number of entries that there may be at most.
    fn capacity(&self) -> u32;

    /// Number of entries.
    fn len(&self) -> u32;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry of `key`.
    fn find(&self, key: Mixed) -> Option<Entry>;

    /// Makes an entry for `key`, which has none. `None` if there is no place for it; the table is then as it was.
    fn insert(&mut self, key: Mixed) -> Option<Entry>;

    /// Takes an entry out; whose it was, or `None` if there is no such entry.
    fn remove(&mut self, entry: Entry) -> Option<Mixed>;
}

/// A table that has a place for any key as long as it is not full. O(1) an operation.
#[derive(Debug)]
pub struct ExactTable {
    entries: MixedMap<u32>,
    keys: Numbers,
}

impl ExactTable {
    /// Empty, for up to `capacity` entries.
    pub fn new(capacity: u32) -> Self {
        Self { entries: MixedMap::default(), keys: Numbers::new(capacity) }
    }
}

impl Table for ExactTable {
    fn capacity(&self) -> u32 {
        self.keys.capacity
    }

    fn len(&self) -> u32 {
        self.keys.used
    }

    #[inline]
    fn find(&self, key: Mixed) -> Option<Entry> {
        self.entries.get(&key).map(|&entry| Entry(entry))
    }

    fn insert(&mut self, key: Mixed) -> Option<Entry> {
        let entry = self.keys.take(key.0)?;
        self.entries.insert(key, entry.0);
        Some(entry)
    }

    fn remove(&mut self, entry: Entry) -> Option<Mixed> {
        let key = Mixed(self.keys.give_back(entry)?);
        self.entries.remove(&key);
        Some(key)
    }
}

/// Numbers that are given to entries, with something about each; those given back last are given out first.
#[derive(Debug)]
pub(super) struct Numbers {
    capacity: u32,
    used: u32,
    /// Something about each number that was ever given out.
    about: Vec<Option<u64>>,
    free: Vec<u32>,
}

impl Numbers {
    pub(super) fn new(capacity: u32) -> Self {
        Self { capacity, used: 0, about: Vec::new(), free: Vec::new() }
    }

    pub(super) fn capacity(&self) -> u32 {
        self.capacity
    }

    pub(super) fn used(&self) -> u32 {
        self.used
    }

    /// Says something else about a number that is given out.
    pub(super) fn update(&mut self, entry: Entry, about: u64) {
        if let Some(old) = self.about.get_mut(entry.index()) {
            *old = Some(about);
        }
    }

    /// A number that nobody has, if there is one.
    pub(super) fn take(&mut self, about: u64) -> Option<Entry> {
        if self.used == self.capacity {
            return None;
        }
        let entry = Entry(self.free.pop().unwrap_or(self.used));
        if entry.index() == self.about.len() {
            self.about.push(None);
        }
        self.used += 1;
        self.update(entry, about);
        Some(entry)
    }

    /// Nobody has this number any more; what was known about it.
    pub(super) fn give_back(&mut self, entry: Entry) -> Option<u64> {
        let about = self.about.get_mut(entry.index())?.take()?;
        self.free.push(entry.0);
        self.used -= 1;
        Some(about)
    }
}

/// A map of keys that are random bits already.
pub(super) type MixedMap<V> = HashMap<Mixed, V, BuildHasherDefault<AsItIs>>;

/// The hash of 64 bits is what they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    #[inline]
    fn write_u64(&mut self, bits: u64) {
        self.0 = bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_numbered_from_zero_and_numbers_are_used_again() {
        let mut table = ExactTable::new(2);
        let [a, b, c] = [1, 2, 3].map(|key| Mixed::from(Key(key)));
        assert_eq!(
            (table.insert(a), table.insert(b), table.insert(c)),
            (Some(Entry(0)), Some(Entry(1)), None)
        );
        assert_eq!(
            (table.remove(Entry(0)), table.remove(Entry(0)), table.remove(Entry(7))),
            (Some(a), None, None)
        );
        assert_eq!((table.len(), table.find(a), table.find(b)), (1, None, Some(Entry(1))));
        assert_eq!((table.insert(c), table.find(c)), (Some(Entry(0)), Some(Entry(0))));
        assert!(!table.is_empty());
    }
}
