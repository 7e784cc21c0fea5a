//! Whether a comparison makes sense: what is refused before it runs, and what its user is warned of afterwards.

use trueplane_study::Error;
use trueplane_units::{Bytes, Nanos};

use super::grid::{Config, configs};
use super::recovery;
use crate::Counts;
use crate::comparison::{Keys, Outcome, Row};
use crate::ideal::{MOST_FORESEEN, too_long};
use crate::options::Options;
use crate::policy::SystemName;
use crate::policy::dyso::Shape;
use crate::timing::Timing;
use crate::workload::Workload;
use crate::workload::zipf::Zipf;

/// Fewer batches than these tell nothing about their rate.
const FEWEST_BATCHES: u64 = 10;
/// And fewer rounds through the history buffer nothing about DySO.
const FEWEST_ROUNDS: u64 = 10;
/// The largest table; keys that are drawn are no more either.
const MOST_ENTRIES: u64 = 1 << 28;
/// All tables together.
const MOST_BYTES: Bytes = Bytes(16 << 30);
/// Control packets in a slot: one takes some 100 ns.
const MOST_PER_SLOT: u64 = 1 << 10;
/// Control packets under way, about 150 B each.
const MOST_IN_FLIGHT: u64 = 10_000_000;
/// In millionths. One in a hundred updates then comes back, and simulations still end.
const LARGEST_LOSS: u32 = 900_000;
const SECOND: u128 = 1_000_000_000;

/// Why there is no exact optimum.
pub(crate) const NO_LP: &str =
    "the exact optimum: built without HiGHS; rebuild with: cargo build --release --features lp";

fn refuse<T>(problem: String) -> Result<T, Error> {
    Err(Error::Parameters(problem))
}

