//! What `limit precision` says to people.

use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_units::{BitsPerSec, Bytes};

use crate::BELIEF;
use crate::precision::found::{Point, Precision};

impl Precision {
    /// The report: one table of errors by rate, one with everything, and figures 11 to 13 of the paper.
    pub fn report(&self) -> Report {
        Report {
            study: self.study.to_owned(),
            title: "How exactly limiters enforce their rates".to_owned(),
            belief: BELIEF.to_owned(),
            verdict: self.verdict.clone(),
            facts: self.facts(),
            tables: vec![self.errors(), self.everything()],
            plots: self.plots(),
            document: serde_json::to_value(self).expect("a study is plain data"),
            ..Report::default()
        }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let facts = [
            ("packets", format!("{} bytes", self.packet_bytes)),
            ("offered", format!("{} × the configured rate", self.load)),
            ("burst", Bytes(self.burst_bytes).to_string()),
            ("marked above", Bytes(self.mark_bytes).to_string()),
            ("seed", self.seed.to_string()),
        ];
        facts.map(|(name, value)| (name.to_owned(), value)).into()
    }

    /// The limiters, each with its points by source and rate.
    fn limiters(&self) -> Vec<(String, Vec<&Point>)> {
        let mut limiters: Vec<(String, Vec<&Point>)> = Vec::new();
        for point in &self.points {
            let name = name(point);
            match limiters.iter_mut().find(|(other, _)| *other == name) {
                Some((_, points)) => points.push(point),
                None => limiters.push((name, vec![point])),
            }
        }
        limiters
    }

