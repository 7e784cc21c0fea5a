//! What people see of `sched feedback`: the closed loop beside the open one.

use trueplane_study::report::{Axis, Plot, Series, Unit, color_of};
use trueplane_study::{Measured, Page};
use trueplane_units::Percent;

use super::found::{Found, SchedulerRun, Variable};
use super::options::Options;

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    page.fact("ranks at the base", "ranks", options.ranks()[0].to_string());
    page.fact("flows per second at the base", "flow_starts", options.flow_starts()[0]);
    page.fact("packets in all queues together", "memory_packets", *options.queues * *options.depth);
    for run in found.base() {
        page.numbers(
            format!("inversions / departures under {}", run.scheduler),
            "inversion_share",
            open(run).map(Percent),
            Percent(run.share()),
            Measured::Needs("a switch with this scheduler"),
        );
    }
    runs(
        "policies",
        "With senders that react (closed loop), and without (open loop)",
        found.base().collect(),
        page,
    );
    let varied: Vec<&SchedulerRun> = found.runs.iter().filter(|run| run.scenario.varied.is_some()).collect();
    if !varied.is_empty() {
        runs("variations", "One thing other than above", varied, page);
    }
    by_rank(found, page);
    page.lead(closed(found));
    let pushing = push_downs(found);
    if pushing.series.len() > 1 {
        page.plot(pushing);
    }
}

/// Inversions / departures of the open loop at the nominal load.
fn open(run: &SchedulerRun) -> Option<f64> {
    run.open.map(|open| open.inversion_share)
}

fn runs(id: &str, title: &str, rows: Vec<&SchedulerRun>, page: &mut Page) {
    let is_varied = rows.iter().any(|run| run.scenario.varied.is_some());
    page.table(id, title, rows)
        .col_if(is_varied, "varied", "varied", |run| run.scenario.varied.map(|varied| varied.to_string()))
        .col_if(is_varied, "value", "value", |run| run.scenario.value())
        .col("policy", "policy", |run| run.scheduler.name())
        .col("load of the flows", "nominal_load", |run| run.nominal_load)
        .col("load that came", "offered_load", |run| run.offered_load)
        .col("arrivals", "arrivals", |run| run.total().arrivals)
        .col("departures", "departures", |run| run.total().departures)
        .col("drops", "drops", |run| run.total().drops)
        .col("wait at the end", "waiting", |run| run.waiting)
        .col("inversions", "inversions", |run| run.total().inversions)
        .col("of departures", "inversion_share", |run| Percent(run.share()))
        .col("open loop", "open_inversion_share", |run| open(run).map(Percent))
        .col("open loop at that load", "open_at_offered_inversion_share", |run| {
            run.open_at_offered.map(|open| Percent(open.inversion_share))
        })
        .col("drops of arrivals", "drop_share", |run| Percent(run.drop_share()))
        .col("open loop", "open_drop_share", |run| run.open.map(|open| Percent(open.drop_share)))
        .col("flows completed", "completed", |run| run.completed)
        .col("unfinished", "unfinished", |run| run.unfinished);
}

fn by_rank(found: &Found, page: &mut Page) {
    let rows = found.runs.iter().flat_map(|run| (0_u64..).zip(&run.by_rank).map(move |row| (run, row)));
    page.table("by-rank", "By rank", rows)
        .col("varied", "varied", |(run, _)| run.scenario.varied.map(|varied| varied.to_string()))
        .col("value", "value", |(run, _)| run.scenario.value())
        .col("policy", "policy", |(run, _)| run.scheduler.name())
        .col("rank", "rank", |(_, (rank, _))| *rank)
        .col("arrivals", "arrivals", |(_, (_, counts))| counts.arrivals)
        .col("departures", "departures", |(_, (_, counts))| counts.departures)
        .col("drops", "drops", |(_, (_, counts))| counts.drops)
        .col("inversions", "inversions", |(_, (_, counts))| counts.inversions)
        .detail();
}

/// Inversions of each rank, as a share of all departures.
fn points(run: &SchedulerRun) -> Vec<(f64, f64)> {
    let departures = run.total().departures.max(1) as f64;
    let share =
        |(rank, counts): (usize, &super::found::Counts)| (rank as f64, counts.inversions as f64 / departures);
    run.by_rank.iter().enumerate().map(share).collect()
}

fn plot(id: &str, title: &str, note: &str, series: Vec<Series>) -> Plot {
    Plot {
        id: id.to_owned(),
        title: title.to_owned(),
        note: note.to_owned(),
        x: Axis { label: "rank".to_owned(), unit: Unit::Plain, log: false },
        y: Axis {
            label: "inversions of this rank / all departures".to_owned(),
            unit: Unit::Percent,
            log: false,
        },
        series,
    }
}

fn closed(found: &Found) -> Plot {
    let curve = |run: &SchedulerRun| Series {
        name: run.scheduler.to_string(),
        points: points(run),
        color: color_of(run.scheduler),
        ..Series::default()
    };
    let note =
        "How often a packet of this rank left while one of lower rank waited, with senders that react.";
    plot("inversions-by-rank", "Inversions by rank with TCP senders", note, found.base().map(curve).collect())
}

/// SP-PIFO by every way to push down.
fn push_downs(found: &Found) -> Plot {
    let pushing = found.runs.iter().filter(|run| {
        run.scheduler.properties().pushes_down
            && matches!(run.scenario.varied, None | Some(Variable::PushDown))
    });
    let curve = |(place, run): (usize, &SchedulerRun)| Series {
        name: format!("{}, {}", run.scheduler, run.scenario.push_down),
        points: points(run),
        color: Some(place),
        ..Series::default()
    };
    let note = "SP-PIFO with other amounts by which it lowers its bounds after an inversion.";
    plot("inversions-by-push-down", "Inversions by push-down", note, pushing.enumerate().map(curve).collect())
}
