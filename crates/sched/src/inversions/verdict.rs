//! The verdict of `sched inversions`.

use crate::policy::Order;
use trueplane_study::prose::join;
use trueplane_units::{Percent, digits};

use super::compare::{KNOWING, TELLING, Times, apart, compared, is_below, times};
use super::found::{Found, SchedulerRun, Variable, find};
use super::options::Options;
use crate::choice::Arrivals;
use crate::policy::{AdaptationName, SchedulerName};

/// The gradient is not where it should be if it is so many times as far from order as the optimum, by the model.
const ASTRAY: f64 = 1.25;

/// The most important sentence first. A report leaves out those for which it has no room: the tables say the same.
pub(super) fn verdict(options: &Options, found: &Found) -> Vec<String> {
    std::iter::once(on_belief(found).unwrap_or_else(|| on_shares(&found.schedulers)))
        .chain(on_load(options, found))
        .chain(on_bounds(found))
        .chain(on_variations(found))
        .chain(on_drops(&found.schedulers))
        .chain(on_gradient(options, found))
        .chain(on_model(&found.schedulers))
        .collect()
}

/// Sentence on the inversions of a FIFO and of SP-PIFO; none if not both were simulated.
fn on_belief(found: &Found) -> Option<String> {
    let fifo = found.run(SchedulerName::Fifo)?;
    let sp_pifo = found.run(SchedulerName::SpPifo)?;
    let queues = found.base.queues;
    let on = if queues == 1 { "one queue".to_owned() } else { format!("{queues} queues") };
    let exact = match found.run(SchedulerName::Pifo) {
        Some(pifo) if pifo.inversions == 0 => ", and under pifo none",
        _ => "",
    };
    let ratio = times(sp_pifo, fifo);
    let ratio = ratio.map_or_else(String::new, |times| {
        // What is fewer needs no "than fifo" to be understood; what is more should not be overlooked.
        let said = compared(times);
        match said.strip_suffix(" than").filter(|_| times.ratio < 1.0) {
            Some(fewer) => format!(" ({fewer})"),
            None => format!(" ({said} fifo)"),
        }
    });
    Some(format!(
        "Under fifo {} of packets leave before one of lower rank that waits, under sp-pifo on {on} {}{ratio}{exact}.",
        Percent(fifo.inversion_share),
        Percent(sp_pifo.inversion_share)
    ))
}

/// Sentence on the inversions of all runs, where there are no two to compare.
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

/// Sentence on a load of 1 or more. Rates are whole numbers, for which a load of 1 may be off by a millionth.
fn on_load(options: &Options, found: &Found) -> Option<String> {
    let load = found.base.came(options.arrivals).unwrap_or(found.base.load);
    if (load - 1.0).abs() < 1e-6 {
        return Some("A load of 1 is critical: nothing but what is dropped bounds the queue.".to_owned());
    }
    let then = if options.arrivals == Arrivals::Poisson { "" } else { ", and more if it comes in bursts" };
    (load > 1.0).then(|| {
        format!(
            "A load of {} is overloaded: whoever schedules, {} of the packets must be dropped in the long run{then}.",
            digits(load, 4),
            Percent(1.0 - 1.0 / load)
        )
    })
}

/// Sentence on SP-PIFO against the schedulers that know something of the ranks.
fn on_bounds(found: &Found) -> Option<String> {
    let sp_pifo = found.run(SchedulerName::SpPifo)?;
    let mut parts: Vec<String> = Vec::new();
    let mut last = String::new();
    for scheduler in KNOWING {
        let other = found.run(scheduler).and_then(|other| times(sp_pifo, other));
        let Some(said) = other.map(compared) else { continue };
        // What is the same of two in a row is said once.
        parts.push(if said == last { scheduler.to_string() } else { format!("{said} {scheduler}") });
        last = said;
    }
    (!parts.is_empty())
        .then(|| format!("sp-pifo knows nothing of the ranks that come; it has {}.", join(&parts)))
}

/// Sentences on the ratio of a FIFO's inversions to SP-PIFO's, by everything that was varied, and on other ways to push down.
fn on_variations(found: &Found) -> Vec<String> {
    let base = &found.base;
    let mut sentences = Vec::new();
    for (variable, by, with, value) in [
        (Variable::Queues, "By the number of queues", "on", base.queues.to_string()),
        (Variable::Load, "By load", "at", digits(base.load, 4)),
        (Variable::Ranks, "By ranks", "with", base.ranks.to_string()),
    ] {
        let others = found.varied(variable).map(|other| (other.varied.value(), other.schedulers.as_slice()));
        let all: Vec<(String, &[SchedulerRun])> =
            std::iter::once((value, found.schedulers.as_slice())).chain(others).collect();
        if all.len() > 1 {
            sentences.extend(by_factor(by, with, &all));
        }
    }
    sentences.extend(on_push_down(found, SchedulerName::SpPifo, "the inversions of sp-pifo"));
    sentences.extend(on_push_down(
        found,
        SchedulerName::SpPifoArrivals,
        "the inversions of sp-pifo-arrivals",
    ));
    sentences
}

