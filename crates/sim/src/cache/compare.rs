//! The study: what the classical model predicts of every policy, what really happens, and who is fooled.

use serde::Serialize;
use trueplane_core::cache::policy::PolicyName;
use trueplane_core::metrics::ratio;

use super::cell::{ClassicalTally, Tally};
use super::grid::{self, Grid, Options};
use super::scan::Summary;
use crate::trace::{Clock, Trace};
use crate::{Error, Observer};

/// The result of `cache compare`; serialised, it is what `--json` prints.
///
/// Latencies are in ns, or in steps when slotted.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// `cache.compare`.
    pub study: &'static str,
    /// The trace.
    pub trace: TraceFacts,
    /// `continuous` or `slotted`.
    pub time: &'static str,
    /// The unit of all latencies: `ns` or `steps`.
    pub unit: &'static str,
    /// Where draws began.
    pub seed: u64,
    /// Requests at the start that did not count.
    pub warmup: u64,
    /// One for every latency and capacity of the grid.
    pub runs: Vec<Run>,
}

/// The trace of a study.
#[derive(Clone, Debug, Serialize)]
pub struct TraceFacts {
    /// Its name.
    pub name: String,
    /// What it is like.
    #[serde(flatten)]
    pub summary: Summary,
    /// What of it were no requests, and how often.
    pub skipped: Vec<(String, u64)>,
}

/// All policies at one latency and capacity.
#[derive(Clone, Debug, Serialize)]
pub struct Run {
    /// The latency if it is the same for all misses, and how it was asked for otherwise.
    pub latency: LatencyFact,
    /// The capacity that was simulated.
    pub capacity: u64,
    /// `objects` or `bytes`.
    pub capacity_unit: &'static str,
    /// How the capacity was asked for.
    pub capacity_asked: String,
    /// The policies, in the order of the options.
    pub policies: Vec<PolicyRun>,
    /// What an operator should know, in plain sentences.
    pub verdict: Vec<String>,
}

/// A latency in a document.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum LatencyFact {
    /// The same for every miss, in ns or steps.
    Constant(u64),
    /// Where it came from.
    Varying(String),
}

/// One policy at one latency and capacity.
#[derive(Clone, Debug, Serialize)]
pub struct PolicyRun {
    /// Its name.
    #[serde(serialize_with = "as_name")]
    pub policy: PolicyName,
    /// Whether it needs to know the future.
    pub offline: bool,
    /// Requests that count: hits + delayed hits + misses.
    pub requests: u64,
    /// Requests for resident objects.
    pub hits: u64,
    /// Requests for objects on their way.
    pub delayed_hits: u64,
    /// Requests that began a fetch.
    pub misses: u64,
    /// The exact sum of all latencies.
    pub latency_total: u128,
    /// The true mean latency.
    pub latency_mean: f64,
    /// Half of the requests wait at most this, to within 0.1 %.
    pub latency_p50: u64,
    /// 99 % of the requests wait at most this.
    pub latency_p99: u64,
    /// 99.9 % of the requests wait at most this.
    pub latency_p999: u64,
    /// Hits of the classical model, where a fetched object is there at once.
    pub classical_hits: u64,
    /// The share of those.
    pub classical_hit_rate: f64,
    /// What the classical model predicts: hit rate × hit latency + miss rate × miss latency (thesis eq. 2.1).
    pub classical_latency_mean: f64,
    /// By which share of the true mean the classical prediction falls short of it; negative if it is too high.
    pub classical_underestimate: f64,
    /// Points of the cumulative distribution of latency, for plots.
    #[serde(skip)]
    pub cdf: Vec<(u64, f64)>,
}

fn as_name<S: serde::Serializer>(policy: &PolicyName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(policy.as_str())
}

/// Simulates every policy under both models and says where they differ.
///
/// # Errors
/// See [`grid::run`].
pub fn compare(trace: &Trace, options: &Options, observer: &dyn Observer) -> Result<Comparison, Error> {
    let grid = grid::run(trace, options, observer)?;
    let mut runs = Vec::new();
    for latency in 0..options.latencies.len() {
        for capacity in 0..options.capacities.len() {
            runs.push(run(&grid, options, latency, capacity));
        }
    }
    let slotted = options.clock == Clock::Steps;
    Ok(Comparison {
        study: "cache.compare",
        trace: TraceFacts { name: trace.name().to_owned(), summary: grid.summary, skipped: grid.skipped },
        time: if slotted { "slotted" } else { "continuous" },
        unit: if slotted { "steps" } else { "ns" },
        seed: options.seed,
        warmup: options.warmup,
        runs,
    })
}

fn run(grid: &Grid, options: &Options, latency: usize, capacity: usize) -> Run {
    let policies: Vec<PolicyRun> = (options.policies.iter().enumerate())
        .map(|(index, &policy)| {
            let (refined, classical) =
                (grid.refined(index, capacity, latency), grid.classical(index, capacity));
            policy_run(policy, refined, classical, latency)
        })
        .collect();
    let resolved = &grid.capacities[capacity];
    let wanted = &options.latencies[latency];
    Run {
        latency: match wanted.constant() {
            Some(constant) => LatencyFact::Constant(constant.0),
            None => LatencyFact::Varying(wanted.to_string()),
        },
        capacity: resolved.shape.capacity,
        capacity_unit: if resolved.shape.by_bytes { "bytes" } else { "objects" },
        capacity_asked: resolved.asked.to_string(),
        verdict: verdict(&policies),
        policies,
    }
}

