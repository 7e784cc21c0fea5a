//! What a comparison finds.

use serde::Serialize;

use crate::bound::search::Limits;
use crate::grid::Options;
use crate::policy::{MadMemory, PolicyName, Search, Window};
use crate::scan::Summary;

/// The result of `cache compare`; serialised, it is what `--json` prints.
///
/// Latencies are in ns, or in steps when slotted.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// `cache.compare`.
    pub study: &'static str,
    /// The trace.
    pub trace: TraceFacts,
    /// What of the trace makes the results doubtful, in plain sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// `continuous` or `slotted`.
    pub time: &'static str,
    /// The unit of all latencies: `ns` or `steps`.
    pub unit: &'static str,
    /// What else the study was made with.
    pub settings: Settings,
    /// One for every latency and capacity of the grid, the capacities of one latency together.
    pub runs: Vec<Run>,
    /// How the bounds of the runs were looked for, if they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Effort>,
    /// The number of capacities.
    #[serde(skip)]
    pub capacities: usize,
}

/// The options that are the same at every point.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// The version of trueplane.
    pub version: &'static str,
    /// Where draws began.
    pub seed: u64,
    /// Requests at the start that did not count.
    pub warmup: u64,
    /// What a hit takes, in the unit of all latencies.
    pub hit_latency: u64,
    /// Objects in a set; none: fully associative.
    pub ways: Option<u64>,
    /// For which objects MAD kept counters: `cached` or `all`.
    pub mad_memory: &'static str,
    /// How LHD found its victim: `sampled` or `exact`.
    pub lhd_eviction: &'static str,
    /// How large W-TinyLFU's window was: `adaptive` or `fixed`.
    pub tinylfu_window: &'static str,
    /// Whether objects larger than the cache passed it by.
    pub bypass_oversized: bool,
}

impl Settings {
    pub(super) fn of(options: &Options) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION"),
            seed: options.seed,
            warmup: options.warmup,
            hit_latency: options.hit_latency.0,
            ways: options.ways,
            mad_memory: match options.mad_memory {
                MadMemory::Cached => "cached",
                MadMemory::All => "all",
            },
            lhd_eviction: match options.search {
                Search::Sampled => "sampled",
                Search::Exact => "exact",
            },
            tinylfu_window: match options.window {
                Window::Adaptive => "adaptive",
                Window::Fixed => "fixed",
            },
            bypass_oversized: options.bypass_oversized,
        }
    }
}

/// The trace of a study.
#[derive(Clone, Debug, Serialize)]
pub struct TraceFacts {
    /// Its name.
    pub name: String,
    /// What it is like.
    #[serde(flatten)]
    pub summary: Summary,
    /// What of it were no requests, and how often.
    pub skipped: Vec<(String, u64)>,
}

/// All policies at one latency and capacity.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The latency if it is the same for all misses, and how it was asked for otherwise.
    pub latency: LatencyFact,
    /// The capacity that was simulated.
    pub capacity: u64,
    /// `objects` or `bytes`.
    pub capacity_unit: &'static str,
    /// How the capacity was asked for.
    pub capacity_asked: String,
    /// No schedule of this cache has a smaller total latency; if it was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<u64>,
    /// Some schedule of it has this total latency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper_bound: Option<u64>,
    /// The policies, in the order of the options.
    pub policies: Vec<PolicyRun>,
    /// What an operator should know, in plain sentences.
    pub verdict: Vec<String>,
}

/// A latency in a document.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum LatencyFact {
    /// The same for every miss, in ns or steps.
    Constant(u64),
    /// Where it came from.
    Varying(String),
}

/// One policy at one latency and capacity.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyRun {
    /// Its name.
    #[serde(serialize_with = "as_name")]
    pub policy: PolicyName,
    /// Whether it needs to know the future.
    pub offline: bool,
    /// Requests that count: hits + delayed hits + misses.
    pub requests: u64,
    /// Requests for resident objects.
    pub hits: u64,
    /// Requests for objects on their way.
    pub delayed_hits: u64,
    /// Requests that began a fetch.
    pub misses: u64,
    /// The exact sum of all latencies.
    pub latency_total: u128,
    /// The true mean latency.
    pub latency_mean: f64,
    /// Half of the requests wait at most this, to within 0.1 %.
    pub latency_p50: u64,
    /// 99 % of the requests wait at most this.
    pub latency_p99: u64,
    /// 99.9 % of the requests wait at most this.
    pub latency_p999: u64,
    /// Hits of the classical model, where a fetched object is there at once.
    pub classical_hits: u64,
    /// The share of those.
    pub classical_hit_rate: f64,
    /// What the classical model predicts: hit rate × hit latency + miss rate × miss latency (thesis eq. 2.1).
    pub classical_latency_mean: f64,
    /// By which share of the true mean the classical prediction falls short of it; negative if it is too high.
    pub classical_underestimate: f64,
    /// By which share of the least total latency there is this one is above it, at most: the total over the lower bound,
    /// less 1. None if there is no bound, or it is zero.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_optimum: Option<f64>,
    /// The same at least: the total over the upper bound, less 1; never below 0 where the bound is one of this policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above_optimum_at_least: Option<f64>,
    /// Points of the cumulative distribution of latency, for plots.
    #[serde(skip)]
    pub cdf: Vec<(u64, f64)>,
}

fn as_name<S: serde::Serializer>(policy: &PolicyName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(policy.name())
}

impl Run {
    /// Enters the bounds of the total latency, and how far every policy is from them.
    ///
    /// With `bypass`, the bounds are those of caches that may let fetched objects pass by, of which every policy is one: none is
    /// less than 0 above the optimum, even where it is better than the schedule that was found.
    pub(crate) fn enter_bounds(&mut self, lower: u64, upper: u64, bypass: bool) {
        (self.lower_bound, self.upper_bound) = (Some(lower), Some(upper));
        for policy in &mut self.policies {
            policy.above_optimum = above(policy.latency_total, lower);
            let least = above(policy.latency_total, upper);
            policy.above_optimum_at_least = if bypass { least.map(|share| share.max(0.0)) } else { least };
        }
    }

    /// How far apart the bounds are: (upper − lower) / lower, without end if only the lower one is zero. None if they were not
    /// looked for.
    pub fn bounds_gap(&self) -> Option<f64> {
        let (lower, upper) = (self.lower_bound?, self.upper_bound?);
        Some(if upper <= lower { 0.0 } else { upper as f64 / lower as f64 - 1.0 })
    }
}

/// When a search is to end, whichever comes first.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effort {
    /// The bounds are this close: (upper − lower) / lower.
    pub gap: f64,
    /// So much time has passed; none: however long it takes.
    pub seconds: Option<f64>,
    /// So many steps were made; none: any number.
    pub iterations: Option<u64>,
}

impl Effort {
    /// The effort that these limits allow.
    pub fn of(limits: &Limits) -> Self {
        Self {
            gap: limits.gap,
            seconds: limits.time.map(|time| time.as_secs_f64()),
            iterations: Some(limits.iterations).filter(|&iterations| iterations < u64::MAX),
        }
    }
}

/// By which share `total` is above `bound`; none where that is no number.
fn above(total: u128, bound: u64) -> Option<f64> {
    match (total, bound) {
        (0, 0) => Some(0.0),
        (_, 0) => None,
        _ => Some(total as f64 / bound as f64 - 1.0),
    }
}
