//! The study: one log on one cluster, under several orders of users.

mod plots;
pub(crate) mod report;
pub mod verdict;

use rayon::prelude::*;
use trueplane_study::{Error, Observer};

use crate::cluster::WHOLE;
use crate::comparison::compare;
use crate::document::{
    Comparison, Counted, LogFacts, Parameters, PolicyRun, ResourceFacts, Simulation, UserRun, UserWeight,
};
use crate::options::{Capacity, Options};
use crate::order::make;
use crate::policy::PolicyName;
use crate::setup::{Outcome, Setup};
use crate::shares::SharesOverTime;
use crate::tally::{Sink, UserTally, jain};
use crate::words::delta;
use crate::workload::{BILLION, JobLog, LeftOut, Unhindered};

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
    let unhindered = log.unhindered();
    let mut setup =
        Setup::new(log, &unhindered, &options.capacity, &options.weights, options.horizon, options.backfill)?;
    setup.track();
    observer.stage("simulating", log.tasks.len() as u64 * options.policies.len() as u64);
    let mut sinks: Vec<Option<Sink<'_>>> = sinks.into_iter().map(Some).collect();
    sinks.resize_with(options.policies.len(), || None);
    let runs: Result<Vec<(PolicyRun, SharesOverTime)>, Error> = options
        .policies
        .par_iter()
        .zip(sinks)
        .map(|(&policy, sink)| {
            let order = make(policy, &setup.cluster, &setup.pool.scale, options.memory)?;
            Ok(summary(policy, &setup, setup.run(order, sink, observer)?))
        })
        .collect();
    let (mut policies, shares): (Vec<PolicyRun>, Vec<SharesOverTime>) = runs?.into_iter().unzip();
    reductions(&mut policies, baseline);
    let comparisons: Vec<Comparison> = match policies.iter().find(|run| run.policy == baseline) {
        Some(base) => {
            policies.iter().filter(|run| run.policy != baseline).map(|run| compare(base, run)).collect()
        }
        None => Vec::new(),
    };
    let drawn = drawn(&setup, &comparisons);
    for (run, shares) in policies.iter_mut().zip(&shares) {
        run.over_time = drawn.iter().map(|&row| (name_of(&setup, row), shares.points(row))).collect();
    }
    let mut simulation = Simulation {
        study: "fair.simulate",
        version: env!("CARGO_PKG_VERSION"),
        log: log_facts(log, &unhindered),
        parameters: parameters(&setup, options, baseline),
        policies,
        comparisons,
        verdict: Vec::new(),
    };
    simulation.verdict = verdict::on_simulation(&simulation);
    Ok(simulation)
}

/// The name of the user in a row of shares over time.
fn name_of(setup: &Setup<'_>, row: usize) -> String {
    setup.pool.log().users[setup.tracked[row] as usize].clone()
}

/// Whose shares over time are drawn, as rows of those that were kept: the greediest, and of every comparison who gains most and who loses
/// most; as many as have a colour.
fn drawn(setup: &Setup<'_>, comparisons: &[Comparison]) -> Vec<usize> {
    const GREEDIEST: usize = 3;
    const COLORS: usize = 9;
    let mut rows: Vec<usize> = (0..setup.tracked.len().min(GREEDIEST)).collect();
    let changes = comparisons.iter().flat_map(|of| [&of.gains_most, &of.loses_most]).flatten();
    for change in changes {
        let row = (0..setup.tracked.len()).find(|&row| name_of(setup, row) == change.user);
        rows.extend(row.filter(|row| !rows.contains(row)));
    }
    rows.truncate(COLORS);
    rows
}

/// What is known of a log without running it.
pub(super) fn log_facts(log: &JobLog, unhindered: &Unhindered) -> LogFacts {
    let counted = |of: &[LeftOut]| {
        of.iter().map(|of| Counted { what: of.what.clone(), count: of.count }).collect::<Vec<_>>()
    };
    let start = log.tasks.first().map(|task| task.submitted).unwrap_or_default();
    LogFacts {
        name: log.name.clone(),
        tasks: log.tasks.len() as u64,
        users: log.users.len() as u64,
        resources: log.resources.clone(),
        span_s: unhindered.end.since(start).0 as f64 / SECOND,
        left_out: counted(&log.left_out),
        cut: counted(&log.cut),
        censored: log.censored.len() as u64,
    }
}

