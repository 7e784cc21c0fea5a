//! The verdict of `sched inversions`.

use trueplane_study::prose::join;
use trueplane_units::Percent;

use super::super::document::{Inversions, SchedulerRun, find};
use super::load::on_load;
use super::variations::on_variations;
use super::{TELLING, apart, compared, is_below, times};
use crate::inversions::document::ADAPTATIONS;
use crate::policy::Adaptation;
use crate::policy::SchedulerName;

/// Who knows something of the ranks, as sentences call them, and what that is.
const KNOWING: [(SchedulerName, &str, &str); 3] = [
    (SchedulerName::Gradient, "the gradient", "which measures how often each comes"),
    (SchedulerName::Fixed, "evenly divided bounds", "which know their span"),
    (SchedulerName::Optimal, "the best bounds", "which know how often each comes"),
];

/// The gradient is not where it should be if it is so many times as far from order as the optimum, by eq. 5.
const ASTRAY: f64 = 1.25;

/// The verdict on the order of packets, the most important sentence first.
pub fn on_inversions(found: &Inversions) -> Vec<String> {
    let mut sentences = vec![on_belief(found).unwrap_or_else(|| on_shares(&found.schedulers))];
    sentences.extend(on_bounds(found));
    sentences.extend(on_gradient(found));
    sentences.extend(on_model(&found.schedulers));
    sentences.extend(on_drops(&found.schedulers));
    sentences.extend(on_load(found));
    sentences.extend(on_variations(found));
    if has_too_few(found) {
        sentences.push(
            "Fewer than 1,000 inversions are too few to compare: ratios with them are left out here."
                .to_owned(),
        );
    }
    sentences.push(
        "The port is open-loop: packets come when they come, though senders that keep to TCP, as the paper's do, would slow down."
            .to_owned(),
    );
    sentences
}

/// What the belief says, and what SP-PIFO does; none if not both were measured.
fn on_belief(found: &Inversions) -> Option<String> {
    let fifo = found.run(SchedulerName::Fifo)?;
    let sp_pifo = found.run(SchedulerName::SpPifo)?;
    let queues = found.parameters.queues;
    let on = if queues == 1 { "one queue".to_owned() } else { format!("{queues} queues") };
    let exact = match found.run(SchedulerName::Pifo) {
        Some(pifo) if pifo.inversions == 0 => "; a PIFO none",
        _ => "",
    };
    let ratio = times(sp_pifo, fifo);
    let ratio = ratio.map_or_else(String::new, |times| {
        // What is fewer needs no "than a FIFO" to be understood; what is more should not be overlooked.
        let said = compared(times);
        match said.strip_suffix(" than").filter(|_| times.ratio < 1.0) {
            Some(fewer) => format!(": {fewer}"),
            None => format!(": {said} a FIFO"),
        }
    });
    Some(format!(
        "A FIFO sends {} of its packets before one of lower rank that waits, SP-PIFO on {on} {}{ratio}{exact}.",
        Percent(fifo.inversion_share),
        Percent(sp_pifo.inversion_share)
    ))
}

/// What was measured, where there are no two to compare.
fn on_shares(runs: &[SchedulerRun]) -> String {
    if runs.is_empty() {
        return "No scheduler was simulated.".to_owned();
    }
    let share = |run: &SchedulerRun| match run.inversions {
        0 => format!("none under {}", run.scheduler),
        _ => format!("{} under {}", Percent(run.inversion_share), run.scheduler),
    };
    let shares: Vec<String> = runs.iter().map(share).collect();
    format!(
        "Of the packets that leave, so many leave before one of lower rank that waits: {}.",
        join(&shares)
    )
}

/// How near SP-PIFO comes to those that know something of the ranks.
fn on_bounds(found: &Inversions) -> Option<String> {
    let sp_pifo = found.run(SchedulerName::SpPifo)?;
    let mut parts: Vec<String> = Vec::new();
    let mut last = String::new();
    for &(scheduler, name, knows) in &KNOWING {
        let other = found.run(scheduler).and_then(|other| times(sp_pifo, other));
        let Some(said) = other.map(compared) else { continue };
        // What is the same of two in a row is said once.
        let again = said == last;
        parts.push(if again { format!("{name} ({knows})") } else { format!("{said} {name} ({knows})") });
        last = said;
    }
    if parts.is_empty() {
        return None;
    }
    Some(format!("SP-PIFO knows nothing of the ranks that come; it has {}.", join(&parts)))
}

