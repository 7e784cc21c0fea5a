//! The document of `fair simulate`.

use serde::Serialize;

use crate::policy::PolicyName;

/// The result of `fair simulate`; serialised, it is what `--json` prints. Times are in seconds of the log.
#[derive(Clone, Debug, Serialize)]
pub struct Simulation {
    /// `fair.simulate`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// What was run.
    pub log: LogFacts,
    /// On what, and how.
    pub parameters: Parameters,
    /// Every policy, in the order in which they were asked for.
    pub policies: Vec<PolicyRun>,
    /// Every other policy against the baseline.
    pub comparisons: Vec<Comparison>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// A log.
#[derive(Clone, Debug, Serialize)]
pub struct LogFacts {
    /// What it is called.
    pub name: String,
    /// Tasks.
    pub tasks: u64,
    /// Users who have submitted them.
    pub users: u64,
    /// What tasks need.
    pub resources: Vec<String>,
    /// From the first submission to the end of the last task if nobody ever waited.
    pub span_s: f64,
    /// What of the log is not among its tasks, and how often.
    pub left_out: Vec<Counted>,
    /// Tasks of which the log has but a part, the part that they are taken for, and how many.
    pub cut: Vec<Counted>,
    /// Tasks that outlast the log. When they end is not known, so that completion ratios leave them out.
    pub censored: u64,
}

/// Something of a log, and how often.
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    /// What, as a noun: `tasks that outlast the log`.
    pub what: String,
    /// How many.
    pub count: u64,
}

/// A user's weight.
#[derive(Clone, Debug, Serialize)]
pub struct UserWeight {
    /// Who.
    pub user: String,
    /// What she has a right to, beside the others.
    pub weight: u32,
}

impl LogFacts {
    /// What was left out and what was cut, as facts of a report.
    pub(super) fn odd_tasks(&self) -> impl Iterator<Item = (String, String)> {
        let facts = |how: &'static str, of: &[Counted]| {
            of.iter().map(|of| (format!("{how}: {}", of.what), of.count.to_string())).collect::<Vec<_>>()
        };
        facts("left out", &self.left_out).into_iter().chain(facts("cut", &self.cut))
    }
}

/// What was simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// Resource by resource, how much there is.
    pub capacity: Vec<ResourceFacts>,
    /// That part of the mean use, if it was said as one.
    pub capacity_relative: Option<f64>,
    /// The policies.
    pub policies: Vec<PolicyName>,
    /// The one that the others are compared with: drf, or the first of all.
    pub baseline: PolicyName,
    /// δ per second, of policies that remember.
    pub delta: f64,
    /// The same in all its digits: `1-1e-6`.
    pub delta_text: String,
    /// After which half is forgotten.
    pub half_life_s: f64,
    /// Weights of users that are not 1.
    pub weights: Vec<UserWeight>,
    /// Whether smaller tasks may pass one that does not fit.
    pub backfill: bool,
    /// How long after the first submission a task must have ended to count as completed by the horizon.
    pub horizon_s: f64,
}

/// A resource.
#[derive(Clone, Debug, Serialize)]
pub struct ResourceFacts {
    /// Its name.
    pub resource: String,
    /// How much of it the cluster has, in the unit of the log.
    pub capacity: f64,
    /// How much of it would be used in the mean if nobody ever waited.
    pub mean_use: f64,
}

