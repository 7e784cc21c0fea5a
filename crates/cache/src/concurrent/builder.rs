//! How a cache is made.

use std::hash::{BuildHasher, Hash};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hashbrown::DefaultHashBuilder;
use trueplane_units::Nanos;

use super::cache::Cache;
use super::expiry::{Expiry, Terms};
use super::forecast::Forecasts;
use super::gone::Cause;
use super::places::places;
use super::shard::Shard;
use super::shared::{Clock, Group, Life, Listener, Settings, Shared, Spawner, Task, Weigher, part};
use crate::LARGEST_CAPACITY;
use crate::policy::{Params, PolicyName};

/// Entries that a shard has room for, at least: with fewer, some shards overflow while others are empty.
const LEAST_IN_SHARD: u64 = 1024;
/// The same where entries have weights: one that weighs more than a shard may hold is not kept.
const LEAST_WEIGHED_IN_SHARD: u64 = 2048;
/// Share of the keys that forecasts see: with entries of 16 bytes, the miniatures and their fetch times then take 1.1% more memory under LRU, and 0.5% more
/// under LRU-MAD.
const FORETOLD: f64 = 1.0 / 2048.0;
/// With fewer entries that share foretells little.
const LEAST_FORETOLD: u64 = 128 * 1024;
/// Shards of a cache, at most, unless another number is given.
const MOST_SHARDS: u64 = 64;

/// Settings of a [`Cache`] that is to be made; [`Cache::builder`] begins with the defaults.
#[must_use = "build makes the cache"]
pub struct Builder<K, V, S = DefaultHashBuilder> {
    capacity: u64,
    policy: PolicyName,
    entries: Option<u64>,
    shards: Option<usize>,
    seed: u64,
    hasher: S,
    clock: Option<Clock>,
    weigher: Option<Weigher<K, V>>,
    life: Option<Life<K, V>>,
    terms: Terms,
    group: Option<Group<K>>,
    failure_life: Option<Duration>,
    listener: Option<Listener<K, V>>,
    spawner: Option<Spawner>,
    max_waiters: usize,
    max_fetches: usize,
    forecast: Option<f64>,
}

impl<K, V> Default for Builder<K, V> {
    fn default() -> Self {
        Self {
            capacity: 10_000,
            policy: PolicyName::LruMad,
            entries: None,
            shards: None,
            seed: 0,
            hasher: DefaultHashBuilder::default(),
            clock: None,
            weigher: None,
            life: None,
            terms: Terms::default(),
            group: None,
            failure_life: None,
            listener: None,
            spawner: None,
            max_waiters: usize::MAX,
            max_fetches: usize::MAX,
            forecast: None,
        }
    }
}

impl<K, V, S> Builder<K, V, S> {
    /// The total weight of the entries, at most; each weighs 1 unless there is a [`weigher`](Self::weigher). By default 10,000.
    ///
    /// A cache of capacity 0 keeps nothing, and still lets all who ask for a key wait for the same fetch.
    pub fn capacity(self, capacity: u64) -> Self {
        Self { capacity: capacity.min(LARGEST_CAPACITY), ..self }
    }

    /// Who leaves when there is no room: by default [`PolicyName::LruMad`]. Policies that must know the future evict as LRU does.
    ///
    /// Under SIEVE, S3-FIFO and random replacement, many threads can read a shard at once. Under the others, one thread reads it at a time. That is also so
    /// if entries have a time to idle, or if you give a [`clock`](Self::clock) and entries expire or failures are remembered.
    pub fn policy(self, policy: PolicyName) -> Self {
        Self { policy, ..self }
    }

    /// About how many entries the cache will hold, for the size of sketches and the number of shards. By default the capacity, or a
    /// thousandth of it with a [`weigher`](Self::weigher).
    pub fn expected_entries(self, entries: u64) -> Self {
        Self { entries: Some(entries), ..self }
    }

    /// The number of parts with a lock each, rounded up to a power of two, and at most the capacity. By default as many as leave each room for 1024 entries, or 2048
    /// with a [`weigher`](Self::weigher), and at most 64.
    ///
    /// Each part has its share of the capacity, and its policy sees its own entries alone. An entry that is heavier than a share is not
    /// kept. One shard is exact: it does what the simulator does.
    pub fn shards(self, shards: usize) -> Self {
        Self { shards: Some(shards), ..self }
    }

    /// What an entry weighs. 0 counts as 1.
    ///
    /// It is called outside of all locks, for every value that comes.
    pub fn weigher(self, weigher: impl Fn(&K, &V) -> u64 + Send + Sync + 'static) -> Self {
        Self { weigher: Some(Box::new(weigher)), ..self }
    }

    /// The time after which an entry expires, counted from when it was stored.
    pub fn time_to_live(self, time: Duration) -> Self {
        self.expire_after(move |_, _| Some(time))
    }

