//! What people see of `cache bound`: facts, the three numbers, and tables of bounds, policies, bursts and the search.

use trueplane_study::report::Cell;
use trueplane_study::rounded::{Toward, as_asked};
use trueplane_study::{Measured, Page};
use trueplane_units::{Nanos, Percent};

use super::burstiness::Bin;
use super::found::Found;
use super::options::Options;
use super::plots::plots;
use super::search::Milestone;
use crate::bounds::{Bounds, apart};
use crate::grid::PolicyRun;
use crate::grid::ranking::by_latency;
use crate::policy::PolicyName;

/// What it takes to measure a latency.
const LIVE: Measured = Measured::Needs("a cache that logs latencies");

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    // Where the clock does not end the search, what is shown is the same on any machine.
    let is_timed = options.limits().time.is_some();
    warnings(options, found, page);
    facts(options, found, is_timed, page);
    numbers(found, page);
    bounds(found, page);
    if !found.point().policies.is_empty() {
        distances(found, page);
        totals(found, page);
    }
    bins(found, page);
    if !found.solution.history.is_empty() {
        progress(found, is_timed, page);
    }
    for plot in plots(found, is_timed) {
        page.plot(plot);
    }
}

fn warnings(options: &Options, found: &Found, page: &mut Page) {
    let (gap, asked) = (found.bounds().gap(), options.gap.0);
    if found.interrupted {
        page.warn("The search was interrupted; these are the best bounds so far.");
    } else if gap > asked {
        page.warn(format!(
            "The bounds are {} apart, where {} was asked for; {}.",
            apart(gap, asked),
            as_asked(asked),
            options.advice()
        ));
    }
    if found.policies_skipped {
        page.warn("The policies were not run: interrupted.");
    }
}

fn facts(options: &Options, found: &Found, is_timed: bool, page: &mut Page) {
    found.grid.present(page);
    page.fact("requests that count", "counted_requests", found.requests());
    page.fact("latency of a fetch", "fetch", found.grid.units().latency(&found.scenario.latency));
    page.fact("cache", "cache", found.point().capacity_name());
    if !found.scenario.bypass {
        page.fact(
            "bypass",
            "bypass",
            "none: what is fetched is there until the next request; policies that let it pass can undercut the bound",
        );
        if !options.policies.is_empty() {
            page.fact(
                "bursty objects",
                "bursts",
                "not compared with Bélády, which lets fetched objects pass by",
            );
        }
    }
    page.fact("search", "search", options.limits().words());
    page.fact("iterations made", "iterations", found.solution.iterations);
    if let Some(took) = found.took.filter(|_| is_timed) {
        page.fact("search took", "search_ns", Cell::Nanos(took.as_secs_f64() * 1e9));
    }
    if found.interrupted {
        page.fact("search ended", "ended", "by an interrupt");
    }
    page.fact("gap between the bounds", "gap", Toward::Up.ratio_cell(found.bounds().gap()));
    page.fact("policies run", "policies", found.point().policies.len());
    if let Some(correlation) = &found.burstiness {
        let bursts = "correlation of bursts and latency against Bélády, weighted by requests";
        page.fact(bursts, "pearson_weighted", correlation.pearson_weighted);
        page.fact("objects in it", "correlated_objects", correlation.objects);
        page.fact("requests of each, at least", "fewest_requests", correlation.fewest_requests);
    }
}

/// The optimum, as the classical model has it and as it is at least; and the policies that the verdict is about.
fn numbers(found: &Found, page: &mut Page) {
    let units = found.grid.units();
    let policies = &found.point().policies;
    let order =
        |a: &&PolicyRun, b: &&PolicyRun| a.classical_latency_mean.total_cmp(&b.classical_latency_mean);
    let promised = policies.iter().min_by(order);
    page.numbers(
        "least mean latency, at least",
        units.column("least_latency_mean"),
        promised.map(|run| units.cell(run.classical_latency_mean)),
        units.bound_cell(found.lower_mean(), Toward::Down),
        LIVE,
    );
    let best = by_latency(policies).first().map(|run| run.policy);
    let wanted = [best, promised.map(|run| run.policy), Some(PolicyName::Belady), Some(PolicyName::BeladyAd)];
    for run in policies.iter().filter(|run| wanted.contains(&Some(run.policy))) {
        page.numbers(
            format!("mean latency under {}", run.policy),
            units.column("latency_mean"),
            units.cell(run.classical_latency_mean),
            units.cell(run.latency_mean),
            LIVE,
        );
    }
}

