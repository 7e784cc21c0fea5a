//! A part of a cache: what is in it, what is on its way to it, and what has happened. One lock guards it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hashbrown::HashMap;
use trueplane_units::Nanos;

use super::arriving::{Arriving, Failed, Failure, Held, Met, Write};
use super::expiry::{Expiry, Freshness};
use super::flight::Flight;
use super::gone::{Cause, Gone};
use super::places::{Places, miss};
use super::priors::Priors;
use super::stats::Counts;
use crate::{Access, FetchId, Key, Object, Outcome, Removed, Slot};

/// A part of a cache.
pub(super) struct Shard<K, V> {
    pub(super) places: Places,
    capacity: u64,
    /// Entries, by slot.
    pub(super) held: Vec<Option<Held<K, V>>>,
    /// Fetches on their way, by slot.
    flights: HashMap<Slot, Arc<Flight<K, V>>>,
    /// Fetches that are to renew what is there, by hash.
    pub(super) renewals: HashMap<u64, Arc<Flight<K, V>>>,
    /// Fetches that failed lately, by hash, with the end of the time for which that holds.
    pub(super) failures: HashMap<u64, Failure<K>>,
    priors: Priors,
    pub(super) expiry: Option<Expiry>,
    /// Number of the last write.
    writes: Write,
    /// The latest time that it was told: time does not go back.
    now: Nanos,
    pub(super) counts: Counts,
    /// Requests that were answered at once.
    pub(super) hits: AtomicU64,
    /// Requests that found nothing.
    pub(super) misses: AtomicU64,
    freed: Vec<Slot>,
}

/// The latest time that there is: what comes later is never.
const LATEST: Nanos = Nanos(u64::MAX - 1);
/// Failures that a shard remembers, at most.
const MOST_FAILURES: usize = 1024;

impl<K: Eq, V> Shard<K, V> {
    pub(super) fn new(places: Places, capacity: u64, expiry: Option<Expiry>) -> Self {
        Self {
            places,
            capacity,
            held: Vec::new(),
            flights: HashMap::new(),
            renewals: HashMap::new(),
            failures: HashMap::new(),
            priors: Priors::default(),
            expiry,
            writes: Write::MIN,
            now: Nanos(0),
            counts: Counts::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            freed: Vec::new(),
        }
    }

    /// Time as the policy sees it.
    #[inline]
    pub(super) fn at(&mut self, now: Nanos) -> Nanos {
        self.now = self.seen(now);
        self.now
    }

    /// The same for those who change nothing.
    #[inline]
    pub(super) fn seen(&self, now: Nanos) -> Nanos {
        self.now.max(now.min(LATEST))
    }

    /// Whether the entry in a slot is of this key.
    #[inline]
    pub(super) fn holds(&self, slot: Slot, is_key: impl FnOnce(&K) -> bool) -> bool {
        self.held[slot.index()].as_ref().is_some_and(|held| is_key(&held.key))
    }

    /// The number of the next write.
    fn next_write(&mut self) -> Write {
        self.writes = self.writes.checked_add(1).unwrap_or(Write::MIN);
        self.writes
    }

    /// The slot of the resident entry for this key, if its time is not over. It is no request.
    #[inline]
    fn find(&self, hash: u64, is_key: impl FnOnce(&K) -> bool, now: Nanos) -> Option<Slot> {
        let (Outcome::Hit, Some(slot)) = self.places.look_up(Key(hash)) else { return None };
        let is_over = self.expiry.as_ref().is_some_and(|expiry| expiry.is_over(slot, now));
        (self.holds(slot, is_key) && !is_over).then_some(slot)
    }

    fn use_slot(&mut self, slot: Slot, now: Nanos) {
        self.places.request_at(slot, Access::at(now));
        if let Some(expiry) = &mut self.expiry {
            expiry.used(slot, now);
        }
    }

    fn value(&self, slot: Slot) -> Option<&V> {
        self.held[slot.index()].as_ref().map(|held| &held.value)
    }