/// Whether the gradient's bounds are where they should be.
fn on_gradient(found: &Inversions) -> Option<String> {
    let run = found.run(SchedulerName::Gradient)?;
    let gradient = run.expected_unpifoness?;
    let optimal = found.run(SchedulerName::Optimal)?.expected_unpifoness?;
    // Of few packets it is not known how far chance moved it.
    let error = run.expected_unpifoness_error?;
    if !is_below((optimal * ASTRAY, None), (gradient, Some(error))) {
        return None;
    }
    let of = &found.parameters;
    let converges =
        ADAPTATIONS.iter().any(|&(name, how)| name == of.adaptation && how == Adaptation::Converge);
    let why = if converges {
        format!("windows of {} packets do not tell how often each rank comes", of.window_packets)
    } else {
        "at one step after every window it has not arrived, or bounds next to ranks that did not occur hold it up"
            .to_owned()
    };
    let (gradient, optimal) = apart(gradient, optimal);
    Some(format!(
        "The gradient is not at the best bounds: by eq. 5 an unpifoness of {gradient} is expected of its own, on average over the run, and {optimal} of the best; {why}."
    ))
}

/// Whether the model ranks the schedulers as they turn out.
fn on_model(runs: &[SchedulerRun]) -> Option<String> {
    let expected = |run: &SchedulerRun| run.expected_unpifoness.unwrap_or(f64::MAX);
    let has_both = |run: &&SchedulerRun| run.expected_unpifoness.is_some() && run.inversions >= TELLING;
    let mut modelled: Vec<&SchedulerRun> = runs.iter().filter(has_both).collect();
    if modelled.len() < 2 {
        return None;
    }
    modelled.sort_by(|a, b| expected(a).total_cmp(&expected(b)));
    // The pair that the model orders the other way round, clearly, and that are furthest apart in what happened.
    let clearly =
        |less: (f64, Option<f64>), more: (f64, Option<f64>)| less.0 * 1.05 < more.0 && is_below(less, more);
    let by_model = |run: &SchedulerRun| (expected(run), run.expected_unpifoness_error);
    let found = |run: &SchedulerRun| (run.unpifoness_mean, run.unpifoness_mean_error);
    let mut worst: Option<(f64, &SchedulerRun, &SchedulerRun)> = None;
    for (index, better) in modelled.iter().enumerate() {
        for other in &modelled[index + 1..] {
            let gap = better.unpifoness_mean - other.unpifoness_mean;
            let is_wrong = clearly(by_model(better), by_model(other)) && clearly(found(other), found(better));
            if is_wrong && gap > worst.map_or(0.0, |(gap, ..)| gap) {
                worst = Some((gap, better, other));
            }
        }
    }
    Some(match worst {
        None => "The unpifoness that eq. 5 expects of schedulers with bounds puts them in the order in which they turn out, as far as they are apart by more than 5 % and by more than chance.".to_owned(),
        Some((_, better, other)) => {
            let (one, two) = (better.scheduler, other.scheduler);
            let (less, more) = apart(expected(better), expected(other));
            let (found, other_found) = apart(better.unpifoness_mean, other.unpifoness_mean);
            format!(
                "Eq. 5 does not tell who is better: it expects an unpifoness of {less} of {one} and {more} of {two}, and what happens is {found} and {other_found} per packet; it knows neither what waits nor what is dropped."
            )
        }
    })
}

/// Whom drops hit: the share of them that falls on the more urgent half of the packets.
fn on_drops(runs: &[SchedulerRun]) -> Option<String> {
    let parts: Vec<String> = [
        SchedulerName::Fifo,
        SchedulerName::SpPifo,
        SchedulerName::Aifo,
        SchedulerName::Packs,
        SchedulerName::Pifo,
    ]
    .into_iter()
    .filter_map(|scheduler| find(runs, scheduler))
    .filter(|run| run.drops >= TELLING)
    .filter_map(|run| Some(format!("{} under {}", Percent(urgent_drops(run)?), run.scheduler)))
    .collect();
    if parts.is_empty() {
        return None;
    }
    Some(format!("Of the drops, these shares hit the more urgent half of the packets: {}.", join(&parts)))
}

/// The share of the drops in the ranks that together are half of the arrivals; none without ranks.
fn urgent_drops(run: &SchedulerRun) -> Option<f64> {
    let mut left = run.arrivals as f64 / 2.0;
    let mut drops = 0.0;
    for rank in &run.by_rank {
        let share = if rank.arrivals == 0 { 1.0 } else { (left / rank.arrivals as f64).min(1.0) };
        drops += share * rank.drops as f64;
        left = (left - rank.arrivals as f64).max(0.0);
    }
    (!run.by_rank.is_empty()).then_some(drops / run.drops.max(1) as f64)
}

/// Whether something was not compared because there is too little of it.
fn has_too_few(found: &Inversions) -> bool {
    let misses = |runs: &[SchedulerRun]| {
        let Some(sp_pifo) = find(runs, SchedulerName::SpPifo) else { return false };
        let others = KNOWING.iter().map(|(scheduler, ..)| *scheduler).chain([SchedulerName::Fifo]);
        let mut others = others.filter_map(|scheduler| find(runs, scheduler));
        others.any(|other| times(sp_pifo, other).is_none())
    };
    misses(&found.schedulers) || found.variations.iter().any(|variation| misses(&variation.schedulers))
}

#[cfg(test)]
#[path = "inversions_tests.rs"]
pub(super) mod tests;
