//! What people see of `sched bandwidth`: a table and figure 11 of the paper for every scheduler.

use trueplane_study::report::{Axis, Plot, Series, Unit};
use trueplane_study::{Measured, Page};
use trueplane_units::Percent;

use super::found::{FlowRun, SchedulerRun};
use super::options::{BINS_PER_STEP, Options};

pub(super) fn present(options: &Options, found: &[SchedulerRun], page: &mut Page) {
    let newest = *options.flows as usize - 1;
    for run in found {
        page.numbers(
            format!("share of the newest flow under {}", run.scheduler),
            "newest_flow_share",
            Percent(options.classical_share(run.scheduler)),
            Percent(run.share(options, newest, newest)),
            Measured::Needs("a switch with this scheduler"),
        );
    }
    page.table("packets", "Packets of all flows together", found)
        .col("scheduler", "scheduler", |run| run.scheduler.name())
        .col("arrivals", "arrivals", |run| run.arrivals())
        .col("departures", "departures", |run| run.departures())
        .col("drops", "drops", |run| run.drops())
        .detail();
    for run in found {
        rates(options, run, page);
    }
    page.plot(over_time(options, found));
}

/// A row for every flow, a column for every step.
fn rates(options: &Options, run: &SchedulerRun, page: &mut Page) {
    let title = format!("Bandwidth of every flow in every step: {}", run.scheduler);
    let mut table = page
        .table(format!("bandwidth-{}", run.scheduler), title, &run.flows)
        .col("flow", "flow", |flow| flow.flow + 1)
        .col("rank", "rank", |flow| flow.rank)
        .col("arrivals", "arrivals", |flow| flow.arrivals)
        .col("drops", "drops", |flow| flow.drops);
    for step in 0..*options.flows as usize {
        // Before its start a flow has no bandwidth to speak of.
        let rate = |flow: &&FlowRun| (step >= flow.flow as usize).then(|| flow.by_step[step]);
        table = table.col(format!("step {}", step + 1), format!("step_{}_bps", step + 1), rate);
    }
}

/// A picture for every scheduler.
fn over_time(options: &Options, found: &[SchedulerRun]) -> Plot {
    let bin = (options.step.0 / BINS_PER_STEP) as f64;
    let curve = |run: &SchedulerRun, flow: &FlowRun| Series {
        name: format!("flow {}, rank {}", flow.flow + 1, flow.rank),
        panel: run.scheduler.to_string(),
        // Before its start a flow has no bandwidth to speak of.
        points: (flow.over_time.iter().enumerate().skip(flow.flow as usize * BINS_PER_STEP as usize))
            .map(|(index, rate)| ((index as f64 + 0.5) * bin, rate.0 as f64))
            .collect(),
        color: Some(flow.flow as usize),
        ..Series::default()
    };
    Plot {
        id: "over-time".to_owned(),
        title: "Bandwidth over time under every scheduler".to_owned(),
        note: format!("A flow joins every {}, each of a lower rank than all before.", *options.step),
        x: Axis { label: "time".to_owned(), unit: Unit::Nanos, log: false },
        y: Axis { label: "bandwidth".to_owned(), unit: Unit::BitsPerSec, log: false },
        series: found.iter().flat_map(|run| run.flows.iter().map(move |flow| curve(run, flow))).collect(),
    }
}
