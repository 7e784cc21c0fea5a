//! What people see of `fair simulate`: facts and tables.

use trueplane_study::report::Cell;
use trueplane_study::{Measured, Page};
use trueplane_units::{LongTime, Percent};

use super::found::Found;
use super::options::Options;
use super::verdict::best;
use crate::comparison::{Change, Comparison, Group};
use crate::delta::DeltaPerSecond;
use crate::facts::ResourceFacts;
use crate::outcome::{PolicyRun, UserRun};
use crate::words::{change, long};

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    facts(options, found, page);
    for run in found.policies.iter().filter(|run| run.jain_now.or(run.jain_long_run).is_some()) {
        page.numbers(
            format!("fairness of shares (Jain's index) under {}", run.policy),
            "jain",
            run.jain_now,
            run.jain_long_run,
            Measured::Needs("a cluster with this scheduler"),
        );
    }
    waits(found, page);
    gains(found, page);
    used(options, found, page);
    ResourceFacts::present(&found.cluster, page);
    found.log.present_odd_tasks(page);
    runs(found, page);
    groups(found, page);
    extremes(found, page);
    changes(found, page);
    users(found, page);
}

fn facts(options: &Options, found: &Found, page: &mut Page) {
    found.log.present(page);
    page.fact("cluster", "cluster_size", found.capacity.in_words());
    let skipped = found.policies.first().map_or(0, |run| run.skipped);
    page.fact("tasks larger than the cluster", "skipped", skipped);
    page.fact("horizon", "horizon_ns", long(found.horizon));
    if options.policies.iter().any(|policy| policy.properties().decaying) {
        let memory = options.memory();
        page.fact("half is forgotten in", "half_life_ns", long(memory.half_life_span()));
        // A number that rounds to nothing is none to write down.
        let delta = DeltaPerSecond(memory).to_string();
        page.fact("δ per second", "delta", (delta != "0").then_some(delta));
    }
    if !found.comparisons.is_empty() {
        page.fact("compared with", "baseline", Cell::name(found.baseline));
    }
}

fn waits(found: &Found, page: &mut Page) {
    let advised = best(found).map(|(of, _)| of.policy);
    page.table("waits", format!("How long tasks wait; changes against {}", found.baseline), &found.policies)
        .col("policy", "policy", |run| run.policy.name())
        .col("completed", "completed", |run| run.completed)
        .col("completed by the horizon", "completed_by_horizon", |run| run.completed_by_horizon)
        .col("waited", "waited", |run| run.waited)
        .col("mean wait", "wait_mean_ns", |run| run.wait_mean)
        .col("change", "wait_mean_change", |run| change(run.wait_mean_change))
        .col("mean wait per user", "users_wait_mean_ns", |run| run.users_wait_mean)
        .col("change per user", "users_wait_mean_change", |run| change(run.users_wait_mean_change))
        .col("users less", "users_wait_less", |run| comparison(found, run).map(|of| of.users_wait_less))
        .col("users longer", "users_wait_more", |run| comparison(found, run).map(|of| of.users_wait_more))
        .col("median", "wait_median_ns", |run| long(run.wait_median))
        .col("p99", "wait_p99_ns", |run| long(run.wait_p99))
        .col("longest", "wait_max_ns", |run| long(run.wait_max))
        .col("makespan", "makespan_ns", |run| long(run.makespan))
        .mark(|run| advised.filter(|policy| *policy == run.policy).map(|_| "schedule by this"));
}

/// Gains and losses of a run against the baseline.
fn comparison<'f>(found: &'f Found, run: &PolicyRun) -> Option<&'f Comparison> {
    found.comparisons.iter().find(|of| of.policy == run.policy)
}

/// Use of the cluster up to the horizon.
fn used(options: &Options, found: &Found, page: &mut Page) {
    let mut table = page
        .table("use", "Up to the horizon: time in which two or more wait, and what is used", &found.policies)
        .col("policy", "policy", |run| run.policy.name())
        .col("two or more waited", "contended_ns", |run| long(run.contended))
        .col_if(options.scenario.backfill, "backfilled", "backfilled", |run| run.backfilled);
    for (place, name) in found.log.resources.iter().enumerate() {
        // Its end says that it has no unit, whatever the resource is called.
        let column = format!("{name}_utilization");
        table = table.col(format!("{name} used"), column, |run: &&PolicyRun| Percent(run.utilization[place]));
    }
}

