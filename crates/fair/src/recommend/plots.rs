//! The pictures of `fair recommend`.

use trueplane_study::Page;
use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};

use super::found::{Candidate, Found};
use crate::policy::PolicyName;

/// Nanoseconds of an hour.
const HOUR: f64 = 3.6e12;

pub(super) fn draw(found: &Found, page: &mut Page) {
    let plot = saved(found);
    if plot.series.iter().any(|series| !series.points.is_empty()) {
        page.lead(plot);
    }
}

/// What every half-life saves, a curve for every scheduler.
fn saved(found: &Found) -> Plot {
    let point = |one: &Candidate| Some((one.half_life?.get().0 as f64 / HOUR, one.saved()?));
    let curve = |policy| {
        let of_policy = found.candidates.iter().filter(|one| one.policy == policy);
        let points = of_policy.filter_map(point).collect();
        Series { name: format!("{policy}"), points, color: color_of(policy), ..Series::default() }
    };
    let mut series: Vec<Series> = found.schedulers().into_iter().map(curve).collect();
    series.extend(found.recommended().and_then(point).map(|point| Series {
        name: "recommended".to_owned(),
        points: vec![point],
        // After those of all policies.
        color: Some(PolicyName::ALL.len()),
        ..Series::default()
    }));
    Plot {
        id: "saved".to_owned(),
        title: "How much of users' mean wait under drf each half-life saves".to_owned(),
        note: "The mean over users of the mean wait of their tasks. Below zero they wait longer than under drf, which remembers nothing."
            .to_owned(),
        x: Axis { label: "half-life (hours)".to_owned(), unit: Unit::Plain, log: true },
        y: Axis { label: "saved of the mean wait".to_owned(), unit: Unit::Percent, log: false },
        series,
    }
}
