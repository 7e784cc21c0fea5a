//! What people read of rows that are made up.

use trueplane_study::report::{Plot, Report};
use trueplane_study::study::report;
use trueplane_units::{Choices, Nanos, Parameters, PerSecond};

use crate::Counts;
use crate::compare::found::{Found, Outcome, Row};
use crate::compare::options::Options;
use crate::compare::recovery::Recovery;
use crate::compare::{Compare, verdict};
use crate::policy::{Control, SystemName, Tuning};
use crate::tally::Tally;
use crate::timing::Timing;
use crate::workload::lookups::Keys;

const RATE: u64 = 1000;

fn options(rows: &[Row], given: &[(&str, &str)]) -> Options {
    let usual = [
        ("workload", "zipf:0.99,keys=100,lookups=10K"),
        ("entries", "64"),
        ("rate", "1Kpps"),
        ("update_rate", "20,80"),
        ("batch", "4"),
        ("control_rate", "100,500"),
        ("sample", "4"),
        ("history", "2x8"),
        ("iterations", "100"),
        ("gap", "2%"),
    ];
    let mut systems: Vec<SystemName> = rows.iter().map(|row| row.system).collect();
    systems.dedup();
    Options { policies: Choices(systems), ..Options::given(&[&usual, given].concat()).unwrap() }
}

/// 10,000 lookups in 10 s, of which so many miss, as evenly as windows of 10 ms allow.
fn tally(misses: u64) -> Tally {
    let mut tally = Tally::new(Timing { rate: RATE }, 0);
    let mut so_far = 0;
    while tally.now() < 10_000 {
        let slots = tally.until() - tally.now();
        let until = misses * (tally.now() + slots) / 10_000;
        tally.add(slots, until - so_far);
        so_far = until;
    }
    tally
}

fn row(system: SystemName, rate: u64, misses: u64) -> Row {
    let properties = system.properties();
    let has_packets = properties.control == Control::Packets;
    Row {
        system,
        change: None,
        update_rate: properties.is_batched().then_some(PerSecond(rate)),
        control_rate: has_packets.then_some(PerSecond(rate)),
        chain: has_packets.then_some(4),
        best: false,
        threshold: (properties.tuning == Tuning::Threshold).then_some(128),
        outcome: Outcome::Run {
            tally: tally(misses),
            counts: Counts::default(),
            period: None,
            recovery: None,
        },
    }
}

fn optimal(rate: u64, lower: u64, upper: Option<u64>) -> Row {
    Row { outcome: Outcome::Bounds { lookups: 10_000, lower, upper }, ..row(SystemName::Optimal, rate, 0) }
}

fn found(rows: Vec<Row>) -> Found {
    let keys = Keys { distinct: Some(100), collided: Some(0), one_in: 1 };
    Found { keys, skipped: Vec::new(), warnings: Vec::new(), warmup: 0, rows }
}

fn said_of(rows: Vec<Row>) -> Vec<String> {
    let options = options(&rows, &[]);
    verdict::verdict(&options, &found(rows))
}

fn shown(rows: Vec<Row>, given: &[(&str, &str)]) -> Report {
    let options = options(&rows, given);
    report::<Compare>(&options, &found(rows))
}

fn full() -> Vec<Row> {
    vec![
        row(SystemName::IdealLru, 0, 1500),
        row(SystemName::IdealLfu, 0, 1230),
        row(SystemName::Belady, 0, 900),
        row(SystemName::Recency, 20, 5000),
        row(SystemName::Recency, 80, 3000),
        row(SystemName::NetCache, 20, 5500),
        row(SystemName::NetCache, 80, 4000),
        row(SystemName::Dyso, 100, 1330),
        row(SystemName::Dyso, 500, 1300),
        optimal(20, 3011, Some(3049)),
        optimal(80, 1200, None),
    ]
}

