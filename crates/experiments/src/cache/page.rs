//! What people see of `cache experiment`: the three numbers of every cache, all runs, and how long requests waited.

use trueplane_linux::cores;
use trueplane_study::report::{Axis, Cell, Plot, Series, Unit, color_of};
use trueplane_study::{Measured, Page};
use trueplane_units::{Bytes, Nanos, PerSecond, Percent, distinct};

use super::found::{CacheName, Found, NEAR, Round, Run};
use super::options::{Options, OriginName};
use super::predict::Predicted;

/// A client that sends one of a hundred requests later than this is late.
const LATE: Nanos = Nanos(5_000_000);
/// More policies have a picture each.
const MOST_TOGETHER: usize = 3;

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    warnings(found, page);
    facts(options, found, page);
    numbers(found, page);
    runs(found, page);
    for origin in distinct(found.runs.iter().map(|run| run.origin)) {
        plots(found, origin, page);
    }
    rounds(found, page);
    if !found.rivals.is_empty() {
        page.table("rivals", "Other caches", &found.rivals)
            .col("cache", "cache", |facts| Cell::name(facts.rival))
            .col("version", "version", |facts| facts.version.as_str())
            .col("memory", "memory", |facts| facts.memory.as_str())
            .whole();
    }
    if !found.left_out.is_empty() {
        page.table("not-measured", "Not measured", &found.left_out)
            .col("what", "what", |out| out.what.as_str())
            .col("reason", "reason", |out| out.reason.as_str())
            .whole();
    }
    page.left_out("trace", found.workload.skipped.iter().cloned());
}

fn all_rounds(found: &Found) -> impl Iterator<Item = (&Run, usize, &Round)> {
    found.runs.iter().flat_map(|run| (1..).zip(&run.rounds).map(move |(number, round)| (run, number, round)))
}

/// Facts that make the numbers doubtful.
fn warnings(found: &Found, page: &mut Page) {
    let late = |round: &Round| Nanos(round.late.quantile(0.99));
    let latest = all_rounds(found).max_by_key(|(.., round)| late(round));
    if let Some((run, _, round)) = latest.filter(|(.., round)| late(round) > LATE) {
        page.warn(format!(
            "The client was late: before {}, of the requests to {}, it sent 1% more than {} after their time, which counts as waiting. The machine is too busy, or --rate too high.",
            run.origin,
            run.cache,
            late(round)
        ));
    }
    let far = found.runs.iter().filter(|run| run.is_far());
    let far: Vec<String> = far.map(|run| format!("{} before {}", run.cache, run.origin)).collect();
    if !far.is_empty() {
        page.warn(format!(
            "The measured mean is more than {} off the simulated one: {}. Other programs on the machine make requests wait.",
            Percent(NEAR),
            far.join(", ")
        ));
    }
}

fn facts(options: &Options, found: &Found, page: &mut Page) {
    let Found { workload, overhead, memory, .. } = found;
    page.fact("requests", "requests", workload.requests.len());
    page.fact("objects", "objects", workload.objects.len());
    page.fact("peak active objects", "peak_active_objects", workload.peak_active);
    page.fact("time of the replay", "replay_ns", workload.duration());
    let times = match workload.span {
        Some(span) => format!("those of the trace, in which they take {span}"),
        None => "evenly spaced".to_owned(),
    };
    page.fact("times of requests", "times", times);
    page.fact("mean rate of requests", "rate", PerSecond(options.rate.0).to_string());
    page.fact("mean body", "body_mean_bytes", Bytes(workload.mean_body() as u64));
    page.fact("objects cut to the largest body", "objects_cut", workload.cut());
    page.fact("memory of each cache", "memory_bytes", Bytes(*memory));
    page.fact("measured time of a hit", "hit_overhead_ns", overhead.hit);
    page.fact("measured time of a fetch besides the latency", "fetch_overhead_ns", overhead.fetch);
    page.fact(
        "measured memory of an object besides its body",
        "object_overhead_bytes",
        Bytes(overhead.object),
    );
    page.fact("cores of the machine", "machine_cores", cores::allowed().len());
}

/// One row for each cache; before several origins for our own alone, which have all three numbers.
fn numbers(found: &Found, page: &mut Page) {
    let origins = distinct(found.runs.iter().map(|run| run.origin));
    let is_told = |run: &&Run| origins.len() == 1 || matches!(run.cache, CacheName::Ours(_));
    for run in found.runs.iter().filter(is_told) {
        let before = if origins.len() == 1 { String::new() } else { format!("before {}, ", run.origin) };
        page.numbers(
            format!("{before}mean wait under {}", run.cache),
            "latency_mean_ns",
            Cell::Nanos(run.classical_mean),
            run.refined.as_ref().map_or(Cell::Missing, |refined| Cell::Nanos(refined.waits.mean())),
            Measured::Is(Cell::Nanos(run.waits.mean())),
        );
    }
}

