//! What people see of `cache compare`: one point in full, or a grid by its points and means, with everything in detail.

use trueplane_study::metrics::ratio;
use trueplane_study::page::Columns;
use trueplane_study::report::Cell;
use trueplane_study::rounded::{Toward, as_asked};
use trueplane_study::{Measured, Page};
use trueplane_units::Percent;

use super::found::Found;
use super::plots::{plots, ranks};
use super::verdict::telling;
use crate::bound::Limits;
use crate::bounds::apart;
use crate::grid::ranking::{Choice, by_hit_rate, by_latency, choice, misordered};
use crate::grid::{Point, Points, PolicyRun};
use crate::latency::Latency;
use crate::units::{Units, slug};

/// The three numbers are told at most so many times.
const MOST_NUMBERS: usize = 8;

/// What it takes to measure a latency.
const LIVE: Measured = Measured::Needs("a cache that logs latencies");

pub(super) fn present(found: &Found, page: &mut Page) {
    let grid = &found.grid;
    grid.present(page);
    if let Some(limits) = &found.limits {
        on_bound(found, limits, page);
    }
    match grid.points.as_slice() {
        [point] => {
            numbers_of_policies(grid, point, page);
            let name = grid.name(point);
            let title = format!("Every policy, predicted (classical) and simulated (refined): {name}");
            let choice = telling(point);
            outcomes(found, &title, page).mark(|(_, run)| mark(choice.as_ref()?, run));
            rankings(grid.units(), point, &name, page);
            points(found, page).detail();
        }
        _ => {
            numbers_of_points(grid, page);
            points(found, page);
            for points in grid.by_capacity() {
                means(grid.units(), &points, page);
            }
            outcomes(found, "Every policy at every point", page).detail();
        }
    }
    totals(found, page);
    if found.limits.is_some() {
        bounds(found, page);
    }
    for plot in plots(grid) {
        page.plot(plot);
    }
    if let [point] = grid.points.as_slice()
        && let Some(plot) = ranks(grid, point)
    {
        page.lead(plot);
    }
}

/// Adds the way in which the bounds were found, and what they are bounds of.
fn on_bound(found: &Found, limits: &Limits, page: &mut Page) {
    if let Some(sentence) = on_gaps(found, limits) {
        page.warn(sentence);
    }
    page.fact("bound of each point", "bound_search", limits.words());
    if let [Point { bounds: Some(bounds), policies, .. }] = found.grid.points.as_slice()
        && let Some(run) = policies.first()
    {
        let mean = |bound: u64, toward| found.grid.units().bound(ratio(bound.into(), run.requests), toward);
        let (lower, upper) = (mean(bounds.lower, Toward::Down), mean(bounds.upper, Toward::Up));
        let gap = Some(bounds.gap()).filter(|gap| gap.is_finite());
        let apart = gap.map_or_else(String::new, |gap| format!(" ({} more)", Toward::Up.percent(gap)));
        page.fact("optimal mean latency", "optimum", format!("from {lower} to {upper}{apart}"));
    }
    if found.ways.is_some() {
        let cache = "of a fully associative cache of the same capacity, which sets cannot beat";
        page.fact("bound", "bound", cache);
    }
}

/// That bounds are farther apart than was asked for, and where most.
fn on_gaps(found: &Found, limits: &Limits) -> Option<String> {
    let points = &found.grid.points;
    let wide = points.iter().filter_map(|point| Some((point, point.bounds?.gap())));
    let wide: Vec<(&Point, f64)> = wide.filter(|(_, gap)| *gap > limits.gap).collect();
    let (point, gap) = wide.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (gap, asked) = (apart(*gap, limits.gap), as_asked(limits.gap));
    let advice = match limits.time {
        Some(_) => "a longer --bound-time may bring them closer",
        None => "more --bound-iterations may bring them closer",
    };
    Some(match points.as_slice() {
        [_] => format!("The bounds of the optimum are {gap} apart, where {asked} was asked for: {advice}."),
        _ => format!(
            "The bounds of the optimum are farther apart than the {asked} that was asked for at {} of {} points, at worst {gap} at {}: {advice}.",
            wide.len(),
            points.len(),
            found.grid.name(point)
        ),
    })
}

/// The three numbers of the policies at a point; of many those that the verdict is about.
fn numbers_of_policies(grid: &Points, point: &Point, page: &mut Page) {
    let units = grid.units();
    for run in told(&point.policies) {
        page.numbers(
            format!("mean latency under {}", run.policy),
            units.column("latency_mean"),
            units.cell(run.classical_latency_mean),
            units.cell(run.latency_mean),
            LIVE,
        );
    }
}

