//! The unpifoness of bounds that move from packet to packet.

/// A distribution of ranks, summed up so that the unpifoness of any bounds takes O(queues).
///
/// [`unpifoness`](super::unpifoness) looks at every rank, which is too slow where a scheduler moves its bounds with every packet. This
/// keeps sums over prefixes of the ranks, and one product for every two neighbouring bounds does. An average over all packets of a run
/// is exact that way.
///
/// ```
/// use trueplane_core::sched::bounds::Weighed;
///
/// // Three ranks, each as frequent as the others. In one queue the pairs are 1, 1 and 2 apart; a second queue splits two of them.
/// let ranks = Weighed::new(&[1, 1, 1]);
/// assert_eq!(ranks.unpifoness(&[0]), 1 + 1 + 2);
/// assert_eq!(ranks.unpifoness(&[0, 1]), 1);
/// ```
///
/// Memory: 16 bytes a rank.
pub struct Weighed {
    /// Of the ranks below each rank, and below the end: how many packets they have, and the sum of those packets' ranks.
    below: Box<[(u64, u64)]>,
    /// The unpifoness of all ranks in one queue.
    all: u128,
}

impl Weighed {
    /// For ranks that come as often as `counts` says. O(ranks).
    ///
    /// # Panics
    ///
    /// If the counts sum to more than [`MOST_COUNTED`](super::MOST_COUNTED), or the ranks of all packets to 2⁶⁴ or more.
    pub fn new(counts: &[u64]) -> Self {
        let (mut packets, mut sum) = (0, 0u64);
        let mut below = vec![(0, 0)];
        below.extend((0..).zip(counts).map(|(rank, &count)| {
            packets += count;
            let more = count.checked_mul(rank).and_then(|more| sum.checked_add(more));
            sum = more.expect("the ranks of all packets sum to less than 2^64");
            (packets, sum)
        }));
        Self { below: below.into(), all: super::unpifoness(counts, &[0]) }
    }

    /// What [`unpifoness`](super::unpifoness) says of these bounds, which may be in any order. O(queues), without a branch.
    ///
    /// Of all pairs those count not that are in different queues. With P packets below a bound, whose ranks sum to S, and P′ and S′ those
    /// below the next, the pairs of one packet below the bound and one between the two are P·(S′ − S) − S·(P′ − P) = P·S′ − S·P′ apart.
    #[inline]
    pub fn unpifoness(&self, bounds: &[u64]) -> u128 {
        let last = self.below.len() - 1;
        let (mut next, mut apart) = (last, 0u128);
        // A rank goes to the last queue whose bound it reaches: a queue ends where those behind it begin, the least of them.
        for &bound in bounds.iter().skip(1).rev() {
            let start = bound.min(next as u64) as usize;
            let ((packets, sum), (next_packets, next_sum)) = (self.below[start], self.below[next]);
            apart += u128::from(packets) * u128::from(next_sum) - u128::from(sum) * u128::from(next_packets);
            next = start;
        }
        self.all - apart
    }
}

#[cfg(test)]
mod tests {
    use super::super::unpifoness;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_the_unpifoness_of_bounds_in_any_order(
            counts in prop::collection::vec(prop_oneof![1 => Just(0u64), 3 => 0..9u64], 0..20),
            bounds in prop::collection::vec(prop_oneof![9 => 0..25u64, 1 => any::<u64>()], 0..6),
        ) {
            prop_assert_eq!(Weighed::new(&counts).unpifoness(&bounds), unpifoness(&counts, &bounds));
        }
    }

    #[test]
    fn the_largest_distribution_of_a_study_fits() {
        let mut counts = vec![0; 1 << 18];
        (counts[0], counts[(1 << 18) - 1]) = (1 << 31, 1 << 31);
        let ranks = Weighed::new(&counts);
        assert_eq!(ranks.unpifoness(&[0]), (1u128 << 62) * ((1 << 18) - 1));
        assert_eq!(ranks.unpifoness(&[0, 1]), 0);
    }
}
