//! What `cache compare` and `cache analyze` say to people.

use trueplane_core::cache::policy::PolicyName;
use trueplane_core::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_core::units::{Bytes, Nanos};

use super::analyze::{Analysis, LatencyScale};
use super::compare::{Comparison, LatencyFact, PolicyRun, Run, TraceFacts, by_hit_rate, by_latency};

const BELIEF: &str = "mean latency = hit rate × hit latency + miss rate × miss latency, as if a fetched object were there at once";

impl Comparison {
    /// The report of a comparison.
    pub fn report(&self) -> Report {
        let mut report = Report {
            study: self.study.to_owned(),
            title: format!("Caching with delayed hits: {}", self.trace.name),
            belief: BELIEF.to_owned(),
            facts: trace_facts(&self.trace),
            document: serde_json::to_value(self).expect("a comparison is plain data"),
            ..Report::default()
        };
        report.facts.push(("time".to_owned(), self.time.to_owned()));
        report.facts.push(("seed".to_owned(), self.seed.to_string()));
        if self.warmup > 0 {
            report.facts.push(("warm-up".to_owned(), format!("{} requests, not counted", self.warmup)));
        }
        for run in &self.runs {
            let name = self.run_name(run);
            report.tables.push(self.outcomes(run, &name));
            report.tables.push(self.rankings(run, &name));
            let prefix = if self.runs.len() > 1 { format!("At {name}: ") } else { String::new() };
            report.verdict.extend(run.verdict.iter().map(|sentence| format!("{prefix}{sentence}")));
        }
        report.plots = self.plots();
        report
    }

    fn slotted(&self) -> bool {
        self.unit == "steps"
    }

    fn latency_cell(&self, latency: f64) -> Cell {
        if self.slotted() { Cell::Steps(latency) } else { Cell::Nanos(latency) }
    }

    fn latency_unit(&self) -> Unit {
        if self.slotted() { Unit::Plain } else { Unit::Nanos }
    }

    fn latency_name(&self, latency: &LatencyFact) -> String {
        match latency {
            LatencyFact::Constant(steps) if self.slotted() => format!("{steps} steps"),
            LatencyFact::Constant(nanos) => Nanos(*nanos).to_string(),
            LatencyFact::Varying(name) => name.clone(),
        }
    }

    fn capacity_name(&self, run: &Run) -> String {
        if run.capacity_unit == "bytes" {
            return Bytes(run.capacity).to_string();
        }
        let share = if run.capacity_asked.ends_with('%') {
            format!(" ({})", run.capacity_asked)
        } else {
            String::new()
        };
        format!("{} objects{share}", run.capacity)
    }

    fn run_name(&self, run: &Run) -> String {
        format!("latency {}, capacity {}", self.latency_name(&run.latency), self.capacity_name(run))
    }

    /// A part of a file name that tells runs apart.
    fn suffix(&self, run: &Run) -> String {
        if self.runs.len() == 1 {
            return String::new();
        }
        let name = format!("-{}-{}", self.latency_name(&run.latency), run.capacity_asked);
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { '_' };
        name.replace('%', "pct").replace(' ', "").chars().map(plain).collect()
    }

    fn outcomes(&self, run: &Run, name: &str) -> Table {
        let unit = self.unit;
        let column = |title: &str, name: &str| Column::new(title, name);
        let latency = |title: &str, name: &str| Column::new(title, format!("{name}_{unit}"));
        let cells = |policy: &PolicyRun| {
            vec![
                Cell::text(policy.policy.as_str()),
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
            ]
        };
        Table {
            id: format!("policies{}", self.suffix(run)),
            title: format!("What each policy is predicted to do and what it does: {name}"),
            columns: vec![
                column("policy", "policy"),
                column("hits", "hits"),
                column("delayed", "delayed_hits"),
                column("misses", "misses"),
                column("classical hit rate", "classical_hit_rate"),
                latency("classical mean", "classical_latency_mean"),
                latency("true mean", "latency_mean"),
                column("under-estimate", "classical_underestimate"),
                latency("p50", "latency_p50"),
                latency("p99", "latency_p99"),
                latency("p99.9", "latency_p999"),
            ],
            rows: run.policies.iter().map(cells).collect(),
        }
    }

    fn rankings(&self, run: &Run, name: &str) -> Table {
        let (hits, latency) = (by_hit_rate(&run.policies), by_latency(&run.policies));
        let rows = hits.iter().zip(&latency).enumerate().map(|(place, (by_hits, by_latency))| {
            vec![
                Cell::Count(place as u64 + 1),
                Cell::text(by_hits.policy.as_str()),
                Cell::Ratio(by_hits.classical_hit_rate),
                Cell::text(by_latency.policy.as_str()),
                self.latency_cell(by_latency.latency_mean),
            ]
        });
        Table {
            id: format!("rankings{}", self.suffix(run)),
            title: format!("The policies that can be deployed, ranked: {name}"),
            columns: vec![
                Column::new("place", "place"),
                Column::new("by hit rate", "by_hit_rate"),
                Column::new("classical hit rate", "classical_hit_rate"),
                Column::new("by true latency", "by_latency"),
                Column::new("true mean", format!("latency_mean_{}", self.unit)),
            ],
            rows: rows.collect(),
        }
    }