/// A policy's run, to the end of the last task.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyRun {
    /// Its name.
    pub policy: PolicyName,
    /// All tasks of the log: completed and skipped.
    pub tasks: u64,
    /// Those that ended.
    pub completed: u64,
    /// Those that are larger than the cluster.
    pub skipped: u64,
    /// Those that ended by the horizon, but for [`LogFacts::censored`].
    pub completed_by_horizon: u64,
    /// Those that did not start when they were submitted.
    pub waited: u64,
    /// The mean wait of all that started.
    pub mean_wait_s: f64,
    /// Half of them waited no longer; up to 0.1 % above the true value, as it is taken from a histogram.
    pub median_wait_s: f64,
    /// 99 % of them waited no longer; up to 0.1 % above the true value.
    pub p99_wait_s: f64,
    /// The longest wait.
    pub max_wait_s: f64,
    /// What part of all waits is that of the tasks which are submitted at the first instant; zero if nobody waits.
    pub first_instant_part: f64,
    /// The mean over users, each counted once, of the mean wait of her tasks.
    pub users_mean_wait_s: f64,
    /// What part of the mean wait under the baseline is saved; negative if it is longer, none if nobody waits there.
    pub wait_reduction: Option<f64>,
    /// The same for the mean over users (figure 4.9 of the thesis).
    pub users_wait_reduction: Option<f64>,
    /// From the first submission to the last end.
    pub makespan_s: f64,
    /// The events of the live tree: how often the order of two users who wait changed by itself, as time passed. Zero for a policy that has
    /// no such tree.
    pub live_tree_events: u64,
    /// How often the order of two users who wait changed by itself, whatever the policy.
    pub changes_of_order: u64,
    /// Starts that passed the task of a user before them.
    pub backfilled: u64,
    /// The classical number: the mean over time of Jain's index of the weighted dominant shares that those hold who wait at the same
    /// instant, over the instants up to the horizon at which two or more wait.
    pub jain_now: Option<f64>,
    /// How long two or more waited, up to the horizon.
    pub contended_s: f64,
    /// How long two or more waited, up to the end of the last task.
    pub contended_to_end_s: f64,
    /// Jain's index of the weighted dominant shares of all users but those whose tasks are all larger than the cluster, each the mean
    /// from the first submission to the horizon.
    pub jain_long_run: Option<f64>,
    /// What of every resource was used, from the first submission to the horizon.
    pub utilization: Vec<f64>,
    /// User by user, in the order of the log.
    pub users: Vec<UserRun>,
    /// Shares over time of those who would use most and of those who gain and lose most; only drawn.
    #[serde(skip)]
    pub over_time: Vec<(String, Vec<(f64, f64)>)>,
}

/// A user under a policy.
#[derive(Clone, Debug, Serialize)]
pub struct UserRun {
    /// Her name.
    pub user: String,
    /// Her weight.
    pub weight: u32,
    /// Her tasks.
    pub submitted: u64,
    /// Those that ended.
    pub completed: u64,
    /// Those that are larger than the cluster.
    pub skipped: u64,
    /// Those of which the log does not know when they end.
    pub censored: u64,
    /// Those that ended by the horizon, but for the censored.
    pub completed_by_horizon: u64,
    /// That part of all that she submitted, but for the censored (figure 4.10); none if there are no others.
    pub completion_ratio: Option<f64>,
    /// The mean wait of those that started; none if none did.
    pub mean_wait_s: Option<f64>,
    /// What part of it under the baseline is saved; negative if she waits longer, none if she did not wait there.
    pub wait_reduction: Option<f64>,
    /// Her mean weighted dominant share from the first submission to the horizon.
    pub long_run_share: f64,
}

/// Gains and losses.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Whose.
    pub policy: PolicyName,
    /// Against which.
    pub baseline: PolicyName,
    /// Users whose mean wait is shorter, by 1 % of it or more.
    pub users_wait_less: u64,
    /// Users whose mean wait is longer, by 1 % of it or more.
    pub users_wait_more: u64,
    /// The tasks of those who wait less, and their part of what all users held in the long run under the baseline.
    pub gainers: Group,
    /// Of those who wait more.
    pub losers: Group,
    /// Of those who wait less and held less than their own part under the baseline, up to the horizon: weight / sum of all weights.
    pub modest_gainers: Group,
    /// How much longer all tasks wait in the mean.
    pub mean_wait_change_s: f64,
    /// How much longer the waits of all tasks are together.
    pub total_wait_change_s: f64,
    /// Who gains most, by the waits of all her tasks together.
    pub gains_most: Option<Change>,
    /// Who loses most, by the waits of all her tasks together.
    pub loses_most: Option<Change>,
    /// Who gains the largest part of her wait; the longest wait of those who gain all of it.
    pub gains_most_of_hers: Option<Change>,
    /// Whose wait is multiplied by most, of those who waited.
    pub loses_most_of_hers: Option<Change>,
    /// Users who do not wait under the baseline, but under the policy.
    pub users_wait_only_here: u64,
    /// Who of them waits longest.
    pub waits_only_here: Option<Change>,
    /// Users of whose tasks more have ended by the horizon.
    pub users_complete_more: u64,
    /// Users of whose tasks fewer have ended by the horizon.
    pub users_complete_less: u64,
    /// How many more tasks have ended by the horizon.
    pub completed_by_horizon_change: i64,
    /// Of whose tasks the largest part is no longer completed by the horizon.
    pub completes_less: Option<Completion>,
}

/// Users taken together.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Group {
    /// Them.
    pub users: u64,
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
