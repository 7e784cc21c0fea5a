//! A limiter of requests for every key, in bounded memory.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};
use trueplane_units::Nanos;

use crate::requests::{Quota, QuotaError, Refused, RequestLimiter, RetryAfter};
use crate::wide::Wide;

/// A [`RequestLimiter`] for every key: API keys, users, addresses.
///
/// All keys have the same [`Quota`]; a service with several plans has a limiter for each plan, and a key that changes its plan keeps what it
/// has used ([`take`](Self::take), [`put`](Self::put)).
///
/// # Memory
///
/// A key is *idle* when its limiter decides from now on as one that has never met a request. Idle keys are forgotten, which
/// changes no verdict: an unknown key has a fresh limiter, and time does not go back. A request whose `now` lies before the
/// latest one is decided at the latest one, and its wait is longer by the difference. So one `now` that is far in the future holds up
/// everybody until the clock gets there; [`rebase`](Self::rebase) says that the clock has been set.
///
/// Every call of [`check`](Self::check) looks at two keys, in turn, and forgets them if they are idle. So an idle key is forgotten
/// within as many calls as there are keys (twice as many if keys are [reset](Self::reset) meanwhile), at a constant cost a call and
/// without a pause.
///
/// There are never more keys than the limiter was made for. When there are so many, requests of known keys are decided as ever, and
/// the first request of a new key is refused with [`Refused::Full`]; whether that lets the request pass or not is the caller's choice.
/// [`forget_idle`](Self::forget_idle) forgets all idle keys at once.
///
/// Cost: O(1) a request, amortised: a table that grows moves all keys. Memory: the key and 16 bytes, aligned to 16, and 9 to 18 bytes of
/// index for each key; up to twice that after the table has grown. No verdict depends on the hasher.
///
/// ```
/// use trueplane_limit::keyed::KeyedLimiter;
/// use trueplane_limit::requests::Quota;
/// use trueplane_units::Nanos;
///
/// let mut limiter: KeyedLimiter<String> = KeyedLimiter::new(Quota::per_minute(60).with_burst(2), 100_000)?;
/// assert!(limiter.check("alice", Nanos(0)).is_ok());
/// assert!(limiter.check("alice", Nanos(0)).is_ok());
/// assert_eq!(limiter.check("alice", Nanos(0)).unwrap_err().to_string(), "too many requests; retry after 1s");
/// assert!(limiter.check("bob", Nanos(0)).is_ok());
/// assert_eq!(limiter.remaining("bob", Nanos(0)), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(
    into = "Saved<K>",
    try_from = "Saved<K>",
    bound(
        serialize = "K: Clone + Serialize, S: Clone",
        deserialize = "K: Eq + Hash + Deserialize<'de>, S: BuildHasher + Default"
    )
)]
pub struct KeyedLimiter<K, S = RandomState> {
    quota: Quota,
    most_keys: usize,
    /// The latest instant that any call has told.
    latest: Nanos,
    /// The keys with their theoretical arrival times.
    keys: Vec<(K, u128)>,
    /// Positions in `keys`.
    index: HashTable<usize>,
    /// Position of the key that is looked at next.
    hand: usize,
    hasher: S,
}

/// Keys that a call looks at. Two, so that keys leave faster than new ones can come.
const LOOKS: usize = 2;

impl<K: Eq + Hash> KeyedLimiter<K> {
    /// A limiter that has met no key and keeps at most `most_keys`.
    ///
    /// # Errors
    /// If one of the numbers is zero.
    pub fn new(quota: Quota, most_keys: usize) -> Result<Self, QuotaError> {
        Self::with_hasher(quota, most_keys, RandomState::new())
    }
}

impl<K: Eq + Hash, S: BuildHasher> KeyedLimiter<K, S> {
    /// The same with a hasher of the caller's choice, for keys that no stranger can choose.
    ///
    /// # Errors
    /// If one of the numbers is zero.
    pub fn with_hasher(quota: Quota, most_keys: usize, hasher: S) -> Result<Self, QuotaError> {
        if most_keys == 0 {
            return Err(QuotaError::NoKeys);
        }
        Ok(Self {
            quota: quota.checked()?,
            most_keys,
            latest: Nanos(0),
            keys: Vec::new(),
            index: HashTable::new(),
            hand: 0,
            hasher,
        })
    }

