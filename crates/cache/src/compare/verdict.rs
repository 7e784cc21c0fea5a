//! The verdict of `cache compare`: who is fooled by the hit rate, and by how much.

use trueplane_study::prose::command;
use trueplane_study::rounded::Toward;
use trueplane_units::Percent;

use super::found::Found;
use super::options::Options;
use crate::fetch_time::FetchTime;
use crate::grid::ranking::{Choice, SAME, by_latency, choice, misordered};
use crate::grid::{Point, PolicyRun};
use crate::policy::PolicyName;

/// The most important sentence first.
pub(super) fn verdict(found: &Found) -> Vec<String> {
    if let [point] = found.grid.points.as_slice() {
        let mut sentences = on_point(&point.policies, point.is_coarse);
        sentences.extend(on_distance(point));
        return sentences;
    }
    let points: Vec<(String, &Point)> =
        found.grid.points.iter().map(|point| (found.grid.name(point), point)).collect();
    let mut sentences = on_grid(&points);
    sentences.extend(on_distances(&points));
    sentences
}

/// Sentence about the distance of the policies at one point from its bound.
fn on_distance(point: &Point) -> Option<String> {
    let best = *by_latency(&point.policies).first()?;
    Some(format!("The best policy that can be deployed, {}, is {}.", best.policy, best.distance()?))
}

/// Sentence about the distance of the policies from the bounds at the points of a grid.
fn on_distances(points: &[(String, &Point)]) -> Option<String> {
    let best = |point: &Point| by_latency(&point.policies).first()?.above_optimum;
    let distances: Vec<f64> = points.iter().filter_map(|(_, point)| best(point)).collect();
    let near = distances.iter().copied().min_by(f64::total_cmp)?;
    let far = distances.iter().copied().max_by(f64::total_cmp)?;
    Some(format!(
        "The best policy that can be deployed is at most {} to {} above the optimum, depending on the point.",
        Toward::Up.percent(near),
        Toward::Up.percent(far),
    ))
}

/// The verdict on one point of the grid, the most important sentence first. Where timestamps are too coarse for the
/// latency (`is_coarse`), equal numbers prove nothing.
fn on_point(policies: &[PolicyRun], is_coarse: bool) -> Vec<String> {
    if is_coarse && policies.len() > 1 {
        return vec![
            "The timestamps are too coarse for these fetches: which policy is best cannot be told."
                .to_owned(),
        ];
    }
    let mut sentences = Vec::new();
    if let Some(choice) = choice(policies) {
        sentences.push(on_choice(&choice, policies));
    }
    let (wrong, pairs) = misordered(policies);
    if wrong > 0 {
        sentences.push(format!(
            "Of {pairs} pairs of policies with different hit rates and latencies, hit rate puts {wrong} in the wrong order."
        ));
    }
    let waiting = || policies.iter().filter(|run| run.latency_total > 0);
    let order =
        |a: &&PolicyRun, b: &&PolicyRun| a.classical_underestimate.total_cmp(&b.classical_underestimate);
    if let (Some(least), Some(most)) = (waiting().min_by(order), waiting().max_by(order)) {
        let gap = |run: &PolicyRun| format!("{} ({})", off(run.classical_underestimate), run.policy);
        let (low, high) = (least.classical_underestimate, most.classical_underestimate);
        sentences.push(if low == 0.0 && high == 0.0 && is_coarse {
            "These timestamps are too coarse to tell whether the classical model is right.".to_owned()
        } else if low == 0.0 && high == 0.0 {
            "The classical model predicts every mean latency exactly.".to_owned()
        } else if low == high {
            format!("The mean latency that the classical model predicts is {}.", gap(most))
        } else {
            format!(
                "The mean latency that the classical model predicts is from {} to {}.",
                gap(most),
                gap(least)
            )
        });
    }
    sentences
}

