//! What people see of `limit precision`: a table of errors by rate, one with everything, and figures 11 to 13 of Nimble.

use trueplane_study::report::{Axis, Cell, Plot, Series, Unit};
use trueplane_study::{Measured, Page};
use trueplane_units::{BitsPerSec, Percent};

use super::found::{Point, worst};
use super::options::Options;
use super::verdict::on_short_time;
use crate::drain::Drain;
use crate::policy::PolicyName;
use crate::source::Pace;

pub(super) fn present(options: &Options, found: &[Point], page: &mut Page) {
    let limiters = limiters(found);
    page.fact("marked above", "mark_bytes", options.mark());
    if let Some(sentence) = on_short_time(options, found) {
        page.warn(sentence);
    }
    numbers(options, &limiters, page);
    errors(options, found, &limiters, page);
    page.table("points", "Every limiter, source and rate", found)
        .col("policy", "policy", |point| point.policy.name())
        .col("drain", "drain", |point| point.drain.to_string())
        .col("drain error", "drain_error_max", |point| Percent(point.drain.error_max()))
        .col("source", "source", |point| point.source.name())
        .col("configured", "rate_configured_bps", |point| point.configured)
        .col("offered", "rate_offered_bps", |point| whole(point.offered_bps()))
        .col("achieved", "rate_achieved_bps", |point| whole(point.achieved_bps()))
        .col("achieved / configured", "achieved_to_configured", |point| point.achieved_to_configured())
        .col("error", "error", |point| Cell::Change(point.error()))
        .col("measured for", "duration_ns", |point| point.duration)
        .col("packets", "arrived_packets", |point| point.counts.arrived_packets)
        .col("passed", "passed_packets", |point| point.counts.passed_packets)
        .col("marked", "marked_packets", |point| point.counts.marked_packets)
        .col("dropped", "dropped_packets", |point| point.counts.dropped_packets)
        .detail();
    plots(options, found, &limiters, page);
}

fn whole(bits_per_sec: f64) -> BitsPerSec {
    BitsPerSec(bits_per_sec.round() as u64)
}

/// A policy in one way to drain, with its points.
struct Limiter<'p> {
    policy: PolicyName,
    drain: Drain,
    points: Vec<&'p Point>,
}

impl Limiter<'_> {
    fn name(&self) -> String {
        match self.drain {
            Drain::Exact => self.policy.to_string(),
            Drain::Table(_) => format!("{}, table of {}", self.policy, self.drain),
        }
    }

    /// One curve: `y` at every rate against `source`.
    fn curve(&self, source: Pace, y: impl Fn(&Point) -> f64) -> Vec<(f64, f64)> {
        let points = self.points.iter().filter(|point| point.source == source);
        let mut points: Vec<(f64, f64)> = points.map(|point| (point.configured.0 as f64, y(point))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }
}

fn limiters(found: &[Point]) -> Vec<Limiter<'_>> {
    let mut limiters: Vec<Limiter<'_>> = Vec::new();
    for point in found {
        let (policy, drain) = (point.policy, point.drain);
        match limiters.iter_mut().find(|limiter| (limiter.policy, limiter.drain) == (policy, drain)) {
            Some(limiter) => limiter.points.push(point),
            None => limiters.push(Limiter { policy, drain, points: vec![point] }),
        }
    }
    limiters
}

