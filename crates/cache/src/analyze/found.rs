//! What `cache analyze` finds.

use trueplane_study::metrics::ratio;
use trueplane_trace::Clock;
use trueplane_units::Nanos;

use crate::trace_facts::TraceFacts;

/// Results of `cache analyze`: facts of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The trace.
    pub trace: TraceFacts,
    /// Meaning of its times: steps, if it has no timestamps.
    pub clock: Clock,
    /// Its requests have sizes.
    pub sizes: bool,
    /// Warning of what makes results doubtful, in a plain sentence.
    pub warning: Option<String>,
    /// Latencies that were asked about; none if there are no timestamps.
    pub latencies: Vec<LatencyScale>,
}

/// A latency on the scale of a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LatencyScale {
    /// Latency that was asked about.
    pub latency: Nanos,
    /// Z: the latency over the mean time between requests, whatever their objects.
    pub z: Option<f64>,
    /// Delayed hits that a cache can have at most.
    pub most_delayed_hits: u64,
}

impl LatencyScale {
    /// Share of delayed hits that a cache can have at most of so many requests.
    pub fn most_delayed_share(&self, requests: u64) -> f64 {
        ratio(self.most_delayed_hits.into(), requests)
    }
}
