//! Bounds that follow the distribution of ranks, window by window.

use trueplane_pqueue::bank::MOST_QUEUES;
use trueplane_pqueue::{BadShape, FifoBank};
use trueplane_units::{Rank, choices};

use crate::bounds::{Moved, greedy, queue_of, uniform};
use crate::{Mapper, Packet};

/// Spans and windows are at most this; sums of distances over a window then stay within 64 bits.
const MOST: u64 = 1 << 24;

/// Rule by which [`Gradient`] moves its bounds at the end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Adaptation {
    /// Every bound moves by one rank at most, all at once: what four counters for every queue can tell (A.2).
    OneStep,
    /// Bounds move until no step helps any more (algorithm 2), which takes a counter for every rank.
    Converge,
    /// As the authors' simulator: bounds start at the smallest ranks, and one moves only for a gain, to the next rank that occurred.
    Authors,
}

choices! {
    /// Rule by which the gradient moves its bounds after a window of packets.
    ///
    /// What [`Adaptation::Authors`] does is a scheduler of its own, [`SchedulerName::GradientAuthors`](super::SchedulerName).
    pub enum AdaptationName {
        /// Every bound moves by one rank at most.
        OneStep = "one-step",
        /// Bounds move until no step helps any more.
        Converge = "converge",
    }
}

impl From<AdaptationName> for Adaptation {
    fn from(name: AdaptationName) -> Self {
        match name {
            AdaptationName::OneStep => Self::OneStep,
            AdaptationName::Converge => Self::Converge,
        }
    }
}

/// The gradient-based algorithm: strict priority whose bounds descend towards the least expected unpifoness.
///
/// Over a window of arrivals it measures by how much the [unpifoness](super::super::bounds::unpifoness) would change if a bound were
/// one larger or one smaller (eq. 9 and 10), and moves the bound the better way. The first bound is not moved: ranks below it go to
/// the first queue all the same.
///
/// - Rank: below the span; larger ones count as the last rank of the span.
/// - Cost: [`OneStep`](Adaptation::OneStep): O(queues), and four counters for every queue. [`Converge`](Adaptation::Converge):
///   O(queues) but for the last packet of a window, which pays O(span + steps × queues); a counter for every rank.
/// - Source: SP-PIFO §3.2, App. A: algorithm 2; eq. 16 for one step. Figure 4 is a test. [`Authors`](Adaptation::Authors):
///   `GreedyQueue_Advanced` in `nsg-ethz/SP-PIFO`, as the runs for the paper's figures configure it.
/// - Departures:
///   - Bounds stay in order and below the span; a step that would lead out of that is not made. The paper is silent on it.
///   - `OneStep`: the counters are the two differences of sums in eq. 16 and the two factors before them, which A.2 does not count,
///     instead of four sums. The rule is that of algorithm 2, with its `≤`: a bound next to ranks that did not occur, which could
///     move either way for nothing, moves up.
///   - `Authors`: the simulator leaves out of one of its sums the packets whose rank was the largest of the window when they came,
///     which here are in it. A bound that would leave the order stays.
///   - `Converge`: [`greedy`], which moves only for a gain, and past ranks that did not occur at once: it ends, and is not held up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gradient {
    bounds: Vec<u64>,
    span: u64,
    window: u64,
    /// Arrivals in this window so far.
    seen: u64,
    measured: Measured,
}

/// Measurements of a window.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Measured {
    OneStep(Box<[Counters]>),
    /// Occurrences of each rank.
    Converge(Box<[u64]>),
    /// Packets taken in by each queue.
    Authors(Box<[TakenIn]>),
}

/// Packets taken in by a queue during a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct TakenIn {
    packets: u64,
    /// The sum of their ranks.
    sum: u64,
    /// The smallest rank above the bound of the queue.
    lowest: Option<u64>,
    /// The largest rank.
    highest: Option<u64>,
}

/// Counters that eq. 16 needs for a bound `q`: Δ⁺ is `above` × `up`, Δ⁻ is `below` × `down`, both times the square of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    /// Packets of the rank `q`, which would move to the queue before.
    above: i64,
    /// Their distances to the packets there, less those to the packets that they would leave.
    up: i64,
    /// Packets of the rank `q` − 1, which would come from the queue before.
    below: i64,
    /// Their distances to the packets of this queue, less those to the packets that they would leave.
    down: i64,
}

