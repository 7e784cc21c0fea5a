//! The division of ranks among FIFOs in strict priority, and what it costs.
//!
//! The queue `i` takes the ranks from its bound to below the next one. Ranks in different queues are never out of order; two in one
//! queue may be, whenever the larger comes first. What that costs on average, for a distribution of ranks that is known, is the
//! [`unpifoness`] of the bounds.
//!
//! - [`uniform()`]: equal parts of the span, knowing nothing.
//! - [`greedy()`]: from given bounds, one step at a time, as long as it gets better (SP-PIFO, algorithm 2).
//! - [`optimal()`]: the best there are, by dynamic programming.
//!
//! [`MovingBounds`] tells the unpifoness of bounds that a scheduler moves from packet to packet.
//!
//! SP-PIFO calls the greedy algorithm optimal (§3.2, A.1). Its theorem 2 shows less: that one step is enough to know whether a *single*
//! bound should move, the others staying where they are. With several bounds greedy may stop where no bound can gain alone and two
//! together can; see the test of [`greedy()`]. Hence the dynamic program, which is what every other division is held against.
//!
//! A distribution is how often each rank occurs, `counts[rank]`. Everything is exact. The counts must not sum to more than
//! [`MOST_COUNTED`]: with spans that fit into memory, all sums then stay within 128 bits.

mod costs;
mod greedy;
mod moving;
mod optimal;

pub use greedy::greedy;
pub use moving::{Moved, MovingBounds};
pub use optimal::optimal;

/// Distributions of more packets than these are refused, by a panic.
pub const MOST_COUNTED: u64 = 1 << 48;

/// The last queue whose bound is at most `rank`, or the first if there is none: the mapping of SP-PIFO §2.
///
/// Looks at all bounds, so that no branch depends on the rank: nobody could predict it. They may be in any order.
#[inline]
pub fn queue_of(bounds: &[u64], rank: u64) -> usize {
    let mut queue = 0;
    for (index, &bound) in bounds.iter().enumerate() {
        if bound <= rank {
            queue = index;
        }
    }
    queue
}

/// The expected inversions under `bounds`, weighted by how far the two ranks are apart, times the square of the number of packets.
///
/// The sum over all pairs of ranks in one queue of `counts[r]` × `counts[r′]` × (r′ − r): eq. 4 and 5 with the probabilities of a rank
/// as `counts[r]`/|D| and the difference as the cost. Two packets drawn from the distribution, one after the other, are out of order
/// by unpifoness/|D|² on average. Cost: O(span × queues).
///
/// # Panics
///
/// If the counts sum to more than [`MOST_COUNTED`].
pub fn unpifoness(counts: &[u64], bounds: &[u64]) -> u128 {
    check(counts);
    // Of each queue: how many packets it has, and the sum of their ranks.
    let mut queues = vec![(0u128, 0u128); bounds.len().max(1)];
    let mut total = 0;
    for (rank, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
        let (packets, sum) = &mut queues[queue_of(bounds, rank as u64)];
        let (rank, count) = (rank as u128, u128::from(count));
        total += count * (rank * *packets - *sum);
        *packets += count;
        *sum += count * rank;
    }
    total
}

/// Panics if sums could leave 128 bits.
fn check(counts: &[u64]) {
    let sum = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
    assert!(sum.is_some_and(|sum| sum <= MOST_COUNTED), "the counts sum to more than 2^48");
}

/// Bounds that divide the ranks below `span` into equal parts, as far as that goes; the first is 0.
pub fn uniform(span: u64, queues: usize) -> Vec<u64> {
    let bound = |queue| u128::from(span) * queue as u128 / queues as u128;
    (0..queues).map(|queue| bound(queue) as u64).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn uniform_parts_differ_by_one_at_most() {
        assert_eq!(uniform(100, 8), [0, 12, 25, 37, 50, 62, 75, 87]);
        assert_eq!(uniform(2, 4), [0, 0, 1, 1]);
        assert_eq!(uniform(u64::MAX, 2), [0, u64::MAX / 2]);
        assert!(uniform(5, 0).is_empty());
    }

    #[test]
    fn every_rank_in_a_queue_of_its_own_costs_nothing() {
        assert_eq!(unpifoness(&[3, 1, 4, 1], &[0, 1, 2, 3]), 0);
        assert_eq!(unpifoness(&[3, 1, 4, 1], &[0]), 3 + 3 * 4 * 2 + 3 * 3 + 4 + 2 + 4);
        assert_eq!(unpifoness(&[3, 1], &[]), 3);
        assert_eq!(unpifoness(&[], &[0, 1]), 0);
    }

    #[test]
    fn the_largest_distribution_stays_within_128_bits() {
        let mut counts = vec![0; 1 << 20];
        (counts[0], counts[(1 << 20) - 1]) = (1 << 31, (1 << 31) - 1);
        let expected = (1u128 << 31) * ((1 << 31) - 1) * ((1 << 20) - 1);
        assert_eq!(unpifoness(&counts, &[0]), expected);
        assert_eq!(optimal(&counts, 2), [0, (1 << 20) - 1]);
    }

    proptest! {
        #[test]
        fn unpifoness_is_the_sum_over_pairs(
            counts in prop::collection::vec(0..9u64, 1..20),
            bounds in prop::collection::vec(0..25u64, 1..6),
        ) {
            let mut sum = 0;
            for low in 0..counts.len() {
                for high in low + 1..counts.len() {
                    if queue_of(&bounds, low as u64) == queue_of(&bounds, high as u64) {
                        sum += u128::from(counts[low] * counts[high]) * (high - low) as u128;
                    }
                }
            }
            prop_assert_eq!(unpifoness(&counts, &bounds), sum);
        }
    }
}
