//! A policy against the baseline: who gains and who loses.

use trueplane_units::LongTime;

use crate::outcome::{PolicyRun, UserRun};
use crate::policy::PolicyName;

/// Gains and losses of a policy against the baseline.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Policy that is compared.
    pub policy: PolicyName,
    /// Policy that it is compared with.
    pub baseline: PolicyName,
    /// Users whose mean wait is shorter, by 1% of it or more.
    pub users_wait_less: u64,
    /// Users whose mean wait is longer, by 1% of it or more.
    pub users_wait_more: u64,
    /// Users who wait less.
    pub gainers: Group,
    /// Users who wait more.
    pub losers: Group,
    /// Users who wait less and held less than their own part under the baseline, up to the horizon: weight / sum of all weights.
    pub modest_gainers: Group,
    /// Mean wait of all tasks under the baseline.
    pub baseline_wait_mean: LongTime,
    /// Mean wait of all tasks under the policy.
    pub wait_mean: LongTime,
    /// User who gains most, by the waits of all tasks of the user together.
    pub gains_most: Option<Change>,
    /// User who loses most, by the waits of all tasks of the user together.
    pub loses_most: Option<Change>,
    /// User who gains the largest part of the wait before; of those who gain all of it, the one who waited longest.
    pub gains_largest_part: Option<Change>,
    /// User whose wait is multiplied by most, of those who waited.
    pub loses_largest_part: Option<Change>,
    /// Users who do not wait under the baseline, but under the policy.
    pub users_wait_only_here: u64,
    /// User of them who waits longest.
    pub waits_only_here: Option<Change>,
    /// Users of whose tasks more have ended by the horizon.
    pub users_complete_more: u64,
    /// Users of whose tasks fewer have ended by the horizon.
    pub users_complete_less: u64,
    /// Change of the number of tasks that have ended by the horizon.
    pub completed_by_horizon_change: i64,
    /// User whose completion ratio falls by most.
    pub completes_less: Option<Completion>,
}

/// Users taken together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// Number of users.
    pub users: u64,
    /// Number of their tasks.
    pub tasks: u64,
    /// Part of all that users held which they held, in dominant shares from the first submission to the horizon, under the baseline.
    pub held: f64,
    /// Mean wait of their tasks under the baseline.
    pub baseline_wait_mean: LongTime,
    /// Mean wait of their tasks under the policy.
    pub wait_mean: LongTime,
}

/// One user's waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Name of the user.
    pub user: String,
    /// Tasks that started.
    pub tasks: u64,
    /// Mean wait of these tasks under the baseline.
    pub baseline_wait_mean: LongTime,
    /// Mean wait of these tasks under the policy.
    pub wait_mean: LongTime,
}

/// One user's tasks at the horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// Name of the user.
    pub user: String,
    /// Completion ratio under the baseline.
    pub baseline_completion_ratio: f64,
    /// Completion ratio under the policy.
    pub completion_ratio: f64,
}

/// Waits that differ by less than this part of the longer one are called the same.
pub const SAME: f64 = 0.01;

/// Part of the mean wait of users that a policy must save, or nobody would see a difference.
pub const WORTH: f64 = 0.02;

impl Comparison {
    /// Whether the gain is not paid by more users than have it, nor by all tasks together: no more users wait longer than less, and the mean wait
    /// of all tasks is no longer.
    pub fn costs_no_more(&self) -> bool {
        self.users_wait_less >= self.users_wait_more
            && self.wait_mean.0 <= self.baseline_wait_mean.0 * (1.0 + SAME)
    }
}

/// A user in both runs.
#[derive(Clone, Copy)]
struct Pair<'a> {
    before: &'a UserRun,
    after: &'a UserRun,
}

impl Pair<'_> {
    /// Tasks that started; the same in both.
    fn tasks(&self) -> u64 {
        self.after.completed
    }

    /// The mean wait of the user's tasks in ns, before and after; nothing if none starts, in both.
    fn waits(&self) -> (f64, f64) {
        let wait = |user: &UserRun| user.wait_mean.map_or(0.0, |wait| wait.0);
        (wait(self.before), wait(self.after))
    }

    /// Additional wait of all the user's tasks together, in ns; below zero if they wait less.
    fn longer(&self) -> f64 {
        let (before, after) = self.waits();
        (after - before) * self.tasks() as f64
    }

    /// Mean wait after over mean wait before; none if the tasks did not wait before.
    fn times(&self) -> Option<f64> {
        let (before, after) = self.waits();
        (before > 0.0).then(|| after / before)
    }

    /// Whether the mean wait is another one.
    fn differs(&self) -> bool {
        let (before, after) = self.waits();
        (after - before).abs() > SAME * before.max(after)
    }

    fn change(&self) -> Change {
        Change {
            user: self.after.user.clone(),
            tasks: self.tasks(),
            baseline_wait_mean: LongTime(self.waits().0),
            wait_mean: LongTime(self.waits().1),
        }
    }
}

