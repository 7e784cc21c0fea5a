//! The parameters of `cache compare`.

use std::time::Duration;

use trueplane_study::Error;
use trueplane_units::{Choices, Gap, List, Nanos, Positive, parameters};

use crate::bound::Limits;
use crate::capacity::Capacity;
use crate::fetch_time::FetchTimes;
use crate::policy::{MadMemory, PolicyName, Search, Window};
use crate::service::{Asked, Service};
use crate::source::Source;

const BOUND: &str = "Distance from the optimum";

/// The search for the bound of one point takes so long at most, unless it is told otherwise.
const BOUND_TIME: Duration = Duration::from_secs(10);

/// The search ends once the bounds are this close, unless it is told otherwise: 0.1%.
const BOUND_GAP: f64 = 0.001;

/// Heading of help texts for what single policies and caches have.
const POLICIES: &str = "Single policies";

parameters! {
    /// Parameters of `cache compare`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Time of a fetch: 100ms, 1000steps, lognormal:MEDIAN,SIGMA, or trace. Steps need slotted time (--time). The word trace takes the times
        /// from the trace's fetch column. A list makes a sweep.
        pub latency: Option<FetchTimes> => { value: "LIST" },
        /// Latencies of several origins, such as 68ms,103ms,226ms. Objects are spread over the origins by hash. Beside --latency, all origins
        /// together are one more point of the sweep.
        pub origins: Option<FetchTimes> => { value: "LIST" },
        /// Cache size: a number of objects (5000), a share (5%) or bytes (256MiB). A share is one of the largest number of objects that are
        /// active at the same time. A list makes a sweep.
        pub capacity: List<Capacity> => { value: "LIST", default: "5%" },
        /// Policies to compare.
        pub policies: Choices<PolicyName> => { value: "LIST", default: "all" },
        /// Number of objects in each set of a set-associative cache.
        pub ways: Option<Positive<u64>> => { value: "N", default_words: "fully associative", heading: POLICIES },
        /// Objects for which MAD policies keep counters.
        pub mad_memory: MadMemory => { value: "WHICH", default: "cached", heading: POLICIES },
        /// Way in which LHD finds the object to evict. All other policies find it exactly.
        pub eviction: Search => { value: "HOW", default: "sampled", heading: POLICIES },
        /// Size of the window of W-TinyLFU.
        pub tinylfu_window: Window => { value: "WHICH", default: "adaptive", heading: POLICIES },
        /// Also show how far each policy is above the lowest possible latency. The bound is computed for every point, as by trueplane cache
        /// bound. It holds the trace in memory.
        pub bound: bool => { heading: BOUND },
        /// Time limit of the search for the bound of one point.
        pub bound_time: Option<Positive<Nanos>> =>
            { value: "TIME", default_words: "10s", requires: "bound", heading: BOUND },
        /// Distance between the lower and the upper bound at which the search stops. It is in percent of the lower bound.
        pub bound_gap: Option<Gap> => { value: "PERCENT", default_words: "0.1%", requires: "bound", heading: BOUND },
        /// Number of iterations after which the search stops. There is then no time limit, and the result is the same on any machine.
        pub bound_iterations: Option<Positive<u64>> =>
            { value: "N", requires: "bound", conflicts: "bound_time", heading: BOUND },
    }
    including {
        /// Service and counting of requests.
        pub service: Service,
        /// The trace.
        pub source: Source,
    }
}

impl Options {
    /// Everything that is asked about time.
    pub(super) fn asked(&self) -> Asked<'_> {
        let Self { latency, origins, service, .. } = self;
        Asked {
            latency: latency.as_deref().unwrap_or_default(),
            origins: origins.as_deref().unwrap_or_default(),
            service,
        }
    }

    /// The limits of each search for a bound, if there are to be any.
    pub(super) fn limits(&self) -> Option<Limits> {
        let longest = self.bound_time.map_or(BOUND_TIME, |time| Duration::from_nanos(time.0));
        self.bound.then(|| Limits {
            gap: self.bound_gap.map_or(BOUND_GAP, |gap| gap.0),
            time: self.bound_iterations.is_none().then_some(longest),
            iterations: self.bound_iterations.map_or(u64::MAX, Positive::get),
        })
    }

    /// Refuses parameters that do not fit each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.asked().check()?;
        self.service.check(&self.capacity)?;
        let usual = Self::default();
        let has = |of: fn(PolicyName) -> bool| self.policies.iter().any(|&policy| of(policy));
        let has_mad = has(|policy| policy.properties().base.is_some());
        let has_lhd = has(|policy| matches!(policy, PolicyName::Lhd | PolicyName::LhdMad));
        let has_tinylfu = has(|policy| policy == PolicyName::WTinyLfu);
        let idle = [
            ("--mad-memory", "a policy with MAD", self.mad_memory != usual.mad_memory && !has_mad),
            ("--eviction", "lhd or lhd-mad", self.eviction != usual.eviction && !has_lhd),
            ("--tinylfu-window", "w-tinylfu", self.tinylfu_window != usual.tinylfu_window && !has_tinylfu),
        ];
        match idle.into_iter().find(|(.., is_idle)| *is_idle) {
            Some((flag, whose, _)) => {
                Err(Error::Parameters(format!("{flag} is for {whose}, which --policies does not name")))
            }
            None => Ok(()),
        }
    }
}
