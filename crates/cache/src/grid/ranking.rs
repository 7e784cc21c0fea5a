//! The policies of a point, ranked by what the classical model sees and by what happens.

use super::found::PolicyRun;

/// The policies that an operator can deploy, best first by what the classical model sees: the hit rate. Equal ones in the
/// order of the plan.
pub fn by_hit_rate(policies: &[PolicyRun]) -> Vec<&PolicyRun> {
    let mut ranking: Vec<&PolicyRun> =
        policies.iter().filter(|run| !run.policy.properties().offline).collect();
    ranking.sort_by_key(|run| std::cmp::Reverse(run.classical_hits));
    ranking
}

/// The policies that an operator can deploy, best first by refined latency.
pub fn by_latency(policies: &[PolicyRun]) -> Vec<&PolicyRun> {
    let mut ranking: Vec<&PolicyRun> =
        policies.iter().filter(|run| !run.policy.properties().offline).collect();
    ranking.sort_by_key(|run| run.latency_total);
    ranking
}

/// Shares of a mean latency that are called no difference.
pub(crate) const SAME: f64 = 0.01;

/// Result of choosing a policy by hit rate.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    /// The policies with the highest classical hit rate, the one with the lowest refined latency first: between them the hit
    /// rate cannot choose.
    pub favourites: Vec<&'a PolicyRun>,
    /// The policy with the lowest refined latency.
    pub best: &'a PolicyRun,
}

impl Choice<'_> {
    /// Share by which the mean latency under `run` is above the best policy's.
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

    /// Whether it is not the best, but so near to it that nobody would see a difference: less than 1%.
    pub fn is_near(&self) -> bool {
        self.is_wrong() && self.loss(self.picked()) < SAME
    }

    /// The favourite under which requests wait longest, if longer than under the best.
    pub(crate) fn worst_favourite(&self) -> Option<&PolicyRun> {
        self.favourites.last().copied().filter(|run| run.latency_total > self.best.latency_total)
    }
}

/// Result of choosing by hit rate; `None` with fewer than two policies to choose from.
///
/// Does not depend on the order of the policies, but for those that are equal in both respects.
pub fn choice(policies: &[PolicyRun]) -> Option<Choice<'_>> {
    let by_latency = by_latency(policies);
    let [best, _, ..] = by_latency[..] else { return None };
    let most = by_latency.iter().map(|run| run.classical_hits).max()?;
    let favourites = by_latency.iter().copied().filter(|run| run.classical_hits == most).collect();
    Some(Choice { favourites, best })
}

/// Number of pairs of deployable policies that the hit rate puts in the wrong order, and number of pairs (thesis figure 2.4). Pairs that
/// tie in either respect are in no order.
pub fn misordered(policies: &[PolicyRun]) -> (usize, usize) {
    let online: Vec<&PolicyRun> = policies.iter().filter(|run| !run.policy.properties().offline).collect();
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