    /// The time after which an entry expires that nobody asks for.
    pub fn time_to_idle(self, time: Duration) -> Self {
        Self { terms: Terms { idle: Some(nanos(time)), ..self.terms }, ..self }
    }

    /// The time after its end for which an entry is still served while one of those who ask fetches it again: all others wait for nothing.
    /// With a [`spawner`](Self::spawner) nobody waits, as a task fetches it. (RFC 5861 §3)
    pub fn stale_while_revalidate(self, time: Duration) -> Self {
        Self { terms: Terms { while_revalidated: nanos(time), ..self.terms }, ..self }
    }

    /// The time after its end for which an entry is still served if fetching it again fails. (RFC 5861 §4)
    pub fn stale_if_error(self, time: Duration) -> Self {
        Self { terms: Terms { if_error: nanos(time), ..self.terms }, ..self }
    }

    /// The share of its life, from 0 to 1, after which an entry that is asked for is fetched again, by one of those who ask or by a task,
    /// so that none of them finds it stale.
    pub fn refresh_ahead(self, share: f64) -> Self {
        let thousandths = (share.clamp(0.0, 1.0) * 1000.0) as u64;
        Self { terms: Terms { refresh: Some(thousandths), ..self.terms }, ..self }
    }

    /// The time after which this entry expires, counted from when it was stored; `None` for never. Of this and
    /// [`time_to_live`](Self::time_to_live), what is called last holds.
    pub fn expire_after(self, life: impl Fn(&K, &V) -> Option<Duration> + Send + Sync + 'static) -> Self {
        Self { life: Some(Box::new(life)), ..self }
    }

    /// The group of a key, such as its server, whose values take about as long to fetch: what is stored by [`insert`](Cache::insert) is taken to have
    /// taken as long as those of its group did on average. By default all keys are one group. At most 1024 groups of a part are told apart.
    pub fn group_by(self, group: impl Fn(&K) -> u64 + Send + Sync + 'static) -> Self {
        Self { group: Some(Box::new(group)), ..self }
    }

    /// The time for which a fetch that failed is not tried again: whoever asks meanwhile gets the same error. By default none. Each shard
    /// remembers at most 1024 failures.
    pub fn negative_time_to_live(self, time: Duration) -> Self {
        Self { failure_life: Some(time), ..self }
    }

    /// Called for every entry that leaves, with the reason, in the thread that caused it and outside of all locks: it may use the cache.
    pub fn eviction_listener(self, listener: impl Fn(K, V, Cause) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Box::new(listener)), ..self }
    }

    /// Runs every fetch of [`get_or_fetch`](Cache::get_or_fetch) as a task of its own on this tokio runtime; see [`spawner`](Self::spawner).
    ///
    /// ```
    /// use trueplane_cache::{Cache, FetchError};
    ///
    /// let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    /// let squares: Cache<u64, u64> = Cache::builder().tokio(runtime.handle()).build();
    /// let square = runtime.block_on(squares.get_or_fetch(&7, || async { Ok::<_, FetchError>(49) }));
    /// assert_eq!(square?, 49);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "tokio")]
    pub fn tokio(self, runtime: &tokio::runtime::Handle) -> Self {
        let runtime = runtime.clone();
        self.spawner(move |task| drop(runtime.spawn(task)))
    }

    /// Runs every fetch of [`get_or_fetch`](Cache::get_or_fetch) as a task of its own, which `spawner` starts: for smol
    /// `|task| smol::spawn(task).detach()`; for tokio there is a method with the feature `tokio`. The fetch then goes on though all who wait
    /// for it leave.
    ///
    /// Without a spawner those who wait work on the fetch: whenever it can go on all of them are woken, and the first one that comes works on
    /// it for a moment. If that one leaves, another one goes on where it stopped; if all have left, the fetch is dropped. A future that needs a runtime,
    /// as those of tokio do, then needs it in every thread that may wait: take a spawner if threads wait, too, or if very many do.
    pub fn spawner(self, spawner: impl Fn(Task) + Send + Sync + 'static) -> Self {
        Self { spawner: Some(Box::new(spawner)), ..self }
    }

    /// Requests that may wait for one key at once. Others get [`FetchError::TooManyWaiters`](super::FetchError::TooManyWaiters).
    pub fn max_waiters(self, waiters: usize) -> Self {
        Self { max_waiters: waiters, ..self }
    }

    /// Fetches that may be on their way at once. Whoever would begin another one gets
    /// [`FetchError::TooManyFetches`](super::FetchError::TooManyFetches).
    pub fn max_fetches(self, fetches: usize) -> Self {
        Self { max_fetches: fetches, ..self }
    }

    /// The share of keys, from 0 to 1, on which [`Stats::forecasts`](super::Stats::forecasts) tells what other policies would come to; 0 for
    /// none. By default 1/2048, if that leaves room for 64 entries: for 131,072 entries and more.
    ///
    /// Up to eight miniatures of the cache see these keys, each with this share of its entries and without values. Fewer than about 64 entries tell
    /// little.
    pub fn forecast(self, share: f64) -> Self {
        Self { forecast: Some(share.clamp(0.0, 1.0)), ..self }
    }

    /// The source of time, by default that of [`Instant`]. If it goes back, the cache's time stands still until it has caught up.
    ///
    /// Policies with MAD, entries that expire and failures that are remembered need the time of every hit: it is most of what such a hit costs.
    pub fn clock(self, clock: impl Fn() -> Nanos + Send + Sync + 'static) -> Self {
        Self { clock: Some(Box::new(clock)), ..self }
    }

    /// Number from which the draws of policies begin.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The hash function of keys. The default is fast; take [`std::hash::RandomState`] where strangers choose the keys.
    ///
    /// Of two keys with the same 64-bit hash, the one that was asked for last is kept.
    pub fn hasher<T>(self, hasher: T) -> Builder<K, V, T> {
        let Self {
            capacity,
            policy,
            entries,
            shards,
            seed,
            hasher: _,
            clock,
            weigher,
            life,
            terms,
            group,
            ..
        } = self;
        let Self { failure_life, listener, spawner, max_waiters, max_fetches, forecast, .. } = self;
        Builder {
            capacity,
            policy,
            entries,
            shards,
            seed,
            hasher,
            clock,
            weigher,
            life,
            terms,
            group,
            failure_life,
            listener,
            spawner,
            max_waiters,
            max_fetches,
            forecast,
        }
    }
}

