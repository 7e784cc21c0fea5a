//! The study of figures 4.9 and 4.11 of the thesis: SDRF against DRF on clusters of several sizes, with memories of several lengths.

pub mod found;
mod report;
pub mod verdict;

use rayon::prelude::*;
use trueplane_study::{Error, Observer};
use trueplane_units::Nanos;

use crate::Memory;
use crate::comparison::compare;
use crate::document::PolicyRun;
use crate::options::{Capacity, Weights};
use crate::order::make;
use crate::policy::PolicyName;
use crate::setup::Setup;
use crate::simulate::{log_facts, reduction, resource_facts, summary};
use crate::words::delta;
use crate::workload::JobLog;
use found::{Row, Size, Sweep};

/// What to try.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// Sizes of the cluster, in millionths of the mean use ([`Capacity::Relative`]).
    pub capacities: Vec<u64>,
    /// Memories of SDRF.
    pub memories: Vec<Memory>,
    /// What users have a right to.
    pub weights: Weights,
    /// Whether smaller tasks may pass the one that is next and does not fit.
    pub backfill: bool,
    /// As in [`super::options::Options::horizon`].
    pub horizon: Option<Nanos>,
}

/// Runs `log` on every size of the cluster under DRF, and under SDRF with every memory; all in parallel, each from the first submission to
/// the end of the last task.
///
/// Deterministic, whatever the number of threads. Memory for every thread: 16 bytes for each task that waits or runs.
///
/// # Errors
///
/// The log is empty or does not fit the weights, there is nothing to try, or the observer interrupts.
pub fn sweep(log: &JobLog, options: &SweepOptions, observer: &dyn Observer) -> Result<Sweep, Error> {
    if options.capacities.is_empty() || options.memories.is_empty() {
        return Err(Error::Parameters("expected at least one capacity and one δ".to_owned()));
    }
    let unhindered = log.unhindered();
    let setup = |&part: &u64| {
        Setup::new(
            log,
            &unhindered,
            &Capacity::Relative(part),
            &options.weights,
            options.horizon,
            options.backfill,
        )
    };
    let setups: Vec<Setup<'_>> = options.capacities.iter().map(setup).collect::<Result<_, _>>()?;
    // DRF first.
    let memories: Vec<Option<Memory>> =
        std::iter::once(None).chain(options.memories.iter().copied().map(Some)).collect();
    let jobs: Vec<(&Setup<'_>, Option<Memory>)> =
        setups.iter().flat_map(|setup| memories.iter().map(move |&memory| (setup, memory))).collect();
    observer.stage("simulating", log.tasks.len() as u64 * jobs.len() as u64);
    let run = |(setup, memory): (&Setup<'_>, Option<Memory>)| {
        let policy = if memory.is_some() { PolicyName::Sdrf } else { PolicyName::Drf };
        // DRF does not look at it.
        let order = make(policy, &setup.cluster, &setup.pool.scale, memory.unwrap_or(options.memories[0]))?;
        Ok(summary(policy, setup, setup.run(order, None, observer)?).0)
    };
    let runs: Vec<PolicyRun> = jobs.into_par_iter().map(run).collect::<Result<_, Error>>()?;
    let (mut sizes, mut rows) = (Vec::new(), Vec::new());
    for ((setup, &part), runs) in
        setups.iter().zip(&options.capacities).zip(runs.chunks_exact(memories.len()))
    {
        let (capacity, drf) = (part as f64 / 1e6, &runs[0]);
        sizes.push(Size {
            capacity,
            resources: resource_facts(setup),
            skipped: drf.skipped,
            waited: drf.waited,
            mean_wait_s: drf.mean_wait_s,
            users_mean_wait_s: drf.users_mean_wait_s,
        });
        let of_sdrf = options.memories.iter().zip(&runs[1..]);
        rows.extend(of_sdrf.map(|(&memory, sdrf)| row(capacity, memory, drf, sdrf)));
    }
    let mut sweep = Sweep {
        study: "fair.sweep",
        version: env!("CARGO_PKG_VERSION"),
        log: log_facts(log, &unhindered),
        backfill: options.backfill,
        horizon_s: setups[0].span().0 as f64 / 1e9,
        sizes,
        rows,
        verdict: Vec::new(),
    };
    sweep.verdict = verdict::on_sweep(&sweep);
    Ok(sweep)
}

fn row(capacity: f64, memory: Memory, drf: &PolicyRun, sdrf: &PolicyRun) -> Row {
    let against = compare(drf, sdrf);
    Row {
        capacity,
        delta: 1.0 - memory.forgotten_per_second(),
        delta_text: delta(memory),
        forgotten: memory.forgotten_per_second(),
        half_life_s: memory.half_life_span().0 as f64 / 1e9,
        mean_wait_s: sdrf.mean_wait_s,
        wait_reduction: reduction(drf.mean_wait_s, sdrf.mean_wait_s),
        users_mean_wait_s: sdrf.users_mean_wait_s,
        users_wait_reduction: reduction(drf.users_mean_wait_s, sdrf.users_mean_wait_s),
        users_wait_less: against.users_wait_less,
        users_wait_more: against.users_wait_more,
        completed_by_horizon_change: against.completed_by_horizon_change,
        live_tree_events: sdrf.live_tree_events,
        events_per_task: sdrf.live_tree_events as f64 / sdrf.completed.max(1) as f64,
    }
}
