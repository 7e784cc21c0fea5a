//! The verdict of `fair sweep`.

use trueplane_units::Percent;

use crate::sweep::found::{Row, Sweep};
use crate::words::time;

/// Savings that are smaller are none.
const NOTHING: f64 = 0.001;

/// The verdict, the most important sentence first: where remembering makes waits longer.
pub fn on_sweep(found: &Sweep) -> Vec<String> {
    let known: Vec<(&Row, f64)> =
        found.rows.iter().filter_map(|row| Some((row, row.users_wait_reduction?))).collect();
    if known.is_empty() {
        return vec!["Nobody waits on any of these clusters: try less of the mean use.".to_owned()];
    }
    let mut sentences: Vec<String> = on_worse(&known).into_iter().collect();
    sentences.extend(on_best(found, &known));
    sentences.extend(on_events(found));
    let skipped = found.sizes.iter().filter(|size| size.skipped > 0);
    sentences.extend(skipped.map(|size| {
        format!(
            "At {} of the mean use {} of {} tasks are larger than the cluster and were skipped.",
            Percent(size.capacity),
            size.skipped,
            found.log.tasks
        )
    }));
    sentences
}

fn at(row: &Row) -> String {
    format!("at {} of the mean use and δ = {}", Percent(row.capacity), row.delta_text)
}

fn on_worse(known: &[(&Row, f64)]) -> Option<String> {
    let worse: Vec<&(&Row, f64)> = known.iter().filter(|(_, saved)| *saved < -NOTHING).collect();
    let (row, saved) = worse.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "At {} of {} points users wait longer on average under sdrf than under drf, most {}: {:+}.",
        worse.len(),
        known.len(),
        at(row),
        Percent(-saved)
    ))
}

/// The best δ of every size, in one sentence.
fn on_best(found: &Sweep, known: &[(&Row, f64)]) -> Option<String> {
    let best_of = |capacity: f64| {
        let rows = known.iter().filter(|(row, _)| row.capacity == capacity);
        rows.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let best: Vec<&(&Row, f64)> = found.sizes.iter().filter_map(|size| best_of(size.capacity)).collect();
    let (row, saved) = best.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    if *saved <= NOTHING {
        return Some("Nowhere does sdrf save a thousandth of the mean wait of users under drf.".to_owned());
    }
    let same = best.iter().all(|(other, _)| other.delta_text == row.delta_text);
    let half_life = time(row.half_life_s);
    if same && best.len() > 1 {
        let least = best.iter().map(|(_, saved)| *saved).fold(f64::INFINITY, f64::min);
        return Some(format!(
            "δ = {} (half in {half_life}) is the best on every cluster: it saves {} to {} of the mean wait of users.",
            row.delta_text,
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

fn on_events(found: &Sweep) -> Option<String> {
    let most = found.rows.iter().max_by_key(|row| row.live_tree_events)?;
    let least = found.rows.iter().min_by_key(|row| row.live_tree_events)?;
    Some(format!(
        "The live tree has from {} events ({}) to {} ({}), {:.3} for every task.",
        least.live_tree_events,
        at(least),
        most.live_tree_events,
        at(most),
        most.events_per_task
    ))
}