/// All policies, or, if they are many, the one that hit rate picks, the best, those with the largest errors, and the offline ones.
fn told(policies: &[PolicyRun]) -> Vec<&PolicyRun> {
    if policies.len() <= MOST_NUMBERS {
        return policies.iter().collect();
    }
    let order =
        |a: &&PolicyRun, b: &&PolicyRun| a.classical_underestimate.total_cmp(&b.classical_underestimate);
    let choice = choice(policies);
    let wanted = [
        choice.as_ref().map(|choice| choice.picked().policy),
        choice.as_ref().map(|choice| choice.best.policy),
        policies.iter().min_by(order).map(|run| run.policy),
        policies.iter().max_by(order).map(|run| run.policy),
    ];
    let is_told = |run: &&PolicyRun| wanted.contains(&Some(run.policy)) || run.policy.properties().offline;
    policies.iter().filter(is_told).take(MOST_NUMBERS).collect()
}

/// The three numbers of what hit rate picks at each point; of many points those where it loses most.
fn numbers_of_points(grid: &Points, page: &mut Page) {
    let units = grid.units();
    let choices = grid.points.iter().filter_map(|point| Some((point, choice(&point.policies)?)));
    let mut choices: Vec<_> = choices.collect();
    if choices.len() > MOST_NUMBERS {
        choices.sort_by(|a, b| b.1.loss(b.1.picked()).total_cmp(&a.1.loss(a.1.picked())));
    }
    for (point, choice) in choices.iter().take(MOST_NUMBERS) {
        let picked = choice.picked();
        page.numbers(
            format!("mean latency under {}, which hit rate picks: {}", picked.policy, grid.name(point)),
            units.column("latency_mean"),
            units.cell(picked.classical_latency_mean),
            units.cell(picked.latency_mean),
            LIVE,
        );
    }
}

/// Every policy at every point.
type Row<'a> = (&'a Point, &'a PolicyRun);

fn rows(grid: &Points) -> impl Iterator<Item = Row<'_>> {
    grid.points.iter().flat_map(|point| point.policies.iter().map(move |policy| (point, policy)))
}

/// A table with a row for every policy, with its point in front if there are several.
fn by_policy<'p, 'f>(found: &'f Found, id: &str, title: &str, page: &'p mut Page) -> Columns<'p, Row<'f>> {
    let table = page.table(id, title, rows(&found.grid));
    let table = match found.grid.points.len() {
        1 => table,
        _ => Point::columns(table, found.grid.units(), |(point, _)| *point),
    };
    table.col("policy", "policy", |(_, run)| run.policy.name())
}