    /// The value of a key and the number of the write that stored it. It is no request.
    pub(super) fn peek(&self, hash: u64, is_key: impl FnOnce(&K) -> bool, now: Nanos) -> Option<(&V, Write)> {
        let slot = self.find(hash, is_key, self.seen(now))?;
        self.held[slot.index()].as_ref().map(|held| (&held.value, held.write))
    }

    /// A request that waits for a fetch, or begins one, if nothing is there. Begins none itself.
    pub(super) fn ask(
        &mut self,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        now: Nanos,
        gone: &mut Gone<K, V>,
    ) -> Met<K, V>
    where
        V: Clone,
    {
        let now = self.at(now);
        if let Some(failure) = self.failures.get(&hash).filter(|failure| is_key(&failure.key)) {
            if now < failure.until {
                self.counts.failures += 1;
                return Met::Failure(failure.error.clone());
            }
            self.failures.remove(&hash);
        }
        match self.places.look_up(Key(hash)) {
            (Outcome::Hit, Some(slot)) => {
                let freshness =
                    self.expiry.as_ref().map_or(Freshness::Fresh, |expiry| expiry.freshness(slot, now));
                let is_own = self.holds(slot, &is_key);
                if is_own
                    && freshness != Freshness::Over
                    && let Some(value) = self.value(slot).cloned()
                {
                    *self.hits.get_mut() += 1;
                    self.use_slot(slot, now);
                    if freshness == Freshness::Fresh {
                        return Met::Value(value);
                    }
                    let renewal = self.renewals.get(&hash).filter(|flight| is_key(&flight.key)).cloned();
                    return Met::Ageing { value, is_stale: freshness == Freshness::Stale, renewal };
                }
                // Its time is over, or it belongs to another key with the same hash.
                self.take(hash, if is_own { Cause::Expired } else { Cause::Evicted }, now, gone);
                self.renewal_or_nothing(hash, is_key)
            }
            (Outcome::Delayed, Some(slot)) => match self.flights.get(&slot) {
                Some(flight) if is_key(&flight.key) => {
                    let flight = Arc::clone(flight);
                    self.counts.delayed += 1;
                    self.places.request_at(slot, Access::at(now));
                    Met::Flight(flight)
                }
                // Another key with the same hash: what comes for it is not kept.
                _ => {
                    self.take(hash, Cause::Evicted, now, gone);
                    Met::Nothing
                }
            },
            _ => self.renewal_or_nothing(hash, is_key),
        }
    }

    /// Begins a fetch for what is not there.
    pub(super) fn begin(
        &mut self,
        hash: u64,
        now: Nanos,
        flight: impl FnOnce(FetchId) -> Flight<K, V>,
    ) -> Arc<Flight<K, V>> {
        let now = self.at(now);
        *self.misses.get_mut() += 1;
        let (slot, fetch) = miss(&mut self.places, Object { key: Key(hash), size: 1 }, now);
        let flight = Arc::new(flight(fetch));
        self.flights.insert(slot, Arc::clone(&flight));
        flight
    }

    /// A fetch has ended. What it brings is stored, if anybody wants it.
    pub(super) fn land(
        &mut self,
        flight: &Arc<Flight<K, V>>,
        arrived: Result<Arriving<V>, Failed>,
        now: Nanos,
        gone: &mut Gone<K, V>,
    ) where
        K: Clone,
    {
        let Some(fetch) = flight.fetch else { return self.land_renewal(flight, arrived, now, gone) };
        let slot = fetch.slot();
        if !self.flights.get(&slot).is_some_and(|other| Arc::ptr_eq(other, flight)) {
            return;
        }
        let now = self.at(now);
        // It is the caller's: if it panics, nothing has changed.
        let key = flight.key.clone();
        self.flights.remove(&slot);
        self.sweep(now, gone);
        match arrived {
            Ok(mut arriving) => {
                let took = now.since(flight.began);
                arriving.took = Some(took);
                self.counts.fetched(took);
                self.store(flight.hash, fetch, key, arriving, now, gone);
            }
            Err(failed) => {
                // What was written for its key meanwhile holds, and not that this has failed.
                let is_wanted = self.places.look_up(Key(flight.hash)).1 == Some(slot);
                self.places.failed_by(fetch);
                self.counts.failures += u64::from(failed.is_told());
                if let Failed::With(error, Some(time)) = failed
                    && is_wanted
                {
                    let failure = Failure { key, error, until: now.after(time) };
                    self.remember(flight.hash, failure, now);
                }
            }
        }
    }

