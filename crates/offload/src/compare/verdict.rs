//! The verdict of `offload compare`.
//!
//! Where several levels of change were compared, all but the sentence about them is about the largest.

use trueplane_study::rounded::Toward;
use trueplane_units::{Nanos, Percent};

use super::found::{Found, Row};
use super::level::{Level, PROMPT, levels};
use super::options::Options;
use super::recovery::Recovery;
use crate::policy::{SystemName, Tuning};

/// There are no more sentences than these.
const MOST: usize = 5;

/// The most important sentences first; the others have no room.
pub(super) fn verdict(options: &Options, found: &Found) -> Vec<String> {
    let levels = levels(options, found);
    let Some(level) = levels.last().filter(|level| level.rows.iter().any(|row| row.lookups() > 0)) else {
        return vec!["There is no lookup after the warm-up to count.".to_owned()];
    };
    let sentences = [
        on_levels(&levels),
        on_classical(level),
        on_dyso(level),
        on_optimal(level),
        on_configurations(level),
        on_recovery(level),
        on_belady(level),
    ];
    sentences.into_iter().flatten().take(MOST).collect()
}

/// The system that suffers most as the workload changes more; none with a single level of change.
fn on_levels(levels: &[Level<'_>]) -> Option<String> {
    let [calm, .., harsh] = levels else { return None };
    let (few, many) = (calm.change?, harsh.change?);
    let moves = harsh.looped().filter_map(|system| Some((calm.fastest(system)?, harsh.fastest(system)?)));
    let (before, after) = moves.max_by(|a, b| {
        let rise = |(before, after): &(&Row, &Row)| after.miss_ratio() - before.miss_ratio();
        rise(a).total_cmp(&rise(b))
    })?;
    Some(format!(
        "With {many} instead of {few} keys moved at every change, {} goes from {} to {} misses; all else here is about {many}.",
        harsh.name(after),
        Percent(before.miss_ratio()),
        Percent(after.miss_ratio()),
    ))
}

/// The classical number beside the truth.
fn on_classical(level: &Level<'_>) -> Option<String> {
    let rows: Vec<&Row> = level.looped().flat_map(|system| level.speaking(system)).collect();
    let least = rows.iter().min_by_key(|row| row.misses());
    // The last of equal ones would be `max_by_key`'s.
    let most = rows.iter().rev().max_by_key(|row| row.misses());
    let said = |row: &Row| format!("{} ({})", Percent(row.miss_ratio()), level.name(row));
    let believed = level.classical().map(|row| {
        let (misses, name) = (Percent(row.miss_ratio()), row.system);
        format!("Updated at once, the table misses {misses} of lookups ({name})")
    });
    let truth = least.zip(most).map(|(least, most)| match least.misses() == most.misses() {
        true => said(most),
        false => format!("{} to {}", said(least), said(most)),
    });
    match (believed, truth) {
        (Some(believed), Some(truth)) => {
            Some(format!("{believed}; behind a control loop it misses {truth}."))
        }
        (Some(believed), None) => Some(format!("{believed}.")),
        (None, truth) => {
            truth.map(|truth| format!("Behind a control loop the table misses {truth} of lookups."))
        }
    }
}

/// DySO beside the best table that is updated in batches.
fn on_dyso(level: &Level<'_>) -> Option<String> {
    let dyso = level.speaking(SystemName::Dyso).into_iter().min_by_key(|row| row.misses())?;
    let batched = level.looped().filter(|system| system.properties().is_batched());
    let batched = batched.flat_map(|system| level.given(system)).min_by_key(|row| row.misses())?;
    let (mine, other) = (dyso.miss_ratio(), batched.miss_ratio());
    let difference = match mine.total_cmp(&other) {
        std::cmp::Ordering::Less => format!("{} less than", points(other - mine)),
        std::cmp::Ordering::Equal => "as much as".to_owned(),
        std::cmp::Ordering::Greater => format!("{} more than", points(mine - other)),
    };
    Some(format!(
        "{} misses {difference} the best table in batches, {}.",
        level.name(dyso),
        level.name(batched)
    ))
}

/// Whether a better policy could help at the slowest update rate.
fn on_optimal(level: &Level<'_>) -> Option<String> {
    let lower = level.given(SystemName::Optimal).into_iter().next()?;
    let rate = lower.update_rate?;
    let least = Toward::Down.percent(lower.miss_ratio());
    let bound = format!("At {rate} no {PROMPT} misses less than {least}");
    // It binds no others: netcache's reports wait over batches, and dyso knows none.
    let is_bound = |row: &&Row| {
        let properties = row.system.properties();
        row.update_rate == Some(rate) && properties.prompt && !properties.offline
    };
    let best = level.rows.iter().copied().filter(is_bound).min_by_key(|row| row.misses());
    let beside = best.map(|best| {
        let misses = format!("; {} misses {}", level.name(best), Percent(best.miss_ratio()));
        if best.misses() < lower.misses() {
            return format!("{misses}: one of the two is wrong");
        }
        // Savings are what a better policy could have, not what the search left open.
        if level.is_open(lower) {
            return misses;
        }
        let room = Toward::Up.percent(best.miss_ratio() - lower.miss_ratio());
        format!("{misses}: a better policy could save {} points at most", room.trim_end_matches("%"))
    });
    Some(bound + &beside.unwrap_or_default() + ".")
}

/// The most that a configuration which was found saves.
fn on_configurations(level: &Level<'_>) -> Option<String> {
    let gain = |best: &Row| {
        let given = level.given(best.system).into_iter().find(|row| row.update_rate == best.update_rate)?;
        Some(given.miss_ratio() - best.miss_ratio())
    };
    let best = level.looped().flat_map(|system| level.best(system));
    let gains = best.filter_map(|best| Some((best, gain(best)?)));
    let (best, gain) = gains.max_by(|a, b| a.1.total_cmp(&b.1))?;
    if gain <= 0.0 {
        return Some("No other threshold or ageing period that --best-config tried is better.".to_owned());
    }
    let tuning = best.system.properties().tuning;
    let value = match tuning {
        Tuning::Ageing => best.period().map(|period| period.to_string()),
        Tuning::Threshold => best.threshold.map(|threshold| threshold.to_string()),
        Tuning::None => None,
    };
    Some(format!(
        "Of what --best-config tried, {} {} saves most: {} for {} {}.",
        tuning.name(),
        value.unwrap_or_default(),
        points(gain),
        best.system,
        level.at(best)
    ))
}

/// The row that gets over a change fastest and the one that takes longest.
fn on_recovery(level: &Level<'_>) -> Option<String> {
    let ends = level.looped().filter_map(|system| level.extremes(system));
    let rows: Vec<(&Row, Recovery)> =
        ends.flat_map(|(slow, fast)| [slow, fast]).filter_map(|row| Some((row, row.recovery()?))).collect();
    let time = |of: &&(&Row, Recovery)| of.1.median.unwrap_or(Nanos::MAX);
    let (fast, slow) = rows.iter().min_by_key(time).zip(rows.iter().rev().max_by_key(time))?;
    let said = |(row, recovery): &(&Row, Recovery)| match recovery.median {
        Some(median) => format!("{} after {median}", level.name(row)),
        None => format!("{} not before the next", level.name(row)),
    };
    let others = if time(&fast) == time(&slow) { String::new() } else { format!(", {}", said(slow)) };
    Some(format!("After a change the miss ratio is back at its level: {}{others}.", said(fast)))
}

/// Says how many misses are left to any policy without a loop.
fn on_belady(level: &Level<'_>) -> Option<String> {
    let belady = level.belady()?;
    Some(format!(
        "No table that takes a key in at its lookup, or never, misses less than belady, which knows the future: {}.",
        Percent(belady.miss_ratio()),
    ))
}

/// A difference of two ratios: `12.3 points`, `<0.01 points`.
fn points(difference: f64) -> String {
    let percent = Percent(difference).to_string();
    let number = percent.trim_end_matches("%");
    format!("{number} point{}", if number == "1.0" { "" } else { "s" })
}

/// The rows of systems that run behind a control loop, and know no future.
fn deployable<'a>(level: &Level<'a>) -> Vec<&'a Row> {
    let rows = level.looped().flat_map(|system| level.speaking(system));
    rows.filter(|row| !row.system.properties().offline && row.lookups() > 0).collect()
}

