//! What all handles of a cache share: its shards, its clock, its settings.

use std::error::Error;
use std::hash::BuildHasher;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use trueplane_units::Nanos;

use super::error::FetchError;
use super::flight::{Flight, Labour, Ticket, Work, advance};
use super::forecast::Forecasts;
use super::gone::{Cause, Gone};
use super::nested;
use super::shard::{Arriving, Failed, Met, Shard};
use super::stats::{Counts, Stats};
use crate::Key;
use crate::directory::spread;

/// A source of time.
pub(super) type Clock = Box<dyn Fn() -> Nanos + Send + Sync>;
/// The weight of an entry.
pub(super) type Weigher<K, V> = Box<dyn Fn(&K, &V) -> u64 + Send + Sync>;
/// The time that an entry lives, if it expires.
pub(super) type Life<K, V> = Box<dyn Fn(&K, &V) -> Option<Duration> + Send + Sync>;
/// Who hears of entries that have left.
pub(super) type Listener<K, V> = Box<dyn Fn(K, V, Cause) + Send + Sync>;
/// A future that runs by itself.
pub(super) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
/// Whoever runs such futures.
pub(super) type Spawner = Box<dyn Fn(Task) + Send + Sync>;

/// The settings of a builder, made whole.
pub(super) struct Settings<K, V> {
    pub(super) clock: Clock,
    /// Whether hits must know the time.
    pub(super) is_timed: bool,
    pub(super) weigher: Option<Weigher<K, V>>,
    pub(super) life: Option<Life<K, V>>,
    pub(super) failure_life: Option<Nanos>,
    pub(super) listener: Option<Listener<K, V>>,
    pub(super) spawner: Option<Spawner>,
    pub(super) max_waiters: usize,
    pub(super) max_fetches: usize,
}

/// A lock on a cache line of its own: neighbours in an array would slow each other down.
#[repr(align(128))]
pub(super) struct Locked<T>(pub(super) Mutex<T>);

/// What all handles of a cache share.
pub(super) struct Shared<K, V, S> {
    pub(super) shards: Box<[Locked<Shard<K, V>>]>,
    pub(super) hasher: S,
    pub(super) settings: Settings<K, V>,
    forecasts: Forecasts,
    /// Fetches on their way.
    fetching: AtomicUsize,
    waited: AtomicU64,
    wait_time: AtomicU64,
}

/// Somebody who waits for a flight.
pub(super) struct Seat<K, V> {
    pub(super) flight: Arc<Flight<K, V>>,
    pub(super) ticket: Ticket,
    /// An old value that is served if the fetch fails.
    pub(super) instead: Option<V>,
}

/// The caller's own way to fetch: made when it is needed, and kept until it is.
pub(super) struct Own<V, F> {
    make: Option<F>,
    work: Option<Work<V>>,
    early: Option<V>,
}

impl<V, F: FnOnce() -> Option<Work<V>>> Own<V, F> {
    pub(super) fn new(make: F) -> Self {
        Self { make: Some(make), work: None, early: None }
    }

    /// Its value may be read before it is whole.
    pub(super) fn early(self, value: V) -> Self {
        Self { early: Some(value), ..self }
    }

    fn prepare(&mut self) {
        if let Some(make) = self.make.take() {
            self.work = make();
        }
    }
}

/// What a request with a fetch comes to.
pub(super) enum Asked<K, V> {
    /// This is the answer.
    Answer(Result<V, FetchError>),
    /// Wait there.
    Wait(Seat<K, V>),
    /// The fetch is the caller's own to work on.
    Fetch(Seat<K, V>),
}

impl<K: Eq, V, S> Shared<K, V, S> {
    pub(super) fn new(
        shards: Vec<Shard<K, V>>,
        hasher: S,
        settings: Settings<K, V>,
        forecasts: Forecasts,
    ) -> Self {
        Self {
            shards: shards.into_iter().map(|shard| Locked(Mutex::new(shard))).collect(),
            hasher,
            settings,
            forecasts,
            fetching: AtomicUsize::new(0),
            waited: AtomicU64::new(0),
            wait_time: AtomicU64::new(0),
        }
    }

