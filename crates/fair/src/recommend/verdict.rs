//! The verdict of `fair recommend`.

use trueplane_study::Page;
use trueplane_units::Percent;

use super::configuration::lines;
use super::found::{Candidate, Found};
use crate::capacity::Capacity;
use crate::comparison::WORTH;
use crate::outcome::{FEW_WAIT, change};

pub(super) fn warn(found: &Found, page: &mut Page) {
    let drf = &found.baseline;
    if drf.skipped > 0 {
        let (skipped, tasks) = (drf.skipped, drf.tasks);
        page.warn(format!("{skipped} of {tasks} tasks are larger than the cluster and were skipped."));
    }
}

/// Whether so few tasks wait that the log cannot tell schedulers apart.
fn hardly_waits(found: &Found) -> bool {
    let drf = &found.baseline;
    (drf.waited as f64) < FEW_WAIT * (drf.tasks - drf.skipped) as f64 || drf.waited == 0
}

fn no_answer(found: &Found) -> String {
    let drf = &found.baseline;
    let logged = found.logged_wait_mean().filter(|wait| wait.0 > drf.users_wait_mean.0);
    let logged = logged
        .map_or(String::new(), |wait| format!(", though users' tasks waited {wait} on average in the log"));
    format!(
        "No answer: only {} of {} tasks wait on this cluster under drf{logged}. The order of users cannot matter then.",
        drf.waited,
        drf.tasks - drf.skipped
    )
}

/// The size to try where hardly a task waits.
fn less_capacity(found: &Found) -> &'static str {
    match found.capacity {
        Capacity::Relative(part) if part.ratio() <= 0.7 => "less --capacity, or the log of a busier time",
        _ => {
            "less --capacity, such as 70%: the simulated cluster is one pool without nodes, and needs less than a real one"
        }
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
    if found.baseline.skipped == found.baseline.tasks {
        return vec!["Nothing ran: every task is larger than the cluster.".to_owned()];
    }
    if hardly_waits(found) {
        return vec![no_answer(found)];
    }
    let mut sentences = Vec::new();
    match found.recommended() {
        Some(best) => {
            let of = &best.against;
            sentences.push(format!(
                "{} {}: of {} users {} wait less than under drf, and {} longer.",
                best.name(),
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
            "No half-life helps: each saves less than {} of users' mean wait, or makes more users wait longer than less, or all tasks together wait longer.",
            Percent(WORTH)
        )),
    }
    let recommended = found.recommended().map(|one| one.policy);
    let others = found.best().into_iter().filter(|one| Some(one.policy) != recommended);
    sentences
        .extend(others.map(|one| format!("{} {}{}.", one.name(), saves(one), but(one).unwrap_or_default())));
    sentences
}

/// The lines to set.
pub(super) fn advice(found: &Found) -> String {
    if found.baseline.skipped == found.baseline.tasks {
        return "Give more --capacity.".to_owned();
    }
    if found.log.users < 2 {
        return "Take the log of a cluster that several users share.".to_owned();
    }
    if hardly_waits(found) {
        return format!("Give {}.", less_capacity(found));
    }
    match found.recommended() {
        Some(best) => {
            let line = lines(found).into_iter().find(|line| line.policy == best.policy).map(|line| line.line);
            let line = line.map_or(String::new(), |line| format!(" ({line})"));
            format!(
                "Set a half-life: {} is best{line}. The lines for every scheduler are in the table below.",
                best.name()
            )
        }
        None => "Keep a scheduler that remembers nothing: no half-life helps on this log.".to_owned(),
    }
}
