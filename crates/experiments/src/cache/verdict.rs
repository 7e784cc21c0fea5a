//! The verdict of `cache experiment`: whether MAD makes requests wait less, how far off the predictions are, and how others compare.

use trueplane_study::prose::join;
use trueplane_study::rounded::Toward;
use trueplane_units::{Nanos, Percent};

use super::found::{CacheName, Found, Run};
use super::options::OriginName;

/// Means that differ by less are called equal.
const SAME: f64 = 0.01;
/// A policy that saves less is not worth a change.
const WORTH: f64 = 0.02;

/// The most important sentence first.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    let sentences = [on_mad(found), on_simulation(found), on_hit_rate(found), on_rivals(found)];
    sentences.into_iter().flatten().collect()
}

/// The policy to serve with, if it is the same before all origins, and the measurement can be trusted.
pub(super) fn advice(found: &Found) -> String {
    if found.runs.iter().any(Run::is_far) {
        return String::new();
    }
    let origins = origins(found);
    let worth = |&origin: &OriginName| {
        let mut ours = ours(found, origin);
        ours.sort_by(|a, b| a.waits.mean().total_cmp(&b.waits.mean()));
        let [best, second, ..] = ours[..] else { return None };
        (1.0 - best.waits.mean() / second.waits.mean() >= WORTH).then_some(best.cache)
    };
    let best: Vec<Option<CacheName>> = origins.iter().map(worth).collect();
    match best.first() {
        Some(&Some(first)) if best.iter().all(|&other| other == Some(first)) => {
            format!("Give trueplane cache serve --policy {first}.")
        }
        _ => String::new(),
    }
}

/// The origins, in the order in which they were measured.
fn origins(found: &Found) -> Vec<OriginName> {
    trueplane_units::distinct(found.runs.iter().map(|run| run.origin))
}

fn ours(found: &Found, origin: OriginName) -> Vec<&Run> {
    let is_ours = |run: &&Run| run.origin == origin && matches!(run.cache, CacheName::Ours(_));
    found.runs.iter().filter(is_ours).collect()
}

fn least<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Option<&'a Run> {
    runs.into_iter().min_by(|a, b| a.waits.mean().total_cmp(&b.waits.mean()))
}

fn mean(run: &Run) -> Nanos {
    Nanos(run.waits.mean() as u64)
}

/// How much longer or less long requests wait than in another run: `24% less`.
fn compared(run: &Run, other: &Run) -> String {
    let change = run.waits.mean() / other.waits.mean() - 1.0;
    match change {
        change if change.abs() < SAME => "as long".to_owned(),
        change if change < 0.0 => format!("{} less", Percent(-change)),
        change => format!("{} longer", Percent(change)),
    }
}

fn than(run: &Run, other: &Run) -> String {
    match compared(run, other) {
        same if same == "as long" => format!("{same} as under {}", other.cache),
        words => format!("{words} than under {}", other.cache),
    }
}

/// The best policy with MAD beside the best without it, or the best policy of all.
fn on_mad(found: &Found) -> Option<String> {
    let has_mad = |run: &&&Run| match run.cache {
        CacheName::Ours(policy) => policy.properties().base.is_some(),
        CacheName::Rival(_) => false,
    };
    let pair = |origin: &OriginName| {
        let ours = ours(found, *origin);
        let with = least(ours.iter().filter(has_mad).copied())?;
        let without = least(ours.iter().filter(|run| !has_mad(run)).copied())?;
        Some((*origin, with, without))
    };
    let origins = origins(found);
    let pairs: Vec<(OriginName, &Run, &Run)> = origins.iter().filter_map(pair).collect();
    match pairs.as_slice() {
        [] => {
            let best = least(ours(found, *origins.first()?))?;
            Some(format!("Requests wait {} on average under {}.", mean(best), best.cache))
        }
        [(_, with, without)] => {
            let others = ours(found, with.origin).into_iter().filter(|run| !has_mad(&run));
            let others: Vec<&Run> = others.filter(|run| run.cache != without.cache).collect();
            let more = others.iter().map(|run| than(with, run));
            let all: Vec<String> = std::iter::once(than(with, without)).chain(more).collect();
            let few = if all.len() > 3 { &all[..1] } else { &all[..] };
            Some(format!(
                "Measured, requests wait {} on average under {}: {}.",
                mean(with),
                with.cache,
                join(few)
            ))
        }
        several => {
            let each = several
                .iter()
                .map(|(origin, with, without)| format!("{} before {origin}", compared(with, without)));
            Some(format!(
                "Measured, requests under the best policy with MAD wait, beside the best without it: {}.",
                join(&each.collect::<Vec<_>>())
            ))
        }
    }
}

