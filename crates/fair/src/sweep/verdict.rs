//! The verdict of `fair sweep`.

use trueplane_units::Percent;

use super::found::{Found, Row};
use crate::words::long;

/// Changes that are smaller are none.
const NOTHING: f64 = 0.001;

/// The most important sentence first: the largest gain, then where remembering makes waits longer.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let known: Vec<(&Row, f64)> =
        found.rows.iter().filter_map(|row| Some((row, row.users_wait_mean_change?))).collect();
    if known.is_empty() {
        return vec!["Nobody waits on any of these clusters: try less of the mean use.".to_owned()];
    }
    let mut sentences: Vec<String> = on_best(found).into_iter().collect();
    sentences.extend(on_worse(&known));
    sentences.extend(on_skipped(found));
    sentences
}

fn at(row: &Row) -> String {
    format!("on a cluster of {} with δ = {}", Percent(row.capacity.ratio()), row.delta)
}

fn on_worse(known: &[(&Row, f64)]) -> Option<String> {
    let worse: Vec<&(&Row, f64)> = known.iter().filter(|(_, change)| *change > NOTHING).collect();
    let (row, change) = worse.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "In {} of {} runs users wait longer on average under sdrf than under drf, by {:+} at most, {}.",
        worse.len(),
        known.len(),
        Percent(*change),
        at(row)
    ))
}

/// The best δ of every size, in one sentence.
fn on_best(found: &Found) -> Option<String> {
    let best = found.sizes.iter().filter_map(|size| found.best(size.capacity));
    let best: Vec<(&Row, f64)> = best.filter_map(|row| Some((row, -row.users_wait_mean_change?))).collect();
    let (row, saved) = best.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if *saved <= NOTHING {
        return Some("Nowhere does sdrf save a thousandth of the mean wait of users under drf.".to_owned());
    }
    let half_life = long(row.delta.0.half_life_span());
    if best.len() > 1 && best.iter().all(|(other, _)| other.delta == row.delta) {
        let least = best.iter().map(|(_, saved)| *saved).fold(f64::INFINITY, f64::min);
        return Some(format!(
            "δ = {} (half in {half_life}) is the best on every cluster: it saves {} to {} of the mean wait of users.",
            row.delta,
            Percent(least),
            Percent(*saved)
        ));
    }
    Some(format!(
        "Most is saved {} (half in {half_life}): {} of the mean wait of users; {} of them wait less and {} longer.",
        at(row),
        Percent(*saved),
        row.users_wait_less,
        row.users_wait_more
    ))
}

fn on_skipped(found: &Found) -> Option<String> {
    let most = found.sizes.iter().max_by_key(|size| size.skipped).filter(|size| size.skipped > 0)?;
    Some(format!(
        "Up to {} of {} tasks are larger than the cluster and were skipped (at {} of the mean use).",
        most.skipped,
        found.log.tasks,
        Percent(most.capacity.ratio())
    ))
}

/// The memory to use.
pub(super) fn advice(found: &Found) -> String {
    let best = found.sizes.iter().filter_map(|size| found.best(size.capacity));
    let saved = |row: &Row| -row.users_wait_mean_change.unwrap_or_default();
    let best = best.max_by(|a, b| saved(a).total_cmp(&saved(b)));
    match best.filter(|row| saved(row) > NOTHING) {
        Some(row) => format!("Schedule by sdrf with --delta {}: it saves most {}.", row.delta, at(row)),
        None => "Keep drf: a memory saves nothing on this log.".to_owned(),
    }
}
