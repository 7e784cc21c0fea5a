//! Requests for what is there.

use std::sync::atomic::Ordering::Relaxed;

use trueplane_units::Nanos;

use super::arriving::Held;
use super::expiry::{Age, Expiry};
use super::shard::Shard;
use crate::{Access, Key, Outcome, Slot};

/// What a look at a shard has found.
pub(super) enum Look<V> {
    /// A value, which may be served as it is.
    Value(V),
    /// Nothing: a fetch may begin.
    Nothing,
    /// Only who has the shard alone can tell.
    Unclear,
}

/// The value in a slot, if it is of the key and may be served at its age.
#[inline]
fn servable<'a, K, V>(
    held: &'a [Option<Held<K, V>>],
    expiry: Option<&Expiry>,
    slot: Slot,
    is_key: impl Fn(&K) -> bool,
    age: Age,
    now: Nanos,
) -> Option<&'a V> {
    let held = held.get(slot.index())?.as_ref()?;
    let is_servable = is_key(&held.key) && expiry.is_none_or(|expiry| expiry.allows(slot, age, now));
    is_servable.then_some(&held.value)
}

impl<K: Eq, V> Shard<K, V> {
    /// Whether hits of many threads can take effect at once.
    pub(super) fn shares_hits(&self) -> bool {
        self.places.policy().hits_only_mark()
            && self.expiry.as_ref().is_none_or(|expiry| !expiry.follows_use())
    }

    /// A request for what is there, beside others. Only for a shard that [shares](Self::shares_hits) them.
    #[inline]
    fn hit(&self, hash: u64, is_key: impl Fn(&K) -> bool, age: Age, now: Nanos) -> Option<&V> {
        let mut found = None;
        let is_it = |slot| {
            found = servable(&self.held, self.expiry.as_ref(), slot, &is_key, age, now);
            found.is_some()
        };
        self.places.mark(Key(hash), is_it)?;
        self.hits.fetch_add(1, Relaxed);
        found
    }

    /// A request that only wants what is there, beside others.
    #[inline]
    pub(super) fn get_beside(&self, hash: u64, is_key: impl Fn(&K) -> bool, now: Nanos) -> Option<&V> {
        let found = self.hit(hash, is_key, Age::Alive, self.seen(now));
        if found.is_none() {
            self.misses.fetch_add(1, Relaxed);
        }
        found
    }

    /// A request that waits for a fetch, or begins one, if nothing is there: what can be said beside others.
    #[inline]
    pub(super) fn ask_beside(&self, hash: u64, is_key: impl Fn(&K) -> bool, now: Nanos) -> Look<V>
    where
        V: Clone,
    {
        if let Some(value) = self.hit(hash, is_key, Age::Fresh, self.seen(now)) {
            return Look::Value(value.clone());
        }
        let is_known = self.failures.contains_key(&hash) || self.renewals.contains_key(&hash);
        if !is_known && self.places.look_up(Key(hash)).0 == Outcome::Miss {
            Look::Nothing
        } else {
            Look::Unclear
        }
    }

    /// A request for what is there, of which the policy hears.
    #[inline]
    fn hit_alone(&mut self, hash: u64, is_key: impl Fn(&K) -> bool, age: Age, now: Nanos) -> Option<&V> {
        let Self { places, held, expiry, hits, .. } = self;
        let mut found = None;
        let is_it = |slot| {
            found = servable(held, expiry.as_ref(), slot, &is_key, age, now);
            found.is_some()
        };
        let slot = places.hit(Key(hash), is_it, Access::at(now))?;
        *hits.get_mut() += 1;
        if let Some(expiry) = expiry {
            expiry.used(slot, now);
        }
        found
    }

    /// A request that waits for a fetch, or begins one, if this finds nothing.
    #[inline]
    pub(super) fn hit_fresh(&mut self, hash: u64, is_key: impl Fn(&K) -> bool, now: Nanos) -> Option<V>
    where
        V: Clone,
    {
        let now = self.at(now);
        self.hit_alone(hash, is_key, Age::Fresh, now).cloned()
    }