/// The error of every policy, and of the coarsest table: the classical model has nobody who limits.
fn numbers(options: &Options, limiters: &[Limiter<'_>], page: &mut Page) {
    let coarsest = limiters.iter().map(|limiter| limiter.drain.error_max()).fold(0.0, f64::max);
    for limiter in limiters {
        let error_max = limiter.drain.error_max();
        if error_max > 0.0 && error_max < coarsest {
            continue;
        }
        let measured = match limiter.drain {
            Drain::Exact if limiter.policy.properties().is_live => {
                Measured::By("trueplane limit experiment precision")
            }
            Drain::Exact => Measured::Needs("a device with this limiter"),
            Drain::Table(_) => Measured::Needs("a switch with this table"),
        };
        page.numbers(
            format!("error of the rate under {}", limiter.name()),
            "error",
            Cell::Change(options.load.number() - 1.0),
            worst(limiter.points.iter().copied()).map_or(Cell::Missing, Cell::Change),
            measured,
        );
    }
}

/// For every limiter the largest error of all sources at every rate, below the classical model, where nobody is limited.
fn errors(options: &Options, found: &[Point], limiters: &[Limiter<'_>], page: &mut Page) {
    let mut rates: Vec<BitsPerSec> = found.iter().map(|point| point.configured).collect();
    rates.sort_unstable();
    rates.dedup();
    let rows = [None].into_iter().chain(limiters.iter().map(Some));
    let mut table = page
        .table(
            "errors",
            "How far the rate that passes is from the configured one, with the source that makes it worst",
            rows,
        )
        .col("limiter", "limiter", |row| row.map_or_else(|| "none (classical)".to_owned(), Limiter::name));
    for rate in rates {
        table = table.col(rate.to_string(), format!("error_at_{}bps", rate.0), |row| match row {
            None => Cell::Change(options.load.number() - 1.0),
            Some(limiter) => {
                let at_rate = limiter.points.iter().copied().filter(|point| point.configured == rate);
                worst(at_rate).map_or(Cell::Missing, Cell::Change)
            }
        });
    }
}

/// A picture of achieved rates, figures 11 and 13, and one of errors for each source, figure 12.
fn plots(options: &Options, found: &[Point], limiters: &[Limiter<'_>], page: &mut Page) {
    let mut sources: Vec<Pace> = Vec::new();
    for point in found {
        if !sources.contains(&point.source) {
            sources.push(point.source);
        }
    }
    if let Some(&first) = sources.first() {
        page.plot(achieved(options, first, limiters));
    }
    for source in sources {
        page.plot(error_by_rate(source, limiters));
    }
}

fn curves(limiters: &[Limiter<'_>], source: Pace, y: impl Fn(&Point) -> f64) -> Vec<Series> {
    let curve = |(index, limiter): (usize, &Limiter<'_>)| Series {
        name: limiter.name(),
        points: limiter.curve(source, &y),
        color: Some(index),
        ..Series::default()
    };
    limiters.iter().enumerate().map(curve).collect()
}

fn rate_axis(label: &str) -> Axis {
    Axis { label: label.to_owned(), unit: Unit::BitsPerSec, log: false }
}

fn achieved(options: &Options, source: Pace, limiters: &[Limiter<'_>]) -> Plot {
    let mut series = curves(limiters, source, Point::achieved_bps);
    let load = options.load.number();
    let unlimited: Vec<(f64, f64)> = series
        .first()
        .map_or_else(Vec::new, |series| series.points.iter().map(|&(rate, _)| (rate, rate * load)).collect());
    let color = Some(series.len());
    let name = "none (classical)".to_owned();
    series.push(Series { name, points: unlimited, dashed: true, color, ..Series::default() });
    Plot {
        id: "achieved".to_owned(),
        title: format!("Achieved against configured rates: {source}"),
        note:
            "Solid: what passes. Dashed: what the same source takes of a link that TCP is trusted to share."
                .to_owned(),
        x: rate_axis("configured rate"),
        y: rate_axis("achieved rate"),
        series,
    }
}

fn error_by_rate(source: Pace, limiters: &[Limiter<'_>]) -> Plot {
    let mut series = curves(limiters, source, |point| point.error().abs());
    let bounds: Vec<Series> = (limiters.iter().zip(&series))
        .filter(|(limiter, _)| limiter.drain != Drain::Exact)
        .map(|(limiter, curve)| Series {
            name: format!("at most, by its table of {}", limiter.drain),
            points: curve.points.iter().map(|&(rate, _)| (rate, limiter.drain.error_max())).collect(),
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
        x: rate_axis("configured rate"),
        y: Axis { label: "|achieved / configured − 1|".to_owned(), unit: Unit::Percent, log: true },
        series,
    }
}
