//! The parameters of `cache bound`.

use std::slice;
use std::time::Duration;

use trueplane_study::Error;
use trueplane_trace::Clock;
use trueplane_units::{Choices, Gap, Nanos, Positive, choices, parameters};

use super::search::Limits;
use super::single::Single;
use crate::capacity::Capacity;
use crate::fetch_time::{FetchTime, FetchTimes};
use crate::policy::PolicyName;
use crate::service::{Asked, Service};
use crate::source::Source;

const SEARCH: &str = "The search";

/// A search has this much time unless it is told otherwise.
const TIME_LIMIT: Duration = Duration::from_secs(60);

choices! {
    /// The way to look for bounds.
    pub enum Method {
        /// Prices for the cache's space at every moment: fast, with bounds that are close to each other.
        Prices = "prices",
        /// The linear programme, solved by HiGHS, for up to 100,000 requests. This needs a build with --features lp. Until it is solved, only
        /// --time-limit or a second Ctrl-C ends it, without a result.
        Lp = "lp",
    }
}

parameters! {
    /// Parameters of `cache bound`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Time of a fetch: 100ms, 1000steps, lognormal:MEDIAN,SIGMA, or trace. Steps need slotted time (--time). The word trace takes the times
        /// from the trace's fetch column.
        pub latency: Option<Single<FetchTime>> => { value: "LATENCY", conflicts: "origins" },
        /// Latencies of several origins, such as 68ms,103ms,226ms. Objects are spread over the origins by hash.
        pub origins: Option<FetchTimes> => { value: "LIST" },
        /// Cache size: a number of objects (5000), a share (5%) or bytes (256MiB). A share is one of the largest number of objects that are
        /// active at the same time.
        pub capacity: Single<Capacity> => { value: "SIZE", default: "5%" },
        /// Bound only caches that store every object that they fetch, as online policies do. This needs slotted time (--time).
        ///
        /// Without this flag, the cache may also pass a fetched object on without storing it.
        pub no_bypass: bool => {},
        /// Number of requests to read, from the start of the trace. The rest of the trace is not read.
        pub requests: Option<Positive<u64>> => { value: "N", default_words: "all" },
        /// Policies to compare with the bound. With none, the analysis of bursts is left out as well.
        pub policies: Choices<PolicyName, true> => { value: "LIST", default: "all" },
        /// Time limit of the search. Reading the trace and running the policies take additional time.
        pub time_limit: Option<Positive<Nanos>> =>
            { value: "TIME", default_words: "60s, or none with --iterations", heading: SEARCH },
        /// Distance between the two bounds at which the search stops. It is in percent of the lower bound. With 0%, the search goes on until it
        /// finds the optimum.
        pub gap: Gap => { value: "PERCENT", default: "0.1%", heading: SEARCH },
        /// Number of iterations after which the search stops, for --method prices only. Without --time-limit, the result is then the same on any
        /// machine.
        pub iterations: Option<Positive<u64>> => { value: "N", heading: SEARCH },
        /// Method of the search.
        pub method: Method => { value: "HOW", default: "prices", heading: SEARCH },
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
        Asked {
            latency: self.latency.as_ref().map_or(&[], |latency| slice::from_ref(&latency.0)),
            origins: self.origins.as_deref().unwrap_or_default(),
            service: &self.service,
        }
    }

    /// The limits of the search.
    pub(super) fn limits(&self) -> Limits {
        let time = match (self.time_limit, self.iterations) {
            (Some(limit), _) => Some(Duration::from_nanos(limit.0)),
            (None, Some(_)) => None,
            (None, None) => Some(TIME_LIMIT),
        };
        Limits { gap: self.gap.0, time, iterations: self.iterations.map_or(u64::MAX, Positive::get) }
    }

    /// What may bring bounds closer that are too far apart.
    pub(super) fn advice(&self) -> &'static str {
        match (self.method, self.time_limit, self.iterations) {
            // Where its search has ended, the linear programme is solved.
            (Method::Lp, ..) => {
                "the linear programme is solved, and its solution may hold fractions of objects: --method prices may find a better schedule"
            }
            (Method::Prices, _, None) => "a longer --time-limit may bring them closer",
            (Method::Prices, None, Some(_)) => "more --iterations may bring them closer",
            (Method::Prices, Some(_), Some(_)) => {
                "a longer --time-limit and more --iterations may bring them closer"
            }
        }
    }

    /// Refuses parameters that do not fit each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        let clock = self.asked().check()?.clock;
        self.service.check(&[*self.capacity])?;
        let refuse = |problem: &str| Err(Error::Parameters(problem.to_owned()));
        if self.no_bypass && clock == Clock::Timestamps {
            return refuse(
                "--no-bypass: expected slotted time: with timestamps several fetches can end between two requests, and the model does not say which of them then stays",
            );
        }
        match self.method {
            Method::Lp if !cfg!(feature = "lp") => {
                refuse("--method lp: built without HiGHS; rebuild with: cargo build --release --features lp")
            }
            Method::Lp if self.iterations.is_some() => {
                refuse("--iterations is for --method prices: --time-limit ends --method lp")
            }
            Method::Lp | Method::Prices => Ok(()),
        }
    }
}
