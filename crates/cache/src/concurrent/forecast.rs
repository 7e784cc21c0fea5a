//! What other policies would do: a miniature of the cache for each of them, which sees a sample of the keys.
//!
//! Source: C. Waldspurger, T. Saemundsson, I. Ahmad, N. Park, *Cache Modeling and Optimization using Miniature Simulations*, USENIX ATC 2017.
//! The miniatures know fetches in progress, so that they foretell latencies and not hit rates alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hashbrown::HashMap;
use trueplane_units::Nanos;

use super::places::{Places, miss, places};
use crate::policy::{Params, PolicyName};
use crate::{Access, FetchId, Key, Object, Outcome, Slot};

/// Policies that are tried, besides the cache's own.
const TRIED: [PolicyName; 7] = [
    PolicyName::Lru,
    PolicyName::S3Fifo,
    PolicyName::WTinyLfu,
    PolicyName::Arc,
    PolicyName::LruMad,
    PolicyName::ArcMad,
    PolicyName::LhdMad,
];

/// Keys of which fetch times and weights are remembered, for each entry of a miniature.
const KNOWN_PER_ENTRY: usize = 8;

/// What a policy would have come to, if every fetch took as long as the last one of its key.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Forecast {
    /// The policy.
    pub policy: PolicyName,
    /// Requests of the sample.
    pub requests: u64,
    /// Share of them that find their value, or find it on its way.
    pub hit_rate: f64,
    /// Mean latency of a request in ns, waits of delayed hits included.
    pub latency: f64,
}

/// The miniatures; none if nothing is foretold.
pub(super) struct Forecasts {
    minis: Option<Mutex<Minis>>,
    /// Keys are in the sample whose spread hash is below this.
    below: u64,
}

struct Minis {
    minis: Vec<Mini>,
    known: HashMap<u64, Known>,
    most_known: usize,
    /// Smoothed fetch time of all keys.
    usual: Nanos,
    now: Nanos,
}

#[derive(Clone, Copy)]
struct Known {
    took: Nanos,
    weight: u64,
}

