//! What `fair simulate` says to people.

use trueplane_study::report::{Cell, Column, Report, Table};
use trueplane_units::Percent;

use crate::BELIEF;
use crate::document::{PolicyRun, ResourceFacts, Simulation, UserRun};
use crate::words::time;

impl Simulation {
    /// The report: policies side by side, users, and figures 4.1, 4.8, 4.9 and 4.10 of the thesis.
    pub fn report(&self) -> Report {
        let mut tables = vec![self.waits(), self.fairness()];
        tables.extend(self.gains());
        tables.extend(self.changes());
        tables.push(self.users());
        Report {
            study: self.study.to_owned(),
            title: format!("Who waits for the cluster: {}", self.log.name),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables,
            plots: self.plots(),
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let (log, of) = (&self.log, &self.parameters);
        let mut facts = vec![
            ("log".to_owned(), log.name.clone()),
            ("tasks".to_owned(), format!("{} of {} users", log.tasks, log.users)),
            ("time".to_owned(), format!("{}, if nobody ever waited", time(log.span_s))),
            ("cluster".to_owned(), cluster(&of.capacity, of.capacity_relative)),
            (
                "tasks must have ended".to_owned(),
                format!("{} after the first submission", time(of.horizon_s)),
            ),
        ];
        if of.policies.iter().any(|policy| policy.properties().decaying) {
            facts.push(("forgotten".to_owned(), forgotten(of.half_life_s, &of.delta_text)));
        }
        facts.push(("compared with".to_owned(), of.baseline.to_string()));
        if of.backfill {
            facts.push(("backfill".to_owned(), "smaller tasks may pass one that does not fit".to_owned()));
        }
        if !of.weights.is_empty() {
            facts.push(("weights that are not 1".to_owned(), of.weights.len().to_string()));
        }
        facts.extend(log.odd_tasks());
        facts.push(("user by user".to_owned(), "in --report DIR and in --json".to_owned()));
        facts
    }

    fn waits(&self) -> Table {
        let row = |run: &PolicyRun| {
            vec![
                Cell::name(run.policy),
                Cell::Count(run.completed),
                Cell::Count(run.completed_by_horizon),
                Cell::Count(run.waited),
                seconds(run.mean_wait_s),
                run.wait_reduction.map_or(Cell::Missing, |saved| Cell::Change(-saved)),
                seconds(run.users_mean_wait_s),
                run.users_wait_reduction.map_or(Cell::Missing, |saved| Cell::Change(-saved)),
                seconds(run.median_wait_s),
                seconds(run.p99_wait_s),
                seconds(run.max_wait_s),
                seconds(run.makespan_s),
            ]
        };
        Table {
            id: "waits".to_owned(),
            title: format!("How long tasks wait; changes against {}", self.parameters.baseline),
            columns: vec![
                Column::new("policy", "policy"),
                Column::new("completed", "completed"),
                Column::new("by the horizon", "completed_by_horizon"),
                Column::new("waited", "waited"),
                Column::new("mean wait", "wait_mean_ns"),
                Column::new("change", "wait_mean_change"),
                Column::new("mean of users", "users_wait_mean_ns"),
                Column::new("change of it", "users_wait_mean_change"),
                Column::new("median", "wait_median_ns"),
                Column::new("p99", "wait_p99_ns"),
                Column::new("longest", "wait_max_ns"),
                Column::new("makespan", "makespan_ns"),
            ],
            rows: self.policies.iter().map(row).collect(),
            ..Table::default()
        }
    }

    fn fairness(&self) -> Table {
        let number = |index: Option<f64>| index.map_or(Cell::Missing, Cell::Number);
        let row = |run: &PolicyRun| {
            let mut row = vec![
                Cell::name(run.policy),
                number(run.jain_now),
                number(run.jain_long_run),
                seconds(run.contended_s),
                if run.policy.properties().live_tree {
                    Cell::Count(run.live_tree_events)
                } else {
                    Cell::Missing
                },
            ];
            if self.parameters.backfill {
                row.push(Cell::Count(run.backfilled));
            }
            row.extend(run.utilization.iter().map(|used| Cell::Ratio(*used)));
            row
        };
        let mut columns = vec![
            Column::new("policy", "policy"),
            Column::new("Jain now", "jain_now"),
            Column::new("Jain in the long run", "jain_long_run"),
            Column::new("two or more waited", "contended_ns"),
            Column::new("live-tree events", "live_tree_events"),
        ];
        if self.parameters.backfill {
            columns.push(Column::new("backfilled", "backfilled"));
        }
        let used = |name: &String| Column::new(format!("{name} used"), format!("utilization_{name}"));
        columns.extend(self.log.resources.iter().map(used));
        Table {
            id: "fairness".to_owned(),
            title: "Equal now (of those who wait at an instant), and equal in the long run (of all users, up to the horizon)".to_owned(),
            columns,
            rows: self.policies.iter().map(row).collect(),
            ..Table::default()
        }
    }

    /// Who gains and who loses; none if there is nothing to compare.
    fn gains(&self) -> Option<Table> {
        let rows: Vec<Vec<Cell>> = self
            .comparisons
            .iter()
            .map(|of| {
                vec![
                    Cell::name(of.policy),
                    Cell::Count(of.users_wait_less),
                    Cell::Count(of.gainers.tasks),
                    seconds(of.gainers.mean_wait_s),
                    seconds(of.gainers.baseline_mean_wait_s),
                    Cell::Count(of.users_wait_more),
                    Cell::Count(of.losers.tasks),
                    seconds(of.losers.mean_wait_s),
                    seconds(of.losers.baseline_mean_wait_s),
                    Cell::Count(of.users_complete_more),
                    Cell::Count(of.users_complete_less),
                ]
            })
            .collect();
        (!rows.is_empty()).then(|| Table {
            id: "gains".to_owned(),
            title: format!(
                "Users who wait less than under {}, and users who wait longer",
                self.parameters.baseline
            ),
            columns: vec![
                Column::new("policy", "policy"),
                Column::new("wait less", "users_wait_less"),
                Column::new("their tasks", "gainers_tasks"),
                Column::new("wait", "gainers_wait_mean_ns"),
                Column::new("instead of", "gainers_baseline_wait_mean_ns"),
                Column::new("wait longer", "users_wait_more"),
                Column::new("their tasks", "losers_tasks"),
                Column::new("wait", "losers_wait_mean_ns"),
                Column::new("instead of", "losers_baseline_wait_mean_ns"),
                Column::new("complete more", "users_complete_more"),
                Column::new("complete less", "users_complete_less"),
            ],
            rows,
            ..Table::default()
        })
    }

    /// Every user's wait under every policy beside that under the baseline, who loses most first: the numbers of figure 4.9, uncut.
    fn changes(&self) -> Option<Table> {
        let base = self.policies.iter().find(|run| run.policy == self.parameters.baseline)?;
        let mut rows = Vec::new();
        for run in self.policies.iter().filter(|run| run.policy != base.policy) {
            let mut users: Vec<(&UserRun, f64, f64)> = base
                .users
                .iter()
                .zip(&run.users)
                .filter_map(|(before, after)| Some((after, before.mean_wait_s?, after.mean_wait_s?)))
                .collect();
            // From nothing to something is the largest loss, from nothing to nothing is none.
            let saved = |&(user, before, after): &(&UserRun, f64, f64)| match user.wait_reduction {
                None if after > before => f64::NEG_INFINITY,
                saved => saved.unwrap_or(0.0),
            };
            users.sort_by(|a, b| saved(a).total_cmp(&saved(b)).then((b.2 - b.1).total_cmp(&(a.2 - a.1))));
            rows.extend(users.into_iter().map(|(user, before, after)| {
                vec![
                    Cell::name(run.policy),
                    Cell::text(&user.user),
                    Cell::Count(user.completed),
                    seconds(before),
                    seconds(after),
                    user.wait_reduction.map_or(Cell::Missing, |saved| Cell::Change(-saved)),
                ]
            }));
        }
        (!rows.is_empty()).then(|| Table {
            id: "changes".to_owned(),
            title: format!("Users' waits beside those under {}, who loses most first", base.policy),
            columns: vec![
                Column::new("policy", "policy"),
                Column::new("user", "user"),
                Column::new("tasks", "completed"),
                Column::new(format!("mean wait under {}", base.policy), "baseline_wait_mean_ns"),
                Column::new("mean wait", "wait_mean_ns"),
                Column::new("change", "wait_mean_change"),
            ],
            rows,
            detail: true,
        })
    }

    fn users(&self) -> Table {
        let row = |run: &PolicyRun, user: &UserRun| {
            vec![
                Cell::text(&user.user),
                Cell::name(run.policy),
                Cell::Count(user.submitted),
                Cell::Count(user.completed),
                Cell::Count(user.skipped),
                user.completion_ratio.map_or(Cell::Missing, Cell::Ratio),
                user.mean_wait_s.map_or(Cell::Missing, seconds),
                user.wait_reduction.map_or(Cell::Missing, |saved| Cell::Change(-saved)),
                Cell::Ratio(user.long_run_share),
            ]
        };
        let users = 0..self.log.users as usize;
        let rows = users.flat_map(|index| self.policies.iter().map(move |run| row(run, &run.users[index])));
        Table {
            id: "users".to_owned(),
            title: "Users under every policy".to_owned(),
            columns: vec![
                Column::new("user", "user"),
                Column::new("policy", "policy"),
                Column::new("tasks", "submitted"),
                Column::new("completed", "completed"),
                Column::new("too large", "skipped"),
                Column::new("by the horizon", "completion_ratio"),
                Column::new("mean wait", "wait_mean_ns"),
                Column::new("change", "wait_mean_change"),
                Column::new("long-run share", "long_run_share"),
            ],
            rows: rows.collect(),
            detail: true,
        }
    }
}

/// A time of a table.
pub(crate) fn seconds(seconds: f64) -> Cell {
    Cell::LongTime(seconds * 1e9)
}

/// `half of it in 8 d (δ = 1-1e-6 per second)`.
fn forgotten(half_life_s: f64, delta: &str) -> String {
    match delta {
        // A number that rounds to nothing is none to write down.
        "0" => format!("half in {}, and next to nothing is left after a second", time(half_life_s)),
        delta => format!("half in {} (δ = {delta} per second)", time(half_life_s)),
    }
}

/// `cpu 67.2, mem 350 (70.0 % of the mean use)`.
pub(crate) fn cluster(capacity: &[ResourceFacts], relative: Option<f64>) -> String {
    let amounts: Vec<String> =
        capacity.iter().map(|of| format!("{} {}", of.resource, amount(of.capacity))).collect();
    let of = relative.map_or(String::new(), |part| format!(" ({} of the mean use)", Percent(part)));
    format!("{}{of}", amounts.join(", "))
}

/// An amount in at most six digits.
fn amount(amount: f64) -> String {
    let text = match amount {
        amount if !(1e-3..1e15).contains(&amount) => return format!("{amount:.3e}"),
        amount if amount >= 1000.0 => return format!("{amount:.0}"),
        amount => format!("{amount:.3}"),
    };
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        assert_eq!(
            [67.2, 350.0, 0.25, 123_456.7, 1e18, 1e-9].map(amount),
            ["67.2", "350", "0.25", "123457", "1.000e18", "1.000e-9"]
        );
    }
}
