//! What `cache experiment` finds.

use std::fmt;

use trueplane_cache::PolicyName;
use trueplane_study::metrics::Distribution;
use trueplane_units::Nanos;

use super::options::{OriginName, RivalName};
use super::predict::{Overhead, Predicted};
use super::workload::Workload;
use crate::conduct::LeftOut;

/// The measured mean is to be within this share of the simulated one.
pub(super) const NEAR: f64 = 0.05;

/// A cache that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheName {
    /// Ours, under a policy.
    Ours(PolicyName),
    /// Another one.
    Rival(RivalName),
}

impl fmt::Display for CacheName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours(policy) => policy.fmt(f),
            Self::Rival(rival) => rival.fmt(f),
        }
    }
}

/// Everything that was measured and predicted.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The requests.
    pub workload: Workload,
    /// What our cache takes besides the origin's latency and the bodies.
    pub overhead: Overhead,
    /// Memory of each cache, in bytes.
    pub memory: u64,
    /// The other caches that ran.
    pub rivals: Vec<RivalFacts>,
    /// Each cache in front of each origin.
    pub runs: Vec<Run>,
    /// Caches that were not measured.
    pub left_out: Vec<LeftOut>,
}

/// Another cache, as it ran.
#[derive(Clone, Debug)]
pub struct RivalFacts {
    /// The cache.
    pub rival: RivalName,
    /// What it says of its version.
    pub version: String,
    /// What its memory is, where it cannot be what was asked for.
    pub memory: String,
}

/// A cache in front of an origin.
#[derive(Clone, Debug)]
pub struct Run {
    /// The origin.
    pub origin: OriginName,
    /// The cache.
    pub cache: CacheName,
    /// The prediction of the classical model; none of other caches.
    pub classical: Option<Predicted>,
    /// The mean time of a request by the classical model, in ns: of other caches by the requests that came to the origin.
    pub classical_mean: f64,
    /// The prediction by simulation; none of other caches.
    pub refined: Option<Predicted>,
    /// What was measured, in all rounds.
    pub waits: Distribution,
    /// What was measured, round by round.
    pub rounds: Vec<Round>,
}

/// A measurement of a cache in front of an origin.
#[derive(Clone, Debug)]
pub struct Round {
    /// Time from each request's own time to the end of its body, in ns.
    pub waits: Distribution,
    /// Time from each request's own time to its sending, in ns.
    pub late: Distribution,
    /// Requests that came to the origin.
    pub origin_requests: u64,
    /// Hits, delayed hits and misses, as our cache counts them.
    pub outcomes: Option<[u64; 3]>,
    /// Load of the machine in the minute before.
    pub load: f64,
}

impl Run {
    /// How far the measured mean is from the simulated one, as a share of that.
    pub fn error(&self) -> Option<f64> {
        let refined = self.refined.as_ref()?.waits.mean();
        (refined > 0.0).then(|| self.waits.mean() / refined - 1.0)
    }

    /// Whether the measured mean is far from the simulated one.
    pub fn is_far(&self) -> bool {
        self.error().is_some_and(|error| error.abs() > NEAR)
    }

    /// Mean number of requests that came to the origin in a round.
    pub fn origin_requests(&self) -> f64 {
        let all: u64 = self.rounds.iter().map(|round| round.origin_requests).sum();
        all as f64 / self.rounds.len().max(1) as f64
    }

    /// The time that a share of all requests does not exceed.
    pub fn quantile(&self, share: f64) -> Nanos {
        Nanos(self.waits.quantile(share))
    }
}