fn on_choice(choice: &Choice<'_>, policies: &[PolicyRun]) -> String {
    let (picked, best) = (choice.picked(), choice.best);
    let equal = |run: &PolicyRun| run.policy.properties().offline || run.latency_total == best.latency_total;
    if policies.iter().all(equal) {
        return "All policies that can be deployed make requests wait equally long here.".to_owned();
    }
    let (pick, longer, least) = (picked.policy, Percent(choice.loss(picked)), best.policy);
    if choice.is_near() {
        return format!(
            "Hit rate is good enough here: requests under its pick, {pick}, wait {longer} longer on average than under the best, {least}."
        );
    }
    if choice.is_wrong() {
        return format!(
            "Hit rate picks the wrong policy: {pick} looks best, but its requests wait {longer} longer on average than under {least}."
        );
    }
    match choice.worst_favourite() {
        Some(worst) => format!(
            "Hit rate cannot tell {} from {}, but requests wait {} longer on average under {}.",
            best.policy,
            worst.policy,
            Percent(choice.loss(worst)),
            worst.policy
        ),
        None => format!(
            "Hit rate picks the right policy here: {} has the lowest refined latency, too.",
            picked.policy
        ),
    }
}

/// The verdict on a grid of several points, each with a name.
fn on_grid(points: &[(String, &Point)]) -> Vec<String> {
    let choices: Vec<(&str, Choice<'_>)> =
        points.iter().filter_map(|(name, point)| Some((name.as_str(), choice(&point.policies)?))).collect();
    let wrong = choices.iter().filter(|(_, choice)| choice.is_wrong() && !choice.is_near()).count();
    let loss = |choice: &Choice<'_>| choice.loss(choice.picked());
    let worst = choices.iter().max_by(|(_, a), (_, b)| loss(a).total_cmp(&loss(b)));
    let mut sentences = Vec::new();
    match worst {
        Some((name, choice)) if wrong > 0 => sentences.push(format!(
            "Hit rate picks the wrong policy at {wrong} of {} points; at worst, at {name}, requests under its pick {} wait {} longer on average than under {}.",
            choices.len(),
            choice.picked().policy,
            Percent(loss(choice)),
            choice.best.policy
        )),
        Some((_, choice)) if choice.is_near() => sentences.push(format!(
            "Hit rate is good enough at all {} points: requests under its pick wait at most {} longer on average than under the best policy.",
            choices.len(),
            Percent(loss(choice))
        )),
        Some(_) if !choices.iter().any(|(_, choice)| choice.worst_favourite().is_some()) => {
            sentences.push(format!("Hit rate picks the right policy at all {} points.", choices.len()));
        }
        _ => {}
    }
    sentences.extend(on_ties(&choices));
    let gaps =
        points.iter().flat_map(|(name, point)| point.policies.iter().map(move |policy| (name, policy)));
    let gaps: Vec<_> = gaps.filter(|(_, policy)| policy.latency_total > 0).collect();
    let size = |policy: &PolicyRun| policy.classical_underestimate.abs();
    let most = gaps.iter().max_by(|a, b| size(a.1).total_cmp(&size(b.1)));
    if let Some((name, policy)) = most.filter(|(_, policy)| size(policy) > 0.0) {
        sentences.push(format!(
            "The classical model errs most at {name}, where the mean latency that it predicts for {} is {}.",
            policy.policy,
            off(policy.classical_underestimate)
        ));
    }
    sentences
}

/// Sentence about the points where the hit rate ties the best policy with another.
fn on_ties(choices: &[(&str, Choice<'_>)]) -> Option<String> {
    let undecided = choices.iter().filter(|(_, choice)| !choice.is_wrong());
    let undecided: Vec<(&str, &Choice<'_>, &PolicyRun)> =
        undecided.filter_map(|(name, choice)| Some((*name, choice, choice.worst_favourite()?))).collect();
    let (_, choice, favourite) = undecided
        .iter()
        .filter(|(_, choice, run)| choice.loss(run) >= SAME)
        .max_by(|a, b| a.1.loss(a.2).total_cmp(&b.1.loss(b.2)))?;
    Some(format!(
        "Hit rate cannot tell the best policy from another, under which requests wait up to {} longer, at {} of {} points.",
        Percent(choice.loss(favourite)),
        undecided.len(),
        choices.len()
    ))
}

/// `37.1% too low`, for a prediction that falls short of the truth by this share of it.
fn off(underestimate: f64) -> String {
    let direction = if underestimate < 0.0 { "high" } else { "low" };
    format!("{} too {direction}", Percent(underestimate.abs()))
}

/// The choice at a point that says which policy to deploy; none where timestamps are too coarse to tell, and where requests wait equally
/// long under all policies.
pub(super) fn telling(point: &Point) -> Option<Choice<'_>> {
    let choice = choice(&point.policies).filter(|_| !point.is_coarse)?;
    let differs = |run: &&PolicyRun| run.latency_total > choice.best.latency_total;
    by_latency(&point.policies).iter().any(differs).then_some(choice)
}

/// Finer times, and the command that compares policies without them: in steps of the mean time between requests.
fn on_coarse(options: &Options, found: &Found) -> String {
    let finer = "Log times that are finer than a fetch (in nginx by $msec)";
    let latencies = options.latency.iter().flat_map(|times| times.iter());
    let constant = |time: &FetchTime| match time {
        FetchTime::Time(time) => Some(*time),
        _ => None,
    };
    let shortest = latencies.filter_map(constant).min();
    let mean = found.grid.trace.summary.mean_interarrival();
    let (Some(latency), Some(mean), false) = (shortest, mean, options.source.is_stdin()) else {
        return format!("{finer}.");
    };
    let steps = (latency.0 as f64 / mean).round().max(1.0);
    let name = options.source.trace.to_string_lossy();
    let latency = format!("{steps}steps");
    let words = ["trueplane", "cache", "compare", &*name, "--time", "slotted", "--latency", &latency];
    let command = command(&words, &options.source.reading);
    format!("{finer}. Until then, in steps of the mean time between requests: {command}")
}

/// The policy to deploy.
pub(super) fn advice(options: &Options, found: &Found) -> String {
    if found.grid.points.iter().all(|point| point.is_coarse) {
        return on_coarse(options, found);
    }
    if let [point] = found.grid.points.as_slice() {
        return match telling(point) {
            Some(choice) if choice.is_near() => {
                format!(
                    "Deploy {} or {}: it makes no difference that you would see.",
                    choice.picked().policy,
                    choice.best.policy
                )
            }
            Some(choice) if choice.is_wrong() => {
                format!("Deploy {} instead of {}.", choice.best.policy, choice.picked().policy)
            }
            Some(choice) => format!("Deploy {}.", choice.best.policy),
            None => String::new(),
        };
    }
    let choices = found.grid.points.iter().filter_map(telling);
    let mut bests: Vec<PolicyName> = choices.map(|choice| choice.best.policy).collect();
    bests.sort_unstable();
    let count = |policy: PolicyName| bests.iter().filter(|best| **best == policy).count();
    // Of equals the first.
    let most = bests.iter().rev().copied().max_by_key(|policy| count(*policy));
    most.map_or_else(String::new, |most| match count(most) {
        all if all == bests.len() => {
            format!("Deploy {most}, the best at all {all} points that tell policies apart.")
        }
        some => format!(
            "Deploy {most}, the best at {some} of {} points, or the best at the point that is yours.",
            bests.len()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueplane_units::Nanos;

    use crate::capacity::Capacity;
    use crate::latency::Latency;

    fn policy(policy: PolicyName, classical_hits: u64, latency_total: u128) -> PolicyRun {
        let mean = latency_total as f64 / 100.0;
        let predicted = (100 - classical_hits) as f64;
        PolicyRun {
            policy,
            requests: 100,
            hits: 0,
            delayed_hits: 0,
            misses: 0,
            latency_total,
            latency_mean: mean,
            latency_p50: 0,
            latency_p99: 0,
            latency_p999: 0,
            classical_hits,
            classical_hit_rate: classical_hits as f64 / 100.0,
            classical_latency_mean: predicted,
            classical_underestimate: 1.0 - predicted / mean,
            above_optimum: None,
            above_optimum_at_least: None,
            cdf: Vec::new(),
        }
    }

    fn point(policies: Vec<PolicyRun>) -> Point {
        Point {
            latency: Latency::Constant(Nanos(100)),
            capacity: 1,
            by_bytes: false,
            asked: Capacity::Objects(1),
            is_coarse: false,
            bounds: None,
            policies,
        }
    }

    fn fooled() -> Vec<PolicyRun> {
        vec![
            policy(PolicyName::Lru, 40, 8_000),
            policy(PolicyName::Lfu, 50, 10_000),
            policy(PolicyName::Belady, 90, 4_000),
            policy(PolicyName::Random, 10, 8_100),
        ]
    }

    #[test]
    fn the_verdict_names_the_wrong_pick_and_its_price() {
        assert_eq!(
            on_point(&fooled(), false),
            [
                "Hit rate picks the wrong policy: lfu looks best, but its requests wait 25.0% longer on average than under lru.",
                "Of 3 pairs of policies with different hit rates and latencies, hit rate puts 2 in the wrong order.",
                "The mean latency that the classical model predicts is from 75.0% too low (belady) to 11.1% too high (random).",
            ]
        );
    }

    #[test]
    fn a_pick_that_costs_next_to_nothing_is_good_enough() {
        let policies = [policy(PolicyName::Lru, 40, 10_000), policy(PolicyName::Lfu, 50, 10_044)];
        assert_eq!(
            on_point(&policies, false)[0],
            "Hit rate is good enough here: requests under its pick, lfu, wait 0.44% longer on average than under the best, lru."
        );
        let near = point(policies.to_vec());
        assert_eq!(
            on_grid(&[("1ms".to_owned(), &near), ("2ms".to_owned(), &near)])[0],
            "Hit rate is good enough at all 2 points: requests under its pick wait at most 0.44% longer on average than under the best policy."
        );
    }

    #[test]
    fn a_tie_in_latency_is_no_wrong_pick() {
        let policies = [
            policy(PolicyName::Lru, 40, 8_000),
            policy(PolicyName::Lfu, 50, 8_000),
            policy(PolicyName::Random, 10, 9_000),
        ];
        assert!(on_point(&policies, false)[0].starts_with("Hit rate picks the right policy here: lfu"));
        assert_eq!(misordered(&policies), (0, 2));
    }

    #[test]
    fn the_order_of_the_policies_does_not_matter() {
        let (lru, mad) = (policy(PolicyName::Lru, 50, 10_000), policy(PolicyName::LruMad, 50, 8_000));
        let expected =
            "Hit rate cannot tell lru-mad from lru, but requests wait 25.0% longer on average under lru.";
        assert_eq!(on_point(&[lru.clone(), mad.clone()], false)[0], expected);
        assert_eq!(on_point(&[mad, lru], false)[0], expected);
    }

    #[test]
    fn where_nothing_differs_nobody_is_right_or_wrong() {
        let equal = [policy(PolicyName::Lru, 20, 8_000), policy(PolicyName::Lfu, 20, 8_000)];
        assert_eq!(
            on_point(&equal, false),
            [
                "All policies that can be deployed make requests wait equally long here.",
                "The classical model predicts every mean latency exactly."
            ]
        );
        assert_eq!(
            on_point(&equal, true),
            ["The timestamps are too coarse for these fetches: which policy is best cannot be told."]
        );
        assert_eq!(
            on_point(&equal[..1], true),
            ["These timestamps are too coarse to tell whether the classical model is right."]
        );
    }

    #[test]
    fn a_policy_alone_is_compared_with_nobody() {
        let alone = [policy(PolicyName::Lru, 40, 8_000)];
        assert_eq!(
            on_point(&alone, false),
            ["The mean latency that the classical model predicts is 25.0% too low (lru)."]
        );
    }

    #[test]
    fn a_grid_is_summed_up_by_its_worst_points() {
        let honest = point(vec![policy(PolicyName::Lru, 50, 5_000), policy(PolicyName::Lfu, 40, 6_000)]);
        let fooled = point(fooled());
        assert_eq!(
            on_grid(&[("1ms".to_owned(), &honest), ("9ms".to_owned(), &fooled)]),
            [
                "Hit rate picks the wrong policy at 1 of 2 points; at worst, at 9ms, requests under its pick lfu wait 25.0% longer on average than under lru.",
                "The classical model errs most at 9ms, where the mean latency that it predicts for belady is 75.0% too low.",
            ]
        );
        let tied = point(vec![policy(PolicyName::Lru, 50, 10_000), policy(PolicyName::LruMad, 50, 8_000)]);
        assert_eq!(
            on_grid(&[("1ms".to_owned(), &honest), ("9ms".to_owned(), &tied)])[0],
            "Hit rate cannot tell the best policy from another, under which requests wait up to 25.0% longer, at 1 of 2 points."
        );
        let twice = [("1ms".to_owned(), &honest), ("2ms".to_owned(), &honest)];
        assert_eq!(on_grid(&twice)[0], "Hit rate picks the right policy at all 2 points.");
    }
}
