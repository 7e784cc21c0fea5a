//! Runs a log under every policy.

use std::sync::{Mutex, PoisonError};

use trueplane_study::{Error, Observer, cases};

use super::found::{Found, UserShares};
use super::options::Options;
use crate::capacity::Capacity;
use crate::comparison::{Comparison, compare};
use crate::facts::{LogFacts, ResourceFacts};
use crate::order::make;
use crate::outcome::{PolicyRun, change, summary};
use crate::policy::PolicyName;
use crate::setup::Setup;
use crate::shares::SharesOverTime;
use crate::tally::Sink;
use crate::weights::UserWeights;
use crate::workload::JobLog;

/// Shares over time are drawn of so many users who would use most.
const GREEDIEST: usize = 3;

/// Shares over time are drawn of so many users at most, as many as have a colour.
const COLORS: usize = 9;

/// Runs `log` under every policy of `options`, each on an empty cluster from the first submission to the end of the last task, in
/// parallel. The tasks that start are told to `sinks`, one for every policy, or none at all.
///
/// Deterministic, whatever the number of threads. Memory for every policy: 16 bytes for each task that waits or runs.
///
/// # Errors
///
/// The log is empty or does not fit the capacity or the weights; there is no policy; the observer interrupts or a sink refuses a task.
pub fn on_log(
    log: &JobLog,
    weights: &UserWeights,
    options: &Options,
    observer: &dyn Observer,
    sinks: Vec<Sink<'_>>,
) -> Result<Found, Error> {
    let Some(baseline) = options.baseline() else {
        return Err(Error::Parameters("expected at least one policy".to_owned()));
    };
    let unhindered = log.unhindered();
    let scenario = &options.scenario;
    let capacity = Capacity::of(options.capacity.as_ref(), log);
    let mut setup = Setup::new(log, &unhindered, &capacity, weights, scenario.horizon(), scenario.backfill)?;
    setup.track();
    observer.stage("simulating", log.tasks.len() as u64 * options.policies.len() as u64);
    let sinks = sinks.into_iter().map(Some).chain(std::iter::repeat_with(|| None)).map(Mutex::new);
    let policies: Vec<(PolicyName, Mutex<Option<Sink<'_>>>)> =
        options.policies.iter().copied().zip(sinks).collect();
    let runs = cases::over(&policies, observer, |(policy, sink)| {
        let order = make(*policy, &setup.cluster, &setup.pool.scale, options.memory())?;
        let sink = sink.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(summary(*policy, &setup, setup.run(order, sink, observer)?))
    })?;
    let (mut policies, shares): (Vec<PolicyRun>, Vec<SharesOverTime>) = runs.into_iter().unzip();
    changes(&mut policies, baseline);
    let base = policies.iter().find(|run| run.policy == baseline);
    let others = policies.iter().filter(|run| run.policy != baseline);
    let comparisons: Vec<Comparison> =
        base.map(|base| others.map(|run| compare(base, run)).collect()).unwrap_or_default();
    let drawn = drawn(&setup, &comparisons);
    let of_user = |shares: &SharesOverTime, row: usize| UserShares {
        user: name_of(&setup, row),
        points: shares.points(row),
    };
    Ok(Found {
        capacity,
        log: LogFacts::of(log, &unhindered),
        cluster: ResourceFacts::of(&setup),
        horizon: setup.span(),
        baseline,
        over_time: shares
            .iter()
            .map(|shares| drawn.iter().map(|&row| of_user(shares, row)).collect())
            .collect(),
        policies,
        comparisons,
    })
}

/// The name of the user in a row of shares over time.
fn name_of(setup: &Setup<'_>, row: usize) -> String {
    setup.pool.log().users[setup.tracked[row] as usize].clone()
}

/// Users whose shares over time are drawn, as rows of those that were kept: the greediest, and of every comparison who gains most and who
/// loses most.
fn drawn(setup: &Setup<'_>, comparisons: &[Comparison]) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..setup.tracked.len().min(GREEDIEST)).collect();
    let changes = comparisons.iter().flat_map(|of| [&of.gains_most, &of.loses_most]).flatten();
    for change in changes {
        let row = (0..setup.tracked.len()).find(|&row| name_of(setup, row) == change.user);
        rows.extend(row.filter(|row| !rows.contains(row)));
    }
    rows.truncate(COLORS);
    rows
}

/// Fills in the changes of every run against the baseline.
fn changes(policies: &mut [PolicyRun], baseline: PolicyName) {
    let Some(base) = policies.iter().find(|run| run.policy == baseline).cloned() else { return };
    for run in policies.iter_mut().filter(|run| run.policy != baseline) {
        run.wait_mean_change = change(base.wait_mean, run.wait_mean);
        run.users_wait_mean_change = change(base.users_wait_mean, run.users_wait_mean);
        for (user, before) in run.users.iter_mut().zip(&base.users) {
            let waits = before.wait_mean.zip(user.wait_mean);
            user.wait_mean_change = waits.and_then(|(before, after)| change(before, after));
        }
    }
}