/// What there is of every resource.
pub(super) fn resource_facts(setup: &Setup<'_>) -> Vec<ResourceFacts> {
    let (pool, log) = (&setup.pool, setup.pool.log());
    let capacity = pool.capacity.iter().zip(&pool.scale).map(|(&amount, scale)| amount as f64 / scale);
    let mean = setup.unhindered.mean_use.iter().map(|&mean| mean as f64 / BILLION as f64);
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
    let weights = options.weights.0.iter().filter(|(_, weight)| *weight != 1);
    Parameters {
        capacity: resource_facts(setup),
        capacity_relative: match options.capacity {
            Capacity::Relative(millionths) => Some(millionths as f64 / 1e6),
            Capacity::Absolute(_) => None,
        },
        policies: options.policies.clone(),
        baseline,
        delta: 1.0 - options.memory.forgotten_per_second(),
        delta_text: delta(options.memory),
        half_life_s: options.memory.half_life_span().0 as f64 / SECOND,
        weights: weights.map(|(user, weight)| UserWeight { user: user.clone(), weight: *weight }).collect(),
        backfill: options.backfill,
        horizon_s: setup.span().0 as f64 / SECOND,
    }
}

/// What a run came to, but for what the baseline has to be known for; and the shares over time.
pub(super) fn summary(
    policy: PolicyName,
    setup: &Setup<'_>,
    outcome: Outcome<'_>,
) -> (PolicyRun, SharesOverTime) {
    let Outcome { tally, events } = outcome;
    let span = setup.span().0 as f64;
    let share = |user: &UserTally| user.held as f64 / span / WHOLE as f64;
    let log = setup.pool.log();
    let mut censored = vec![0; log.users.len()];
    log.censored.iter().for_each(|&task| censored[log.tasks[task as usize].user as usize] += 1);
    let users: Vec<UserRun> = (0u32..)
        .zip(tally.users.iter().zip(&log.users))
        .map(|(index, (user, name))| UserRun {
            user: name.clone(),
            weight: setup.cluster.weight(index),
            submitted: user.submitted,
            completed: user.completed,
            skipped: user.skipped,
            censored: censored[index as usize],
            completed_by_horizon: user.completed_by_horizon,
            completion_ratio: part(user.completed_by_horizon, user.submitted - censored[index as usize]),
            mean_wait_s: (user.started > 0).then(|| user.mean_wait() / SECOND),
            wait_reduction: None,
            long_run_share: share(user),
        })
        .collect();
    let total = |of: fn(&UserTally) -> u64| tally.users.iter().map(of).sum();
    // Who has nothing that can run has no share in anything.
    let active = || tally.users.iter().filter(|user| user.started > 0);
    let quantile = |q| tally.waits.quantile(q) as f64 / SECOND;
    let run = PolicyRun {
        policy,
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
        first_instant_part: match tally.waits.sum() {
            0 => 0.0,
            all => tally.waited_of_first as f64 / all as f64,
        },
        live_tree_events: if policy.properties().live_tree { events } else { 0 },
        changes_of_order: events,
        backfilled: tally.backfilled,
        jain_now: tally.jain_now(),
        contended_s: tally.contended as f64 / SECOND,
        contended_to_end_s: tally.contended_to_end as f64 / SECOND,
        jain_long_run: jain(active().map(share)),
        utilization: tally
            .used
            .iter()
            .zip(setup.cluster.capacity())
            .map(|(&used, &capacity)| used as f64 / span / capacity as f64)
            .collect(),
        over_time: Vec::new(),
        users,
    };
    (run, tally.over_time)
}

/// `some` of `all`; none of nothing.
fn part(some: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| some as f64 / all as f64)
}

/// The part of `before` that `after` saves; none if there is nothing to save.
pub(super) fn reduction(before: f64, after: f64) -> Option<f64> {
    (before > 0.0).then(|| 1.0 - after / before)
}

/// Fills in what every run saves against the baseline.
fn reductions(policies: &mut [PolicyRun], baseline: PolicyName) {
    let Some(base) = policies.iter().find(|run| run.policy == baseline).cloned() else { return };
    for run in policies.iter_mut().filter(|run| run.policy != baseline) {
        run.wait_reduction = reduction(base.mean_wait_s, run.mean_wait_s);
        run.users_wait_reduction = reduction(base.users_mean_wait_s, run.users_mean_wait_s);
        for (user, before) in run.users.iter_mut().zip(&base.users) {
            let waits = before.mean_wait_s.zip(user.mean_wait_s);
            user.wait_reduction = waits.and_then(|(before, after)| reduction(before, after));
        }
    }
}
