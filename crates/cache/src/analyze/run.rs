//! Reads a trace once.

use trueplane_study::{Error, Observer};
use trueplane_trace::Clock;

use super::found::{Found, LatencyScale};
use super::options::Options;
use crate::beware;
use crate::latency::Latency;
use crate::scan::scan;
use crate::trace_facts::TraceFacts;

pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    let trace = options.source.open()?;
    let clock = if trace.fields().time { Clock::Timestamps } else { Clock::Steps };
    let (summary, skipped) = scan(&trace, clock, observer, |_| Ok(()))?;
    // Without timestamps a latency in time has no scale.
    let latencies = options.latency.iter().copied().filter(|_| clock == Clock::Timestamps);
    let constant: Vec<Latency> = latencies.clone().map(Latency::Constant).collect();
    Ok(Found {
        clock,
        sizes: trace.fields().size,
        warning: beware::of_times(&trace, &summary, &constant),
        latencies: latencies.map(|latency| LatencyScale { latency, z: summary.z_of(latency) }).collect(),
        trace: TraceFacts { name: trace.name().to_owned(), summary, skipped },
    })
}
