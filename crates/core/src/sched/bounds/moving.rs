//! The unpifoness of bounds that move from packet to packet.

use super::costs::Costs;

/// Bounds that move, and their unpifoness at every moment.
///
/// [`unpifoness`](super::unpifoness) looks at every rank. This keeps sums over prefixes of the ranks and what each queue costs, so that
/// only the queues next to a bound that moved are looked at again. An average over all packets of a run is exact that way.
///
/// ```
/// use trueplane_core::sched::bounds::MovingBounds;
///
/// // Three ranks, each as frequent as the others. In one queue the pairs are 1, 1 and 2 apart; a second queue splits two of them.
/// let mut moving = MovingBounds::new(&[1, 1, 1]);
/// assert_eq!(moving.set(&[0]), 1 + 1 + 2);
/// assert_eq!(moving.set(&[0, 1]), 1);
/// ```
///
/// Memory: 60 bytes a rank.
pub struct MovingBounds {
    costs: Costs,
    /// How many of the ranks that occur are below each rank, and below the end.
    below: Box<[u32]>,
    bounds: Vec<u64>,
    /// How many of the ranks that occur are before each queue.
    starts: Vec<u32>,
    /// The unpifoness of each queue.
    queues: Vec<u128>,
    total: u128,
}

impl MovingBounds {
    /// For ranks that come as often as `counts` says. O(ranks).
    ///
    /// # Panics
    ///
    /// If the counts sum to more than [`MOST_COUNTED`](super::MOST_COUNTED), or there are more than 2³² of them.
    pub fn new(counts: &[u64]) -> Self {
        assert!(u32::try_from(counts.len()).is_ok(), "more than 2^32 ranks");
        let mut occurring = 0;
        let mut below = vec![0];
        below.extend(counts.iter().map(|&count| {
            occurring += u32::from(count > 0);
            occurring
        }));
        let (bounds, starts, queues) = (Vec::new(), Vec::new(), Vec::new());
        Self { costs: Costs::new(counts), below: below.into(), bounds, starts, queues, total: 0 }
    }

    /// Moves the bounds, and returns what [`unpifoness`](super::unpifoness) says of them.
    ///
    /// They may be in any order. O(queues).
    #[inline]
    pub fn set(&mut self, bounds: &[u64]) -> u128 {
        if self.bounds != bounds {
            self.update(bounds);
        }
        self.total
    }

    /// The bounds; none before they are set.
    pub fn bounds(&self) -> &[u64] {
        &self.bounds
    }

    fn update(&mut self, bounds: &[u64]) {
        let all_new = self.bounds.len() != bounds.len();
        if all_new {
            self.bounds = bounds.to_vec();
            self.starts = vec![0; bounds.len()];
            self.queues = vec![0; bounds.len()];
            self.total = 0;
        }
        self.bounds.copy_from_slice(bounds);
        let all = self.below.len() - 1;
        let mut end = self.below[all];
        // A rank goes to the last queue whose bound it reaches: a queue ends where the ones behind it begin, the least of them.
        let mut moved = all_new;
        for (queue, &bound) in bounds.iter().enumerate().rev() {
            let start = match queue {
                0 => 0,
                _ => self.below[bound.min(all as u64) as usize].min(end),
            };
            if all_new || moved || start != self.starts[queue] {
                let cost = self.costs.of(start as usize, end as usize);
                self.total = self.total - self.queues[queue] + cost;
                self.queues[queue] = cost;
            }
            moved = start != self.starts[queue];
            self.starts[queue] = start;
            end = start;
        }
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
            moves in prop::collection::vec(prop::collection::vec(prop_oneof![9 => 0..25u64, 1 => any::<u64>()], 1..6), 1..20),
        ) {
            let mut moving = MovingBounds::new(&counts);
            for bounds in moves {
                prop_assert_eq!(moving.set(&bounds), unpifoness(&counts, &bounds));
                prop_assert_eq!(moving.bounds(), &bounds);
            }
        }

        /// One bound after the other, as a scheduler moves them.
        #[test]
        fn follows_single_bounds(
            counts in prop::collection::vec(0..9u64, 1..20),
            mut bounds in prop::collection::vec(0..25u64, 1..6),
            moves in prop::collection::vec((0..6usize, 0..25u64), 1..40),
        ) {
            let mut moving = MovingBounds::new(&counts);
            for (queue, bound) in moves {
                let queues = bounds.len();
                bounds[queue % queues] = bound;
                prop_assert_eq!(moving.set(&bounds), unpifoness(&counts, &bounds));
            }
        }
    }
}