#[test]
fn the_classical_number_stands_beside_the_truth() {
    assert_eq!(
        said_of(full()),
        [
            "Updated at once, the table misses 12.3% of lookups (ideal-lfu); behind a control loop it misses 13.0% (dyso at 500/s) to 55.0% (netcache at 20/s).",
            "dyso at 500/s misses 17.0 points less than the best table in batches, recency at 80/s.",
            "At 20/s no table in batches that inserts only what was looked up in the batch before misses less than 30.1%; recency at 20/s misses 50.0%: a better policy could save 19.9 points at most.",
            "No table that takes a key in at its lookup, or never, misses less than belady, which knows the future: 9.0%.",
        ]
    );
    let report = shown(full(), &[]);
    let numbers = &report.document["tables"]["numbers"];
    let refined: Vec<f64> =
        numbers.as_array().unwrap().iter().map(|row| row["refined"].as_f64().unwrap()).collect();
    assert_eq!((refined, &numbers[0]["classical"]), (vec![0.3, 0.4, 0.13], &0.123.into()));
}

/// Whatever there is to be said, it is five sentences and 120 words.
#[test]
fn a_verdict_is_short() {
    let mut rows = Vec::new();
    for change in [0, 1000] {
        rows.extend(full().into_iter().map(|row| Row { change: Some(change), ..row }));
        let best = Row { best: true, threshold: Some(512), ..row(SystemName::NetCache, 80, 3700) };
        rows.push(Row { change: Some(change), ..best });
    }
    let rows = rows.into_iter().map(|row| recovering(row, Some(10_000_000), 5, 1)).collect();
    let said = said_of(rows);
    assert_eq!(said.len(), 5);
    let words = said.join(" ").split_whitespace().filter(|word| *word != "%").count();
    assert!(words <= 120, "{words} words: {said:?}");
}

#[test]
fn systems_that_are_missing_are_not_spoken_of() {
    let alone = |system, misses| said_of(vec![row(system, 20, misses)]);
    assert_eq!(
        alone(SystemName::IdealLru, 1230),
        ["Updated at once, the table misses 12.3% of lookups (ideal-lru)."]
    );
    assert_eq!(
        alone(SystemName::NetCache, 5500),
        ["Behind a control loop the table misses 55.0% (netcache at 20/s) of lookups."]
    );
    assert_eq!(
        alone(SystemName::Belady, 900),
        [
            "No table that takes a key in at its lookup, or never, misses less than belady, which knows the future: 9.0%."
        ]
    );
    assert_eq!(said_of(Vec::new()), ["There is no lookup after the warm-up to count."]);
    assert_eq!(
        said_of(vec![optimal(20, 3000, None)]),
        [
            "At 20/s no table in batches that inserts only what was looked up in the batch before misses less than 30.0%."
        ]
    );
}

#[test]
fn dyso_may_be_worse() {
    let rows = vec![row(SystemName::Frequency, 80, 1500), row(SystemName::Dyso, 100, 1600)];
    assert_eq!(
        said_of(rows)[1],
        "dyso at 100/s misses 1.0 point more than the best table in batches, frequency at 80/s."
    );
}

/// A lower bound is never said to be higher than it is, nor what could be saved to be less.
#[test]
fn bounds_are_rounded_to_the_safe_side() {
    let rows = vec![row(SystemName::Recency, 20, 5000), optimal(20, 3019, Some(3021))];
    let said = said_of(rows);
    assert!(
        said[1].contains("misses less than 30.1%") && said[1].contains("save 19.9 points at most"),
        "{said:?}"
    );
    let rows = vec![row(SystemName::Recency, 20, 3019), optimal(20, 3019, None)];
    assert!(said_of(rows)[1].contains("save 0.0 points at most"));
}

