//! What all handles of a cache share: its shards, its clock, its settings.

use std::hash::BuildHasher;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use trueplane_units::Nanos;

use super::arriving::{Arriving, Failed};
use super::error::{AnyError, FetchError};
use super::flight::Flight;
use super::forecast::Forecasts;
use super::gone::{Cause, Gone};
use super::nested::{self, WaitsFor};
use super::shard::Shard;
use super::stats::{Counts, Stats};
use super::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use super::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use crate::Key;
use crate::directory::spread;

/// A source of time.
pub(super) type Clock = Box<dyn Fn() -> Nanos + Send + Sync>;
/// The weight of an entry.
pub(super) type Weigher<K, V> = Box<dyn Fn(&K, &V) -> u64 + Send + Sync>;
/// The time that an entry lives, if it expires.
pub(super) type Life<K, V> = Box<dyn Fn(&K, &V) -> Option<Duration> + Send + Sync>;
/// The group of a key.
pub(super) type Group<K> = Box<dyn Fn(&K) -> u64 + Send + Sync>;
/// Who hears of entries that have left.
pub(super) type Listener<K, V> = Box<dyn Fn(K, V, Cause) + Send + Sync>;
/// A future that runs by itself.
pub(super) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
/// Whoever runs such futures.
pub(super) type Spawner = Box<dyn Fn(Task) + Send + Sync>;

/// The settings of a builder, made whole.
pub(super) struct Settings<K, V> {
    pub(super) clock: Clock,
    /// Whether the clock never goes back.
    pub(super) is_monotonic: bool,
    /// Whether hits must know the time.
    pub(super) is_timed: bool,
    pub(super) weigher: Option<Weigher<K, V>>,
    pub(super) life: Option<Life<K, V>>,
    pub(super) group: Option<Group<K>>,
    pub(super) failure_life: Option<Nanos>,
    pub(super) listener: Option<Listener<K, V>>,
    pub(super) spawner: Option<Spawner>,
    pub(super) max_waiters: usize,
    pub(super) max_fetches: usize,
}

/// A lock on a cache line of its own: neighbours in an array would slow each other down.
#[repr(align(128))]
pub(super) struct Locked<T>(RwLock<T>);

/// What all handles of a cache share.
pub(super) struct Shared<K, V, S> {
    pub(super) shards: Box<[Locked<Shard<K, V>>]>,
    pub(super) hasher: S,
    pub(super) settings: Settings<K, V>,
    forecasts: Forecasts,
    /// Whether hits of many threads can take effect at once.
    pub(super) shares_hits: bool,
    /// Fetches on their way.
    pub(super) fetching: AtomicUsize,
    pub(super) waits_for: WaitsFor,
    waited: AtomicU64,
    wait_time: AtomicU64,
}

impl<K: Eq, V, S> Shared<K, V, S> {
    pub(super) fn new(
        shards: Vec<Shard<K, V>>,
        hasher: S,
        settings: Settings<K, V>,
        forecasts: Forecasts,
    ) -> Self {
        Self {
            // Where the clock may go back, a shard must remember the latest time, and readers cannot write it.
            shares_hits: shards.iter().all(Shard::shares_hits)
                && (settings.is_monotonic || !settings.is_timed),
            shards: shards.into_iter().map(|shard| Locked(RwLock::new(shard))).collect(),
            hasher,
            settings,
            forecasts,
            fetching: AtomicUsize::new(0),
            waits_for: WaitsFor::default(),
            waited: AtomicU64::new(0),
            wait_time: AtomicU64::new(0),
        }
    }

    /// The shard of a hash. Bits in the middle choose it, as those at both ends choose the place within. Fast hash functions do not spread small
    /// numbers over all bits, so this does.
    #[inline]
    pub(super) fn shard(&self, hash: u64) -> RwLockWriteGuard<'_, Shard<K, V>> {
        lock(self.locked(hash))
    }

    /// The shard of a hash, beside other readers.
    #[inline]
    pub(super) fn read(&self, hash: u64) -> RwLockReadGuard<'_, Shard<K, V>> {
        read(self.locked(hash))
    }

    #[inline]
    fn locked(&self, hash: u64) -> &Locked<Shard<K, V>> {
        // As many shards as a power of two.
        &self.shards[(spread(Key(hash)) >> 32) as usize & (self.shards.len() - 1)]
    }

    pub(super) fn now(&self) -> Nanos {
        (self.settings.clock)()
    }

    /// The time of a hit; if nobody wants to know it, that of the last event.
    #[inline]
    pub(super) fn time_of_hit(&self) -> Nanos {
        if self.settings.is_timed { self.now() } else { Nanos(0) }
    }

    /// Lets forecasts see a request.
    #[inline]
    pub(super) fn foretell(&self, hash: u64) {
        self.forecasts.request(hash, || self.now());
    }

    /// Lets forecasts see a value that has come.
    pub(super) fn learn(&self, hash: u64, weight: u64, took: Nanos) {
        self.forecasts.learn(hash, weight, took);
    }

    /// Tells the listener; entries end here, outside of all locks.
    #[inline]
    pub(super) fn tell(&self, gone: Gone<K, V>) {
        if let Some(listener) = &self.settings.listener {
            gone.into_iter().for_each(|(key, value, cause)| listener(key, value, cause));
        }
    }

    /// A value with its weight and its life.
    pub(super) fn arriving(&self, key: &K, value: V) -> Arriving<V> {
        let weight = self.settings.weigher.as_ref().map_or(1, |weigher| weigher(key, &value).max(1));
        let life = self.settings.life.as_ref().and_then(|life| life(key, &value));
        let life = life.map(|life| Nanos(u64::try_from(life.as_nanos()).unwrap_or(u64::MAX)));
        let group = self.settings.group.as_ref().map_or(0, |group| group(key));
        Arriving { value, weight, life, took: None, group }
    }

    pub(super) fn stats(&self) -> Stats {
        let counts: Counts = self.shards.iter().map(|shard| read(shard).counts()).sum();
        Stats {
            hits: counts.hits,
            delayed_hits: counts.delayed,
            misses: counts.misses,
            failures: counts.failures,
            fetches: counts.fetches,
            fetch_time: counts.fetching,
            waited: self.waited.load(Ordering::Relaxed),
            wait_time: Nanos(self.wait_time.load(Ordering::Relaxed)),
            evictions: counts.evicted,
            expirations: counts.expired,
            forecasts: self.forecasts.all(),
        }
    }
}

