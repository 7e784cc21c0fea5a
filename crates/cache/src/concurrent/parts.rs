//! Values that come in parts: whoever asks reads those that are there, while the others arrive.

use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};
use std::{borrow::Borrow, future::poll_fn};

use super::asking::{Asked, Own};
use super::cache::Cache;
use super::error::{AnyError, FetchError};
use super::flight::Work;
use super::sync::{Mutex, MutexGuard};
use super::waiting::Waiting;
use crate::Outcome;

/// A value in parts. A handle: clones are the same value.
///
/// In a cache, and among what a weigher and a listener see, it is whole.
pub struct Parts<P> {
    state: Arc<Mutex<State<P>>>,
}

struct State<P> {
    parts: Vec<P>,
    end: Option<Result<(), FetchError>>,
    wakers: Vec<Waker>,
    /// Number of times that all were woken.
    round: u64,
}

/// The place of a reader among those that are to be woken, in this round.
#[derive(Clone, Copy)]
struct Asleep {
    round: u64,
    place: usize,
}

impl<P> State<P> {
    /// Lets a reader be woken by the next change, in constant time however many there are.
    fn sleep(&mut self, asleep: &mut Option<Asleep>, waker: &Waker) {
        match *asleep {
            Some(Asleep { round, place }) if round == self.round => self.wakers[place].clone_from(waker),
            _ => {
                *asleep = Some(Asleep { round: self.round, place: self.wakers.len() });
                self.wakers.push(waker.clone());
            }
        }
    }
}

impl<P> Parts<P> {
    fn new() -> Self {
        Self {
            state: Arc::new(Mutex::new(State { parts: Vec::new(), end: None, wakers: Vec::new(), round: 0 })),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and wakes all readers.
    fn change(&self, change: impl FnOnce(&mut State<P>)) {
        let mut state = self.lock();
        change(&mut state);
        let wakers = std::mem::take(&mut state.wakers);
        state.round += 1;
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Lets `read` see the parts that are there. It must not use the value.
    pub fn with<T>(&self, read: impl FnOnce(&[P]) -> T) -> T {
        read(&self.lock().parts)
    }

    /// Whether all parts are there.
    pub fn is_whole(&self) -> bool {
        matches!(self.lock().end, Some(Ok(())))
    }
}

impl<P> Clone for Parts<P> {
    fn clone(&self) -> Self {
        Self { state: Arc::clone(&self.state) }
    }
}

/// A whole value.
impl<P> FromIterator<P> for Parts<P> {
    fn from_iter<I: IntoIterator<Item = P>>(parts: I) -> Self {
        let whole = Self::new();
        whole.change(|state| {
            state.parts.extend(parts);
            state.end = Some(Ok(()));
        });
        whole
    }
}

impl<P> fmt::Debug for Parts<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parts, is_whole) = (self.with(<[P]>::len), self.is_whole());
        f.debug_struct("Parts").field("parts", &parts).field("is_whole", &is_whole).finish()
    }
}

/// Where a fetch puts the parts that arrive.
pub struct Sink<P> {
    parts: Parts<P>,
}

impl<P> Sink<P> {
    /// Adds a part behind the others; all who read get it at once.
    pub fn push(&self, part: P) {
        // What comes after the end is nobody's: the value may be in the cache already.
        self.parts.change(|state| match state.end {
            None => state.parts.push(part),
            Some(_) => drop(part),
        });
    }
}

impl<P> fmt::Debug for Sink<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sink").field(&self.parts).finish()
    }
}

/// The fetch of a value in parts.
type Fetch<K, P, S> = Pin<Box<Waiting<K, Parts<P>, S>>>;

/// Reads a value from its first part on.
///
/// If no [spawner](super::Builder::spawner) runs the fetch, those who read work on it. If all of them leave before it has ended, it is dropped.
pub struct Reader<K, P, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    P: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// None until the fetch of a whole value, which somebody else began, has ended.
    parts: Option<Parts<P>>,
    place: usize,
    /// The fetch, until it has ended.
    waiting: Option<Fetch<K, P, S>>,
    /// An old value that is read if the fetch fails before its first part.
    instead: Option<Parts<P>>,
    failed: Option<FetchError>,
    outcome: Outcome,
    asleep: Option<Asleep>,
}

