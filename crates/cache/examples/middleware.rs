//! Middleware for tower: a service whose answers are kept, and whose callers share a call for the same request.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::hash::Hash;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use tower_service::Service;
use trueplane_cache::{Cache, FetchError};

/// A service with a cache before it.
#[derive(Clone)]
struct Cached<S, R, A> {
    inner: S,
    answers: Cache<R, A>,
}

impl<S, R, A> Service<R> for Cached<S, R, A>
where
    R: Hash + Eq + Clone + Send + Sync + 'static,
    A: Clone + Send + Sync + 'static,
    S: Service<R, Response = A> + Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    S::Error: std::error::Error + Send + Sync + 'static,
{
    type Response = A;
    type Error = FetchError;
    type Future = Pin<Box<dyn Future<Output = Result<A, FetchError>> + Send>>;

    /// A hit needs no inner service, so this is always ready: the call waits for it.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), FetchError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: R) -> Self::Future {
        let (answers, mut inner) = (self.answers.clone(), self.inner.clone());
        Box::pin(async move {
            let wanted = request.clone();
            let fetch = move || async move {
                std::future::poll_fn(|context| inner.poll_ready(context)).await?;
                inner.call(wanted).await
            };
            answers.get_or_fetch(&request, fetch).await
        })
    }
}

/// A service that is slow in real life.
#[derive(Clone)]
struct Slow(Arc<AtomicU64>);

impl Service<u32> for Slow {
    type Response = String;
    type Error = Infallible;
    type Future = Ready<Result<String, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: u32) -> Self::Future {
        self.0.fetch_add(1, Ordering::Relaxed);
        ready(Ok(format!("answer {request}")))
    }
}

pub(crate) fn main() {
    let calls = Arc::new(AtomicU64::new(0));
    let mut service = Cached { inner: Slow(Arc::clone(&calls)), answers: Cache::new(100) };
    for request in [1, 2, 1, 1] {
        let answer = pin!(service.call(request)).poll(&mut Context::from_waker(Waker::noop()));
        assert!(matches!(answer, Poll::Ready(Ok(answer)) if answer == format!("answer {request}")));
    }
    assert_eq!(calls.load(Ordering::Relaxed), 2);
    println!("{} calls for 4 requests", calls.load(Ordering::Relaxed));
}
