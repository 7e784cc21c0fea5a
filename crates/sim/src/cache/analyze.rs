//! What a trace is like, and how long latencies are on its own scale.

use serde::Serialize;
use trueplane_core::units::Nanos;

use super::compare::TraceFacts;
use super::scan::Scan;
use crate::trace::{Clock, Trace};
use crate::{Error, Observer};

/// The result of `cache analyze`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// `cache.analyze`.
    pub study: &'static str,
    /// The trace.
    pub trace: TraceFacts,
    /// Whether its times are steps, because it has no timestamps.
    pub slotted: bool,
    /// The mean time between requests, in ns or steps.
    pub interrequest_mean: Option<f64>,
    /// The latencies that were asked about.
    pub latencies: Vec<LatencyScale>,
}

/// A latency on the scale of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyScale {
    /// The latency in ns.
    pub latency: Nanos,
    /// Z: the mean number of requests that arrive during it.
    pub z: Option<f64>,
}

/// Reads a trace once.
///
/// # Errors
/// If the trace cannot be read or has no requests; if the observer interrupts.
pub fn analyze(trace: &Trace, latencies: &[Nanos], observer: &dyn Observer) -> Result<Analysis, Error> {
    let clock = if trace.fields().time { Clock::Timestamps } else { Clock::Steps };
    observer.stage("reading", trace.bytes());
    let mut scan = Scan::new();
    let mut reader = trace.reader(clock)?;
    let mut requests = Vec::new();
    let mut position = 0;
    while reader.next_chunk(&mut requests)? {
        scan.push(&requests);
        observer.advance(reader.position() - position);
        position = reader.position();
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
    }
    let summary = scan.finish();
    Ok(Analysis {
        study: "cache.analyze",
        slotted: clock == Clock::Steps,
        interrequest_mean: summary.mean_interarrival(),
        latencies: (latencies.iter().filter(|_| clock == Clock::Timestamps))
            .map(|&latency| LatencyScale { latency, z: summary.z_of(latency) })
            .collect(),
        trace: TraceFacts { name: trace.name().to_owned(), summary, skipped: reader.skipped().to_vec() },
    })
}
