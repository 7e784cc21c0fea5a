//! All experiments on one page: for each a sentence, a table and a plot.

use std::time::Duration;

use serde_json::{Map, Value, json};
use trueplane_limit::BELIEF;
use trueplane_study::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};
use trueplane_units::{BitsPerSec, Bytes, Nanos, Percent};

use super::precision::{Limiter, Source};
use super::{Error, Experiment, Observer, PAYLOAD_SHARE, isolation, latency, marking, occupancy, precision};

/// Section of one experiment in the report.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Results in plain sentences.
    pub verdict: Vec<String>,
    /// The numbers.
    pub tables: Vec<Table>,
    /// The figure.
    pub plots: Vec<Plot>,
    /// The same for machines.
    pub document: Value,
}

/// Runs an experiment as the command does: each measurement takes `duration`, or some times as long where a figure is of time.
pub fn conduct(
    experiment: Experiment,
    duration: Duration,
    observer: &dyn Observer,
) -> Result<Section, Error> {
    Ok(match experiment {
        Experiment::Precision => precision(&precision::run(&precision::Settings::new(duration), observer)?),
        Experiment::Isolation => isolation(&isolation::run(&isolation::Settings::new(duration), observer)?),
        Experiment::Latency => latency(&latency::run(&latency::Settings::new(duration), observer)?),
        Experiment::Occupancy => occupancy(&occupancy::run(&occupancy::Settings::new(duration), observer)?),
        Experiment::Marking => marking(&marking::run(&marking::Settings::new(duration), observer)?),
    })
}

/// One page of them all.
pub fn page(
    sections: Vec<(Experiment, Section)>,
    skipped: &[(Experiment, String)],
    duration: Duration,
) -> Report {
    let mut document = Map::new();
    document.insert("study".into(), "limit.experiment".into());
    document.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    document.insert("duration_ns".into(), json!(duration.as_nanos() as u64));
    let mut facts = vec![("measured for".into(), format!("{} each", Nanos(duration.as_nanos() as u64)))];
    facts.extend(kernel().map(|kernel| ("kernel".into(), kernel)));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    facts.push(("cores".into(), cores.to_string()));
    facts.push(("rates".into(), format!("of frames; {} of a full one are payload", Percent(PAYLOAD_SHARE))));
    for (experiment, reason) in skipped {
        facts.push((format!("{} skipped", experiment.name()), reason.clone()));
        document.insert(experiment.name().into(), json!({ "skipped": reason }));
    }
    let mut report = Report {
        study: "limit.experiment".into(),
        title: "Limits on real packets".into(),
        belief: BELIEF.into(),
        facts,
        ..Report::default()
    };
    for (experiment, section) in sections {
        document.insert(experiment.name().into(), section.document);
        report.verdict.extend(section.verdict);
        report.tables.extend(section.tables);
        report.plots.extend(section.plots);
    }
    report.document = Value::Object(document);
    report
}

fn kernel() -> Option<String> {
    std::fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|release| release.trim().to_owned())
}

fn document<T: serde::Serialize>(found: &T) -> Value {
    serde_json::to_value(found).expect("structures of numbers and names")
}

fn axis(label: &str, unit: Unit, log: bool) -> Axis {
    Axis { label: label.into(), unit, log }
}

fn series(name: impl Into<String>, points: Vec<(f64, f64)>) -> Series {
    Series { name: name.into(), points, ..Series::default() }
}

fn optional<T>(value: Option<T>, cell: impl FnOnce(T) -> Cell) -> Cell {
    value.map_or(Cell::Missing, cell)
}

