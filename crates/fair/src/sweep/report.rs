//! What `fair sweep` says to people: figures 4.9 and 4.11 of the thesis.

use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_units::Percent;

use crate::BELIEF;
use crate::simulate::report::seconds;
use crate::sweep::found::{Row, Size, Sweep};
use crate::words::time;

impl Sweep {
    /// The report: waits and events over δ and the size of the cluster.
    pub fn report(&self) -> Report {
        let mut plots = vec![
            self.plot(
                "wait-reduction",
                "What of the mean wait of users under drf is saved (figure 4.9)",
                "The mean over users of the mean wait of their tasks. Below zero it is longer.",
                Axis { label: "saved of the mean wait".to_owned(), unit: Unit::Percent, log: false },
                |row| row.users_wait_reduction,
            ),
            self.plot(
                "live-tree-events",
                "Live-tree events (figure 4.11)",
                "How often two users who wait change places by themselves. None is not drawn.",
                Axis { label: "events".to_owned(), unit: Unit::Plain, log: true },
                |row| (row.live_tree_events > 0).then_some(row.live_tree_events as f64),
            ),
        ];
        plots.retain(|plot| plot.series.iter().any(|series| !series.points.is_empty()));
        Report {
            study: self.study.to_owned(),
            title: format!("How long to remember: {}", self.log.name),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables: vec![self.table(), self.clusters()],
            plots,
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let log = &self.log;
        let mut facts = vec![
            ("log".to_owned(), log.name.clone()),
            ("tasks".to_owned(), format!("{} of {} users", log.tasks, log.users)),
            ("time".to_owned(), format!("{}, if nobody ever waited", time(log.span_s))),
            (
                "tasks must have ended".to_owned(),
                format!("{} after the first submission", time(self.horizon_s)),
            ),
            ("compared".to_owned(), "sdrf with drf".to_owned()),
        ];
        if self.backfill {
            facts.push(("backfill".to_owned(), "smaller tasks may pass one that does not fit".to_owned()));
        }
        facts.extend(log.odd_tasks());
        facts
    }

    fn table(&self) -> Table {
        let saved = |part: Option<f64>| part.map_or(Cell::Missing, |saved| Cell::Change(-saved));
        let row = |row: &Row| {
            vec![
                Cell::Ratio(row.capacity),
                Cell::text(&row.delta_text),
                seconds(row.half_life_s),
                seconds(row.users_mean_wait_s),
                saved(row.users_wait_reduction),
                seconds(row.mean_wait_s),
                saved(row.wait_reduction),
                Cell::Count(row.users_wait_less),
                Cell::Count(row.users_wait_more),
                Cell::Count(row.live_tree_events),
                Cell::Number(row.events_per_task * 1e3),
            ]
        };
        Table {
            id: "sweep".to_owned(),
            title: "SDRF against DRF, for every size of the cluster (part of the mean use) and every δ per second".to_owned(),
            columns: vec![
                Column::new("cluster", "capacity"),
                Column::new("δ", "delta"),
                Column::new("half in", "half_life_ns"),
                Column::new("mean wait of users", "users_wait_mean_ns"),
                Column::new("change", "users_wait_mean_change"),
                Column::new("of tasks", "wait_mean_ns"),
                Column::new("change of it", "wait_mean_change"),
                Column::new("users wait less", "users_wait_less"),
                Column::new("longer", "users_wait_more"),
                Column::new("live-tree events", "live_tree_events"),
                Column::new("for 1000 tasks", "events_per_1000_tasks"),
            ],
            rows: self.rows.iter().map(row).collect(),
            ..Table::default()
        }
    }

    fn clusters(&self) -> Table {
        let row = |size: &Size| {
            let mut row = vec![Cell::Ratio(size.capacity)];
            row.extend(size.resources.iter().map(|of| Cell::Number(of.capacity)));
            row.extend([
                Cell::Count(size.skipped),
                Cell::Count(size.waited),
                seconds(size.mean_wait_s),
                seconds(size.users_mean_wait_s),
            ]);
            row
        };
        let mut columns = vec![Column::new("cluster", "capacity")];
        columns.extend(self.log.resources.iter().map(|name| Column::new(name, format!("capacity_{name}"))));
        columns.extend([
            Column::new("too large", "skipped"),
            Column::new("tasks wait", "waited"),
            Column::new("mean wait", "wait_mean_ns"),
            Column::new("mean of users", "users_wait_mean_ns"),
        ]);
        Table {
            id: "clusters".to_owned(),
            title: "The clusters under DRF".to_owned(),
            columns,
            rows: self.sizes.iter().map(row).collect(),
            ..Table::default()
        }
    }

    /// A curve over 1 − δ for every size of the cluster.
    fn plot(&self, id: &str, title: &str, note: &str, y: Axis, value: impl Fn(&Row) -> Option<f64>) -> Plot {
        let curve = |size: &Size| {
            let rows = self.rows.iter().filter(|row| row.capacity == size.capacity);
            let mut points: Vec<(f64, f64)> =
                rows.filter_map(|row| Some((row.forgotten, value(row)?))).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Series {
                name: format!("{} of the mean use", Percent(size.capacity)),
                points,
                ..Series::default()
            }
        };
        Plot {
            id: id.to_owned(),
            title: title.to_owned(),
            note: note.to_owned(),
            x: Axis {
                label: "1 - δ: what is forgotten in a second".to_owned(),
                unit: Unit::Plain,
                log: true,
            },
            y,
            series: self.sizes.iter().map(curve).collect(),
        }
    }
}