impl Gradient {
    /// Bounds for `queues` queues and ranks below `span`. They start evenly over the span and adapt after every `window` arrivals. With
    /// [`Adaptation::Authors`] they start at 0, 2, 3, …, `queues`, and only packets that are taken in count for the window.
    ///
    /// # Errors
    ///
    /// If a number is 0, there are more than [`MOST_QUEUES`] queues, or the span or the window is beyond 2²⁴.
    pub fn new(queues: usize, span: u64, window: usize, adaptation: Adaptation) -> Result<Self, BadShape> {
        BadShape::check("a number of queues", queues as u64, 1..=MOST_QUEUES)?;
        BadShape::check("a span of ranks", span, 1..=MOST)?;
        BadShape::check("a window in packets", window as u64, 1..=MOST)?;
        let measured = match adaptation {
            Adaptation::OneStep => Measured::OneStep(vec![Counters::default(); queues].into()),
            Adaptation::Converge => Measured::Converge(vec![0; span as usize].into()),
            Adaptation::Authors => Measured::Authors(vec![TakenIn::default(); queues].into()),
        };
        let bounds = match adaptation {
            Adaptation::OneStep | Adaptation::Converge => uniform(span, queues),
            Adaptation::Authors => (0..queues as u64)
                .map(|queue| if queue == 0 { 0 } else { (queue + 1).min(span - 1) })
                .collect(),
        };
        Ok(Self { bounds, span, window: window as u64, seen: 0, measured })
    }

    /// The smallest rank that each queue takes now.
    pub fn bounds(&self) -> &[u64] {
        &self.bounds
    }

    /// Bounds that the last packet may have moved: all, if it ended a window.
    #[inline]
    pub fn moved(&self) -> Moved {
        if self.seen == 0 { Moved::All } else { Moved::Nothing }
    }

    /// Maps a rank and takes note of it. `has_room` is whether a queue takes in what comes.
    fn adapt(&mut self, rank: u64, has_room: impl Fn(usize) -> bool) -> usize {
        let rank = rank.min(self.span - 1);
        let queue = queue_of(&self.bounds, rank);
        match &mut self.measured {
            Measured::Authors(_) if !has_room(queue) => return queue,
            Measured::Authors(taken_in) => take_in(&mut taken_in[queue], self.bounds[queue], rank),
            Measured::OneStep(counters) => count(counters, &self.bounds, rank as i64, queue),
            Measured::Converge(counts) => counts[rank as usize] += 1,
        }
        self.seen += 1;
        if self.seen == self.window {
            self.seen = 0;
            self.end_window();
        }
        queue
    }

    fn end_window(&mut self) {
        match &mut self.measured {
            Measured::OneStep(counters) => {
                step(&mut self.bounds, counters, self.span);
                counters.fill(Counters::default());
            }
            Measured::Converge(counts) => {
                greedy(counts, &mut self.bounds);
                counts.fill(0);
            }
            Measured::Authors(taken_in) => {
                step_to_next(&mut self.bounds, taken_in, self.span);
                taken_in.fill(TakenIn::default());
            }
        }
    }
}

/// Adds a packet of `rank`, which the bounds map to `queue`, to the counters of the bounds at both ends of that queue.
fn count(counters: &mut [Counters], bounds: &[u64], rank: i64, queue: usize) {
    let here = &mut counters[queue];
    let bound = bounds[queue] as i64;
    here.up -= rank - bound;
    here.down += rank - (bound - 1);
    here.above += i64::from(rank == bound);
    if let Some(next) = counters.get_mut(queue + 1) {
        let bound = bounds[queue + 1] as i64;
        next.up += bound - rank;
        next.down -= bound - 1 - rank;
        next.below += i64::from(rank == bound - 1);
    }
}

/// Moves every bound but the first by one rank at most (algorithm 2, `UPDATEMAPPING`).
fn step(bounds: &mut [u64], counters: &[Counters], span: u64) {
    for queue in 1..bounds.len() {
        let Counters { above, up, below, down } = counters[queue];
        let (up, down) = (i128::from(above) * i128::from(up), i128::from(below) * i128::from(down));
        let (bound, most) = (bounds[queue], bounds.get(queue + 1).copied().unwrap_or(span - 1));
        if up <= 0 && up <= down {
            bounds[queue] = most.min(bound + 1);
        } else if down <= 0 && down < up {
            bounds[queue] = bounds[queue - 1].max(bound.saturating_sub(1));
        }
    }
}

/// Adds a packet of `rank` to what a queue with this bound took in.
fn take_in(queue: &mut TakenIn, bound: u64, rank: u64) {
    queue.packets += 1;
    queue.sum += rank;
    queue.highest = queue.highest.max(Some(rank));
    if rank > bound {
        queue.lowest = Some(queue.lowest.map_or(rank, |lowest| lowest.min(rank)));
    }
}

