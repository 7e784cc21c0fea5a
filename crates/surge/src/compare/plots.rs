//! The pictures of `surge compare`: figures 3.17 and 3.18 of the thesis, a column for every rate of users.

use trueplane_study::report::{Axis, Plot, Series, Unit};
use trueplane_units::{BitsPerSec, Percent};

use crate::document::{Compare, FEWEST_PACKETS, Row};
use crate::names::PolicyName;

/// Smaller displacement factors are not drawn: what rounding leaves of a zero, 1e-15 or so, would make the rest of a logarithmic axis flat.
const LEAST_DRAWN: f64 = 1e-3;

impl Compare {
    pub(crate) fn plots(&self) -> Vec<Plot> {
        if self.parameters.attack_bps.len() < 2 {
            return Vec::new();
        }
        let columns = self.parameters.innocent_bps.iter().enumerate();
        let mut plots: Vec<Plot> = columns
            .flat_map(|(column, rate)| [self.displacement(column, *rate), self.goodput(column, *rate)])
            .collect();
        plots.retain(|plot| !plot.series.is_empty());
        plots
    }

    fn displacement(&self, column: usize, innocent_bps: u64) -> Plot {
        let measured =
            self.curves(innocent_bps, |row| drawn(row.tells().then_some(row.displacement_factor)?));
        let theory = self.curves(innocent_bps, |row| drawn(row.theory?)).into_iter();
        let theory =
            theory.map(|series| Series { name: format!("{}, theory", series.name), dashed: true, ..series });
        Plot {
            id: format!("displacement-{}", column + 1),
            title: format!(
                "Displacement factor, {} (figures 3.17 and 3.18, above)",
                self.users(innocent_bps)
            ),
            note: format!(
                "Bits of users that are no longer served for every bit of the attack that is the worst for each policy and rate. Left out are values below {LEAST_DRAWN} and attacks of fewer than {FEWEST_PACKETS} packets, whose effect is chance."
            ),
            x: attack_axis(),
            y: Axis { label: "displacement factor".to_owned(), unit: Unit::Plain, log: true },
            series: measured.into_iter().chain(theory).collect(),
        }
    }

    fn goodput(&self, column: usize, innocent_bps: u64) -> Plot {
        let mut series = self.curves(innocent_bps, |row| Some(row.goodput_bps));
        // One belief for all policies.
        let policy = self.parameters.policies.first().copied().unwrap_or_default();
        let believed = self.at(innocent_bps).filter(|row| row.policy == policy);
        let points = believed.map(|row| (row.attack_bps as f64, row.believed_goodput_bps)).collect();
        series.push(Series {
            name: "belief: all bits are alike".to_owned(),
            points,
            dashed: true,
            color: Some(PolicyName::NAMES.len()),
            ..Series::default()
        });
        Plot {
            id: format!("goodput-{}", column + 1),
            title: format!("Goodput, {} (figures 3.17 and 3.18, below)", self.users(innocent_bps)),
            note: "Bits of users per second whose service ended while users sent.".to_owned(),
            x: attack_axis(),
            y: Axis { label: "goodput".to_owned(), unit: Unit::BitsPerSec, log: true },
            series,
        }
    }

    fn users(&self, innocent_bps: u64) -> String {
        let share = Percent(innocent_bps as f64 / self.workload.r_max_bps);
        format!("users at {} ({share} of r_max)", BitsPerSec(innocent_bps))
    }

    /// A curve over the attack rate for every policy that has a point above zero that is drawn.
    fn curves(&self, innocent_bps: u64, y: impl Fn(&Row) -> Option<f64>) -> Vec<Series> {
        let curve = |policy: &&'static str| {
            let rows = self.at(innocent_bps).filter(|row| row.policy == *policy);
            let points =
                rows.filter_map(|row| Some((row.attack_bps as f64, y(row)?))).filter(|(_, y)| *y > 0.0);
            let points: Vec<(f64, f64)> = points.collect();
            let series =
                Series { name: (*policy).to_owned(), points, color: color_of(policy), ..Series::default() };
            (!series.points.is_empty()).then_some(series)
        };
        self.parameters.policies.iter().filter_map(curve).collect()
    }
}

/// A displacement factor, if it is drawn.
fn drawn(displacement: f64) -> Option<f64> {
    (displacement >= LEAST_DRAWN).then_some(displacement)
}

/// The colour of a policy, the same in every picture of every report.
fn color_of(policy: &str) -> Option<usize> {
    PolicyName::NAMES.iter().position(|(name, _)| *name == policy)
}

fn attack_axis() -> Axis {
    Axis { label: "attack rate".to_owned(), unit: Unit::BitsPerSec, log: true }
}
