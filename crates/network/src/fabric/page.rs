//! What people see of `sched fabric`: completion times over the load, and a table with everything at each load.

use trueplane_study::report::Cell;
use trueplane_study::{Measured, Page};
use trueplane_units::{Bytes, Nanos, Percent, digits};

use super::found::{AtLoad, BusyPort, Found, SystemRun};
use super::options::Options;
use super::plots;
use super::verdict::best;

/// Fewest flows of which a 99th percentile says something.
const FEWEST: u64 = 100;

/// A system at a load.
type Row<'a> = (&'a AtLoad, &'a SystemRun);

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    page.fact("hosts", "hosts", found.hosts);
    page.fact("mean flow size", "flow_mean_bytes", Bytes(found.mean_bytes as u64));
    warnings(found, page);
    if let Some(busiest) = found.busiest() {
        for run in &busiest.systems {
            page.numbers(
                format!(
                    "mean time of flows below 100 kB under {} at a load of {}",
                    run.system,
                    digits(busiest.offered.load, 3)
                ),
                "small_mean_ns",
                run.small.classical_ns.map(Cell::Nanos),
                run.small.mean_ns().map(Cell::Nanos),
                Measured::Needs("a fabric with these ports"),
            );
        }
    }
    let rows: Vec<Row<'_>> =
        found.loads.iter().flat_map(|load| load.systems.iter().map(move |run| (load, run))).collect();
    systems(options, rows.clone(), page);
    slowdowns(rows.clone(), page);
    counts(rows.clone(), page);
    ports(rows, page);
    plots::draw(options, found, page);
}

fn warnings(found: &Found, page: &mut Page) {
    // What a file has is what there is.
    if found.is_recorded {
        return;
    }
    let formula =
        |load: &AtLoad| load.systems.iter().filter_map(|run| run.large.classical_ns).fold(0.0, f64::max);
    let longest = found.loads.iter().map(formula).fold(0.0, f64::max);
    if longest > found.start_time.0 as f64 {
        page.warn(format!(
            "Flows start for {}, and large ones take {} by the formula: the network is not yet as busy as the formula has it. Raise --duration.",
            found.start_time,
            Nanos(longest as u64)
        ));
    }
    let least = found.loads.iter().map(|load| load.systems.first().map_or(0, |run| run.small.flows())).min();
    if let Some(flows) = least.filter(|flows| *flows < FEWEST) {
        page.warn(format!(
            "At one load, there are too few flows below 100 kB ({flows}) for a 99th percentile: raise --duration."
        ));
    }
    if let Some(load) = found.loads.iter().find(|load| (load.load / load.offered.load - 1.0).abs() > 0.1) {
        page.warn(format!(
            "The flows that came are a load of {}, and not the {} that was asked for: few large flows make most of the load. Raise --duration, or try other seeds.",
            digits(load.load, 3),
            digits(load.offered.load, 3)
        ));
    }
}

fn load_of((load, _): &Row<'_>) -> f64 {
    load.offered.load
}

fn name_of((_, run): &Row<'_>) -> &'static str {
    run.system.name()
}

fn systems(options: &Options, rows: Vec<Row<'_>>, page: &mut Page) {
    let title = format!("Flow completion times, {}", options.rank.purpose());
    page.table("policies", title, rows)
        .col("load", "load", load_of)
        .col("policy", "policy", name_of)
        .col("below 100 kB: mean", "small_mean_ns", |(_, run)| run.small.mean_ns().map(Cell::Nanos))
        .col("by the formula", "small_classical_ns", |(_, run)| run.small.classical_ns.map(Cell::Nanos))
        .col("99th percentile", "small_p99_ns", |(_, run)| run.small.p99())
        .col("1 MB and more: mean", "large_mean_ns", |(_, run)| run.large.mean_ns().map(Cell::Nanos))
        .col("by the formula", "large_classical_ns", |(_, run)| run.large.classical_ns.map(Cell::Nanos))
        .col("drops", "drop_share", |(_, run)| Percent(run.drops as f64 / run.sent.max(1) as f64))
        .mark(|(load, run)| best(load).filter(|best| *best == run.system).map(|_| "deploy this"));
}

fn slowdowns(rows: Vec<Row<'_>>, page: &mut Page) {
    page.table("slowdowns", "Completion time over the least time on a network without other flows", rows)
        .col("load", "load", load_of)
        .col("policy", "policy", name_of)
        .col("below 100 kB: mean", "small_slowdown_mean", |(_, run)| run.small.slowdown())
        .col("99th percentile", "small_slowdown_p99", |(_, run)| run.small.slowdown_p99())
        .col("1 MB and more: mean", "large_slowdown_mean", |(_, run)| run.large.slowdown())
        .col("99th percentile", "large_slowdown_p99", |(_, run)| run.large.slowdown_p99())
        .col("all flows: mean", "slowdown_mean", |(_, run)| run.all.slowdown())
        .col("99th percentile", "slowdown_p99", |(_, run)| run.all.slowdown_p99())
        .detail();
}

fn counts(rows: Vec<Row<'_>>, page: &mut Page) {
    page.table("counts", "Flows and packets", rows)
        .col("load", "load", load_of)
        .col("policy", "policy", name_of)
        .col("load that came", "offered_load", |(load, _)| load.load)
        .col("flows", "flows", |(load, _)| load.flows)
        .col("below 100 kB", "small_flows", |(_, run)| run.small.flows())
        .col("1 MB and more", "large_flows", |(_, run)| run.large.flows())
        .col("packets sent", "sent", |(_, run)| run.sent)
        .col("delivered", "delivered", |(_, run)| run.delivered)
        .col("drops", "drops", |(_, run)| run.drops)
        .col("drops by queues", "queue_drops", |(_, run)| run.queue_drops)
        .col("on links that are down", "down_drops", |(_, run)| run.down_drops)
        .col("lost by links", "losses", |(_, run)| run.losses)
        .col("in the network at the end", "in_network", |(_, run)| run.in_network)
        .col("links passed", "hops", |(_, run)| run.hops)
        .col("most packets at once", "most_packets", |(_, run)| run.most_packets)
        .col("goodput", "goodput_bps", |(_, run)| run.goodput)
        .col("flows without an end", "unfinished", |(_, run)| run.unfinished)
        .col("after their deadline", "late", |(_, run)| run.late)
        .col("end of the last flow", "end_ns", |(_, run)| run.end)
        .detail();
}

fn ports(rows: Vec<Row<'_>>, page: &mut Page) {
    let ports = rows.into_iter().flat_map(|(load, run)| run.ports.iter().map(move |port| (load, run, port)));
    page.table("ports", "The ports at which most packets wait", ports)
        .col("load", "load", |(load, ..): &(&AtLoad, &SystemRun, &BusyPort)| load.offered.load)
        .col("policy", "policy", |(_, run, _)| run.system.name())
        .col("link", "link", |(.., port)| port.link.clone())
        .col("packets that wait: mean", "queue_mean", |(.., port)| port.mean)
        .col("most", "queue_most", |(.., port)| port.longest)
        .col("sent", "sent", |(.., port)| port.sent)
        .col("drops", "drops", |(.., port)| port.drops)
        .detail();
}