impl<K, V, S> Builder<K, V, S>
where
    K: Hash + Eq,
    S: BuildHasher,
{
    /// Makes the cache.
    pub fn build(self) -> Cache<K, V, S> {
        let entries = self.entries.unwrap_or_else(|| match self.weigher {
            Some(_) => (self.capacity / 1000).max(1),
            None => self.capacity,
        });
        let least = if self.weigher.is_some() { LEAST_WEIGHED_IN_SHARD } else { LEAST_IN_SHARD };
        let shards = self.shards.unwrap_or_else(|| 1 << (entries / least).clamp(1, MOST_SHARDS).ilog2());
        // None of them is without capacity.
        let most = self.capacity.clamp(1, 1 << 16);
        let shards = (shards.clamp(1, 1 << 16).next_power_of_two() as u64).min(1 << most.ilog2());
        let capacities: Vec<u64> = (0..shards).map(|shard| part(self.capacity, shards, shard)).collect();
        let params = Params { seed: self.seed, ..Params::objects((entries / shards).max(1)) };
        let expires = self.life.is_some() || self.terms.idle.is_some();
        let policy = if self.policy.properties().offline { PolicyName::Lru } else { self.policy };
        let shards = places(policy, params, &capacities).into_iter().zip(&capacities);
        let shards = shards
            .map(|(places, &capacity)| Shard::new(places, capacity, expires.then(|| Expiry::new(self.terms))))
            .collect();
        let settings = Settings {
            is_monotonic: self.clock.is_none(),
            clock: self.clock.unwrap_or_else(monotonic),
            is_timed: expires || self.failure_life.is_some() || policy.properties().base.is_some(),
            weigher: self.weigher,
            life: self.life,
            group: self.group,
            failure_life: self.failure_life.map(nanos),
            listener: self.listener,
            spawner: self.spawner,
            max_waiters: self.max_waiters,
            max_fetches: self.max_fetches,
        };
        let share = self.forecast.unwrap_or(if entries >= LEAST_FORETOLD { FORETOLD } else { 0.0 });
        let forecasts = Forecasts::new(policy, self.capacity, entries, share, self.seed);
        Cache { shared: Arc::new(Shared::new(shards, self.hasher, settings, forecasts)) }
    }
}

impl<K, V> Cache<K, V> {
    /// Settings for a cache that is to be made.
    pub fn builder() -> Builder<K, V> {
        Builder::default()
    }
}

impl<K, V> Cache<K, V>
where
    K: Hash + Eq,
{
    /// A cache with room for `capacity` entries, and the defaults of [`Builder`] for all else.
    pub fn new(capacity: u64) -> Self {
        Self::builder().capacity(capacity).build()
    }
}

fn nanos(time: Duration) -> Nanos {
    Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// Time since now.
#[expect(clippy::disallowed_methods, reason = "the clock of a live cache, for which any other can be given")]
fn monotonic() -> Clock {
    let start = Instant::now();
    Box::new(move || Nanos(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)))
}