    /// Takes a request of `key` at `now`, and counts it if it passes.
    ///
    /// # Errors
    /// If it does not pass: the time to wait, or that there is no room for a new key. Nothing is counted then.
    pub fn check<Q>(&mut self, key: &Q, now: Nanos) -> Result<(), Refused>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.check_n(key, 1, now)
    }

    /// Takes `requests` of `key` at `now` that pass together or not at all.
    ///
    /// # Errors
    /// If they do not pass: the time to wait, that they are more than the burst, or that there is no room for a new key. Nothing is
    /// counted then.
    pub fn check_n<Q>(&mut self, key: &Q, requests: u32, now: Nanos) -> Result<(), Refused>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        self.check_with(key, requests, now, || key.to_owned())
    }

    /// Takes `requests` of `key` as [`check_n`](Self::check_n) does, and calls `make` if the key is new; for keys such as `Arc<str>`, which
    /// [`ToOwned`] does not make of a `str`. What `make` returns must be equal to `key`.
    ///
    /// # Errors
    /// As [`check_n`](Self::check_n).
    pub fn check_with<Q>(
        &mut self,
        key: &Q,
        requests: u32,
        now: Nanos,
        make: impl FnOnce() -> K,
    ) -> Result<(), Refused>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.latest = self.latest.max(now);
        for _ in 0..LOOKS {
            self.look();
        }
        let known = self.position(key);
        let mut limiter = self.resume(known);
        limiter.check_n(requests, self.latest).map_err(|refused| match refused {
            Refused::RetryAfter(RetryAfter(wait)) => RetryAfter(self.span(wait, now)).into(),
            other => other,
        })?;
        match known {
            Some(position) => self.keys[position].1 = limiter.tat(),
            // No request was counted, as `requests` is zero: there is nothing to remember.
            None if limiter.is_idle(self.latest) => {}
            None if self.keys.len() >= self.most_keys => return Err(Refused::Full { keys: self.most_keys }),
            None => {
                let made = make();
                debug_assert!(made.borrow() == key, "the key that was made is another one");
                self.insert(made, limiter.tat());
            }
        }
        Ok(())
    }

    /// Requests of `key` that would pass together at `now`: the header field `RateLimit` calls them remaining. Zero for a new key if
    /// [`check`](Self::check) would refuse it for want of room.
    pub fn remaining<Q>(&self, key: &Q, now: Nanos) -> u32
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let now = now.max(self.latest);
        match self.position(key) {
            None if !self.takes_new(now) => 0,
            known => self.resume(known).remaining(now),
        }
    }

    /// Whether a call of [`check`](Self::check) at `now`, which is not before the latest time, would have room for a new key.
    fn takes_new(&self, now: Nanos) -> bool {
        let hand = if self.hand < self.keys.len() { self.hand } else { 0 };
        let is_idle = |&(_, tat): &(K, u128)| RequestLimiter::resume(self.quota, tat).is_idle(now);
        // It looks at this key and, if it keeps that, at the next.
        self.keys.len() < self.most_keys
            || self.keys.iter().cycle().skip(hand).take(LOOKS.min(self.keys.len())).any(is_idle)
    }

    /// The time from `now` until `key` has its whole burst again if no request of it comes; zero if it has, and for a new key.
    pub fn reset_after<Q>(&self, key: &Q, now: Nanos) -> Nanos
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        match self.resume(self.position(key)).reset_after(now.max(self.latest)) {
            Nanos(0) => Nanos(0),
            wait => self.span(wait, now),
        }
    }

    /// Says that the clock, whatever it said, says `now`: after a restart with a clock that starts anew, or once a wrong time was corrected.
    ///
    /// Requests that count as used at the latest time still do at `now`. The time that the service was down earns nothing. If the latest time
    /// was wrong, and far in the future, all keys have earned their whole burst by it. O(n) for n keys.
    pub fn rebase(&mut self, now: Nanos) {
        for (_, tat) in &mut self.keys {
            *tat = RequestLimiter::resume(self.quota, *tat).rebased(self.latest, now).tat();
        }
        self.latest = now;
    }

    /// Gives all keys another quota from the latest time on: the requests that count as used stay used, up to the new burst. O(n) for n keys.
    ///
    /// # Errors
    /// If one of the quota's numbers is zero; nothing has changed then.
    pub fn set_quota(&mut self, quota: Quota) -> Result<(), QuotaError> {
        let quota = quota.checked()?;
        for (_, tat) in &mut self.keys {
            *tat = RequestLimiter::resume(self.quota, *tat).under(quota, self.latest).tat();
        }
        self.quota = quota;
        Ok(())
    }

    /// The limiter of the key at this position, or of a new one.
    fn resume(&self, known: Option<usize>) -> RequestLimiter {
        RequestLimiter::resume(self.quota, known.map_or(0, |position| self.keys[position].1))
    }

    /// A span from the latest time on, as one from `now` on.
    fn span(&self, from_latest: Nanos, now: Nanos) -> Nanos {
        Nanos(from_latest.0.saturating_add(self.latest.since(now).0))
    }

    /// Gives `key` its whole burst back, as if it had never come; whether it was known.
    pub fn reset<Q>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let position = self.position(key);
        if let Some(position) = position {
            self.remove(position);
        }
        position.is_some()
    }

    /// Forgets `key` and returns its limiter, for example to [`put`](Self::put) it under another quota; `None` if it is not known: it has its
    /// whole burst.
    ///
    /// ```
    /// use trueplane_limit::keyed::KeyedLimiter;
    /// use trueplane_limit::requests::Quota;
    /// use trueplane_units::Nanos;
    ///
    /// let mut free: KeyedLimiter<String> = KeyedLimiter::new(Quota::per_minute(10), 100_000)?;
    /// let mut paid: KeyedLimiter<String> = KeyedLimiter::new(Quota::per_minute(100), 100_000)?;
    /// let now = Nanos(0);
    /// free.check_n("alice", 7, now)?;
    /// // Alice pays now. Her seven requests stay used.
    /// if let Some(limiter) = free.take("alice") {
    ///     paid.put("alice".to_owned(), limiter, now)?;
    /// }
    /// assert_eq!((paid.remaining("alice", now), free.remaining("alice", now)), (93, 10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn take<Q>(&mut self, key: &Q) -> Option<RequestLimiter>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let position = self.position(key)?;
        let limiter = self.resume(Some(position));
        self.remove(position);
        Some(limiter)
    }

    /// Gives `key` what `limiter`, which has the same clock, has used at `now`, up to the burst of this quota. What the key had used here is
    /// replaced. As in [`check`](Self::check), a `now` before the latest time counts as the latest, and two keys are forgotten if they are idle.
    ///
    /// # Errors
    /// [`Refused::Full`] if the key is new, has used something, and there is no room for it; no key has changed then.
    pub fn put(&mut self, key: K, limiter: RequestLimiter, now: Nanos) -> Result<(), Refused> {
        self.latest = self.latest.max(now);
        for _ in 0..LOOKS {
            self.look();
        }
        let limiter = limiter.under(self.quota, self.latest);
        match self.position(&key) {
            Some(position) => self.keys[position].1 = limiter.tat(),
            // It decides as a new one: there is nothing to remember.
            None if limiter.is_idle(self.latest) => {}
            None if self.keys.len() >= self.most_keys => return Err(Refused::Full { keys: self.most_keys }),
            None => self.insert(key, limiter.tat()),
        }
        Ok(())
    }

    /// Forgets all keys that are idle at `now`, which changes no verdict. O(n) for n keys.
    pub fn forget_idle(&mut self, now: Nanos) {
        self.latest = self.latest.max(now);
        self.hand = 0;
        while self.hand < self.keys.len() {
            self.look();
        }
    }

    /// The keys that are remembered with their limiters, in no useful order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, RequestLimiter)> {
        self.keys.iter().map(|(key, tat)| (key, RequestLimiter::resume(self.quota, *tat)))
    }

    /// Number of keys that are remembered.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no key is remembered.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The quota of every key.
    pub fn quota(&self) -> Quota {
        self.quota
    }

    /// Most keys that are remembered at a time.
    pub fn most_keys(&self) -> usize {
        self.most_keys
    }

    fn position<Q>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        // `Borrow` promises that both forms of a key have one hash.
        let hash = self.hasher.hash_one(key);
        self.index.find(hash, |&position| self.keys[position].0.borrow() == key).copied()
    }

    fn insert(&mut self, key: K, tat: u128) {
        let hash = self.hasher.hash_one(&key);
        let (position, keys, hasher) = (self.keys.len(), &self.keys, &self.hasher);
        self.index.insert_unique(hash, position, |&position| hasher.hash_one(&keys[position].0));
        self.keys.push((key, tat));
    }

    /// Looks at the next key, forgets it if it is idle, and goes on if it is not.
    fn look(&mut self) {
        if self.hand >= self.keys.len() {
            self.hand = 0;
        }
        let Some(&(_, tat)) = self.keys.get(self.hand) else { return };
        if RequestLimiter::resume(self.quota, tat).is_idle(self.latest) {
            self.remove(self.hand);
        } else {
            self.hand += 1;
        }
    }

    /// Forgets the key at `position`, whose place the last one takes.
    fn remove(&mut self, position: usize) {
        let last = self.keys.len() - 1;
        let hash = |at: usize| self.hasher.hash_one(&self.keys[at].0);
        let (gone, moved) = (hash(position), hash(last));
        if let Ok(entry) = self.index.find_entry(gone, |&at| at == position) {
            entry.remove();
        }
        if position != last
            && let Some(at) = self.index.find_mut(moved, |&at| at == last)
        {
            *at = position;
        }
        self.keys.swap_remove(position);
    }
}

