//! Numbers of removals and fetches, in one order: by them it is known what may be written, and what was read may be used.
//!
//! The last changes are remembered, each with its name. An answer that has left the memory since then is written unless one of them was of its name: what the
//! memory holds was up to date until then. One that has waited for longer is not written.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;

use hashbrown::HashMap;

/// Changes that are remembered. They take up to 9 MB.
const REMEMBERED: usize = 1 << 17;

/// The last change of a name.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// The number from which on it is up to date.
    number: u64,
    /// The last number when it was changed.
    at: u64,
}

/// The numbers.
pub(super) struct Numbers {
    last: u64,
    /// Number of the last time that the disk was emptied by a pattern. The memory may go on with what no mark says is purged.
    emptied: u64,
    /// Number of the last time that everything was forgotten.
    forgotten: u64,
    /// Names that were changed, by their hashes.
    changed: HashMap<u64, Change>,
    /// The changes in their order: the last number at that time, and the hash of the name.
    order: VecDeque<(u64, u64)>,
    most: usize,
    /// The last number at the time of the last change that is not remembered any more.
    lost: u64,
    hasher: RandomState,
}

impl Numbers {
    pub(super) fn new() -> Self {
        Self::remembering(REMEMBERED)
    }

    fn remembering(most: usize) -> Self {
        Self {
            last: 0,
            emptied: 0,
            forgotten: 0,
            changed: HashMap::new(),
            order: VecDeque::new(),
            most,
            lost: 0,
            hasher: RandomState::new(),
        }
    }

    /// The last number.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// The number of a fetch that begins.
    pub(super) fn begin(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// A URL is removed, or an answer is given another name: what was fetched before is out of date. Returns the number.
    pub(super) fn next(&mut self, name: &[u8]) -> u64 {
        let number = self.begin();
        self.change(name, number);
        number
    }

    /// An answer whose fetch had a number has come: what was fetched before under its name is out of date.
    pub(super) fn landed(&mut self, name: &[u8], number: u64) {
        self.last += 1;
        self.change(name, number);
    }

    fn change(&mut self, name: &[u8], number: u64) {
        let hash = self.hasher.hash_one(name);
        let at = self.last;
        let change = self.changed.entry(hash).or_insert(Change { number, at });
        // Of two fetches the later one may come first.
        *change = Change { number: number.max(change.number), at };
        self.order.push_back((at, hash));
        while self.order.len() > self.most {
            let Some((at, hash)) = self.order.pop_front() else { return };
            self.lost = at;
            // Unless the same name was changed again.
            if self.changed.get(&hash).is_some_and(|change| change.at == at) {
                self.changed.remove(&hash);
            }
        }
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

    /// Whether a name was changed since a number, as far as is remembered.
    fn is_changed(&self, name: &[u8], since: u64) -> bool {
        self.changed.get(&self.hasher.hash_one(name)).is_some_and(|change| change.number > since)
    }

    /// Whether what was fetched with a number, and `left` the memory when that was the last number, may be written: none of these names was changed since the
    /// fetch. It also says no if it left so long ago that this is not known.
    pub(super) fn may_write(&self, names: [&[u8]; 2], number: u64, left: u64) -> bool {
        // A change of the disk is one of the memory a moment later: so many numbers are not given in that moment.
        let moment = self.most as u64 / 2;
        self.forgotten <= number
            && (self.lost == 0 || self.lost + moment <= left)
            && names.iter().all(|name| !self.is_changed(name, number))
    }

    /// Whether nothing of this URL was removed since a number: what was found then may be used. It also says no if that is too long ago to be known.
    pub(super) fn may_use(&self, url: &[u8], since: u64) -> bool {
        self.emptied <= since && self.lost <= since && !self.is_changed(url, since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether what was fetched with a number, and leaves the memory now, may be written.
    fn may_write(numbers: &Numbers, name: &[u8], number: u64) -> bool {
        numbers.may_write([b"url", name], number, numbers.last())
    }

    #[test]
    fn what_comes_later_makes_what_came_before_invalid() {
        let mut numbers = Numbers::new();
        let old = numbers.begin();
        assert!(may_write(&numbers, b"a", old) && numbers.may_use(b"a", old));
        let new = numbers.next(b"a");
        assert!(!may_write(&numbers, b"a", old) && !numbers.may_use(b"a", old));
        assert!(may_write(&numbers, b"b", old) && numbers.may_use(b"b", old));
        assert!(may_write(&numbers, b"a", new) && numbers.last() == new);
        numbers.empty();
        assert!(may_write(&numbers, b"a", new) && !numbers.may_use(b"a", new));
        numbers.forget();
        assert!(!may_write(&numbers, b"a", new) && may_write(&numbers, b"a", numbers.last()));
    }

    #[test]
    fn a_fetch_that_began_first_and_landed_last_is_the_older_one() {
        let mut numbers = Numbers::new();
        let (first, second) = (numbers.begin(), numbers.begin());
        assert!(may_write(&numbers, b"a", first));
        numbers.landed(b"a", second);
        numbers.landed(b"a", first);
        assert!(!may_write(&numbers, b"a", first) && may_write(&numbers, b"a", second));
    }

    /// However many others are fetched, what is in memory may be written; what has left it long ago may not.
    #[test]
    fn others_do_not_matter_until_too_many_have_come_since_it_left_the_memory() {
        let mut numbers = Numbers::remembering(8);
        let number = numbers.next(b"a");
        numbers.next(b"b");
        for _ in 0..20 {
            let other = numbers.begin();
            numbers.landed(format!("{other}").as_bytes(), other);
            assert!(may_write(&numbers, b"a", number));
        }
        assert_eq!((numbers.changed.len(), numbers.order.len()), (8, 8));
        let left = numbers.last();
        let mut count = 0;
        while numbers.may_write([b"a", b"a"], number, left) {
            let other = numbers.begin();
            numbers.landed(b"c", other);
            count += 1;
        }
        // Of 8 changes, the half are left for the moment between a change of the disk and that of the memory.
        assert_eq!(count, 7);
        assert!(!numbers.may_use(b"a", number), "nobody knows any more");
        // What was changed again is remembered from then on.
        numbers.next(b"a");
        assert!(!may_write(&numbers, b"a", number));
        assert_eq!(numbers.changed.len(), 2);
    }
}
