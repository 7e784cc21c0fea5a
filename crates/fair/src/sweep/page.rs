//! What people see of `fair sweep`: figures 4.9 and 4.11 of the thesis.

use trueplane_study::report::{Axis, Plot, Series, Unit};
use trueplane_study::{Measured, Page};
use trueplane_units::Percent;

use super::found::{Found, Row, Size};
use crate::words::{change, long};

pub(super) fn present(found: &Found, page: &mut Page) {
    found.log.present(page);
    page.fact("horizon", "horizon_ns", long(found.horizon));
    for size in &found.sizes {
        page.numbers(
            format!("mean wait of users, cluster of {}", Percent(size.capacity.ratio())),
            "users_wait_mean_ns",
            size.users_wait_mean,
            found.best(size.capacity).map(|row| row.users_wait_mean),
            Measured::Needs("a cluster with both schedulers"),
        );
    }
    rows(found, page);
    clusters(found, page);
    found.log.present_odd_tasks(page);
    plots(found, page);
}

fn rows(found: &Found, page: &mut Page) {
    let title =
        "SDRF against DRF, for every size of the cluster (part of the mean use) and every δ per second";
    page.table("sweep", title, &found.rows)
        .col("cluster", "capacity", |row| Percent(row.capacity.ratio()))
        .col("δ", "delta", |row| row.delta.to_string())
        .col("half in", "half_life_ns", |row| long(row.delta.0.half_life_span()))
        .col("mean wait of users", "users_wait_mean_ns", |row| row.users_wait_mean)
        .col("change", "users_wait_mean_change", |row| change(row.users_wait_mean_change))
        .col("of tasks", "wait_mean_ns", |row| row.wait_mean)
        .col("change of it", "wait_mean_change", |row| change(row.wait_mean_change))
        .col("users wait less", "users_wait_less", |row| row.users_wait_less)
        .col("longer", "users_wait_more", |row| row.users_wait_more);
    let title = "Tasks completed by the horizon, against DRF, and events of the live tree";
    page.table("horizon", title, &found.rows)
        .col("cluster", "capacity", |row| Percent(row.capacity.ratio()))
        .col("δ", "delta", |row| row.delta.to_string())
        .col("1 - δ", "forgotten", |row| row.delta.0.forgotten_per_second())
        .col("more tasks", "completed_by_horizon_change", |row| row.completed_by_horizon_change as f64)
        .col("live-tree events", "live_tree_events", |row| row.live_tree_events)
        .col("for 1000 tasks", "events_per_1000_tasks", |row| row.events_per_task * 1e3)
        .detail();
}

fn clusters(found: &Found, page: &mut Page) {
    let mut table =
        page.table("clusters", "The clusters under DRF", &found.sizes)
            .col("cluster", "capacity", |size| Percent(size.capacity.ratio()));
    for (place, name) in found.log.resources.iter().enumerate() {
        // Its end says that it has no unit, whatever the resource is called.
        let column = format!("{name}_capacity");
        table = table.col(name, column, |size: &&Size| size.resources[place].capacity);
    }
    table
        .col("too large", "skipped", |size| size.skipped)
        .col("tasks wait", "waited", |size| size.waited)
        .col("mean wait", "wait_mean_ns", |size| size.wait_mean)
        .col("mean of users", "users_wait_mean_ns", |size| size.users_wait_mean);
}

fn plots(found: &Found, page: &mut Page) {
    let mut plots = vec![
        plot(
            found,
            "wait-reduction",
            "What of the mean wait of users under drf is saved",
            "The mean over users of the mean wait of their tasks. Below zero it is longer.",
            Axis { label: "saved of the mean wait".to_owned(), unit: Unit::Percent, log: false },
            |row| row.users_wait_mean_change.map(|change| -change),
        ),
        plot(
            found,
            "live-tree-events",
            "Live-tree events",
            "How often two users who wait change places by themselves. None is not drawn.",
            Axis { label: "events".to_owned(), unit: Unit::Plain, log: true },
            |row| (row.live_tree_events > 0).then_some(row.live_tree_events as f64),
        ),
    ];
    plots.retain(|plot| plot.series.iter().any(|series| !series.points.is_empty()));
    plots.into_iter().for_each(|plot| page.plot(plot));
}

/// A curve over 1 − δ for every size of the cluster.
fn plot(
    found: &Found,
    id: &str,
    title: &str,
    note: &str,
    y: Axis,
    value: impl Fn(&Row) -> Option<f64>,
) -> Plot {
    let curve = |size: &Size| {
        let rows = found.rows.iter().filter(|row| row.capacity == size.capacity);
        let mut points: Vec<(f64, f64)> =
            rows.filter_map(|row| Some((row.delta.0.forgotten_per_second(), value(row)?))).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name: format!("cluster of {}", Percent(size.capacity.ratio())), points, ..Series::default() }
    };
    Plot {
        id: id.to_owned(),
        title: title.to_owned(),
        note: note.to_owned(),
        x: Axis { label: "1 - δ: what is forgotten in a second".to_owned(), unit: Unit::Plain, log: true },
        y,
        series: found.sizes.iter().map(curve).collect(),
    }
}
