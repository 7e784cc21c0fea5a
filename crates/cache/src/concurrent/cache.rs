//! The cache that programs use.

use std::borrow::Borrow;
use std::fmt;
use std::future::ready;
use std::hash::{BuildHasher, Hash};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;
use trueplane_units::Nanos;

use super::arriving::Arriving;
use super::asking::{Asked, Own};
use super::error::{AnyError, FetchError};
use super::flight::Work;
use super::gone::Gone;
use super::shared::{Shared, lock, part, read};
use super::stats::Stats;
use super::waiting::block_on;
use crate::LARGEST_CAPACITY;

/// A cache that many threads and tasks share: it keeps what saves the most waiting, and begins one fetch for a key, however many ask for it.
///
/// A handle: clones are the same cache. Values are cloned out of it, so put large ones into an [`Arc`].
///
/// What concerns one key takes the lock of one part of the cache, for a moment; what concerns all takes one after the other. Nothing of the
/// caller's runs within it but `Eq` and `Clone` of keys and values. Those must not use the cache. Fetches, weighers and listeners may.
///
/// ```
/// use trueplane_cache::{Cache, FetchError};
///
/// let pages: Cache<String, String> = Cache::builder().capacity(1000).build();
/// let fetch = || Ok::<_, std::io::Error>("<h1>Hello</h1>".to_owned()); // from far away
/// assert_eq!(pages.get_or_fetch_blocking("/index", fetch)?, "<h1>Hello</h1>");
/// assert_eq!(pages.get("/index").as_deref(), Some("<h1>Hello</h1>"));
/// # Ok::<(), FetchError>(())
/// ```
pub struct Cache<K, V, S = DefaultHashBuilder> {
    pub(super) shared: Arc<Shared<K, V, S>>,
}

