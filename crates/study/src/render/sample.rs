//! A report for the tests of this module: a comparison of 14 cache policies at three latencies, with made-up numbers.

use serde_json::json;

use crate::report::{Axis, Cell, Column, Plot, Report, Series, Table, Unit};

const POLICIES: [&str; 14] = [
    "lru",
    "lru-mad",
    "lfu",
    "lfu-mad",
    "arc",
    "arc-mad",
    "lhd",
    "lhd-mad",
    "sieve",
    "s3-fifo",
    "w-tinylfu",
    "random",
    "belady",
    "belady-ad",
];
const LATENCIES_NS: [f64; 3] = [1e6, 1e7, 1e8];
const REQUESTS: u64 = 1_234_567;

/// Hit rate, classical mean and true mean of policy `index` when a fetch takes `latency` ns.
fn outcome(index: usize, latency: f64) -> (f64, f64, f64) {
    let hit_rate = 0.52 + 0.017 * ((index * 5) % 14) as f64;
    let classical = (1.0 - hit_rate) * latency;
    let waiting = 1.1 + 0.09 * latency.log10() + 0.06 * ((index * 3) % 14) as f64;
    (hit_rate, classical, classical * waiting)
}

fn row(index: usize, latency: f64) -> Vec<Cell> {
    let (hit_rate, classical, mean) = outcome(index, latency);
    let misses = ((1.0 - hit_rate) * REQUESTS as f64) as u64;
    let delayed = misses / 3;
    vec![
        Cell::text(POLICIES[index]),
        Cell::Count(REQUESTS - misses - delayed),
        Cell::Count(delayed),
        Cell::Count(misses),
        Cell::Ratio(hit_rate),
        Cell::Nanos(classical),
        Cell::Nanos(mean),
        Cell::Nanos(0.0),
        Cell::Nanos(latency * 0.973_1),
        Cell::Nanos(latency),
        Cell::Change(mean / classical - 1.0),
        Cell::Count((index * 5 % 14 + 1) as u64),
        if index == 11 { Cell::Missing } else { Cell::Count((index * 3 % 14 + 1) as u64) },
    ]
}

fn table(latency: f64, name: &str) -> Table {
    Table {
        id: format!("policies-{name}"),
        title: format!("Policies at a fetch latency of {name}, capacity 5% (1,024 objects)"),
        columns: vec![
            Column::new("policy", "policy"),
            Column::new("hits", "hits"),
            Column::new("delayed hits", "delayed_hits"),
            Column::new("misses", "misses"),
            Column::new("classical hit rate", "classical_hit_rate"),
            Column::new("classical mean latency", "classical_latency_mean_ns"),
            Column::new("true mean latency", "latency_mean_ns"),
            Column::new("p50", "latency_p50_ns"),
            Column::new("p99", "latency_p99_ns"),
            Column::new("p99.9", "latency_p999_ns"),
            Column::new("gap", "gap"),
            Column::new("rank by hit rate", "rank_classical"),
            Column::new("rank by latency", "rank_true"),
        ],
        rows: (0..POLICIES.len()).map(|index| row(index, latency)).collect(),
        ..Table::default()
    }
}

fn curves(dashed: bool, y: impl Fn(usize, f64) -> f64) -> Vec<Series> {
    let named = POLICIES.iter().enumerate();
    named
        .map(|(index, policy)| Series {
            name: if dashed { format!("{policy} (classical)") } else { (*policy).to_owned() },
            points: LATENCIES_NS.iter().map(|&latency| (latency, y(index, latency))).collect(),
            dashed,
            color: Some(index),
            ..Series::default()
        })
        .collect()
}

fn plots() -> Vec<Plot> {
    let latency = |label: &str| Axis { label: label.into(), unit: Unit::Nanos, log: true };
    let percent = |label: &str| Axis { label: label.into(), unit: Unit::Percent, log: false };
    let mut both = curves(false, |index, latency| outcome(index, latency).2);
    both.extend(curves(true, |index, latency| outcome(index, latency).1));
    vec![
        Plot {
            id: "latency".into(),
            title: "Mean latency against the backing store's".into(),
            note: "The longer a fetch takes, the further the dashed prediction falls behind.".into(),
            x: latency("latency of the backing store"),
            y: latency("mean latency of a request"),
            series: both,
        },
        Plot {
            id: "gap".into(),
            title: "What the classical model leaves out".into(),
            note: "True mean latency over the predicted one, minus one.".into(),
            x: latency("latency of the backing store"),
            y: percent("underestimate"),
            series: curves(false, |index, latency| {
                let (_, classical, mean) = outcome(index, latency);
                mean / classical - 1.0
            }),
        },
        Plot {
            id: "hit-rate".into(),
            title: "Hit rate against capacity".into(),
            note: String::new(),
            x: Axis { label: "capacity (objects)".into(), unit: Unit::Plain, log: false },
            y: percent("hit rate"),
            series: vec![
                Series {
                    name: "lru".into(),
                    points: (0..60).map(|i| (f64::from(i) * 500.0, 1.0 - 30.0 / f64::from(i + 35))).collect(),
                    ..Series::default()
                },
                Series { name: "belady".into(), points: vec![(12_000.0, 0.82)], ..Series::default() },
            ],
        },
    ]
}

/// A comparison as `cache compare` makes it: three tables, three plots, and the words around them.
pub(super) fn report() -> Report {
    Report {
        study: "cache.compare".into(),
        title: "14 cache policies on cloudphysics.csv".into(),
        belief: "mean latency = hit rate × hit latency + miss rate × miss latency.".into(),
        warnings: Vec::new(),
        verdict: vec![
            "Choosing by hit rate picks belady-ad, but lru-mad has the lowest latency: 18.3% below it."
                .into(),
            "The classical model underestimates the mean latency of every policy, by 74.0% to 160.0%.".into(),
        ],
        advice: "Run lru-mad.".into(),
        facts: vec![
            ("trace".into(), "../shared/data/cache/cloudphysics.csv".into()),
            ("requests".into(), "1,234,567".into()),
            ("objects".into(), "20,480".into()),
            ("capacity".into(), "5% = 1,024 objects".into()),
            ("time".into(), "continuous".into()),
            ("seed".into(), "1".into()),
        ],
        parameters: Vec::new(),
        origin: Vec::new(),
        tables: vec![table(1e6, "1ms"), table(1e7, "10ms"), table(1e8, "100ms")],
        plots: plots(),
        leads: false,
        document: json!({ "study": "cache.compare", "runs": [{ "latency": 100_000_000u64 }] }),
    }
}
