//! The pictures of `cache compare`: the thesis's figures 2.2, 2.3, 2.20–2.23 and 2.25 from the user's own trace.

use trueplane_study::report::{Axis, Plot, Series, Unit};

use super::report::slug;
use crate::compare::found::{Comparison, LatencyFact, PolicyRun, Run};
use crate::policy::PolicyName;

/// Distributions of more points than these would drown the other pictures.
const MOST_DISTRIBUTIONS: usize = 3;

impl Comparison {
    /// The pictures: everything against latency and against capacity where they are swept, and how long requests wait
    /// where there are few points.
    pub(crate) fn plots(&self) -> Vec<Plot> {
        let mut plots = Vec::new();
        for runs in self.by_capacity() {
            plots.extend(self.swept(
                Swept::Latency,
                &runs,
                &format!("capacity {}", self.capacity_name(runs[0])),
            ));
        }
        for runs in self.by_latency() {
            let held = format!("latency {}", self.latency_name(&runs[0].latency));
            for unit in ["objects", "bytes"] {
                let runs: Vec<&Run> = runs.iter().copied().filter(|run| run.capacity_unit == unit).collect();
                plots.extend(self.swept(Swept::Capacity, &runs, &held));
            }
        }
        if self.runs.len() <= MOST_DISTRIBUTIONS {
            plots.extend(self.runs.iter().map(|run| self.distribution(run)));
        }
        plots
    }

    /// Everything against one swept quantity while the other is held, if it takes more than one value.
    fn swept(&self, swept: Swept, runs: &[&Run], held: &str) -> Vec<Plot> {
        let mut points: Vec<(f64, &Run)> =
            runs.iter().filter_map(|run| Some((swept.value(run)?, *run))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points.dedup_by(|a, b| a.0 == b.0);
        if points.len() < 2 {
            return Vec::new();
        }
        let sweep = Sweep { swept, points, held, x: self.axis(swept, runs[0]) };
        let mut plots = vec![sweep.latency(self.latency_unit())];
        plots.extend(sweep.mad_gain());
        plots.extend(sweep.mad_misses());
        plots
    }

    fn axis(&self, swept: Swept, run: &Run) -> Axis {
        match swept {
            Swept::Latency => Axis {
                label: self.latency_label("backing-store latency"),
                unit: self.latency_unit(),
                log: true,
            },
            Swept::Capacity => {
                Axis { label: format!("capacity ({})", run.capacity_unit), unit: Unit::Plain, log: true }
            }
        }
    }

    /// The label of an axis of latencies; the ticks of times have their units themselves.
    pub(crate) fn latency_label(&self, what: &str) -> String {
        if self.slotted() { format!("{what} (steps)") } else { what.to_owned() }
    }

    /// The cumulative distribution of latency of one run, figure 2.2.
    fn distribution(&self, run: &Run) -> Plot {
        let series = run.policies.iter().enumerate().map(|(index, policy)| Series {
            name: policy.policy.name().to_owned(),
            points: policy.cdf.iter().map(|&(value, share)| (value as f64, share)).collect(),
            color: Some(index),
            ..Series::default()
        });
        Plot {
            id: format!("distribution-{}", slug(&self.name(run))),
            title: format!("How long requests wait: {}", self.name(run)),
            note: "The left end is the true hit rate; all that rises between it and the right end are delayed hits."
                .to_owned(),
            x: Axis { label: self.latency_label("latency"), unit: self.latency_unit(), log: false },
            y: Axis { label: "requests that wait at most this long".to_owned(), unit: Unit::Percent, log: false },
            series: series.collect(),
        }
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

    fn value(self, run: &Run) -> Option<f64> {
        match (self, &run.latency) {
            (Swept::Latency, LatencyFact::Constant(latency)) => Some(*latency as f64),
            (Swept::Latency, LatencyFact::Varying(_)) => None,
            (Swept::Capacity, _) => Some(run.capacity as f64),
        }
    }
}

/// The points of one sweep, in the order of the swept quantity.
struct Sweep<'a> {
    swept: Swept,
    points: Vec<(f64, &'a Run)>,
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

    /// One curve: a value of one policy at every point that has it.
    fn curve(&self, name: String, color: usize, value: impl Fn(&Run, &PolicyRun) -> Option<f64>) -> Series {
        let points = self.points.iter().filter_map(|(x, run)| Some((*x, value(run, &run.policies[color])?)));
        Series { name, points: points.collect(), color: Some(color), ..Series::default() }
    }

    /// Mean latency, true and predicted, figure 2.3: as a share of the fetch time if that is one for all.
    fn latency(&self, unit: Unit) -> Plot {
        let whole = self.points.iter().all(|(_, run)| matches!(run.latency, LatencyFact::Constant(1..)));
        let scale = |run: &Run| match run.latency {
            LatencyFact::Constant(latency) if whole => latency as f64,
            _ => 1.0,
        };
        let mut series = Vec::new();
        for (index, policy) in self.policies() {
            series.push(
                self.curve(policy.to_string(), index, |run, policy| Some(policy.latency_mean / scale(run))),
            );
            let predicted = |run: &Run, policy: &PolicyRun| Some(policy.classical_latency_mean / scale(run));
            let predicted = Series { dashed: true, ..self.curve(policy.to_string(), index, predicted) };
            // In the classical model some policies are one: MAD and its base, the offline policies without sizes.
            let equal = |drawn: &&mut Series| drawn.dashed && drawn.points == predicted.points;
            match series.iter_mut().find(equal) {
                Some(drawn) => drawn.name = format!("{} and {}", drawn.name, predicted.name),
                None => series.push(predicted),
            }
        }
        for predicted in series.iter_mut().filter(|series| series.dashed) {
            predicted.name += ", classical";
        }
        let label = if whole { "mean latency, as a share of a fetch" } else { "mean latency" };
        Plot {
            id: self.id("latency"),
            title: format!("Mean latency against {}: {}", self.swept.name(), self.held),
            note: "Solid: what happens. Dashed: what the classical model predicts of the same policy."
                .to_owned(),
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
            "Above zero, weighing objects by their aggregate delay makes requests wait less.",
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
        let find = |run: &'_ Run, name| run.policies.iter().position(|policy| policy.policy == name);
        let series: Vec<Series> = self
            .policies()
            .filter_map(|(index, policy)| {
                let base = find(self.points[0].1, policy.properties().base?)?;
                Some(self.curve(policy.to_string(), index, |run, mad| value(mad, &run.policies[base])))
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
