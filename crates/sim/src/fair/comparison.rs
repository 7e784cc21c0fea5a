//! A policy against the baseline: who gains and who loses.

use serde::Serialize;

use super::document::{PolicyRun, UserRun};

/// Waits that differ by less than this part of the longer one are called the same.
pub const SAME: f64 = 0.01;

/// Gains and losses.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Whose.
    pub policy: &'static str,
    /// Against which.
    pub baseline: &'static str,
    /// Users whose mean wait is shorter, by 1 % of it or more.
    pub users_wait_less: u64,
    /// Users whose mean wait is longer, by 1 % of it or more.
    pub users_wait_more: u64,
    /// The tasks of those who wait less, and their part of what all users held in the long run under the baseline.
    pub gainers: Group,
    /// Of those who wait more.
    pub losers: Group,
    /// How much longer all tasks wait in the mean.
    pub mean_wait_change_s: f64,
    /// How much longer the waits of all tasks are together.
    pub total_wait_change_s: f64,
    /// Who gains most, by the waits of all her tasks together.
    pub gains_most: Option<Change>,
    /// Who loses most, by the waits of all her tasks together.
    pub loses_most: Option<Change>,
    /// Users of whose tasks more have ended by the horizon.
    pub users_complete_more: u64,
    /// Users of whose tasks fewer have ended by the horizon.
    pub users_complete_less: u64,
    /// How many more tasks have ended by the horizon.
    pub completed_by_horizon_change: i64,
    /// Who loses the largest part of her tasks at the horizon.
    pub completes_less: Option<Completion>,
}

/// Users taken together.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Group {
    /// Their tasks.
    pub tasks: u64,
    /// Their part of all that users held, in dominant shares from the first submission to the horizon, under the baseline.
    pub held: f64,
    /// Their tasks' mean wait under the baseline.
    pub baseline_mean_wait_s: f64,
    /// And under the policy.
    pub mean_wait_s: f64,
}

/// One user's waits.
#[derive(Clone, Debug, Serialize)]
pub struct Change {
    /// Who.
    pub user: String,
    /// Her tasks that started.
    pub tasks: u64,
    /// Their mean wait under the baseline.
    pub baseline_mean_wait_s: f64,
    /// And under the policy.
    pub mean_wait_s: f64,
}

/// One user's tasks at the horizon.
#[derive(Clone, Debug, Serialize)]
pub struct Completion {
    /// Who.
    pub user: String,
    /// Her completion ratio under the baseline.
    pub baseline_completion_ratio: f64,
    /// And under the policy.
    pub completion_ratio: f64,
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

    /// How much longer her tasks wait, all together.
    fn longer(&self) -> f64 {
        (self.after.mean_wait_s - self.before.mean_wait_s) * self.tasks() as f64
    }

    /// Whether her mean wait is another one.
    fn differs(&self) -> bool {
        let (before, after) = (self.before.mean_wait_s, self.after.mean_wait_s);
        (after - before).abs() > SAME * before.max(after)
    }

    fn change(&self) -> Change {
        Change {
            user: self.after.user.clone(),
            tasks: self.tasks(),
            baseline_mean_wait_s: self.before.mean_wait_s,
            mean_wait_s: self.after.mean_wait_s,
        }
    }
}

/// Compares two runs of one log on one cluster.
pub(super) fn compare(baseline: &PolicyRun, run: &PolicyRun) -> Comparison {
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
    let completes = |pair: &&Pair<'_>| pair.after.completed_by_horizon < pair.before.completed_by_horizon;
    let ratio_lost = |pair: &Pair<'_>| pair.before.completion_ratio - pair.after.completion_ratio;
    Comparison {
        policy: run.policy,
        baseline: baseline.policy,
        users_wait_less: gainers.len() as u64,
        users_wait_more: losers.len() as u64,
        gainers: group(&gainers, all),
        losers: group(&losers, all),
        mean_wait_change_s: run.mean_wait_s - baseline.mean_wait_s,
        total_wait_change_s: pairs.iter().map(Pair::longer).sum(),
        gains_most: most(&gainers),
        loses_most: most(&losers),
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
                baseline_completion_ratio: pair.before.completion_ratio,
                completion_ratio: pair.after.completion_ratio,
            }),
    }
}

fn group(of: &[Pair<'_>], all: f64) -> Group {
    let tasks: u64 = of.iter().map(Pair::tasks).sum();
    let mean = |wait: fn(&Pair<'_>) -> f64| {
        let total: f64 = of.iter().map(|pair| wait(pair) * pair.tasks() as f64).sum();
        total / tasks.max(1) as f64
    };
    let part: f64 = of.iter().map(|pair| held(pair.before)).sum();
    Group {
        tasks,
        held: if all > 0.0 { part / all } else { 0.0 },
        baseline_mean_wait_s: mean(|pair| pair.before.mean_wait_s),
        mean_wait_s: mean(|pair| pair.after.mean_wait_s),
    }
}

/// What a user held in the mean, whatever her weight.
fn held(user: &UserRun) -> f64 {
    user.long_run_share * f64::from(user.weight)
}
