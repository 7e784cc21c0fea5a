//! Reads a trace once.

use trueplane_study::{Error, Observer};
use trueplane_trace::Clock;

use super::found::{Found, LatencyScale};
use super::options::Options;
use super::uncached::Uncached;
use crate::beware;
use crate::latency::Latency;
use crate::scan::scan;
use crate::trace_facts::TraceFacts;

pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    let trace = options.source.open()?;
    let clock = if trace.fields().time { Clock::Timestamps } else { Clock::Steps };
    // Without timestamps a latency in time has no scale.
    let mut latencies = options.latency.distinct();
    latencies.retain(|_| clock == Clock::Timestamps);
    let constant: Vec<Latency> = latencies.iter().copied().map(Latency::Constant).collect();
    let mut uncached = Uncached::new(latencies);
    let (summary, skipped) = scan(&trace, clock, observer, |requests| {
        uncached.push(requests);
        Ok(())
    })?;
    let scale = |(latency, most_delayed_hits)| {
        let z = summary.z_of(latency);
        LatencyScale { latency, z, most_delayed_hits }
    };
    Ok(Found {
        clock,
        sizes: trace.fields().size,
        warning: beware::of_times(&trace, &summary, &constant),
        latencies: uncached.finish().map(scale).collect(),
        trace: TraceFacts { name: trace.name().to_owned(), summary, skipped },
    })
}
