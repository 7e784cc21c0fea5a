//! The mean aggregate delay of an object, as Algorithm 1 of Atre 2025 (§2.5.2) estimates it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// How long the counters of an object are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Until the object is evicted; its next miss starts afresh.
    Cached,
    /// For ever.
    All,
}

/// `numerator / denominator`, not reduced; the denominator is positive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    pub(super) numerator: u128,
    pub(super) denominator: u128,
}

impl Ratio {
    /// Compares two fractions by multiplying across. The naive model is meant for traces small enough for `u128`; where
    /// one is not, the multiplication panics in tests rather than wrapping.
    pub(super) fn compare(self, other: Self) -> Ordering {
        (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator))
    }
}

/// What Algorithm 1 calls `ObjectMetadata`, and the step of the latest request.
#[derive(Clone, Copy)]
struct Record {
    num_windows: u64,
    cumulative_delay: u128,
    window_start: u64,
    last_request: u64,
}

/// The counters of all objects.
pub(super) struct Delays {
    z: u64,
    memory: Memory,
    records: BTreeMap<u64, Record>,
    /// Objects that have come at least once, so that it is known how long their fetches take.
    fetched: BTreeSet<u64>,
}

impl Delays {
    pub(super) fn new(z: u64, memory: Memory) -> Self {
        Self { z, memory, records: BTreeMap::new(), fetched: BTreeSet::new() }
    }

    /// `OnAccess` of Algorithm 1, for every request whatever came of it.
    ///
    /// The windows are hypothetical: they tell what the requests would have cost had the object never been cached.
    pub(super) fn on_access(&mut self, key: u64, now: u64) {
        let Some(record) = self.records.get_mut(&key) else {
            let first = Record {
                num_windows: 1,
                cumulative_delay: u128::from(self.z),
                window_start: now,
                last_request: now,
            };
            self.records.insert(key, first);
            return;
        };
        record.last_request = now;
        let since_start = now - record.window_start;
        if since_start >= self.z {
            record.num_windows += 1;
            record.cumulative_delay += u128::from(self.z);
            record.window_start = now;
        } else {
            record.cumulative_delay += u128::from(self.z - since_start);
        }
    }

    pub(super) fn on_fetch(&mut self, key: u64) {
        self.fetched.insert(key);
    }

    /// The object leaves the cache, or will never come.
    pub(super) fn on_leave(&mut self, key: u64) {
        if self.memory == Memory::Cached || !self.fetched.contains(&key) {
            self.records.remove(&key);
        }
    }

    /// The mean aggregate delay in steps, the open window included.
    pub(super) fn mean(&self, key: u64) -> Ratio {
        let record = &self.records[&key];
        Ratio { numerator: record.cumulative_delay, denominator: u128::from(record.num_windows) }
    }

    /// The mean aggregate delay over the steps since the latest request, that step and `now` both counted.
    pub(super) fn mean_over_age(&self, key: u64, now: u64) -> Ratio {
        let mean = self.mean(key);
        let age = u128::from(now - self.records[&key].last_request + 1);
        Ratio { numerator: mean.numerator, denominator: mean.denominator * age }
    }

    /// Where in `candidates` the smallest [`mean_over_age`](Self::mean_over_age) is; of equal ones the first.
    pub(super) fn smallest_mean_over_age(&self, candidates: &[u64], now: u64) -> Option<usize> {
        (0..candidates.len()).min_by(|a, b| {
            self.mean_over_age(candidates[*a], now).compare(self.mean_over_age(candidates[*b], now))
        })
    }
}
