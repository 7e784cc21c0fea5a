//! The classical belief: whatever misses is in the table at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::marker::PhantomData;

use hashbrown::HashMap;
use trueplane_study::Error;

use crate::{Counts, Key, System};

/// Worth of a key to a table: the least goes first.
type Worth = (u64, u64);

/// Rule that says which entry is the most worth keeping.
pub trait Rule {
    /// Whether a key stays out that would be the first to go.
    const IS_CHOOSY: bool = false;

    /// Worth of a key that was looked up at slot `now`, for the `uses`-th time since it came, and will be again at slot `next`.
    fn worth(uses: u64, now: u64, next: u64) -> Worth;
}

/// Least recently used goes first.
pub struct Recency;

impl Rule for Recency {
    fn worth(_uses: u64, now: u64, _next: u64) -> Worth {
        (now, 0)
    }
}

/// Least frequently used since it came goes first, among equals the least recently used.
pub struct Frequency;

impl Rule for Frequency {
    fn worth(uses: u64, now: u64, _next: u64) -> Worth {
        (uses, now)
    }
}

/// Whoever is looked up again last goes first, or does not come in.
pub struct Foresight;

impl Rule for Foresight {
    const IS_CHOOSY: bool = true;

    fn worth(_uses: u64, now: u64, next: u64) -> Worth {
        (u64::MAX - next, now)
    }
}

/// A table in which every key is that misses as soon as it does, as in the classical model: no control loop and nothing that it could
/// count. O(log entries) a lookup, amortised.
pub struct Ideal<R> {
    entries: u64,
    now: u64,
    /// Lookups of each key since it came, and its worth.
    held: HashMap<Key, (u64, Worth)>,
    /// Every key that is held, at what it is worth or below that; the least first. What is not held any more is passed over.
    order: BinaryHeap<Reverse<(Worth, Key)>>,
    rule: PhantomData<R>,
}

/// Least recently used goes first.
pub type IdealLru = Ideal<Recency>;

/// Least frequently used since it came goes first, among equals the least recently used.
pub type IdealLfu = Ideal<Frequency>;

impl<R: Rule> Ideal<R> {
    /// An empty table of so many entries.
    pub fn new(entries: u64) -> Self {
        Self { entries, now: 0, held: HashMap::new(), order: BinaryHeap::new(), rule: PhantomData }
    }

    /// Looks `key` up, which is looked up again at slot `next`. Returns whether it was there.
    fn access(&mut self, key: Key, next: u64) -> bool {
        let now = self.now;
        self.now += 1;
        if let Some((uses, worth)) = self.held.get_mut(&key) {
            *uses += 1;
            let before = std::mem::replace(worth, R::worth(*uses, now, next));
            // A key that is worth more now is put right when it comes to the top.
            if *worth < before {
                self.order.push(Reverse((*worth, key)));
                self.tidy();
            }
            return true;
        }
        let worth = R::worth(1, now, next);
        if self.held.len() as u64 >= self.entries {
            match self.least() {
                Some(least) if !R::IS_CHOOSY || least < (worth, key) => {
                    self.order.pop();
                    self.held.remove(&least.1);
                }
                _ => return false,
            }
        }
        self.order.push(Reverse((worth, key)));
        self.held.insert(key, (1, worth));
        false
    }

    /// The key that is worth the least, which is on top then.
    fn least(&mut self) -> Option<(Worth, Key)> {
        while let Some(mut top) = self.order.peek_mut() {
            let Reverse((worth, key)) = *top;
            match self.held.get(&key) {
                Some((_, current)) if *current == worth => return Some((worth, key)),
                Some((_, current)) if *current > worth => *top = Reverse((*current, key)),
                _ => _ = PeekMut::pop(top),
            }
        }
        None
    }

    /// Removes what is passed over anyway once it is most of the order.
    fn tidy(&mut self) {
        if self.order.len() > 2 * self.held.len() + 64 {
            self.order.clear();
            self.order.extend(self.held.iter().map(|(&key, &(_, worth))| Reverse((worth, key))));
        }
    }
}

impl<R: Rule> System for Ideal<R> {
    fn lookup(&mut self, key: Key) -> bool {
        self.access(key, u64::MAX)
    }

    fn due(&self) -> u64 {
        u64::MAX
    }

    fn control(&mut self, _now: u64) {}

    fn counts(&self) -> Counts {
        Counts::default()
    }
}

/// The most lookups that an offline system can know of: positions take 32 bits, one of which stands for "never".
pub const MOST_FORESEEN: u64 = u32::MAX as u64 - 1;

const NEVER: u32 = u32::MAX;

/// Bélády's algorithm: whoever is looked up again last goes first, or does not come in. The fewest misses after a warm-up
/// that a table can have which takes in what is looked up at its lookup, or never. O(log entries) a lookup.
///
/// Misses of the warm-up are free. So what is kept until its end are those keys, of all that it has, that are looked up
/// first from then on: none of them needs to be there at any other time. Hence the next lookup of a key, seen from the
/// warm-up, is the first one after it.
pub struct Clairvoyant {
    ideal: Ideal<Foresight>,
    /// Slot of the next lookup of the same key, for every lookup.
    next: Vec<u32>,
}

