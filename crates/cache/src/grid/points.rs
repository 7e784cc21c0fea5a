//! The points of a grid, out of the tallies of its cells.

use trueplane_study::metrics::ratio;
use trueplane_study::{Error, Observer};
use trueplane_trace::{Clock, Trace};

use super::found::{Point, Points, PolicyRun};
use super::plan::Plan;
use super::run::{Held, Tallies, run, run_held};
use crate::beware;
use crate::cell::{ClassicalTally, Tally};
use crate::policy::PolicyName;
use crate::trace_facts::TraceFacts;

/// Simulates every policy under both models.
///
/// Deterministic, whatever the number of threads. Memory: proportional to the objects of the trace, and to its requests
/// only if there is an offline policy.
///
/// # Errors
/// If the trace cannot be read, has no requests, or does not fit the plan; if the observer interrupts.
pub fn simulate(trace: &Trace, plan: &Plan, observer: &dyn Observer) -> Result<Points, Error> {
    Ok(points(trace, plan, run(trace, plan, observer)?))
}

/// Like [`simulate`], over requests of `trace` that are in memory.
///
/// # Errors
/// If the trace does not fit the plan; if the observer interrupts.
pub fn simulate_held(
    trace: &Trace,
    held: Held<'_>,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<Points, Error> {
    Ok(points(trace, plan, run_held(trace, held, plan, observer)?))
}

fn points(trace: &Trace, plan: &Plan, tallies: Tallies) -> Points {
    let mut points = Vec::new();
    for latency in 0..plan.latencies.len() {
        for capacity in 0..plan.capacities.len() {
            points.push(point(&tallies, plan, latency, capacity));
        }
    }
    let by_bytes = points.iter().any(|point| point.by_bytes);
    let has_times = plan.clock == Clock::Timestamps;
    let times = has_times.then(|| beware::of_times(trace, &tallies.summary, &plan.latencies)).flatten();
    let fetches = beware::of_fetches(&tallies.summary, &plan.latencies);
    let sizes = by_bytes.then(|| beware::of_sizes(trace, &tallies.summary)).flatten();
    Points {
        trace: TraceFacts {
            name: trace.name().to_owned(),
            summary: tallies.summary,
            skipped: tallies.skipped,
        },
        clock: plan.clock,
        warnings: times.into_iter().chain(sizes).chain(fetches).collect(),
        capacities: plan.capacities.len(),
        points,
    }
}

fn point(tallies: &Tallies, plan: &Plan, latency: usize, capacity: usize) -> Point {
    let policy = |(index, &policy): (usize, &PolicyName)| {
        let (refined, classical) =
            (tallies.refined(index, capacity, latency), tallies.classical(index, capacity));
        policy_run(policy, refined, classical, latency)
    };
    let resolved = &tallies.capacities[capacity];
    let wanted = &plan.latencies[latency];
    Point {
        latency: wanted.clone(),
        capacity: resolved.shape.capacity,
        by_bytes: resolved.shape.by_bytes,
        asked: resolved.asked,
        is_coarse: plan.clock == Clock::Timestamps && beware::is_coarse(&tallies.summary, wanted),
        bounds: None,
        policies: plan.policies.iter().enumerate().map(policy).collect(),
    }
}

fn policy_run(policy: PolicyName, refined: &Tally, classical: &ClassicalTally, latency: usize) -> PolicyRun {
    let requests = refined.latency.count();
    let mean = refined.latency.mean();
    let predicted = ratio(classical.latency_totals[latency], requests);
    PolicyRun {
        policy,
        requests,
        hits: refined.hits,
        delayed_hits: refined.delayed_hits,
        misses: refined.misses,
        latency_total: refined.latency.sum(),
        latency_mean: mean,
        latency_p50: refined.latency.quantile(0.5),
        latency_p99: refined.latency.quantile(0.99),
        latency_p999: refined.latency.quantile(0.999),
        classical_hits: classical.hits,
        classical_hit_rate: ratio(u128::from(classical.hits), requests),
        classical_latency_mean: predicted,
        classical_underestimate: if mean > 0.0 { 1.0 - predicted / mean } else { 0.0 },
        above_optimum: None,
        above_optimum_at_least: None,
        cdf: refined.latency.cumulative(),
    }
}