/// Whether the options fit each other.
///
/// # Errors
/// If they do not, with what was expected.
pub(crate) fn check(options: &Options) -> Result<(), Error> {
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
    if options.entries == 0 || options.entries > MOST_ENTRIES {
        return refuse(format!("expected 1 to {MOST_ENTRIES} entries, got {}", options.entries));
    }
    if options.systems.iter().any(|system| system.properties().is_batched()) {
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
    if most == 0 {
        return refuse(format!(
            "a rate of {} and batches of {}: expected their product to be at least 2, so that a batch takes two packets \
             or more at one update a second",
            options.rate, options.batch
        ));
    }
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
    check_control(options)?;
    let entries = options.entries;
    if entries < 2 {
        return refuse(format!("dyso: expected at least 2 entries, got {entries}"));
    }
    let whole = |chain: &u64| good_chains(entries, 2).contains(chain);
    if let Some(chain) = options.chains.iter().find(|chain| !whole(chain)) {
        return refuse(format!(
            "dyso: {entries} entries make no table of two or more rows of {chain}; {} would do",
            named(&good_chains(entries, 2))
        ));
    }
    // No fewer rows than the history buffer has, so that those of both nest.
    let history = u64::from(options.dyso.history_rows);
    let Some(chain) = options.chains.iter().find(|&&chain| entries / chain < history) else { return Ok(()) };
    let (rows, good) = (entries / chain, good_chains(entries, history));
    let or = if good.is_empty() { String::new() } else { format!(", or rows of {}", named(&good)) };
    refuse(format!(
        "dyso: expected 1 to {rows} rows of the history buffer, as many as there are rows of {chain} in a table of \
         {entries} entries, got {history}; --history {rows}x{}{or} would do",
        options.dyso.history_slots
    ))
}

/// Lengths of rows that make so many entries a table of so many rows or more.
fn good_chains(entries: u64, rows: u64) -> Vec<u64> {
    let makes_rows = |chain: &u64| entries.is_multiple_of(*chain) && entries / chain >= rows;
    (1..=u64::from(Shape::LONGEST_CHAIN)).filter(makes_rows).collect()
}

/// Whether control packets are so few that they can be simulated.
fn check_control(options: &Options) -> Result<(), Error> {
    let dyso = &options.dyso;
    if dyso.loss_ppm > LARGEST_LOSS {
        let percent = |millionths: u32| f64::from(millionths) / 1e4;
        let (most, loss) = (percent(LARGEST_LOSS), percent(dyso.loss_ppm));
        return refuse(format!("dyso: expected a loss of at most {most}%, got {loss}%"));
    }
    let Some(&fastest) = options.control_rates.iter().max() else { return Ok(()) };
    let most = options.rate.saturating_mul(MOST_PER_SLOT);
    if fastest > most {
        return refuse(format!(
            "dyso: expected control rates of at most {most} packets a second, {MOST_PER_SLOT} for each data packet, \
             got {fastest}"
        ));
    }
    let way = Nanos(dyso.round_trip.0.saturating_add(dyso.jitter.0));
    let in_flight = u128::from(fastest) * u128::from(way.0) / SECOND;
    if in_flight > u128::from(MOST_IN_FLIGHT) {
        return refuse(format!(
            "dyso: expected at most {MOST_IN_FLIGHT} control packets under way at once, got {in_flight}: {fastest} a \
             second that take {way}, round trip and jitter"
        ));
    }
    Ok(())
}

/// What a system's table and what it knows of it take, about, with so many entries used or set aside.
fn bytes(config: &Config, options: &Options, keys: u64) -> u128 {
    let chain = u128::from(config.chain.unwrap_or(1).max(1));
    let (entries, used) = (u128::from(options.entries), u128::from(options.entries.min(keys)));
    match config.system {
        // Registers, their image, and four keys with their counters for each; versions and states of rows.
        SystemName::Dyso => entries * 56 + entries / chain * 36,
        // Places, and what is known of those that are used.
        SystemName::NetCache | SystemName::Tea => entries * 16 + used * 40,
        // These grow with what is in them.
        SystemName::Recency | SystemName::Frequency => used * 80,
        SystemName::IdealLru | SystemName::IdealLfu | SystemName::Belady => used * 100,
        // Has no table, but the workload.
        SystemName::Optimal => 0,
    }
}

/// Whether all tables together fit into the memory of a usual machine, as far as that is known beforehand: of a trace
/// it is not known how many keys it has, and only what is set aside at the start counts.
fn check_memory(workload: &Workload, options: &Options) -> Result<(), Error> {
    let lookups = workload.len_hint(Timing { rate: options.rate }).unwrap_or(0);
    let keys = workload.zipf().map_or(0, |zipf| zipf.keys.min(lookups));
    let all: Vec<_> =
        configs(options).iter().map(|config| (bytes(config, options, keys), config.system)).collect();
    let total: u128 = all.iter().map(|(bytes, _)| bytes).sum();
    let Some(largest) = all.iter().max_by_key(|(bytes, _)| *bytes).filter(|_| total > MOST_BYTES.0.into())
    else {
        return Ok(());
    };
    let shown = |bytes: u128| Bytes(u64::try_from(bytes).unwrap_or(u64::MAX));
    refuse(format!(
        "{} entries: expected tables of at most {MOST_BYTES} together, got {} for {} systems at their rates, the \
         largest {} for {}; fewer entries, systems, rates or chains would do",
        options.entries,
        // What is just beyond rounds to the limit.
        if shown(total).to_string() == MOST_BYTES.to_string() {
            format!("{:#}", shown(total))
        } else {
            format!("about {}", shown(total))
        },
        all.len(),
        shown(largest.0),
        largest.1.name()
    ))
}

/// Whether the workload fits the options, as far as that is known before it is read.
///
/// # Errors
/// If it does not.
pub(crate) fn check_workload(workload: &Workload, options: &Options) -> Result<(), Error> {
    check_memory(workload, options)?;
    let Some(lookups) = workload.len_hint(Timing { rate: options.rate }) else { return Ok(()) };
    check_length(workload, lookups, options)
}

/// Whether a workload of so many lookups fits the options.
///
/// # Errors
/// If it does not.
pub(crate) fn check_length(workload: &Workload, lookups: u64, options: &Options) -> Result<(), Error> {
    if lookups > MOST_FORESEEN && options.systems.iter().any(|system| system.properties().offline) {
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

/// Such as 1, 2, 3.
fn named(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}

/// Such as 1 key, 2 keys.
fn count(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

fn entries(number: u64) -> String {
    count(number, "entry", "entries")
}

/// What the user should know before believing the numbers of `rows`, from a run of so many lookups; a sentence each.
pub(crate) fn warnings(
    workload: &Workload,
    lookups: u64,
    keys: Keys,
    options: &Options,
    rows: &[Row],
) -> Vec<String> {
    let mut warnings = Vec::new();
    of_length(&mut warnings, workload, lookups, options);
    if options.systems.contains(&SystemName::Dyso) {
        of_control(&mut warnings, lookups, options);
    }
    if options.systems.iter().any(|system| system.properties().is_batched()) {
        of_batches(&mut warnings, lookups, options);
    }
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
        // What happens at the end of the workload comes too late for it.
        if applies && every >= lasts {
            warnings.push(format!("The workload lasts {lasts:#}, and {what} every {every:#} only: never."));
        }
    };
    warn(has(SystemName::Frequency), "`frequency` halves its counters", options.ageing);
    let clear = match [SystemName::NetCache, SystemName::Tea].map(has) {
        [true, true] => "`netcache` and `tea` clear their statistics",
        [true, false] => "`netcache` clears its statistics",
        _ => "`tea` clears its statistics",
    };
    warn(has(SystemName::NetCache) || has(SystemName::Tea), clear, options.reports.interval);
    if let Some(tuning) = options.dyso.tuning {
        warn(has(SystemName::Dyso), "`dyso` tunes its ageing period", tuning);
    }
    if let Some(every) = workload.zipf().and_then(Zipf::changes_every) {
        warn(true, "popularity changes", every);
        warnings.extend(recovery::untold(timing, every, lookups));
    }
}

/// What keeps DySO from showing what it can do.
fn of_control(warnings: &mut Vec<String>, lookups: u64, options: &Options) {
    let timing = Timing { rate: options.rate };
    let (lasts, dyso) = (timing.nanos(lookups), &options.dyso);
    let those = |applies: &dyn Fn(u64) -> bool| {
        let rates: Vec<u64> = options.control_rates.iter().copied().filter(|&rate| applies(rate)).collect();
        Some(named(&rates)).filter(|_| !rates.is_empty())
    };
    if let Some(rates) = those(&|rate| rate > options.rate) {
        warnings.push(format!(
            "More control packets ({rates} a second) than data packets ({} a second) leave no room for the latter; \
             here they take none.",
            options.rate
        ));
    }
    if dyso.round_trip >= lasts {
        warnings.push(format!(
            "The workload lasts {lasts}, and `dyso` hears from the switch after a round trip of {}.",
            dyso.round_trip
        ));
    }
    let rounds = |rate: u64| {
        u128::from(lookups) * u128::from(rate)
            / u128::from(options.rate)
            / u128::from(dyso.history_rows.max(1))
    };
    if let Some(rates) = those(&|rate| rounds(rate) < FEWEST_ROUNDS.into()) {
        warnings.push(format!(
            "The workload lasts {lasts}, fewer than {FEWEST_ROUNDS} rounds through the {} of `dyso`'s history buffer \
             at {rates} control packets a second.",
            count(dyso.history_rows.into(), "row", "rows")
        ));
    }
}

fn of_batches(warnings: &mut Vec<String>, lookups: u64, options: &Options) {
    let timing = Timing { rate: options.rate };
    let batches = |rate: u64| {
        let due = u128::from(lookups) * u128::from(rate);
        due / (u128::from(options.rate) * u128::from(options.batch)).max(1)
    };
    let few = |rate: &u64| batches(*rate) < u128::from(FEWEST_BATCHES);
    let rare: Vec<u64> = options.update_rates.iter().copied().filter(few).collect();
    if let Some(&last) = rare.last() {
        warnings.push(format!(
            "The workload lasts {}, fewer than {FEWEST_BATCHES} batches of {} at {} {} a second.",
            timing.nanos(lookups),
            entries(options.batch),
            named(&rare),
            if last == 1 && rare.len() == 1 { "entry" } else { "entries" }
        ));
    }
    let Some(&slowest) = options.update_rates.iter().min() else { return };
    let fills = Timing { rate: slowest }.nanos(options.entries);
    if fills > timing.nanos(options.warmup) {
        warnings.push(format!(
            "At {} a second a table of {} takes {fills} to fill, and the warm-up lasts {}.",
            entries(slowest),
            options.entries,
            timing.nanos(options.warmup)
        ));
    }
}

fn of_keys(warnings: &mut Vec<String>, keys: Keys, options: &Options) {
    let about = if keys.one_in > 1 { "about " } else { "" };
    if let Some(distinct) = keys.distinct.filter(|&distinct| distinct <= options.entries) {
        let there_are = if distinct == 1 { "There is" } else { "There are" };
        warnings.push(format!(
            "{there_are} {about}{} for {}: an exact table would hold {}.",
            count(distinct, "key", "keys"),
            entries(options.entries),
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

fn of_rows(warnings: &mut Vec<String>, rows: &[Row]) {
    let counts = |row: &Row| match &row.outcome {
        Outcome::Run { counts, .. } => *counts,
        Outcome::Bounds { .. } => Counts::default(),
    };
    for system in [SystemName::NetCache, SystemName::Tea] {
        let none = |row: &&Row| row.system == system && !row.best && counts(row).updates_sent == Some(0);
        if let Some(threshold) = rows.iter().find(none).and_then(|row| row.threshold) {
            warnings.push(format!(
                "No key reached the threshold of {} in an interval: `{}` inserted nothing.",
                count(threshold.into(), "lookup", "lookups"),
                system.name()
            ));
        }
    }
    let none = |row: &&Row| row.system == SystemName::Dyso && counts(row).updates_applied == Some(0);
    let mut rates: Vec<u64> = rows.iter().filter(none).filter_map(|row| row.control_rate).collect();
    rates.dedup();
    if !rates.is_empty() {
        warnings.push(format!(
            "No update of `dyso` reached the table at {} control packets a second: it stayed empty.",
            named(&rates)
        ));
    }
}
