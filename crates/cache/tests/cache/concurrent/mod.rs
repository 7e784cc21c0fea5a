//! The cache that threads and tasks share.

mod entries;
mod examples;
mod forecasts;
mod hostile;
mod interleavings;
mod parts;
mod renewals;
mod simulator;
mod single_flight;
mod stress;

use std::hash::{BuildHasher, Hasher};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use trueplane_cache::{Builder, Cache, Nanos};

/// The hash of a number is the number, or all hashes are the same.
#[derive(Clone, Copy, Debug)]
pub(super) enum Plain {
    Itself,
    Same,
}

#[derive(Debug)]
pub(super) struct PlainHasher {
    kind: Plain,
    hash: u64,
}

impl BuildHasher for Plain {
    type Hasher = PlainHasher;

    fn build_hasher(&self) -> PlainHasher {
        PlainHasher { kind: *self, hash: 0 }
    }
}

impl Hasher for PlainHasher {
    fn finish(&self) -> u64 {
        match self.kind {
            Plain::Itself => self.hash,
            Plain::Same => 7,
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.hash = self.hash << 8 | u64::from(*byte));
    }

    fn write_u64(&mut self, number: u64) {
        self.hash = number;
    }
}

/// A clock that the test moves.
#[derive(Clone, Debug, Default)]
pub(super) struct Hand(Arc<AtomicU64>);

impl Hand {
    pub(super) fn set(&self, now: u64) {
        self.0.store(now, Ordering::Relaxed);
    }

    pub(super) fn moves<K, V, S>(&self, builder: Builder<K, V, S>) -> Builder<K, V, S> {
        let time = Arc::clone(&self.0);
        builder.clock(move || Nanos(time.load(Ordering::Relaxed)))
    }
}

/// A future that ends when the test says so.
#[derive(Debug)]
pub(super) struct Gate<T>(Arc<Mutex<Held<T>>>);

#[derive(Debug)]
struct Held<T> {
    output: Option<T>,
    waker: Option<Waker>,
    polls: u64,
}

impl<T> Clone for Gate<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Gate<T> {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Held { output: None, waker: None, polls: 0 })))
    }

    pub(super) fn open(&self, output: T) {
        let waker = {
            let mut held = self.0.lock().unwrap();
            held.output = Some(output);
            held.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// How often it was polled.
    pub(super) fn polls(&self) -> u64 {
        self.0.lock().unwrap().polls
    }
}

impl<T> Future for Gate<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut held = self.0.lock().unwrap();
        held.polls += 1;
        held.waker = Some(context.waker().clone());
        held.output.take().map_or(Poll::Pending, Poll::Ready)
    }
}

/// A request that waits.
pub(super) type Request<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Polls once.
pub(super) fn poll<T>(request: &mut Request<'_, T>) -> Option<T> {
    match request.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// A cache of one shard in which numbers are their own hashes.
pub(super) fn exact(capacity: u64) -> Builder<u64, u64, Plain> {
    Cache::builder().capacity(capacity).shards(1).hasher(Plain::Itself)
}