/// Users who gain and who lose; nothing if there is nothing to compare.
fn gains(found: &Found, page: &mut Page) {
    if found.comparisons.is_empty() {
        return;
    }
    let title = format!("Users who wait less than under {}, and users who wait longer", found.baseline);
    page.table("gains", title, &found.comparisons)
        .col("policy", "policy", |of| of.policy.name())
        .col("wait less", "users_wait_less", |of| of.users_wait_less)
        .col("their tasks", "gainers_tasks", |of| of.gainers.tasks)
        .col("wait", "gainers_wait_mean_ns", |of| of.gainers.wait_mean)
        .col("instead of", "gainers_baseline_wait_mean_ns", |of| of.gainers.baseline_wait_mean)
        .col("wait longer", "users_wait_more", |of| of.users_wait_more)
        .col("their tasks", "losers_tasks", |of| of.losers.tasks)
        .col("wait", "losers_wait_mean_ns", |of| of.losers.wait_mean)
        .col("instead of", "losers_baseline_wait_mean_ns", |of| of.losers.baseline_wait_mean)
        .col("complete more", "users_complete_more", |of| of.users_complete_more)
        .col("complete less", "users_complete_less", |of| of.users_complete_less);
}

/// Adds a table of further numbers of every run.
fn runs(found: &Found, page: &mut Page) {
    page.table("runs", "More of every run", &found.policies)
        .col("policy", "policy", |run| run.policy.name())
        .col("classical: Jain's index now", "jain_now", |run| run.jain_now)
        .col("refined: in the long run", "jain_long_run", |run| run.jain_long_run)
        .col("two or more waited, to the end", "contended_to_end_ns", |run| long(run.contended_to_end))
        .col("of all waits, of tasks of the first instant", "first_instant_part", |run| {
            Percent(run.first_instant_part)
        })
        .col("changes of order by themselves", "changes_of_order", |run| run.changes_of_order)
        .col("backfilled", "backfilled", |run| run.backfilled)
        .detail();
}

/// Gainers and losers as groups, and what is completed by the horizon.
fn groups(found: &Found, page: &mut Page) {
    let groups = found.comparisons.iter().flat_map(|of| {
        let rows: [(&str, &Group); 3] = [
            ("gainers", &of.gainers),
            ("gainers who held less than their part", &of.modest_gainers),
            ("losers", &of.losers),
        ];
        rows.map(|(name, group)| (of, name, group))
    });
    let groups: Vec<_> = groups.collect();
    if groups.is_empty() {
        return;
    }
    page.table("groups", format!("Users by their waits against {}", found.baseline), groups)
        .col("policy", "policy", |row| row.0.policy.name())
        .col("users", "group", |row| row.1)
        .col("number", "users", |row| row.2.users)
        .col("tasks", "tasks", |row| row.2.tasks)
        .col("part of all that was held", "held", |row| Percent(row.2.held))
        .col(format!("mean wait under {}", found.baseline), "baseline_wait_mean_ns", |row| {
            row.2.baseline_wait_mean
        })
        .col("mean wait", "wait_mean_ns", |row| row.2.wait_mean)
        .detail();
    page.table("horizon", "Tasks completed by the horizon, and users who wait here only", &found.comparisons)
        .col("policy", "policy", |of| of.policy.name())
        .col("more tasks in all", "completed_by_horizon_change", |of| of.completed_by_horizon_change as f64)
        .col("completes less", "user", |of| of.completes_less.as_ref().map(|worst| worst.user.clone()))
        .col(format!("part under {}", found.baseline), "baseline_completion_ratio", |of| {
            of.completes_less.as_ref().map(|worst| Percent(worst.baseline_completion_ratio))
        })
        .col("part", "completion_ratio", |of| {
            of.completes_less.as_ref().map(|worst| Percent(worst.completion_ratio))
        })
        .col(format!("users who never wait under {}", found.baseline), "users_wait_only_here", |of| {
            of.users_wait_only_here
        })
        .detail();
}

