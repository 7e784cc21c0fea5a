//! The pictures of `cache compare`: the thesis's figures 2.2, 2.3, 2.20–2.23 and 2.25 from the user's own trace.

use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};
use trueplane_units::Percent;

use crate::grid::ranking::{by_hit_rate, by_latency, choice};
use crate::grid::{Point, Points, PolicyRun};
use crate::policy::PolicyName;
use crate::units::slug;

/// Distributions of more points than these would drown the other pictures.
const MOST_DISTRIBUTIONS: usize = 3;

/// The pictures: everything against latency and against capacity where they are swept, and the latency of requests where there are few
/// points.
pub(super) fn plots(grid: &Points) -> Vec<Plot> {
    let mut plots = Vec::new();
    for points in grid.by_capacity() {
        let held = format!("capacity {}", points[0].capacity_name());
        plots.extend(swept(grid, Swept::Latency, &points, &held));
    }
    for points in grid.by_latency() {
        let held = format!("latency {}", grid.units().latency(&points[0].latency));
        for by_bytes in [false, true] {
            let points: Vec<&Point> =
                points.iter().copied().filter(|point| point.by_bytes == by_bytes).collect();
            plots.extend(swept(grid, Swept::Capacity, &points, &held));
        }
    }
    if grid.points.len() <= MOST_DISTRIBUTIONS {
        plots.extend(grid.points.iter().map(|point| distribution(grid, point)));
    }
    plots
}

/// The place of every policy that can be deployed by hit rate and by latency; none if there is nothing to choose from.
pub(super) fn ranks(grid: &Points, point: &Point) -> Option<Plot> {
    let choice = choice(&point.policies)?;
    let place = |ranking: &[&PolicyRun], run: &PolicyRun| {
        ranking.iter().position(|other| other.policy == run.policy).map(|index| (index + 1) as f64)
    };
    let (hits, latency) = (by_hit_rate(&point.policies), by_latency(&point.policies));
    let line = |run: &&PolicyRun| {
        let name = run.policy.name();
        let is_told = [choice.best.policy, choice.picked().policy].contains(&run.policy);
        Some(Series {
            name: name.to_owned(),
            points: vec![(0.0, place(&hits, run)?), (1.0, place(&latency, run)?)],
            labels: vec![
                format!("{name} {}", Percent(run.classical_hit_rate)),
                format!("{name} {}", grid.units().cell(run.latency_mean)),
            ],
            muted: !is_told,
            color: color_of(run.policy),
            ..Series::default()
        })
    };
    Some(Plot {
        id: "ranks".to_owned(),
        title: format!("From the place by hit rate to the place by latency: {}", grid.name(point)),
        note: "If hit rates told latencies, no two lines would cross.".to_owned(),
        x: Axis {
            label: "ranking".to_owned(),
            unit: Unit::Names(&["by classical hit rate", "by refined mean latency"]),
            log: false,
        },
        y: Axis { label: "place".to_owned(), unit: Unit::Plain, log: false },
        series: hits.iter().filter_map(line).collect(),
    })
}

/// Everything against one swept quantity while the other is held, if it takes more than one value.
fn swept(grid: &Points, swept: Swept, points: &[&Point], held: &str) -> Vec<Plot> {
    let mut points: Vec<(f64, &Point)> =
        points.iter().filter_map(|point| Some((swept.value(point)?, *point))).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.dedup_by(|a, b| a.0 == b.0);
    if points.len() < 2 {
        return Vec::new();
    }
    let x = axis(grid, swept, points[0].1);
    let sweep = Sweep { swept, points, held, x };
    let mut plots = vec![sweep.latency(grid.units().axis())];
    plots.extend(sweep.mad_gain());
    plots.extend(sweep.mad_misses());
    plots
}

fn axis(grid: &Points, swept: Swept, point: &Point) -> Axis {
    let (label, unit) = match swept {
        Swept::Latency => (grid.units().label("backing-store latency"), grid.units().axis()),
        Swept::Capacity => (format!("capacity ({})", point.capacity_unit()), Unit::Plain),
    };
    Axis { label, unit, log: true }
}

/// The cumulative distribution of latency at one point, figure 2.2.
fn distribution(grid: &Points, point: &Point) -> Plot {
    let series = point.policies.iter().map(|policy| Series {
        name: policy.policy.to_string(),
        points: policy.cdf.iter().map(|&(value, share)| (value as f64, share)).collect(),
        steps: true,
        color: color_of(policy.policy),
        ..Series::default()
    });
    let name = grid.name(point);
    Plot {
        id: format!("distribution-{}", slug(&name)),
        title: format!("Latency of requests: {name}"),
        note: "A step is as high as the share of requests that wait so long: hits take the latency of a hit, misses a whole \
               fetch, and delayed hits what is left of one."
            .to_owned(),
        x: Axis { label: grid.units().label("latency"), unit: grid.units().axis(), log: false },
        y: Axis { label: "requests with at most this latency".to_owned(), unit: Unit::Percent, log: false },
        series: series.collect(),
    }
}