/// What the optimum does not bind is not measured by it.
#[test]
fn the_bound_is_only_held_against_what_it_binds() {
    let said = |rows| said_of(rows).pop().unwrap_or_default();
    let netcache = row(SystemName::NetCache, 20, 2900);
    let both = said(vec![netcache.clone(), row(SystemName::Tea, 20, 3300), optimal(20, 3000, Some(3030))]);
    assert!(
        both.ends_with("; tea at 20/s misses 33.0%: a better policy could save 3.0 points at most."),
        "{both}"
    );
    let alone = said(vec![netcache, optimal(20, 3000, Some(3030))]);
    assert!(alone.ends_with("misses less than 30.0%."), "{alone}");
    // That cannot be, and is not hidden.
    let wrong = said(vec![row(SystemName::Recency, 20, 2900), optimal(20, 3000, Some(3030))]);
    assert!(wrong.ends_with("; recency at 20/s misses 29.0%: one of the two is wrong."), "{wrong}");
}

/// Savings are what a better policy could have, not what the search left open.
#[test]
fn bounds_that_are_far_apart_promise_nothing() {
    let said = |upper| {
        let rows = vec![row(SystemName::Recency, 20, 5000), optimal(20, 3000, Some(upper))];
        let mut report = shown(rows, &[("gap", "1%")]);
        (report.verdict.pop().unwrap_or_default(), report.warnings)
    };
    let ((close, none), (wide, warned)) = (said(3029), said(3031));
    assert!(close.contains("save 20.0 points at most") && none.is_empty(), "{close} {none:?}");
    assert!(!wide.contains("points"), "{wide}");
    let warning = "The bounds of optimal at 20/s are not within 1% of each other";
    assert!(warned[0].starts_with(warning) && warned[0].contains("more --iterations than 100"), "{warned:?}");
}

#[test]
fn what_was_found_exactly_is_no_schedule_that_was_found() {
    let rows = vec![
        row(SystemName::Tea, 20, 5000),
        optimal(20, 3000, Some(3000)),
        optimal(80, 2000, Some(2000)),
        row(SystemName::Belady, 0, 900),
    ];
    let report = shown(rows, &[("exact", "true")]);
    assert!(report.warnings.is_empty(), "{:?}", report.warnings);
    let table = report.tables.iter().find(|table| table.id == "misses").expect("it is there");
    assert!(table.title.ends_with("optimal: the fewest there can be for a table in batches that inserts only what was looked up in the batch before"), "{}", table.title);
    assert!(table.columns.iter().all(|column| column.name != "miss_ratio_upper"));
    let figure = report.plots.iter().find(|plot| plot.id == "update-rate-optimal").expect("figure 3");
    assert_eq!(figure.series.iter().map(|of| of.name.as_str()).collect::<Vec<_>>(), ["the fewest"]);
    assert_eq!(report.document["parameters"]["exact"], true);
    assert_eq!(report.document["tables"]["bounds"][0]["misses_upper"], 3000);
}

/// Several lengths of chains have one that speaks for DySO, whatever their order.
#[test]
fn one_length_of_chains_speaks_for_dyso() {
    let said = |chains: &str, misses: &[u64]| {
        let lengths = chains.split(',').map(|chain| chain.parse().ok());
        let dyso = lengths.zip(misses).map(|(chain, &of)| Row { chain, ..row(SystemName::Dyso, 100, of) });
        let recency = [row(SystemName::Recency, 20, 5000), row(SystemName::Recency, 80, 4000)];
        shown(dyso.chain(recency).collect(), &[("chain", chains)])
    };
    let usual = said("1,4,16", &[2000, 1500, 1400]);
    assert!(usual.verdict[0].contains("15.0% (dyso at 100/s and k = 4) to 50.0%"), "{:?}", usual.verdict);
    assert!(usual.verdict[1].starts_with("dyso at 100/s and k = 4 misses 25.0 points less"));
    assert!(!usual.verdict.iter().any(|said| said.contains("k = 1")), "{:?}", usual.verdict);
    let noted = |plots: &[Plot], note: &str| {
        let of = |id: &str| plots.iter().any(|plot| plot.id.starts_with(id) && plot.note.contains(note));
        of("update-rate") && of("over-time")
    };
    assert!(noted(&usual.plots, "those of k = 4 are shown."));
    let least = said("1,16,8", &[2000, 1400, 1500]);
    assert!(least.verdict[0].contains("14.0% (dyso at 100/s and k = 16)"), "{:?}", least.verdict);
    assert!(noted(&least.plots, "those of k = 16 are shown, with which it misses least."));
    assert!(!noted(&said("4", &[1500]).plots, "are shown"));
}

