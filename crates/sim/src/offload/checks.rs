//! Whether a comparison makes sense: what is refused before it runs, and what its user is warned of afterwards.

use trueplane_core::offload::Counts;
use trueplane_core::offload::policy::dyso::Shape;
use trueplane_core::units::Nanos;

use super::comparison::{Keys, Outcome, Row};
use super::ideal::{MOST_FORESEEN, too_long};
use super::options::{Options, SystemName};
use super::tally::WINDOWS_PER_SECOND;
use super::timing::Timing;
use super::workload::Workload;
use crate::Error;

/// Fewer batches than these tell nothing about their rate.
const FEWEST_BATCHES: u64 = 10;

/// Why there is no exact optimum.
pub(super) const NO_LP: &str =
    "the exact optimum: built without HiGHS; rebuild with: cargo build --release --features lp";

fn refuse<T>(problem: String) -> Result<T, Error> {
    Err(Error::Parameters(problem))
}

/// Whether the options fit each other.
///
/// # Errors
/// If they do not, with what was expected.
pub(super) fn check(options: &Options) -> Result<(), Error> {
    let has = |system| options.systems.contains(&system);
    if options.systems.is_empty() {
        return refuse("expected at least one system".to_owned());
    }
    let twice = |(index, system): (usize, &SystemName)| options.systems[..index].contains(system);
    if let Some((_, system)) = options.systems.iter().enumerate().find(|&(at, system)| twice((at, system))) {
        return refuse(format!("expected every system once, got {} twice", system.name()));
    }
    if options.rate == 0 {
        return refuse("expected a rate above zero, such as 80Mpps".to_owned());
    }
    if options.entries == 0 || options.entries > u64::from(u32::MAX) {
        return refuse(format!("expected 1 to {} entries, got {}", u32::MAX, options.entries));
    }
    if options.systems.iter().any(|system| system.is_batched()) {
        check_batches(options)?;
    }
    if has(SystemName::NetCache) || has(SystemName::Tea) {
        check_reports(options)?;
    }
    if has(SystemName::Frequency) && options.ageing == Nanos(0) {
        return refuse("expected an ageing period above zero, such as 1s".to_owned());
    }
    if options.exact && !has(SystemName::Optimal) {
        return refuse("the exact optimum: expected optimal among the systems".to_owned());
    }
    if options.exact && !cfg!(feature = "lp") {
        return refuse(NO_LP.to_owned());
    }
    if has(SystemName::Dyso) { check_dyso(options) } else { Ok(()) }
}

fn check_batches(options: &Options) -> Result<(), Error> {
    if options.batch == 0 || options.batch > options.entries {
        return refuse(format!(
            "expected batches of 1 to {} entries, as many as the table has, got {}",
            options.entries, options.batch
        ));
    }
    if options.update_rates.is_empty() {
        return refuse("expected at least one update rate, such as 80K".to_owned());
    }
    // Two slots, so that the middle of a batch is neither its start nor its end.
    let most = u64::try_from(u128::from(options.rate) * u128::from(options.batch) / 2).unwrap_or(u64::MAX);
    match options.update_rates.iter().find(|&&rate| rate == 0 || rate > most) {
        Some(rate) => refuse(format!(
            "expected update rates of 1 to {most} entries a second, so that a batch of {} takes two packets or more, \
             got {rate}",
            options.batch
        )),
        None => Ok(()),
    }
}

fn check_reports(options: &Options) -> Result<(), Error> {
    let reports = &options.reports;
    if reports.threshold == 0 {
        return refuse("expected a threshold above zero, such as 128".to_owned());
    }
    if reports.interval == Nanos(0) {
        return refuse(
            "expected an interval above zero between clearings of the statistics, such as 1s".to_owned(),
        );
    }
    if !(1..=100).contains(&reports.load_percent) {
        return refuse(format!("expected a load factor of 1 % to 100 %, got {} %", reports.load_percent));
    }
    let used = u128::from(options.entries) * u128::from(reports.load_percent) / 100;
    if used < u128::from(options.batch) {
        return refuse(format!(
            "expected batches of up to {used} entries, {} % of the table's {}, got {}",
            reports.load_percent, options.entries, options.batch
        ));
    }
    Ok(())
}

fn check_dyso(options: &Options) -> Result<(), Error> {
    if options.control_rates.is_empty() || options.control_rates.contains(&0) {
        return refuse("expected at least one control rate, all above zero, such as 1Mpps".to_owned());
    }
    if options.chains.is_empty() {
        return refuse("expected at least one length of rows, such as 4".to_owned());
    }
    let entries = options.entries;
    let would_do = |chain: u64| chain > 0 && entries.is_multiple_of(chain) && entries / chain >= 2;
    let Some(chain) = options.chains.iter().find(|&&chain| !would_do(chain)) else { return Ok(()) };
    let good: Vec<String> = (1..=u64::from(Shape::LONGEST_CHAIN))
        .filter(|&chain| would_do(chain))
        .map(|chain| chain.to_string())
        .collect();
    match good.as_slice() {
        [] => refuse(format!("dyso: expected at least 2 entries, got {entries}")),
        good => refuse(format!(
            "dyso: {entries} entries make no table of two or more rows of {chain}; {} would do",
            good.join(", ")
        )),
    }
}

/// Whether the workload fits the options, as far as that is known before it is read.
///
/// # Errors
/// If it does not.
pub(super) fn check_workload(workload: &Workload, options: &Options) -> Result<(), Error> {
    let Some(lookups) = workload.len_hint(Timing { rate: options.rate }) else { return Ok(()) };
    check_length(workload, lookups, options)
}

