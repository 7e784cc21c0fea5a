//! What a policy's run came to: rows that studies of a log on a cluster share.

use trueplane_units::{LongTime, Nanos};

use crate::cluster::WHOLE;
use crate::policy::PolicyName;
use crate::setup::{Outcome, Setup};
use crate::shares::SharesOverTime;
use crate::tally::{UserTally, jain};

/// Part of all tasks that wait below which the order of users hardly matters.
pub(crate) const FEW_WAIT: f64 = 0.01;

/// A policy's run, to the end of the last task.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyRun {
    /// Policy that was run.
    pub policy: PolicyName,
    /// Tasks of the log: completed + skipped.
    pub tasks: u64,
    /// Tasks that ended.
    pub completed: u64,
    /// Tasks that are larger than the cluster.
    pub skipped: u64,
    /// Tasks that ended by the horizon, without those of which the log does not have the end.
    pub completed_by_horizon: u64,
    /// Tasks that did not start when they were submitted.
    pub waited: u64,
    /// Mean wait of all tasks that started.
    pub wait_mean: LongTime,
    /// Wait that half of them did not exceed; up to 0.1% above the true value, as it is taken from a histogram.
    pub wait_median: Nanos,
    /// Wait that 99% of them did not exceed; up to 0.1% above the true value.
    pub wait_p99: Nanos,
    /// Longest wait.
    pub wait_max: Nanos,
    /// Part of all waits that is of tasks which are submitted at the first instant; zero if nobody waits.
    pub first_instant_part: f64,
    /// Mean over users, each counted once, of the mean wait of their tasks.
    pub users_wait_mean: LongTime,
    /// Change of the mean wait against the baseline; none if nobody waits there.
    pub wait_mean_change: Option<f64>,
    /// Change of the mean over users (figure 4.9 of the thesis).
    pub users_wait_mean_change: Option<f64>,
    /// Time from the first submission to the last end.
    pub makespan: Nanos,
    /// Changes of the order of two users who wait as time passed, whatever the policy; `None` if it does not count them.
    pub changes_of_order: Option<u64>,
    /// Starts that passed the task of a user before them.
    pub backfilled: u64,
    /// Jain's index of the weighted dominant shares of those who wait at the same instant, its mean over the time up to the horizon in
    /// which two or more wait: the classical number.
    pub jain_now: Option<f64>,
    /// Time up to the horizon in which two or more waited.
    pub contended: Nanos,
    /// Time up to the end of the last task in which two or more waited.
    pub contended_to_end: Nanos,
    /// Jain's index of the weighted dominant shares of all users, each the mean from the first submission to the horizon. Users whose tasks
    /// are all larger than the cluster have no part in it.
    pub jain_long_run: Option<f64>,
    /// Part of every resource that was used, from the first submission to the horizon.
    pub utilization: Vec<f64>,
    /// Users in the order of the log.
    pub users: Vec<UserRun>,
}

/// A user under a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct UserRun {
    /// Name of the user.
    pub user: String,
    /// Weight of the user.
    pub weight: u32,
    /// Tasks that were submitted.
    pub submitted: u64,
    /// Tasks that ended.
    pub completed: u64,
    /// Tasks that are larger than the cluster.
    pub skipped: u64,
    /// Tasks of which the log does not have the end.
    pub censored: u64,
    /// Tasks that ended by the horizon, without the censored.
    pub completed_by_horizon: u64,
    /// Part of all submitted tasks without the censored that ended by the horizon (figure 4.10); none if there are no others.
    pub completion_ratio: Option<f64>,
    /// Mean wait of the tasks that started; none if none did.
    pub wait_mean: Option<LongTime>,
    /// Change of it against the baseline; none if the user did not wait there.
    pub wait_mean_change: Option<f64>,
    /// Mean weighted dominant share from the first submission to the horizon.
    pub long_run_share: f64,
}

/// Summary of a run, but for changes against the baseline; and its shares over time.
pub(crate) fn summary(
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
            weight: setup.cluster.weight_or_zero(index),
            submitted: user.submitted,
            completed: user.completed,
            skipped: user.skipped,
            censored: censored[index as usize],
            completed_by_horizon: user.completed_by_horizon,
            completion_ratio: part(user.completed_by_horizon, user.submitted - censored[index as usize]),
            wait_mean: (user.started > 0).then(|| LongTime(user.mean_wait())),
            wait_mean_change: None,
            long_run_share: share(user),
        })
        .collect();
    let total = |of: fn(&UserTally) -> u64| tally.users.iter().map(of).sum();
    // Who has nothing that can run has no share in anything.
    let active = || tally.users.iter().filter(|user| user.started > 0);
    let quantile = |q| Nanos(tally.waits.quantile(q));
    let run = PolicyRun {
        policy,
        tasks: total(|user| user.submitted),
        completed: total(|user| user.completed),
        skipped: total(|user| user.skipped),
        completed_by_horizon: total(|user| user.completed_by_horizon),
        waited: tally.waits.count() - tally.at_once,
        wait_mean: LongTime(tally.waits.mean()),
        wait_median: quantile(0.5),
        wait_p99: quantile(0.99),
        wait_max: quantile(1.0),
        users_wait_mean: LongTime(
            active().map(UserTally::mean_wait).sum::<f64>() / active().count().max(1) as f64,
        ),
        wait_mean_change: None,
        users_wait_mean_change: None,
        makespan: tally.last_end.since(setup.start),
        first_instant_part: match tally.waits.sum() {
            0 => 0.0,
            all => tally.waited_of_first as f64 / all as f64,
        },
        changes_of_order: events,
        backfilled: tally.backfilled,
        jain_now: tally.jain_now(),
        contended: Nanos(tally.contended),
        contended_to_end: Nanos(tally.contended_to_end),
        jain_long_run: jain(active().map(share)),
        utilization: tally
            .used
            .iter()
            .zip(setup.cluster.capacity())
            .map(|(&used, &capacity)| used as f64 / span / capacity as f64)
            .collect(),
        users,
    };
    (run, tally.over_time)
}

/// `some` of `all`; none of nothing.
fn part(some: u64, all: u64) -> Option<f64> {
    (all > 0).then(|| some as f64 / all as f64)
}

/// The change from `before` to `after` as a part of `before`; none if that is nothing.
pub(crate) fn change(before: LongTime, after: LongTime) -> Option<f64> {
    (before.0 > 0.0).then(|| after.0 / before.0 - 1.0)
}
