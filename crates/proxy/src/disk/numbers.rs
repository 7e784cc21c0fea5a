//! Numbers of removals and fetches, in one order: by them it is known what may be written, and what was read may be used.
//!
//! Names are in groups, whose last numbers are remembered: a few answers are not written though they could be, but none is that must not.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

/// Bytes of memory for answers for each group: about as many groups as answers are never in memory.
const BYTES_PER_GROUP: u64 = 512;
const LEAST_GROUPS: u64 = 1 << 10;
const MOST_GROUPS: u64 = 1 << 22;

/// The numbers.
pub(super) struct Numbers {
    last: u64,
    /// Number of the last time that the disk was emptied by a pattern. The memory may go on with what no mark says is purged.
    emptied: u64,
    /// Number of the last time that everything was forgotten.
    forgotten: u64,
    /// Number of the last removal of a URL, or fetch of a name, of each group.
    groups: Box<[u64]>,
    hasher: RandomState,
}

impl Numbers {
    /// Numbers for so many bytes of memory.
    pub(super) fn new(memory: u64) -> Self {
        let groups = (memory / BYTES_PER_GROUP).clamp(LEAST_GROUPS, MOST_GROUPS).next_power_of_two();
        Self {
            last: 0,
            emptied: 0,
            forgotten: 0,
            groups: vec![0; usize::try_from(groups).unwrap_or(1)].into_boxed_slice(),
            hasher: RandomState::new(),
        }
    }

    fn group(&self, name: &[u8]) -> usize {
        self.hasher.hash_one(name) as usize & (self.groups.len() - 1)
    }

    /// The last number.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// A name is fetched, or a URL is removed: what was fetched before under it is out of date. Returns the number.
    pub(super) fn next(&mut self, name: &[u8]) -> u64 {
        self.last += 1;
        let group = self.group(name);
        self.groups[group] = self.last;
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
        self.forgotten <= since && self.groups[self.group(name)] <= since
    }

    /// Whether nothing of this URL was removed since a number: what was found then may be used.
    pub(super) fn may_use(&self, url: &[u8], since: u64) -> bool {
        self.emptied <= since && self.groups[self.group(url)] <= since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