/// Compares two runs of one log on one cluster.
pub(crate) fn compare(baseline: &PolicyRun, run: &PolicyRun) -> Comparison {
    let pairs: Vec<Pair<'_>> =
        baseline.users.iter().zip(&run.users).map(|(before, after)| Pair { before, after }).collect();
    let differ = |sign: f64| {
        pairs.iter().copied().filter(move |pair| pair.differs() && pair.longer() * sign > 0.0).collect()
    };
    let (losers, gainers): (Vec<Pair<'_>>, Vec<Pair<'_>>) = (differ(1.0), differ(-1.0));
    let all: f64 = baseline.users.iter().map(held).sum();
    let most = |of: &[Pair<'_>]| {
        of.iter().max_by(|a, b| a.longer().abs().total_cmp(&b.longer().abs())).map(Pair::change)
    };
    let own = 1.0 / baseline.users.iter().map(|user| f64::from(user.weight)).sum::<f64>().max(1.0);
    // By weight already.
    let modest: Vec<Pair<'_>> =
        gainers.iter().copied().filter(|pair| pair.before.long_run_share < own).collect();
    let only_here: Vec<Pair<'_>> = losers.iter().copied().filter(|pair| pair.times().is_none()).collect();
    let completes = |pair: &&Pair<'_>| pair.after.completed_by_horizon < pair.before.completed_by_horizon;
    let ratio = |user: &UserRun| user.completion_ratio.unwrap_or(0.0);
    let ratio_lost = |pair: &Pair<'_>| ratio(pair.before) - ratio(pair.after);
    Comparison {
        policy: run.policy,
        baseline: baseline.policy,
        users_wait_less: gainers.len() as u64,
        users_wait_more: losers.len() as u64,
        gainers: group(&gainers, all),
        losers: group(&losers, all),
        modest_gainers: group(&modest, all),
        baseline_wait_mean: baseline.wait_mean,
        wait_mean: run.wait_mean,
        gains_most: most(&gainers),
        loses_most: most(&losers),
        gains_largest_part: gainers.iter().max_by(|a, b| by_part(b, a)).map(Pair::change),
        loses_largest_part: losers
            .iter()
            .filter(|pair| pair.times().is_some())
            .max_by(|a, b| by_part(a, b))
            .map(Pair::change),
        users_wait_only_here: only_here.len() as u64,
        waits_only_here: only_here
            .iter()
            .max_by(|a, b| a.waits().1.total_cmp(&b.waits().1))
            .map(Pair::change),
        users_complete_more: pairs
            .iter()
            .filter(|pair| pair.after.completed_by_horizon > pair.before.completed_by_horizon)
            .count() as u64,
        users_complete_less: pairs.iter().filter(completes).count() as u64,
        completed_by_horizon_change: run.completed_by_horizon as i64 - baseline.completed_by_horizon as i64,
        completes_less: pairs
            .iter()
            .filter(completes)
            .max_by(|a, b| ratio_lost(a).total_cmp(&ratio_lost(b)))
            .map(|pair| Completion {
                user: pair.after.user.clone(),
                baseline_completion_ratio: ratio(pair.before),
                completion_ratio: ratio(pair.after),
            }),
    }
}

/// By how many times as long a user waits; if that is the same, the longer change is the more.
fn by_part(a: &Pair<'_>, b: &Pair<'_>) -> std::cmp::Ordering {
    let times = |of: &Pair<'_>| of.times().unwrap_or(f64::INFINITY);
    times(a).total_cmp(&times(b)).then(a.longer().total_cmp(&b.longer()))
}

fn group(of: &[Pair<'_>], all: f64) -> Group {
    let tasks: u64 = of.iter().map(Pair::tasks).sum();
    let mean = |wait: fn((f64, f64)) -> f64| {
        let total: f64 = of.iter().map(|pair| wait(pair.waits()) * pair.tasks() as f64).sum();
        total / tasks.max(1) as f64
    };
    let part: f64 = of.iter().map(|pair| held(pair.before)).sum();
    Group {
        users: of.len() as u64,
        tasks,
        held: if all > 0.0 { part / all } else { 0.0 },
        baseline_wait_mean: LongTime(mean(|(before, _)| before)),
        wait_mean: LongTime(mean(|(_, after)| after)),
    }
}

/// Mean dominant share that a user held, whatever the weight.
fn held(user: &UserRun) -> f64 {
    user.long_run_share * f64::from(user.weight)
}