impl Clairvoyant {
    /// An empty table of so many entries that knows what will be looked up: `keys`, numbered from 0 to `distinct` − 1, of
    /// which the first `warmup` are not counted.
    /// O(lookups), and 4 B of memory a lookup: with `keys` itself, 8 B a lookup.
    ///
    /// # Errors
    /// There are more than [`MOST_FORESEEN`] lookups.
    pub fn new(entries: u64, keys: &[u32], distinct: usize, warmup: u64) -> Result<Self, Error> {
        if keys.len() as u64 > MOST_FORESEEN {
            return Err(too_long(keys.len() as u64));
        }
        let mut next = vec![NEVER; keys.len()];
        let mut last = vec![NEVER; distinct];
        for (slot, &key) in keys.iter().enumerate().rev() {
            next[slot] = last[key as usize];
            if slot as u64 >= warmup {
                // It is one of them, and fits.
                last[key as usize] = slot as u32;
            }
        }
        Ok(Self { ideal: Ideal::new(entries), next })
    }
}

/// More lookups than an offline system can know of.
pub(super) fn too_long(lookups: u64) -> Error {
    Error::Parameters(format!(
        "belady and optimal hold the whole workload in memory, 8 B a lookup, up to {MOST_FORESEEN} lookups; found \
         {lookups}: leave them out of --policies"
    ))
}

impl System for Clairvoyant {
    /// `key` is what [`new`](Self::new) was told to expect; whatever comes after that is never looked up again.
    fn lookup(&mut self, key: Key) -> bool {
        let slot = usize::try_from(self.ideal.now).unwrap_or(usize::MAX);
        let next = match self.next.get(slot) {
            Some(&next) if next != NEVER => next.into(),
            _ => u64::MAX,
        };
        self.ideal.access(key, next)
    }

    fn due(&self) -> u64 {
        u64::MAX
    }

    fn control(&mut self, _now: u64) {}

    fn counts(&self) -> Counts {
        Counts::default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn keys(numbers: &[u32]) -> Vec<Key> {
        numbers.iter().map(|&number| Key(number.into())).collect()
    }

    #[test]
    fn tables_are_up_to_date_at_once() {
        let lookups = keys(&[1, 1, 2, 3, 1, 2]);
        // Of two entries: 1 misses, 2 and 3, for which 1 leaves; 1, for which 2 leaves, and 2.
        assert_eq!(IdealLru::new(2).misses(&lookups), 5);
        // 1 is the more frequent and stays.
        assert_eq!(IdealLfu::new(2).misses(&lookups), 4);
        let numbers = [1, 1, 2, 3, 1, 2];
        assert_eq!(Clairvoyant::new(2, &numbers, 4, 0).unwrap().misses(&lookups), 3);
    }

    /// The fewest misses of a table of `entries`, of which the first `free` lookups may miss for nothing, by trying
    /// everything.
    fn fewest(numbers: &[u32], held: &[u32], entries: usize, free: usize) -> u64 {
        let Some((&first, rest)) = numbers.split_first() else { return 0 };
        let later = free.saturating_sub(1);
        if held.contains(&first) {
            return fewest(rest, held, entries, later);
        }
        let with = [held, &[first]].concat();
        let without = |leaves: usize| {
            let mut left = with.clone();
            left.remove(leaves);
            fewest(rest, &left, entries, later)
        };
        let best = if with.len() <= entries {
            Some(fewest(rest, &with, entries, later))
        } else {
            (0..with.len()).map(without).min()
        };
        u64::from(free == 0) + best.unwrap_or(0)
    }

    #[test]
    fn what_is_passed_over_does_not_pile_up() {
        let numbers: Vec<u32> = (0..1000).map(|slot| slot % 2).collect();
        let mut table = Clairvoyant::new(2, &numbers, 2, 0).unwrap();
        assert_eq!(table.misses(&keys(&numbers)), 2);
        assert!(table.ideal.order.len() <= 2 * 2 + 64, "{}", table.ideal.order.len());
    }

    /// Misses of a table that is a list of keys, of which `leaves` says which goes.
    fn naive(numbers: &[u32], entries: usize, leaves: impl Fn(&[(u32, u64, usize)]) -> usize) -> u64 {
        // Key, uses since it came, slot of the last use.
        let mut table: Vec<(u32, u64, usize)> = Vec::new();
        let mut misses = 0;
        for (slot, &number) in numbers.iter().enumerate() {
            if let Some(held) = table.iter_mut().find(|held| held.0 == number) {
                *held = (number, held.1 + 1, slot);
                continue;
            }
            misses += 1;
            if table.len() == entries {
                table.remove(leaves(&table));
            }
            table.push((number, 1, slot));
        }
        misses
    }

    proptest! {
        #[test]
        fn tables_are_what_they_are_called(numbers in prop::collection::vec(0u32..9, 0..60), entries in 1usize..6) {
            let lookups = keys(&numbers);
            let least = |table: &[(u32, u64, usize)], by: fn(&(u32, u64, usize)) -> (u64, usize)| {
                (0..table.len()).min_by_key(|&place| by(&table[place])).unwrap()
            };
            let recency = naive(&numbers, entries, |table| least(table, |held| (0, held.2)));
            let frequency = naive(&numbers, entries, |table| least(table, |held| (held.1, held.2)));
            prop_assert_eq!(IdealLru::new(entries as u64).misses(&lookups), recency);
            prop_assert_eq!(IdealLfu::new(entries as u64).misses(&lookups), frequency);
        }

        #[test]
        fn nobody_misses_less_than_the_clairvoyant(
            numbers in prop::collection::vec(0u32..5, 0..9),
            entries in 1usize..4,
            warmup in 0usize..6,
        ) {
            let mut table = Clairvoyant::new(entries as u64, &numbers, 5, warmup as u64).unwrap();
            let (warm, counted) = numbers.split_at(warmup.min(numbers.len()));
            table.misses(&keys(warm));
            prop_assert_eq!(table.misses(&keys(counted)), fewest(&numbers, &[], entries, warmup));
        }
    }
}