fn by_factor(by: &str, with: &str, all: &[(String, &[SchedulerRun])]) -> Option<String> {
    let factor =
        |runs: &[SchedulerRun]| times(find(runs, SchedulerName::Fifo)?, find(runs, SchedulerName::SpPifo)?);
    let factors: Vec<(&str, Times)> =
        all.iter().filter_map(|(value, runs)| Some((value.as_str(), factor(runs)?))).collect();
    if factors.is_empty() {
        return None;
    }
    let told: Vec<String> =
        factors.iter().map(|(value, factor)| format!("{} {with} {value}", digits(factor.ratio, 3))).collect();
    let worse: Vec<String> = (factors.iter())
        .filter(|(_, factor)| factor.ratio < 1.0 && !factor.is_equal())
        .map(|(value, _)| format!("{with} {value}"))
        .collect();
    let worse = if worse.is_empty() {
        String::new()
    } else {
        format!("; sp-pifo is worse than fifo {}", join(&worse))
    };
    Some(format!("{by}, the inversions of fifo are so many times those of sp-pifo: {}{worse}.", join(&told)))
}

fn on_push_down(found: &Found, scheduler: SchedulerName, whose: &str) -> Option<String> {
    let base = found.run(scheduler)?;
    let parts: Vec<String> = (found.varied(Variable::PushDown))
        .filter_map(|variation| {
            let times = times(find(&variation.schedulers, scheduler)?, base)?;
            let value = variation.varied.value();
            Some(if times.is_equal() {
                format!("hardly with {value}")
            } else {
                format!("by {:+} with {value}", Percent(times.ratio - 1.0))
            })
        })
        .collect();
    (!parts.is_empty()).then(|| {
        let push_down = found.base.push_down;
        format!("Compared with pushing down by {push_down}, {whose} change {}.", join(&parts))
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

/// Whether the gradient's bounds are where they should be.
fn on_gradient(options: &Options, found: &Found) -> Option<String> {
    let run = found.run(SchedulerName::Gradient)?;
    let gradient = run.expected_unpifoness?;
    let optimal = found.run(SchedulerName::Optimal)?.expected_unpifoness?;
    // Of few packets it is not known how far chance moved it.
    let error = run.expected_unpifoness_error?;
    if !is_below((optimal * ASTRAY, None), (gradient, Some(error))) {
        return None;
    }
    let why = match options.adaptation {
        AdaptationName::Converge => {
            format!("windows of {} packets do not tell how often each rank comes", *options.window)
        }
        AdaptationName::OneStep => "one step after every window has not taken it there".to_owned(),
    };
    let (gradient, optimal) = apart(gradient, optimal);
    Some(format!(
        "gradient is not at the best bounds: the model expects an unpifoness of {gradient} of its own and {optimal} of the best; {why}."
    ))
}

/// Sentence on the pair that the model clearly orders the other way round, the one that is furthest apart in what happened.
fn on_model(runs: &[SchedulerRun]) -> Option<String> {
    let expected = |run: &SchedulerRun| run.expected_unpifoness.unwrap_or(f64::MAX);
    let has_both = |run: &&SchedulerRun| run.expected_unpifoness.is_some() && run.inversions >= TELLING;
    let mut modelled: Vec<&SchedulerRun> = runs.iter().filter(has_both).collect();
    modelled.sort_by(|a, b| expected(a).total_cmp(&expected(b)));
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
    let (_, better, other) = worst?;
    let (less, more) = apart(expected(better), expected(other));
    let (found, other_found) = apart(better.unpifoness_mean, other.unpifoness_mean);
    Some(format!(
        "The model does not tell who is better: it expects an unpifoness of {less} of {} and {more} of {}, and what happens is {found} and {other_found} per packet.",
        better.scheduler, other.scheduler
    ))
}

/// The scheduler with the fewest inversions of those that need no exact order, if they differ by more than chance.
pub(super) fn best(found: &Found) -> Option<&SchedulerRun> {
    let deployable =
        || found.schedulers.iter().filter(|run| run.scheduler.properties().order != Order::Exact);
    let best = deployable().min_by_key(|run| run.inversions)?;
    let worst = deployable().max_by_key(|run| run.inversions)?;
    // Of so few inversions chance decides.
    (worst.inversions >= TELLING && worst.inversions > best.inversions).then_some(best)
}

/// The scheduler to deploy, in words.
pub(super) fn advice(found: &Found) -> String {
    best(found).map_or_else(String::new, |best| {
        format!(
            "Deploy {}: of the schedulers that need no exact order, it has the fewest inversions here; it drops {} of the packets.",
            best.scheduler,
            Percent(best.drop_share)
        )
    })
}