/// Figures 10 and 11.
pub fn precision(found: &precision::Found) -> Section {
    let columns = vec![
        Column::new("source", "source"),
        Column::new("limiter", "limiter"),
        Column::new("configured", "rate_configured_bps"),
        Column::new("frame", "frame_bytes"),
        Column::new("offered", "offered_bps"),
        Column::new("admitted", "admitted_bps"),
        Column::new("received", "received_bps"),
        Column::new("off by", "achieved_error"),
    ];
    let row = |point: &precision::Point| {
        vec![
            Cell::text(point.source.name()),
            Cell::text(point.limiter.name()),
            Cell::Rate(point.rate_configured_bps),
            Cell::Bytes(point.frame_bytes),
            optional(point.offered_bps, Cell::Rate),
            optional(point.admitted_bps, Cell::Rate),
            Cell::Rate(point.received_bps),
            Cell::Change(point.achieved() - 1.0),
        ]
    };
    let curve = |source: Source, limiter: Limiter| {
        let points = found.points.iter().filter(|point| point.source == source && point.limiter == limiter);
        let points =
            points.map(|point| (point.rate_configured_bps.0 as f64, point.achieved())).collect::<Vec<_>>();
        let name = format!("{}, {}", source.name(), limiter.name());
        (!points.is_empty()).then(|| series(name, points))
    };
    let sources = [Source::Udp, Source::Cubic, Source::Dctcp];
    let curves = sources.iter().flat_map(|&source| Limiter::ALL.map(|limiter| curve(source, limiter)));
    let plot = Plot {
        id: "precision".into(),
        title: "Achieved ÷ configured (figure 11)".into(),
        note: "UDP offers more than the rate; TCP has to find it.".into(),
        x: axis("configured rate", Unit::BitsPerSec, true),
        y: axis("achieved ÷ configured", Unit::Percent, false),
        series: curves.flatten().collect(),
    };
    let mut verdict = precision_verdict(found);
    verdict.extend(found.left_out.iter().map(|line| format!("Left out: {line}.")));
    Section {
        verdict,
        tables: vec![Table {
            id: "precision".into(),
            title: "What rate passes".into(),
            columns,
            rows: found.points.iter().map(row).collect(),
            detail: false,
        }],
        plots: vec![plot],
        document: document(found),
    }
}

fn precision_verdict(found: &precision::Found) -> Vec<String> {
    let worst = |limiter: Limiter| {
        let points =
            found.points.iter().filter(|point| point.source == Source::Udp && point.limiter == limiter);
        points.map(|point| (point.achieved() - 1.0).abs()).reduce(f64::max)
    };
    let udp = found.points.iter().filter(|point| point.source == Source::Udp);
    let rates = udp.map(|point| point.rate_configured_bps);
    let (Some(ours), Some(least), Some(most)) = (worst(Limiter::Nimble), rates.clone().min(), rates.max())
    else {
        return Vec::new();
    };
    let others =
        [Limiter::Tbf, Limiter::Htb].into_iter().filter_map(|limiter| Some((limiter, worst(limiter)?)));
    let others =
        others.map(|(limiter, worst)| format!(", {} {}", limiter.name(), Percent(worst))).collect::<String>();
    vec![format!(
        "Precision: from {least} to {most}, UDP through a limiter is off by {} at most{others}.",
        Percent(ours)
    )]
}