    fn plots(&self) -> Vec<Plot> {
        let mut plots = Vec::new();
        for capacity in self.distinct(|run| run.capacity_asked.clone()) {
            let runs: Vec<&Run> = self.runs.iter().filter(|run| run.capacity_asked == capacity).collect();
            plots.extend(self.against(
                &runs,
                &format!("capacity {}", self.capacity_name(runs[0])),
                Swept::Latency,
            ));
        }
        for latency in self.distinct(|run| self.latency_name(&run.latency)) {
            let runs: Vec<&Run> =
                self.runs.iter().filter(|run| self.latency_name(&run.latency) == latency).collect();
            plots.extend(self.against(&runs, &format!("latency {latency}"), Swept::Capacity));
        }
        plots.extend(self.runs.iter().map(|run| self.distribution(run)));
        plots
    }

    fn distinct(&self, name: impl Fn(&Run) -> String) -> Vec<String> {
        let mut names = Vec::new();
        for name in self.runs.iter().map(name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Everything against one swept quantity while the other is held, if it takes more than one value: the thesis's
    /// figures 2.3, 2.20–2.22 and 2.25 against latency, and 2.23 against capacity.
    fn against(&self, runs: &[&Run], held: &str, swept: Swept) -> Vec<Plot> {
        let mut points: Vec<(f64, &Run)> =
            runs.iter().filter_map(|run| Some((swept.value(run)?, *run))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0 == b.0);
        if points.len() < 2 {
            return Vec::new();
        }
        let slug: String = held.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
        let id = |what: &str| format!("{what}-against-{}-{slug}", swept.name());
        let x = match swept {
            Swept::Latency => {
                let label =
                    format!("backing-store latency ({})", if self.slotted() { "steps" } else { "time" });
                Axis { label, unit: self.latency_unit(), log: true }
            }
            Swept::Capacity => Axis {
                label: format!("capacity ({})", points[0].1.capacity_unit),
                unit: Unit::Plain,
                log: true,
            },
        };
        let policies = &points[0].1.policies;
        let curve = |index: usize, value: &dyn Fn(&Run, &PolicyRun) -> Option<f64>| -> Vec<(f64, f64)> {
            points.iter().filter_map(|(x, run)| Some((*x, value(run, &run.policies[index])?))).collect()
        };
        let mut means = Vec::new();
        let (mut gains, mut changes) = (Vec::new(), Vec::new());
        for (index, policy) in policies.iter().enumerate() {
            let name = policy.policy.as_str().to_owned();
            means.push(Series {
                name: name.clone(),
                points: curve(index, &|_, policy| Some(policy.latency_mean)),
                dashed: false,
                color: Some(index),
            });
            means.push(Series {
                name: format!("{name}, classical"),
                points: curve(index, &|_, policy| Some(policy.classical_latency_mean)),
                dashed: true,
                color: Some(index),
            });
            let Some(base) = policy.policy.base().filter(|base| find(points[0].1, *base).is_some()) else {
                continue;
            };
            let against = |value: fn(&PolicyRun) -> f64| {
                curve(index, &|run, policy| {
                    let base = value(find(run, base)?);
                    (base > 0.0).then(|| value(policy) / base - 1.0)
                })
            };
            let gain =
                against(|policy| policy.latency_mean).into_iter().map(|(x, change)| (x, -change)).collect();
            gains.push(Series { name: name.clone(), points: gain, dashed: false, color: Some(index) });
            let change = against(|policy| policy.misses as f64);
            changes.push(Series { name, points: change, dashed: false, color: Some(index) });
        }
        let percent = |label: &str| Axis { label: label.to_owned(), unit: Unit::Percent, log: false };
        let mut plots = vec![Plot {
            id: id("latency"),
            title: format!("Mean latency against {}: {held}", swept.name()),
            note: "Solid: what happens. Dashed: what the classical model predicts of the same policy."
                .to_owned(),
            x: x.clone(),
            y: Axis { label: "mean latency".to_owned(), unit: self.latency_unit(), log: true },
            series: means,
        }];
        if !gains.is_empty() {
            plots.push(Plot {
                id: id("mad-gain"),
                title: format!("What MAD saves over its base policy: {held}"),
                note: "Above zero, weighing objects by their aggregate delay makes requests wait less."
                    .to_owned(),
                x: x.clone(),
                y: percent("mean latency saved"),
                series: gains,
            });
            plots.push(Plot {
                id: id("mad-misses"),
                title: format!("What MAD does to the load on the backing store: {held}"),
                note: "Below zero, MAD also fetches less than its base policy.".to_owned(),
                x,
                y: percent("change in misses"),
                series: changes,
            });
        }
        plots
    }

    /// The cumulative distribution of latency of one run, thesis figure 2.2.
    fn distribution(&self, run: &Run) -> Plot {
        let series = run.policies.iter().enumerate().map(|(index, policy)| Series {
            name: policy.policy.as_str().to_owned(),
            points: policy.cdf.iter().map(|&(value, share)| (value as f64, share)).collect(),
            dashed: false,
            color: Some(index),
        });
        Plot {
            id: format!("distribution{}", self.suffix(run)),
            title: format!("How long requests wait: {}", self.run_name(run)),
            note: "The left edge is the true hit rate; what rises between it and the right edge are delayed hits."
                .to_owned(),
            x: Axis { label: format!("latency ({})", self.unit), unit: self.latency_unit(), log: false },
            y: Axis { label: "share of requests that wait at most this".to_owned(), unit: Unit::Percent, log: false },
            series: series.collect(),
        }
    }
}

/// The quantity along the horizontal axis.
#[derive(Clone, Copy)]
enum Swept {
    Latency,
    Capacity,
}

impl Swept {
    fn name(self) -> &'static str {
        match self {
            Swept::Latency => "latency",
            Swept::Capacity => "capacity",
        }
    }

    fn value(self, run: &Run) -> Option<f64> {
        match (self, &run.latency) {
            (Swept::Latency, LatencyFact::Constant(latency)) => Some(*latency as f64),
            (Swept::Latency, LatencyFact::Varying(_)) => None,
            (Swept::Capacity, _) => Some(run.capacity as f64),
        }
    }
}

fn find(run: &Run, policy: PolicyName) -> Option<&PolicyRun> {
    run.policies.iter().find(|run| run.policy == policy)
}

fn trace_facts(trace: &TraceFacts) -> Vec<(String, String)> {
    let summary = &trace.summary;
    let mut facts = vec![
        ("trace".to_owned(), trace.name.clone()),
        ("requests".to_owned(), summary.requests.to_string()),
        ("objects".to_owned(), summary.objects.to_string()),
        ("peak active objects".to_owned(), summary.peak_active.to_string()),
    ];
    facts.extend(trace.skipped.iter().map(|(what, count)| (format!("left out: {what}"), count.to_string())));
    facts
}

impl Analysis {
    /// The report of an analysis.
    pub fn report(&self) -> Report {
        let summary = &self.trace.summary;
        let time = |value: f64| if self.slotted { Cell::Steps(value) } else { Cell::Nanos(value) };
        let score = |value: Option<f64>| value.map_or(Cell::Missing, Cell::Number);
        let mut rows = vec![
            ("requests", Cell::Count(summary.requests)),
            ("objects", Cell::Count(summary.objects)),
            ("asked for once only", Cell::Count(summary.one_timers)),
            ("peak of concurrently active objects", Cell::Count(summary.peak_active)),
            ("from first to last request", time(summary.last.since(summary.first).0 as f64)),
            ("mean time between requests", self.interrequest_mean.map_or(Cell::Missing, time)),
            ("burstiness of arrivals (Goh-Barabási)", score(summary.burstiness_arrivals)),
            ("burstiness of an object's requests, mean", score(summary.burstiness_objects)),
            ("largest object", Cell::Bytes(Bytes(summary.largest))),
            ("all objects together", Cell::Bytes(Bytes(summary.footprint_bytes))),
        ];
        rows.extend(self.trace.skipped.iter().map(|(what, count)| (what.as_str(), Cell::Count(*count))));
        let mut tables = vec![Table {
            id: "trace".to_owned(),
            title: "The trace".to_owned(),
            columns: vec![Column::new("what", "what"), Column::new("value", "value")],
            rows: rows.into_iter().map(|(what, value)| vec![Cell::text(what), value]).collect(),
        }];
        if !self.latencies.is_empty() {
            tables.push(Table {
                id: "latencies".to_owned(),
                title: "Latencies on the trace's own scale: Z is the mean number of requests that arrive during one"
                    .to_owned(),
                columns: vec![Column::new("latency", "latency_ns"), Column::new("Z", "z")],
                rows: (self.latencies.iter())
                    .map(|scale| vec![scale.latency.into(), score(scale.z)])
                    .collect(),
            });
        }
        Report {
            study: self.study.to_owned(),
            title: format!("What the trace is like: {}", self.trace.name),
            belief: BELIEF.to_owned(),
            verdict: self.verdict(),
            tables,
            document: serde_json::to_value(self).expect("an analysis is plain data"),
            ..Report::default()
        }
    }

    fn verdict(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        if self.slotted {
            sentences.push(
                "The trace has no timestamps: study it with --time slotted and latencies in steps."
                    .to_owned(),
            );
        }
        for LatencyScale { latency, z } in &self.latencies {
            if let Some(z) = z {
                let consequence = if *z < 1.0 { "delayed hits are rare" } else { "expect delayed hits" };
                sentences
                    .push(format!("At {latency}, Z = {z:.1} requests arrive during a fetch: {consequence}."));
            }
        }
        sentences
    }
}
