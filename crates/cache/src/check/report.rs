//! What a certificate was found to prove.

use serde::Serialize;
use trueplane_study::report::{Cell, Column, Report, Table};
use trueplane_study::rounded::Toward;
use trueplane_trace::Clock;
use trueplane_units::Bytes;

use super::format::{Header, Terms};
use super::upper::Served;
use crate::compare::report::BELIEF;

/// A certificate that holds; serialised, it is what `--json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// `cache.check`.
    pub study: &'static str,
    /// The certificate.
    pub certificate: String,
    /// The trace.
    pub trace: String,
    /// The requests of it that were used.
    pub requests: u64,
    /// The objects among them.
    pub objects: u64,
    /// `ns` or `steps`: the unit of times.
    pub time_unit: &'static str,
    /// How long fetches take, as on the command line.
    pub latency: String,
    /// Where the draws of lognormal latencies begin.
    pub seed: Option<u64>,
    /// The total size of what the cache holds …
    pub capacity: u64,
    /// … in `objects` or `bytes`.
    pub capacity_unit: &'static str,
    /// What a hit takes.
    pub hit_latency: u64,
    /// So many requests at the start were not counted.
    pub warmup: u64,
    /// Whether fetched objects may pass the cache by.
    pub bypass: bool,
    /// Whether objects larger than the cache are let by.
    pub bypass_oversized: bool,
    /// No schedule has a smaller total latency.
    pub lower: u64,
    /// The schedule's total latency.
    pub upper: u64,
    /// (upper − lower) / lower; none if only the lower one is zero.
    pub gap: Option<f64>,
    /// Counted requests for objects in the cache, under the schedule.
    pub hits: u64,
    /// Counted requests for objects on their way.
    pub delayed_hits: u64,
    /// Counted requests that began a fetch.
    pub misses: u64,
    /// The largest total size of what the schedule has in the cache at once.
    pub fullest: u64,
}

impl Checked {
    pub(super) fn new(
        certificate: &str,
        trace: &str,
        header: &Header,
        terms: &Terms,
        served: &Served,
    ) -> Self {
        let claims = header.claims;
        let gap = match (claims.lower, claims.upper) {
            (0, 0) => Some(0.0),
            (0, _) => None,
            (lower, upper) => Some((upper - lower) as f64 / lower as f64),
        };
        Self {
            study: "cache.check",
            certificate: certificate.to_owned(),
            trace: trace.to_owned(),
            requests: header.trace.requests,
            objects: header.trace.objects,
            time_unit: if terms.clock == Clock::Steps { "steps" } else { "ns" },
            latency: header.terms.latency.clone(),
            seed: header.terms.seed,
            capacity: terms.capacity,
            capacity_unit: if terms.by_bytes { "bytes" } else { "objects" },
            hit_latency: terms.hit_latency,
            warmup: terms.warmup,
            bypass: terms.bypass,
            bypass_oversized: terms.bypass_oversized,
            lower: claims.lower,
            upper: claims.upper,
            gap,
            hits: served.hits,
            delayed_hits: served.delayed_hits,
            misses: served.misses,
            // It fits the capacity.
            fullest: served.fullest as u64,
        }
    }

    /// The report.
    pub fn report(&self) -> Report {
        let table = Table {
            id: "bounds".to_owned(),
            title: "Total latency: what was verified".to_owned(),
            columns: vec![Column::new("what", "what"), Column::new("value", "value")],
            rows: self.rows(),
            ..Table::default()
        };
        Report {
            study: self.study.to_owned(),
            title: format!("What is certified: {}", self.certificate),
            belief: BELIEF.to_owned(),
            verdict: self.verdict(),
            facts: self.facts(),
            tables: vec![table],
            document: serde_json::to_value(self).expect("what was checked is plain data"),
            ..Report::default()
        }
    }

    fn verdict(&self) -> Vec<String> {
        let gap = self.gap.map_or("and is not known to be near".to_owned(), |gap| {
            format!("and is at most {} above it", Toward::Up.percent(gap))
        });
        let rule = if self.bypass { "" } else { " that admits what it fetches" };
        vec![
            "The certificate holds: both bounds follow from its prices and its schedule, in integer arithmetic."
                .to_owned(),
            format!(
                "No cache of this size{rule} can serve the trace in less than the lower bound; the schedule fits, {gap}."
            ),
        ]
    }

    fn rows(&self) -> Vec<Vec<Cell>> {
        // Whole numbers: these are what is certified.
        let total = |what: &str| format!("{what} ({})", self.time_unit);
        let size = |size: u64| match self.capacity_unit {
            "bytes" => Cell::Bytes(Bytes(size)),
            _ => Cell::Count(size),
        };
        [
            (total("lower bound"), Cell::Count(self.lower)),
            (total("upper bound: the schedule's total"), Cell::Count(self.upper)),
            ("gap".to_owned(), self.gap.map_or(Cell::Missing, |gap| Toward::Up.ratio_cell(gap))),
            ("hits of the schedule".to_owned(), Cell::Count(self.hits)),
            ("delayed hits".to_owned(), Cell::Count(self.delayed_hits)),
            ("misses".to_owned(), Cell::Count(self.misses)),
            ("most in the cache at once".to_owned(), size(self.fullest)),
        ]
        .into_iter()
        .map(|(what, value)| vec![Cell::Text(what), value])
        .collect()
    }

    fn facts(&self) -> Vec<(String, String)> {
        let mut facts = vec![
            ("trace", self.trace.clone()),
            ("requests", self.requests.to_string()),
            ("objects", self.objects.to_string()),
            ("capacity", format!("{} {}", self.capacity, self.capacity_unit)),
            ("latency", self.latency.clone()),
            ("hit latency", format!("{} {}", self.hit_latency, self.time_unit)),
            ("warm-up", format!("{} requests", self.warmup)),
            ("bypass", if self.bypass { "allowed" } else { "not allowed" }.to_owned()),
        ];
        if let Some(seed) = self.seed {
            facts.push(("seed", seed.to_string()));
        }
        if self.bypass_oversized {
            facts.push(("objects larger than the cache", "pass it by".to_owned()));
        }
        facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
