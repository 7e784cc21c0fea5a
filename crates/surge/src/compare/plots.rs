//! The pictures of `surge compare`: figures 3.17 and 3.18 of the thesis, a column for every rate of users.

use trueplane_study::Page;
use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};
use trueplane_units::{BitsPerSec, Percent};

use super::found::{FEWEST_PACKETS, Found, Row};
use super::options::Options;
use crate::policy::PolicyName;

/// Smaller displacement factors are not drawn: what rounding leaves of a zero, 1e-15 or so, would make the rest of a logarithmic axis flat.
const LEAST_DRAWN: f64 = 1e-3;

/// Draws a pair of pictures for every rate of users, unless there is but one rate of attack.
pub(super) fn draw(options: &Options, found: &Found, page: &mut Page) {
    if found.attack.len() < 2 {
        return;
    }
    let drawn = Drawn { policies: &options.policies, found };
    for (column, &rate) in found.innocent.iter().enumerate() {
        for plot in [drawn.displacement(column, rate), drawn.goodput(column, rate)] {
            if !plot.series.is_empty() {
                page.plot(plot);
            }
        }
    }
}

/// Data of the plots.
struct Drawn<'a> {
    policies: &'a [PolicyName],
    found: &'a Found,
}

impl Drawn<'_> {
    fn displacement(&self, column: usize, users: BitsPerSec) -> Plot {
        let simulated = self.curves(users, |row| drawn(row.tells().then_some(row.displacement_factor)?));
        let theory = self.curves(users, |row| drawn(row.theory?)).into_iter();
        let theory =
            theory.map(|series| Series { name: format!("{}, theory", series.name), dashed: true, ..series });
        Plot {
            id: format!("displacement-{}", column + 1),
            title: format!("Displacement factor, {}", self.users(users)),
            note: format!(
                "Bits of users that are no longer served for every bit of the attack that is the worst for each policy and rate. Dashed: in theory. Left out are values below {LEAST_DRAWN} and attacks of fewer than {FEWEST_PACKETS} packets, whose effect is chance."
            ),
            x: attack_axis(),
            y: Axis { label: "displacement factor".to_owned(), unit: Unit::Plain, log: true },
            series: simulated.into_iter().chain(theory).collect(),
        }
    }

    fn goodput(&self, column: usize, users: BitsPerSec) -> Plot {
        let mut series = self.curves(users, |row| Some(row.goodput_bps));
        // One classical number for all policies.
        let first = self.policies.first();
        let classical = self.found.at(users).filter(|row| Some(&row.policy) == first);
        let points = classical.map(|row| (row.attack_rate.0 as f64, row.classical_goodput_bps)).collect();
        series.push(Series {
            name: "classical: all bits are alike".to_owned(),
            points,
            dashed: true,
            color: Some(PolicyName::ALL.len()),
            ..Series::default()
        });
        Plot {
            id: format!("goodput-{}", column + 1),
            title: format!("Goodput, {}", self.users(users)),
            note: "Bits of users per second whose service ended while users sent.".to_owned(),
            x: attack_axis(),
            y: Axis { label: "goodput".to_owned(), unit: Unit::BitsPerSec, log: true },
            series,
        }
    }

    fn users(&self, rate: BitsPerSec) -> String {
        let share = Percent(rate.0 as f64 / self.found.workload.r_max_bps);
        format!("users at {rate} ({share} of r_max)")
    }

    /// A curve over the attack rate for every policy that has a point above zero that is drawn.
    fn curves(&self, users: BitsPerSec, y: impl Fn(&Row) -> Option<f64>) -> Vec<Series> {
        let curve = |&policy: &PolicyName| {
            let rows = self.found.at(users).filter(|row| row.policy == policy);
            let points = rows.filter_map(|row| Some((row.attack_rate.0 as f64, y(row)?)));
            let points: Vec<(f64, f64)> = points.filter(|(_, y)| *y > 0.0).collect();
            let series =
                Series { name: policy.to_string(), points, color: color_of(policy), ..Series::default() };
            (!series.points.is_empty()).then_some(series)
        };
        self.policies.iter().filter_map(curve).collect()
    }
}

/// A displacement factor, if it is drawn.
fn drawn(displacement: f64) -> Option<f64> {
    (displacement >= LEAST_DRAWN).then_some(displacement)
}

fn attack_axis() -> Axis {
    Axis { label: "attack rate".to_owned(), unit: Unit::BitsPerSec, log: true }
}
