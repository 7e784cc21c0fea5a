//! The bound beside the policies of `cache compare`: how far each is above the optimum, at every point of the grid.

use trueplane_study::{Error, Observer};
use trueplane_trace::Trace;
use trueplane_units::Bytes;

use super::problem::{self, Options, Problem, Read};
use super::search::{Limits, search};
use super::study::verified;
use super::verdict;
use crate::compare::compare_held;
use crate::compare::found::Comparison;
use crate::compare::found::Effort;
use crate::engine::Shape;
use crate::grid;
use crate::grid::{Capacity, Held};
use crate::latency::Latency;

/// As [`compare`](crate::compare::compare), with a bound for every point of the grid, each looked for within
/// `limits` of its own. The trace is read once and held in memory.
///
/// The bound is that of a cache of the same capacity that is fully associative, which no division into sets can beat.
///
/// # Errors
/// Those of [`compare`](crate::compare::compare), and if the trace does not fit the model of the bound; if bounds
/// contradict each other or the simulator.
pub fn compare_bounded(
    trace: &Trace,
    options: &grid::Options,
    limits: &Limits,
    observer: &dyn Observer,
) -> Result<Comparison, Error> {
    let mut read = problem::read(trace, options.clock, None, observer)?;
    let resolved = grid::capacities(trace, &read.1, options)?;
    let points = options.latencies.iter().flat_map(|latency| {
        resolved.iter().map(move |grid::Resolved { shape, .. }| point(options, latency, shape))
    });
    let points: Vec<Options> = points.collect();
    read = pose_unlike(trace, read, &points, observer)?;
    let mut bounds = Vec::new();
    for point in &points {
        let problem = Problem::pose(trace, read, point, observer).map_err(without_it)?;
        let solution = search(&problem.instance, limits, observer);
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        verified(&problem, point, &solution)?;
        bounds.push((solution.lower, solution.upper));
        read = problem.into_read();
    }
    let (requests, summary, skipped) = &read;
    let mut comparison = compare_held(trace, Held { requests, summary, skipped }, options, observer)?;
    let effort = Effort::of(limits);
    for (run, (lower, upper)) in comparison.runs.iter_mut().zip(bounds) {
        run.enter_bounds(lower, upper, true);
        run.verdict.extend(verdict::on_run(run));
        run.verdict.extend(verdict::on_gap(run, &effort));
    }
    comparison.bound = Some(effort);
    Ok(comparison)
}

/// Poses the points of a grid whose instances can be wrong in ways of their own, so that no search is made before the refusal of
/// another point: sizes are looked at if capacities are in bytes, and totals depend on the latency.
fn pose_unlike(
    trace: &Trace,
    mut read: Read,
    points: &[Options],
    observer: &dyn Observer,
) -> Result<Read, Error> {
    let by_bytes = |point: &Options| matches!(point.capacity, Capacity::Bytes(_));
    let alike = |a: &Options, b: &Options| a.latency == b.latency && by_bytes(a) == by_bytes(b);
    // The first point is posed anyway before any search.
    for (index, point) in points.iter().enumerate().skip(1) {
        if !points[..index].iter().any(|earlier| alike(earlier, point)) {
            read = Problem::pose(trace, read, point, observer).map_err(without_it)?.into_read();
        }
    }
    Ok(read)
}

/// One point of a grid, as the model of the bound sees it.
fn point(options: &grid::Options, latency: &Latency, shape: &Shape) -> Options {
    let capacity = shape.capacity;
    Options {
        latency: latency.clone(),
        capacity: if shape.by_bytes { Capacity::Bytes(Bytes(capacity)) } else { Capacity::Objects(capacity) },
        clock: options.clock,
        hit_latency: options.hit_latency,
        warmup: options.warmup,
        bypass: true,
        bypass_oversized: options.bypass_oversized,
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
