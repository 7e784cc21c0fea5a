//! One fetch, and all who wait for it.
//!
//! A fetch is worked on by one of those who wait for it, the *driver*. When the driver goes away, another one of them goes on where it
//! stopped. A fetch may also be worked on elsewhere: by a task, or by a thread in `get_or_fetch_blocking`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use trueplane_units::Nanos;

use super::error::FetchError;
use super::nested;
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
    /// The ticket of the driver.
    driver: Option<Ticket>,
    /// Whether it counts no longer among those on their way.
    is_over: bool,
}

enum Progress<V> {
    /// A task or a thread works on it.
    Elsewhere,
    /// Nobody works on it just now.
    Parked(Work<V>),
    /// The driver works on it; `woken` if it must go on after that.
    Driven { woken: bool },
    /// All who waited have left, and it was given up.
    GivenUp,
    /// It has ended.
    Ended(Result<V, FetchError>),
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
        let progress = work.map_or(Progress::Elsewhere, Progress::Parked);
        let state =
            State { progress, early, waiters: Vec::new(), free: Vec::new(), driver: None, is_over: false };
        Self { key, hash, fetch, began, state: Mutex::new(state) }
    }

    /// Nothing that is called while it is locked panics.
    fn lock(&self) -> MutexGuard<'_, State<V>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody begins to wait, unless `most` do already.
    pub(super) fn join(&self, now: Nanos, most: usize) -> Result<Ticket, FetchError> {
        let mut state = self.lock();
        let waiting = state.waiters.len() - state.free.len();
        if waiting >= most {
            return Err(FetchError::TooManyWaiters(waiting));
        }
        let ticket = state.free.pop().unwrap_or(state.waiters.len());
        let waiter = Some(Waiter { since: now, waker: None });
        match state.waiters.get_mut(ticket) {
            Some(place) => *place = waiter,
            None => state.waiters.push(waiter),
        }
        Ok(ticket)
    }

    /// Whoever works on it elsewhere works no longer: those who wait ask again.
    pub(super) fn give_up(&self) {
        let mut state = self.lock();
        state.progress = Progress::GivenUp;
        let wakers: Vec<Waker> =
            state.waiters.iter_mut().flatten().filter_map(|waiter| waiter.waker.take()).collect();
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
        let mut wakers = Vec::new();
        for waiter in state.waiters.iter_mut().flatten() {
            waits.number += 1;
            waits.total = waits.total.after(now.since(waiter.since));
            wakers.extend(waiter.waker.take());
        }
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        Some(waits)
    }
}

impl<K: Send + Sync + 'static, V: Clone + Send + 'static> Flight<K, V> {
    /// A value that may be read before it is whole.
    pub(super) fn early(&self) -> Option<V> {
        self.lock().early.clone()
    }

    /// Somebody asks how the fetch is, and works on it if nobody else does. Whoever finds it ended must call `land` before anybody may
    /// see the end.
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
            if *state.driver.get_or_insert(ticket) != ticket {
                return Found::Waits;
            }
            match std::mem::replace(&mut state.progress, Progress::Driven { woken: false }) {
                Progress::Parked(work) => work,
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
                let woken = matches!(state.progress, Progress::Driven { woken: true });
                state.progress = Progress::Parked(work);
                drop(state);
                if woken {
                    context.waker().wake_by_ref();
                }
                Found::Waits
            }
        }
    }

    /// Somebody waits no longer. If that was the driver, another one is woken to go on; if nobody is left, the fetch is given up and
    /// its work returned, to be dropped. Then the caller must land it.
    pub(super) fn leave(&self, ticket: Ticket) -> Option<Work<V>> {
        let mut state = self.lock();
        if state.waiters.get_mut(ticket).and_then(Option::take).is_some() {
            state.free.push(ticket);
        }
        if state.driver.is_some_and(|driver| driver != ticket) {
            return None;
        }
        state.driver = state.waiters.iter().position(Option::is_some);
        if let Some(next) = state.driver {
            let waker = state.waiters[next].as_mut().and_then(|waiter| waiter.waker.take());
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
            return None;
        }
        match std::mem::replace(&mut state.progress, Progress::GivenUp) {
            Progress::Parked(work) => Some(work),
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

/// The work of the driver can go on.
impl<K: Send + Sync + 'static, V: Send + 'static> Wake for Flight<K, V> {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut state = self.lock();
        if let Progress::Driven { woken } = &mut state.progress {
            *woken = true;
            return;
        }
        let driver = state.driver.and_then(|driver| state.waiters.get_mut(driver)?.as_mut());
        let waker = driver.and_then(|waiter| waiter.waker.clone());
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
