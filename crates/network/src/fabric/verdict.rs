//! The verdict of `sched fabric`.

use trueplane_study::prose::join;
use trueplane_units::{Nanos, digits};

use super::found::{AtLoad, Found, SystemRun};
use super::options::Options;
use super::system::{RankName, SystemName};

/// Ratios that are no further from 1 are called equal.
const EQUAL: f64 = 0.02;

/// The most important sentence first.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let Some(busiest) = found.busiest() else { return Vec::new() };
    let mut sentences = Vec::new();
    sentences.extend(on_unfinished(busiest));
    sentences.extend(on_small(busiest));
    sentences.extend(on_formula(busiest));
    sentences.extend(on_exactness(found));
    sentences.extend(on_large(busiest));
    if sentences.is_empty() {
        sentences
            .push("No flow is below 100 kB or has 1 MB or more: there is nothing to compare.".to_owned());
    }
    sentences
}

fn shown(nanos: f64) -> String {
    Nanos(nanos.round() as u64).to_string()
}

/// Says one mean after the other, the smallest first.
fn in_order(busiest: &AtLoad, mean: impl Fn(&SystemRun) -> Option<f64>) -> Vec<String> {
    let mut means: Vec<(f64, SystemName)> =
        busiest.systems.iter().filter_map(|run| Some((mean(run)?, run.system))).collect();
    means.sort_by(|one, other| one.0.total_cmp(&other.0));
    means.iter().map(|(mean, system)| format!("{} under {system}", shown(*mean))).collect()
}

/// Sentence on flows that have not ended, whose times are in no mean.
fn on_unfinished(busiest: &AtLoad) -> Option<String> {
    let unfinished = busiest.systems.iter().filter(|run| run.unfinished > 0);
    let parts: Vec<String> =
        unfinished.map(|run| format!("{} under {}", run.unfinished, run.system)).collect();
    let load = digits(busiest.offered.load, 3);
    (!parts.is_empty()).then(|| {
        format!(
            "At a load of {load}, flows that never end are {} of {}: they are in no mean below.",
            join(&parts),
            busiest.flows
        )
    })
}

fn on_small(busiest: &AtLoad) -> Option<String> {
    let parts = in_order(busiest, |run| run.small.mean_ns());
    let load = digits(busiest.offered.load, 3);
    (!parts.is_empty())
        .then(|| format!("At a load of {load}, flows below 100 kB take {} on average.", join(&parts)))
}

/// Sentence on the system that is furthest from its formula.
fn on_formula(busiest: &AtLoad) -> Option<String> {
    let ratio = |run: &SystemRun| Some(run.small.mean_ns()? / run.small.classical_ns?);
    let all = busiest.systems.iter().filter_map(|run| Some((ratio(run)?, run)));
    let (ratio, run) = all.max_by(|one, other| one.0.ln().abs().total_cmp(&other.0.ln().abs()))?;
    let classical = shown(run.small.classical_ns?);
    let system = run.system;
    let load = digits(busiest.offered.load, 3);
    if (ratio - 1.0).abs() <= EQUAL {
        return Some(format!("The formula for one link is right about all of them at a load of {load}."));
    }
    let (times, what) = if ratio > 1.0 { (ratio, "long") } else { (1.0 / ratio, "short") };
    Some(format!(
        "The formula for one link says {classical} for {system}: the time is {} times as {what}.",
        digits(times, 3)
    ))
}

/// Sentence on SP-PIFO against a PIFO, over all loads.
fn on_exactness(found: &Found) -> Option<String> {
    let ratio = |load: &AtLoad| {
        let (sp_pifo, pifo) = (load.run(SystemName::SpPifo)?, load.run(SystemName::Pifo)?);
        Some(sp_pifo.small.mean_ns()? / pifo.small.mean_ns()?)
    };
    let ratios: Vec<f64> = found.loads.iter().filter_map(ratio).collect();
    let least = ratios.iter().copied().reduce(f64::min)?;
    let most = ratios.iter().copied().reduce(f64::max)?;
    let (least, most) = (digits(least, 3), digits(most, 3));
    let range = if least == most { least } else { format!("{least} to {most}") };
    let over = if ratios.len() > 1 { "Over all loads, the" } else { "The" };
    Some(format!("{over} mean of flows below 100 kB under sp-pifo is {range} times that under pifo."))
}

fn on_large(busiest: &AtLoad) -> Option<String> {
    let parts = in_order(busiest, |run| run.large.mean_ns());
    (!parts.is_empty()).then(|| format!("Flows of 1 MB and more take {}.", join(&parts)))
}

/// The system under which small flows are fastest, of those that need no exact order. None if another one is about as fast.
pub(super) fn best(load: &AtLoad) -> Option<SystemName> {
    let deployable = || load.systems.iter().filter(|run| !run.system.needs_exact_order());
    // Means of other flows cannot be compared.
    let unfinished = load.systems.first()?.unfinished;
    if deployable().count() < 2 || deployable().any(|run| run.unfinished != unfinished) {
        return None;
    }
    let mean = |run: &&SystemRun| run.small.mean_ns().unwrap_or(f64::INFINITY);
    let best = deployable().min_by(|one, other| mean(one).total_cmp(&mean(other)))?;
    let others = deployable().filter(|run| run.system != best.system).map(|run| mean(&run));
    let next = others.fold(f64::INFINITY, f64::min);
    (mean(&best) * (1.0 + EQUAL) < next).then_some(best.system)
}

/// The system to deploy, in words.
pub(super) fn advice(options: &Options, found: &Found) -> String {
    let Some(busiest) = found.busiest() else { return String::new() };
    let Some(best) = best(busiest) else { return String::new() };
    let goal = match options.rank {
        RankName::PFabric => "small flows finish first",
        RankName::Stfq => "flows below 100 kB, which suffer most from unfair shares, finish first",
        RankName::Lstf | RankName::FifoPlus | RankName::Edf => "flows below 100 kB finish first",
    };
    format!(
        "Deploy {best}: of the policies that need no exact order, it is the one under which {goal} at a load of {}.",
        digits(busiest.offered.load, 3)
    )
}
