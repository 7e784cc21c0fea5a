//! The pictures of `fair allocate`: figure 4.2 of the thesis, and shares stage by stage.

use trueplane_study::Page;
use trueplane_study::report::{Axis, Plot, Series, Unit};

use super::found::{Divided, Found, Part, Stage};

/// More tanks cannot be told apart.
const MOST_TANKS: usize = 60;
/// More curves have not enough colours.
const MOST_CURVES: usize = 9;
/// Half of the width of a tank; the next is 1 away.
const HALF: f64 = 0.4;

pub(super) fn draw(found: &Found, page: &mut Page) {
    for divided in &found.policies {
        let Some(first) = divided.stages.first() else { continue };
        if !divided.each_resource_alone && first.users.len() <= MOST_TANKS {
            page.plot(tanks(divided, first));
        }
        if divided.stages.len() > 1 && first.users.len() <= MOST_CURVES {
            page.plot(curves(divided, first));
        }
    }
}

/// Figure 4.2: water in tanks with commitments as their bases.
fn tanks(divided: &Divided, stage: &Stage) -> Plot {
    let stateful = divided.policy.properties().stateful;
    let base = |part: &Part| if stateful { part.commitment / part.weight } else { 0.0 };
    let water = |part: &Part| base(part) + part.dominant_share / part.weight;
    // Nobody can have more than there is.
    let brim = |part: &Part| base(part) + part.wanted_share.unwrap_or(1.0).min(1.0) / part.weight;
    let series = |name: &str, height: &dyn Fn(&Part) -> f64, dashed: bool, color: usize| Series {
        name: name.to_owned(),
        points: stage.users.iter().enumerate().flat_map(|(place, part)| block(place, height(part))).collect(),
        dashed,
        color: Some(color),
        ..Series::default()
    };
    let mut all = vec![
        series("brim: what the user wants", &brim, true, 6),
        series("water: what the user gets", &water, false, 0),
    ];
    if stateful {
        all.push(series("base: the commitment", &base, false, 1));
    }
    let names: Vec<&str> = stage.users.iter().map(|part| part.user.as_str()).collect();
    let of = if divided.stages.len() > 1 { " in the first stage" } else { "" };
    Plot {
        id: format!("tanks-{}", divided.policy),
        title: format!("The tanks under {}{of}", divided.policy),
        note: format!(
            "Every user is a tank, as wide as the weight says and so drawn in shares by weight; water rises to the same level in all, until a resource that the user needs is full. From left to right: {}.",
            names.join(", ")
        ),
        x: Axis { label: "user".to_owned(), unit: Unit::Plain, log: false },
        y: Axis {
            label: "(dominant share + commitment) / weight".to_owned(),
            unit: Unit::Percent,
            log: false,
        },
        series: all,
    }
}

/// The outline of a block at a place.
fn block(place: usize, height: f64) -> [(f64, f64); 4] {
    let middle = place as f64 + 1.0;
    let (left, right) = (middle - HALF, middle + HALF);
    [(left, 0.0), (left, height), (right, height), (right, 0.0)]
}

/// Shares and commitments, stage by stage.
fn curves(divided: &Divided, first: &Stage) -> Plot {
    let curve = |user: usize, dashed: bool, value: fn(&Part) -> f64| Series {
        name: if dashed {
            format!("{}, commitment", first.users[user].user)
        } else {
            first.users[user].user.clone()
        },
        points: divided.stages.iter().map(|stage| (stage.stage as f64, value(&stage.users[user]))).collect(),
        dashed,
        color: Some(user),
        ..Series::default()
    };
    let users = 0..first.users.len();
    let shares = users.clone().map(|user| curve(user, false, |part| part.dominant_share));
    let commitments = users.map(|user| curve(user, true, |part| part.commitment));
    Plot {
        id: format!("stages-{}", divided.policy),
        title: format!("Stage by stage under {}", divided.policy),
        note: "Dominant shares that everybody can use, and the commitments with which every stage begins."
            .to_owned(),
        x: Axis { label: "stage".to_owned(), unit: Unit::Plain, log: false },
        y: Axis { label: "dominant share, commitment".to_owned(), unit: Unit::Percent, log: false },
        series: shares.chain(commitments).collect(),
    }
}