    /// A request that only wants what is there.
    #[inline]
    pub(super) fn get(&mut self, hash: u64, is_key: impl Fn(&K) -> bool, now: Nanos) -> Option<V>
    where
        V: Clone,
    {
        let now = self.at(now);
        let value = self.hit_alone(hash, is_key, Age::Alive, now).cloned();
        *self.misses.get_mut() += u64::from(value.is_none());
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::arriving::{Arriving, Failed, Met};
    use super::super::error::FetchError;
    use super::super::expiry::Terms;
    use super::super::flight::{Flight, Labour};
    use super::super::gone::Gone;
    use super::super::places::places;
    use super::*;
    use crate::policy::{Params, PolicyName};

    /// A shard with room for four entries, which age, and are stale before they end.
    fn shard() -> Shard<u8, u64> {
        let terms = Terms {
            refresh: Some(500),
            while_revalidated: Nanos(10),
            if_error: Nanos(20),
            ..Terms::default()
        };
        let places = places(PolicyName::Sieve, Params::objects(4), &[4]).pop();
        Shard::new(places.expect("one for one capacity"), 4, Some(Expiry::new(terms)))
    }

    fn entries(shard: &Shard<u8, u64>, now: Nanos) -> Vec<(u8, u64)> {
        shard.iter(now).map(|(key, value)| (*key, *value)).collect()
    }

    /// What a request with a fetch comes to. Where it begins one, that ends at once or is left on its way.
    fn ask(shard: &mut Shard<u8, u64>, key: u8, turn: u64, now: Nanos) -> Option<u64> {
        let (hash, mut gone) = (u64::from(key % 6), Gone::default());
        match shard.ask(hash, |other| *other == key, now, &mut gone) {
            Met::Value(value) | Met::Ageing { value, .. } => Some(value),
            Met::Flight(_) | Met::Failure(_) => None,
            Met::Nothing => {
                let labour = || Labour { work: None, early: None };
                let flight =
                    shard.begin(hash, now, |fetch| Flight::new(key, hash, Some(fetch), now, labour()));
                let error = || FetchError::Panicked("no".into());
                match turn % 4 {
                    0 => {}
                    1 => {
                        let failed = Failed::With(error(), Some(Nanos(15)));
                        shard.land(&flight, Err(failed), now, &mut gone);
                    }
                    _ => shard.land(&flight, Ok(arriving(turn)), now, &mut gone),
                }
                None
            }
        }
    }

    fn arriving(value: u64) -> Arriving<u64> {
        Arriving { value, weight: 1, life: Some(Nanos(30)), took: None, group: 0 }
    }

    proptest! {
        /// One shard is looked at beside others first, the other alone. Keys that are 6 apart have the same hash.
        #[test]
        fn what_is_said_beside_others_is_what_is_said_alone(
            steps in prop::collection::vec((0u8..12, 0u64..8, 0u8..4), 1..200),
        ) {
            let (mut beside, mut alone, mut now) = (shard(), shard(), Nanos(0));
            prop_assert!(beside.shares_hits());
            for (turn, (key, pause, kind)) in (0..).zip(steps) {
                now = now.after(Nanos(pause));
                let (hash, is_key) = (u64::from(key % 6), |other: &u8| *other == key);
                match kind {
                    0 => {
                        let mut gone = Gone::default();
                        beside.insert(hash, key, arriving(turn), now, &mut gone);
                        alone.insert(hash, key, arriving(turn), now, &mut gone);
                    }
                    1 => prop_assert_eq!(
                        beside.get_beside(hash, is_key, now).copied(),
                        alone.get(hash, is_key, now)
                    ),
                    _ => {
                        let said = match beside.ask_beside(hash, is_key, now) {
                            Look::Value(value) => Some(value),
                            Look::Nothing => {
                                let (shard, mut gone) = (&mut beside, Gone::default());
                                let met = shard.ask(hash, is_key, now, &mut gone);
                                prop_assert!(matches!(met, Met::Nothing));
                                ask(shard, key, turn, now)
                            }
                            Look::Unclear => ask(&mut beside, key, turn, now),
                        };
                        let answer = alone.hit_fresh(hash, is_key, now);
                        prop_assert_eq!(said, answer.or_else(|| ask(&mut alone, key, turn, now)));
                    }
                }
                prop_assert_eq!(entries(&beside, now), entries(&alone, now));
                let counts = |shard: &Shard<u8, u64>| {
                    let counts = shard.counts();
                    (counts.hits, counts.delayed, counts.misses, counts.failures, counts.evicted)
                };
                prop_assert_eq!(counts(&beside), counts(&alone));
            }
        }
    }
}
