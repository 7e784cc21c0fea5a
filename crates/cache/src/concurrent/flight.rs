//! One fetch, and all who wait for it.
//!
//! A fetch is worked on by those who wait for it: whenever it can go on all of them are woken, and the first one that comes works on it for
//! a moment. So it does not matter who of them leaves, or is slow to come. A fetch may also be worked on elsewhere: by a task, or by a thread
//! in `get_or_fetch_blocking`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use trueplane_units::Nanos;

use super::error::FetchError;
use super::nested;
use super::sync::{Mutex, MutexGuard};
use crate::FetchId;

/// The future of a fetch.
pub(super) type Work<V> = Pin<Box<dyn Future<Output = Result<V, FetchError>> + Send>>;

/// The work of a fetch, and what it brings before it ends.
pub(super) struct Labour<V> {
    /// Its future, unless it is worked on elsewhere.
    pub(super) work: Option<Work<V>>,
    /// A value that may be read before it is whole.
    pub(super) early: Option<V>,
}

/// A fetch on its way.
pub(super) struct Flight<K, V> {
    /// Its key.
    pub(super) key: K,
    /// The key's hash.
    pub(super) hash: u64,
    /// The directory's name of the fetch; none if it is to renew what is there.
    pub(super) fetch: Option<FetchId>,
    /// Instant of the miss.
    pub(super) began: Nanos,
    state: Mutex<State<V>>,
}

struct State<V> {
    progress: Progress<V>,
    /// A value that may be read before it is whole.
    early: Option<V>,
    /// Those who wait, by ticket.
    waiters: Vec<Option<Waiter>>,
    /// Tickets that nobody has.
    free: Vec<Ticket>,
    /// Whether it counts no longer among those on their way.
    is_over: bool,
}

enum Progress<V> {
    /// A task or a thread works on it.
    Elsewhere,
    /// Nobody works on it just now; `is_ready` if it can go on.
    Parked { work: Work<V>, is_ready: bool },
    /// Somebody who waits works on it; `is_ready` if it can go on after that.
    Driven { is_ready: bool },
    /// All who waited have left, or who worked on it has, and it was given up.
    GivenUp,
    /// It has ended.
    Ended(Result<V, FetchError>),
}

impl<V> State<V> {
    /// The wakers of all who wait.
    fn wakers(&mut self) -> Vec<Waker> {
        self.waiters.iter_mut().flatten().filter_map(|waiter| waiter.waker.take()).collect()
    }
}

struct Waiter {
    since: Nanos,
    waker: Option<Waker>,
}

/// Number of somebody who waits.
pub(super) type Ticket = usize;

/// The state of a fetch, as somebody who waits finds it.
pub(super) enum Found<V> {
    /// The fetch has ended.
    Ended(Result<V, FetchError>),
    /// It was given up before it ended: ask again.
    GivenUp,
    /// It goes on.
    Waits,
}

/// What becomes of somebody who wants to wait.
pub(super) enum Joined {
    /// It waits, under this number.
    As(Ticket),
    /// So many wait already that nobody else may.
    TooMany(usize),
    /// The fetch was given up: ask again.
    GivenUp,
}

/// Waits of those who waited for a fetch until it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waits {
    pub(super) number: u64,
    pub(super) total: Nanos,
}

impl<K, V> Flight<K, V> {
    /// A fetch that began with a miss for `key`; without `work`, which is done elsewhere.
    pub(super) fn new(key: K, hash: u64, fetch: Option<FetchId>, began: Nanos, labour: Labour<V>) -> Self {
        let Labour { work, early } = labour;
        let parked = |work| Progress::Parked { work, is_ready: true };
        let progress = work.map_or(Progress::Elsewhere, parked);
        let state = State { progress, early, waiters: Vec::new(), free: Vec::new(), is_over: false };
        Self { key, hash, fetch, began, state: Mutex::new(state) }
    }

    /// Nothing that is called while it is locked panics.
    fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody begins to wait, unless `most` do already, or it was given up.
    pub(super) fn join(&self, now: Nanos, most: usize) -> Joined {
        let mut state = self.lock();
        if let Progress::GivenUp = state.progress {
            return Joined::GivenUp;
        }
        let waiting = state.waiters.len() - state.free.len();
        if waiting >= most {
            return Joined::TooMany(waiting);
        }
        let ticket = state.free.pop().unwrap_or(state.waiters.len());
        let waiter = Some(Waiter { since: now, waker: None });
        match state.waiters.get_mut(ticket) {
            Some(place) => *place = waiter,
            None => state.waiters.push(waiter),
        }
        Joined::As(ticket)
    }