impl<K, P, S> Reader<K, P, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    P: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    fn new(parts: Option<Parts<P>>, waiting: Option<Fetch<K, P, S>>, outcome: Outcome) -> Self {
        Self { parts, place: 0, waiting, instead: None, failed: None, outcome, asleep: None }
    }

    /// What the request was that this reader is of: a hit, a delayed hit, which waits for the fetch of another one, or a miss, which began
    /// a fetch.
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The value as far as it is there: all of it after a hit. None while it is fetched in one piece.
    pub fn parts(&self) -> Option<&Parts<P>> {
        self.parts.as_ref()
    }

    /// The next part, as soon as it is there; `None` after the last one.
    ///
    /// # Errors
    ///
    /// The fetch has failed: there is no other part.
    pub async fn next(&mut self) -> Option<Result<P, FetchError>> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Does the same by hand, as the `Stream` of the futures crate does.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<P, FetchError>>> {
        loop {
            if let Some(read) = self.read(context) {
                return Poll::Ready(read);
            }
            let Some(waiting) = &mut self.waiting else { return Poll::Pending };
            let Poll::Ready(ended) = waiting.as_mut().poll(context) else {
                // What was worked on just now may have brought a part.
                return self.read(context).map_or(Poll::Pending, Poll::Ready);
            };
            // It may be another value that is read from here on.
            (self.waiting, self.asleep) = (None, None);
            match ended.unwrap_or(Err(FetchError::Dropped)) {
                Ok(parts) => self.parts = Some(parts),
                Err(_) if self.place == 0 && self.instead.is_some() => self.parts = self.instead.take(),
                Err(error) => self.failed = Some(error),
            }
        }
    }

    /// What there is to read; none if there is nothing yet. Whoever reads is woken then.
    fn read(&mut self, context: &mut Context<'_>) -> Option<Option<Result<P, FetchError>>> {
        if let Some(parts) = &self.parts {
            let mut state = parts.lock();
            if let Some(part) = state.parts.get(self.place).cloned() {
                self.place += 1;
                return Some(Some(Ok(part)));
            }
            if let Some(Ok(())) = state.end {
                return Some(None);
            }
            if self.failed.is_none() && state.end.is_none() {
                state.sleep(&mut self.asleep, context.waker());
                return None;
            }
            // The fetch itself says so, too; then an old value may be served instead.
            if let (Some(Err(error)), None) = (&state.end, &self.waiting) {
                self.failed.get_or_insert_with(|| error.clone());
            }
        }
        let error = self.failed.clone()?;
        // An error is told once.
        self.parts = Some(Parts::from_iter([]));
        self.place = 0;
        self.failed = None;
        self.waiting = None;
        Some(Some(Err(error)))
    }
}

impl<K, P, S> fmt::Debug for Reader<K, P, S>
where
    K: Eq + Clone + Send + Sync + 'static,
    P: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("parts", &self.parts)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl<K, P, S> Cache<K, Parts<P>, S>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    P: Clone + Send + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// A reader of the value of a key. If it is not there, `fetch` gets a sink for the parts that arrive, and whoever asks meanwhile reads them as
    /// they do. The value is stored when the fetch has ended well.
    ///
    /// ```
    /// use trueplane_cache::{Cache, Parts};
    /// # use std::pin::pin;
    /// # use std::task::{Context, Waker};
    ///
    /// let files: Cache<&str, Parts<Vec<u8>>> = Cache::builder()
    ///     .capacity(1 << 20)
    ///     .weigher(|_, parts: &Parts<Vec<u8>>| parts.with(|parts| parts.iter().map(Vec::len).sum::<usize>() as u64))
    ///     .build();
    /// let read = async {
    ///     let mut reader = files.get_or_stream(&"/logo", |sink| async move {
    ///         sink.push(vec![1, 2]); // from far away
    ///         sink.push(vec![3]);
    ///         Ok::<_, std::io::Error>(())
    ///     })?;
    ///     let mut all = Vec::new();
    ///     while let Some(part) = reader.next().await {
    ///         all.extend(part?);
    ///     }
    ///     Ok::<_, trueplane_cache::FetchError>(all)
    /// };
    /// # let mut read = pin!(read);
    /// # let std::task::Poll::Ready(read) = read.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!() };
    /// # assert_eq!(read.unwrap(), [1, 2, 3]);
    /// # assert_eq!(files.weight(), 3);
    /// ```
    ///
    /// # Errors
    ///
    /// There are too many fetches, or too many wait for this one. What the fetch itself ends with, the reader tells.
    pub fn get_or_stream<Q, F, W, E>(&self, key: &Q, fetch: F) -> Result<Reader<K, P, S>, FetchError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        F: FnOnce(Sink<P>) -> W,
        W: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<AnyError>,
    {
        self.get_or_stream_unless(key, |_| false, fetch)
    }

    /// Does the same, but a value that `is_unfit` for this request is fetched again, by one of all who find it so. The old one stays until the new one
    /// has come, and if that fails.
    ///
    /// # Errors
    ///
    /// As [`get_or_stream`](Self::get_or_stream).
    pub fn get_or_stream_unless<Q, F, W, E>(
        &self,
        key: &Q,
        is_unfit: impl Fn(&Parts<P>) -> bool,
        fetch: F,
    ) -> Result<Reader<K, P, S>, FetchError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        F: FnOnce(Sink<P>) -> W,
        W: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<AnyError>,
    {
        let hash = self.hash(key);
        let parts = Parts::new();
        let fetched = parts.clone();
        let whole = parts.clone();
        let make = || {
            let work = fetch(Sink { parts: whole.clone() });
            let work: Work<Parts<P>> = Box::pin(async move {
                let ended = work.await.map_err(FetchError::failed);
                whole.change(|state| state.end = Some(ended.clone()));
                ended.map(|()| whole)
            });
            Some(work)
        };
        let mut own = Own::new(make).early(parts);
        let is_key = |other: &K| other.borrow() == key;
        loop {
            return match self.shared.ask_unless(hash, is_key, || key.to_owned(), &is_unfit, &mut own) {
                Asked::Answer(answer) => Ok(Reader::new(Some(answer?), None, Outcome::Hit)),
                Asked::Wait(mut waiting) | Asked::Fetch(mut waiting) => {
                    let (early, instead) = (waiting.flight.early(), waiting.instead.take());
                    let is_own =
                        early.as_ref().is_some_and(|early| Arc::ptr_eq(&early.state, &fetched.state));
                    let outcome = if is_own { Outcome::Miss } else { Outcome::Delayed };
                    Ok(Reader { instead, ..Reader::new(early, Some(Box::pin(waiting)), outcome) })
                }
                Asked::Again => continue,
            };
        }
    }
}
