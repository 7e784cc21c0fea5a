//! What people see of `limit experiment`: facts of the machine, and for each experiment facts, a table and a plot.

use trueplane_study::report::{Axis, Cell, Plot, Series, Unit};
use trueplane_study::{Measured, Page};
use trueplane_units::Percent;

use super::found::{Found, Results};
use super::precision::{Limiter, Source};
use super::{PAYLOAD_SHARE, isolation, latency, marking, occupancy, precision};

pub(super) fn present(found: &Found, page: &mut Page) {
    if let Ok(release) = std::fs::read_to_string("/proc/sys/kernel/osrelease") {
        page.fact("kernel", "kernel", release.trim());
    }
    page.fact("cores", "cores", std::thread::available_parallelism().map_or(1, usize::from));
    page.fact("payload of a full frame, all rates being of frames", "payload_share", Percent(PAYLOAD_SHARE));
    let mut left_out = found.left_out.clone();
    for results in &found.results {
        match results {
            Results::Precision(found) => {
                precision(found, page);
                left_out.extend(found.left_out.iter().cloned());
            }
            Results::Isolation(found) => isolation(found, page),
            Results::Latency(found) => latency(found, page),
            Results::Occupancy(found) => occupancy(found, page),
            Results::Marking(found) => marking(found, page),
        }
    }
    if !left_out.is_empty() {
        page.table("not-measured", "Not measured", &left_out)
            .col("what", "what", |out| out.what.as_str())
            .col("reason", "reason", |out| out.reason.as_str())
            .whole();
    }
}

fn axis(label: &str, unit: Unit, log: bool) -> Axis {
    Axis { label: label.into(), unit, log }
}

fn series(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), points, ..Series::default() }
}

/// Figures 10 and 11.
fn precision(found: &precision::Found, page: &mut Page) {
    page.table("precision", "What rate passes", &found.points)
        .col("source", "source", |point| Cell::name(point.source))
        .col("limiter", "limiter", |point| Cell::name(point.limiter))
        .col("configured", "rate_configured_bps", |point| point.rate_configured_bps)
        .col("frame", "frame_bytes", |point| point.frame_bytes)
        .col("offered", "offered_bps", |point| point.offered_bps)
        .col("admitted", "admitted_bps", |point| point.admitted_bps)
        .col("received", "received_bps", |point| point.received_bps)
        .col("dropped", "dropped_packets", |point| point.dropped_packets)
        .col("off by", "achieved_error", |point| Cell::Change(point.achieved() - 1.0));
    let curve = |source: Source, limiter: Limiter| {
        let points = found.points.iter().filter(|point| point.source == source && point.limiter == limiter);
        let points =
            points.map(|point| (point.rate_configured_bps.0 as f64, point.achieved())).collect::<Vec<_>>();
        (!points.is_empty()).then(|| series(format!("{source}, {limiter}"), points))
    };
    let pairs =
        Source::ALL.iter().flat_map(|&source| Limiter::ALL.iter().map(move |&limiter| (source, limiter)));
    page.plot(Plot {
        id: "precision".into(),
        title: "Achieved ÷ configured".into(),
        note: "UDP offers more than the rate; TCP has to find it.".into(),
        x: axis("configured rate", Unit::BitsPerSec, true),
        y: axis("achieved ÷ configured", Unit::Percent, false),
        series: pairs.filter_map(|(source, limiter)| curve(source, limiter)).collect(),
    });
}