/// Moves every bound but the first, the last of them first, to the next rank that occurred, if that gains.
///
/// A packet of the rank `r` at a bound is r × n − S away from those of the queue before it, with their number n and sum S, and so far
/// from those of its own with the other sign. To be moved it must be nearer to those before it: r must be below the mean of both
/// queues together. Likewise for the largest rank of the queue before, which must be above that mean.
fn step_to_next(bounds: &mut [u64], taken_in: &[TakenIn], span: u64) {
    for queue in (1..bounds.len()).rev() {
        let (before, here) = (taken_in[queue - 1], taken_in[queue]);
        let (packets, sum) = (before.packets + here.packets, before.sum + here.sum);
        let most = bounds.get(queue + 1).copied().unwrap_or(span);
        let up = here.lowest.filter(|&next| bounds[queue] * packets < sum && next < most);
        let down = before.highest.filter(|&next| next * packets > sum && next > bounds[queue - 1]);
        if let Some(next) = up.or(down) {
            bounds[queue] = next;
        }
    }
}

impl Mapper for Gradient {
    fn queues(&self) -> Option<usize> {
        Some(self.bounds.len())
    }

    #[inline]
    fn map(&mut self, rank: Rank, bank: &FifoBank<Packet>) -> Option<usize> {
        Some(self.adapt(rank.0, |queue| bank.has_room(queue)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::bounds::{optimal, unpifoness};
    use super::*;

    fn gradient(bounds: &[u64], span: u64, window: usize, adaptation: Adaptation) -> Gradient {
        let mut gradient = Gradient::new(bounds.len(), span, window, adaptation).unwrap();
        gradient.bounds.copy_from_slice(bounds);
        gradient
    }

    impl Gradient {
        /// A rank comes for which there is room.
        fn note(&mut self, rank: u64) -> usize {
            self.adapt(rank, |_| true)
        }
    }

    fn counts(ranks: &[u64], span: u64) -> Vec<u64> {
        let mut counts = vec![0; span as usize];
        ranks.iter().for_each(|&rank| counts[rank as usize] += 1);
        counts
    }

    #[test]
    fn the_example_of_figure_4() {
        let ranks = [2, 1, 5, 4, 1, 4, 3];
        let counts = counts(&ranks, 6);
        let unpifoness = |second| unpifoness(&counts, &[1, second]);
        assert_eq!([4, 5, 3].map(unpifoness), [9, 25, 8]);
        for adaptation in [Adaptation::OneStep, Adaptation::Converge] {
            let mut gradient = gradient(&[1, 4], 6, 7, adaptation);
            for rank in &ranks[..6] {
                gradient.note(*rank);
                assert_eq!(gradient.bounds(), [1, 4], "{adaptation:?}");
            }
            gradient.note(ranks[6]);
            assert_eq!(gradient.bounds(), [1, 3], "{adaptation:?}");
        }
    }

    #[test]
    fn one_step_passes_over_one_rank_at_a_time_and_both_converge() {
        // Ranks from 0 to 99 once a window, from bounds that are all at one end.
        let optimum = optimal(&[1; 100], 4);
        assert_eq!(optimum, [0, 25, 50, 75]);
        for (adaptation, windows) in
            [(Adaptation::OneStep, 1_000), (Adaptation::Authors, 1_000), (Adaptation::Converge, 1)]
        {
            let mut gradient = gradient(&[0, 1, 2, 3], 100, 100, adaptation);
            for window in 0..windows {
                let before = gradient.bounds().to_vec();
                for rank in 0..100 {
                    gradient.note(rank);
                }
                let moved = before.iter().zip(gradient.bounds()).all(|(a, b)| a.abs_diff(*b) <= 1);
                assert!(moved || adaptation == Adaptation::Converge, "window {window}");
            }
            let counts = [1; 100];
            let (reached, best) = (unpifoness(&counts, gradient.bounds()), unpifoness(&counts, &optimum));
            assert!(reached * 100 <= best * 101, "{adaptation:?}: {:?}", gradient.bounds());
        }
    }

    #[test]
    fn both_stay_where_only_several_bounds_together_gain() {
        // The example of `greedy`: the paper's algorithm never finds the optimum, which is twelve times better.
        let ranks = [0, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4];
        for adaptation in [Adaptation::OneStep, Adaptation::Converge] {
            let mut gradient = Gradient::new(4, 5, ranks.len(), adaptation).unwrap();
            for rank in ranks.repeat(100) {
                gradient.note(rank);
                assert_eq!(gradient.bounds(), [0, 1, 2, 3], "{adaptation:?}");
            }
        }
    }

    #[test]
    fn the_authors_begin_at_the_smallest_ranks_and_count_what_is_taken_in() {
        let mut gradient = Gradient::new(4, 100, 3, Adaptation::Authors).unwrap();
        assert_eq!(gradient.bounds(), [0, 2, 3, 4]);
        // 4, 50 and 60 in the last queue: its bound is below the mean and moves to the next rank that occurred.
        for rank in [4, 50] {
            gradient.note(rank);
        }
        gradient.adapt(60, |_| false);
        assert_eq!(gradient.bounds(), [0, 2, 3, 4]);
        gradient.note(60);
        assert_eq!(gradient.bounds(), [0, 2, 3, 50]);
        assert_eq!(Gradient::new(4, 3, 1, Adaptation::Authors).unwrap().bounds(), [0, 2, 2, 2]);
    }

    #[test]
    fn shapes_of_nothing_are_errors() {
        let message = |queues, span, window| {
            Gradient::new(queues, span, window, Adaptation::OneStep).unwrap_err().to_string()
        };
        assert_eq!(message(0, 1, 1), "expected a number of queues from 1 to 4096, got 0");
        assert_eq!(message(1, 0, 1), "expected a span of ranks from 1 to 16777216, got 0");
        assert_eq!(message(1, 1, 0), "expected a window in packets from 1 to 16777216, got 0");
    }

    fn bounds_and_ranks() -> impl Strategy<Value = (Vec<u64>, Vec<u64>)> {
        let bounds = prop::collection::vec(0..20u64, 1..6).prop_map(|mut bounds| {
            bounds.sort_unstable();
            bounds
        });
        (bounds, prop::collection::vec(0..20u64, 1..60))
    }

    proptest! {
        /// The counters are eq. 9 and 10: each alone predicts what the unpifoness would be with its bound moved.
        #[test]
        fn counters_predict_the_change((bounds, ranks) in bounds_and_ranks()) {
            let mut counters = vec![Counters::default(); bounds.len()];
            ranks.iter().for_each(|&rank| count(&mut counters, &bounds, rank as i64, queue_of(&bounds, rank)));
            let counts = counts(&ranks, 20);
            let change = |queue: usize, bound: u64| {
                let mut moved = bounds.clone();
                moved[queue] = bound;
                unpifoness(&counts, &moved) as i128 - unpifoness(&counts, &bounds) as i128
            };
            for queue in 1..bounds.len() {
                let (bound, counters) = (bounds[queue], counters[queue]);
                if bounds.get(queue + 1).is_none_or(|&next| bound < next) {
                    prop_assert_eq!(i128::from(counters.above * counters.up), change(queue, bound + 1));
                }
                if bounds[queue - 1] < bound {
                    prop_assert_eq!(i128::from(counters.below * counters.down), change(queue, bound - 1));
                }
            }
        }

        /// The authors' step from sums is the one from all pairs of packets, written out.
        #[test]
        fn the_step_of_the_authors_is_the_one_from_all_pairs((bounds, ranks) in bounds_and_ranks()) {
            let mut taken_in = vec![TakenIn::default(); bounds.len()];
            for &rank in &ranks {
                let queue = queue_of(&bounds, rank);
                take_in(&mut taken_in[queue], bounds[queue], rank);
            }
            let within = |queue: usize| {
                let bounds = &bounds;
                ranks.iter().copied().filter(move |&rank| queue_of(bounds, rank) == queue)
            };
            // How far a packet of this rank is from all those of a queue.
            let away = |rank: u64, queue: usize| within(queue).map(|other| rank.abs_diff(other)).sum::<u64>();
            let mut naive = bounds.clone();
            for queue in (1..bounds.len()).rev() {
                let most = naive.get(queue + 1).copied().unwrap_or(20);
                let next = within(queue).filter(|&rank| rank > bounds[queue]).min();
                let last = within(queue - 1).max();
                match (next, last) {
                    (Some(next), _) if away(bounds[queue], queue - 1) < away(bounds[queue], queue) && next < most => {
                        naive[queue] = next;
                    }
                    (_, Some(last)) if away(last, queue - 1) > away(last, queue) && last > bounds[queue - 1] => {
                        naive[queue] = last;
                    }
                    _ => {}
                }
            }
            let mut stepped = bounds.clone();
            step_to_next(&mut stepped, &taken_in, 20);
            prop_assert_eq!(stepped, naive);
        }

        #[test]
        fn bounds_stay_in_order_and_below_the_span(
            queues in 1..8usize,
            span in 1..30u64,
            window in 1..20usize,
            adaptation in prop_oneof![Just(Adaptation::OneStep), Just(Adaptation::Converge), Just(Adaptation::Authors)],
            ranks in prop::collection::vec(0..40u64, 1..300),
        ) {
            let mut gradient = Gradient::new(queues, span, window, adaptation).unwrap();
            for rank in ranks {
                prop_assert!(gradient.note(rank) < queues);
                prop_assert!(gradient.bounds().is_sorted(), "{:?}", gradient.bounds());
                prop_assert!(gradient.bounds().iter().all(|&bound| bound < span));
                prop_assert_eq!(gradient.bounds()[0], 0);
            }
        }
    }
}
