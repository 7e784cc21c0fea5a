//! The study: one log on one cluster, under several orders of users.

use rayon::prelude::*;
use trueplane_core::fair::cluster::WHOLE;

use super::comparison::compare;
use super::document::{LogFacts, Parameters, PolicyRun, ResourceFacts, Simulation, UserRun};
use super::options::{Capacity, Options};
use super::policy::{PolicyName, delta};
use super::setup::{Outcome, Setup};
use super::tally::{Sink, UserTally, jain};
use super::verdict;
use super::workload::{BILLION, JobLog};
use crate::{Error, Observer};

/// Nanoseconds in a second.
const SECOND: f64 = 1e9;

/// Runs `log` under every policy of `options`, each on an empty cluster from the first submission to the end of the last task, in
/// parallel. The tasks that start are told to `sinks`, one for every policy, or none at all.
///
/// Deterministic, whatever the number of threads. Memory for every policy: 16 bytes for each task that waits or runs.
///
/// # Errors
///
/// The log is empty or does not fit the capacity or the weights; there is no policy; the observer interrupts or a sink refuses a task.
pub fn simulate(
    log: &JobLog,
    options: &Options,
    observer: &dyn Observer,
    sinks: Vec<Sink<'_>>,
) -> Result<Simulation, Error> {
    let Some(&first) = options.policies.first() else {
        return Err(Error::Parameters("expected at least one policy".to_owned()));
    };
    let baseline = if options.policies.contains(&PolicyName::Drf) { PolicyName::Drf } else { first };
    let setup = Setup::new(log, &options.capacity, &options.weights, options.horizon, options.backfill)?;
    observer.stage("simulating", log.tasks.len() as u64 * options.policies.len() as u64);
    let mut sinks: Vec<Option<Sink<'_>>> = sinks.into_iter().map(Some).collect();
    sinks.resize_with(options.policies.len(), || None);
    let runs: Result<Vec<PolicyRun>, Error> = options
        .policies
        .par_iter()
        .zip(sinks)
        .map(|(&policy, sink)| {
            let order = policy.make(&setup.cluster, &setup.pool.scale, options.memory)?;
            Ok(summary(policy, &setup, setup.run(order, sink, observer)?))
        })
        .collect();
    let mut policies = runs?;
    reductions(&mut policies, baseline);
    let comparisons = match policies.iter().find(|run| run.policy == baseline.name()) {
        Some(base) => policies
            .iter()
            .filter(|run| run.policy != baseline.name())
            .map(|run| compare(base, run))
            .collect(),
        None => Vec::new(),
    };
    let mut simulation = Simulation {
        study: "fair.simulate",
        version: env!("CARGO_PKG_VERSION"),
        log: log_facts(log),
        parameters: parameters(&setup, options, baseline),
        policies,
        comparisons,
        verdict: Vec::new(),
    };
    simulation.verdict = verdict::on_simulation(&simulation);
    Ok(simulation)
}

/// What is known of a log without running it.
pub(super) fn log_facts(log: &JobLog) -> LogFacts {
    let start = log.tasks.first().map(|task| task.submitted).unwrap_or_default();
    LogFacts {
        name: log.name.clone(),
        tasks: log.tasks.len() as u64,
        users: log.users.len() as u64,
        resources: log.resources.clone(),
        span_s: log.end().since(start).0 as f64 / SECOND,
        left_out: log.left_out.iter().map(|left| (left.what.clone(), left.count)).collect(),
        cut: log.cut.iter().map(|cut| (cut.what.clone(), cut.count)).collect(),
    }
}

/// What there is of every resource.
pub(super) fn resource_facts(setup: &Setup<'_>) -> Vec<ResourceFacts> {
    let (pool, log) = (&setup.pool, setup.pool.log());
    let capacity = pool.capacity.iter().zip(&pool.scale).map(|(&amount, scale)| amount as f64 / scale);
    let mean = log.mean_use().into_iter().map(|mean| mean as f64 / BILLION as f64);
    log.resources
        .iter()
        .zip(capacity.zip(mean))
        .map(|(resource, (capacity, mean_use))| ResourceFacts {
            resource: resource.clone(),
            capacity,
            mean_use,
        })
        .collect()
}