#[test]
fn curves_that_are_not_a_systems_have_no_systems_colour() {
    let mut rows = full();
    rows[10] = optimal(80, 1200, Some(1210));
    rows.push(Row { best: true, threshold: Some(512), ..row(SystemName::NetCache, 80, 3700) });
    rows.push(row(SystemName::Frequency, 20, 5200));
    let plots = shown(rows, &[]).plots;
    let colors = |id: &str| {
        let plot = plots.iter().find(|plot| plot.id == id).expect(id);
        plot.series.iter().map(|of| (of.name.clone(), of.color, of.dashed)).collect::<Vec<_>>()
    };
    let place = |system: SystemName| Some(system as usize);
    let found = colors("update-rate-optimal");
    let optimal = place(SystemName::Optimal);
    assert_eq!(found, [("none has fewer".into(), optimal, false), ("a schedule has".into(), optimal, true)]);
    let netcache = place(SystemName::NetCache);
    let best = colors("configurations-netcache");
    assert_eq!(best[..2], [("as given".into(), netcache, true), ("best threshold".into(), netcache, false)]);
}

/// Figure 4 needs nothing to be held against.
#[test]
fn a_sweep_is_drawn_without_an_ideal_table() {
    let rows = vec![
        row(SystemName::Recency, 20, 5000),
        row(SystemName::Recency, 80, 3000),
        row(SystemName::Dyso, 100, 1330),
    ];
    let plots = shown(rows, &[]).plots;
    let figure = plots.iter().find(|plot| plot.id == "update-rate").expect("figure 4");
    assert_eq!(figure.y.label, "miss ratio");
    assert_eq!(figure.series[0].points, [(20.0, 0.5), (80.0, 0.3)]);
    assert_eq!(figure.series[1].points, [(20.0, 0.133), (80.0, 0.133)]);
}

/// What was used is said, not only what was given.
#[test]
fn facts_are_those_in_use() {
    let facts = |given: &[(&str, &str)]| {
        shown(vec![row(SystemName::Dyso, 100, 1330)], given).document["facts"].clone()
    };
    let usual = facts(&[("jitter", "5us")]);
    assert_eq!(
        (&usual["resend_after_ns"], &usual["duration_ns"]),
        (&45_000.into(), &10_000_000_000u64.into())
    );
    assert_eq!(facts(&[("timeout", "7us")])["resend_after_ns"], 7_000);
}

fn recovering(mut row: Row, median: Option<u64>, changes: u64, unrecovered: u64) -> Row {
    if let Outcome::Run { recovery, .. } = &mut row.outcome {
        *recovery = Some(Recovery { median: median.map(Nanos), changes, never: unrecovered });
    }
    row
}

#[test]
fn recovery_is_told_for_the_slowest_and_the_fastest() {
    let rows = vec![
        recovering(row(SystemName::NetCache, 20, 5500), None, 5, 5),
        recovering(row(SystemName::NetCache, 80, 4000), Some(1_200_000_000), 5, 2),
        recovering(row(SystemName::Dyso, 100, 1330), Some(10_000_000), 5, 0),
        // Of which it cannot be told.
        row(SystemName::Recency, 20, 5000),
    ];
    let last = |rows: &[Row]| said_of(rows.to_vec()).pop().unwrap_or_default();
    assert_eq!(
        last(&rows),
        "After a change the miss ratio is back at its level: dyso at 100/s after 10ms, netcache at 20/s not before the next."
    );
    assert_eq!(
        last(&rows[1..2]),
        "After a change the miss ratio is back at its level: netcache at 80/s after 1.2s."
    );
}