/// How far the simulation is off.
fn on_simulation(found: &Found) -> Option<String> {
    let errors: Vec<f64> = found.runs.iter().filter_map(|run| Some(run.error()?.abs())).collect();
    let most = errors.iter().copied().max_by(f64::total_cmp)?;
    let each = if errors.len() == 1 { "" } else { " every time" };
    Some(format!("The measured mean is within {} of the simulated one{each}.", Toward::Up.percent(most)))
}

/// How far the prediction by hit rate is off.
fn on_hit_rate(found: &Found) -> Option<String> {
    let is_ours = |run: &&Run| matches!(run.cache, CacheName::Ours(_)) && run.waits.mean() > 0.0;
    let shares = found.runs.iter().filter(is_ours).map(|run| run.classical_mean / run.waits.mean());
    let shares: Vec<f64> = shares.collect();
    let low = shares.iter().copied().min_by(f64::total_cmp)?;
    let high = shares.iter().copied().max_by(f64::total_cmp)?;
    let range =
        if low == high { Percent(low).to_string() } else { format!("{} to {}", Percent(low), Percent(high)) };
    Some(format!("Hit rate predicts {range} of the mean that was measured."))
}

/// Other caches beside our best policy.
fn on_rivals(found: &Found) -> Option<String> {
    let [origin] = origins(found)[..] else { return None };
    let best = least(ours(found, origin))?;
    let rivals = found.runs.iter().filter(|run| matches!(run.cache, CacheName::Rival(_)));
    let each: Vec<String> = rivals.map(|run| format!("{} {}", run.cache, mean(run))).collect();
    (!each.is_empty()).then(|| {
        format!(
            "Other caches, with the memory that each can be given, beside the {} of {}: {}.",
            mean(best),
            best.cache,
            join(&each)
        )
    })
}

#[cfg(test)]
mod tests {
    use trueplane_cache::PolicyName;
    use trueplane_study::metrics::Distribution;

    use super::super::options::RivalName;
    use super::super::predict::Predicted;
    use super::*;

    fn waits(time: u64) -> Distribution {
        let mut waits = Distribution::default();
        waits.record(time * 1_000_000);
        waits
    }

    fn run(origin: OriginName, policy: PolicyName, measured: u64, refined: u64) -> Run {
        Run {
            origin,
            cache: CacheName::Ours(policy),
            classical: None,
            classical_mean: 20e6,
            refined: Some(Predicted { waits: waits(refined), ..Predicted::default() }),
            waits: waits(measured),
            rounds: Vec::new(),
        }
    }

    #[test]
    fn mad_is_told_where_it_wins_and_where_it_loses() {
        let regions = OriginName::Regions;
        let mut found = Found {
            runs: vec![
                run(regions, PolicyName::Lru, 40, 40),
                run(regions, PolicyName::S3Fifo, 32, 32),
                run(regions, PolicyName::LruMad, 30, 29),
            ],
            ..Found::default()
        };
        let rival = CacheName::Rival(RivalName::Varnish);
        found.runs.push(Run { cache: rival, refined: None, ..run(regions, PolicyName::Lru, 50, 50) });
        let expected = [
            "Measured, requests wait 30ms on average under lru-mad: 6.2% less than under s3-fifo and 25.0% less than under lru.",
            "The measured mean is within 3.5% of the simulated one every time.",
            "Hit rate predicts 50.0% to 66.7% of the mean that was measured.",
            "Other caches, with the memory that each can be given, beside the 30ms of lru-mad: varnish 50ms.",
        ];
        assert_eq!(verdict(&found), expected);
        assert_eq!(advice(&found), "Give trueplane cache serve --policy lru-mad.");
        let disturbed = Found { runs: vec![run(regions, PolicyName::Lru, 40, 30)], ..Found::default() };
        assert_eq!(advice(&disturbed), "");
        let constant = OriginName::Constant;
        found
            .runs
            .extend([run(constant, PolicyName::Lru, 20, 20), run(constant, PolicyName::LruMad, 21, 21)]);
        assert_eq!(
            verdict(&found)[0],
            "Measured, requests under the best policy with MAD wait, beside the best without it: 6.2% less before regions and 5.0% longer before constant."
        );
        assert_eq!(advice(&found), "");
    }
}
