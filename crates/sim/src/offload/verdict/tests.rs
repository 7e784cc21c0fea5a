use trueplane_core::offload::Counts;
use trueplane_core::units::Nanos;

use super::super::comparison::{Comparison, Keys, Outcome, Recovery, Row};
use super::super::options::{BoundLimits, Dyso, Options, Reports, SystemName};
use super::super::tally::Tally;
use super::super::timing::Timing;

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
        bound: BoundLimits { iterations: 100, gap: 0.01 },
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
        update_rate: system.is_batched().then_some(rate),
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
            "At 20/s not even a policy that knows the future misses less than 30.1 % (a schedule with 30.5 % was found); recency at 20/s, the best of those here, misses 50.0 %: a better policy could save 19.9 points at most, and none could reach dyso at 500pps, with 13.0 %: it takes a faster loop.",
            "At 80/s not even a policy that knows the future misses less than 12.0 %; recency at 80/s, the best of those here, misses 30.0 %: a better policy could save 18.0 points at most.",
            "Bélády's optimum, which knows the future and waits for no loop, misses 9.0 %: ideal-lfu has 1.37 times as many.",
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
    assert!(alone(SystemName::Belady, 900).is_empty());
    assert!(comparison(Vec::new()).verdict().contains(&"Nothing was compared.".to_owned()));
    let bound = comparison(vec![optimal(20, 3000, None)]).verdict();
    assert_eq!(bound, ["At 20/s not even a policy that knows the future misses less than 30.0 %."]);
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
            "In percentage points above the 20.0 % of ideal-lru (below zero: it misses less): frequency -5.0 at 80/s; dyso -4.0 at 100pps.",
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

fn recovering(mut row: Row, median: Option<u64>, changes: u64) -> Row {
    if let Outcome::Run { recovery, .. } = &mut row.outcome {
        *recovery = Some(Recovery { median: median.map(Nanos), changes, never: 0 });
    }
    row
}

#[test]
fn recovery_is_told_for_the_slowest_and_the_fastest() {
    let rows = |changes| {
        vec![
            recovering(row(SystemName::NetCache, 20, 5500), None, changes),
            recovering(row(SystemName::NetCache, 80, 4000), Some(1_200_000_000), changes),
            recovering(row(SystemName::Dyso, 100, 1330), Some(10_000_000), changes),
        ]
    };
    let last = |changes| comparison(rows(changes)).verdict().pop();
    assert_eq!(
        last(5).as_deref(),
        Some(
            "After a change (median of 5) of what is popular, the miss ratio is back within a tenth of what it was: netcache at 20/s not before the next change, netcache at 80/s after 1.2s, dyso at 100pps after 10ms."
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
        Some("Tuned by hand, the best threshold of 512 saves netcache 3.0 points at 80/s.")
    );
    assert_eq!(said(4000).as_deref(), Some("No other threshold or ageing period was found to be better."));
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