impl<K, V, S> Cache<K, V, S>
where
    K: Hash + Eq,
    S: BuildHasher,
{
    #[inline]
    pub(super) fn hash<Q>(&self, key: &Q) -> u64
    where
        Q: Hash + ?Sized,
    {
        self.shared.hasher.hash_one(key)
    }

    /// The value of a key, if it is there. It is a request: the policy hears of it if the value is there.
    #[inline]
    pub fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Clone,
    {
        let (hash, now) = (self.hash(key), self.shared.time_of_hit());
        self.shared.foretell(hash);
        let is_key = |other: &K| other.borrow() == key;
        if self.shared.shares_hits {
            return self.shared.read(hash).get_beside(hash, is_key, now).cloned();
        }
        self.shared.shard(hash).get(hash, is_key, now)
    }

    /// The value of a key, if it is there. It is no request: it changes nothing.
    pub fn peek<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Clone,
    {
        let (hash, now) = (self.hash(key), self.shared.time_of_hit());
        let shard = self.shared.read(hash);
        shard.peek(hash, |other| other.borrow() == key, now).map(|(value, _)| value.clone())
    }

    /// Whether there is a value for a key. It is no request: it changes nothing.
    pub fn contains_key<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let (hash, now) = (self.hash(key), self.shared.time_of_hit());
        self.shared.read(hash).peek(hash, |other| other.borrow() == key, now).is_some()
    }

    /// Stores a value. Replaces what is there for its key. If a fetch for its key is on its way, those who wait for it get what it brings, and that is
    /// not stored.
    ///
    /// Policies with MAD take it that the value took as long to fetch as others of its [group](super::Builder::group_by) did.
    pub fn insert(&self, key: K, value: V) {
        self.put(key, value, None);
    }

    /// Does the same with a value that took `took` to fetch: policies with MAD learn from it what the next miss would cost.
    pub fn insert_fetched(&self, key: K, value: V, took: Nanos) {
        self.put(key, value, Some(took));
    }

    fn put(&self, key: K, value: V, took: Option<Nanos>) {
        let hash = self.hash(&key);
        let arriving = Arriving { took, ..self.shared.arriving(&key, value) };
        let (now, mut gone) = (self.shared.now(), Gone::default());
        if let Some(took) = took {
            self.shared.learn(hash, arriving.weight, took);
        }
        self.shared.shard(hash).insert(hash, key, arriving, now, &mut gone);
        self.shared.tell(gone);
    }

    /// Removes a key, and returns its value if it was there. If a fetch for it is on its way, those who wait get what it brings, and that is
    /// not stored.
    pub fn remove<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
        V: Clone,
    {
        let (hash, now, mut gone) = (self.hash(key), self.shared.now(), Gone::default());
        self.shared.shard(hash).remove(hash, |other| other.borrow() == key, now, &mut gone);
        let value = gone.first().cloned();
        self.shared.tell(gone);
        value
    }

    /// Changes the value of a key in one step: `change` gets the value that is there, and says what is to be there, `None` for nothing.
    /// Returns what `change` has said.
    ///
    /// ```
    /// let visits = trueplane_cache::Cache::<&str, u32>::builder().build();
    /// assert_eq!(visits.update(&"home", |old| Some(old.unwrap_or(0) + 1)), Some(1)); // Insert or change.
    /// assert_eq!(visits.update(&"home", |old| old.or(Some(9))), Some(1)); // Insert only what is absent.
    /// assert_eq!(visits.update(&"help", |old| old.map(|count| count + 1)), None); // Change only what is there.
    /// assert_eq!(visits.update(&"home", |old| old.filter(|&count| count > 1)), None); // Remove if.
    /// assert!(visits.is_empty());
    /// ```
    ///
    /// `change` runs outside of all locks. It runs again if another thread has written meanwhile, so that no update is lost. It is no
    /// request: the policy does not hear of the look at the old value.
    pub fn update<Q>(&self, key: &Q, mut change: impl FnMut(Option<V>) -> Option<V>) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        V: Clone,
    {
        let hash = self.hash(key);
        let is_key = |other: &K| other.borrow() == key;
        loop {
            let (own, now) = (key.to_owned(), self.shared.now());
            let old = {
                let shard = self.shared.read(hash);
                shard.peek(hash, is_key, now).map(|(value, write)| (value.clone(), write))
            };
            let (value, write) = old.unzip();
            let new = change(value);
            let arriving = new.clone().map(|value| self.shared.arriving(&own, value));
            let mut gone = Gone::default();
            let is_done = {
                let mut shard = self.shared.shard(hash);
                let is_same = shard.is_last_write(hash, &own, write, now);
                match arriving {
                    _ if !is_same => {}
                    Some(arriving) => shard.insert(hash, own, arriving, now, &mut gone),
                    None => shard.remove(hash, is_key, now, &mut gone),
                }
                is_same
            };
            self.shared.tell(gone);
            if is_done {
                return new;
            }
        }
    }

    /// Removes all entries. Fetches on their way go on for those who wait for them, and what they bring is not stored.
    ///
    /// Entries that other threads store meanwhile may stay.
    pub fn invalidate_all(&self) {
        let now = self.shared.now();
        for shard in &self.shared.shards {
            let mut gone = Gone::default();
            lock(shard).clear(now, &mut gone);
            self.shared.tell(gone);
        }
    }

    /// Changes the capacity; if it shrinks, the policy chooses who leaves.
    pub fn set_capacity(&self, capacity: u64) {
        let capacity = capacity.min(LARGEST_CAPACITY);
        let (now, shards) = (self.shared.now(), self.shared.shards.len() as u64);
        for (shard, number) in self.shared.shards.iter().zip(0..) {
            let mut gone = Gone::default();
            lock(shard).resize(part(capacity, shards, number), now, &mut gone);
            self.shared.tell(gone);
        }
    }

    /// Lets entries go whose time is over. Without it, each write lets some of them go, and no request ever gets one of them.
    pub fn run_pending(&self) {
        let now = self.shared.now();
        for shard in &self.shared.shards {
            loop {
                let mut gone = Gone::default();
                let is_done = lock(shard).sweep(now, &mut gone);
                self.shared.tell(gone);
                if is_done {
                    break;
                }
            }
        }
    }

    /// All entries, in no useful order. Other threads may write meanwhile: an entry that is there all the time is among them once.
    ///
    /// It clones the entries of one part of the cache after the other.
    pub fn iter(&self) -> impl Iterator<Item = (K, V)>
    where
        K: Clone,
        V: Clone,
    {
        let shared = Arc::clone(&self.shared);
        let now = shared.time_of_hit();
        (0..shared.shards.len()).flat_map(move |place| {
            let shard = read(&shared.shards[place]);
            shard.iter(now).map(|(key, value)| (key.clone(), value.clone())).collect::<Vec<_>>()
        })
    }

    /// Number of entries, those among them whose time is over and who have not gone yet.
    pub fn len(&self) -> usize {
        self.shared.shards.iter().map(|shard| read(shard).len()).sum()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The total weight of all entries. It is at most the capacity.
    pub fn weight(&self) -> u64 {
        self.shared.shards.iter().map(|shard| read(shard).weight()).sum()
    }

    /// The total weight that the entries may have.
    pub fn capacity(&self) -> u64 {
        self.shared.shards.iter().map(|shard| read(shard).capacity()).sum()
    }

    /// Counts and times of all that has happened so far.
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }
}