/// A cache under some policy, without values.
struct Mini {
    policy: PolicyName,
    places: Places,
    /// Fetches on their way: when each ends, in which order they began, and what they bring.
    pending: BinaryHeap<Reverse<(Nanos, u64, Landing)>>,
    /// End of the fetch into a slot.
    due: HashMap<Slot, Nanos>,
    requests: u64,
    found: u64,
    waited: u128,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Landing {
    fetch: FetchId,
    known: Nanos,
    weight: u64,
}

/// Fetches are told apart by their numbers before this is asked.
impl Ord for Landing {
    fn cmp(&self, _: &Self) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl PartialOrd for Landing {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Forecasts {
    /// Miniatures of a cache of this capacity and about so many entries, for a sample of a `share` of the keys.
    pub(super) fn new(own: PolicyName, capacity: u64, entries: u64, share: f64, seed: u64) -> Self {
        // `as` saturates.
        let of = |number: u64| ((number as f64 * share) as u64).max(1);
        let below = (share * u64::MAX as f64) as u64;
        if below == 0 || capacity == 0 {
            return Self { minis: None, below: 0 };
        }
        let params = Params { seed, ..Params::objects(of(entries)) };
        let mini =
            |policy| places(policy, params, &[of(capacity)]).pop().map(|places| Mini::new(policy, places));
        let others = TRIED.into_iter().filter(|policy| *policy != own);
        let minis = Minis {
            minis: std::iter::once(own).chain(others).filter_map(mini).collect(),
            known: HashMap::new(),
            most_known: of(entries) as usize * KNOWN_PER_ENTRY,
            usual: Nanos(0),
            now: Nanos(0),
        };
        Self { minis: Some(Mutex::new(minis)), below }
    }

    /// The miniatures, if this key is in the sample.
    #[inline]
    fn of(&self, hash: u64) -> Option<MutexGuard<'_, Minis>> {
        // Other bits than those that choose the shard and the place in it.
        if self.below == 0
            || hash.wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(32).wrapping_mul(0xD6E8_FEB8_6659_FD93)
                >= self.below
        {
            return None;
        }
        self.minis.as_ref().map(|minis| minis.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A request, at the time that `now` tells if anybody wants to know it.
    #[inline]
    pub(super) fn request(&self, hash: u64, now: impl FnOnce() -> Nanos) {
        if let Some(mut minis) = self.of(hash) {
            minis.request(hash, now());
        }
    }

    /// A value has come.
    #[inline]
    pub(super) fn learn(&self, hash: u64, weight: u64, took: Nanos) {
        if let Some(mut minis) = self.of(hash) {
            minis.learn(hash, Known { took, weight });
        }
    }

    /// What each policy would have come to; the cache's own first. Empty if nothing is foretold, or nothing was asked for yet.
    pub(super) fn all(&self) -> Vec<Forecast> {
        let Some(minis) = &self.minis else { return Vec::new() };
        let minis = minis.lock().unwrap_or_else(PoisonError::into_inner);
        minis.minis.iter().filter(|mini| mini.requests > 0).map(Mini::forecast).collect()
    }
}

impl Minis {
    fn request(&mut self, hash: u64, now: Nanos) {
        self.now = self.now.max(now);
        let known = self.known.get(&hash).copied().unwrap_or(Known { took: self.usual, weight: 1 });
        for mini in &mut self.minis {
            mini.request(hash, known, self.now);
        }
    }

    fn learn(&mut self, hash: u64, known: Known) {
        self.usual = match self.usual {
            Nanos(0) => known.took,
            usual => Nanos(usual.0 - usual.0 / 8 + known.took.0 / 8),
        };
        // As many as are asked for often come back soon.
        if self.known.len() >= self.most_known && !self.known.contains_key(&hash) {
            self.known.clear();
        }
        self.known.insert(hash, known);
    }
}

impl Mini {
    fn new(policy: PolicyName, places: Places) -> Self {
        Self {
            policy,
            places,
            pending: BinaryHeap::new(),
            due: HashMap::new(),
            requests: 0,
            found: 0,
            waited: 0,
        }
    }

    fn request(&mut self, hash: u64, known: Known, now: Nanos) {
        while let Some(&Reverse((ends, _, landing))) =
            self.pending.peek().filter(|Reverse((ends, ..))| *ends <= now)
        {
            self.pending.pop();
            self.land(landing, ends);
        }
        self.requests += 1;
        match self.places.look_up(Key(hash)) {
            (Outcome::Hit, Some(slot)) => {
                self.found += 1;
                self.places.request_at(slot, Access::at(now));
            }
            (Outcome::Delayed, Some(slot)) => {
                self.found += 1;
                self.waited += u128::from(self.due.get(&slot).map_or(0, |due| due.since(now).0));
                self.places.request_at(slot, Access::at(now));
            }
            _ => {
                let (slot, fetch) =
                    miss(&mut self.places, Object { key: Key(hash), size: known.weight }, now);
                self.waited += u128::from(known.took.0);
                let landing = Landing { fetch, known: known.took, weight: known.weight };
                if known.took == Nanos(0) {
                    self.land(landing, now);
                } else {
                    let ends = now.after(known.took);
                    self.due.insert(slot, ends);
                    self.pending.push(Reverse((ends, self.requests, landing)));
                }
            }
        }
    }

    fn land(&mut self, landing: Landing, ends: Nanos) {
        self.due.remove(&landing.fetch.slot());
        let _ = self.places.fetched_by(landing.fetch, landing.weight, landing.known, ends);
    }

    fn forecast(&self) -> Forecast {
        let requests = self.requests as f64;
        Forecast {
            policy: self.policy,
            requests: self.requests,
            hit_rate: self.found as f64 / requests,
            latency: self.waited as f64 / requests,
        }
    }
}
