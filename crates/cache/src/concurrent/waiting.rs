//! Waiting for a fetch, in a task or in a thread.

use std::hash::BuildHasher;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use super::error::FetchError;
use super::flight::{Flight, Found, Ticket};
use super::nested;
use super::shared::{Guard, Shared};
use super::sync::thread::{self, Thread};

/// Somebody who waits for a fetch, until this is dropped. Ends when the fetch does, and works on it if it can go on and nobody else does. `None`
/// if the fetch was given up: ask again.
pub(super) struct Waiting<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    pub(super) shared: Arc<Shared<K, V, S>>,
    pub(super) flight: Arc<Flight<K, V>>,
    pub(super) ticket: Ticket,
    /// An old value that is served if the fetch fails.
    pub(super) instead: Option<V>,
    /// Flights that wait for this one, as the thread worked on them when it was joined.
    pub(super) working: Vec<nested::Id>,
}

/// It is moved, and nothing points into it.
impl<K, V, S> Unpin for Waiting<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
}

impl<K, V, S> Future for Waiting<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    type Output = Option<Result<V, FetchError>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { shared, flight, ticket, .. } = &*self;
        let guard = Guard { shared, flight };
        let found = flight.poll(*ticket, context, |result| shared.land(flight, result));
        guard.done();
        match found {
            Found::Waits => Poll::Pending,
            Found::Ended(Err(error)) => Poll::Ready(Some(self.instead.take().ok_or(error))),
            Found::Ended(result) => Poll::Ready(Some(result)),
            Found::GivenUp => {
                // Whoever gave it up may not have said so yet.
                shared.give_up(flight);
                Poll::Ready(None)
            }
        }
    }
}

impl<K, V, S> Drop for Waiting<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    fn drop(&mut self) {
        self.shared.waits_for.remove(&self.working, self.flight.id());
        if let Some(work) = self.flight.leave(self.ticket) {
            // It ends before another one may begin.
            drop(work);
            self.shared.give_up(&self.flight);
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future in this thread.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        thread::park();
    }
}
