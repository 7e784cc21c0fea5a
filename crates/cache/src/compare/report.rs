//! What `cache compare` says to people: facts, tables and the verdict.

use trueplane_study::metrics::ratio;
use trueplane_study::report::{Cell, Column, Report, Table, Unit};
use trueplane_study::rounded::{Toward, as_asked, nearest_steps};
use trueplane_units::{Bytes, Nanos};

use super::verdict::{by_hit_rate, by_latency, choice, misordered, on_grid};
use crate::bound;
use crate::compare::found::{Comparison, Effort, LatencyFact, PolicyRun, Run, Settings, TraceFacts};

/// What the classical model believes.
pub const BELIEF: &str = "mean latency = hit rate × hit latency + miss rate × miss latency, as if a fetched object were there at once";

/// The place of the columns that hold policies against the bound, right after their true mean.
const ABOVE_OPTIMUM: usize = 7;

impl Comparison {
    /// The report of a comparison: of one point in full, of a grid by its points and means, with everything in detail.
    pub fn report(&self) -> Report {
        let mut report = Report {
            study: self.study.to_owned(),
            title: format!("Caching with delayed hits: {}", self.trace.name),
            belief: BELIEF.to_owned(),
            warnings: self.warnings.clone(),
            facts: self.facts(),
            document: serde_json::to_value(self).expect("a comparison is plain data"),
            plots: self.plots(),
            ..Report::default()
        };
        if let [run] = &self.runs[..] {
            report.verdict.clone_from(&run.verdict);
            let name = self.name(run);
            report.tables = vec![
                Table {
                    title: format!("What each policy is predicted to do and what it does: {name}"),
                    ..self.outcomes(false)
                },
                self.rankings(run, &name),
            ];
        } else {
            let runs: Vec<(String, &Run)> = self.runs.iter().map(|run| (self.name(run), run)).collect();
            report.verdict = on_grid(&runs);
            report.verdict.extend(bound::verdict::on_grid(&runs));
            let effort = self.bound.as_ref();
            report.verdict.extend(effort.and_then(|effort| bound::verdict::on_gaps(&runs, effort)));
            report.tables = vec![self.points()];
            report.tables.extend(self.by_capacity().map(|runs| self.means(&runs)));
            report.tables.push(Table {
                title: "Every policy at every point".to_owned(),
                detail: true,
                ..self.outcomes(true)
            });
        }
        report
    }

    pub(crate) fn facts(&self) -> Vec<(String, String)> {
        let summary = &self.trace.summary;
        let mut facts = vec![
            ("trace".to_owned(), self.trace.name.clone()),
            ("requests".to_owned(), summary.requests.to_string()),
            ("objects".to_owned(), summary.objects.to_string()),
            ("peak active objects".to_owned(), summary.peak_active.to_string()),
            ("time".to_owned(), self.time.to_owned()),
            ("seed".to_owned(), self.settings.seed.to_string()),
        ];
        if let Some(mean) = summary.mean_interarrival().filter(|_| !self.slotted()) {
            facts
                .insert(4, ("mean time between requests".to_owned(), Nanos(mean.round() as u64).to_string()));
        }
        facts.extend(left_out(&self.trace));
        let Settings {
            warmup,
            hit_latency,
            ways,
            mad_memory,
            lhd_eviction,
            tinylfu_window,
            bypass_oversized,
            ..
        } = self.settings;
        let hit_latency = self.latency_name(&LatencyFact::Constant(hit_latency));
        let unusual = [
            (warmup > 0, "warm-up", format!("{warmup} requests, not counted")),
            (self.settings.hit_latency > 0, "hit latency", hit_latency),
            (ways.is_some(), "ways", ways.map_or_else(String::new, |ways| ways.to_string())),
            (mad_memory != "cached", "MAD counters", "of every object ever seen".to_owned()),
            (lhd_eviction != "sampled", "LHD's victim", lhd_eviction.to_owned()),
            (tinylfu_window != "adaptive", "W-TinyLFU's window", "1 % of the capacity".to_owned()),
            (bypass_oversized, "larger than the cache", "passed by".to_owned()),
        ];
        let unusual = unusual.into_iter().filter(|(is_so, ..)| *is_so);
        facts.extend(unusual.map(|(_, name, value)| (name.to_owned(), value)));
        facts.extend(self.bound.iter().flat_map(|effort| self.on_bound(effort)));
        facts
    }

