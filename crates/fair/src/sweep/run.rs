//! Runs a log on every cluster with every memory.

use trueplane_study::{Error, Observer, cases};

use super::found::{Found, Row, Size};
use super::options::Options;
use crate::Memory;
use crate::capacity::{Capacity, Part};
use crate::comparison::compare;
use crate::delta::DeltaPerSecond;
use crate::facts::{LogFacts, ResourceFacts};
use crate::outcome::{PolicyRun, change, summary};
use crate::policy::{PolicyName, Sdrf};
use crate::setup::Setup;
use crate::weights::UserWeights;
use crate::workload::JobLog;

/// Runs `log` on every size of the cluster under DRF, and under SDRF with every memory; all in parallel, each from the first submission to
/// the end of the last task.
///
/// Deterministic, whatever the number of threads. Memory for every thread: 16 bytes for each task that waits or runs.
///
/// # Errors
///
/// The log is empty or does not fit the weights, there is nothing to try, or the observer interrupts.
pub fn on_log(
    log: &JobLog,
    weights: &UserWeights,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    let capacities = options.capacity.distinct();
    let deltas = options.delta.distinct();
    let unhindered = log.unhindered();
    let scenario = &options.scenario;
    let setup = |&part: &Part| {
        let capacity = Capacity::Relative(part);
        Setup::new(log, &unhindered, &capacity, weights, scenario.horizon(), scenario.backfill)
    };
    let setups: Vec<Setup<'_>> = capacities.iter().map(setup).collect::<Result<_, _>>()?;
    // DRF first.
    let memories: Vec<Option<Memory>> =
        std::iter::once(None).chain(deltas.iter().map(|delta| Some(delta.0))).collect();
    let runs: Vec<(&Setup<'_>, Option<Memory>)> =
        setups.iter().flat_map(|setup| memories.iter().map(move |&memory| (setup, memory))).collect();
    observer.stage("simulating", log.tasks.len() as u64 * runs.len() as u64);
    let runs = cases::over(&runs, observer, |&(setup, memory)| {
        let policy = if memory.is_some() { PolicyName::Sdrf } else { PolicyName::Drf };
        let order = Box::new(Sdrf::counting(&setup.cluster, memory));
        Ok(summary(policy, setup, setup.run(order, None, observer)?).0)
    })?;
    let (mut sizes, mut rows) = (Vec::new(), Vec::new());
    for ((setup, &capacity), runs) in setups.iter().zip(&capacities).zip(runs.chunks_exact(memories.len())) {
        let drf = &runs[0];
        sizes.push(Size {
            capacity,
            resources: ResourceFacts::of(setup),
            skipped: drf.skipped,
            waited: drf.waited,
            wait_mean: drf.wait_mean,
            users_wait_mean: drf.users_wait_mean,
        });
        rows.extend(deltas.iter().zip(&runs[1..]).map(|(&delta, sdrf)| row(capacity, delta, drf, sdrf)));
    }
    Ok(Found {
        log: LogFacts::of(log, &unhindered),
        horizon: setups.first().map(Setup::span).unwrap_or_default(),
        sizes,
        rows,
    })
}

fn row(capacity: Part, delta: DeltaPerSecond, drf: &PolicyRun, sdrf: &PolicyRun) -> Row {
    let against = compare(drf, sdrf);
    let events = sdrf.changes_of_order.unwrap_or_default();
    Row {
        capacity,
        delta,
        wait_mean: sdrf.wait_mean,
        wait_mean_change: change(drf.wait_mean, sdrf.wait_mean),
        users_wait_mean: sdrf.users_wait_mean,
        users_wait_mean_change: change(drf.users_wait_mean, sdrf.users_wait_mean),
        users_wait_less: against.users_wait_less,
        users_wait_more: against.users_wait_more,
        completed_by_horizon_change: against.completed_by_horizon_change,
        live_tree_events: events,
        events_per_task: events as f64 / sdrf.completed.max(1) as f64,
    }
}