    /// Remembers a failure, if there is room.
    fn remember(&mut self, hash: u64, failure: Failure<K>, now: Nanos) {
        if self.failures.len() >= MOST_FAILURES {
            self.failures.retain(|_, failure| now < failure.until);
        }
        if self.failures.len() < MOST_FAILURES {
            self.failures.insert(hash, failure);
        }
    }

    /// Stores what has come for a fetch, if anybody wants it, and lets go who leaves for it.
    fn store(
        &mut self,
        hash: u64,
        fetch: FetchId,
        key: K,
        arriving: Arriving<V>,
        now: Nanos,
        gone: &mut Gone<K, V>,
    ) {
        let Arriving { value, weight, life, took, group } = arriving;
        let took = match took {
            Some(took) => {
                self.priors.learn(group, took);
                took
            }
            None => self.priors.of(group),
        };
        self.freed.clear();
        let is_wanted = self.places.look_up(Key(hash)).1 == Some(fetch.slot());
        let Some((slot, freed)) = self.places.fetched_by(fetch, weight, took, now) else {
            return gone.push(key, value, Cause::Removed);
        };
        self.freed.extend_from_slice(freed);
        if self.held.len() <= slot.index() {
            crate::reserve(&mut self.held, slot.index() + 1);
            self.held.resize_with(slot.index() + 1, || None);
        }
        let write = self.next_write();
        self.held[slot.index()] = Some(Held { key, value, write });
        if let Some(expiry) = &mut self.expiry {
            expiry.stored(slot, life, now);
        }
        for position in 0..self.freed.len() {
            let freed = self.freed[position];
            let cause = match freed == slot {
                true if !is_wanted => Cause::Removed,
                true if weight > self.capacity => Cause::TooHeavy,
                _ => Cause::Evicted,
            };
            self.let_go(freed, cause, gone);
        }
    }

    /// The slot is free from now on.
    fn let_go(&mut self, slot: Slot, cause: Cause, gone: &mut Gone<K, V>) {
        if let Some(expiry) = &mut self.expiry {
            expiry.left(slot);
        }
        if let Some(Held { key, value, .. }) = self.held.get_mut(slot.index()).and_then(Option::take) {
            self.counts.left(cause);
            gone.push(key, value, cause);
        }
    }

    /// Stores a value that nobody fetched here. A fetch for its key that is on its way goes on for those
    /// who wait for it, and what comes is not kept.
    pub(super) fn insert(
        &mut self,
        hash: u64,
        key: K,
        arriving: Arriving<V>,
        now: Nanos,
        gone: &mut Gone<K, V>,
    ) {
        let now = self.at(now);
        self.sweep(now, gone);
        self.forget(hash);
        if let (Outcome::Hit, Some(slot)) = self.places.look_up(Key(hash))
            && self.places.object(slot).is_some_and(|object| object.size == arriving.weight)
            && self.holds(slot, |other| *other == key)
        {
            let new = Held { key, value: arriving.value, write: self.next_write() };
            let old = self.held[slot.index()].replace(new);
            self.counts.left(Cause::Replaced);
            if let Some(Held { key, value, .. }) = old {
                gone.push(key, value, Cause::Replaced);
            }
            self.places.request_at(slot, Access::at(now));
            if let Some(took) = arriving.took {
                self.priors.learn(arriving.group, took);
                self.places.renewed(slot, took);
            }
            if let Some(expiry) = &mut self.expiry {
                expiry.stored(slot, arriving.life, now);
            }
            return;
        }
        let is_own = self.is_of(hash, |other| *other == key);
        self.take(hash, if is_own { Cause::Replaced } else { Cause::Evicted }, now, gone);
        let (_, fetch) = miss(&mut self.places, Object { key: Key(hash), size: arriving.weight }, now);
        self.store(hash, fetch, key, arriving, now, gone);
    }