    /// How the bounds were found that policies are held against, and what they are the bounds of.
    fn on_bound(&self, spent: &Effort) -> Vec<(String, String)> {
        let mut facts = vec![("bound of each point".to_owned(), effort(spent))];
        if let [run @ Run { lower_bound: Some(lower), upper_bound: Some(upper), .. }] = &self.runs[..] {
            let requests = self.trace.summary.requests - self.settings.warmup;
            let mean = |bound: u64, toward| self.bound_name(ratio(bound.into(), requests), toward);
            let (lower, upper) = (mean(*lower, Toward::Down), mean(*upper, Toward::Up));
            let gap = run.bounds_gap().filter(|gap| gap.is_finite());
            let apart = gap.map_or_else(String::new, |gap| format!(" ({} more)", Toward::Up.percent(gap)));
            facts.push(("optimal mean latency".to_owned(), format!("from {lower} to {upper}{apart}")));
        }
        if self.settings.ways.is_some() {
            let cache = "of a fully associative cache of the same capacity, which sets cannot beat";
            facts.push(("bound".to_owned(), cache.to_owned()));
        }
        facts
    }

    pub(crate) fn slotted(&self) -> bool {
        self.unit == "steps"
    }

    pub(crate) fn latency_unit(&self) -> Unit {
        if self.slotted() { Unit::Plain } else { Unit::Nanos }
    }

    pub(crate) fn latency_cell(&self, latency: f64) -> Cell {
        if self.slotted() { Cell::Steps(latency) } else { Cell::Nanos(latency) }
    }

    /// A bound on a latency as a cell.
    pub(crate) fn bound_cell(&self, latency: f64, toward: Toward) -> Cell {
        if !latency.is_finite() {
            return Cell::Missing;
        }
        Cell::Bound { printed: self.bound_name(latency, toward), value: latency }
    }

    /// A column of latencies, its unit in the name for machines.
    pub(crate) fn latency_column(&self, title: impl Into<String>, name: &str) -> Column {
        Column::new(title, format!("{name}_{}", self.unit))
    }

    pub(crate) fn latency_name(&self, latency: &LatencyFact) -> String {
        match latency {
            LatencyFact::Constant(1) if self.slotted() => "1 step".to_owned(),
            LatencyFact::Constant(steps) if self.slotted() => format!("{steps} steps"),
            LatencyFact::Constant(nanos) => Nanos(*nanos).to_string(),
            LatencyFact::Varying(name) => name.clone(),
        }
    }

    /// A mean latency that is no bound, rounded to the nearest as tables do.
    pub(crate) fn mean_name(&self, mean: f64) -> String {
        if self.slotted() { nearest_steps(mean) } else { Nanos(mean.round() as u64).to_string() }
    }

    /// A bound of the mean latency.
    pub(crate) fn bound_name(&self, mean: f64, toward: Toward) -> String {
        if self.slotted() { toward.steps(mean) } else { toward.nanos(mean).to_string() }
    }

    pub(crate) fn capacity_name(&self, run: &Run) -> String {
        if run.capacity_unit == "bytes" {
            return Bytes(run.capacity).to_string();
        }
        let share = if run.capacity_asked.ends_with('%') {
            format!(" ({})", run.capacity_asked)
        } else {
            String::new()
        };
        format!("{} object{}{share}", run.capacity, if run.capacity == 1 { "" } else { "s" })
    }

    pub(crate) fn name(&self, run: &Run) -> String {
        format!("latency {}, capacity {}", self.latency_name(&run.latency), self.capacity_name(run))
    }

    /// The runs at every capacity in turn, by latency.
    pub(crate) fn by_capacity(&self) -> impl Iterator<Item = Vec<&Run>> {
        (0..self.capacities)
            .map(|capacity| self.runs.iter().skip(capacity).step_by(self.capacities).collect())
    }

