//! What makes the results of `fair simulate` doubtful.

use trueplane_study::Page;
use trueplane_study::prose::join;
use trueplane_units::Percent;

use super::found::Found;
use super::options::Options;
use crate::outcome::FEW_WAIT;
use crate::workload::{Cut, Partial};

/// Fewest tasks of a user whose numbers are more than chance.
const FEWEST_TASKS: u64 = 5;

/// Tasks that the log has only in part are warned of if they are a larger part of all tasks.
const MANY_CUT: f64 = 0.05;

pub(super) fn warn(options: &Options, found: &Found, page: &mut Page) {
    if let Some(run) = found.policies.first().filter(|run| run.skipped == run.tasks) {
        page.warn(format!(
            "All tasks, {} of them, are larger than the cluster: nothing ran; expected more --capacity.",
            run.tasks
        ));
        return;
    }
    let cuts = found.log.cut.iter().filter_map(|of| on_cut(found, of));
    let sentences = on_nothing(found)
        .into_iter()
        .chain(cuts)
        .chain(on_censored(found))
        .chain(on_skipped(found))
        .chain(on_backfill(options, found));
    sentences.for_each(|sentence| page.warn(sentence));
}

/// Nobody waits, or users have too few tasks: before all else.
fn on_nothing(found: &Found) -> Option<String> {
    let run = found.policies.first()?;
    let started = run.tasks - run.skipped;
    let waiting = found.policies.iter().map(|run| run.waited).max().unwrap_or(0);
    if found.policies.iter().all(|run| run.contended_to_end.0 == 0) {
        return Some(
            "At no time do two users wait: whose turn it is cannot matter on this cluster; try less --capacity."
                .to_owned(),
        );
    }
    if (waiting as f64) < FEW_WAIT * started as f64 {
        return Some(format!(
            "Only {waiting} of {started} tasks wait at all: whose turn it is hardly matters on this cluster; try less --capacity."
        ));
    }
    let mut submitted: Vec<u64> = run.users.iter().map(|user| user.submitted).collect();
    submitted.sort_unstable();
    let few = submitted[submitted.len() / 2] < FEWEST_TASKS;
    few.then(|| {
        format!(
            "Half of the users have fewer than {FEWEST_TASKS} tasks, and what happens to so few is chance: take a longer log."
        )
    })
}

/// Tasks that are there only in part, if they are many.
fn on_cut(found: &Found, of: &Cut) -> Option<String> {
    let tasks = found.log.tasks;
    let part = of.count as f64 / tasks as f64;
    if part <= MANY_CUT {
        return None;
    }
    let tasks = format!("{} of {tasks} tasks ({})", of.count, Percent(part));
    let parts = found.policies.iter().map(|run| run.first_instant_part);
    match of.what {
        Partial::Start => {
            let least = Percent(parts.clone().fold(f64::INFINITY, f64::min)).to_string();
            let most = Percent(parts.fold(0.0, f64::max)).to_string();
            let share = if least == most { most } else { format!("{least} to {most}") };
            Some(format!(
                "{tasks} began before the log and count as submitted at its first instant; tasks submitted then have {share} of all waiting."
            ))
        }
        // It is said of those of which the end is not known.
        Partial::End if found.log.censored > 0 => None,
        what => Some(format!("{tasks} are {what}, which the log has only in part.")),
    }
}

/// Tasks of which it is not known when they end.
fn on_censored(found: &Found) -> Option<String> {
    (found.log.censored > 0).then(|| {
        format!(
            "{} of {} tasks outlast the log, which does not say when they end: they are no part of what is completed by the horizon.",
            found.log.censored, found.log.tasks
        )
    })
}

fn on_skipped(found: &Found) -> Option<String> {
    let run = found.policies.first().filter(|run| run.skipped > 0)?;
    Some(format!(
        "{} of {} tasks are larger than the cluster and were skipped (users with such tasks: {}).",
        run.skipped,
        run.tasks,
        run.users.iter().filter(|user| user.skipped > 0).count()
    ))
}

fn on_backfill(options: &Options, found: &Found) -> Option<String> {
    let parts = found.policies.iter().map(|run| format!("{} under {}", run.backfilled, run.policy));
    options.scenario.backfill.then(|| {
        format!(
            "Tasks that fit passed tasks before them that did not: {} of {}. A large task may then wait as long as small ones come.",
            join(&parts.collect::<Vec<_>>()),
            found.log.tasks
        )
    })
}