    /// Whether this is the number of the last write for a key; none if nothing is there.
    pub(super) fn is_last_write(&self, hash: u64, key: &K, write: Option<Write>, now: Nanos) -> bool {
        self.peek(hash, |other| other == key, now).map(|(_, last)| last) == write
    }

    /// Removes a key, whatever its state.
    pub(super) fn remove(
        &mut self,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        now: Nanos,
        gone: &mut Gone<K, V>,
    ) {
        let now = self.at(now);
        self.forget(hash);
        if self.is_of(hash, is_key) {
            self.take(hash, Cause::Removed, now, gone);
        }
    }

    /// Whether what has this hash, resident or on its way, is of this key.
    fn is_of(&self, hash: u64, is_key: impl Fn(&K) -> bool) -> bool {
        match self.places.look_up(Key(hash)) {
            (Outcome::Hit, Some(slot)) => self.holds(slot, is_key),
            (_, Some(slot)) => self.flights.get(&slot).is_some_and(|flight| is_key(&flight.key)),
            _ => false,
        }
    }

    /// Something else is true of a key from now on: neither does a failure hold, nor is what a fetch on its way brings.
    fn forget(&mut self, hash: u64) {
        self.failures.remove(&hash);
        self.renewals.remove(&hash);
    }

    /// Takes out what has this hash, resident or on its way.
    fn take(&mut self, hash: u64, cause: Cause, now: Nanos, gone: &mut Gone<K, V>) {
        if let Removed::Resident(slot) = self.places.remove(Key(hash), now) {
            self.let_go(slot, cause, gone);
        }
    }

    /// Lets some of the entries go whose time is over; returns whether there are no others.
    pub(super) fn sweep(&mut self, now: Nanos, gone: &mut Gone<K, V>) -> bool {
        let now = self.at(now);
        let Some(expiry) = &mut self.expiry else { return true };
        for slot in expiry.over(now) {
            if let Some(object) = self.places.object(slot) {
                self.take(object.key.0, Cause::Expired, now, gone);
            }
        }
        self.expiry.as_ref().is_none_or(|expiry| !expiry.is_due(now))
    }

    /// Removes all entries. Fetches on their way go on for those who wait for them, and what comes is not kept.
    pub(super) fn clear(&mut self, now: Nanos, gone: &mut Gone<K, V>) {
        let now = self.at(now);
        self.failures.clear();
        self.renewals.clear();
        self.freed.clear();
        self.freed.extend_from_slice(self.places.clear(now));
        for position in 0..self.freed.len() {
            self.let_go(self.freed[position], Cause::Removed, gone);
        }
    }

    pub(super) fn resize(&mut self, capacity: u64, now: Nanos, gone: &mut Gone<K, V>) {
        let now = self.at(now);
        self.capacity = capacity;
        self.freed.clear();
        self.freed.extend_from_slice(self.places.resize(capacity, now));
        for position in 0..self.freed.len() {
            self.let_go(self.freed[position], Cause::Evicted, gone);
        }
    }

    /// Entries whose time is not over.
    pub(super) fn iter(&self, now: Nanos) -> impl Iterator<Item = (&K, &V)> {
        let now = self.seen(now);
        let is_over =
            move |slot: u32| self.expiry.as_ref().is_some_and(|expiry| expiry.is_over(Slot(slot), now));
        let entries = (0..).zip(&self.held).filter_map(|(slot, held)| Some((slot, held.as_ref()?)));
        entries.filter(move |(slot, _)| !is_over(*slot)).map(|(_, held)| (&held.key, &held.value))
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn weight(&self) -> u64 {
        self.places.used()
    }

    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    pub(super) fn counts(&self) -> Counts {
        Counts { hits: self.hits.load(Relaxed), misses: self.misses.load(Relaxed), ..self.counts }
    }
}