/// The share of a capacity that a shard has; the first ones have one more, so that all together have the whole.
pub(super) fn part(capacity: u64, shards: u64, number: u64) -> u64 {
    capacity / shards + u64::from(number < capacity % shards)
}

/// Nothing of ours panics while a shard is locked; if the caller's `Eq` or `Clone` does, nothing is half changed by then.
pub(super) fn lock<T>(locked: &Locked<T>) -> RwLockWriteGuard<'_, T> {
    locked.0.write().unwrap_or_else(PoisonError::into_inner)
}

/// The same beside other readers.
pub(super) fn read<T>(locked: &Locked<T>) -> RwLockReadGuard<'_, T> {
    locked.0.read().unwrap_or_else(PoisonError::into_inner)
}

impl<K, V, S> Shared<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// A fetch has ended; whoever waits for it is told.
    pub(super) fn land(&self, flight: &Arc<Flight<K, V>>, result: Result<V, FetchError>) {
        let arriving = match &result {
            // The weigher and the like are the caller's: if one of them panics, so does the fetch.
            Ok(value) => catch_unwind(AssertUnwindSafe(|| self.arriving(&flight.key, value.clone())))
                .map_err(|payload| FetchError::panicked(&*payload)),
            Err(error) => Err(error.clone()),
        };
        let result = match &arriving {
            Ok(_) => result,
            Err(error) => Err(error.clone()),
        };
        let failed = |error| Failed::With(error, self.settings.failure_life);
        let now = self.now();
        if let Ok(arriving) = &arriving {
            self.learn(flight.hash, arriving.weight, now.since(flight.began));
        }
        let mut gone = Gone::default();
        self.shard(flight.hash).land(flight, arriving.map_err(failed), now, &mut gone);
        if let Some(waits) = flight.end(result, now) {
            self.fetching.fetch_sub(1, Ordering::Relaxed);
            self.waited.fetch_add(waits.number, Ordering::Relaxed);
            self.wait_time.fetch_add(waits.total.0, Ordering::Relaxed);
        }
        self.tell(gone);
    }

    /// Something of the caller's has panicked before a fetch could land: those who wait are told, and nothing is stored.
    fn abort(&self, flight: &Arc<Flight<K, V>>) {
        let mut gone = Gone::default();
        // The clock may be what has panicked.
        self.shard(flight.hash).land(flight, Err(Failed::GivenUp), Nanos(0), &mut gone);
        let panicked = FetchError::Panicked("outside of the fetch".into());
        if flight.end(Err(panicked), flight.began).is_some() {
            self.fetching.fetch_sub(1, Ordering::Relaxed);
        }
        // This thread unwinds already: a second panic would end the program.
        let _ = catch_unwind(AssertUnwindSafe(|| self.tell(gone)));
    }

    /// All who waited for a fetch have left: it has not failed, and nobody is told.
    pub(super) fn give_up(&self, flight: &Arc<Flight<K, V>>) {
        let mut gone = Gone::default();
        let now = self.now();
        self.shard(flight.hash).land(flight, Err(Failed::GivenUp), now, &mut gone);
        if flight.bury() {
            self.fetching.fetch_sub(1, Ordering::Relaxed);
        }
        self.tell(gone);
    }

    /// Works on a fetch in this thread until it ends.
    pub(super) fn work(
        &self,
        flight: &Arc<Flight<K, V>>,
        fetch: impl FnOnce() -> Result<V, AnyError>,
    ) -> Result<V, FetchError> {
        let guard = Guard { shared: self, flight };
        let within = nested::enter(flight.id());
        let result = catch_unwind(AssertUnwindSafe(fetch));
        drop(within);
        let result = match result {
            Ok(result) => result.map_err(FetchError::failed),
            Err(payload) => Err(FetchError::panicked(&*payload)),
        };
        self.land(flight, result.clone());
        guard.done();
        result
    }
}

/// Ends a flight if whoever works on it unwinds.
pub(super) struct Guard<'a, K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    pub(super) shared: &'a Shared<K, V, S>,
    pub(super) flight: &'a Arc<Flight<K, V>>,
}

impl<K, V, S> Guard<'_, K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// Nothing has panicked.
    pub(super) fn done(self) {
        std::mem::forget(self);
    }
}

impl<K, V, S> Drop for Guard<'_, K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    fn drop(&mut self) {
        self.shared.abort(self.flight);
    }
}
