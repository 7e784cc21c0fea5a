//! What users should know before they believe the numbers.

use trueplane_units::{Nanos, PerSecond};

use super::found::Row;
use super::options::Options;
use super::recovery;
use crate::policy::SystemName;
use crate::timing::Timing;
use crate::workload::Workload;
use crate::workload::lookups::Keys;
use crate::workload::zipf::Zipf;

/// Fewer batches than these tell nothing about their rate.
const FEWEST_BATCHES: u64 = 10;
/// And fewer rounds through the history buffer nothing about DySO.
const FEWEST_ROUNDS: u64 = 10;

/// Lists rates like `1, 2, 3`.
fn named(rates: &[PerSecond]) -> String {
    rates.iter().map(|rate| rate.0.to_string()).collect::<Vec<_>>().join(", ")
}

/// Writes a number with its noun, like `1 key` or `2 keys`.
fn count(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

fn entries(number: u64) -> String {
    count(number, "entry", "entries")
}

/// Warnings that the user should know before believing the numbers of `rows`, from a run of `lookups`; a sentence each.
pub(super) fn warnings(
    workload: &Workload,
    lookups: u64,
    keys: Keys,
    options: &Options,
    rows: &[Row],
) -> Vec<String> {
    let mut warnings = Vec::new();
    if workload.zipf().is_none() {
        warnings.push(format!(
            "The {lookups} lookups of the trace come at {} (--rate), within {:#}: the times in the trace do not matter.",
            *options.rate,
            options.timing().nanos(lookups)
        ));
    }
    of_length(&mut warnings, workload, lookups, options);
    if options.has(SystemName::Dyso) {
        of_control(&mut warnings, lookups, options);
    }
    if options.has_any(|system| system.properties().is_batched()) {
        of_batches(&mut warnings, lookups, options);
    }
    of_keys(&mut warnings, keys, options);
    of_rows(&mut warnings, lookups, rows, options);
    warnings
}

/// Warns of events so rare that the workload is over before.
fn of_length(warnings: &mut Vec<String>, workload: &Workload, lookups: u64, options: &Options) {
    let timing = options.timing();
    let lasts = timing.nanos(lookups);
    let has = |system| options.has(system);
    let mut warn = |applies: bool, what: &str, every: Nanos| {
        // What happens at the end of the workload comes too late for it.
        if applies && every >= lasts {
            warnings.push(format!("The workload lasts {lasts:#}, and {what} every {every:#} only: never."));
        }
    };
    warn(has(SystemName::Frequency), "frequency halves its counters", *options.batches.ageing);
    let clear = match [SystemName::NetCache, SystemName::Tea].map(has) {
        [true, true] => "netcache and tea clear their statistics",
        [true, false] => "netcache clears its statistics",
        _ => "tea clears its statistics",
    };
    warn(has(SystemName::NetCache) || has(SystemName::Tea), clear, *options.batches.interval);
    if let Some(tuning) = options.dyso.tuning.0 {
        warn(has(SystemName::Dyso), "dyso tunes its ageing period", tuning);
    }
    if let Some(every) = workload.zipf().and_then(Zipf::changes_every) {
        warn(true, "popularity changes", every);
        warnings.extend(recovery::untold(timing, every, lookups));
    }
}

/// Warns of settings that keep DySO from showing what it can do.
fn of_control(warnings: &mut Vec<String>, lookups: u64, options: &Options) {
    let timing = options.timing();
    let (lasts, dyso) = (timing.nanos(lookups), &options.dyso);
    let those = |applies: &dyn Fn(u64) -> bool| {
        let mut rates = options.control_rates();
        rates.retain(|rate| applies(rate.0));
        Some(named(&rates)).filter(|_| !rates.is_empty())
    };
    if let Some(rates) = those(&|rate| rate > options.rate.0) {
        warnings.push(format!(
            "More control packets ({rates} a second) than data packets ({} a second) leave no room for the latter; \
             here they take none.",
            options.rate.0
        ));
    }
    if dyso.rtt >= lasts {
        warnings.push(format!(
            "The workload lasts {lasts}, and dyso hears from the switch after a round trip of {}.",
            dyso.rtt
        ));
    }
    let fewest = options.chains().into_iter().max().map_or(0, |chain| *options.entries / chain);
    let history = dyso.history(u32::try_from(fewest).unwrap_or(u32::MAX)).rows;
    let rounds = |rate: u64| {
        u128::from(lookups) * u128::from(rate) / u128::from(options.rate.0) / u128::from(history.max(1))
    };
    if let Some(rates) = those(&|rate| rounds(rate) < FEWEST_ROUNDS.into()) {
        warnings.push(format!(
            "The workload lasts {lasts}, fewer than {FEWEST_ROUNDS} rounds through the {} of dyso's history buffer \
             at {rates} control packets a second.",
            count(history.into(), "row", "rows")
        ));
    }
}

/// The number of batches that are due over so many lookups.
fn batches(rate: PerSecond, lookups: u64, options: &Options) -> u128 {
    let due = u128::from(lookups) * u128::from(rate.0);
    due / (u128::from(options.rate.0) * u128::from(options.batch())).max(1)
}

fn of_batches(warnings: &mut Vec<String>, lookups: u64, options: &Options) {
    let timing = options.timing();
    let (batch, size) = (options.batch(), *options.entries);
    let mut rare = options.update_rates();
    rare.retain(|&rate| batches(rate, lookups, options) < u128::from(FEWEST_BATCHES));
    if let Some(&last) = rare.last() {
        warnings.push(format!(
            "The workload lasts {}, fewer than {FEWEST_BATCHES} batches of {} at {} {} a second.",
            timing.nanos(lookups),
            entries(batch),
            named(&rare),
            if last == PerSecond(1) && rare.len() == 1 { "entry" } else { "entries" }
        ));
    }
    let Some(PerSecond(slowest)) = options.update_rates().into_iter().min() else { return };
    let warmup = timing.nanos(options.warmup(lookups));
    let fills = Timing { rate: slowest }.nanos(size);
    if fills > warmup {
        warnings.push(format!(
            "At {} a second a table of {} takes {fills} to fill, and the warm-up lasts {}.",
            entries(slowest),
            size,
            warmup
        ));
    }
}

fn of_keys(warnings: &mut Vec<String>, keys: Keys, options: &Options) {
    let about = if keys.one_in > 1 { "about " } else { "" };
    if let Some(distinct) = keys.distinct.filter(|&distinct| distinct <= *options.entries) {
        let there_are = if distinct == 1 { "There is" } else { "There are" };
        warnings.push(format!(
            "{there_are} {about}{} for {}: an exact table would hold {}.",
            count(distinct, "key", "keys"),
            entries(*options.entries),
            if distinct == 1 { "it" } else { "them all" }
        ));
    }
    if let (Some(distinct), Some(collided @ 1..)) = (keys.distinct, keys.collided) {
        let share = if collided == 1 { "shares its" } else { "share their" };
        let are = if collided == 1 { "is" } else { "are" };
        warnings.push(format!(
            "Of {about}{} {about}{collided} {share} 64-bit hash with another and {are} taken for it.",
            count(distinct, "key", "keys")
        ));
    }
}

fn of_rows(warnings: &mut Vec<String>, lookups: u64, rows: &[Row], options: &Options) {
    for &system in SystemName::ALL.iter().filter(|system| system.properties().has_reports()) {
        // A run so short that no batch was due says nothing about the threshold.
        let had_batches = |row: &Row| row.update_rate.is_some_and(|rate| batches(rate, lookups, options) > 0);
        let none = |row: &&Row| {
            row.system == system && !row.best && had_batches(row) && row.counts().updates_sent == Some(0)
        };
        if let Some(threshold) = rows.iter().find(none).and_then(|row| row.threshold) {
            warnings.push(format!(
                "No key reached the threshold of {} in an interval: {} inserted nothing.",
                count(threshold.into(), "lookup", "lookups"),
                system.name()
            ));
        }
    }
    let none = |row: &&Row| row.system == SystemName::Dyso && row.counts().updates_applied == Some(0);
    let mut rates: Vec<PerSecond> = rows.iter().filter(none).filter_map(|row| row.control_rate).collect();
    rates.dedup();
    if !rates.is_empty() {
        warnings.push(format!(
            "No update of dyso reached the table at {} control packets a second: it stayed empty.",
            named(&rates)
        ));
    }
}