impl<K, V, S> Cache<K, V, S>
where
    K: Hash + Eq + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
    S: BuildHasher + Send + Sync + 'static,
{
    /// The value of a key. If it is not there, waits for the fetch that another request has begun; if there is none, begins one with
    /// `fetch`.
    ///
    /// There is one fetch for a key at a time, however many ask and however they come and go: see
    /// [`spawner`](super::Builder::spawner) for who works on it. An error goes to all who wait, and the next request tries again, unless there is
    /// a [`negative_time_to_live`](super::Builder::negative_time_to_live). A panic is an error.
    ///
    /// `fetch` is called if nothing is there. Its future is dropped if another request turns out to have been faster, so it should do nothing
    /// before it is polled, as `async` blocks do.
    ///
    /// # Errors
    ///
    /// The fetch failed, as [`FetchError`] says, or there were too many; see [`max_waiters`](super::Builder::max_waiters) and
    /// [`max_fetches`](super::Builder::max_fetches).
    pub async fn get_or_fetch<Q, F, W, E>(&self, key: &Q, fetch: F) -> Result<V, FetchError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        F: FnOnce() -> W,
        W: Future<Output = Result<V, E>> + Send + 'static,
        E: Into<AnyError>,
    {
        self.get_or_fetch_unless(key, |_| false, fetch).await
    }

    /// Does what [`get_or_fetch`](Self::get_or_fetch) does, but a value that `is_unfit` for this request is fetched again, by one of all who find it
    /// so. The old one stays until the new one has come, and if that fails.
    ///
    /// ```
    /// # use std::task::{Context, Poll, Waker};
    /// use trueplane_cache::Cache;
    ///
    /// let versions = Cache::<&str, u32>::new(10);
    /// versions.insert("app", 3);
    /// let newer = versions.get_or_fetch_unless(&"app", |version| *version < 4, || async { Ok::<_, std::io::Error>(5) });
    /// # let mut newer = std::pin::pin!(newer);
    /// # let Poll::Ready(newer) = newer.as_mut().poll(&mut Context::from_waker(Waker::noop())) else { panic!() };
    /// assert_eq!(newer.ok(), Some(5));
    /// ```
    ///
    /// # Errors
    ///
    /// As [`get_or_fetch`](Self::get_or_fetch).
    pub async fn get_or_fetch_unless<Q, F, W, E>(
        &self,
        key: &Q,
        is_unfit: impl Fn(&V) -> bool,
        fetch: F,
    ) -> Result<V, FetchError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        F: FnOnce() -> W,
        W: Future<Output = Result<V, E>> + Send + 'static,
        E: Into<AnyError>,
    {
        let hash = self.hash(key);
        let mut own = Own::new(|| Some(work_of(fetch)));
        loop {
            let is_key = |other: &K| other.borrow() == key;
            let asked = self.shared.ask_unless(hash, is_key, || key.to_owned(), &is_unfit, &mut own);
            let waiting = match asked {
                Asked::Answer(answer) => return answer,
                Asked::Wait(waiting) | Asked::Fetch(waiting) => waiting,
                Asked::Again => continue,
            };
            if let Some(result) = waiting.await {
                return result;
            }
        }
    }

    /// Does what [`get_or_fetch`](Self::get_or_fetch) does in this thread, which works on the fetch or waits for another one's.
    ///
    /// # Errors
    ///
    /// As [`get_or_fetch`](Self::get_or_fetch).
    pub fn get_or_fetch_blocking<Q, E>(
        &self,
        key: &Q,
        fetch: impl FnOnce() -> Result<V, E>,
    ) -> Result<V, FetchError>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        E: Into<AnyError>,
    {
        let hash = self.hash(key);
        let mut own = Own::new(|| None);
        loop {
            let is_key = |other: &K| other.borrow() == key;
            let waiting = match self.shared.ask(hash, is_key, || key.to_owned(), &mut own) {
                Asked::Answer(answer) => return answer,
                Asked::Fetch(mut own) => {
                    let result = self.shared.work(&own.flight, || fetch().map_err(Into::into));
                    let instead = own.instead.take();
                    return result.or_else(|error| instead.ok_or(error));
                }
                Asked::Wait(waiting) => waiting,
                Asked::Again => continue,
            };
            if let Some(result) = block_on(waiting) {
                return result;
            }
        }
    }
}

/// The future that `fetch` makes, boxed; a panic of it is an error, too.
fn work_of<V, W, E>(fetch: impl FnOnce() -> W) -> Work<V>
where
    V: Send + Sync + 'static,
    W: Future<Output = Result<V, E>> + Send + 'static,
    E: Into<AnyError>,
{
    match catch_unwind(AssertUnwindSafe(fetch)) {
        Ok(work) => Box::pin(async move { work.await.map_err(FetchError::failed) }),
        Err(payload) => Box::pin(ready(Err(FetchError::panicked(&*payload)))),
    }
}

impl<K, V, S> Clone for Cache<K, V, S> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

/// The numbers, not the entries.
impl<K, V, S> fmt::Debug for Cache<K, V, S>
where
    K: Hash + Eq,
    S: BuildHasher,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("entries", &self.len())
            .field("weight", &self.weight())
            .field("capacity", &self.capacity())
            .finish_non_exhaustive()
    }
}
