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
    // Of latencies that nobody asked for, those are told that these timestamps can tell.
    let is_coarse = |latency: &Latency| beware::is_coarse(&summary, latency);
    let are_defaults = options.latency == Options::default().latency;
    let told: Vec<Latency> = match are_defaults && !constant.iter().all(is_coarse) {
        true => constant.into_iter().filter(|latency| !is_coarse(latency)).collect(),
        false => constant,
    };
    let is_told = |of: &LatencyScale| told.contains(&Latency::Constant(of.latency));
    let scale = |(latency, most_delayed_hits)| {
        let z = summary.z_of(latency);
        LatencyScale { latency, z, most_delayed_hits }
    };
    Ok(Found {
        clock,
        sizes: trace.fields().size,
        warning: beware::of_times(&trace, &summary, &told),
        latencies: uncached.finish().map(scale).filter(is_told).collect(),
        trace: TraceFacts { name: trace.name().to_owned(), summary, skipped },
    })
}
