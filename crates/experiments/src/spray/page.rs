//! What people see of `spray experiment`: all runs, what each core did in them, and figures 3.6b, 3.7b and 3.9.

use trueplane_linux::cores;
use trueplane_spray::dispatch::DispatchName;
use trueplane_study::Page;
use trueplane_study::report::{Axis, Cell, Plot, Series, Unit};
use trueplane_units::Percent;

use super::found::{Point, median};
use super::options::{ExperimentName, Options};

pub(super) fn present(options: &Options, points: &[Point], page: &mut Page) {
    page.fact("cores of the machine", "machine_cores", cores::allowed().len());
    page.table("runs", "All runs", points)
        .col("experiment", "experiment", |point| Cell::name(point.experiment))
        .col("dispatch", "dispatch", |point| point.dispatch.to_string())
        .col("cycles", "cycles", |point| point.cycles)
        .col("flows", "flows", |point| point.flows)
        .col("round", "round", |point| point.round + 1)
        .col("goodput", "goodput_bps", |point| point.goodput)
        .col("sent again", "retransmits", |point| point.retransmits)
        .col("Jain", "jain", |point| point.jain)
        .col("p99", "rtt_p99_ns", |point| point.rtt_p99)
        .col("lost", "kernel_drops", |point| point.kernel_drops)
        .col("load", "load", |point| point.load);
    let cores = points
        .iter()
        .zip(1u64..)
        .flat_map(|(point, run)| point.busy.iter().enumerate().map(move |(core, &busy)| (run, core, busy)));
    page.table("cores", "Time in which each core had packets", cores)
        .col("row of all runs", "run", |&(run, ..)| run)
        .col("core", "core", |&(_, core, _)| core)
        .col("busy", "busy_share", |&(_, _, busy)| Percent(busy))
        .detail();
    plots(options, points, page);
}

/// The figures of which there are any points.
fn plots(options: &Options, points: &[Point], page: &mut Page) {
    let axis = |label: &str, unit| Axis { label: label.to_owned(), unit, log: false };
    let goodput = |point: &Point| point.goodput.0 as f64;
    let by_cycles =
        |point: &Point| (point.experiment == ExperimentName::Cycles).then_some(point.cycles as f64);
    let by_flows =
        |point: &Point| (point.experiment == ExperimentName::Flows).then_some(f64::from(point.flows));
    let plot = |id: &str, title: &str, x: Axis, y: Axis, series| Plot {
        id: id.to_owned(),
        title: title.to_owned(),
        note: "The median of each variant's rounds.".to_owned(),
        x,
        y,
        series,
    };
    let all = [
        plot(
            "cycles",
            "What one flow gets (3.6b)",
            axis("cycles per packet", Unit::Plain),
            axis("goodput", Unit::BitsPerSec),
            curves(options, points, by_cycles, goodput),
        ),
        plot(
            "flows",
            "What flows get together (3.7b)",
            axis("flows", Unit::Plain),
            axis("goodput", Unit::BitsPerSec),
            curves(options, points, by_flows, goodput),
        ),
        plot(
            "jain",
            "How evenly (3.9)",
            axis("flows", Unit::Plain),
            axis("Jain's index", Unit::Plain),
            curves(options, points, by_flows, |point| point.jain),
        ),
    ];
    let has_points = |plot: &Plot| plot.series.iter().any(|series| !series.points.is_empty());
    all.into_iter().filter(has_points).for_each(|plot| page.plot(plot));
}

/// One curve for each policy, of the medians of `y` where there is an x.
fn curves(
    options: &Options,
    points: &[Point],
    x: impl Fn(&Point) -> Option<f64>,
    y: impl Fn(&Point) -> f64,
) -> Vec<Series> {
    let curve = |dispatch: &DispatchName| {
        let own: Vec<(f64, f64)> = points
            .iter()
            .filter(|point| point.dispatch == *dispatch)
            .filter_map(|point| Some((x(point)?, y(point))))
            .collect();
        let mut places: Vec<f64> = own.iter().map(|point| point.0).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let at = |place: f64| {
            median(&own.iter().filter(|point| point.0 == place).map(|point| point.1).collect::<Vec<_>>())
        };
        let points = places.into_iter().filter_map(|place| Some((place, at(place)?))).collect();
        Series { name: dispatch.to_string(), points, ..Series::default() }
    };
    options.dispatches().iter().map(curve).collect()
}
