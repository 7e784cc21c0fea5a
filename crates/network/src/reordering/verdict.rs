//! The verdict of `spray reordering`.

use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_study::prose::join;
use trueplane_units::{Percent, digits};

use super::found::{Case, Found, Row, flows_in_words};

const HASHING: DispatchName = DispatchName::of(PolicyName::Rss);
const SPRAY: DispatchName = DispatchName::of(PolicyName::Spray);

/// Ratios that are no further from 1 are called equal.
const EQUAL: f64 = 0.02;

/// Acknowledgements for each segment that are worth a sentence.
const MANY_ACKS: f64 = 0.6;

/// The most important sentence first.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    if found.rows.iter().all(|row| row.goodput.mean == 0.0) {
        return vec!["No byte arrived in the time that counts: raise --duration.".to_owned()];
    }
    let sentences = [on_one(found), on_cost(found), on_spurious(found), on_acks(found), on_many(found)];
    sentences.into_iter().flatten().collect()
}

fn shown(bits: f64) -> String {
    format!("{} Gbit/s", digits(bits / 1e9, 3))
}

/// The recovery that recovers best: with which the goodput of a policy in a case is greatest.
fn best_of(found: &Found, case: Case, policy: DispatchName) -> Option<&Row> {
    let rows = found.rows.iter().filter(|row| row.case == case && row.policy == policy);
    rows.max_by(|one, other| one.goodput.mean.total_cmp(&other.goodput.mean))
}

/// Sentence on the case with the fewest flows, and of those the most cycles: there, hashing leaves most cores idle.
fn on_one(found: &Found) -> Option<String> {
    let case = found.cases().into_iter().min_by_key(|case| (case.flows, u64::MAX - case.cycles))?;
    let spray = best_of(found, case, SPRAY)?;
    let hashed = best_of(found, case, HASHING)?;
    Some(format!(
        "With {}, spraying gets {} with {}, and hashing {}.",
        case.in_words(),
        shown(spray.goodput.mean),
        spray.recovery,
        shown(hashed.goodput.mean)
    ))
}

/// The case in which spraying loses most against the classical model, with any recovery.
fn worst(found: &Found) -> Option<&Row> {
    let rows = found.rows.iter().filter(|row| row.policy == SPRAY);
    rows.min_by(|one, other| one.ratio().total_cmp(&other.ratio()))
}

/// The rows of spraying in a case, one for each recovery.
fn recoveries(found: &Found, case: Case) -> impl Iterator<Item = &Row> {
    found.rows.iter().filter(move |row| row.case == case && row.policy == SPRAY)
}

fn on_cost(found: &Found) -> Option<String> {
    let worst = worst(found)?;
    if worst.ratio() > 1.0 - EQUAL {
        return Some(format!(
            "Reordering costs sprayed flows nothing, not even with {}: they get what the classical model says.",
            worst.case.in_words()
        ));
    }
    let parts: Vec<String> = recoveries(found, worst.case)
        .map(|row| format!("{} with {}", Percent(row.ratio()), row.recovery))
        .collect();
    if worst.counts.reordered == 0 {
        return Some(format!(
            "No segment comes late, and yet spraying gets less than the classical {} with {}: {}. Windows, rings or time-outs bound it.",
            shown(worst.classical),
            worst.case.in_words(),
            join(&parts)
        ));
    }
    Some(format!(
        "Reordering costs most with {}: of the classical {}, spraying gets {}.",
        worst.case.in_words(),
        shown(worst.classical),
        join(&parts)
    ))
}

fn on_spurious(found: &Found) -> Option<String> {
    let case = worst(found)?.case;
    let late = |row: &Row| row.counts.reordered_share();
    let least = recoveries(found, case).map(late).reduce(f64::min)?;
    let most = recoveries(found, case).map(late).reduce(f64::max)?;
    if most == 0.0 {
        return None;
    }
    let range = match (Percent(least).to_string(), Percent(most).to_string()) {
        (least, most) if least == most => most,
        (least, most) => format!("{least} to {most}"),
    };
    let parts: Vec<String> = recoveries(found, case)
        .map(|row| format!("{} with {}", Percent(row.counts.spurious_share()), row.recovery))
        .collect();
    Some(format!(
        "There, {range} of the segments come late, and those sent again for nothing are {}.",
        join(&parts)
    ))
}

/// Sentence on the work that late segments make: each of them is acknowledged at once.
fn on_acks(found: &Found) -> Option<String> {
    let rows = found.rows.iter().filter(|row| row.policy == SPRAY);
    let acks = |row: &Row| row.counts.acks_per_segment();
    let row = rows.max_by(|one, other| acks(one).total_cmp(&acks(other)))?;
    (acks(row) > MANY_ACKS).then(|| {
        format!(
            "Each late segment is acknowledged at once: with {} and {}, {} acknowledgements for 10 segments, and not 5, are work for the cores.",
            flows_in_words(row.case.flows),
            row.recovery,
            digits(acks(row) * 10.0, 2)
        )
    })
}

/// Sentence on the case with the most flows.
fn on_many(found: &Found) -> Option<String> {
    let case = found.cases().into_iter().max_by_key(|case| (case.flows, case.cycles))?;
    if found.cases().len() < 2 {
        return None;
    }
    let (spray, hashed) = (best_of(found, case, SPRAY)?, best_of(found, case, HASHING)?);
    (hashed.goodput.mean > 0.0).then(|| {
        format!(
            "With {}, spraying gets {} times the goodput of hashing, and Jain's index is {} in place of {}.",
            flows_in_words(case.flows),
            digits(spray.goodput.mean / hashed.goodput.mean, 3),
            digits(spray.jain.mean, 3),
            digits(hashed.jain.mean, 3)
        )
    })
}

/// The policy whose least goodput, as a share of what the best policy gets in the same case with the same recovery, is greatest, and that share. None if
/// there is no choice, or another policy is about as good: whoever runs the middlebox chooses neither flows nor senders.
pub(super) fn best(found: &Found) -> Option<(DispatchName, f64)> {
    let most = |row: &Row| {
        let same = found.rows.iter().filter(|other| (other.case, other.recovery) == (row.case, row.recovery));
        same.map(|other| other.goodput.mean).fold(0.0, f64::max)
    };
    let mut shares: Vec<(DispatchName, f64)> = Vec::new();
    for row in &found.rows {
        let share = row.goodput.mean / most(row).max(1.0);
        match shares.iter_mut().find(|(policy, _)| *policy == row.policy) {
            Some((_, least)) => *least = least.min(share),
            None => shares.push((row.policy, share)),
        }
    }
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    let (&best, next) = (shares.first()?, shares.get(1)?);
    (next.1 < best.1 * (1.0 - EQUAL)).then_some(best)
}

/// Advice on the policy to deploy, in words.
pub(super) fn advice(found: &Found) -> String {
    best(found).map_or_else(String::new, |(policy, least)| {
        format!(
            "Dispatch by {policy}: with every number of flows and every recovery, flows get {} of what they get under the best of the policies, or more.",
            Percent(least)
        )
    })
}