/// The numbers; not the keys, which may be secret.
impl<K, S> fmt::Debug for KeyedLimiter<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedLimiter")
            .field("quota", &self.quota)
            .field("most_keys", &self.most_keys)
            .field("keys", &self.keys.len())
            .field("latest", &self.latest)
            .finish_non_exhaustive()
    }
}

/// A limiter as it is saved.
#[derive(Serialize, Deserialize)]
struct Saved<K> {
    quota: Quota,
    most_keys: usize,
    latest: Nanos,
    keys: Vec<(K, Wide)>,
}

/// Why what was saved is no limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum SavedError {
    #[error(transparent)]
    Quota(#[from] QuotaError),
    #[error("expected every key once")]
    Twice,
    #[error("expected at most {0} keys, got {1}")]
    TooMany(usize, usize),
    #[error("expected no key to have used more than its burst")]
    BeyondBurst,
}

impl<K, S> From<KeyedLimiter<K, S>> for Saved<K> {
    fn from(limiter: KeyedLimiter<K, S>) -> Self {
        let KeyedLimiter { quota, most_keys, latest, keys, .. } = limiter;
        let keys = keys.into_iter().map(|(key, tat)| (key, tat.into())).collect();
        Self { quota, most_keys, latest, keys }
    }
}

impl<K: Eq + Hash, S: BuildHasher + Default> TryFrom<Saved<K>> for KeyedLimiter<K, S> {
    type Error = SavedError;

    fn try_from(saved: Saved<K>) -> Result<Self, SavedError> {
        let mut limiter = Self::with_hasher(saved.quota, saved.most_keys, S::default())?;
        limiter.latest = saved.latest;
        if saved.keys.len() > saved.most_keys {
            return Err(SavedError::TooMany(saved.most_keys, saved.keys.len()));
        }
        for (key, tat) in saved.keys {
            if limiter.position(&key).is_some() {
                return Err(SavedError::Twice);
            }
            let tat = tat.into();
            if !RequestLimiter::resume(limiter.quota, tat).is_within_burst(limiter.latest) {
                return Err(SavedError::BeyondBurst);
            }
            limiter.insert(key, tat);
        }
        Ok(limiter)
    }
}

#[cfg(test)]
mod tests;
