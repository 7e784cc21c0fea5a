//! Numbers of removals and fetches, in one order: by them it is known what may be written, and what was read may be used.
//!
//! Names are in groups. Each remembers its last name with that name's number, and the last number of all other names in it. So a name has to share its group with
//! two others for its answer not to be written though it could be; none is written that must not.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

/// Bytes of memory for answers for each group: about as many groups as answers are never in memory.
const BYTES_PER_GROUP: u64 = 512;
const LEAST_GROUPS: u64 = 1 << 16;
const MOST_GROUPS: u64 = 1 << 22;

/// The numbers.
pub(super) struct Numbers {
    last: u64,
    /// Number of the last time that the disk was emptied by a pattern. The memory may go on with what no mark says is purged.
    emptied: u64,
    /// Number of the last time that everything was forgotten.
    forgotten: u64,
    groups: Box<[Group]>,
    hasher: RandomState,
}

/// Names that share a place. A number is that of the last removal of a URL, or fetch of a name.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// The last name's hash, whose last bits say which group it is in, and its number.
    name: u64,
    number: u64,
    /// The last number of all others.
    others: u64,
}

impl Group {
    fn number_of(&self, name: u64) -> u64 {
        if self.name == name { self.number } else { self.others }
    }

    fn set(&mut self, name: u64, number: u64) {
        if self.name != name {
            // Numbers grow.
            self.others = self.number;
            self.name = name;
        }
        self.number = number;
    }
}

impl Numbers {
    /// Numbers for so many bytes of memory.
    pub(super) fn new(memory: u64) -> Self {
        let groups = (memory / BYTES_PER_GROUP).clamp(LEAST_GROUPS, MOST_GROUPS).next_power_of_two();
        Self {
            last: 0,
            emptied: 0,
            forgotten: 0,
            groups: vec![Group::default(); usize::try_from(groups).unwrap_or(1)].into_boxed_slice(),
            hasher: RandomState::new(),
        }
    }

    /// The place of a hash.
    fn place(&self, hash: u64) -> usize {
        hash as usize & (self.groups.len() - 1)
    }

    /// The last number of a name, or a later one.
    fn number_of(&self, name: &[u8]) -> u64 {
        let hash = self.hasher.hash_one(name);
        self.groups[self.place(hash)].number_of(hash)
    }

    /// The last number.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// A name is fetched, or a URL is removed: what was fetched before under it is out of date. Returns the number.
    pub(super) fn next(&mut self, name: &[u8]) -> u64 {
        self.last += 1;
        let hash = self.hasher.hash_one(name);
        let place = self.place(hash);
        self.groups[place].set(hash, self.last);
        self.last
    }

    /// The disk is emptied.
    pub(super) fn empty(&mut self) {
        self.last += 1;
        self.emptied = self.last;
    }

    /// Everything is forgotten.
    pub(super) fn forget(&mut self) {
        self.empty();
        self.forgotten = self.last;
    }

    /// Whether nothing of this name was removed, nor a newer one fetched, since a number: what was fetched then may be written.
    pub(super) fn may_write(&self, name: &[u8], since: u64) -> bool {
        self.forgotten <= since && self.number_of(name) <= since
    }

    /// Whether nothing of this URL was removed since a number: what was found then may be used.
    pub(super) fn may_use(&self, url: &[u8], since: u64) -> bool {
        self.emptied <= since && self.number_of(url) <= since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_share_a_group_and_three_may_lose_a_write() {
        let mut group = Group::default();
        group.set(1, 10);
        group.set(2, 20);
        // What was fetched for the first name is still the last of it.
        assert_eq!((group.number_of(1), group.number_of(2)), (10, 20));
        group.set(1, 30);
        assert_eq!((group.number_of(1), group.number_of(2)), (30, 20));
        group.set(3, 40);
        assert_eq!((group.number_of(3), group.number_of(1)), (40, 30));
        // The second name's was 20: it counts as out of date, and is not written.
        assert!(group.number_of(2) > 20);
    }

    #[test]
    fn what_comes_later_makes_what_came_before_invalid() {
        let mut numbers = Numbers::new(1 << 20);
        let old = numbers.next(b"a");
        assert!(numbers.may_write(b"a", old) && numbers.may_use(b"a", old));
        let new = numbers.next(b"a");
        assert!(!numbers.may_write(b"a", old) && !numbers.may_use(b"a", old));
        assert!(numbers.may_write(b"a", new) && numbers.last() == new);
        numbers.empty();
        assert!(numbers.may_write(b"a", new) && !numbers.may_use(b"a", new));
        numbers.forget();
        assert!(!numbers.may_write(b"a", new) && numbers.may_write(b"a", numbers.last()));
    }
}
