//! One step at a time, as long as it gets better.

use super::costs::Costs;

/// Moves each bound but the first towards a smaller unpifoness, one step at a time, until no step of any of them alone gains.
///
/// In rounds over all bounds, each moves to the side where it gains more, upwards if that is the same (algorithm 2). The first bound
/// costs nothing wherever it is, as the ranks below it go to the first queue all the same: it stays, or gives way to the second.
/// Bounds that are out of order are first raised to the one before.
///
/// - Cost: O(span + steps × queues). Every step takes a whole number off the unpifoness, so there is an end; in practice a bound makes
///   about as many steps as it has ranks to go.
/// - Source: SP-PIFO App. A.1, algorithm 2.
/// - Departures: algorithm 2 also moves a bound for nothing (`≤ 0`), and so would go to and fro between bounds that are equally good
///   and never converge; the text above it moves only for a gain, as is done here. A rank that did not occur costs nothing on either
///   side of a bound, which would be held up there; so a step goes past the next rank that did occur, and a bound that moves comes to
///   lie at one.
///
/// # Panics
///
/// If the counts sum to more than [`MOST_COUNTED`](super::MOST_COUNTED).
pub fn greedy(counts: &[u64], bounds: &mut [u64]) {
    for queue in 1..bounds.len() {
        bounds[queue] = bounds[queue].max(bounds[queue - 1]);
    }
    let costs = Costs::new(counts);
    let ranks = costs.ranks();
    // How many of the ranks that occur lie below each bound.
    let place = |(queue, &bound): (usize, &u64)| {
        if queue == 0 { 0 } else { ranks.partition_point(|&rank| rank < bound) }
    };
    let start: Vec<usize> = bounds.iter().enumerate().map(place).collect();
    let mut places = start.clone();
    while round(&costs, &mut places) {}
    for queue in (0..bounds.len()).rev() {
        // A bound that did not move may lie before the rank at its place, and must not be passed by the one before it.
        let most = bounds.get(queue + 1).copied().unwrap_or(u64::MAX);
        let moved = places[queue] != start[queue];
        // A bound never moves past all ranks: an empty queue gains nothing.
        let bound = if moved { ranks[places[queue]] } else { bounds[queue] };
        bounds[queue] = bound.min(most);
    }
}

/// Lets every bound make one step; whether one did.
fn round(costs: &Costs, places: &mut [usize]) -> bool {
    let mut moved = false;
    for queue in 1..places.len() {
        let (low, here) = (places[queue - 1], places[queue]);
        let high = places.get(queue + 1).copied().unwrap_or(costs.ranks().len());
        let cost = |place| costs.of(low, place) + costs.of(place, high);
        let now = cost(here);
        let up = if here < high { cost(here + 1) } else { now };
        let down = if here > low { cost(here - 1) } else { now };
        if up < now && up <= down {
            places[queue] += 1;
        } else if down < now {
            places[queue] -= 1;
        }
        moved |= places[queue] != here;
    }
    moved
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{optimal, uniform, unpifoness};
    use super::*;

    fn greedily(counts: &[u64], mut bounds: Vec<u64>) -> Vec<u64> {
        greedy(counts, &mut bounds);
        bounds
    }

    #[test]
    fn goes_past_ranks_that_do_not_occur() {
        // Between 1 and 8 nothing occurs: a bound at 5 gains nothing by one step, and all by three.
        let counts = [4, 4, 0, 0, 0, 0, 0, 0, 4, 4];
        assert_eq!(greedily(&counts, vec![0, 5]), [0, 5]); // in the gap, as good as anywhere there
        assert_eq!(greedily(&counts, vec![0, 1]), [0, 8]);
        assert_eq!(greedily(&counts, vec![0, 9]), [0, 8]);
        assert_eq!(greedily(&[0; 10], vec![0, 3]), [0, 3]);
    }

    /// Against what SP-PIFO says of the algorithm: no bound gains alone, not even for nothing, and the optimum is twelve times better.
    ///
    /// From uniform bounds, the last queue has two ranks: 4 × 3 = 12. The last bound alone would put 4 × 4 = 16 together instead; any
    /// other alone would put together ranks that are apart, and leave the last two as they are. Only all three at once come to
    /// {0, 1}, {2}, {3}, {4}, with 1 × 1 = 1.
    #[test]
    fn stops_where_only_several_bounds_together_gain() {
        let counts = [1, 1, 4, 4, 3];
        let stuck = greedily(&counts, uniform(5, 4));
        assert_eq!((stuck.as_slice(), unpifoness(&counts, &stuck)), ([0, 1, 2, 3].as_slice(), 12));
        let alone = [[0, 0, 2, 3], [0, 2, 2, 3], [0, 1, 1, 3], [0, 1, 3, 3], [0, 1, 2, 2], [0, 1, 2, 4]];
        assert_eq!(alone.map(|bounds| unpifoness(&counts, &bounds)), [13, 13, 16, 16, 52, 16]);
        let best = optimal(&counts, 4);
        assert_eq!((best.as_slice(), unpifoness(&counts, &best)), ([0, 2, 3, 4].as_slice(), 1));
    }

    #[test]
    fn bounds_out_of_order_are_raised() {
        let bounds = greedily(&[1, 0, 0, 1, 0, 0, 1], vec![0, 5, 2]);
        assert!(bounds.is_sorted(), "{bounds:?}");
        assert!(greedily(&[1], vec![]).is_empty());
    }

    proptest! {
        #[test]
        fn never_worse_than_the_start_and_no_step_gains(
            counts in prop::collection::vec(0..6u64, 1..20),
            mut bounds in prop::collection::vec(0..25u64, 1..6),
        ) {
            bounds.sort_unstable();
            let reached = greedily(&counts, bounds.clone());
            prop_assert!(reached.is_sorted() && reached[0] <= bounds[0]);
            let cost = unpifoness(&counts, &reached);
            prop_assert!(cost <= unpifoness(&counts, &bounds));
            prop_assert!(unpifoness(&counts, &optimal(&counts, bounds.len())) <= cost);
            for queue in 1..reached.len() {
                let least = if queue == 1 { 0 } else { reached[queue - 1] };
                let most = reached.get(queue + 1).copied().unwrap_or(25);
                for bound in least..=most {
                    let mut moved = reached.clone();
                    moved[queue] = bound;
                    // Not one step alone, but any, as theorem 2 says of a single bound.
                    prop_assert!(unpifoness(&counts, &moved) >= cost, "{reached:?} {moved:?}");
                }
            }
        }

        /// With two queues there is one bound, for which theorem 2 is enough.
        #[test]
        fn with_one_bound_to_move_it_is_optimal(counts in prop::collection::vec(0..6u64, 1..20), start in 0..20u64) {
            let reached = unpifoness(&counts, &greedily(&counts, vec![0, start]));
            prop_assert_eq!(reached, unpifoness(&counts, &optimal(&counts, 2)));
        }

        #[test]
        fn from_uniform_bounds_it_is_not_worse_than_they(
            counts in prop::collection::vec(0..1_000u64, 1..60),
            queues in 1..9usize,
        ) {
            let uniform = uniform(counts.len() as u64, queues);
            let before = unpifoness(&counts, &uniform);
            prop_assert!(unpifoness(&counts, &greedily(&counts, uniform)) <= before);
        }
    }
}