fn policy_run(policy: PolicyName, refined: &Tally, classical: &ClassicalTally, latency: usize) -> PolicyRun {
    let requests = refined.latency.count();
    let mean = refined.latency.mean();
    let predicted = ratio(classical.latency_totals[latency], requests);
    PolicyRun {
        policy,
        offline: policy.is_offline(),
        requests,
        hits: refined.hits,
        delayed_hits: refined.delayed_hits,
        misses: refined.misses,
        latency_total: refined.latency.sum(),
        latency_mean: mean,
        latency_p50: refined.latency.quantile(0.5),
        latency_p99: refined.latency.quantile(0.99),
        latency_p999: refined.latency.quantile(0.999),
        classical_hits: classical.hits,
        classical_hit_rate: ratio(u128::from(classical.hits), requests),
        classical_latency_mean: predicted,
        classical_underestimate: if mean > 0.0 { 1.0 - predicted / mean } else { 0.0 },
        cdf: refined.latency.cumulative(),
    }
}

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

/// Pairs of deployable policies, and how many of them the hit rate puts in the wrong order (thesis figure 2.4).
///
/// Pairs that tie in either respect are in no order.
fn misordered(policies: &[PolicyRun]) -> (usize, usize) {
    let online: Vec<&PolicyRun> = policies.iter().filter(|run| !run.offline).collect();
    let (mut pairs, mut wrong) = (0, 0);
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

fn verdict(policies: &[PolicyRun]) -> Vec<String> {
    let mut sentences = Vec::new();
    let (by_hits, by_latency) = (by_hit_rate(policies), by_latency(policies));
    if let ([favourite, _, ..], [best, ..]) = (&by_hits[..], &by_latency[..]) {
        let loss = favourite.latency_mean / best.latency_mean - 1.0;
        sentences.push(if favourite.latency_total == best.latency_total {
            format!("Hit rate picks the right policy here: {} has the lowest true latency too.", favourite.policy)
        } else {
            format!(
                "Hit rate picks the wrong policy: {} looks best, but its requests wait {} longer on average than under {}.",
                favourite.policy,
                percent(loss),
                best.policy
            )
        });
        let (wrong, pairs) = misordered(policies);
        if wrong > 0 {
            sentences.push(format!("Hit rate puts {wrong} of {pairs} pairs of policies in the wrong order."));
        }
    }
    let gaps = || policies.iter().filter(|run| run.latency_total > 0);
    let order =
        |a: &&PolicyRun, b: &&PolicyRun| a.classical_underestimate.total_cmp(&b.classical_underestimate);
    if let (Some(least), Some(most)) = (gaps().min_by(order), gaps().max_by(order)) {
        sentences.push(gap_sentence(least, most));
    }
    sentences
}

fn gap_sentence(least: &PolicyRun, most: &PolicyRun) -> String {
    let (low, high) = (least.classical_underestimate, most.classical_underestimate);
    if low == high {
        let (word, gap) = if low < 0.0 { ("overestimates", -low) } else { ("underestimates", low) };
        return format!(
            "The classical model {word} the mean latency of {} by {}.",
            least.policy,
            percent(gap)
        );
    }
    format!(
        "The classical model underestimates mean latency by {} ({}) to {} ({}).",
        percent(low),
        least.policy,
        percent(high),
        most.policy
    )
}

fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent.abs() < 1.0 { format!("{percent:.2} %") } else { format!("{percent:.1} %") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(policy: PolicyName, classical_hits: u64, latency_total: u128) -> PolicyRun {
        let mean = latency_total as f64 / 100.0;
        let predicted = (100 - classical_hits) as f64;
        PolicyRun {
            policy,
            offline: policy.is_offline(),
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
            cdf: Vec::new(),
        }
    }

    #[test]
    fn the_verdict_names_the_wrong_pick_and_its_price() {
        let policies = [
            policy(PolicyName::Lru, 40, 8_000),
            policy(PolicyName::Lfu, 50, 10_000),
            policy(PolicyName::Belady, 90, 4_000),
        ];
        assert_eq!(
            verdict(&policies),
            [
                "Hit rate picks the wrong policy: lfu looks best, but its requests wait 25.0 % longer on average than under lru.",
                "Hit rate puts 1 of 1 pairs of policies in the wrong order.",
                "The classical model underestimates mean latency by 25.0 % (lru) to 75.0 % (belady).",
            ]
        );
    }

    #[test]
    fn a_tie_in_latency_is_no_wrong_pick() {
        let policies = [policy(PolicyName::Lru, 40, 8_000), policy(PolicyName::Lfu, 50, 8_000)];
        assert!(verdict(&policies)[0].starts_with("Hit rate picks the right policy here: lfu"));
        assert_eq!(misordered(&policies), (0, 0));
    }

    #[test]
    fn a_policy_alone_is_compared_with_nobody() {
        let verdict = verdict(&[policy(PolicyName::Lru, 40, 8_000)]);
        assert_eq!(verdict, ["The classical model underestimates the mean latency of lru by 25.0 %."]);
    }
}