    /// The runs at every latency in turn, by capacity.
    pub(crate) fn by_latency(&self) -> impl Iterator<Item = Vec<&Run>> {
        self.runs.chunks(self.capacities).map(|runs| runs.iter().collect())
    }

    /// What tells one point of the grid from another.
    fn point(&self, run: &Run) -> Vec<Cell> {
        let latency = match &run.latency {
            LatencyFact::Constant(latency) => self.latency_cell(*latency as f64),
            LatencyFact::Varying(name) => Cell::text(name),
        };
        let bytes = run.capacity_unit == "bytes";
        let capacity = if bytes { Cell::Bytes(Bytes(run.capacity)) } else { Cell::Count(run.capacity) };
        vec![latency, capacity, Cell::text(&run.capacity_asked)]
    }

    fn point_columns(&self) -> Vec<Column> {
        vec![
            self.latency_column("latency", "latency"),
            Column::new("capacity", "capacity"),
            Column::new("asked for", "capacity_asked"),
        ]
    }

    /// One row for every policy; with the point in front if there are several.
    fn outcomes(&self, points: bool) -> Table {
        let cells = |policy: &PolicyRun| {
            let mut cells = vec![
                Cell::text(policy.policy.name()),
                Cell::Count(policy.hits),
                Cell::Count(policy.delayed_hits),
                Cell::Count(policy.misses),
                Cell::Ratio(policy.classical_hit_rate),
                self.latency_cell(policy.classical_latency_mean),
                self.latency_cell(policy.latency_mean),
                Cell::Ratio(policy.classical_underestimate),
                self.latency_cell(policy.latency_p50 as f64),
                self.latency_cell(policy.latency_p99 as f64),
                self.latency_cell(policy.latency_p999 as f64),
            ];
            if self.bound.is_some() {
                cells.splice(ABOVE_OPTIMUM..ABOVE_OPTIMUM, above_optimum(policy));
            }
            cells
        };
        let row =
            |run, policy| if points { [self.point(run), cells(policy)].concat() } else { cells(policy) };
        let mut columns = vec![
            Column::new("policy", "policy"),
            Column::new("hits", "hits"),
            Column::new("delayed", "delayed_hits"),
            Column::new("misses", "misses"),
            Column::new("classical hit rate", "classical_hit_rate"),
            self.latency_column("classical mean", "classical_latency_mean"),
            self.latency_column("true mean", "latency_mean"),
            Column::new("under-estimate", "classical_underestimate"),
            self.latency_column("p50", "latency_p50"),
            self.latency_column("p99", "latency_p99"),
            self.latency_column("p99.9", "latency_p999"),
        ];
        if self.bound.is_some() {
            let above = [
                Column::new("above optimum, at least", "above_optimum_at_least"),
                Column::new("at most", "above_optimum"),
            ];
            columns.splice(ABOVE_OPTIMUM..ABOVE_OPTIMUM, above);
        }
        if points {
            columns.splice(0..0, self.point_columns());
        }
        Table {
            id: "policies".to_owned(),
            columns,
            rows: (self.runs.iter())
                .flat_map(|run| run.policies.iter().map(move |policy| row(run, policy)))
                .collect(),
            ..Table::default()
        }
    }

    fn rankings(&self, run: &Run, name: &str) -> Table {
        let (hits, latency) = (by_hit_rate(&run.policies), by_latency(&run.policies));
        let rows = (1..).zip(hits.iter().zip(&latency)).map(|(place, (by_hits, by_latency))| {
            vec![
                Cell::Count(place),
                Cell::text(by_hits.policy.name()),
                Cell::Ratio(by_hits.classical_hit_rate),
                Cell::text(by_latency.policy.name()),
                self.latency_cell(by_latency.latency_mean),
            ]
        });
        Table {
            id: "rankings".to_owned(),
            title: format!("The policies that can be deployed, ranked: {name}"),
            columns: vec![
                Column::new("place", "place"),
                Column::new("by hit rate", "by_hit_rate"),
                Column::new("classical hit rate", "classical_hit_rate"),
                Column::new("by true latency", "by_latency"),
                self.latency_column("true mean", "latency_mean"),
            ],
            rows: rows.collect(),
            ..Table::default()
        }
    }

