//! Simulates the grid that was asked for.

use trueplane_study::{Error, Observer};
use trueplane_trace::Trace;

use super::bounded::simulate_bounded;
use super::found::Found;
use super::options::Options;
use crate::grid::{Plan, simulate};
use crate::service::Timing;

/// Simulates every policy under both models, and looks for bounds where they are asked for.
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    options.check()?;
    let trace = options.source.open()?;
    let plan = plan(options, &trace)?;
    let limits = options.limits();
    let grid = match &limits {
        Some(limits) => simulate_bounded(&trace, &plan, limits, observer)?,
        None => simulate(&trace, &plan, observer)?,
    };
    Ok(Found { grid, ways: plan.ways, limits })
}

/// The grid that the options describe on a trace.
fn plan(options: &Options, trace: &Trace) -> Result<Plan, Error> {
    let Timing { clock, latencies, hit_latency } = options.asked().on(trace)?;
    Ok(Plan {
        policies: options.policies.to_vec(),
        latencies,
        capacities: options.capacity.distinct(),
        clock,
        hit_latency,
        warmup: options.service.warmup,
        ways: options.ways.map(|ways| *ways),
        mad_memory: options.mad_memory,
        search: options.eviction,
        window: options.tinylfu_window,
        seed: options.service.seed,
        bypass_oversized: options.service.bypass_oversized,
    })
}
