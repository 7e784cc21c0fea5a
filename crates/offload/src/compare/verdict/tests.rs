use trueplane_units::Nanos;

use crate::Counts;
use crate::comparison::{Comparison, Keys, Outcome, Recovery, Row};
use crate::options::{BoundLimits, Dyso, Options, Reports};
use crate::policy::SystemName;
use crate::tally::Tally;
use crate::timing::Timing;

const RATE: u64 = 1000;

fn options(systems: Vec<SystemName>) -> Options {
    Options {
        systems,
        entries: 64,
        rate: RATE,
        update_rates: vec![20, 80],
        batch: 4,
        control_rates: vec![100, 500],
        chains: vec![4],
        warmup: 0,
        ageing: Nanos(1_000_000_000),
        reports: Reports {
            threshold: 128,
            interval: Nanos(1_000_000_000),
            delay: Nanos(0),
            sample: 4,
            load_percent: 90,
        },
        dyso: Dyso {
            history_rows: 2,
            history_slots: 8,
            round_trip: Nanos(10_000),
            jitter: Nanos(0),
            loss_ppm: 0,
            timeout: None,
            ageing: Nanos(100_000_000),
            tuning: None,
        },
        best_config: false,
        bound: BoundLimits { iterations: 100, gap: 0.02 },
        exact: false,
        seed: 1,
    }
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
    let is_dyso = system == SystemName::Dyso;
    Row {
        system,
        change: None,
        update_rate: system.properties().is_batched().then_some(rate),
        control_rate: is_dyso.then_some(rate),
        chain: is_dyso.then_some(4),
        best: false,
        threshold: (system == SystemName::NetCache).then_some(128),
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

fn comparison(rows: Vec<Row>) -> Comparison {
    let mut systems: Vec<SystemName> = rows.iter().map(|row| row.system).collect();
    systems.dedup();
    let keys = Keys { distinct: Some(100), collided: Some(0), one_in: 1 };
    Comparison {
        options: options(systems),
        workload: "zipf:0.99".to_owned(),
        keys,
        skipped: Vec::new(),
        warnings: Vec::new(),
        rows,
    }
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
        comparison(full()).verdict(),
        [
            "A table that is updated at once misses 12.3 % of lookups (ideal-lfu); behind a control loop it is from 13.0 % (dyso at 500pps) to 55.0 % (netcache at 20/s): up to 4.47 times as many.",
            "In percentage points above the 12.3 % of ideal-lfu: recency 37.7 at 20/s and 17.7 at 80/s; netcache 42.7 at 20/s and 27.7 at 80/s; dyso 1.0 at 100pps and 0.70 at 500pps.",
            "dyso at 500pps misses 13.0 %: 17.0 points less than the best of the tables that are updated in batches, recency at 80/s.",
            "At 20/s no table in batches that inserts only what was looked up in the batch before misses less than 30.1 % (a schedule with 30.5 % was found); recency at 20/s, the best of those here, misses 50.0 %: a better policy could save 19.9 points at most; none could reach dyso at 500pps, with 13.0 %: it takes a faster loop.",
            "At 80/s no table in batches that inserts only what was looked up in the batch before misses less than 12.0 %; recency at 80/s, the best of those here, misses 30.0 %: a better policy could save 18.0 points at most.",
            "No table that takes a key in at its lookup, or not at all, misses less than belady, which knows the future: 9.0 %; ideal-lfu misses 1.37 times as many.",
        ]
    );
}

#[test]
fn systems_that_are_missing_are_not_spoken_of() {
    let alone = |system, misses| comparison(vec![row(system, 20, misses)]).verdict();
    assert_eq!(
        alone(SystemName::IdealLru, 1230),
        ["A table that is updated at once misses 12.3 % of lookups (ideal-lru)."]
    );
    assert_eq!(
        alone(SystemName::NetCache, 5500),
        ["Behind a control loop the table misses 55.0 % (netcache at 20/s) of lookups."]
    );
    assert_eq!(
        alone(SystemName::Belady, 900),
        [
            "No table that takes a key in at its lookup, or not at all, misses less than belady, which knows the future: 9.0 %."
        ]
    );
    assert!(comparison(Vec::new()).verdict().contains(&"Nothing was compared.".to_owned()));
    let bound = comparison(vec![optimal(20, 3000, None)]).verdict();
    assert_eq!(
        bound,
        [
            "At 20/s no table in batches that inserts only what was looked up in the batch before misses less than 30.0 %."
        ]
    );
}

#[test]
fn what_is_better_than_the_classical_number_is_said_to_be() {
    let rows = vec![
        row(SystemName::IdealLru, 0, 2000),
        row(SystemName::Frequency, 80, 1500),
        row(SystemName::Dyso, 100, 1600),
    ];
    assert_eq!(
        comparison(rows).verdict(),
        [
            "A table that is updated at once misses 20.0 % of lookups (ideal-lru); behind a control loop it is from 15.0 % (frequency at 80/s) to 16.0 % (dyso at 100pps).",
            "In percentage points above the 20.0 % of ideal-lru (below zero: a policy that knows more than the ideal one, or is choosier, not a loop that helps): frequency -5.0 at 80/s; dyso -4.0 at 100pps.",
            "dyso at 100pps misses 16.0 %: 1.0 point more than the best of the tables that are updated in batches, frequency at 80/s.",
        ]
    );
}

/// A lower bound is never said to be higher than it is, nor what could be saved to be less.
#[test]
fn bounds_are_rounded_to_the_safe_side() {
    let rows = vec![row(SystemName::Recency, 20, 5000), optimal(20, 3019, Some(3021))];
    let said = comparison(rows).verdict();
    assert!(said[1].contains("misses less than 30.1 % (a schedule with 30.3 % was found)"), "{said:?}");
    assert!(said[1].contains("could save 19.9 points at most"), "{said:?}");
    let rows = vec![row(SystemName::Recency, 20, 3019), optimal(20, 3019, None)];
    assert!(comparison(rows).verdict()[1].contains("could save 0.0 points at most"));
}

/// What the optimum does not bind is not measured by it.
#[test]
fn the_bound_is_only_held_against_what_it_binds() {
    let said = |rows| comparison(rows).verdict().pop().unwrap_or_default();
    let netcache = row(SystemName::NetCache, 20, 2900);
    let both = said(vec![netcache.clone(), row(SystemName::Tea, 20, 3300), optimal(20, 3000, Some(3030))]);
    assert!(both.contains("; tea at 20/s, the best of those here, misses 33.0 %: a better policy could save 3.0 points at most; netcache at 20/s misses less, 29.0 %, for its reports wait over batches"), "{both}");
    let alone = said(vec![netcache, optimal(20, 3000, Some(3030))]);
    assert!(!alone.contains("save") && alone.contains("netcache at 20/s misses less, 29.0 %"), "{alone}");
    let above = said(vec![row(SystemName::NetCache, 20, 3100), optimal(20, 3000, Some(3030))]);
    assert!(!above.contains("netcache"), "{above}");
    // That cannot be, and is not hidden.
    let wrong = said(vec![row(SystemName::Recency, 20, 2900), optimal(20, 3000, Some(3030))]);
    assert!(
        wrong.ends_with("; but recency at 20/s misses 29.0 %: one of the two is wrong.")
            && !wrong.contains("save"),
        "{wrong}"
    );
}

/// Savings are what a better policy could have, not what the search left open.
#[test]
fn bounds_that_are_far_apart_promise_nothing() {
    let said = |upper, gap| {
        let rows = vec![row(SystemName::Recency, 20, 5000), optimal(20, 3000, Some(upper))];
        let mut comparison = comparison(rows);
        comparison.options.bound.gap = gap;
        comparison.verdict().pop().unwrap_or_default()
    };
    let (close, wide) = (said(3029, 0.01), said(3031, 0.01));
    assert!(close.contains("could save 20.0 points at most") && !close.contains("--iterations"), "{close}");
    assert!(!wide.contains("points"), "{wide}");
    assert!(
        wide.contains("not within 1 % of each other") && wide.contains("more --iterations than 100"),
        "{wide}"
    );
}

#[test]
fn what_was_found_exactly_is_no_schedule_that_was_found() {
    let mut exact = comparison(vec![
        row(SystemName::Tea, 20, 5000),
        optimal(20, 3000, Some(3000)),
        optimal(80, 2000, Some(2000)),
    ]);
    exact.options.exact = true;
    exact.rows.push(row(SystemName::Belady, 0, 900));
    let report = exact.report();
    assert!(
        report
            .verdict
            .iter()
            .any(|said| said.contains("misses less than 30.0 %, found exactly; tea at 20/s")),
        "{:?}",
        report.verdict
    );
    assert!(!report.verdict.iter().any(|said| said.contains("schedule")), "{:?}", report.verdict);
    let fact = ("optimal".to_owned(), "found exactly, as a linear programme by HiGHS".to_owned());
    assert!(report.facts.contains(&fact), "{:?}", report.facts);
    let table = &report.tables[0];
    assert!(table.title.ends_with("optimal: the fewest there can be for a table in batches that inserts only what was looked up in the batch before"), "{}", table.title);
    assert!(table.columns.iter().all(|column| column.name != "miss_ratio_upper"));
    let figure = report.plots.iter().find(|plot| plot.id == "update-rate-optimal").expect("figure 3");
    assert_eq!(figure.series.iter().map(|of| of.name.as_str()).collect::<Vec<_>>(), ["the fewest"]);
    assert_eq!(report.document["parameters"]["exact"], true);
    assert_eq!(report.document["rows"][1]["misses_upper"], 3000);
}

/// Several lengths of chains have one that speaks for DySO, whatever their order.
#[test]
fn one_length_of_chains_speaks_for_dyso() {
    let said = |chains: &[(u64, u64)]| {
        let dyso =
            |&(chain, misses): &(u64, u64)| Row { chain: Some(chain), ..row(SystemName::Dyso, 100, misses) };
        let rows = chains
            .iter()
            .map(dyso)
            .chain([row(SystemName::Recency, 20, 5000), row(SystemName::Recency, 80, 4000)]);
        let mut comparison = comparison(rows.collect());
        comparison.options.chains = chains.iter().map(|(chain, _)| *chain).collect();
        comparison.report()
    };
    let usual = said(&[(1, 2000), (4, 1500), (16, 1400)]);
    assert!(
        usual.verdict[0].contains("from 15.0 % (dyso at 100pps and k = 4) to 50.0 %"),
        "{:?}",
        usual.verdict
    );
    assert!(usual.verdict.iter().any(|said| said.starts_with("dyso at 100pps and k = 4 misses 15.0 %")));
    assert!(!usual.verdict.iter().any(|said| said.contains("k = 1")), "{:?}", usual.verdict);
    let noted = |plots: &[trueplane_study::report::Plot], note: &str| {
        let of = |id: &str| plots.iter().any(|plot| plot.id.starts_with(id) && plot.note.contains(note));
        of("update-rate") && of("over-time")
    };
    assert!(noted(&usual.plots, "those of k = 4 are shown."));
    let least = said(&[(1, 2000), (16, 1400), (8, 1500)]);
    assert!(least.verdict[0].contains("from 14.0 % (dyso at 100pps and k = 16)"), "{:?}", least.verdict);
    assert!(noted(&least.plots, "those of k = 16 are shown, with which it misses least."));
    assert!(!noted(&said(&[(4, 1500)]).plots, "are shown"));
}

#[test]
fn curves_that_are_not_a_systems_have_no_systems_colour() {
    let mut rows = full();
    rows[9] = optimal(20, 3011, Some(3049));
    rows.push(Row { best: true, threshold: Some(512), ..row(SystemName::NetCache, 80, 3700) });
    rows.push(row(SystemName::Frequency, 20, 5200));
    let plots = comparison(rows).report().plots;
    let colors = |id: &str| {
        let plot = plots.iter().find(|plot| plot.id == id).expect(id);
        plot.series.iter().map(|of| (of.name.clone(), of.color, of.dashed)).collect::<Vec<_>>()
    };
    let place = |system| Some(system as usize);
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
    let plots = comparison(rows).report().plots;
    let figure = plots.iter().find(|plot| plot.id == "update-rate").expect("figure 4");
    assert_eq!(figure.y.label, "miss ratio");
    assert_eq!(figure.series[0].points, [(20.0, 0.5), (80.0, 0.3)]);
    assert_eq!(figure.series[1].points, [(20.0, 0.133), (80.0, 0.133)]);
}

/// What was used is said, not only what was given.
#[test]
fn parameters_are_those_in_use() {
    let at = |change| Row { change: Some(change), ..row(SystemName::Dyso, 100, 1330) };
    let mut comparison = comparison(vec![at(10), at(10), at(0), at(1000)]);
    comparison.options.dyso.jitter = Nanos(5_000);
    comparison.keys = Keys::default();
    let document = |of: &Comparison| serde_json::to_value(of.document()).expect("plain data");
    let written = document(&comparison);
    assert_eq!(written["parameters"]["timeout_ns"], 45_000);
    assert_eq!(written["parameters"]["changes"], serde_json::json!([10, 0, 1000]));
    assert_eq!(written["parameters"]["exact"], false);
    assert_eq!(written["keys"]["one_in"], 1);
    comparison.options.dyso.timeout = Some(Nanos(7_000));
    assert_eq!(document(&comparison)["parameters"]["timeout_ns"], 7_000);
}

fn recovering(mut row: Row, median: Option<u64>, changes: u64, unrecovered: u64) -> Row {
    if let Outcome::Run { recovery, .. } = &mut row.outcome {
        *recovery = Some(Recovery { median: median.map(Nanos), changes, never: unrecovered });
    }
    row
}

#[test]
fn recovery_is_told_for_the_slowest_and_the_fastest() {
    let rows = |changes| {
        vec![
            recovering(row(SystemName::NetCache, 20, 5500), None, changes, changes),
            recovering(row(SystemName::NetCache, 80, 4000), Some(1_200_000_000), changes, changes / 2),
            recovering(row(SystemName::Tea, 20, 5500), None, changes, changes / 2 + 1),
            recovering(row(SystemName::Dyso, 100, 1330), Some(10_000_000), changes, 0),
            // Of which it cannot be told.
            row(SystemName::Recency, 20, 5000),
        ]
    };
    let last = |changes| comparison(rows(changes)).verdict().pop();
    assert_eq!(
        last(5).as_deref(),
        Some(
            "After a change (median of 5) of what is popular, the miss ratio is back within a tenth of its level before the changes: netcache at 20/s never before the next, netcache at 80/s after 1.2s (never before the next in 2 of 5), tea at 20/s never before the next in 3 of 5, dyso at 100pps after 10ms."
        )
    );
    assert!(last(1).is_some_and(|said| said.starts_with("After the change of what is popular")));
}

#[test]
fn configurations_are_held_against_the_one_given() {
    let best = |misses| Row { best: true, threshold: Some(512), ..row(SystemName::NetCache, 80, misses) };
    let said = |misses| comparison(vec![row(SystemName::NetCache, 80, 4000), best(misses)]).verdict().pop();
    assert_eq!(
        said(3700).as_deref(),
        Some("Of what --best-config tried, the best threshold of 512 saves netcache 3.0 points at 80/s.")
    );
    assert_eq!(
        said(4000).as_deref(),
        Some("No other threshold or ageing period that --best-config tried is better.")
    );
}

#[test]
fn losses_are_counted_and_warnings_come_last() {
    let mut dyso = row(SystemName::Dyso, 100, 1330);
    if let Outcome::Run { counts, .. } = &mut dyso.outcome {
        *counts = Counts {
            updates_resent: Some(1),
            history_recorded: Some(1000),
            history_lost: Some(3000),
            ..Counts::default()
        };
    }
    let mut netcache = row(SystemName::NetCache, 20, 5500);
    if let Outcome::Run { counts, .. } = &mut netcache.outcome {
        *counts = Counts { updates_sent: Some(200), updates_failed: Some(3), ..Counts::default() };
    }
    let mut comparison = comparison(vec![netcache, dyso]);
    comparison.warnings.push("It is too short.".to_owned());
    let said = comparison.verdict();
    assert_eq!(
        said[said.len() - 4..],
        [
            "75.0 % of lookups find no room in the history buffer of dyso at 100pps, and its controller never hears of them.",
            "Of 200 insertions of netcache at 20/s, 3 found no place in its table.",
            "dyso at 100pps had to send 1 update again.",
            "It is too short.",
        ]
    );
}

#[test]
fn levels_of_change_are_held_against_each_other() {
    let at = |change, misses| Row { change: Some(change), ..row(SystemName::NetCache, 80, misses) };
    let said = comparison(vec![at(1000, 5500), at(0, 2000), at(10, 2500)]).verdict();
    assert_eq!(
        said[0],
        "With 1000 keys instead of 0 moved at every change, the miss ratio goes from 20.0 % to 55.0 % under netcache at 80/s; all else here is about 1000."
    );
    assert_eq!(said[1], "Behind a control loop the table misses 55.0 % (netcache at 80/s) of lookups.");
}

#[test]
fn a_report_draws_what_the_rows_have() {
    let report = comparison(full()).report();
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
    // No plot has a point that is no number, and no table a row that is too short.
    assert!(
        report
            .plots
            .iter()
            .flat_map(|plot| &plot.series)
            .flat_map(|of| &of.points)
            .all(|(x, y)| x.is_finite() && y.is_finite())
    );
    assert!(report.tables.iter().all(|table| table.rows.iter().all(|row| row.len() == table.columns.len())));
    assert_eq!(report.document["rows"].as_array().map(Vec::len), Some(11));
    assert_eq!(report.document["rows"][9]["misses_upper"], 3049);
    // One series for each of three windows, but for the two bounds.
    assert_eq!(report.document["series"].as_array().map(Vec::len), Some(3 * 9));
}
