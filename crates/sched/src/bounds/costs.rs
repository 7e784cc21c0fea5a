//! What it costs to put neighbouring ranks into one queue, from sums over prefixes.

/// The ranks that occur, and sums over the first so many of them.
///
/// Memory: 56 bytes a rank that occurs.
pub(super) struct Costs {
    /// Ranks that occur, in rising order.
    ranks: Vec<u64>,
    /// Number of packets of the first i ranks.
    packets: Vec<u128>,
    /// Sum of the ranks of the packets of the first i ranks.
    sums: Vec<u128>,
    /// Cost of the first i ranks in one queue.
    costs: Vec<u128>,
}

impl Costs {
    pub(super) fn new(counts: &[u64]) -> Self {
        super::check(counts);
        let mut all = Self { ranks: Vec::new(), packets: vec![0], sums: vec![0], costs: vec![0] };
        let (mut packets, mut sum, mut cost) = (0, 0, 0);
        for (rank, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            all.ranks.push(rank as u64);
            let (rank, count) = (rank as u128, u128::from(count));
            cost += count * (rank * packets - sum);
            packets += count;
            sum += count * rank;
            all.packets.push(packets);
            all.sums.push(sum);
            all.costs.push(cost);
        }
        all
    }

    /// The ranks that occur.
    pub(super) fn ranks(&self) -> &[u64] {
        &self.ranks
    }

    /// The unpifoness of a queue with the ranks from the `first` that occurs to before the `end`th; `first` ≤ `end`. O(1).
    ///
    /// The cost of all pairs below `end`, less those below `first`, less those of one below `first` and one from there on: the latter
    /// are (sum of ranks there) × (packets below) − (packets there) × (sum of ranks below).
    #[inline]
    pub(super) fn of(&self, first: usize, end: usize) -> u128 {
        let packets = self.packets[end] - self.packets[first];
        let sum = self.sums[end] - self.sums[first];
        let across = sum * self.packets[first] - packets * self.sums[first];
        self.costs[end] - self.costs[first] - across
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::unpifoness;
    use super::*;

    proptest! {
        #[test]
        fn a_queue_costs_its_unpifoness(counts in prop::collection::vec(0..9u64, 1..20)) {
            let costs = Costs::new(&counts);
            let occurring = costs.ranks().len();
            for first in 0..=occurring {
                for end in first..=occurring {
                    let mut alone = vec![0; counts.len()];
                    for &rank in &costs.ranks()[first..end] {
                        alone[rank as usize] = counts[rank as usize];
                    }
                    prop_assert_eq!(costs.of(first, end), unpifoness(&alone, &[0]));
                }
            }
        }

        /// On which the dynamic program relies.
        #[test]
        fn costs_satisfy_the_quadrangle_inequality(
            counts in prop::collection::vec(0..1_000u64, 1..30),
            mut ends in prop::array::uniform4(0..=30usize),
        ) {
            let costs = Costs::new(&counts);
            ends = ends.map(|end| end.min(costs.ranks().len()));
            ends.sort_unstable();
            let [a, b, c, d] = ends;
            prop_assert!(costs.of(a, c) + costs.of(b, d) <= costs.of(a, d) + costs.of(b, c));
        }
    }
}