    /// Whoever works on it elsewhere works no longer: those who wait ask again.
    pub(super) fn give_up(&self) {
        let mut state = self.lock();
        state.progress = Progress::GivenUp;
        let wakers = state.wakers();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Whether a task or a thread works on it, and not those who wait.
    pub(super) fn is_elsewhere(&self) -> bool {
        matches!(self.lock().progress, Progress::Elsewhere)
    }

    /// Nobody waits for it any more. Returns whether this is the first time that anybody says that it is over.
    pub(super) fn bury(&self) -> bool {
        !std::mem::replace(&mut self.lock().is_over, true)
    }

    /// The fetch has ended; returns how long those waited who did until now, or none if it was over before.
    pub(super) fn end(&self, result: Result<V, FetchError>, now: Nanos) -> Option<Waits> {
        let mut state = self.lock();
        if std::mem::replace(&mut state.is_over, true) {
            return None;
        }
        state.progress = Progress::Ended(result);
        let mut waits = Waits::default();
        for waiter in state.waiters.iter().flatten() {
            waits.number += 1;
            waits.total = waits.total.after(now.since(waiter.since));
        }
        let wakers = state.wakers();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Some(waits)
    }
}

impl<K: Send + Sync + 'static, V: Clone + Send + Sync + 'static> Flight<K, V> {
    /// A value that may be read before it is whole.
    pub(super) fn early(&self) -> Option<V> {
        self.lock().early.clone()
    }

    /// Somebody asks how the fetch is, and works on it if it can go on and nobody else does. Whoever finds it ended must call `land` before
    /// anybody may see the end.
    pub(super) fn poll(
        self: &Arc<Self>,
        ticket: Ticket,
        context: &mut Context<'_>,
        land: impl FnOnce(Result<V, FetchError>),
    ) -> Found<V> {
        let mut work = {
            let mut state = self.lock();
            match &state.progress {
                Progress::Ended(result) => return Found::Ended(result.clone()),
                Progress::GivenUp => return Found::GivenUp,
                _ => {}
            }
            if let Some(waiter) = state.waiters.get_mut(ticket).and_then(Option::as_mut) {
                match &mut waiter.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    empty => *empty = Some(context.waker().clone()),
                }
            }
            match std::mem::replace(&mut state.progress, Progress::Driven { is_ready: false }) {
                Progress::Parked { work, is_ready: true } => work,
                other => {
                    state.progress = other;
                    return Found::Waits;
                }
            }
        };
        let waker = Waker::from(Arc::clone(self));
        match advance(&mut work, &mut Context::from_waker(&waker), self.id()) {
            Poll::Ready(result) => {
                drop(work);
                land(result.clone());
                Found::Ended(result)
            }
            Poll::Pending => {
                let mut state = self.lock();
                let is_ready = matches!(state.progress, Progress::Driven { is_ready: true });
                state.progress = Progress::Parked { work, is_ready };
                let wakers = if is_ready { state.wakers() } else { Vec::new() };
                drop(state);
                wakers.into_iter().for_each(Waker::wake);
                Found::Waits
            }
        }
    }

    /// Somebody waits no longer. If nobody is left, the fetch is given up and its work returned, to be dropped. Then the caller must say
    /// that it was given up.
    pub(super) fn leave(&self, ticket: Ticket) -> Option<Work<V>> {
        let mut state = self.lock();
        if state.waiters.get_mut(ticket).and_then(Option::take).is_some() {
            state.free.push(ticket);
        }
        if state.waiters.iter().any(Option::is_some) {
            return None;
        }
        match std::mem::replace(&mut state.progress, Progress::GivenUp) {
            Progress::Parked { work, .. } => Some(work),
            other => {
                state.progress = other;
                None
            }
        }
    }

    /// What tells this flight from all others that are on their way.
    pub(super) fn id(&self) -> nested::Id {
        std::ptr::from_ref(self).addr()
    }
}

/// Works on a fetch for a moment; a panic in it is an error.
pub(super) fn advance<V>(
    work: &mut Work<V>,
    context: &mut Context<'_>,
    flight: nested::Id,
) -> Poll<Result<V, FetchError>> {
    let within = nested::enter(flight);
    let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
    drop(within);
    polled.unwrap_or_else(|payload| Poll::Ready(Err(FetchError::panicked(&*payload))))
}

/// The work can go on.
impl<K: Send + Sync + 'static, V: Send + Sync + 'static> Wake for Flight<K, V> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.lock();
        let wakers = match &mut state.progress {
            Progress::Driven { is_ready } => {
                *is_ready = true;
                return;
            }
            Progress::Parked { is_ready, .. } => {
                *is_ready = true;
                state.wakers()
            }
            _ => return,
        };
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }
}