/// The number of keys, if the table has room for all of them: then any system will do.
fn all_that_fit(options: &Options, found: &Found) -> Option<u64> {
    found.keys.distinct.filter(|keys| *keys <= *options.entries)
}

/// The row at the last level that misses least, if they differ and not every key fits.
pub(super) fn best<'a>(options: &Options, found: &Found, levels: &[Level<'a>]) -> Option<&'a Row> {
    if all_that_fit(options, found).is_some() {
        return None;
    }
    let rows = deployable(levels.last()?);
    let best = *rows.iter().min_by_key(|row| row.misses())?;
    rows.iter().any(|row| row.misses() > best.misses()).then_some(best)
}

/// The system to deploy.
pub(super) fn advice(options: &Options, found: &Found) -> String {
    if let Some(keys) = all_that_fit(options, found) {
        return format!("Take any of them: the table has room for all {keys} keys.");
    }
    let levels = levels(options, found);
    let Some(level) = levels.last() else { return String::new() };
    let rows = deployable(level);
    if !rows.is_empty() && rows.iter().all(|row| row.misses() == row.lookups()) {
        return "Take a longer workload: nothing was installed before it ended.".to_owned();
    }
    let Some(best) = best(options, found, &levels) else { return String::new() };
    let at = level
        .change
        .filter(|_| levels.len() > 1)
        .map_or_else(String::new, |change| format!(" with {change} keys moved at every change"));
    format!(
        "Deploy {}: it misses {} of lookups{at}, the least of what runs behind a control loop.",
        level.name(best),
        Percent(best.miss_ratio())
    )
}
