//! What a controller counts for each of very many keys.

use crate::table::Mixed;

/// Something counted for a key.
pub(super) trait Counted: Copy {
    /// Value of a vacant slot.
    const VACANT: Self;

    /// Whether it is there.
    fn is_vacant(&self) -> bool;
}

/// A map from keys to what is counted for them, one cache line a lookup as a rule.
///
/// Far larger than caches are, it makes lookups wait for memory; [`approach`](Self::approach) makes several wait at
/// once.
///
/// Linear probing, at most three quarters full; memory 1⅓ to 5⅓ records for each that is held, and 1,024 at least.
#[derive(Clone, Debug)]
pub(super) struct Counters<V> {
    /// A power of two of them.
    slots: Vec<(Mixed, V)>,
    len: usize,
}

const FEWEST: usize = 1024;

impl<V: Counted> Counters<V> {
    pub(super) fn new() -> Self {
        Self { slots: vec![(Mixed(0), V::VACANT); FEWEST], len: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no room for another key before [`rearrange`](Self::rearrange).
    pub(super) fn is_full(&self) -> bool {
        self.len >= self.slots.len() / 4 * 3
    }

    fn home(&self, key: Mixed) -> usize {
        key.0 as usize & (self.slots.len() - 1)
    }

    /// Index of the slot that `key` is in, or would be.
    #[inline]
    fn seek(&self, key: Mixed) -> usize {
        let mut at = self.home(key);
        while self.slots[at].0 != key && !self.slots[at].1.is_vacant() {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }

    /// Fetches from memory what the next call for `key` will look at.
    #[inline]
    pub(super) fn approach(&self, key: Mixed) {
        std::hint::black_box(self.slots[self.home(key)].0);
    }

    pub(super) fn find(&self, key: Mixed) -> Option<V> {
        let value = self.slots[self.seek(key)].1;
        (!value.is_vacant()).then_some(value)
    }

    /// Changes the count of `key` by `change`, which must not leave it vacant. There has to be room.
    #[inline]
    pub(super) fn update<R>(&mut self, key: Mixed, change: impl FnOnce(&mut V) -> R) -> R {
        let at = self.seek(key);
        let slot = &mut self.slots[at];
        self.len += usize::from(slot.1.is_vacant());
        slot.0 = key;
        let result = change(&mut slot.1);
        debug_assert!(!slot.1.is_vacant(), "counted without being there");
        result
    }

    pub(super) fn remove(&mut self, key: Mixed) -> Option<V> {
        let mut gap = self.seek(key);
        let value = self.slots[gap].1;
        if value.is_vacant() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = (gap + 1) & mask;
        while !self.slots[at].1.is_vacant() {
            // What was pushed past the gap moves into it.
            let from_home = at.wrapping_sub(self.home(self.slots[at].0)) & mask;
            if from_home >= at.wrapping_sub(gap) & mask {
                self.slots[gap] = self.slots[at];
                gap = at;
            }
            at = (at + 1) & mask;
        }
        self.slots[gap].1 = V::VACANT;
        self.len -= 1;
        Some(value)
    }

    /// Forgets what `keep` does not hold on to, and makes room for as many keys as are left, and more.
    pub(super) fn rearrange(&mut self, keep: impl Fn(Mixed, &V) -> bool) {
        let wanted = |slot: &&(Mixed, V)| !slot.1.is_vacant() && keep(slot.0, &slot.1);
        let left = self.slots.iter().filter(wanted).count();
        let size = FEWEST.max((left / 3 * 8 + 1).next_power_of_two());
        let old = std::mem::replace(&mut self.slots, vec![(Mixed(0), V::VACANT); size]);
        for &(key, value) in old.iter().filter(wanted) {
            let at = self.seek(key);
            self.slots[at] = (key, value);
        }
        self.len = left;
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill((Mixed(0), V::VACANT));
        self.len = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::super::super::Key;
    use super::*;

    impl Counted for u32 {
        const VACANT: Self = 0;

        fn is_vacant(&self) -> bool {
            *self == 0
        }
    }

    proptest! {
        /// Keys that all want the same few places, at the end of the array as well.
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0..4u8, 0..300u64, any::<bool>()), 1..2_000)) {
            let mut counters = Counters::<u32>::new();
            let mut model: HashMap<u64, u32> = HashMap::new();
            for (what, key, end) in steps {
                let bits = if end { u64::MAX - (key << 10) } else { key << 9 };
                match what {
                    0 | 1 => {
                        if counters.is_full() {
                            counters.rearrange(|_, count| *count > 1);
                            model.retain(|_, count| *count > 1);
                        }
                        counters.update(Mixed(bits), |count| *count += 1);
                        *model.entry(bits).or_default() += 1;
                    }
                    2 => prop_assert_eq!(counters.remove(Mixed(bits)), model.remove(&bits)),
                    _ => prop_assert_eq!(counters.find(Mixed(bits)), model.get(&bits).copied()),
                }
                prop_assert_eq!(counters.len(), model.len());
            }
            counters.rearrange(|_, count| count % 2 == 1);
            model.retain(|_, count| *count % 2 == 1);
            prop_assert_eq!(counters.len(), model.len());
            prop_assert!(model.iter().all(|(&key, &count)| counters.find(Mixed(key)) == Some(count)));
            counters.clear();
            prop_assert!(model.keys().all(|&key| counters.find(Mixed(key)).is_none()));
        }

        #[test]
        fn it_grows_and_shrinks(keys in 1..20_000u32) {
            let mut counters = Counters::<u32>::new();
            for key in 1..=keys {
                if counters.is_full() {
                    counters.rearrange(|_, _| true);
                }
                counters.update(Mixed::from(Key(key.into())), |count| *count = key);
            }
            prop_assert_eq!(counters.len(), keys as usize);
            prop_assert!(counters.slots.len() <= FEWEST.max(keys as usize * 16 / 3 + 16));
            counters.rearrange(|_, &key| key <= 100);
            prop_assert_eq!((counters.len(), counters.slots.len()), (keys.min(100) as usize, FEWEST));
        }
    }
}