/// Figure 16.
pub fn isolation(found: &isolation::Found) -> Section {
    let [few, many] = found.flows;
    let tenants = [format!("{few} flows"), format!("{many} flows")];
    let runs = [("without limits", &found.unlimited), ("with limits", &found.limited)];
    let row = |(name, run): &(&str, &isolation::Run)| {
        vec![
            Cell::text(*name),
            Cell::Rate(run.rates[0]),
            Cell::Rate(run.rates[1]),
            Cell::Ratio(run.share()),
            Cell::Number(run.ratio()),
        ]
    };
    let columns = vec![
        Column::new("limits", "limits"),
        Column::new(&tenants[0], "first_tenant_bps"),
        Column::new(&tenants[1], "second_tenant_bps"),
        Column::new("share of the first", "first_tenant_share"),
        Column::new("times as much", "ratio"),
    ];
    let curve = |run: &isolation::Run, name: &str, tenant: usize, dashed: bool| {
        let points = run.series.iter().map(|(at, rates)| (at.0 as f64, rates[tenant].0 as f64)).collect();
        Series { dashed, color: Some(tenant), ..series(format!("{}, {name}", tenants[tenant]), points) }
    };
    let plot = Plot {
        id: "isolation".into(),
        title: format!("Two tenants on {} (figure 16)", found.rate_bps),
        note: "The second tenant comes later, with more flows.".into(),
        x: axis("time", Unit::Nanos, false),
        y: axis("received", Unit::BitsPerSec, false),
        series: [(0, true), (1, true), (0, false), (1, false)]
            .map(|(tenant, without)| {
                let (name, run) = if without { runs[0] } else { runs[1] };
                curve(run, name, tenant, without)
            })
            .to_vec(),
    };
    let verdict = format!(
        "Isolation: {many} flows get {:.1} times as much as {few} without limits, {:.2} times with a limiter per tenant.",
        found.unlimited.ratio(),
        found.limited.ratio()
    );
    Section {
        verdict: vec![verdict],
        tables: vec![Table {
            id: "isolation".into(),
            title: "Ten flows against a hundred, while both send".into(),
            columns,
            rows: runs.iter().map(row).collect(),
            detail: false,
        }],
        plots: vec![plot],
        document: document(found),
    }
}

/// Figure 17.
pub fn latency(found: &latency::Found) -> Section {
    let runs =
        [("alone", &found.idle), ("without limits", &found.unlimited), ("with limits", &found.limited)];
    let mut columns = vec![Column::new("beside", "run"), Column::new("round trips", "count")];
    columns.extend(latency::QUANTILES.map(|(name, _)| Column::new(name, format!("rtt_{name}_ns"))));
    let row = |(name, run): &(&str, &latency::Run)| {
        let mut row = vec![Cell::text(*name), Cell::Count(run.rtt_ns.count())];
        row.extend(latency::QUANTILES.map(|(_, share)| Cell::from(run.quantile(share))));
        row
    };
    let curve = |(name, run): &(&str, &latency::Run)| {
        series(
            *name,
            run.rtt_ns.cumulative().into_iter().map(|(value, share)| (value as f64, share)).collect(),
        )
    };
    let plot = Plot {
        id: "latency".into(),
        title: format!("The quiet tenant's round trips beside {} flows (figure 17)", found.flows),
        note: "Further left is sooner.".into(),
        x: axis("round trip", Unit::Nanos, true),
        y: axis("share of round trips", Unit::Percent, false),
        series: runs.iter().map(curve).collect(),
    };
    let [without, with] = [&found.unlimited, &found.limited].map(|run| run.quantile(0.5));
    let verdict = format!(
        "Latency: beside {} flows a quiet tenant's median round trip takes {without} without limits and {with} with them, {:.0} times less.",
        found.flows,
        without.0 as f64 / with.0.max(1) as f64
    );
    Section {
        verdict: vec![verdict],
        tables: vec![Table {
            id: "latency".into(),
            title: "Round trips of a quiet tenant".into(),
            columns,
            rows: runs.iter().map(row).collect(),
            detail: false,
        }],
        plots: vec![plot],
        document: document(found),
    }
}

