//! The pictures of `fair simulate`: figures 4.1, 4.8, 4.9 and 4.10 of the thesis.

use trueplane_study::Page;
use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};

use super::found::{Found, UserShares};
use crate::outcome::{PolicyRun, UserRun};
use crate::policy::PolicyName;

pub(super) fn draw(found: &Found, page: &mut Page) {
    let is_drawn = |plot: &Plot| plot.series.iter().any(|series| !series.points.is_empty());
    let saved = Some(reductions(found)).filter(is_drawn);
    [completion(found), shares(found)].into_iter().filter(is_drawn).for_each(|plot| page.plot(plot));
    // Who waits less and who longer is the finding.
    if let Some(plot) = saved {
        page.lead(plot);
    }
}

/// Figure 4.9 for one log and one δ: not its mean over users, but every user.
fn reductions(found: &Found) -> Plot {
    let curve = |run: &PolicyRun| {
        // From nothing to something, as the largest loss; from nothing to nothing is no change that could be drawn.
        let of_user = |user: &UserRun| match user.wait_mean_change {
            None if user.wait_mean.is_some_and(|wait| wait.0 > 0.0) => Some(-1.0),
            change => change.map(|change| -change),
        };
        let mut saved: Vec<f64> = run.users.iter().filter_map(of_user).collect();
        saved.sort_by(|a, b| b.total_cmp(a));
        let users = saved.len() as f64;
        // What is drawn below −100% would make the rest flat: a wait that is ten times as long, or a hundred times.
        let points =
            saved.iter().enumerate().map(|(rank, saved)| ((rank as f64 + 0.5) / users, saved.max(-1.0)));
        Series {
            name: run.policy.to_string(),
            points: points.collect(),
            color: color_of(run.policy),
            ..Series::default()
        }
    };
    Plot {
            id: "wait-reduction".to_owned(),
            title: format!("What of the mean wait under {} is saved, user by user", found.baseline),
            note: "Users from who gains most to who loses most; below zero they wait longer, and -100% is twice as long or longer, or a wait where there was none (the table of changes has them uncut, by name). Users who wait under neither are left out.".to_owned(),
            x: Axis { label: "part of the users".to_owned(), unit: Unit::Percent, log: false },
            y: Axis { label: "saved of the mean wait".to_owned(), unit: Unit::Percent, log: false },
            series: found.compared().map(curve).collect(),
        }
}

/// Figure 4.10.
fn completion(found: &Found) -> Plot {
    let base = found.base();
    let bubbles = |run: &PolicyRun| {
        let before = base.map_or(&[][..], |base| &base.users[..]);
        let mut users: Vec<(f64, f64, u64)> = before
            .iter()
            .zip(&run.users)
            .filter_map(|(before, after)| {
                Some((before.completion_ratio?, after.completion_ratio?, after.submitted))
            })
            .collect();
        // Large bubbles below small ones.
        users.sort_by(|a, b| b.2.cmp(&a.2).then(a.0.total_cmp(&b.0)).then(a.1.total_cmp(&b.1)));
        Series {
            name: run.policy.to_string(),
            points: users.iter().map(|&(before, after, _)| (before, after)).collect(),
            sizes: users.iter().map(|&(_, _, tasks)| tasks as f64).collect(),
            size_of: "tasks of the user",
            color: color_of(run.policy),
            ..Series::default()
        }
    };
    let mut series: Vec<Series> = found.compared().map(bubbles).collect();
    if !series.is_empty() {
        series.push(Series {
            name: "the same under both".to_owned(),
            points: vec![(0.0, 0.0), (1.0, 1.0)],
            dashed: true,
            color: Some(PolicyName::ALL.len()),
            ..Series::default()
        });
    }
    let axis = |policy: String| Axis {
        label: format!("tasks completed by the horizon under {policy}"),
        unit: Unit::Percent,
        log: false,
    };
    let others: Vec<&str> = found.compared().map(|run| run.policy.name()).collect();
    Plot {
            id: "completion".to_owned(),
            title: "What part of the tasks of every user is completed".to_owned(),
            note: "A bubble is a user; above the line the user is better off. Tasks that outlast the log are left out.".to_owned(),
            x: axis(found.baseline.to_string()),
            y: axis(others.join(", ")),
            series,
        }
}

/// The unit of the axis of time, if it has one of its own, and how many ns are one: people count long times in hours and days.
fn time_axis(found: &Found) -> (&'static str, f64) {
    match found.horizon.0 as f64 / 1e9 {
        horizon if horizon < 7_200.0 => ("", 1.0),
        horizon if horizon < 172_800.0 => (" (hours)", 3_600e9),
        _ => (" (days)", 86_400e9),
    }
}

/// Figures 4.1 and 4.8, a picture for every policy.
fn shares(found: &Found) -> Plot {
    let (unit, nanos) = time_axis(found);
    // A user has one colour under all policies; each of them may have other users to show.
    let mut shown: Vec<&str> = found.over_time.iter().flatten().map(|user| user.user.as_str()).collect();
    shown.sort_unstable();
    shown.dedup();
    let curve = |run: &PolicyRun, user: &UserShares| Series {
        name: user.user.clone(),
        panel: run.policy.to_string(),
        points: user.points.iter().map(|(time, share)| (time / nanos, *share)).collect(),
        color: shown.binary_search(&user.user.as_str()).ok(),
        ..Series::default()
    };
    let curves = found.policies.iter().zip(&found.over_time);
    Plot {
        id: "shares".to_owned(),
        title: "Shares over time under every policy".to_owned(),
        note: "The dominant share, by weight, of the three users whose tasks need most, and of those who gain and who lose most; others are not drawn."
            .to_owned(),
        x: Axis {
            label: format!("time since the first submission{unit}"),
            unit: if unit.is_empty() { Unit::Nanos } else { Unit::Plain },
            log: false,
        },
        y: Axis { label: "dominant share".to_owned(), unit: Unit::Percent, log: false },
        series: curves.flat_map(|(run, users)| users.iter().map(move |user| curve(run, user))).collect(),
    }
}
