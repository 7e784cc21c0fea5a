//! The verdict of `cache bound`.

use trueplane_study::rounded::Toward;

use super::found::Found;
use crate::grid::PolicyRun;
use crate::grid::ranking::by_latency;
use crate::policy::PolicyName;

/// The most important sentence first.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let mut sentences = vec![on_bounds(found)];
    sentences.extend(on_policies(found));
    sentences.extend(on_classical(found));
    sentences.extend(found.burstiness.as_ref().and_then(super::burstiness::Correlation::sentence));
    sentences
}

fn on_bounds(found: &Found) -> String {
    let units = found.grid.units();
    let mean = units.bound(found.lower_mean(), Toward::Down);
    let rule = if found.scenario.bypass { "" } else { " that admits what it fetches" };
    let bounds = found.bounds();
    if bounds.lower == bounds.upper {
        return format!(
            "The optimum is known: no schedule of this cache{rule}, not even one that knows the future, has a mean latency below {mean}, and one was found that has it."
        );
    }
    let gap = Some(bounds.gap()).filter(|gap| gap.is_finite());
    let above = gap.map_or_else(String::new, |gap| format!(", at most {} more", Toward::Up.percent(gap)));
    format!(
        "No schedule of this cache{rule}, not even one that knows the future, has a mean latency below {mean}; the best found has {}{above}.",
        units.bound(found.upper_mean(), Toward::Up)
    )
}

fn on_policies(found: &Found) -> Option<String> {
    let policies = &found.point().policies;
    let online = by_latency(policies);
    let belady = policies.iter().find(|run| run.policy == PolicyName::Belady);
    let known = belady.and_then(PolicyRun::distance);
    let best = online.first().and_then(|best| Some((best.policy, best.distance()?)));
    // With objects of several sizes there may be schedules with more hits.
    let belady = if found.point().by_bytes { "Bélády" } else { "Bélády, optimal for hit rates," };
    match (best, known) {
        (Some((best, far)), Some(known)) => {
            Some(format!("The best policy that can be deployed here, {best}, is {far}; {belady} is {known}."))
        }
        (Some((best, far)), None) => {
            Some(format!("The best policy that can be deployed here, {best}, is {far}."))
        }
        (None, Some(known)) => Some(format!("{belady} is {known}.")),
        (None, None) => None,
    }
}

/// Sentence about latencies that the classical model predicts and no schedule can reach.
fn on_classical(found: &Found) -> Option<String> {
    let order =
        |a: &&PolicyRun, b: &&PolicyRun| a.classical_latency_mean.total_cmp(&b.classical_latency_mean);
    let promised = found.point().policies.iter().min_by(order)?;
    let lower = found.lower_mean();
    let short = 1.0 - promised.classical_latency_mean / lower;
    // Less than is printed is nothing to speak of.
    (lower > 0.0 && short >= 1e-4).then(|| {
        format!(
            "The classical model promises a mean of {} under {}, at least {} less than any schedule can reach.",
            found.grid.units().mean(promised.classical_latency_mean),
            promised.policy,
            Toward::Down.percent(short)
        )
    })
}

/// Whether a better policy is worth looking for.
pub(super) fn advice(found: &Found) -> String {
    /// A policy that is at most so far above the optimum is good enough.
    const NEAR: f64 = 0.05;
    let policies = by_latency(&found.point().policies);
    let Some((policy, above)) = policies.first().and_then(|best| Some((best.policy, best.above_optimum?)))
    else {
        return String::new();
    };
    let above_in_words = Toward::Up.percent(above);
    match above <= NEAR {
        true => {
            format!("Keep {policy}: it is at most {above_in_words} above what any cache of this size can do.")
        }
        false => format!(
            "Deploy {policy}; a better policy, or a larger cache, may still gain: it is up to {above_in_words} above the optimum."
        ),
    }
}
