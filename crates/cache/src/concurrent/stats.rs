//! What a cache has done so far.

use std::fmt;

use trueplane_units::Nanos;

use super::forecast::Forecast;
use super::gone::Cause;
use crate::policy::PolicyName;

/// Counts of a shard.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) hits: u64,
    pub(super) delayed: u64,
    pub(super) misses: u64,
    pub(super) failures: u64,
    pub(super) fetches: u64,
    pub(super) fetching: Nanos,
    pub(super) evicted: u64,
    pub(super) expired: u64,
}

impl Counts {
    pub(super) fn fetched(&mut self, took: Nanos) {
        self.fetches += 1;
        self.fetching = self.fetching.after(took);
    }

    pub(super) fn left(&mut self, cause: Cause) {
        match cause {
            Cause::Evicted => self.evicted += 1,
            Cause::Expired => self.expired += 1,
            Cause::Removed | Cause::Replaced | Cause::TooHeavy => {}
        }
    }
}

impl std::iter::Sum for Counts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, one| Self {
            hits: sum.hits + one.hits,
            delayed: sum.delayed + one.delayed,
            misses: sum.misses + one.misses,
            failures: sum.failures + one.failures,
            fetches: sum.fetches + one.fetches,
            fetching: sum.fetching.after(one.fetching),
            evicted: sum.evicted + one.evicted,
            expired: sum.expired + one.expired,
        })
    }
}

/// What a cache has done since it was made.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Requests that were answered at once.
    pub hits: u64,
    /// Requests that waited for a fetch that an earlier one had begun.
    pub delayed_hits: u64,
    /// Requests that found nothing: they began a fetch, or got nothing.
    pub misses: u64,
    /// Fetches that failed, and requests that were told of a failure before.
    pub failures: u64,
    /// Fetches that succeeded.
    pub fetches: u64,
    /// Time that they took together.
    pub fetch_time: Nanos,
    /// Requests that waited until their fetch ended: those that began it, and delayed hits.
    pub waited: u64,
    /// Time that they waited together.
    pub wait_time: Nanos,
    /// Entries that left because room was needed.
    pub evictions: u64,
    /// Entries that left because their time was over.
    pub expirations: u64,
    /// What each policy would have come to on a sample of the keys; the cache's own first. Empty if nothing is
    /// [foretold](super::Builder::forecast).
    pub forecasts: Vec<Forecast>,
}

/// Whether the policy of a cache is right.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Advice {
    /// Too few requests are in the sample to tell.
    Unknown,
    /// No other policy that is tried would make requests wait less, by 2% or more.
    Keep,
    /// Take this one: requests would wait less by this share.
    Take(PolicyName, f64),
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Advice::Unknown => f.write_str("too few requests to tell"),
            Advice::Keep => f.write_str("keep the policy"),
            Advice::Take(policy, share) => {
                write!(f, "take {policy}: requests would wait {:.1}% less", share * 100.0)
            }
        }
    }
}

/// Fewer requests of the sample tell nothing.
const TELLING: u64 = 1000;
/// A policy that saves less is as good.
const WORTH: f64 = 0.02;

impl Stats {
    /// Requests of all kinds.
    pub fn requests(&self) -> u64 {
        self.hits + self.delayed_hits + self.misses
    }

    /// Share of requests that found their value, or found it on its way: what is known as the hit rate, in which a delayed hit is a
    /// hit. None without a request.
    pub fn hit_rate(&self) -> Option<f64> {
        let found = (self.hits + self.delayed_hits) as f64;
        (self.requests() > 0).then(|| found / self.requests() as f64)
    }

    /// Mean latency of a request in ns by the classical model, miss rate × mean fetch time. None without a request or a fetch.
    pub fn predicted_latency(&self) -> Option<f64> {
        let fetch = (self.fetches > 0).then(|| self.fetch_time.0 as f64 / self.fetches as f64)?;
        self.hit_rate().map(|rate| (1.0 - rate) * fetch)
    }

    /// Whether another policy would make requests wait less.
    pub fn advice(&self) -> Advice {
        let Some(own) = self.forecasts.first().filter(|own| own.requests >= TELLING) else {
            return Advice::Unknown;
        };
        let best = self.forecasts.iter().min_by(|a, b| a.latency.total_cmp(&b.latency)).unwrap_or(own);
        let saves = 1.0 - best.latency / own.latency;
        if saves >= WORTH { Advice::Take(best.policy, saves) } else { Advice::Keep }
    }

    /// Mean latency of a request in ns as it was, waits of delayed hits included. None without a request.
    pub fn measured_latency(&self) -> Option<f64> {
        (self.requests() > 0).then(|| self.wait_time.0 as f64 / self.requests() as f64)
    }
}