/// Figure 14.
pub fn occupancy(found: &occupancy::Found) -> Section {
    let runs = [("with marks", &found.marked), ("without", &found.unmarked)];
    let columns = vec![
        Column::new("marks", "marks"),
        Column::new("occupancy p50", "occupancy_p50_bytes"),
        Column::new("p99", "occupancy_p99_bytes"),
        Column::new("maximum", "occupancy_max_bytes"),
        Column::new("packets", "arrived_packets"),
        Column::new("marked", "marked_packets"),
        Column::new("dropped", "dropped_packets"),
    ];
    let row = |(name, run): &(&str, &occupancy::Run)| {
        let mut row = vec![Cell::text(*name)];
        row.extend([0.5, 0.99, 1.0].map(|share| Cell::Bytes(run.quantile(share))));
        let counter = run.counter;
        row.extend(
            [counter.arrived_packets(), counter.marked_packets, counter.dropped_packets].map(Cell::Count),
        );
        row
    };
    let curve = |(name, run): &(&str, &occupancy::Run)| {
        series(*name, run.series.iter().map(|(at, bytes)| (at.0 as f64, bytes.0 as f64)).collect())
    };
    let plot = Plot {
        id: "occupancy".into(),
        title: format!("A limiter of {} and {} under DCTCP (figure 14)", found.rate_bps, found.burst_bytes),
        note: format!("Marked above {}, it stays far below the burst.", found.mark_bytes),
        x: axis("time", Unit::Nanos, false),
        y: axis("occupancy (bytes)", Unit::Plain, false),
        series: runs.iter().map(curve).collect(),
    };
    let verdict = format!(
        "Occupancy: marking above {}, DCTCP fills the limiter to {} at most and loses {} packets; without marks to {}, and loses {}.",
        found.mark_bytes,
        found.marked.quantile(1.0),
        found.marked.counter.dropped_packets,
        found.unmarked.quantile(1.0),
        found.unmarked.counter.dropped_packets
    );
    Section {
        verdict: vec![verdict],
        tables: vec![Table {
            id: "occupancy".into(),
            title: "How full a limiter gets".into(),
            columns,
            rows: runs.iter().map(row).collect(),
            detail: false,
        }],
        plots: vec![plot],
        document: document(found),
    }
}

/// Thresholds for DCTCP.
pub fn marking(found: &marking::Found) -> Section {
    let columns = vec![
        Column::new("packets", "packets"),
        Column::new("flows", "flows"),
        Column::new("mark above", "mark_bytes"),
        Column::new("rate used", "admitted_share"),
        Column::new("goodput", "goodput_bps"),
        Column::new("of the rate's payload", "goodput_payload_share"),
        Column::new("marked", "marked_share"),
        Column::new("dropped", "dropped_packets"),
        Column::new("occupancy p50", "occupancy_p50_bytes"),
    ];
    let kind = |offloads: bool| if offloads { "offloaded" } else { "frames" };
    let row = |point: &marking::Point| {
        vec![
            Cell::text(kind(point.offloads)),
            Cell::Count(point.flows.into()),
            Cell::Bytes(point.mark_bytes),
            Cell::Ratio(found.used(point)),
            Cell::Rate(point.goodput_bps),
            Cell::Ratio(found.goodput_of_payload(point)),
            Cell::Ratio(point.marked_share),
            Cell::Count(point.dropped_packets),
            Cell::Bytes(point.occupancy_p50_bytes),
        ]
    };
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
    let plot = Plot {
        id: "marking".into(),
        title: format!("How much of {} DCTCP uses", found.rate_bps),
        note: format!(
            "By the occupancy above which packets are marked; the round trip is {}.",
            found.round_trip_ns
        ),
        x: axis("threshold (bytes)", Unit::Plain, true),
        y: axis("rate used", Unit::Percent, false),
        series: curves,
    };
    Section {
        verdict: marking_verdict(found),
        tables: vec![Table {
            id: "marking".into(),
            title: format!("Where to mark for DCTCP: {}, {} of burst", found.rate_bps, found.burst_bytes),
            columns,
            rows: found.points.iter().map(row).collect(),
            detail: false,
        }],
        plots: vec![plot],
        document: document(found),
    }
}

fn marking_verdict(found: &marking::Found) -> Vec<String> {
    let best =
        found.points.iter().filter(|point| point.dropped_packets == 0).max_by_key(|point| point.goodput_bps);
    let Some(best) = best else {
        return vec![format!("Marking: at {} no threshold kept DCTCP from losing packets.", found.rate_bps)];
    };
    let (rate, mark): (BitsPerSec, Bytes) = (found.rate_bps, best.mark_bytes);
    vec![format!(
        "Marking: a limiter of {rate} that marks above {mark} gives DCTCP {}, {} of the rate's payload, and drops nothing.",
        best.goodput_bps,
        Percent(found.goodput_of_payload(best))
    )]
}
