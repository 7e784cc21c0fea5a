//! The pictures of `cache bound`: how the bounds came closer, how far the policies are above them, and the thesis's figure 2.10.

use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};

use super::burstiness::Correlation;
use super::found::Found;
use super::search::Milestone;
use crate::bounds::Bounds;
use crate::grid::PolicyRun;

/// The pictures for which there is something to draw; the search over time only if the clock could end it.
pub(super) fn plots(found: &Found, is_timed: bool) -> Vec<Plot> {
    let mut plots = Vec::new();
    plots.extend(above_optimum(&found.point().policies));
    plots.extend(found.burstiness.as_ref().filter(|correlation| correlation.objects > 0).map(by_burstiness));
    plots.extend(closing(&found.solution.history, is_timed));
    plots
}

/// Every policy's distance from the optimum against what the classical model judges it by.
fn above_optimum(policies: &[PolicyRun]) -> Option<Plot> {
    let series = policies.iter().filter_map(|run| {
        Some(Series {
            name: run.policy.to_string(),
            points: vec![(run.classical_hit_rate, run.above_optimum?)],
            labels: vec![run.policy.to_string()],
            color: color_of(run.policy),
            ..Series::default()
        })
    });
    let series: Vec<Series> = series.collect();
    (!series.is_empty()).then(|| Plot {
        id: "above-optimum".to_owned(),
        title: "How far above the optimum every policy is".to_owned(),
        note: "If hit rates told latencies, the points would fall from left to right.".to_owned(),
        x: Axis { label: "classical hit rate".to_owned(), unit: Unit::Percent, log: false },
        y: Axis {
            label: "mean latency above the optimum, at most".to_owned(),
            unit: Unit::Percent,
            log: false,
        },
        series,
    })
}

/// Figure 2.10.
fn by_burstiness(correlation: &Correlation) -> Plot {
    let points = correlation.bins.iter().map(|bin| ((bin.from + bin.to) / 2.0, bin.difference_mean));
    let sizes = correlation.bins.iter().map(|bin| bin.requests as f64);
    Plot {
        id: "burstiness".to_owned(),
        title: "Latency of bursty objects compared with Bélády".to_owned(),
        note: "Below zero, the schedule found makes objects of this burstiness wait less.".to_owned(),
        x: Axis {
            label: "burstiness of an object (Goh–Barabási)".to_owned(), unit: Unit::Plain, log: false
        },
        y: Axis { label: "latency compared with Bélády's".to_owned(), unit: Unit::Percent, log: false },
        series: vec![Series {
            name: "objects".to_owned(),
            points: points.collect(),
            sizes: sizes.collect(),
            size_of: "requests",
            ..Series::default()
        }],
    }
}

/// The gap between the bounds over time, or over the steps of the search.
fn closing(history: &[Milestone], is_timed: bool) -> Option<Plot> {
    let is_timed = is_timed && history.iter().all(|milestone| milestone.time.is_some());
    let points = history.iter().filter(|milestone| milestone.lower > 0).map(|milestone| {
        let time = milestone.time.filter(|_| is_timed);
        let x = time.map_or(milestone.iterations as f64, |time| time.as_secs_f64() * 1e9);
        (x, Bounds { lower: milestone.lower, upper: milestone.upper }.gap())
    });
    let (label, unit) =
        if is_timed { ("time", Unit::Nanos) } else { ("iterations of the search", Unit::Plain) };
    (history.len() > 1).then(|| Plot {
        id: "gap".to_owned(),
        title: "How the bounds came closer".to_owned(),
        note: "The optimum lies between a lower and an upper bound that are so far apart.".to_owned(),
        x: Axis { label: label.to_owned(), unit, log: true },
        y: Axis { label: "gap between the bounds".to_owned(), unit: Unit::Percent, log: true },
        series: vec![Series {
            name: "gap".to_owned(),
            points: points.collect(),
            steps: true,
            color: Some(0),
            ..Series::default()
        }],
    })
}
