//! What `cache bound` says to people: facts, sentences and tables.

use trueplane_study::report::{Cell, Column, Report, Table};
use trueplane_study::rounded::{Toward, as_asked};

use super::study::{Bound, Method, Outcomes};
use super::verdict::{apart, distance};
use crate::compare::found::PolicyRun;
use crate::compare::report::{BELIEF, above_optimum, effort};
use crate::compare::verdict::by_latency;
use crate::policy::PolicyName;

impl Bound {
    /// The report.
    pub fn report(&self) -> Report {
        let mut tables = vec![self.bounds()];
        tables.extend((!self.policies.is_empty()).then(|| self.distances()));
        tables.extend(self.bins());
        tables.extend((!self.milestones.is_empty()).then(|| self.progress()));
        Report {
            study: self.study.to_owned(),
            title: format!("How far from optimal: {}", self.trace.name),
            belief: BELIEF.to_owned(),
            warnings: self.comparison.warnings.clone(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables,
            plots: self.plots(),
            document: serde_json::to_value(self).expect("a bound is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = self.comparison.facts();
        let run = &self.comparison.runs[0];
        let fact = |name: &str, value: String| (name.to_owned(), value);
        facts.push(fact("latency", self.comparison.latency_name(&run.latency)));
        facts.push(fact("capacity", self.comparison.capacity_name(run)));
        if let Some(prefix) = self.settings.prefix {
            facts.push(fact("of the trace", format!("the first {prefix} requests at most")));
        }
        if !self.settings.bypass {
            facts.push(fact("bypass", "none: what is fetched is there until the next request; policies that let it pass can undercut the bound".to_owned()));
        }
        facts.push(fact("method", self.settings.method.to_owned()));
        facts.push(fact("search", effort(&self.settings.limits)));
        let seconds = self.seconds.map_or_else(String::new, |seconds| format!(" in {seconds:.1} s"));
        facts.push(fact("iterations", format!("{}{seconds}", self.iterations)));
        facts.push(fact(
            "gap",
            if self.gap.is_finite() { Toward::Up.percent(self.gap) } else { "-".to_owned() },
        ));
        facts
    }

    /// The verdict, the most important sentence first.
    pub(super) fn sentences(&self) -> Vec<String> {
        let mut sentences = vec![self.on_bounds()];
        sentences.extend(self.on_gap());
        sentences.extend(self.policies_skipped.then(|| "The policies were not run: interrupted.".to_owned()));
        sentences.extend(self.on_policies());
        sentences.extend(self.on_classical());
        sentences.extend(self.burstiness.as_ref().and_then(super::burstiness::Correlation::sentence));
        sentences.extend((self.compares && !self.settings.bypass).then(|| {
            "Whether bursty objects wait less than under Bélády is not told: Bélády lets fetched objects pass the cache by, which this cache does not.".to_owned()
        }));
        sentences
    }

    fn on_bounds(&self) -> String {
        let mean = self.comparison.bound_name(self.lower_mean, Toward::Down);
        let rule = if self.settings.bypass { "" } else { " that admits what it fetches" };
        if self.lower == self.upper {
            return format!(
                "The optimum is known: no schedule of this cache{rule}, not even one that knows the future, makes requests wait less than {mean} on average, and one was found that makes them wait no longer."
            );
        }
        let above = if self.gap.is_finite() {
            format!(", at most {} more", Toward::Up.percent(self.gap))
        } else {
            String::new()
        };
        format!(
            "No schedule of this cache{rule}, not even one that knows the future, makes requests wait less than {mean} on average; the best that was found makes them wait {}{above}.",
            self.comparison.bound_name(self.upper_mean, Toward::Up)
        )
    }

    fn on_gap(&self) -> Option<String> {
        let asked = self.settings.limits.gap;
        if self.interrupted {
            return Some("The search was interrupted; these are the best bounds so far.".to_owned());
        }
        // Where a search has ended, a linear programme is solved.
        let advice = if self.settings.method == Method::Lp.as_str() {
            "The linear programme is solved, so that no longer search proves more; what is left is that objects are whole, and its solution may hold fractions of them. --method prices may find a better schedule."
        } else {
            "A longer --time-limit or more --iterations may bring them closer."
        };
        (self.gap > asked).then(|| {
            format!(
                "The bounds are farther apart than they should be: {}, where {} was asked for. {advice}",
                apart(self.gap, asked),
                as_asked(asked)
            )
        })
    }

    fn on_policies(&self) -> Option<String> {
        let online = by_latency(&self.policies);
        let belady = self.policies.iter().find(|run| run.policy == PolicyName::Belady);
        let known = belady.and_then(distance);
        let best = online.first().and_then(|best| Some((best, distance(best)?)));
        // With objects of several sizes there may be schedules with more hits.
        let (knows, which) = if self.capacity_unit == "bytes" {
            ("which knows the future", ", which knows the future,")
        } else {
            ("which knows the future and is optimal for hit rates", ", which is optimal for hit rates,")
        };
        match (best, known) {
            (Some((best, far)), Some(known)) => Some(format!(
                "The best policy that can be deployed here, {}, is {far}; Bélády, {knows}, is {known}.",
                best.policy
            )),
            (Some((best, far)), None) => {
                Some(format!("The best policy that can be deployed here, {}, is {far}.", best.policy))
            }
            (None, Some(known)) => Some(format!("Bélády{which} is {known}.")),
            (None, None) => None,
        }
    }

    /// What the classical model promises and no schedule can keep.
    fn on_classical(&self) -> Option<String> {
        let order =
            |a: &&PolicyRun, b: &&PolicyRun| a.classical_latency_mean.total_cmp(&b.classical_latency_mean);
        let promised = self.policies.iter().min_by(order)?;
        let short = 1.0 - promised.classical_latency_mean / self.lower_mean;
        // Less than is printed is nothing to speak of.
        (self.lower_mean > 0.0 && short >= 1e-4).then(|| {
            format!(
                "The classical model promises a mean of {} under {}, which is at least {} less than any schedule can reach.",
                self.comparison.mean_name(promised.classical_latency_mean),
                promised.policy,
                Toward::Down.percent(short)
            )
        })
    }

    fn bounds(&self) -> Table {
        let Outcomes { hits, delayed_hits, misses } = self.schedule;
        let row = |what: &str, total: u64, mean, toward, outcomes: [Cell; 3]| {
            let latencies = [mean, total as f64].map(|value| self.comparison.bound_cell(value, toward));
            [vec![Cell::text(what)], latencies.to_vec(), outcomes.to_vec()].concat()
        };
        Table {
            id: "bounds".to_owned(),
            title: "How little requests could wait".to_owned(),
            columns: vec![
                Column::new("bound", "bound"),
                self.comparison.latency_column("mean latency", "latency_mean"),
                self.comparison.latency_column("total latency", "latency_total"),
                Column::new("hits", "hits"),
                Column::new("delayed", "delayed_hits"),
                Column::new("misses", "misses"),
            ],
            rows: vec![
                row(
                    "no schedule waits less",
                    self.lower,
                    self.lower_mean,
                    Toward::Down,
                    [const { Cell::Missing }; 3],
                ),
                row(
                    "the schedule found",
                    self.upper,
                    self.upper_mean,
                    Toward::Up,
                    [hits, delayed_hits, misses].map(Cell::Count),
                ),
            ],
            ..Table::default()
        }
    }

    fn distances(&self) -> Table {
        let row = |run: &PolicyRun| {
            let [at_least, at_most] = above_optimum(run);
            vec![
                Cell::text(run.policy.name()),
                Cell::Ratio(run.classical_hit_rate),
                self.comparison.latency_cell(run.classical_latency_mean),
                self.comparison.latency_cell(run.latency_mean),
                at_least,
                at_most,
                Cell::Count(run.hits),
                Cell::Count(run.delayed_hits),
                Cell::Count(run.misses),
            ]
        };
        Table {
            id: "policies".to_owned(),
            title: "How far above the optimum every policy is".to_owned(),
            columns: vec![
                Column::new("policy", "policy"),
                Column::new("classical hit rate", "classical_hit_rate"),
                self.comparison.latency_column("classical mean", "classical_latency_mean"),
                self.comparison.latency_column("true mean", "latency_mean"),
                Column::new("above optimum, at least", "above_optimum_at_least"),
                Column::new("at most", "above_optimum"),
                Column::new("hits", "hits"),
                Column::new("delayed", "delayed_hits"),
                Column::new("misses", "misses"),
            ],
            rows: self.policies.iter().map(row).collect(),
            ..Table::default()
        }
    }

    fn bins(&self) -> Option<Table> {
        let correlation = self.burstiness.as_ref().filter(|correlation| correlation.objects > 0)?;
        let rows = correlation.bins.iter().map(|bin| {
            vec![
                Cell::Number(bin.from),
                Cell::Number(bin.to),
                Cell::Count(bin.objects),
                Cell::Count(bin.requests),
                Cell::Change(bin.difference_mean),
                self.comparison.latency_cell(bin.schedule_total as f64),
                self.comparison.latency_cell(bin.belady_total as f64),
            ]
        });
        Some(Table {
            id: "burstiness".to_owned(),
            title: "What bursty objects wait compared with Bélády".to_owned(),
            columns: vec![
                Column::new("burstiness from", "burstiness_from"),
                Column::new("to", "burstiness_to"),
                Column::new("objects", "objects"),
                Column::new("requests", "requests"),
                Column::new("mean difference", "difference_mean"),
                self.comparison.latency_column("total, schedule found", "schedule_total"),
                self.comparison.latency_column("total, Bélády", "belady_total"),
            ],
            rows: rows.collect(),
            detail: true,
        })
    }

    fn progress(&self) -> Table {
        let rows = self.milestones.iter().map(|milestone| {
            let gap = milestone.upper as f64 / milestone.lower as f64 - 1.0;
            vec![
                milestone.seconds.map_or(Cell::Missing, |seconds| Cell::Nanos(seconds * 1e9)),
                Cell::Count(milestone.iterations),
                self.comparison.bound_cell(milestone.lower as f64, Toward::Down),
                self.comparison.bound_cell(milestone.upper as f64, Toward::Up),
                Toward::Up.ratio_cell(gap),
            ]
        });
        Table {
            id: "milestones".to_owned(),
            title: "How the bounds came closer".to_owned(),
            columns: vec![
                Column::new("after", "time_ns"),
                Column::new("iterations", "iterations"),
                self.comparison.latency_column("lower bound", "lower"),
                self.comparison.latency_column("upper bound", "upper"),
                Column::new("gap", "gap"),
            ],
            rows: rows.collect(),
            detail: true,
        }
    }
}
