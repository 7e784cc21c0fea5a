//! What a trace is like, and how long latencies are on its own scale.

use serde::Serialize;
use trueplane_study::report::{Cell, Column, Report, Table};
use trueplane_study::{Error, Observer};
use trueplane_trace::{Clock, Trace};
use trueplane_units::{Bytes, Nanos};

use crate::beware;
use crate::compare::found::TraceFacts;
use crate::compare::report::BELIEF;
use crate::latency::Latency;
use crate::scan::scan;

/// The result of `cache analyze`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// `cache.analyze`.
    pub study: &'static str,
    /// The trace.
    pub trace: TraceFacts,
    /// What of it makes the results doubtful, in plain sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Whether its times are steps, because it has no timestamps.
    pub slotted: bool,
    /// Whether its requests have sizes.
    pub sizes: bool,
    /// The mean time between requests, in ns or steps.
    pub interrequest_mean: Option<f64>,
    /// The latencies that were asked about.
    pub latencies: Vec<LatencyScale>,
}

/// A latency on the scale of a trace.
#[derive(Clone, Debug, Serialize)]
pub struct LatencyScale {
    /// The latency in ns.
    pub latency: Nanos,
    /// Z: the mean number of requests that arrive during it.
    pub z: Option<f64>,
}

/// Reads a trace once.
///
/// # Errors
/// If the trace cannot be read or has no requests; if the observer interrupts.
pub fn analyze(trace: &Trace, latencies: &[Nanos], observer: &dyn Observer) -> Result<Analysis, Error> {
    let clock = if trace.fields().time { Clock::Timestamps } else { Clock::Steps };
    let (summary, skipped) = scan(trace, clock, observer, |_| Ok(()))?;
    let constant: Vec<Latency> = latencies.iter().copied().map(Latency::Constant).collect();
    let warning =
        (clock == Clock::Timestamps).then(|| beware::of_times(trace, &summary, &constant)).flatten();
    Ok(Analysis {
        study: "cache.analyze",
        warnings: warning.into_iter().collect(),
        slotted: clock == Clock::Steps,
        sizes: trace.fields().size,
        interrequest_mean: summary.mean_interarrival(),
        latencies: (latencies.iter().filter(|_| clock == Clock::Timestamps))
            .map(|&latency| LatencyScale { latency, z: summary.z_of(latency) })
            .collect(),
        trace: TraceFacts { name: trace.name().to_owned(), summary, skipped },
    })
}

impl Analysis {
    /// The report of an analysis.
    pub fn report(&self) -> Report {
        let mut tables = vec![self.trace_table()];
        if !self.latencies.is_empty() {
            let z = |scale: &LatencyScale| scale.z.map_or(Cell::Missing, Cell::Number);
            tables.push(Table {
                id: "latencies".to_owned(),
                title: "Latencies on the trace's own scale: Z, the mean number of requests that arrive during one"
                    .to_owned(),
                columns: vec![Column::new("latency", "latency_ns"), Column::new("Z", "z")],
                rows: self.latencies.iter().map(|scale| vec![scale.latency.into(), z(scale)]).collect(),
                ..Table::default()
            });
        }
        Report {
            study: self.study.to_owned(),
            title: format!("What the trace is like: {}", self.trace.name),
            belief: BELIEF.to_owned(),
            warnings: self.warnings.clone(),
            verdict: self.verdict(),
            tables,
            document: serde_json::to_value(self).expect("an analysis is plain data"),
            ..Report::default()
        }
    }

    fn trace_table(&self) -> Table {
        let summary = &self.trace.summary;
        let time = |value: f64| if self.slotted { Cell::Steps(value) } else { Cell::Nanos(value) };
        let score = |value: Option<f64>| value.map_or(Cell::Missing, Cell::Number);
        let mut rows = vec![
            vec![Cell::text("requests"), Cell::Count(summary.requests)],
            vec![Cell::text("objects"), Cell::Count(summary.objects)],
            vec![Cell::text("objects asked for only once"), Cell::Count(summary.one_timers)],
            vec![Cell::text("peak of concurrently active objects"), Cell::Count(summary.peak_active)],
            vec![
                Cell::text("from the first to the last request"),
                time(summary.last.since(summary.first).0 as f64),
            ],
            vec![
                Cell::text("mean time between requests"),
                self.interrequest_mean.map_or(Cell::Missing, time),
            ],
            vec![
                Cell::text("burstiness of all arrivals (−1 paced, 0 Poisson, 1 bursts)"),
                score(summary.burstiness_arrivals),
            ],
            vec![
                Cell::text("burstiness of the requests for one object, mean"),
                score(summary.burstiness_objects),
            ],
        ];
        if self.sizes {
            rows.push(vec![Cell::text("largest object"), Cell::Bytes(Bytes(summary.largest))]);
            rows.push(vec![Cell::text("all objects together"), Cell::Bytes(Bytes(summary.footprint_bytes))]);
        }
        rows.extend(
            self.trace
                .skipped
                .iter()
                .map(|(what, count)| vec![Cell::text(format!("left out: {what}")), Cell::Count(*count)]),
        );
        Table {
            id: "trace".to_owned(),
            title: "The trace".to_owned(),
            columns: vec![Column::new("what", "what"), Column::new("value", "value")],
            rows,
            ..Table::default()
        }
    }

    fn verdict(&self) -> Vec<String> {
        if self.slotted {
            let advice =
                "The trace has no timestamps: compare policies in steps, such as trueplane cache compare";
            return vec![format!("{advice} {} --latency 1000steps.", self.trace.name)];
        }
        let reached = (self.latencies.iter().filter(|scale| scale.z.is_some_and(|z| z >= 1.0)))
            .min_by_key(|scale| scale.latency);
        vec![match reached {
            Some(scale) => {
                format!("From fetches of {} on, others arrive meanwhile: expect delayed hits.", scale.latency)
            }
            None => "Fewer than one request arrives during such fetches: delayed hits come from bursts only."
                .to_owned(),
        }]
    }
}
