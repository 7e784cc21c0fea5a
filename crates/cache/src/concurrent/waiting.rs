//! Waiting for a fetch, in a task or in a thread.

use std::hash::BuildHasher;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use super::error::FetchError;
use super::flight::Found;
use super::shared::{Seat, Shared};

/// Ends when the fetch does; works on it if nobody else does. `None` if the fetch was given up: ask again.
pub(super) struct Waiting<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    pub(super) shared: Arc<Shared<K, V, S>>,
    pub(super) seat: Seat<K, V>,
}

impl<K, V, S> Future for Waiting<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    type Output = Option<Result<V, FetchError>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { shared, seat: Seat { flight, ticket, .. } } = &*self;
        match flight.poll(*ticket, context, |result| shared.land(flight, result)) {
            Found::Waits => Poll::Pending,
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
    V: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    fn drop(&mut self) {
        let work = self.seat.flight.leave(self.seat.ticket);
        if work.is_some() {
            self.shared.give_up(&self.seat.flight);
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
