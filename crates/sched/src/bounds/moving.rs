//! The unpifoness of bounds that move from packet to packet.

/// Bounds of a scheduler that a packet has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Moved {
    /// No bound has moved.
    Nothing,
    /// The one of this queue, to between the bounds of its neighbours, and all bounds are in order.
    Bound(usize),
    /// Any of them, in any way.
    #[default]
    All,
}

/// Bounds that move, and their unpifoness at every moment.
///
/// [`unpifoness`](super::unpifoness) looks at every rank, which is too slow where a scheduler moves its bounds with every packet. This
/// keeps sums over prefixes of the ranks, so that two products tell what it changes to move one bound. An average over all packets of a
/// run is exact that way.
///
/// ```
/// use trueplane_sched::bounds::MovingBounds;
///
/// // Three ranks, each as frequent as the others. In one queue the pairs are 1, 1 and 2 apart; a second queue splits two of them.
/// let mut moving = MovingBounds::new(&[1, 1, 1]);
/// assert_eq!(moving.set(&[0]), 1 + 1 + 2);
/// assert_eq!(moving.set(&[0, 1]), 1);
/// assert_eq!(moving.move_one(1, 2), 1);
/// ```
///
/// Memory: 16 bytes a rank.
pub struct MovingBounds {
    /// Packets below each rank, and below the end.
    below: Box<[Below]>,
    /// The same of the ranks below the bound of each queue, and of all.
    queues: Vec<Below>,
    /// The unpifoness of all ranks in one queue, and of the bounds as they are.
    all: u128,
    now: u128,
}

/// Packets below a rank.
#[derive(Clone, Copy, Debug, Default)]
struct Below {
    /// Number of packets.
    packets: i64,
    /// Sum of the packets' ranks.
    sum: i64,
}

impl Below {
    /// Sum of the distances of all pairs of a packet below this and one from this to below `next`: with P packets below a bound, whose
    /// ranks sum to S, and P′ and S′ those below the next, it is P·(S′ − S) − S·(P′ − P) = P·S′ − S·P′.
    #[inline]
    fn apart(self, next: Below) -> i128 {
        i128::from(self.packets) * i128::from(next.sum) - i128::from(self.sum) * i128::from(next.packets)
    }
}

impl MovingBounds {
    /// For ranks that come as often as `counts` says, all in one queue. O(ranks).
    ///
    /// # Panics
    ///
    /// If the counts sum to more than [`MOST_COUNTED`](super::MOST_COUNTED), or the ranks of all packets to 2⁶³ or more.
    pub fn new(counts: &[u64]) -> Self {
        let all = super::unpifoness(counts, &[0]);
        let mut last = Below::default();
        let mut below = vec![last];
        below.extend((0..).zip(counts).map(|(rank, &count)| {
            let (count, rank): (i64, i64) = (count as i64, rank);
            let sum = count.checked_mul(rank).and_then(|more| last.sum.checked_add(more));
            let sum = sum.expect("the ranks of all packets sum to less than 2^63");
            last = Below { packets: last.packets + count, sum };
            last
        }));
        Self { below: below.into(), queues: Vec::new(), all, now: all }
    }

    /// The unpifoness of the bounds as they are.
    #[inline]
    pub fn unpifoness(&self) -> u128 {
        self.now
    }

    /// Moves all bounds, and returns what [`unpifoness`](super::unpifoness) says of them. They may be in any order. O(queues).
    pub fn set(&mut self, bounds: &[u64]) -> u128 {
        let last = self.below.len() - 1;
        self.queues.clear();
        self.queues.resize(bounds.len() + 1, Below::default());
        let (mut next, mut apart) = (last, 0);
        // A rank goes to the last queue whose bound it reaches: a queue ends where those behind it begin, the least of them. The first
        // queue begins with the first rank.
        self.queues[bounds.len()] = self.below[last];
        for (queue, &bound) in bounds.iter().enumerate().skip(1).rev() {
            let start = bound.min(next as u64) as usize;
            self.queues[queue] = self.below[start];
            apart += self.below[start].apart(self.below[next]);
            next = start;
        }
        self.now = self.all - apart as u128;
        self.now
    }

    /// Moves the bound of `queue` to `bound`, which is not below the bound before and not above the one behind it, and returns what
    /// [`unpifoness`](super::unpifoness) says of all. The bounds that were set are in order. O(1).
    ///
    /// # Panics
    ///
    /// If there is no such queue.
    #[inline]
    pub fn move_one(&mut self, queue: usize, bound: u64) -> u128 {
        if queue > 0 {
            let (before, old, behind) = (self.queues[queue - 1], self.queues[queue], self.queues[queue + 1]);
            let new = self.below[bound.min(self.below.len() as u64 - 1) as usize];
            // What is `apart` from the one before and to the one behind, of the new less of the old.
            let apart = i128::from(new.sum - old.sum) * i128::from(before.packets - behind.packets)
                + i128::from(new.packets - old.packets) * i128::from(behind.sum - before.sum);
            self.queues[queue] = new;
            self.now = self.now.wrapping_add_signed(-apart);
        }
        self.now
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::unpifoness;
    use super::*;

    proptest! {
        #[test]
        fn is_the_unpifoness_of_bounds_in_any_order(
            counts in prop::collection::vec(prop_oneof![1 => Just(0u64), 3 => 0..9u64], 0..20),
            moves in prop::collection::vec(prop::collection::vec(prop_oneof![9 => 0..25u64, 1 => any::<u64>()], 0..6), 1..9),
        ) {
            let mut moving = MovingBounds::new(&counts);
            for bounds in moves {
                prop_assert_eq!(moving.set(&bounds), unpifoness(&counts, &bounds));
            }
        }

        #[test]
        fn follows_single_bounds(
            counts in prop::collection::vec(0..9u64, 1..20),
            mut bounds in prop::collection::vec(0..25u64, 1..6),
            moves in prop::collection::vec((0..6usize, any::<u64>()), 1..60),
        ) {
            bounds.sort_unstable();
            let mut moving = MovingBounds::new(&counts);
            moving.set(&bounds);
            for (queue, to) in moves {
                let queue = queue % bounds.len();
                let least = queue.checked_sub(1).map_or(0, |before| bounds[before]);
                let most = bounds.get(queue + 1).copied().unwrap_or(30);
                bounds[queue] = least + to % (most - least + 1);
                prop_assert_eq!(moving.move_one(queue, bounds[queue]), unpifoness(&counts, &bounds));
            }
        }
    }

    #[test]
    fn the_largest_distribution_of_a_study_fits() {
        let mut counts = vec![0; 1 << 18];
        (counts[0], counts[(1 << 18) - 1]) = (1 << 31, 1 << 31);
        let mut moving = MovingBounds::new(&counts);
        assert_eq!(moving.set(&[0]), (1u128 << 62) * ((1 << 18) - 1));
        assert_eq!(moving.set(&[0, 1]), 0);
        assert_eq!(moving.move_one(1, 1 << 18), (1u128 << 62) * ((1 << 18) - 1));
    }
}