    /// What choosing by hit rate comes to at every point of the grid.
    fn points(&self) -> Table {
        let row = |run: &Run| {
            let mut row = self.point(run);
            let Some(choice) = choice(&run.policies) else {
                let columns = 5 + if self.bound.is_some() { 3 } else { 0 };
                row.extend(std::iter::repeat_n(Cell::Missing, columns));
                return row;
            };
            let (wrong, pairs) = misordered(&run.policies);
            let favourites: Vec<&str> = choice.favourites.iter().map(|run| run.policy.name()).collect();
            row.extend([
                Cell::text(favourites.join(" or ")),
                Cell::text(choice.best.policy.name()),
                Cell::Change(choice.loss(choice.picked())),
                Cell::text(format!("{wrong} of {pairs}")),
                Cell::Ratio(choice.picked().classical_underestimate),
            ]);
            if self.bound.is_some() {
                row.extend(above_optimum(choice.best));
                row.push(run.bounds_gap().map_or(Cell::Missing, |gap| Toward::Up.ratio_cell(gap)));
            }
            row
        };
        let above = [
            Column::new("the best above optimum, at least", "best_above_optimum_at_least"),
            Column::new("at most", "best_above_optimum"),
            Column::new("the bounds apart", "bounds_gap"),
        ];
        Table {
            id: "points".to_owned(),
            title: "What choosing by hit rate comes to".to_owned(),
            columns: [
                self.point_columns(),
                vec![
                    Column::new("picked by hit rate", "picked"),
                    Column::new("truly best", "best"),
                    Column::new("waits longer", "loss"),
                    Column::new("pairs in wrong order", "misordered"),
                    Column::new("under-estimate of the picked", "classical_underestimate"),
                ],
                if self.bound.is_some() { above.to_vec() } else { Vec::new() },
            ]
            .concat(),
            rows: self.runs.iter().map(row).collect(),
            ..Table::default()
        }
    }

    /// The true mean latency of every policy at one capacity, a column for every latency.
    fn means(&self, runs: &[&Run]) -> Table {
        let mut columns = vec![Column::new("policy", "policy")];
        columns.extend(runs.iter().map(|run| {
            let exact = match &run.latency {
                LatencyFact::Constant(latency) => format!("{latency}{}", self.unit),
                LatencyFact::Varying(name) => slug(name),
            };
            self.latency_column(self.latency_name(&run.latency), &format!("latency_mean_at_{exact}"))
        }));
        let row = |index: usize| {
            let name = Cell::text(runs[0].policies[index].policy.name());
            let means = runs.iter().map(|run| self.latency_cell(run.policies[index].latency_mean));
            std::iter::once(name).chain(means).collect()
        };
        Table {
            id: format!("means-{}", slug(&runs[0].capacity_asked)),
            title: format!(
                "True mean latency by backing-store latency: capacity {}",
                self.capacity_name(runs[0])
            ),
            columns,
            rows: (0..runs[0].policies.len()).map(row).collect(),
            ..Table::default()
        }
    }
}

/// How far a policy is above the optimum, at least and at most.
pub(crate) fn above_optimum(policy: &PolicyRun) -> [Cell; 2] {
    [(policy.above_optimum_at_least, Toward::Down), (policy.above_optimum, Toward::Up)]
        .map(|(share, toward)| share.map_or(Cell::Missing, |share| toward.change_cell(share)))
}

/// What of a trace was no request, as facts.
pub(crate) fn left_out(trace: &TraceFacts) -> impl Iterator<Item = (String, String)> {
    trace.skipped.iter().map(|(what, count)| (format!("left out: {what}"), count.to_string()))
}

/// A name as part of a file name.
pub(crate) fn slug(name: &str) -> String {
    let name = name.replace('%', "pct");
    name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-')).collect()
}

/// What ends a search, in words.
pub(crate) fn effort(effort: &Effort) -> String {
    let mut ends = vec![format!("until the bounds are {} apart", as_asked(effort.gap))];
    ends.extend(effort.seconds.map(|seconds| format!("for {seconds} s at most")));
    ends.extend(effort.iterations.map(|iterations| format!("for {iterations} iterations at most")));
    ends.join(", ")
}