    /// The sources in their order.
    fn sources(&self) -> Vec<&'static str> {
        let mut sources: Vec<&'static str> = Vec::new();
        for point in &self.points {
            if !sources.contains(&point.source) {
                sources.push(point.source);
            }
        }
        sources
    }

    /// The rates, slowest first.
    fn rates(&self) -> Vec<u64> {
        let mut rates: Vec<u64> = self.points.iter().map(|point| point.rate_configured_bps).collect();
        rates.sort_unstable();
        rates.dedup();
        rates
    }

    /// For every limiter the largest error of all sources at every rate, below the classical model, where nobody is limited.
    fn errors(&self) -> Table {
        let rates = self.rates();
        let mut columns = vec![Column::new("limiter", "limiter")];
        columns.extend(
            rates
                .iter()
                .map(|&rate| Column::new(BitsPerSec(rate).to_string(), format!("error_at_{rate}bps"))),
        );
        let unlimited = rates.iter().map(|_| Cell::Change(self.load - 1.0));
        let mut rows = vec![std::iter::once(Cell::text("none (classical)")).chain(unlimited).collect()];
        for (limiter, points) in self.limiters() {
            let worst = |rate: &u64| {
                let at_rate = points.iter().filter(|point| point.rate_configured_bps == *rate);
                let worst = at_rate.max_by(|a, b| a.error.abs().total_cmp(&b.error.abs()));
                worst.map_or(Cell::Missing, |point| Cell::Change(point.error))
            };
            rows.push(std::iter::once(Cell::text(limiter)).chain(rates.iter().map(worst)).collect());
        }
        Table {
            id: "errors".to_owned(),
            title:
                "How far the rate that passes is from the configured one, with the source that makes it worst"
                    .to_owned(),
            columns,
            rows,
            ..Table::default()
        }
    }

    fn everything(&self) -> Table {
        let row = |point: &Point| {
            vec![
                Cell::text(point.policy),
                Cell::text(&point.drain),
                Cell::text(point.source),
                Cell::Rate(BitsPerSec(point.rate_configured_bps)),
                Cell::Rate(BitsPerSec(point.rate_offered_bps.round() as u64)),
                Cell::Rate(BitsPerSec(point.rate_achieved_bps.round() as u64)),
                Cell::Number(point.achieved_to_configured),
                Cell::Change(point.error),
                Cell::Count(point.arrived_packets),
                Cell::Count(point.passed_packets),
                Cell::Count(point.marked_packets),
                Cell::Count(point.dropped_packets),
            ]
        };
        Table {
            id: "points".to_owned(),
            title: "Every limiter, source and rate".to_owned(),
            columns: vec![
                Column::new("policy", "policy"),
                Column::new("drain", "drain"),
                Column::new("source", "source"),
                Column::new("configured", "rate_configured_bps"),
                Column::new("offered", "rate_offered_bps"),
                Column::new("achieved", "rate_achieved_bps"),
                Column::new("achieved / configured", "achieved_to_configured"),
                Column::new("error", "error"),
                Column::new("packets", "arrived_packets"),
                Column::new("passed", "passed_packets"),
                Column::new("marked", "marked_packets"),
                Column::new("dropped", "dropped_packets"),
            ],
            rows: self.points.iter().map(row).collect(),
            detail: true,
        }
    }

    /// A picture of achieved rates, figures 11 and 13, and one of errors for each source, figure 12.
    fn plots(&self) -> Vec<Plot> {
        let sources = self.sources();
        let mut plots = Vec::new();
        if let Some(first) = sources.first() {
            plots.push(self.achieved(first));
        }
        plots.extend(sources.iter().map(|source| self.error_by_rate(source)));
        plots
    }

    /// One curve for every limiter: `y` at every rate against `source`.
    fn curves(&self, source: &str, y: impl Fn(&Point) -> f64) -> Vec<Series> {
        let curve = |(index, (name, points)): (usize, (String, Vec<&Point>))| {
            let points = points.iter().filter(|point| point.source == source);
            let mut points: Vec<(f64, f64)> =
                points.map(|point| (point.rate_configured_bps as f64, y(point))).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            Series { name, points, color: Some(index), ..Series::default() }
        };
        self.limiters().into_iter().enumerate().map(curve).collect()
    }

    fn rate_axis(label: &str) -> Axis {
        Axis { label: label.to_owned(), unit: Unit::BitsPerSec, log: false }
    }

    fn achieved(&self, source: &str) -> Plot {
        let mut series = self.curves(source, |point| point.rate_achieved_bps);
        let unlimited: Vec<(f64, f64)> = series.first().map_or_else(Vec::new, |series| {
            series.points.iter().map(|&(rate, _)| (rate, rate * self.load)).collect()
        });
        let color = Some(series.len());
        let name = "without a limit".to_owned();
        series.push(Series { name, points: unlimited, dashed: true, color, ..Series::default() });
        Plot {
            id: "achieved".to_owned(),
            title: format!("Achieved against configured rates: {source}"),
            note: "Solid: what passes. Dashed: what the same source takes of a link that TCP is trusted to share."
                .to_owned(),
            x: Self::rate_axis("configured rate"),
            y: Self::rate_axis("achieved rate"),
            series,
        }
    }

    fn error_by_rate(&self, source: &str) -> Plot {
        let mut series = self.curves(source, |point| point.error.abs());
        let bounds: Vec<Series> = (self.limiters().iter().zip(&series))
            .filter(|((_, points), _)| points.iter().any(|point| point.drain_error_max > 0.0))
            .map(|((_, points), curve)| Series {
                name: format!("at most, by its table of {}", points[0].drain),
                points: curve.points.iter().map(|&(rate, _)| (rate, points[0].drain_error_max)).collect(),
                dashed: true,
                color: curve.color,
                ..Series::default()
            })
            .collect();
        series.extend(bounds);
        Plot {
            id: format!("error-{source}"),
            title: format!("Error of the achieved rate: {source}"),
            note: "Solid: how far what passes is from the configured rate, in either direction. Dashed: how far a table may be off."
                .to_owned(),
            x: Self::rate_axis("configured rate"),
            y: Axis { label: "|achieved / configured − 1|".to_owned(), unit: Unit::Percent, log: true },
            series,
        }
    }
}

/// What tells one limiter from another: the policy, and how it drains if that is not exactly.
fn name(point: &Point) -> String {
    if point.drain == "exact" {
        point.policy.to_owned()
    } else {
        format!("{}, table of {}", point.policy, point.drain)
    }
}
