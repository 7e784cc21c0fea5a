//! Who is fooled by the hit rate, and by how much: rankings and plain sentences.

use trueplane_units::Percent;

use crate::compare::found::{PolicyRun, Run};

/// The policies that an operator can deploy, best first by what the classical model sees: the hit rate. Equal ones in the
/// order of the options.
pub fn by_hit_rate(policies: &[PolicyRun]) -> Vec<&PolicyRun> {
    let mut ranking: Vec<&PolicyRun> = policies.iter().filter(|run| !run.offline).collect();
    ranking.sort_by_key(|run| std::cmp::Reverse(run.classical_hits));
    ranking
}

/// The policies that an operator can deploy, best first by true latency.
pub fn by_latency(policies: &[PolicyRun]) -> Vec<&PolicyRun> {
    let mut ranking: Vec<&PolicyRun> = policies.iter().filter(|run| !run.offline).collect();
    ranking.sort_by_key(|run| run.latency_total);
    ranking
}

/// What choosing by hit rate comes to.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    /// The policies with the highest classical hit rate, the one with the lowest true latency first: between them the hit
    /// rate cannot choose.
    pub favourites: Vec<&'a PolicyRun>,
    /// The policy with the lowest true latency.
    pub best: &'a PolicyRun,
}

impl Choice<'_> {
    /// How much longer requests wait on average under `run` than under the best.
    pub fn loss(&self, run: &PolicyRun) -> f64 {
        if self.best.latency_mean > 0.0 { run.latency_mean / self.best.latency_mean - 1.0 } else { 0.0 }
    }

    /// The best that choosing by hit rate can come to.
    pub fn picked(&self) -> &PolicyRun {
        self.favourites[0]
    }

    /// Whether even that is not the best.
    pub fn is_wrong(&self) -> bool {
        self.picked().latency_total > self.best.latency_total
    }

    /// The favourite under which requests wait longest, if longer than under the best.
    fn worst_favourite(&self) -> Option<&PolicyRun> {
        self.favourites.last().copied().filter(|run| run.latency_total > self.best.latency_total)
    }
}

/// What choosing by hit rate comes to; `None` with fewer than two policies to choose from.
///
/// Does not depend on the order of the policies, but for those that are equal in both respects.
pub fn choice(policies: &[PolicyRun]) -> Option<Choice<'_>> {
    let by_latency = by_latency(policies);
    let [best, _, ..] = by_latency[..] else { return None };
    let most = by_latency.iter().map(|run| run.classical_hits).max()?;
    let favourites = by_latency.iter().copied().filter(|run| run.classical_hits == most).collect();
    Some(Choice { favourites, best })
}

/// How many pairs of deployable policies the hit rate puts in the wrong order, and how many pairs there are (thesis
/// figure 2.4). Pairs that tie in either respect are in no order.
pub fn misordered(policies: &[PolicyRun]) -> (usize, usize) {
    let online: Vec<&PolicyRun> = policies.iter().filter(|run| !run.offline).collect();
    let (mut wrong, mut pairs) = (0, 0);
    for (i, a) in online.iter().enumerate() {
        for b in &online[i + 1..] {
            let by_hits = b.classical_hits.cmp(&a.classical_hits);
            let by_latency = a.latency_total.cmp(&b.latency_total);
            if by_hits.is_ne() && by_latency.is_ne() {
                pairs += 1;
                wrong += usize::from(by_hits != by_latency);
            }
        }
    }
    (wrong, pairs)
}

/// The verdict on one point of the grid, the most important sentence first. Where timestamps are too coarse for the
/// latency (`is_coarse`), equal numbers prove nothing.
pub fn on_run(policies: &[PolicyRun], is_coarse: bool) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(choice) = choice(policies) {
        sentences.push(on_choice(&choice, policies));
    }
    let (wrong, pairs) = misordered(policies);
    if wrong > 0 {
        sentences.push(format!("Hit rate puts {wrong} of {pairs} pairs of policies in the wrong order."));
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
    let equal = |run: &PolicyRun| run.offline || run.latency_total == best.latency_total;
    if policies.iter().all(equal) {
        return "All policies that can be deployed make requests wait equally long here.".to_owned();
    }
    if choice.is_wrong() {
        return format!(
            "Hit rate picks the wrong policy: {} looks best, but its requests wait {} longer on average than under {}.",
            picked.policy,
            Percent(choice.loss(picked)),
            best.policy
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
            "Hit rate picks the right policy here: {} has the lowest true latency too.",
            picked.policy
        ),
    }
}