/// Whether a workload of so many lookups fits the options.
///
/// # Errors
/// If it does not.
pub(super) fn check_length(workload: &Workload, lookups: u64, options: &Options) -> Result<(), Error> {
    if lookups > MOST_FORESEEN && options.systems.iter().any(|system| system.is_offline()) {
        return Err(too_long(lookups));
    }
    if options.warmup >= lookups {
        let timing = Timing { rate: options.rate };
        return refuse(format!(
            "{}: a warm-up of {} lookups ({}) leaves none of {lookups} ({}) to count",
            workload.name(),
            options.warmup,
            timing.nanos(options.warmup),
            timing.nanos(lookups)
        ));
    }
    Ok(())
}

/// What the user should know before believing the numbers of `rows`, from a run of so many lookups; a sentence each.
pub(super) fn warnings(
    workload: &Workload,
    lookups: u64,
    keys: Keys,
    options: &Options,
    rows: &[Row],
) -> Vec<String> {
    let mut warnings = Vec::new();
    of_length(&mut warnings, workload, lookups, options);
    of_rates(&mut warnings, lookups, options);
    of_keys(&mut warnings, keys, options);
    of_rows(&mut warnings, rows);
    warnings
}

/// What happens so seldom that the workload is over before.
fn of_length(warnings: &mut Vec<String>, workload: &Workload, lookups: u64, options: &Options) {
    let timing = Timing { rate: options.rate };
    let lasts = timing.nanos(lookups);
    let has = |system| options.systems.contains(&system);
    let mut warn = |applies: bool, what: &str, every: Nanos| {
        if applies && every > lasts {
            warnings.push(format!("The workload lasts {lasts}, and {what} every {every} only: never."));
        }
    };
    let dyso = has(SystemName::Dyso).then_some(options.dyso);
    warn(has(SystemName::Frequency), "`frequency` halves its counters", options.ageing);
    warn(
        has(SystemName::NetCache) || has(SystemName::Tea),
        "`netcache` and `tea` clear their statistics",
        options.reports.interval,
    );
    if let Some(tuning) = dyso.and_then(|dyso| dyso.tuning) {
        warn(true, "`dyso` tunes its ageing period", tuning);
    }
    if let Some(change) = workload.zipf().and_then(|zipf| zipf.change) {
        warn(true, "popularity changes", change.every);
        let finest = Nanos(1_000_000_000 / WINDOWS_PER_SECOND);
        if change.every < finest {
            warnings.push(format!(
                "Popularity changes every {}; recovery is looked at in windows of {finest}, and cannot be told.",
                change.every
            ));
        }
    }
}

fn of_rates(warnings: &mut Vec<String>, lookups: u64, options: &Options) {
    let timing = Timing { rate: options.rate };
    let rates = |rates: &[u64]| rates.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    if options.systems.contains(&SystemName::Dyso) {
        let above: Vec<u64> =
            options.control_rates.iter().copied().filter(|&rate| rate > options.rate).collect();
        if !above.is_empty() {
            warnings.push(format!(
                "More control packets ({} a second) than data packets ({} a second) leave no room for the latter; here \
                 they take none.",
                rates(&above),
                options.rate
            ));
        }
    }
    if !options.systems.iter().any(|system| system.is_batched()) {
        return;
    }
    let batches = |rate: u64| {
        let due = u128::from(lookups) * u128::from(rate);
        due / (u128::from(options.rate) * u128::from(options.batch)).max(1)
    };
    let few = |rate: &u64| batches(*rate) < u128::from(FEWEST_BATCHES);
    let rare: Vec<u64> = options.update_rates.iter().copied().filter(few).collect();
    if !rare.is_empty() {
        warnings.push(format!(
            "The workload lasts {}, fewer than {FEWEST_BATCHES} batches of {} entries at {} entries a second.",
            timing.nanos(lookups),
            options.batch,
            rates(&rare)
        ));
    }
    let Some(&slowest) = options.update_rates.iter().min() else { return };
    let fills = Timing { rate: slowest }.nanos(options.entries);
    if fills > timing.nanos(options.warmup) {
        warnings.push(format!(
            "At {slowest} entries a second a table of {} takes {fills} to fill, and the warm-up lasts {}.",
            options.entries,
            timing.nanos(options.warmup)
        ));
    }
}

fn of_keys(warnings: &mut Vec<String>, keys: Keys, options: &Options) {
    let about = if keys.one_in > 1 { "about " } else { "" };
    if let Some(distinct) = keys.distinct.filter(|&distinct| distinct <= options.entries) {
        warnings.push(format!(
            "All {about}{distinct} keys fit into a table of {} entries: nothing has to be replaced.",
            options.entries
        ));
    }
    if let (Some(distinct), Some(collided @ 1..)) = (keys.distinct, keys.collided) {
        warnings.push(format!(
            "Of {about}{distinct} keys {about}{collided} share their 64-bit hash with another and are taken for it."
        ));
    }
}

fn of_rows(warnings: &mut Vec<String>, rows: &[Row]) {
    for system in [SystemName::NetCache, SystemName::Tea] {
        let none = |row: &&Row| {
            let counts = match &row.outcome {
                Outcome::Run { counts, .. } => *counts,
                Outcome::Bounds { .. } => Counts::default(),
            };
            row.system == system && !row.best && counts.updates_sent == Some(0)
        };
        if let Some(threshold) = rows.iter().find(none).and_then(|row| row.threshold) {
            warnings.push(format!(
                "No key reached the threshold of {threshold} lookups in an interval: `{}` inserted nothing.",
                system.name()
            ));
        }
    }
}
