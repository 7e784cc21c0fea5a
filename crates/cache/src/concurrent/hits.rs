//! Requests for what is there.

use std::sync::atomic::Ordering::Relaxed;

use trueplane_units::Nanos;

use super::expiry::Age;
use super::shard::Shard;
use crate::{Access, Key, Outcome, Slot};

/// What a look at a shard has found.
pub(super) enum Look<V> {
    /// A value, which may be served as it is.
    Value(V),
    /// Nothing: a fetch may begin.
    Nothing,
    /// What takes the shard alone to answer.
    Unclear,
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
        let is_it = |slot: Slot| {
            let held = self.held.get(slot.index()).and_then(Option::as_ref);
            found = held.filter(|held| {
                is_key(&held.key) && self.expiry.as_ref().is_none_or(|expiry| expiry.allows(slot, age, now))
            });
            found.is_some()
        };
        self.places.mark(Key(hash), is_it)?;
        self.hits.fetch_add(1, Relaxed);
        found.map(|held| &held.value)
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
        let is_empty = self.failures.is_empty() && self.renewals.is_empty();
        if is_empty && self.places.look_up(Key(hash)).0 == Outcome::Miss {
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
        let is_it = |slot: Slot| {
            let held = held.get(slot.index()).and_then(Option::as_ref);
            found = held.filter(|held| {
                is_key(&held.key) && expiry.as_ref().is_none_or(|expiry| expiry.allows(slot, age, now))
            });
            found.is_some()
        };
        let slot = places.hit(Key(hash), is_it, Access::at(now))?;
        *hits.get_mut() += 1;
        if let Some(expiry) = expiry {
            expiry.used(slot, now);
        }
        found.map(|held| &held.value)
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