/// The verdict on a grid of several points, each with a name.
pub fn on_grid(runs: &[(String, &Run)]) -> Vec<String> {
    let choices: Vec<(&str, Choice<'_>)> =
        runs.iter().filter_map(|(name, run)| Some((name.as_str(), choice(&run.policies)?))).collect();
    let wrong = choices.iter().filter(|(_, choice)| choice.is_wrong()).count();
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
        Some(_) if !choices.iter().any(|(_, choice)| choice.worst_favourite().is_some()) => {
            sentences.push(format!("Hit rate picks the right policy at all {} points.", choices.len()));
        }
        _ => {}
    }
    sentences.extend(on_ties(&choices));
    let gaps = runs.iter().flat_map(|(name, run)| run.policies.iter().map(move |policy| (name, policy)));
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

/// Where the hit rate picks the best policy and another, and cannot tell them apart.
fn on_ties(choices: &[(&str, Choice<'_>)]) -> Option<String> {
    let undecided = choices.iter().filter(|(_, choice)| !choice.is_wrong());
    let undecided: Vec<(&str, &Choice<'_>, &PolicyRun)> =
        undecided.filter_map(|(name, choice)| Some((*name, choice, choice.worst_favourite()?))).collect();
    let (name, choice, favourite) =
        undecided.iter().max_by(|a, b| a.1.loss(a.2).total_cmp(&b.1.loss(b.2)))?;
    Some(format!(
        "Hit rate cannot tell the best policy from another at {} of {} points; at worst, at {name}, requests under {} wait {} longer on average than under {}.",
        undecided.len(),
        choices.len(),
        favourite.policy,
        Percent(choice.loss(favourite)),
        choice.best.policy
    ))
}

/// `37.1 % too low`, for a prediction that falls short of the truth by this share of it.
fn off(underestimate: f64) -> String {
    let direction = if underestimate < 0.0 { "high" } else { "low" };
    format!("{} too {direction}", Percent(underestimate.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::found::LatencyFact;
    use crate::policy::PolicyName;

    fn policy(policy: PolicyName, classical_hits: u64, latency_total: u128) -> PolicyRun {
        let mean = latency_total as f64 / 100.0;
        let predicted = (100 - classical_hits) as f64;
        PolicyRun {
            policy,
            offline: policy.properties().offline,
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

    fn run(policies: Vec<PolicyRun>) -> Run {
        Run {
            latency: LatencyFact::Constant(100),
            capacity: 1,
            capacity_unit: "objects",
            capacity_asked: "1".to_owned(),
            lower_bound: None,
            upper_bound: None,
            verdict: on_run(&policies, false),
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
            on_run(&fooled(), false),
            [
                "Hit rate picks the wrong policy: lfu looks best, but its requests wait 25.0 % longer on average than under lru.",
                "Hit rate puts 2 of 3 pairs of policies in the wrong order.",
                "The mean latency that the classical model predicts is from 75.0 % too low (belady) to 11.1 % too high (random).",
            ]
        );
    }

    #[test]
    fn a_tie_in_latency_is_no_wrong_pick() {
        let policies = [
            policy(PolicyName::Lru, 40, 8_000),
            policy(PolicyName::Lfu, 50, 8_000),
            policy(PolicyName::Random, 10, 9_000),
        ];
        assert!(on_run(&policies, false)[0].starts_with("Hit rate picks the right policy here: lfu"));
        assert_eq!(misordered(&policies), (0, 2));
    }

    #[test]
    fn the_order_of_the_policies_does_not_matter() {
        let (lru, mad) = (policy(PolicyName::Lru, 50, 10_000), policy(PolicyName::LruMad, 50, 8_000));
        let expected =
            "Hit rate cannot tell lru-mad from lru, but requests wait 25.0 % longer on average under lru.";
        assert_eq!(on_run(&[lru.clone(), mad.clone()], false)[0], expected);
        assert_eq!(on_run(&[mad, lru], false)[0], expected);
    }

    #[test]
    fn where_nothing_differs_nobody_is_right_or_wrong() {
        let equal = [policy(PolicyName::Lru, 20, 8_000), policy(PolicyName::Lfu, 20, 8_000)];
        assert_eq!(
            on_run(&equal, false),
            [
                "All policies that can be deployed make requests wait equally long here.",
                "The classical model predicts every mean latency exactly."
            ]
        );
        assert_eq!(
            on_run(&equal, true)[1],
            "These timestamps are too coarse to tell whether the classical model is right."
        );
    }

    #[test]
    fn a_policy_alone_is_compared_with_nobody() {
        let alone = [policy(PolicyName::Lru, 40, 8_000)];
        assert_eq!(
            on_run(&alone, false),
            ["The mean latency that the classical model predicts is 25.0 % too low (lru)."]
        );
    }

    #[test]
    fn a_grid_is_summed_up_by_its_worst_points() {
        let honest = run(vec![policy(PolicyName::Lru, 50, 5_000), policy(PolicyName::Lfu, 40, 6_000)]);
        let fooled = run(fooled());
        assert_eq!(
            on_grid(&[("1ms".to_owned(), &honest), ("9ms".to_owned(), &fooled)]),
            [
                "Hit rate picks the wrong policy at 1 of 2 points; at worst, at 9ms, requests under its pick lfu wait 25.0 % longer on average than under lru.",
                "The classical model errs most at 9ms, where the mean latency that it predicts for belady is 75.0 % too low.",
            ]
        );
        let tied = run(vec![policy(PolicyName::Lru, 50, 10_000), policy(PolicyName::LruMad, 50, 8_000)]);
        assert_eq!(
            on_grid(&[("1ms".to_owned(), &honest), ("9ms".to_owned(), &tied)])[0],
            "Hit rate cannot tell the best policy from another at 1 of 2 points; at worst, at 9ms, requests under lru wait 25.0 % longer on average than under lru-mad."
        );
        let twice = [("1ms".to_owned(), &honest), ("2ms".to_owned(), &honest)];
        assert_eq!(on_grid(&twice)[0], "Hit rate picks the right policy at all 2 points.");
    }
}
