//! The pictures of `sched fabric`: completion times over the load, and the longest queues.

use trueplane_study::Page;
use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};

use super::found::{BusyPort, Class, Found, SystemRun};
use super::options::Options;
use super::system::{RankName, SystemName};

/// Small flows lead.
pub(super) fn draw(options: &Options, found: &Found, page: &mut Page) {
    page.lead(small(options, found));
    page.plot(percentiles(found));
    page.plot(large(options, found));
    page.plot(queues(found));
}

fn load() -> Axis {
    Axis { label: "offered load".to_owned(), unit: Unit::Plain, log: false }
}

/// A curve for each system, by what is told of a run.
fn curves(found: &Found, of: impl Fn(&SystemRun) -> Option<f64>) -> Vec<Series> {
    let systems: Vec<SystemName> =
        found.busiest().map_or_else(Vec::new, |load| load.systems.iter().map(|run| run.system).collect());
    let curve = |&system: &SystemName| Series {
        name: system.to_string(),
        points: (found.loads.iter())
            .filter_map(|load| Some((load.offered.load, of(load.run(system)?)?)))
            .collect(),
        color: color_of(system),
        ..Series::default()
    };
    systems.iter().map(curve).filter(|series| !series.points.is_empty()).collect()
}

/// The formulas, dashed: one for each that a system has.
fn formulas(options: &Options, found: &Found, class: impl Fn(&SystemRun) -> &Class) -> Vec<Series> {
    let of = |name: &str, has: &dyn Fn(SystemName) -> bool| Series {
        name: name.to_owned(),
        points: (found.loads.iter())
            .filter_map(|load| {
                let run = load.systems.iter().find(|run| has(run.system))?;
                Some((load.offered.load, class(run).classical_ns?))
            })
            .collect(),
        dashed: true,
        muted: true,
        ..Series::default()
    };
    let is_ranked =
        |system: SystemName| options.rank == RankName::PFabric && system.properties().scheduler.is_some();
    let shared = of("formula: equal shares", &|system| !is_ranked(system));
    let shortest = of("formula: smallest first", &is_ranked);
    [shared, shortest].into_iter().filter(|series| !series.points.is_empty()).collect()
}

fn plot(id: &str, title: &str, note: &str, series: Vec<Series>) -> Plot {
    Plot {
        id: id.to_owned(),
        title: title.to_owned(),
        note: note.to_owned(),
        x: load(),
        y: Axis { label: "completion time".to_owned(), unit: Unit::Nanos, log: true },
        series,
    }
}

/// The port at which most packets wait, under each system.
fn queues(found: &Found) -> Plot {
    let panel = |panel: &str, number: fn(&BusyPort) -> f64| {
        let curves = curves(found, |run| run.ports.iter().map(number).reduce(f64::max));
        curves.into_iter().map(|series| Series { panel: panel.to_owned(), ..series }).collect::<Vec<_>>()
    };
    let mut series = panel("on average", |port| port.mean);
    series.extend(panel("at most", |port| port.longest as f64));
    Plot {
        id: "queues".to_owned(),
        title: "Packets that wait at the busiest ports".to_owned(),
        note: "Of the ports at which most packets wait on average, the longest queue. The packet that is being sent does not count."
            .to_owned(),
        x: load(),
        y: Axis { label: "packets".to_owned(), unit: Unit::Plain, log: false },
        series,
    }
}

fn small(options: &Options, found: &Found) -> Plot {
    let mut series = curves(found, |run| run.small.mean_ns());
    series.extend(formulas(options, found, |run| &run.small));
    plot(
        "small-mean",
        "Mean completion time of flows below 100 kB",
        "Dashed: what the queueing formula for one link predicts.",
        series,
    )
}

fn percentiles(found: &Found) -> Plot {
    let p99 = |run: &SystemRun| run.small.p99().map(|time| time.0 as f64);
    plot(
        "small-p99",
        "99th percentile of the completion times of flows below 100 kB",
        "One flow in a hundred takes longer.",
        curves(found, p99),
    )
}

fn large(options: &Options, found: &Found) -> Plot {
    let mut series = curves(found, |run| run.large.mean_ns());
    series.extend(formulas(options, found, |run| &run.large));
    plot(
        "large-mean",
        "Mean completion time of flows of 1 MB and more",
        "What large flows pay for the speed of small ones.",
        series,
    )
}
