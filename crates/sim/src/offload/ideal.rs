//! The classical belief: whatever misses is in the table at once.

use trueplane_core::cache::policy::{Belady, Lfu, Lru};
use trueplane_core::cache::{Access, Cache, Future, Key as Name, Object, Outcome, Policy};
use trueplane_core::offload::{Counts, Key, System};
use trueplane_study::Error;
use trueplane_units::Nanos;

/// A table under a caching policy of [`trueplane_core::cache`], every key of which is fetched in no time, as in the
/// classical model: no control loop and nothing that it could count. O(1) a lookup besides the policy.
pub struct Ideal<P> {
    cache: Cache<P>,
    now: u64,
}

/// Least recently used goes first. O(1) a lookup.
pub type IdealLru = Ideal<Lru>;

/// Least frequently used since it came goes first, among equals the least recently used. O(log entries) a lookup.
pub type IdealLfu = Ideal<Lfu>;

impl<P: Policy + Default> Ideal<P> {
    /// An empty table of so many entries.
    pub fn new(entries: u64) -> Self {
        Self { cache: Cache::new(P::default(), entries), now: 0 }
    }
}

impl<P: Policy> Ideal<P> {
    fn access(&mut self, key: Key, future: Future) -> bool {
        let now = Nanos(self.now);
        self.now += 1;
        let object = Object { key: Name(key.0), size: 1 };
        let (outcome, slot) = self.cache.request(object, Access { now, future });
        if outcome == Outcome::Miss {
            self.cache.fetched(slot, Nanos(0), now);
        }
        outcome == Outcome::Hit
    }
}

impl<P: Policy> System for Ideal<P> {
    fn lookup(&mut self, key: Key) -> bool {
        self.access(key, Future::UNKNOWN)
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
    ideal: Ideal<Belady>,
    /// For every lookup the slot of the next for its key.
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
         {lookups}: leave them out of --systems"
    ))
}

impl System for Clairvoyant {
    /// `key` is what [`new`](Self::new) was told to expect; whatever comes after that is never looked up again.
    fn lookup(&mut self, key: Key) -> bool {
        let slot = usize::try_from(self.ideal.now).unwrap_or(usize::MAX);
        let future = match self.next.get(slot) {
            Some(&next) if next != NEVER => Future { next: Nanos(next.into()), delay: 1 },
            _ => Future::UNKNOWN,
        };
        self.ideal.access(key, future)
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

    proptest! {
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