    /// The shard of a hash. Bits in the middle choose it, as those at both ends choose the place within. Fast hash functions do not spread small
    /// numbers over all bits, so this does.
    #[inline]
    pub(super) fn shard(&self, hash: u64) -> MutexGuard<'_, Shard<K, V>> {
        // As many shards as a power of two.
        let place = (spread(Key(hash)) >> 32) as usize & (self.shards.len() - 1);
        lock(&self.shards[place])
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
        Arriving { value, weight, life, took: Nanos(0) }
    }

    pub(super) fn stats(&self) -> Stats {
        let counts: Counts = self.shards.iter().map(|shard| lock(shard).counts()).sum();
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

/// Nothing of ours panics while a shard is locked; if the caller's `Eq` or `Clone` does, nothing has been changed by then.
pub(super) fn lock<T>(locked: &Locked<T>) -> MutexGuard<'_, T> {
    locked.0.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K, V, S> Shared<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// A request that wants a value, whoever fetches it.
    pub(super) fn ask<F: FnOnce() -> Option<Work<V>>>(
        self: &Arc<Self>,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        own_key: impl FnOnce() -> K,
        own: &mut Own<V, F>,
    ) -> Asked<K, V> {
        let now = self.time_of_hit();
        self.foretell(hash);
        let mut gone = Gone::default();
        let met = self.shard(hash).ask(hash, &is_key, now, &mut gone);
        self.tell(gone);
        match met {
            Met::Value(value) => Asked::Answer(Ok(value)),
            Met::Failure(error) => Asked::Answer(Err(error)),
            Met::Flight(flight) => self.join(flight, None),
            Met::Ageing { value, is_stale: true, renewal: Some(flight) } => self.join(flight, Some(value)),
            Met::Ageing { value, renewal: Some(_), .. } => Asked::Answer(Ok(value)),
            Met::Ageing { value, is_stale, renewal: None } => {
                self.begin_renewal(hash, own_key(), value, is_stale, own)
            }
            Met::Nothing => self.begin(hash, is_key, own_key(), own),
        }
    }

    /// Begins a fetch for what was not there a moment ago.
    fn begin<F: FnOnce() -> Option<Work<V>>>(
        self: &Arc<Self>,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        key: K,
        own: &mut Own<V, F>,
    ) -> Asked<K, V> {
        // The future is made outside of the lock, as it is the caller's.
        own.prepare();
        let now = self.now();
        let permit = self.permit();
        let mut gone = Gone::default();
        let begun = {
            let mut shard = self.shard(hash);
            // Another one may have been faster.
            match (shard.ask(hash, &is_key, now, &mut gone), permit) {
                (Met::Nothing, Ok(())) => {
                    let (parked, elsewhere) = self.divide(own);
                    let flight =
                        shard.begin(hash, now, |fetch| Flight::new(key, hash, Some(fetch), now, parked));
                    // Nobody else can have joined: the shard is locked.
                    let ticket = flight.join(now, usize::MAX).unwrap_or_default();
                    Ok((Seat { flight, ticket, instead: None }, elsewhere))
                }
                (met, _) => Err(met),
            }
        };
        self.tell(gone);
        let met = match begun {
            Ok((seat, elsewhere)) => return self.start(seat, elsewhere),
            Err(met) => met,
        };
        if permit.is_ok() {
            self.fetching.fetch_sub(1, Ordering::Relaxed);
        }
        match (met, permit) {
            (Met::Value(value) | Met::Ageing { value, .. }, _) => Asked::Answer(Ok(value)),
            (Met::Failure(error), _) => Asked::Answer(Err(error)),
            (Met::Flight(flight), _) => self.join(flight, None),
            (Met::Nothing, permit) => {
                Asked::Answer(Err(FetchError::TooManyFetches(permit.err().unwrap_or_default())))
            }
        }
    }

    /// Begins a fetch for what is there and is to be renewed; serves it if another one has begun one, or no more may be begun.
    fn begin_renewal<F: FnOnce() -> Option<Work<V>>>(
        self: &Arc<Self>,
        hash: u64,
        key: K,
        value: V,
        is_stale: bool,
        own: &mut Own<V, F>,
    ) -> Asked<K, V> {
        own.prepare();
        let now = self.now();
        if self.permit().is_err() {
            return Asked::Answer(Ok(value));
        }
        let begun = self.shard(hash).begin_renewal(hash, || {
            let (parked, elsewhere) = self.divide(own);
            own.work = elsewhere;
            Flight::new(key, hash, None, now, parked)
        });
        let Some(flight) = begun else {
            self.fetching.fetch_sub(1, Ordering::Relaxed);
            return Asked::Answer(Ok(value));
        };
        let elsewhere = if self.settings.spawner.is_some() { own.work.take() } else { None };
        if elsewhere.is_some() && !is_stale {
            self.spawn(flight, elsewhere);
            return Asked::Answer(Ok(value));
        }
        match flight.join(now, usize::MAX) {
            Ok(ticket) => self.start(Seat { flight, ticket, instead: Some(value) }, elsewhere),
            Err(error) => Asked::Answer(Err(error)),
        }
    }

    /// One more fetch may be on its way, or so many are already.
    fn permit(&self) -> Result<(), usize> {
        let others = self.fetching.fetch_add(1, Ordering::Relaxed);
        if others < self.settings.max_fetches {
            return Ok(());
        }
        self.fetching.fetch_sub(1, Ordering::Relaxed);
        Err(others)
    }

    /// What those who wait work on, and the work of a task; there is no work if the caller does it.
    fn divide<F>(&self, own: &mut Own<V, F>) -> (Labour<V>, Option<Work<V>>) {
        let (work, early) = (own.work.take(), own.early.take());
        match self.settings.spawner {
            Some(_) => (Labour { work: None, early }, work),
            None => (Labour { work, early }, None),
        }
    }

    /// The caller's fetch begins: it waits for a task, or works itself.
    fn start(self: &Arc<Self>, seat: Seat<K, V>, elsewhere: Option<Work<V>>) -> Asked<K, V> {
        if elsewhere.is_some() {
            self.spawn(Arc::clone(&seat.flight), elsewhere);
            Asked::Wait(seat)
        } else if seat.flight.is_elsewhere() {
            Asked::Fetch(seat)
        } else {
            Asked::Wait(seat)
        }
    }

    /// A task works on a fetch.
    fn spawn(self: &Arc<Self>, flight: Arc<Flight<K, V>>, work: Option<Work<V>>) {
        let task = Detached { shared: Arc::clone(self), flight, work };
        if let Some(spawner) = &self.settings.spawner {
            spawner(Box::pin(task));
        }
    }

    /// Waits for a fetch of another request; `instead` is served if it fails.
    fn join(&self, flight: Arc<Flight<K, V>>, instead: Option<V>) -> Asked<K, V> {
        if nested::is_within(flight.id()) {
            return Asked::Answer(Err(FetchError::WaitsForItself));
        }
        match (flight.join(self.now(), self.settings.max_waiters), instead) {
            (Ok(ticket), instead) => Asked::Wait(Seat { flight, ticket, instead }),
            (Err(_), Some(value)) => Asked::Answer(Ok(value)),
            (Err(error), None) => Asked::Answer(Err(error)),
        }
    }

    /// A fetch has ended; whoever waits for it is told.
    pub(super) fn land(&self, flight: &Arc<Flight<K, V>>, result: Result<V, FetchError>) {
        let arriving = match &result {
            Ok(value) => {
                // The weigher and the like are the caller's: if one of them panics, so does the fetch.
                let value = value.clone();
                catch_unwind(AssertUnwindSafe(|| self.arriving(&flight.key, value)))
                    .map_err(|payload| FetchError::panicked(&*payload))
            }
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
        fetch: impl FnOnce() -> Result<V, Box<dyn Error + Send + Sync>>,
    ) -> Result<V, FetchError> {
        let within = nested::enter(flight.id());
        let result = catch_unwind(AssertUnwindSafe(fetch));
        drop(within);
        let result = match result {
            Ok(result) => result.map_err(FetchError::failed),
            Err(payload) => Err(FetchError::panicked(&*payload)),
        };
        self.land(flight, result.clone());
        result
    }
}

/// A fetch that a task works on.
struct Detached<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    shared: Arc<Shared<K, V, S>>,
    flight: Arc<Flight<K, V>>,
    /// None, once it has ended.
    work: Option<Work<V>>,
}

impl<K, V, S> Future for Detached<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let Some(work) = &mut this.work else { return Poll::Ready(()) };
        match advance(work, context, this.flight.id()) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(result) => {
                this.work = None;
                this.shared.land(&this.flight, result);
                Poll::Ready(())
            }
        }
    }
}

impl<K, V, S> Drop for Detached<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    fn drop(&mut self) {
        if self.work.take().is_some() {
            self.shared.land(&self.flight, Err(FetchError::Dropped));
        }
    }
}