/// What is said of the policy that hit rate picks, and of the one to deploy.
fn mark(choice: &Choice<'_>, run: &PolicyRun) -> Option<&'static str> {
    match run.policy {
        policy if choice.is_near() && policy == choice.best.policy => Some("waits least"),
        policy if choice.is_near() && policy == choice.picked().policy => Some("best hit rate: as good"),
        policy if policy == choice.best.policy => Some("waits least: deploy this"),
        policy if choice.is_wrong() && policy == choice.picked().policy => Some("best hit rate"),
        _ => None,
    }
}

fn outcomes<'p, 'f>(found: &'f Found, title: &str, page: &'p mut Page) -> Columns<'p, Row<'f>> {
    let units = found.grid.units();
    let is_bounded = found.limits.is_some();
    by_policy(found, "policies", title, page)
        .col("classical hit rate", "classical_hit_rate", |(_, run)| Percent(run.classical_hit_rate))
        .col("classical mean", units.column("classical_latency_mean"), |(_, run)| {
            units.cell(run.classical_latency_mean)
        })
        .col("refined mean", units.column("latency_mean"), |(_, run)| units.cell(run.latency_mean))
        .col_if(is_bounded, "above optimum, at least", "above_optimum_at_least", |(_, run)| {
            run.above_at_least()
        })
        .col_if(is_bounded, "at most", "above_optimum", |(_, run)| run.above_at_most())
        .col("under-estimate", "classical_underestimate", |(_, run)| Percent(run.classical_underestimate))
        .col("hits", "hits", |(_, run)| run.hits)
        .col("delayed hits", "delayed_hits", |(_, run)| run.delayed_hits)
        .col("misses", "misses", |(_, run)| run.misses)
        .col("p50", units.column("latency_p50"), |(_, run)| units.cell(run.latency_p50 as f64))
        .col("p99", units.column("latency_p99"), |(_, run)| units.cell(run.latency_p99 as f64))
        .col("p99.9", units.column("latency_p999"), |(_, run)| units.cell(run.latency_p999 as f64))
}

/// The sums behind the means.
fn totals(found: &Found, page: &mut Page) {
    let units = found.grid.units();
    by_policy(found, "totals", "Requests that count, and the exact sums of their latencies", page)
        .col("requests", "requests", |(_, run)| run.requests)
        .col(units.heading("total latency"), units.column("latency_total"), |(_, run)| {
            units.total(run.latency_total)
        })
        .col("classical hits", "classical_hits", |(_, run)| run.classical_hits)
        .detail();
}

fn rankings(units: Units, point: &Point, name: &str, page: &mut Page) {
    let (hits, latency) = (by_hit_rate(&point.policies), by_latency(&point.policies));
    let rows = (1u64..).zip(hits.iter().zip(&latency));
    page.table("rankings", format!("The policies that can be deployed, ranked: {name}"), rows)
        .col("place", "place", |(place, _)| *place)
        .col("by hit rate", "by_hit_rate", |(_, (by_hits, _))| by_hits.policy.name())
        .col("classical hit rate", "classical_hit_rate", |(_, (by_hits, _))| {
            Percent(by_hits.classical_hit_rate)
        })
        .col("by refined latency", "by_latency", |(_, (_, by_latency))| by_latency.policy.name())
        .col("refined mean", units.column("latency_mean"), |(_, (_, by_latency))| {
            units.cell(by_latency.latency_mean)
        });
}

/// Adds the results of a choice by hit rate at every point.
fn points<'p, 'f>(found: &'f Found, page: &'p mut Page) -> Columns<'p, &'f Point> {
    let is_bounded = found.limits.is_some();
    let favourites = |point: &Point| {
        let names = choice(&point.policies)?.favourites.into_iter().map(|run| run.policy.name());
        Some(names.collect::<Vec<_>>().join(" or "))
    };
    let order = |point: &Point| {
        let (wrong, pairs) = misordered(&point.policies);
        choice(&point.policies).map(|_| format!("{wrong} of {pairs}"))
    };
    let table = page.table("points", "What choosing by hit rate comes to", &found.grid.points);
    Point::columns(table, found.grid.units(), |point| *point)
        .col("picked by hit rate", "picked", |point| favourites(point))
        .col("best", "best", |point| choice(&point.policies).map(|choice| choice.best.policy.name()))
        .col("longer", "loss", |point| {
            choice(&point.policies).map(|choice| Cell::Change(choice.loss(choice.picked())))
        })
        .col("pairs in wrong order", "misordered", |point| order(point))
        .col("under-estimate of the picked", "classical_underestimate", |point| {
            choice(&point.policies).map(|choice| Percent(choice.picked().classical_underestimate))
        })
        .col_if(is_bounded, "the best above optimum, at least", "best_above_optimum_at_least", |point| {
            choice(&point.policies).and_then(|choice| choice.best.above_at_least())
        })
        .col_if(is_bounded, "at most", "best_above_optimum", |point| {
            choice(&point.policies).and_then(|choice| choice.best.above_at_most())
        })
        .col_if(is_bounded, "the bounds apart", "bounds_gap", |point| {
            point.bounds.map(|bounds| Toward::Up.ratio_cell(bounds.gap()))
        })
}

/// The bounds on the total latency at every point.
fn bounds(found: &Found, page: &mut Page) {
    let units = found.grid.units();
    let table =
        page.table("bounds", "Bounds on the total latency of any policy, in whole units", &found.grid.points);
    Point::columns(table, units, |point| *point)
        .col(units.heading("lower bound"), units.column("latency_total_lower"), |point| {
            point.bounds.map(|bounds| units.total(bounds.lower))
        })
        .col(units.heading("upper bound"), units.column("latency_total_upper"), |point| {
            point.bounds.map(|bounds| units.total(bounds.upper))
        })
        .detail();
}

/// The refined mean latency of every policy at one capacity, a column for every latency.
fn means(units: Units, points: &[&Point], page: &mut Page) {
    let id = format!("means-{}", slug(&points[0].asked.to_string()));
    let title = format!("Refined mean by backing-store latency: capacity {}", points[0].capacity_name());
    let mut table =
        page.table(id, title, points[0].policies.iter().enumerate())
            .col("policy", "policy", |(_, run)| run.policy.name());
    for point in points {
        let exact = match &point.latency {
            Latency::Constant(latency) => format!("{}{}", latency.0, units.suffix()),
            varying => slug(&varying.to_string()),
        };
        let name = units.column(&format!("latency_mean_at_{exact}"));
        table = table.col(units.latency(&point.latency), name, |(index, _)| {
            units.cell(point.policies[*index].latency_mean)
        });
    }
}
