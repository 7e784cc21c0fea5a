//! The best bounds there are.

use super::costs::Costs;
use super::uniform;

/// Bounds for `queues` queues whose [unpifoness](super::unpifoness) for `counts` is the least of all; the first is 0.
///
/// Dynamic programming over the R ranks that occur: the least cost of the first j of them in n + 1 queues is
/// min over i of (the least cost of the first i in n queues) + (the cost of the ranks i, …, j − 1 in one). The cost of a queue is O(1)
/// from sums over prefixes.
///
/// *Why not all i must be tried.* The cost of an interval is the sum of a weight ≥ 0 over all pairs of ranks inside. For
/// a ≤ b ≤ c ≤ d, a pair inside (a, c) or inside (b, d) is inside (a, d), and if it is inside both, it is inside (b, c) as well. So
/// cost(a, c) + cost(b, d) ≤ cost(a, d) + cost(b, c), the *quadrangle inequality*; what is missing on the left are the pairs of one
/// from (a, b) and one from (c, d). Let i be the smallest of the best for j, and i′ < i. For j′ > j the inequality, with i′, i, j, j′,
/// says that i gains on i′ at least as much at j′ as at j. So the smallest of the best grows with j: the one for the middle j divides
/// the candidates for those on its left from the candidates for those on its right.
///
/// Queues beyond one for every rank that occurs take the ranks above all of them. If none occurs, all bounds are as good, and they
/// are [`uniform()`].
///
/// Cost: O(span + queues × R log R); memory 4 bytes for every queue and rank that occurs. Source: SP-PIFO eq. 4 and 5 for what is
/// minimised; the paper's own way is [`greedy`](super::greedy()), which may miss the optimum.
///
/// # Panics
///
/// If the counts sum to more than [`MOST_COUNTED`](super::MOST_COUNTED).
pub fn optimal(counts: &[u64], queues: usize) -> Vec<u64> {
    let costs = Costs::new(counts);
    let ranks = costs.ranks();
    let Some(&last) = ranks.last() else { return uniform(counts.len() as u64, queues) };
    let mut bounds = vec![last + 1; queues];
    let used = queues.min(ranks.len());
    let mut end = ranks.len();
    for (queue, cuts) in cuts(&costs, used).iter().enumerate().rev() {
        end = cuts[end] as usize;
        bounds[queue + 1] = ranks[end];
    }
    if let Some(first) = bounds.first_mut() {
        *first = 0;
    }
    bounds
}

/// For every queue but the first, and every number of first ranks: the rank with which that queue begins if it is the last.
fn cuts(costs: &Costs, queues: usize) -> Vec<Vec<u32>> {
    let occurring = costs.ranks().len();
    let mut before: Vec<u128> = (0..=occurring).map(|end| costs.of(0, end)).collect();
    let mut after = before.clone();
    let layer = |queue| {
        let mut layer = Layer { costs, before: &before, after: &mut after, cuts: vec![0; occurring + 1] };
        layer.fill(queue + 1, occurring, queue, occurring);
        let cuts = layer.cuts;
        std::mem::swap(&mut before, &mut after);
        cuts
    };
    (1..queues).map(layer).collect()
}

/// One more queue.
struct Layer<'a> {
    costs: &'a Costs,
    /// The least cost of the first ranks without it,
    before: &'a [u128],
    /// and with it.
    after: &'a mut [u128],
    cuts: Vec<u32>,
}

impl Layer<'_> {
    /// Finds the cuts for the ends from `low` to `high`, both included, which lie from `first` to `last`, both included.
    fn fill(&mut self, low: usize, high: usize, first: usize, last: usize) {
        if low > high {
            return;
        }
        let middle = low.midpoint(high);
        let (mut cut, mut least) = (first, u128::MAX);
        for candidate in first..=last.min(middle - 1) {
            let cost = self.before[candidate] + self.costs.of(candidate, middle);
            if cost < least {
                (cut, least) = (candidate, cost);
            }
        }
        self.after[middle] = least;
        self.cuts[middle] = cut as u32;
        self.fill(low, middle - 1, first, cut);
        self.fill(middle + 1, high, cut, last);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::unpifoness;
    use super::*;

    #[test]
    fn equal_ranks_are_divided_equally() {
        assert_eq!(optimal(&[5; 100], 4), [0, 25, 50, 75]);
        assert_eq!(optimal(&[1, 2, 1, 3], 4), [0, 1, 2, 3]);
    }

    #[test]
    fn more_queues_than_ranks_and_no_ranks_at_all() {
        assert_eq!(optimal(&[0, 0, 4, 0, 4, 0], 4), [0, 4, 5, 5]);
        assert_eq!(optimal(&[0; 8], 2), [0, 4]);
        assert!(optimal(&[1, 1], 0).is_empty());
        assert_eq!(optimal(&[], 2), [0, 0]);
    }

    /// The least unpifoness over all bounds.
    fn by_brute_force(counts: &[u64], bounds: &mut Vec<u64>, queues: usize) -> u128 {
        if bounds.len() == queues {
            return unpifoness(counts, bounds);
        }
        let mut least = u128::MAX;
        for bound in bounds.last().copied().unwrap_or(0)..counts.len() as u64 {
            bounds.push(bound);
            least = least.min(by_brute_force(counts, bounds, queues));
            bounds.pop();
        }
        least
    }

    /// The same recurrence with every candidate tried.
    fn by_all_candidates(counts: &[u64], queues: usize) -> u128 {
        let costs = Costs::new(counts);
        let occurring = costs.ranks().len();
        let mut least: Vec<u128> = (0..=occurring).map(|end| costs.of(0, end)).collect();
        for _ in 1..queues {
            let with = |end| (0..=end).map(|cut| least[cut] + costs.of(cut, end)).min().unwrap_or(0);
            least = (0..=occurring).map(with).collect();
        }
        least[occurring]
    }

    /// Sparse, dense, with heavy ranks among light ones.
    fn distributions(longest: usize) -> impl Strategy<Value = Vec<u64>> {
        let count =
            prop_oneof![2 => Just(0), 4 => 1..5u64, 1 => 100..1_000u64, 1 => 1_000_000..20_000_000u64];
        prop::collection::vec(count, 1..longest)
    }

    proptest! {
        #[test]
        fn nothing_is_better(counts in distributions(12), queues in 1..5usize) {
            let bounds = optimal(&counts, queues);
            prop_assert!(bounds.is_sorted() && bounds[0] == 0 && bounds.len() == queues, "{bounds:?}");
            prop_assert_eq!(unpifoness(&counts, &bounds), by_brute_force(&counts, &mut vec![], queues));
        }

        #[test]
        fn all_candidates_find_nothing_better(counts in distributions(150), queues in 1..20usize) {
            prop_assert_eq!(unpifoness(&counts, &optimal(&counts, queues)), by_all_candidates(&counts, queues));
        }

        #[test]
        fn random_and_uniform_bounds_are_not_better(
            counts in distributions(150),
            bounds in prop::collection::vec(0..150u64, 1..20),
        ) {
            let least = unpifoness(&counts, &optimal(&counts, bounds.len()));
            let mut sorted = bounds.clone();
            sorted.sort_unstable();
            let uniform = uniform(counts.len() as u64, bounds.len());
            for other in [&bounds, &sorted, &uniform] {
                prop_assert!(least <= unpifoness(&counts, other), "{other:?}");
            }
        }
    }
}
