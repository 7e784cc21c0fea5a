//! The verdict of `fair recommend`.

use trueplane_study::Page;
use trueplane_units::{Percent, Value as _};

use super::configuration::lines;
use super::found::{Candidate, Found, WORTH};
use crate::capacity::Capacity;
use crate::outcome::change;

/// Part of all tasks that wait below which the order of users hardly matters.
const FEW_WAIT: f64 = 0.01;

pub(super) fn warn(found: &Found, page: &mut Page) {
    let drf = &found.baseline;
    let started = drf.tasks - drf.skipped;
    if started == 0 {
        page.warn(format!(
            "All {} tasks are larger than the cluster: nothing ran. Give more --capacity.",
            drf.tasks
        ));
        return;
    }
    if (drf.waited as f64) < FEW_WAIT * started as f64 {
        let why = match found.capacity {
            Capacity::Peak => {
                "the peak use of the log is large enough for one pool without nodes, in which no room is left over"
            }
            _ => "the cluster is large",
        };
        page.warn(format!(
            "Only {} of {started} tasks wait under drf: {why}. Whose turn it is hardly matters; give less --capacity.",
            drf.waited
        ));
    }
    if drf.skipped > 0 {
        page.warn(format!(
            "{} of {} tasks are larger than the cluster and were skipped.",
            drf.skipped, drf.tasks
        ));
    }
}

fn name(one: &Candidate) -> String {
    match one.half_life {
        Some(half_life) => format!("{} with a half-life of {}", one.policy, half_life.show()),
        None => one.policy.to_string(),
    }
}

fn saves(one: &Candidate) -> String {
    let saved = one.saved().unwrap_or_default();
    if saved >= 0.0 {
        format!("saves {} of users' mean wait", Percent(saved))
    } else {
        format!("makes users wait {} longer on average", Percent(-saved))
    }
}

/// Why a candidate is not recommended, if it saves something at all.
fn but(one: &Candidate) -> Option<String> {
    let of = &one.against;
    let saved = one.saved()?;
    if saved <= 0.0 || one.helps() {
        return None;
    }
    Some(if of.users_wait_less < of.users_wait_more {
        format!(", but {} users wait longer and only {} less", of.users_wait_more, of.users_wait_less)
    } else if saved < WORTH {
        format!(", which is below {}", Percent(WORTH))
    } else {
        let longer = change(of.baseline_wait_mean, of.wait_mean).unwrap_or_default();
        format!(", but all tasks together wait {} longer", Percent(longer))
    })
}

/// The most important sentence first: the recommendation, who pays for it, and what the others come to.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    if found.baseline.users_wait_mean.0 <= 0.0 {
        return vec![
            "Nobody waits on this cluster under drf, so that no memory can save anything.".to_owned(),
        ];
    }
    let mut sentences = Vec::new();
    match found.recommended() {
        Some(best) => {
            let of = &best.against;
            sentences.push(format!(
                "{} {}: of {} users {} wait less than under drf, and {} longer.",
                name(best),
                saves(best),
                found.log.users,
                of.users_wait_less,
                of.users_wait_more
            ));
            if let Some(loser) = &of.loses_most {
                sentences.push(format!(
                    "{} loses most: its tasks wait {} on average instead of {}.",
                    loser.user, loser.wait_mean, loser.baseline_wait_mean
                ));
            }
        }
        None => sentences.push(format!(
            "No half-life saves {} of users' mean wait under drf without making more users wait longer than less, or all tasks together.",
            Percent(WORTH)
        )),
    }
    let recommended = found.recommended().map(|one| one.policy);
    let others = found.schedulers().into_iter().filter(|&policy| Some(policy) != recommended);
    sentences.extend(
        others
            .filter_map(|policy| found.best_of(policy))
            .map(|one| format!("At best, {} {}{}.", name(one), saves(one), but(one).unwrap_or_default())),
    );
    sentences
}

/// The lines to set.
pub(super) fn advice(found: &Found) -> String {
    match found.recommended() {
        Some(best) => {
            let line = lines(found).into_iter().find(|line| line.policy == best.policy).map(|line| line.line);
            let line = line.map_or(String::new(), |line| format!(" ({line})"));
            format!(
                "Set a half-life: {} is best{line}. The lines for every scheduler are in the table below.",
                name(best)
            )
        }
        None => "Keep a scheduler that remembers nothing: no half-life helps on this log.".to_owned(),
    }
}
