//! What changes if one thing does.

use trueplane_study::prose::join;
use trueplane_units::Percent;

use super::super::document::{Inversions, SchedulerRun, find};
use super::{Times, digits, times};
use crate::policy::SchedulerName;

/// How many times SP-PIFO's inversions a FIFO's are, by everything that was varied, and what other ways to push down change.
pub(super) fn on_variations(found: &Inversions) -> Vec<String> {
    let of = &found.parameters;
    let mut sentences = Vec::new();
    for (varied, by, with, base) in [
        ("queues", "By the number of queues", "on", of.queues.to_string()),
        ("load", "By load", "at", of.load.to_string()),
        ("ranks", "By ranks", "with", of.ranks.clone()),
    ] {
        let others = found.varied(varied).map(|other| (other.value.clone(), other.schedulers.as_slice()));
        let all: Vec<(String, &[SchedulerRun])> =
            std::iter::once((base, found.schedulers.as_slice())).chain(others).collect();
        if all.len() > 1 {
            sentences.extend(by_factor(by, with, &all));
        }
    }
    sentences.extend(on_push_down(found, SchedulerName::SpPifo, "SP-PIFO's inversions"));
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
        format!("; SP-PIFO is worse than a FIFO {}", join(&worse))
    };
    Some(format!("{by}, a FIFO's inversions are so many times SP-PIFO's: {}{worse}.", join(&told)))
}

fn on_push_down(found: &Inversions, scheduler: SchedulerName, whose: &str) -> Option<String> {
    let base = found.run(scheduler)?;
    let parts: Vec<String> = (found.varied("push-down"))
        .filter_map(|variation| {
            let run = find(&variation.schedulers, scheduler)?;
            let times = times(run, base)?;
            Some(if times.is_equal() {
                format!("hardly with {}", variation.value)
            } else {
                format!("by {:+} with {}", Percent(times.ratio - 1.0), variation.value)
            })
        })
        .collect();
    if parts.is_empty() {
        return None;
    }
    Some(format!(
        "Compared with pushing down by {}, {whose} change {}.",
        found.parameters.push_down,
        join(&parts)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::super::document::Variation;
    use super::super::inversions::tests::{found, run};
    use super::*;

    fn variation(varied: &'static str, value: &str, schedulers: &[(&'static str, u64)]) -> Variation {
        Variation {
            varied,
            value: value.to_owned(),
            rate_bps: 1,
            offered_load: None,
            schedulers: schedulers.iter().map(|&(name, inversions)| run(name, inversions)).collect(),
        }
    }

    #[test]
    fn factors_begin_with_the_base_and_name_what_is_worse() {
        let mut found = found(&[("fifo", 40_000), ("sp-pifo", 10_000)]);
        assert_eq!(on_variations(&found), Vec::<String>::new());
        found.variations = vec![
            variation("queues", "16", &[("fifo", 40_000), ("sp-pifo", 5_000)]),
            variation("queues", "32", &[("fifo", 40_000), ("sp-pifo", 999)]),
            variation("load", "1.1", &[("fifo", 90_000), ("sp-pifo", 30_000)]),
            variation("load", "0.1", &[("fifo", 10), ("sp-pifo", 1)]),
            variation("ranks", "pfabric", &[("fifo", 9_600), ("sp-pifo", 10_000)]),
            variation("ranks", "stfq", &[("fifo", 9_900), ("sp-pifo", 10_000)]),
            variation("push-down", "rank", &[("sp-pifo", 11_000)]),
            variation("push-down", "one", &[("sp-pifo", 900)]),
        ];
        found.schedulers.push(run("sp-pifo-arrivals", 20_000));
        found.variations[6].schedulers.push(run("sp-pifo-arrivals", 30_000));
        assert_eq!(
            on_variations(&found),
            [
                "By the number of queues, a FIFO's inversions are so many times SP-PIFO's: 4 on 8 and 8 on 16.",
                "By load, a FIFO's inversions are so many times SP-PIFO's: 4 at 0.9 and 3 at 1.1.",
                "By ranks, a FIFO's inversions are so many times SP-PIFO's: 4 with uniform:100, 0.96 with pfabric and 0.99 with stfq; SP-PIFO is worse than a FIFO with pfabric.",
                "Compared with pushing down by cost, SP-PIFO's inversions change by +10.0 % with rank.",
                "Compared with pushing down by cost, the inversions of sp-pifo-arrivals change by +50.0 % with rank.",
            ]
        );
    }
}
