//! The study: what the classical model predicts of every policy, what really happens, and who is fooled.

pub mod found;
pub mod plots;
pub mod report;
pub mod verdict;

use trueplane_study::metrics::ratio;
use trueplane_study::{Error, Observer};
use trueplane_trace::{Clock, Trace};

use crate::beware;
use crate::cell::{ClassicalTally, Tally};
use crate::grid::{self, Grid, Held, Options};
use crate::policy::PolicyName;
use found::{Comparison, LatencyFact, PolicyRun, Run, Settings, TraceFacts};

/// Simulates every policy under both models and says where they differ.
///
/// # Errors
/// See [`grid::run`].
pub fn compare(trace: &Trace, options: &Options, observer: &dyn Observer) -> Result<Comparison, Error> {
    Ok(comparison(trace, options, grid::run(trace, options, observer)?))
}

/// As [`compare`], over requests of `trace` that are in memory.
///
/// # Errors
/// See [`grid::run_held`].
pub fn compare_held(
    trace: &Trace,
    held: Held<'_>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Comparison, Error> {
    Ok(comparison(trace, options, grid::run_held(trace, held, options, observer)?))
}

fn comparison(trace: &Trace, options: &Options, grid: Grid) -> Comparison {
    let mut runs = Vec::new();
    for latency in 0..options.latencies.len() {
        for capacity in 0..options.capacities.len() {
            runs.push(run(&grid, options, latency, capacity));
        }
    }
    let slotted = options.clock == Clock::Steps;
    let by_bytes = grid.capacities.iter().any(|capacity| capacity.shape.by_bytes);
    let times = (!slotted).then(|| beware::of_times(trace, &grid.summary, &options.latencies)).flatten();
    let sizes = by_bytes.then(|| beware::of_sizes(trace, &grid.summary)).flatten();
    Comparison {
        study: "cache.compare",
        warnings: times.into_iter().chain(sizes).collect(),
        trace: TraceFacts { name: trace.name().to_owned(), summary: grid.summary, skipped: grid.skipped },
        time: if slotted { "slotted" } else { "continuous" },
        unit: if slotted { "steps" } else { "ns" },
        settings: Settings::of(options),
        runs,
        bound: None,
        capacities: options.capacities.len(),
    }
}

fn run(grid: &Grid, options: &Options, latency: usize, capacity: usize) -> Run {
    let policies: Vec<PolicyRun> = (options.policies.iter().enumerate())
        .map(|(index, &policy)| {
            let (refined, classical) =
                (grid.refined(index, capacity, latency), grid.classical(index, capacity));
            policy_run(policy, refined, classical, latency)
        })
        .collect();
    let resolved = &grid.capacities[capacity];
    let wanted = &options.latencies[latency];
    let is_coarse = options.clock == Clock::Timestamps && beware::is_coarse(&grid.summary, wanted);
    Run {
        latency: match wanted.constant() {
            Some(constant) => LatencyFact::Constant(constant.0),
            None => LatencyFact::Varying(wanted.to_string()),
        },
        capacity: resolved.shape.capacity,
        capacity_unit: if resolved.shape.by_bytes { "bytes" } else { "objects" },
        capacity_asked: resolved.asked.to_string(),
        lower_bound: None,
        upper_bound: None,
        verdict: verdict::on_run(&policies, is_coarse),
        policies,
    }
}

fn policy_run(policy: PolicyName, refined: &Tally, classical: &ClassicalTally, latency: usize) -> PolicyRun {
    let requests = refined.latency.count();
    let mean = refined.latency.mean();
    let predicted = ratio(classical.latency_totals[latency], requests);
    PolicyRun {
        policy,
        offline: policy.properties().offline,
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