fn parameters(setup: &Setup<'_>, options: &Options, baseline: PolicyName) -> Parameters {
    let mut weights = options.weights.0.clone();
    weights.retain(|(_, weight)| *weight != 1);
    Parameters {
        capacity: resource_facts(setup),
        capacity_relative: match options.capacity {
            Capacity::Relative(millionths) => Some(millionths as f64 / 1e6),
            Capacity::Absolute(_) => None,
        },
        policies: options.policies.iter().map(|policy| policy.name()).collect(),
        baseline: baseline.name(),
        delta: 1.0 - options.memory.forgotten_per_second(),
        delta_text: delta(options.memory),
        half_life_s: options.memory.half_life_span().0 as f64 / SECOND,
        weights,
        backfill: options.backfill,
        horizon_s: setup.span().0 as f64 / SECOND,
    }
}

/// What a run came to, but for what the baseline has to be known for.
pub(super) fn summary(policy: PolicyName, setup: &Setup<'_>, outcome: Outcome<'_>) -> PolicyRun {
    let Outcome { tally, events } = outcome;
    let span = setup.span().0 as f64;
    let share = |user: &UserTally| user.held as f64 / span / WHOLE as f64;
    let log = setup.pool.log();
    let users: Vec<UserRun> = (0u32..)
        .zip(tally.users.iter().zip(&log.users))
        .map(|(index, (user, name))| UserRun {
            user: name.clone(),
            weight: setup.cluster.weight(index),
            submitted: user.submitted,
            completed: user.completed,
            skipped: user.skipped,
            completed_by_horizon: user.completed_by_horizon,
            completion_ratio: user.completed_by_horizon as f64 / user.submitted.max(1) as f64,
            mean_wait_s: user.mean_wait() / SECOND,
            wait_reduction: None,
            long_run_share: share(user),
        })
        .collect();
    let total = |of: fn(&UserTally) -> u64| tally.users.iter().map(of).sum();
    // Who has nothing that can run has no share in anything.
    let active = || tally.users.iter().filter(|user| user.started > 0);
    let quantile = |q| tally.waits.quantile(q) as f64 / SECOND;
    PolicyRun {
        policy: policy.name(),
        tasks: total(|user| user.submitted),
        completed: total(|user| user.completed),
        skipped: total(|user| user.skipped),
        completed_by_horizon: total(|user| user.completed_by_horizon),
        waited: tally.waits.count() - tally.at_once,
        mean_wait_s: tally.waits.mean() / SECOND,
        median_wait_s: quantile(0.5),
        p99_wait_s: quantile(0.99),
        max_wait_s: quantile(1.0),
        users_mean_wait_s: active().map(UserTally::mean_wait).sum::<f64>()
            / active().count().max(1) as f64
            / SECOND,
        wait_reduction: None,
        users_wait_reduction: None,
        makespan_s: tally.last_end.since(setup.start).0 as f64 / SECOND,
        live_tree_events: events,
        backfilled: tally.backfilled,
        jain_now: tally.jain_now(),
        contended_s: tally.contended as f64 / SECOND,
        jain_long_run: jain(active().map(share)),
        utilization: tally
            .used
            .iter()
            .zip(setup.cluster.capacity())
            .map(|(&used, &capacity)| used as f64 / span / capacity as f64)
            .collect(),
        over_time: setup
            .tracked
            .iter()
            .enumerate()
            .map(|(row, &user)| (log.users[user as usize].clone(), tally.over_time.points(row)))
            .collect(),
        users,
    }
}

/// The part of `before` that `after` saves; none if there is nothing to save.
pub(super) fn reduction(before: f64, after: f64) -> Option<f64> {
    (before > 0.0).then(|| 1.0 - after / before)
}

/// Fills in what every run saves against the baseline.
fn reductions(policies: &mut [PolicyRun], baseline: PolicyName) {
    let Some(base) = policies.iter().find(|run| run.policy == baseline.name()).cloned() else { return };
    for run in policies.iter_mut().filter(|run| run.policy != baseline.name()) {
        run.wait_reduction = reduction(base.mean_wait_s, run.mean_wait_s);
        run.users_wait_reduction = reduction(base.users_mean_wait_s, run.users_mean_wait_s);
        for (user, before) in run.users.iter_mut().zip(&base.users) {
            user.wait_reduction = reduction(before.mean_wait_s, user.mean_wait_s);
        }
    }
}