/// Figure 16.
fn isolation(found: &isolation::Found, page: &mut Page) {
    let [few, many] = found.flows;
    let tenants = [format!("{few} flows"), format!("{many} flows")];
    let runs = [("without limits", &found.unlimited), ("with limits", &found.limited)];
    page.fact("bottleneck of the isolation experiment", "isolation_rate_bps", found.rate_bps);
    // Per tenant with limits; per flow, which is what TCP shares by, without.
    let by_flow = f64::from(many) / f64::from(few.max(1));
    for ((name, run), refined) in runs.into_iter().zip([by_flow, 1.0]) {
        let quantity = format!("rate of {many} flows ÷ that of {few}, {name}");
        page.numbers(quantity, "rate_ratio", 1.0, refined, Measured::Is(run.ratio().into()));
    }
    page.table("isolation", format!("{few} flows against {many}, while both send"), runs)
        .col("limits", "limits", |(name, _)| *name)
        .col(&tenants[0], "first_tenant_bps", |(_, run)| run.rates[0])
        .col(&tenants[1], "second_tenant_bps", |(_, run)| run.rates[1])
        .col("share of the first", "first_tenant_share", |(_, run)| Percent(run.share()))
        .col("times as much", "ratio", |(_, run)| run.ratio());
    let curve = |(name, run): (&str, &isolation::Run), tenant: usize, dashed: bool| {
        let points = run.series.iter().map(|(at, rates)| (at.0 as f64, rates[tenant].0 as f64)).collect();
        Series { dashed, color: Some(tenant), ..series(format!("{}, {name}", tenants[tenant]), points) }
    };
    page.plot(Plot {
        id: "isolation".into(),
        title: format!("Two tenants on {}", found.rate_bps),
        note: "The second tenant comes later, with more flows.".into(),
        x: axis("time", Unit::Nanos, false),
        y: axis("received", Unit::BitsPerSec, false),
        series: [(runs[0], 0, true), (runs[0], 1, true), (runs[1], 0, false), (runs[1], 1, false)]
            .map(|(run, tenant, dashed)| curve(run, tenant, dashed))
            .to_vec(),
    });
}

/// Figure 17.
fn latency(found: &latency::Found, page: &mut Page) {
    let runs =
        [("alone", &found.idle), ("without limits", &found.unlimited), ("with limits", &found.limited)];
    page.fact("bottleneck of the latency experiment", "latency_rate_bps", found.rate_bps);
    let mut columns = page
        .table("latency", "Round trips of a quiet tenant", runs)
        .col("beside", "run", |(name, _)| *name)
        .col("round trips", "count", |(_, run)| run.rtt_ns.count())
        .col("mean", "rtt_mean_ns", |(_, run)| Cell::Nanos(run.rtt_ns.mean()));
    for (name, share) in latency::QUANTILES {
        columns = columns.col(name, format!("rtt_{name}_ns"), |(_, run)| run.quantile(share));
    }
    let curve = |(name, run): (&str, &latency::Run)| {
        series(
            name,
            run.rtt_ns.cumulative().into_iter().map(|(value, share)| (value as f64, share)).collect(),
        )
    };
    page.plot(Plot {
        id: "latency".into(),
        title: format!("The quiet tenant's round trips beside {} flows", found.flows),
        note: "Further left is sooner.".into(),
        x: axis("round trip", Unit::Nanos, true),
        y: axis("share of round trips", Unit::Percent, false),
        series: runs.map(curve).to_vec(),
    });
}

/// Figure 14.
fn occupancy(found: &occupancy::Found, page: &mut Page) {
    let runs = [("with marks", &found.marked), ("without", &found.unmarked)];
    page.fact("limiter of the occupancy experiment", "occupancy_rate_bps", found.rate_bps);
    page.fact("its burst", "occupancy_burst_bytes", found.burst_bytes);
    page.fact("its marks above", "occupancy_mark_bytes", found.mark_bytes);
    page.table("occupancy", "How full a limiter gets", runs)
        .col("marks", "marks", |(name, _)| *name)
        .col("occupancy p50", "occupancy_p50_bytes", |(_, run)| run.quantile(0.5))
        .col("p99", "occupancy_p99_bytes", |(_, run)| run.quantile(0.99))
        .col("maximum", "occupancy_max_bytes", |(_, run)| run.quantile(1.0))
        .col("packets", "arrived_packets", |(_, run)| run.counter.arrived_packets())
        .col("marked", "marked_packets", |(_, run)| run.counter.marked_packets)
        .col("dropped", "dropped_packets", |(_, run)| run.counter.dropped_packets);
    let curve = |(name, run): (&str, &occupancy::Run)| {
        series(name, run.series.iter().map(|(at, bytes)| (at.0 as f64, bytes.0 as f64)).collect())
    };
    page.plot(Plot {
        id: "occupancy".into(),
        title: format!("A limiter of {} and {} under DCTCP", found.rate_bps, found.burst_bytes),
        note: format!("Marked above {}, it stays far below the burst.", found.mark_bytes),
        x: axis("time", Unit::Nanos, false),
        y: axis("occupancy (bytes)", Unit::Plain, false),
        series: runs.map(curve).to_vec(),
    });
}