/// Users who gain or lose most.
fn extremes(found: &Found, page: &mut Page) {
    let rows = found.comparisons.iter().flat_map(|of| {
        let rows: [(&str, &Option<Change>); 5] = [
            ("gains most", &of.gains_most),
            ("loses most", &of.loses_most),
            ("gains the largest part", &of.gains_largest_part),
            ("loses the largest part", &of.loses_largest_part),
            ("waits here only", &of.waits_only_here),
        ];
        rows.into_iter().filter_map(move |(what, of_user)| Some((of.policy, what, of_user.as_ref()?)))
    });
    let rows: Vec<_> = rows.collect();
    if rows.is_empty() {
        return;
    }
    page.table("extremes", format!("Users who gain and lose most against {}", found.baseline), rows)
        .col("policy", "policy", |row| row.0.name())
        .col("", "what", |row| row.1)
        .col("user", "user", |row| row.2.user.clone())
        .col("tasks", "tasks", |row| row.2.tasks)
        .col(format!("mean wait under {}", found.baseline), "baseline_wait_mean_ns", |row| {
            row.2.baseline_wait_mean
        })
        .col("mean wait", "wait_mean_ns", |row| row.2.wait_mean)
        .detail();
}

/// A user's waits under the baseline and under a policy.
struct Waits<'a> {
    run: &'a PolicyRun,
    user: &'a UserRun,
    before: LongTime,
    after: LongTime,
}

impl Waits<'_> {
    /// The change by which rows are sorted: from nothing to something is the largest loss, from nothing to nothing is none.
    fn loss(&self) -> f64 {
        match self.user.wait_mean_change {
            None if self.after > self.before => f64::INFINITY,
            change => change.unwrap_or(0.0),
        }
    }
}

/// Every user's wait under every policy beside that under the baseline, who loses most first: the numbers of figure 4.9, uncut.
fn changes(found: &Found, page: &mut Page) {
    let Some(base) = found.base() else { return };
    let mut rows = Vec::new();
    for run in found.compared() {
        let mut users: Vec<Waits<'_>> = (base.users.iter().zip(&run.users))
            .filter_map(|(before, user)| {
                Some(Waits { run, user, before: before.wait_mean?, after: user.wait_mean? })
            })
            .collect();
        let longer = |of: &Waits<'_>| of.after.0 - of.before.0;
        users.sort_by(|a, b| b.loss().total_cmp(&a.loss()).then(longer(b).total_cmp(&longer(a))));
        rows.extend(users);
    }
    if rows.is_empty() {
        return;
    }
    let title = format!("Users' waits beside those under {}, who loses most first", base.policy);
    page.table("changes", title, rows)
        .col("policy", "policy", |row| row.run.policy.name())
        .col("user", "user", |row| row.user.user.as_str())
        .col("tasks", "completed", |row| row.user.completed)
        .col(format!("mean wait under {}", base.policy), "baseline_wait_mean_ns", |row| row.before)
        .col("mean wait", "wait_mean_ns", |row| row.after)
        .col("change", "wait_mean_change", |row| change(row.user.wait_mean_change))
        .detail();
}

fn users(found: &Found, page: &mut Page) {
    let users = 0..found.log.users as usize;
    let rows = users.flat_map(|index| found.policies.iter().map(move |run| (run, &run.users[index])));
    page.table("users", "Users under every policy", rows)
        .col("user", "user", |(_, user)| user.user.as_str())
        .col("policy", "policy", |(run, _)| run.policy.name())
        .col("weight", "weight", |(_, user)| user.weight)
        .col("tasks", "submitted", |(_, user)| user.submitted)
        .col("completed", "completed", |(_, user)| user.completed)
        .col("too large", "skipped", |(_, user)| user.skipped)
        .col("outlast the log", "censored", |(_, user)| user.censored)
        .col("completed by the horizon", "completed_by_horizon", |(_, user)| user.completed_by_horizon)
        .col("part of them", "completion_ratio", |(_, user)| user.completion_ratio.map(Percent))
        .col("mean wait", "wait_mean_ns", |(_, user)| user.wait_mean)
        .col("change", "wait_mean_change", |(_, user)| change(user.wait_mean_change))
        .col("long-run share", "long_run_share", |(_, user)| Percent(user.long_run_share))
        .detail();
}