fn bounds(found: &Found, page: &mut Page) {
    let units = found.grid.units();
    let Bounds { lower, upper } = found.bounds();
    let rows = [
        ("no schedule has less", found.lower_mean(), lower, Toward::Down, None),
        ("the schedule found", found.upper_mean(), upper, Toward::Up, Some(&found.replayed)),
    ];
    page.table("bounds", "Bounds on the latency", rows)
        .col("bound", "bound", |(what, ..)| *what)
        .col("mean latency", units.column("latency_mean"), |(_, mean, _, toward, _)| {
            units.bound_cell(*mean, *toward)
        })
        .col(units.heading("total latency"), units.column("latency_total"), |(_, _, total, ..)| {
            units.total(*total)
        })
        .col("hits", "hits", |row| row.4.map(|replayed| replayed.hits))
        .col("delayed hits", "delayed_hits", |row| row.4.map(|replayed| replayed.delayed_hits))
        .col("misses", "misses", |row| row.4.map(|replayed| replayed.misses));
}

fn distances(found: &Found, page: &mut Page) {
    let units = found.grid.units();
    page.table("policies", "How far above the optimum every policy is", &found.point().policies)
        .col("policy", "policy", |run| run.policy.name())
        .col("classical hit rate", "classical_hit_rate", |run| Percent(run.classical_hit_rate))
        .col("classical mean", units.column("classical_latency_mean"), |run| {
            units.cell(run.classical_latency_mean)
        })
        .col("refined mean", units.column("latency_mean"), |run| units.cell(run.latency_mean))
        .col("above optimum, at least", "above_optimum_at_least", |run| run.above_at_least())
        .col("at most", "above_optimum", |run| run.above_at_most())
        .col("hits", "hits", |run| run.hits)
        .col("delayed hits", "delayed_hits", |run| run.delayed_hits)
        .col("misses", "misses", |run| run.misses);
}

/// The sums behind the means, and the tails.
fn totals(found: &Found, page: &mut Page) {
    let units = found.grid.units();
    let quantile = |of: fn(&PolicyRun) -> u64| move |run: &&PolicyRun| units.cell(of(run) as f64);
    page.table("totals", "The exact sums of latencies, and their tails", &found.point().policies)
        .col("policy", "policy", |run| run.policy.name())
        .col("requests", "requests", |run| run.requests)
        .col(units.heading("total latency"), units.column("latency_total"), |run| {
            units.total(run.latency_total)
        })
        .col("classical hits", "classical_hits", |run| run.classical_hits)
        .col("p50", units.column("latency_p50"), quantile(|run| run.latency_p50))
        .col("p99", units.column("latency_p99"), quantile(|run| run.latency_p99))
        .col("p99.9", units.column("latency_p999"), quantile(|run| run.latency_p999))
        .detail();
}

fn bins(found: &Found, page: &mut Page) {
    let Some(correlation) = found.burstiness.as_ref().filter(|correlation| correlation.objects > 0) else {
        return;
    };
    let units = found.grid.units();
    page.table("burstiness", "Latency of bursty objects compared with Bélády", &correlation.bins)
        .col("burstiness from", "burstiness_from", |bin: &&Bin| bin.from)
        .col("to", "burstiness_to", |bin| bin.to)
        .col("objects", "objects", |bin| bin.objects)
        .col("requests", "requests", |bin| bin.requests)
        .col("mean difference", "difference_mean", |bin| Cell::Change(bin.difference_mean))
        .col(units.heading("total, schedule found"), units.column("schedule_total"), |bin| {
            units.total(bin.schedule_total)
        })
        .col(units.heading("total, Bélády"), units.column("belady_total"), |bin| {
            units.total(bin.belady_total)
        })
        .detail();
}

fn progress(found: &Found, is_timed: bool, page: &mut Page) {
    let units = found.grid.units();
    let bounds = |milestone: &Milestone| Bounds { lower: milestone.lower, upper: milestone.upper };
    page.table("milestones", "How the bounds came closer", &found.solution.history)
        .col_if(is_timed, "after", "time_ns", |milestone| {
            milestone.time.map(|time| Nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)))
        })
        .col("iterations", "iterations", |milestone| milestone.iterations)
        .col(units.heading("lower bound"), units.column("latency_total_lower"), |milestone| {
            units.total(milestone.lower)
        })
        .col(units.heading("upper bound"), units.column("latency_total_upper"), |milestone| {
            units.total(milestone.upper)
        })
        .col("gap", "gap", |milestone| Toward::Up.ratio_cell(bounds(milestone).gap()))
        .detail();
}