/// The quantity along the horizontal axis.
#[derive(Clone, Copy)]
enum Swept {
    Latency,
    Capacity,
}

impl Swept {
    fn name(self) -> &'static str {
        match self {
            Swept::Latency => "latency",
            Swept::Capacity => "capacity",
        }
    }

    fn value(self, point: &Point) -> Option<f64> {
        match self {
            Swept::Latency => point.latency.constant().map(|latency| latency.0 as f64),
            Swept::Capacity => Some(point.capacity as f64),
        }
    }
}

/// The points of one sweep, in the order of the swept quantity.
struct Sweep<'a> {
    swept: Swept,
    points: Vec<(f64, &'a Point)>,
    held: &'a str,
    x: Axis,
}

impl Sweep<'_> {
    fn policies(&self) -> impl Iterator<Item = (usize, PolicyName)> {
        self.points[0].1.policies.iter().map(|run| run.policy).enumerate()
    }

    fn id(&self, what: &str) -> String {
        format!("{what}-against-{}-at-{}", self.swept.name(), slug(self.held))
    }

    /// One curve: a value of the policy with this index at every point that has it.
    fn curve(&self, index: usize, value: impl Fn(&Point, &PolicyRun) -> Option<f64>) -> Series {
        let policy = self.points[0].1.policies[index].policy;
        let points = self.points.iter().filter_map(|(x, run)| Some((*x, value(run, &run.policies[index])?)));
        Series {
            name: policy.to_string(),
            points: points.collect(),
            color: color_of(policy),
            ..Series::default()
        }
    }

    /// Mean latency, refined and classical, figure 2.3: as a share of the fetch time if that is one for all.
    fn latency(&self, unit: Unit) -> Plot {
        let fetch = |point: &Point| point.latency.constant().map_or(0.0, |latency| latency.0 as f64);
        let whole = self.points.iter().all(|(_, point)| fetch(point) > 0.0);
        let scale = |point: &Point| if whole { fetch(point) } else { 1.0 };
        let mut series = Vec::new();
        for (index, policy) in self.policies() {
            series.push(self.curve(index, |run, policy| Some(policy.latency_mean / scale(run))));
            let predicted = self.curve(index, |run, policy| Some(policy.classical_latency_mean / scale(run)));
            series.push(Series { name: format!("{policy}, classical"), dashed: true, ..predicted });
        }
        let label = if whole { "mean latency, as a share of a fetch" } else { "mean latency" };
        Plot {
            id: self.id("latency"),
            title: format!("Mean latency against {}: {}", self.swept.name(), self.held),
            note: "Solid: refined. Dashed: the classical prediction of the same policy.".to_owned(),
            x: self.x.clone(),
            y: Axis { label: label.to_owned(), unit: if whole { Unit::Percent } else { unit }, log: false },
            series,
        }
    }

    /// Figures 2.20 to 2.23.
    fn mad_gain(&self) -> Option<Plot> {
        let saved = |mad: &PolicyRun, base: &PolicyRun| {
            (base.latency_mean > 0.0).then(|| 1.0 - mad.latency_mean / base.latency_mean)
        };
        self.against_base(
            "mad-gain",
            "What MAD saves over its base policy",
            "Above zero, weighing objects by their aggregate delay makes the mean latency lower.",
            "mean latency saved",
            saved,
        )
    }

    /// Figure 2.25.
    fn mad_misses(&self) -> Option<Plot> {
        let change = |mad: &PolicyRun, base: &PolicyRun| {
            (base.misses > 0).then(|| mad.misses as f64 / base.misses as f64 - 1.0)
        };
        self.against_base(
            "mad-misses",
            "What MAD does to the load on the backing store",
            "Below zero, MAD also fetches less than its base policy.",
            "change in misses",
            change,
        )
    }

    /// A picture of every MAD policy against its base; none if no such pair was simulated.
    fn against_base(
        &self,
        id: &str,
        title: &str,
        note: &str,
        label: &str,
        value: impl Fn(&PolicyRun, &PolicyRun) -> Option<f64>,
    ) -> Option<Plot> {
        let find = |run: &'_ Point, name| run.policies.iter().position(|policy| policy.policy == name);
        let series: Vec<Series> = self
            .policies()
            .filter_map(|(index, policy)| {
                let base = find(self.points[0].1, policy.properties().base?)?;
                Some(self.curve(index, |run, mad| value(mad, &run.policies[base])))
            })
            .collect();
        (!series.is_empty()).then(|| Plot {
            id: self.id(id),
            title: format!("{title}: {}", self.held),
            note: note.to_owned(),
            x: self.x.clone(),
            y: Axis { label: label.to_owned(), unit: Unit::Percent, log: false },
            series,
        })
    }
}
