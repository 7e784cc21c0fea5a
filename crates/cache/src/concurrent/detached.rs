//! A fetch that runs by itself.

use std::hash::BuildHasher;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::error::FetchError;
use super::flight::{Flight, Work, advance};
use super::shared::{Guard, Shared};

/// A fetch that a task works on.
pub(super) struct Detached<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    pub(super) shared: Arc<Shared<K, V, S>>,
    pub(super) flight: Arc<Flight<K, V>>,
    /// None, once it has ended.
    pub(super) work: Option<Work<V>>,
}

impl<K, V, S> Future for Detached<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let Some(work) = &mut this.work else { return Poll::Ready(()) };
        let Poll::Ready(result) = advance(work, context, this.flight.id()) else { return Poll::Pending };
        let guard = Guard { shared: &this.shared, flight: &this.flight };
        this.work = None;
        this.shared.land(&this.flight, result);
        guard.done();
        Poll::Ready(())
    }
}

impl<K, V, S> Drop for Detached<K, V, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            let guard = Guard { shared: &self.shared, flight: &self.flight };
            drop(work);
            self.shared.land(&self.flight, Err(FetchError::Dropped));
            guard.done();
        }
    }
}