#[test]
fn configurations_are_held_against_the_one_given() {
    let best = |misses| Row { best: true, threshold: Some(512), ..row(SystemName::NetCache, 80, misses) };
    let said = |misses| said_of(vec![row(SystemName::NetCache, 80, 4000), best(misses)]).pop();
    assert_eq!(
        said(3700).as_deref(),
        Some("Of what --best-config tried, threshold 512 saves most: 3.0 points for netcache at 80/s.")
    );
    assert_eq!(
        said(4000).as_deref(),
        Some("No other threshold or ageing period that --best-config tried is better.")
    );
}

#[test]
fn what_loops_count_is_in_a_table() {
    let mut dyso = row(SystemName::Dyso, 100, 1330);
    if let Outcome::Run { counts, .. } = &mut dyso.outcome {
        *counts = Counts {
            updates_resent: Some(1),
            history_recorded: Some(1000),
            history_full: Some(3000),
            ..Counts::default()
        };
    }
    let mut netcache = row(SystemName::NetCache, 20, 5500);
    if let Outcome::Run { counts, .. } = &mut netcache.outcome {
        *counts = Counts { updates_sent: Some(200), updates_failed: Some(3), ..Counts::default() };
    }
    let rows = vec![netcache, dyso, row(SystemName::IdealLru, 0, 1)];
    let loops = shown(rows, &[]).document["tables"]["loops"].clone();
    assert_eq!(loops.as_array().map(Vec::len), Some(2));
    assert_eq!((&loops[0]["updates_sent"], &loops[0]["updates_failed"]), (&200.into(), &3.into()));
    assert_eq!((&loops[1]["history_full"], &loops[1]["updates_resent"]), (&3000.into(), &1.into()));
}

#[test]
fn levels_of_change_are_held_against_each_other() {
    let at = |change, misses| Row { change: Some(change), ..row(SystemName::NetCache, 80, misses) };
    let said = said_of(vec![at(1000, 5500), at(0, 2000), at(10, 2500)]);
    assert_eq!(
        said[0],
        "With 1000 instead of 0 keys moved at every change, netcache at 80/s goes from 20.0% to 55.0% misses; all else here is about 1000."
    );
    assert_eq!(said[1], "Behind a control loop the table misses 55.0% (netcache at 80/s) of lookups.");
}

#[test]
fn a_report_draws_what_the_rows_have() {
    let report = shown(full(), &[]);
    let ids: Vec<&str> = report.plots.iter().map(|plot| plot.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "update-rate-optimal",
            "update-rate",
            "configurations-netcache",
            "control-rate",
            "over-time-1s",
            "over-time-100ms",
            "over-time-10ms"
        ]
    );
    let finest = &report.plots[6];
    assert!(finest.series.iter().all(|series| series.points.len() <= 500 && series.points.len() > 1));
    assert!(finest.note.contains("Of every 2 windows"), "{}", finest.note);
    // No plot has a point that is no number.
    let mut points = report.plots.iter().flat_map(|plot| &plot.series).flat_map(|of| &of.points);
    assert!(points.all(|(x, y)| x.is_finite() && y.is_finite()));
    let tables = &report.document["tables"];
    assert_eq!(tables["misses"].as_array().map(Vec::len), Some(11));
    assert_eq!(tables["bounds"][0]["misses_upper"], 3049);
    // Ten, a hundred and a thousand windows of every row but the two bounds.
    for (table, windows) in [("windows-1s", 10), ("windows-100ms", 100), ("windows-10ms", 1000)] {
        assert_eq!(tables[table].as_array().map(Vec::len), Some(9 * windows), "{table}");
    }
}