/// Thresholds for DCTCP.
fn marking(found: &marking::Found, page: &mut Page) {
    let kind = |offloads: bool| if offloads { "offloaded" } else { "frames" };
    page.fact("limiter of the marking experiment", "marking_rate_bps", found.rate_bps);
    page.fact("burst of that limiter", "marking_burst_bytes", found.burst_bytes);
    page.fact("round trip of its path", "marking_round_trip_ns", found.round_trip_ns);
    let title = format!("Where to mark for DCTCP: {}, {} of burst", found.rate_bps, found.burst_bytes);
    page.table("marking", title, &found.points)
        .col("packets", "packets", |point| kind(point.offloads))
        .col("flows", "flows", |point| point.flows)
        .col("mark above", "mark_bytes", |point| point.mark_bytes)
        .col("rate used", "admitted_share", |point| Percent(found.used(point)))
        .col("goodput", "goodput_bps", |point| point.goodput_bps)
        .col("of the rate's payload", "goodput_payload_share", |point| {
            Percent(found.goodput_of_payload(point))
        })
        .col("marked", "marked_share", |point| Percent(point.marked_share))
        .col("dropped", "dropped_packets", |point| point.dropped_packets)
        .col("sent again", "retransmits", |point| point.retransmits)
        .col("occupancy p50", "occupancy_p50_bytes", |point| point.occupancy_p50_bytes)
        .col("maximum", "occupancy_max_bytes", |point| point.occupancy_max_bytes);
    let mut curves: Vec<Series> = Vec::new();
    for point in &found.points {
        let flows = if point.flows == 1 { "flow" } else { "flows" };
        let name = format!("{} {flows}, {}", point.flows, kind(point.offloads));
        let at = (point.mark_bytes.0 as f64, found.used(point));
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(at),
            None => curves.push(series(name, vec![at])),
        }
    }
    page.plot(Plot {
        id: "marking".into(),
        title: format!("How much of {} DCTCP uses", found.rate_bps),
        note: format!(
            "By the occupancy above which packets are marked; the round trip is {}.",
            found.round_trip_ns
        ),
        x: axis("threshold (bytes)", Unit::Plain, true),
        y: axis("rate used", Unit::Percent, false),
        series: curves,
    });
}

#[cfg(test)]
mod tests {
    use trueplane_study::study;

    use super::super::{Experiment, ExperimentName, Options};
    use super::*;
    use crate::conduct::LeftOut;

    #[test]
    fn everything_fits_on_one_page_and_its_document_is_of_the_page() {
        let results = vec![
            Results::Precision(precision::Found {
                left_out: vec![LeftOut { what: "udp at 3Gbps".into(), reason: "too fast".into() }],
                ..precision::Found::default()
            }),
            Results::Isolation(isolation::Found { flows: [10, 100], ..isolation::Found::default() }),
            Results::Latency(Box::default()),
            Results::Occupancy(occupancy::Found::default()),
        ];
        let skipped = LeftOut { what: ExperimentName::Marking.to_string(), reason: "no iperf3".into() };
        let found = Found { results, left_out: vec![skipped] };
        let document = study::report::<Experiment>(&Options::default(), &found).document;
        assert_eq!(document["tables"]["not-measured"][0]["what"], "marking");
        assert_eq!(document["tables"]["not-measured"][1]["reason"], "too fast");
        assert_eq!(document["tables"]["numbers"][0]["refined"], 10);
        assert_eq!(document["tables"]["latency"].as_array().map(Vec::len), Some(3));
        assert!(document["plots"]["occupancy"].is_object());
        assert!(document["verdict"].as_array().is_some_and(|verdict| verdict.len() == 3));
    }
}
