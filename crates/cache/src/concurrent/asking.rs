//! Requests that want a value: they find one, wait for a fetch, or begin one.

use std::hash::BuildHasher;
use std::sync::Arc;

use trueplane_units::Nanos;

use super::arriving::Met;
use super::detached::Detached;
use super::error::FetchError;
use super::flight::{Flight, Joined, Labour, Work};
use super::gone::Gone;
use super::hits::Look;
use super::shared::Shared;
use super::sync::atomic::Ordering;
use super::waiting::Waiting;

/// The caller's own way to fetch: made when it is needed, and kept until it is.
pub(super) struct Own<V, F> {
    make: Option<F>,
    work: Option<Work<V>>,
    early: Option<V>,
}

impl<V, F: FnOnce() -> Option<Work<V>>> Own<V, F> {
    /// The future that `make` makes; if it makes none, the caller works.
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
pub(super) enum Asked<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// This is the answer.
    Answer(Result<V, FetchError>),
    /// Wait for it.
    Wait(Waiting<K, V, S>),
    /// The fetch is the caller's own to work on.
    Fetch(Waiting<K, V, S>),
    /// What it would have waited for was given up just now.
    Again,
}

impl<K, V, S> Shared<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// A request that wants a value, whoever fetches it.
    pub(super) fn ask<F: FnOnce() -> Option<Work<V>>>(
        self: &Arc<Self>,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        own_key: impl FnOnce() -> K,
        own: &mut Own<V, F>,
    ) -> Asked<K, V, S> {
        self.ask_unless(hash, is_key, own_key, |_| false, own)
    }

    /// The same, but a value that is there is fetched again if it `is_unfit` for this request.
    pub(super) fn ask_unless<F: FnOnce() -> Option<Work<V>>>(
        self: &Arc<Self>,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        own_key: impl FnOnce() -> K,
        is_unfit: impl Fn(&V) -> bool,
        own: &mut Own<V, F>,
    ) -> Asked<K, V, S> {
        let now = self.time_of_hit();
        self.foretell(hash);
        if self.shares_hits {
            let look = self.read(hash).ask_beside(hash, &is_key, now);
            match look {
                Look::Value(value) if is_unfit(&value) => return self.replace(hash, is_key, own_key(), own),
                Look::Value(value) => return Asked::Answer(Ok(value)),
                Look::Nothing => return self.begin(hash, is_key, own_key(), is_unfit, own),
                Look::Unclear => {}
            }
        }
        let mut gone = Gone::default();
        let met = {
            let mut shard = self.shard(hash);
            match shard.hit_fresh(hash, &is_key, now) {
                Some(value) => Met::Value(value),
                None => shard.ask(hash, &is_key, now, &mut gone),
            }
        };
        self.tell(gone);
        match met {
            Met::Value(value) | Met::Ageing { value, .. } if is_unfit(&value) => {
                self.replace(hash, is_key, own_key(), own)
            }
            Met::Nothing => self.begin(hash, is_key, own_key(), is_unfit, own),
            Met::Ageing { value, is_stale, renewal: None } => {
                self.begin_renewal(hash, is_key, own_key(), value, is_stale, own)
            }
            met => self.answer(met),
        }
    }

    /// The answer to what was met, which needs no fetch of one's own.
    fn answer(self: &Arc<Self>, met: Met<K, V>) -> Asked<K, V, S> {
        match met {
            Met::Value(value) => Asked::Answer(Ok(value)),
            Met::Failure(error) => Asked::Answer(Err(error)),
            Met::Flight(flight) => self.join(flight, None),
            Met::Ageing { value, is_stale: true, renewal: Some(flight) } => self.join(flight, Some(value)),
            Met::Ageing { value, .. } => Asked::Answer(Ok(value)),
            Met::Nothing => Asked::Again,
        }
    }

    /// Begins a fetch for what was not there a moment ago.
    fn begin<F: FnOnce() -> Option<Work<V>>>(
        self: &Arc<Self>,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        key: K,
        is_unfit: impl Fn(&V) -> bool,
        own: &mut Own<V, F>,
    ) -> Asked<K, V, S> {
        // The future is made outside of the lock, as it is the caller's.
        own.prepare();
        // That, and a listener, may have taken long.
        let now = self.now();
        let mut gone = Gone::default();
        let begun = {
            let mut shard = self.shard(hash);
            // Another one may have been faster.
            match shard.ask(hash, &is_key, now, &mut gone) {
                Met::Nothing => self.permit().map(|()| {
                    let (labour, elsewhere) = self.divide(own);
                    let flight =
                        shard.begin(hash, now, |fetch| Flight::new(key, hash, Some(fetch), now, labour));
                    (self.seat(flight, now), elsewhere)
                }),
                met => {
                    drop(shard);
                    self.tell(gone);
                    return match met {
                        Met::Value(value) | Met::Ageing { value, .. } if is_unfit(&value) => Asked::Again,
                        met => self.answer(met),
                    };
                }
            }
        };
        self.tell(gone);
        match begun {
            Ok((seat, elsewhere)) => self.start(seat, elsewhere),
            Err(others) => Asked::Answer(Err(FetchError::TooManyFetches(others))),
        }
    }

    /// Begins a fetch for what is there and is to be renewed; serves it if another one has begun one, or no more may be begun.
    fn begin_renewal<F: FnOnce() -> Option<Work<V>>>(
        self: &Arc<Self>,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        key: K,
        value: V,
        is_stale: bool,
        own: &mut Own<V, F>,
    ) -> Asked<K, V, S> {
        own.prepare();
        let now = self.now();
        let begun = {
            let mut shard = self.shard(hash);
            let may_begin = shard.is_to_be_renewed(hash, &is_key, now) && self.permit().is_ok();
            may_begin.then(|| {
                let (labour, elsewhere) = self.divide(own);
                let flight = shard.begin_renewal(Flight::new(key, hash, None, now, labour));
                (self.seat(flight, now), elsewhere)
            })
        };
        let Some((mut seat, elsewhere)) = begun else { return Asked::Answer(Ok(value)) };
        if elsewhere.is_some() && !is_stale {
            // The task alone waits.
            self.start(seat, elsewhere);
            return Asked::Answer(Ok(value));
        }
        seat.instead = Some(value);
        self.start(seat, elsewhere)
    }

    /// Begins a fetch for what is there and is unfit for a request, or joins another one's.
    fn replace<F: FnOnce() -> Option<Work<V>>>(
        self: &Arc<Self>,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        key: K,
        own: &mut Own<V, F>,
    ) -> Asked<K, V, S> {
        own.prepare();
        let now = self.now();
        let begun = {
            let mut shard = self.shard(hash);
            match shard.renewal(hash, &is_key) {
                // It has left meanwhile.
                None => return Asked::Again,
                Some(Some(flight)) => {
                    drop(shard);
                    return self.join(flight, None);
                }
                Some(None) => self.permit().map(|()| {
                    let (labour, elsewhere) = self.divide(own);
                    let flight = shard.begin_renewal(Flight::new(key, hash, None, now, labour));
                    (self.seat(flight, now), elsewhere)
                }),
            }
        };
        match begun {
            Ok((seat, elsewhere)) => self.start(seat, elsewhere),
            Err(others) => Asked::Answer(Err(FetchError::TooManyFetches(others))),
        }
    }

    /// One more fetch may be on its way, or so many are already.
    fn permit(&self) -> Result<(), usize> {
        let more = |others| (others < self.settings.max_fetches).then_some(others + 1);
        self.fetching.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).map(|_| ())
    }

    /// What those who wait work on, and the work of a task; there is no work if the caller does it.
    fn divide<F>(&self, own: &mut Own<V, F>) -> (Labour<V>, Option<Work<V>>) {
        let (work, early) = (own.work.take(), own.early.take());
        match self.settings.spawner {
            Some(_) => (Labour { work: None, early }, work),
            None => (Labour { work, early }, None),
        }
    }

    /// Whoever begins a fetch waits for it. The shard is locked, so that nobody else has joined.
    fn seat(self: &Arc<Self>, flight: Arc<Flight<K, V>>, now: Nanos) -> Waiting<K, V, S> {
        let ticket = match flight.join(now, usize::MAX) {
            Joined::As(ticket) => ticket,
            Joined::TooMany(_) | Joined::GivenUp => unreachable!("nobody has joined a flight that begins"),
        };
        let working = self.waits_for.add(flight.id()).unwrap_or_default();
        Waiting { shared: Arc::clone(self), flight, ticket, instead: None, working }
    }

    /// The caller's fetch begins: it waits for a task, or works itself.
    fn start(self: &Arc<Self>, seat: Waiting<K, V, S>, elsewhere: Option<Work<V>>) -> Asked<K, V, S> {
        if elsewhere.is_some() {
            let task =
                Detached { shared: Arc::clone(self), flight: Arc::clone(&seat.flight), work: elsewhere };
            if let Some(spawner) = &self.settings.spawner {
                spawner(Box::pin(task));
            }
            return Asked::Wait(seat);
        }
        if seat.flight.is_elsewhere() { Asked::Fetch(seat) } else { Asked::Wait(seat) }
    }

    /// Waits for a fetch of another request; `instead` is served if it fails.
    fn join(self: &Arc<Self>, flight: Arc<Flight<K, V>>, instead: Option<V>) -> Asked<K, V, S> {
        let refused = |instead: Option<V>, error| Asked::Answer(instead.ok_or(error));
        let Some(working) = self.waits_for.add(flight.id()) else {
            return refused(instead, FetchError::WaitsForItself);
        };
        let joined = flight.join(self.now(), self.settings.max_waiters);
        if let Joined::As(ticket) = joined {
            return Asked::Wait(Waiting { shared: Arc::clone(self), flight, ticket, instead, working });
        }
        self.waits_for.remove(&working, flight.id());
        match joined {
            Joined::TooMany(others) => refused(instead, FetchError::TooManyWaiters(others)),
            _ => {
                // Whoever gave it up may not have said so yet.
                self.give_up(&flight);
                Asked::Again
            }
        }
    }
}
