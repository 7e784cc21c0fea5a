//! The verdict of `fair simulate`: who waits because the scheduler forgets, and who pays if it does not.

use trueplane_study::prose::join;
use trueplane_units::{LongTime, Percent};

use super::found::Found;
use crate::comparison::{Comparison, SAME, WORTH};
use crate::outcome::{PolicyRun, change};
use crate::policy::PolicyName;
use crate::words::long;

/// The most important sentence first: losses, if they are more than gains.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    if found.policies.iter().all(|run| run.skipped == run.tasks) {
        return vec!["Nothing ran: every task is larger than the cluster.".to_owned()];
    }
    let sdrf = found.comparisons.iter().find(|of| of.policy == PolicyName::Sdrf);
    let advised = best(found).map(|(of, _)| of);
    let Some(of) = advised.or(sdrf).or(found.comparisons.first()) else {
        return found.policies.first().map(on_one).into_iter().collect();
    };
    let mut sentences = vec![on_users(found, of), on_all(of)];
    sentences.extend(on_dearer(found));
    sentences.extend(on_gainers(of));
    sentences.extend(on_losers(of));
    sentences.extend(on_others(found));
    sentences
}

/// `12 s instead of 15 s (-20.0%)`.
fn instead(before: LongTime, after: LongTime) -> String {
    let change = change(before, after).map_or(String::new(), |part| format!(" ({:+})", Percent(part)));
    format!("{after} instead of {before}{change}")
}

/// Says how many users gain and how many lose, and which of both are more.
fn on_users(found: &Found, of: &Comparison) -> String {
    let Comparison { policy, baseline, users_wait_less: less, users_wait_more: more, .. } = *of;
    let (before, after) = (of.baseline_wait_mean.0, of.wait_mean.0);
    let later = after - before > SAME * after.max(before);
    let sooner = before - after > SAME * after.max(before);
    let lead = match (later, more > less) {
        (true, true) => format!("{policy} makes things worse on this log"),
        (true, false) => format!("{policy} lets tasks wait longer as a whole"),
        (false, true) => format!("{policy} lets more users wait longer than less"),
        (false, false) if less + more == 0 && !sooner => {
            format!("{policy} and {baseline} let users wait equally long on this log")
        }
        (false, false) => format!("Under {policy} instead of {baseline}"),
    };
    let same = found.log.users - less - more;
    let waits = if less == 1 { "waits" } else { "wait" };
    let so = format!("{less} of {} users {waits} less, {more} longer and {same} as long.", found.log.users);
    if lead.starts_with("Under") { format!("{lead} {so}") } else { format!("{lead}: {so}") }
}

fn on_all(of: &Comparison) -> String {
    let (before, after) = (of.baseline_wait_mean, of.wait_mean);
    if before.to_string() == after.to_string() {
        return format!("The mean wait of all tasks stays {after}.");
    }
    format!("The mean wait of all tasks is {}.", instead(before, after))
}

/// Users who wait less: because the baseline forgets, if it is the memory of SDRF that helps them, and they had less than their part.
fn on_gainers(of: &Comparison) -> Option<String> {
    let Comparison { policy, baseline, modest_gainers: modest, .. } = of;
    let most = of.gains_most.as_ref()?;
    if *policy == PolicyName::Sdrf && !baseline.properties().remembers && modest.users > 0 {
        return Some(format!(
            "Users who wait because {baseline} forgets: {}; the mean wait of their tasks is {}.",
            modest.users,
            instead(modest.baseline_wait_mean, modest.wait_mean)
        ));
    }
    Some(format!("Most is gained by {}: {}.", most.user, instead(most.baseline_wait_mean, most.wait_mean)))
}

fn on_losers(of: &Comparison) -> Option<String> {
    match &of.loses_most {
        None => (of.users_wait_less > 0).then(|| format!("Nobody waits longer under {}.", of.policy)),
        Some(most) => Some(format!(
            "Most is lost by {}: {}.",
            most.user,
            instead(most.baseline_wait_mean, most.wait_mean)
        )),
    }
}

/// All policies in one sentence, if there are several to compare.
fn on_others(found: &Found) -> Option<String> {
    let change = |run: &PolicyRun| Some(format!("{} {:+}", run.policy, Percent(run.users_wait_mean_change?)));
    let parts: Vec<String> = found.compared().filter_map(change).collect();
    (parts.len() > 1).then(|| format!("Mean wait of users against {}: {}.", found.baseline, join(&parts)))
}

/// A single policy has nothing to be compared with.
fn on_one(run: &PolicyRun) -> String {
    let started = run.tasks - run.skipped;
    if run.waited == 0 {
        return format!("Under {} none of {started} tasks waits.", run.policy);
    }
    format!(
        "Of {started} tasks {} wait under {}; the mean wait of all is {}, and 99% wait no longer than {}.",
        run.waited,
        run.policy,
        run.wait_mean,
        long(run.wait_p99)
    )
}

/// The policy under which users wait least, by so much of their mean wait less than under the baseline, if that is worth a change: no more
/// users lose than gain, and all tasks together wait no longer.
pub(super) fn best(found: &Found) -> Option<(&Comparison, f64)> {
    let helping = found.comparisons.iter().filter(|of| of.costs_no_more());
    let saved = helping.filter_map(|of| Some((of, saved(found, of.policy)?)));
    saved.filter(|(_, saved)| *saved >= WORTH).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Part of the mean wait of users that a policy saves.
fn saved(found: &Found, policy: PolicyName) -> Option<f64> {
    let run = found.policies.iter().find(|run| run.policy == policy)?;
    run.users_wait_mean_change.map(|change| -change)
}

/// The policy to schedule by.
pub(super) fn advice(found: &Found) -> String {
    let Some(baseline) = found.comparisons.first().map(|of| of.baseline) else { return String::new() };
    if found.log.users < 2 {
        return "Take the log of a cluster that several users share.".to_owned();
    }
    match best(found) {
        Some((of, part)) => format!(
            "Schedule by {}: users wait {} less on average, at least as many gain as lose, and all tasks together wait no longer.",
            of.policy,
            Percent(part)
        ),
        None => format!(
            "Keep {baseline}: no other of these policies saves {} of users' waits without making more users wait longer than less.",
            Percent(WORTH)
        ),
    }
}

/// A policy that saves more than the one to be advised, but at the cost of more users or of all tasks together.
fn on_dearer(found: &Found) -> Option<String> {
    let least = best(found).map_or(WORTH, |(_, part)| part);
    let parts = found.comparisons.iter().filter_map(|of| Some((of, saved(found, of.policy)?)));
    let (of, part) = parts.filter(|(_, part)| *part > least).max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "{} saves {} of the mean wait of users, but {} of them wait longer and {} less, and the mean wait of all tasks is {}.",
        of.policy,
        Percent(part),
        of.users_wait_more,
        of.users_wait_less,
        instead(of.baseline_wait_mean, of.wait_mean)
    ))
}
