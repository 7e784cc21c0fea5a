//! Bounds beside the policies: how far each is above the optimum, at every point of the grid.

use trueplane_study::{Error, Observer};
use trueplane_trace::Trace;
use trueplane_units::Bytes;

use crate::bound::problem::{self, Problem, ReadTrace, Scenario};
use crate::bound::replay::verified;
use crate::bound::{Limits, search};
use crate::bounds::Bounds;
use crate::capacity::Capacity;
use crate::engine::Shape;
use crate::grid::{Held, Plan, Points, Resolved, capacities, simulate_held};
use crate::latency::Latency;

/// As [`simulate`](crate::grid::simulate), with a bound for every point of the grid, each looked for within
/// `limits` of its own. The trace is read once and held in memory.
///
/// The bound is that of a cache of the same capacity that is fully associative, which no division into sets can beat.
///
/// # Errors
/// Those of [`simulate`](crate::grid::simulate), and if the trace does not fit the model of the bound; if bounds
/// contradict each other or the simulator.
pub fn simulate_bounded(
    trace: &Trace,
    plan: &Plan,
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Points, Error> {
    let mut read = problem::read(trace, plan.clock, None, observer)?;
    let resolved = capacities(trace, &read.summary, plan, read.warmup(plan.warmup))?;
    let scenarios = plan.latencies.iter().flat_map(|latency| {
        resolved.iter().map(move |Resolved { shape, .. }| scenario(plan, latency, shape))
    });
    let scenarios: Vec<Scenario> = scenarios.collect();
    read = pose_unlike(trace, read, &scenarios, observer)?;
    let mut bounds = Vec::new();
    for scenario in &scenarios {
        let problem = Problem::pose(trace, read, scenario, observer).map_err(without_it)?;
        let solution = search(&problem.instance, limits, observer);
        observer.go_on()?;
        verified(&problem, scenario, &solution)?;
        bounds.push(Bounds { lower: solution.lower, upper: solution.upper });
        read = problem.into_read();
    }
    let ReadTrace { requests, summary, skipped } = &read;
    let mut found = simulate_held(trace, Held { requests, summary, skipped }, plan, observer)?;
    for (point, bounds) in found.points.iter_mut().zip(bounds) {
        point.enter_bounds(bounds, true);
    }
    Ok(found)
}

/// Poses the points of a grid whose instances can be wrong in ways of their own, so that no search is made before the refusal of
/// another point: sizes are looked at if capacities are in bytes, and totals depend on the latency.
fn pose_unlike(
    trace: &Trace,
    mut read: ReadTrace,
    scenarios: &[Scenario],
    observer: &dyn Observer,
) -> Result<ReadTrace, Error> {
    let by_bytes = |scenario: &Scenario| matches!(scenario.capacity, Capacity::Bytes(_));
    let alike = |a: &Scenario, b: &Scenario| a.latency == b.latency && by_bytes(a) == by_bytes(b);
    // The first point is posed anyway before any search.
    for (index, scenario) in scenarios.iter().enumerate().skip(1) {
        if !scenarios[..index].iter().any(|earlier| alike(earlier, scenario)) {
            read = Problem::pose(trace, read, scenario, observer).map_err(without_it)?.into_read();
        }
    }
    Ok(read)
}

/// One point of a grid, as the model of the bound sees it.
fn scenario(plan: &Plan, latency: &Latency, shape: &Shape) -> Scenario {
    let capacity = shape.capacity;
    Scenario {
        latency: latency.clone(),
        capacity: if shape.by_bytes { Capacity::Bytes(Bytes(capacity)) } else { Capacity::Objects(capacity) },
        clock: plan.clock,
        hit_latency: plan.hit_latency,
        warmup: plan.warmup,
        bypass: true,
        bypass_oversized: plan.bypass_oversized,
        requests: None,
    }
}

/// Says that the comparison could be had without the bound.
fn without_it(error: Error) -> Error {
    match error {
        Error::Parameters(message) => Error::Parameters(format!("{message}, or leave out --bound")),
        other => other,
    }
}