fn runs(found: &Found, page: &mut Page) {
    let mean = |predicted: Option<&Predicted>| {
        predicted.map_or(Cell::Missing, |predicted| Cell::Nanos(predicted.waits.mean()))
    };
    let quantile = |predicted: Option<&Predicted>, share: f64| {
        predicted.map(|predicted| Nanos(predicted.waits.quantile(share)))
    };
    let least = |run: &Run| {
        let others = found.runs.iter().filter(|other| other.origin == run.origin);
        let least = others.map(|other| other.waits.mean()).min_by(f64::total_cmp);
        (least == Some(run.waits.mean())).then_some("waits least")
    };
    page.table("runs", "How long requests waited", &found.runs)
        .col("origin", "origin", |run| Cell::name(run.origin))
        .col("cache", "cache", |run| run.cache.to_string())
        .col("classical mean", "classical_latency_mean_ns", |run| Cell::Nanos(run.classical_mean))
        .col("refined mean", "refined_latency_mean_ns", |run| mean(run.refined.as_ref()))
        .col("measured mean", "measured_latency_mean_ns", |run| Cell::Nanos(run.waits.mean()))
        .col("measured to refined", "error", |run| run.error().map(Cell::Change))
        .col("refined p50", "refined_latency_p50_ns", |run| quantile(run.refined.as_ref(), 0.5))
        .col("measured p50", "measured_latency_p50_ns", |run| run.quantile(0.5))
        .col("classical p99", "classical_latency_p99_ns", |run| quantile(run.classical.as_ref(), 0.99))
        .col("refined p99", "refined_latency_p99_ns", |run| quantile(run.refined.as_ref(), 0.99))
        .col("measured p99", "measured_latency_p99_ns", |run| run.quantile(0.99))
        .col("classical origin requests", "classical_origin_requests", |run| {
            run.classical.as_ref().map(|classical| classical.misses)
        })
        .col("refined", "refined_origin_requests", |run| run.refined.as_ref().map(|refined| refined.misses))
        .col("measured", "measured_origin_requests", |run| run.origin_requests().round() as u64)
        .mark(|run| least(run));
}

/// Every measurement, and what makes it doubtful.
fn rounds(found: &Found, page: &mut Page) {
    page.table("rounds", "All measurements", all_rounds(found))
        .col("origin", "origin", |(run, ..)| Cell::name(run.origin))
        .col("cache", "cache", |(run, ..)| run.cache.to_string())
        .col("round", "round", |(_, number, _)| *number)
        .col("mean", "latency_mean_ns", |(.., round)| Cell::Nanos(round.waits.mean()))
        .col("p50", "latency_p50_ns", |(.., round)| Nanos(round.waits.quantile(0.5)))
        .col("p99", "latency_p99_ns", |(.., round)| Nanos(round.waits.quantile(0.99)))
        .col("origin requests", "origin_requests", |(.., round)| round.origin_requests)
        .col("hits", "hits", |(.., round)| round.outcomes.map(|[hits, ..]| hits))
        .col("delayed hits", "delayed_hits", |(.., round)| round.outcomes.map(|[_, delayed, _]| delayed))
        .col("misses", "misses", |(.., round)| round.outcomes.map(|[.., misses]| misses))
        .col("sent late, mean", "late_mean_ns", |(.., round)| Cell::Nanos(round.late.mean()))
        .col("p99", "late_p99_ns", |(.., round)| Nanos(round.late.quantile(0.99)))
        .col("load", "load", |(.., round)| round.load)
        .detail();
}

/// The distribution of waits before one origin: of our cache as simulated and as measured, and of all caches.
fn plots(found: &Found, origin: OriginName, page: &mut Page) {
    let runs: Vec<&Run> = found.runs.iter().filter(|run| run.origin == origin).collect();
    let curve = |points: Vec<(u64, f64)>| -> Vec<(f64, f64)> {
        points.into_iter().map(|(time, share)| (time as f64, share)).collect()
    };
    let ours: Vec<(&Run, &Predicted)> =
        runs.iter().filter_map(|run| Some((*run, run.refined.as_ref()?))).collect();
    let has_panels = ours.len() > MOST_TOGETHER;
    let both = |&(run, refined): &(&Run, &Predicted)| {
        let CacheName::Ours(policy) = run.cache else { return Vec::new() };
        let name = run.cache.to_string();
        let series = |which: &str, points, dashed| Series {
            name: format!("{name}, {which}"),
            points: curve(points),
            panel: if has_panels { name.clone() } else { String::new() },
            dashed,
            color: color_of(policy),
            ..Series::default()
        };
        vec![
            series("measured", run.waits.cumulative(), false),
            series("refined", refined.waits.cumulative(), true),
        ]
    };
    let plot = |id: &str, title: String, note: &str, series| Plot {
        id: format!("{id}-{origin}"),
        title,
        note: note.to_owned(),
        x: Axis { label: "wait".to_owned(), unit: Unit::Nanos, log: true },
        y: Axis { label: "share of requests".to_owned(), unit: Unit::Percent, log: false },
        series,
    };
    let series: Vec<Series> = ours.iter().flat_map(both).collect();
    if !series.is_empty() {
        page.plot(plot(
            "waits",
            format!("How long requests wait before {origin}, simulated and measured"),
            "Where the dashed curve lies on the solid one, the simulation is right.",
            series,
        ));
    }
    let all = |run: &&Run| Series {
        name: run.cache.to_string(),
        points: curve(run.waits.cumulative()),
        color: match run.cache {
            CacheName::Ours(policy) => color_of(policy),
            CacheName::Rival(_) => None,
        },
        ..Series::default()
    };
    if runs.len() > ours.len() {
        let series = runs.iter().map(all).collect();
        let title = format!("How long requests waited before {origin}, all caches");
        page.plot(plot("caches", title, "Further left is sooner.", series));
    }
}
