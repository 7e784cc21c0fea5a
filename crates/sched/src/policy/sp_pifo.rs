//! Bounds that follow every packet that is taken in.

use std::ops::{Deref, DerefMut};

use trueplane_pqueue::bank::MOST_QUEUES;
use trueplane_pqueue::{BadShape, FifoBank};
use trueplane_units::{Rank, choices};

use crate::bounds::{Moved, queue_of};
use crate::{Mapper, Packet};

choices! {
    /// Amount by which SP-PIFO lowers its bounds after an inversion.
    ///
    /// With `r` the rank that came too late and `q` the bounds before, of which `q[0]` becomes `r`. Source: SP-PIFO §4.2.2, and the
    /// authors' simulator (`nsg-ethz/SP-PIFO`, `SPPIFOQueue`) where the paper leaves a choice.
    pub enum PushDown {
        /// By the magnitude of the inversion, `q[0] − r`, as SP-PIFO does.
        Cost = "cost",
        /// To the bound of the queue before, as the authors' simulator does: `q[1]` to `r` (the new `q[0]`), and each later bound to the old
        /// bound of the queue before it. The best in the paper, and the most costly in a switch.
        QueueBound = "queue-bound",
        /// By `r`, but not below 0; only with this choice, bounds may get out of order.
        ///
        /// See [`SpPifo`].
        Rank = "rank",
        /// By 1: too weak, and the worst in the paper.
        One = "one",
        /// Like queue-bound, but `q[1]` gets the value of `q[0]` before the inversion, as the text of the paper can also be read.
        QueueBoundText = "queue-bound-text",
    }
}

impl PushDown {
    /// Those that the paper compares in figure 5c, as its authors' simulator has them.
    pub const PAPER: [PushDown; 4] = [PushDown::Cost, PushDown::QueueBound, PushDown::Rank, PushDown::One];

    /// Lowers all bounds but the first, which an inversion by `rank` has yet to lower.
    fn apply(self, bounds: &mut [u64], rank: u64) {
        match self {
            PushDown::Cost => lower(bounds, bounds[0] - rank),
            PushDown::Rank => lower(bounds, rank),
            PushDown::One => lower(bounds, 1),
            PushDown::QueueBoundText => bounds.copy_within(..bounds.len() - 1, 1),
            PushDown::QueueBound => {
                bounds[0] = rank;
                bounds.copy_within(..bounds.len() - 1, 1);
            }
        }
    }
}

/// Lowers all bounds but the first.
fn lower(bounds: &mut [u64], by: u64) {
    for bound in &mut bounds[1..] {
        *bound = bound.saturating_sub(by);
    }
}

/// Packets that move the bounds of SP-PIFO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Adapts {
    /// Those that are taken in: a packet whose queue is full moves nothing. So does the authors' simulator.
    #[default]
    OnAccepted,
    /// Every packet that comes: what a switch does whose pipeline maps a packet before the buffer knows whether it has room.
    OnArrival,
}

/// SP-PIFO: strict priority whose bounds every packet that is taken in moves, so that few packets overtake smaller ranks.
///
/// A packet goes to the last queue whose bound its rank reaches, and the bound becomes its rank (*push up*): what comes later with a
/// smaller rank goes to a queue before it. A rank below all bounds goes to the first queue behind larger ones (an *inversion*), and
/// pulls all bounds down with it (*push down*). No knowledge of the ranks is needed, and one register for every queue.
///
/// - Rank: any. Bounds start at 0.
/// - Cost: O(queues), no allocation.
/// - Source: SP-PIFO §4.1, algorithm 1; the ways to push down §4.2.2. Algorithm 1 does not say what becomes of the bounds when the
///   queue is full; the authors' simulator leaves them as they are, and so does this unless told otherwise ([`Adapts`]).
/// - Departures: bounds saturate at 0, below which no rank is; only [`PushDown::Rank`] could fall there. The scan runs from the first
///   queue to the last and has no early end, so that no branch depends on the rank. Where algorithm 1 asks for `r < q[0]` alone, an
///   inversion here is that no bound is reached; this is the same for bounds in order, which they are but under [`PushDown::Rank`],
///   where a packet may reach a later bound that fell below the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpPifo {
    bounds: Bounds,
    push_down: PushDown,
    adapts: Adapts,
    moved: Moved,
}

/// Queues whose bounds stand in the scheduler itself, as many as most ports have.
const FEW: usize = 8;

/// The bounds. Few of them need no memory of their own: where many ports take turns, each place that a packet leads to is one that the
/// processor's cache may not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Bounds {
    /// So many of them. The others are larger than ranks are, so that a search may look at all.
    Few(u8, [u64; FEW]),
    Many(Box<[u64]>),
}

impl Bounds {
    fn new(queues: usize) -> Self {
        if queues > FEW {
            return Self::Many(vec![0; queues].into());
        }
        let mut bounds = [u64::MAX; FEW];
        bounds[..queues].fill(0);
        Self::Few(queues as u8, bounds)
    }

    /// The last queue whose bound is at most `rank`, or the first if there is none.
    #[inline]
    fn queue_of(&self, rank: u64) -> usize {
        match self {
            // A rank as large as the bounds that are not there also reaches the last one that is.
            Self::Few(queues, bounds) => queue_of(bounds, rank).min(usize::from(*queues) - 1),
            Self::Many(bounds) => queue_of(bounds, rank),
        }
    }
}

impl Deref for Bounds {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        match self {
            Self::Few(queues, bounds) => &bounds[..usize::from(*queues)],
            Self::Many(bounds) => bounds,
        }
    }
}

impl DerefMut for Bounds {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        match self {
            Self::Few(queues, bounds) => &mut bounds[..usize::from(*queues)],
            Self::Many(bounds) => bounds,
        }
    }
}

impl SpPifo {
    /// Makes an SP-PIFO for `queues` queues, adapting to the packets that are taken in.
    ///
    /// # Errors
    ///
    /// If that is 0 or more than [`MOST_QUEUES`].
    pub fn new(queues: usize, push_down: PushDown) -> Result<Self, BadShape> {
        BadShape::check("a number of queues", queues as u64, 1..=MOST_QUEUES)?;
        Ok(Self { bounds: Bounds::new(queues), push_down, adapts: Adapts::OnAccepted, moved: Moved::All })
    }

    /// The same, adapting to the packets that `adapts` says.
    #[must_use]
    pub fn adapting(self, adapts: Adapts) -> Self {
        Self { adapts, ..self }
    }

    /// The smallest rank that each queue takes now.
    pub fn bounds(&self) -> &[u64] {
        &self.bounds
    }

    /// Bounds that the last packet moved.
    #[inline]
    pub fn moved(&self) -> Moved {
        self.moved
    }

    /// Moves the bounds after `rank` was mapped to `queue`.
    #[inline]
    fn adapt(&mut self, queue: usize, rank: u64) {
        // Only this way to push down leaves bounds out of order.
        let in_order = self.push_down != PushDown::Rank;
        self.moved = if in_order { Moved::Bound(queue) } else { Moved::All };
        let bounds = &mut *self.bounds;
        if rank < bounds[queue] {
            self.push_down.apply(bounds, rank);
            self.moved = Moved::All;
        }
        bounds[queue] = rank;
    }
}

impl Mapper for SpPifo {
    fn queues(&self) -> Option<usize> {
        Some(self.bounds.len())
    }

    #[inline]
    fn map(&mut self, Rank(rank): Rank, bank: &FifoBank<Packet>) -> Option<usize> {
        let queue = self.bounds.queue_of(rank);
        if self.adapts == Adapts::OnArrival || bank.has_room(queue) {
            self.adapt(queue, rank);
        } else {
            self.moved = Moved::Nothing;
        }
        Some(queue)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trueplane_units::Nanos;

    use super::super::super::{Banked, Scheduler};
    use super::*;

    impl SpPifo {
        /// Maps a packet that there is room for.
        fn take_in(&mut self, rank: u64) -> usize {
            let bank = FifoBank::new(self.bounds.len(), 1).unwrap();
            self.map(Rank(rank), &bank).unwrap()
        }
    }

    fn packet(rank: u64) -> Packet {
        Packet { rank: Rank(rank), flow: 0, bytes: 1, handle: 0, arrival: Nanos(0) }
    }

    #[test]
    fn the_example_of_figure_3() {
        let mut sp_pifo = SpPifo::new(2, PushDown::Cost).unwrap();
        // The first packet is the rightmost of [1, 2, 5, 4, 1, 4, 3].
        let steps = [3, 4, 1, 4, 5, 2, 1].map(|rank| (sp_pifo.take_in(rank), sp_pifo.bounds().to_vec()));
        let expected =
            [(1, [0, 3]), (1, [0, 4]), (0, [1, 4]), (1, [1, 4]), (1, [1, 5]), (0, [2, 5]), (0, [1, 4])];
        assert_eq!(steps, expected.map(|(queue, bounds)| (queue, bounds.to_vec())));
    }

    #[test]
    fn an_inversion_pushes_down_by_every_strategy() {
        let after = |push_down| {
            let mut sp_pifo = SpPifo::new(4, push_down).unwrap();
            sp_pifo.bounds.copy_from_slice(&[10, 12, 20, 21]);
            assert_eq!(sp_pifo.take_in(7), 0);
            sp_pifo.bounds().to_vec()
        };
        assert_eq!(after(PushDown::Cost), [7, 9, 17, 18]);
        assert_eq!(after(PushDown::QueueBound), [7, 7, 12, 20]);
        assert_eq!(after(PushDown::QueueBoundText), [7, 10, 12, 20]);
        assert_eq!(after(PushDown::Rank), [7, 5, 13, 14]);
        assert_eq!(after(PushDown::One), [7, 11, 19, 20]);
        let names = PushDown::ALL.iter().map(|push_down| push_down.name()).collect::<Vec<_>>();
        assert_eq!(names, ["cost", "queue-bound", "rank", "one", "queue-bound-text"]);
    }

    #[test]
    fn one_queue_is_a_fifo_and_none_is_an_error() {
        for &push_down in PushDown::ALL {
            let mut one = SpPifo::new(1, push_down).unwrap();
            assert_eq!([5, 3, 0, 9].map(|rank| one.take_in(rank)), [0; 4]);
            assert_eq!(one.bounds(), [9]);
        }
        let error = SpPifo::new(0, PushDown::Cost).unwrap_err();
        assert_eq!(error.to_string(), "expected a number of queues from 1 to 4096, got 0");
    }

    /// What a full queue refuses moves the bounds only if every arrival does.
    #[test]
    fn a_packet_that_is_dropped_moves_bounds_only_on_request() {
        let after = |adapts| {
            let mapper = SpPifo::new(2, PushDown::Cost).unwrap().adapting(adapts);
            let mut port = Banked::new(2, 1, mapper).unwrap();
            let dropped = [5, 3, 9, 1].map(|rank| port.enqueue(packet(rank)).is_some());
            assert_eq!(dropped, [false, false, true, true]);
            port.mapper().bounds().to_vec()
        };
        assert_eq!(after(Adapts::OnAccepted), [3, 5]);
        // 9 pushes the second bound up to it, and 1 pushes both down by 3 − 1.
        assert_eq!(after(Adapts::OnArrival), [1, 7]);
        assert_eq!(SpPifo::new(2, PushDown::Cost).unwrap().adapts, Adapts::OnAccepted);
    }

    /// Algorithm 1, line by line: signed numbers, queues from 1, and what the push-down of §4.2.2 is. `full` are the queues without
    /// room.
    fn algorithm_1(q: &mut [i128], r: i128, (push_down, adapts): (PushDown, Adapts), full: &[bool]) -> usize {
        let n = q.len();
        let mut i = n;
        while !(r >= q[i - 1] || i == 1) {
            i -= 1;
        }
        if adapts == Adapts::OnAccepted && full[i - 1] {
            return i - 1;
        }
        let before = q.to_vec();
        q[i - 1] = r;
        if i == 1 && r < before[0] {
            for j in 2..=n {
                q[j - 1] = match push_down {
                    PushDown::Cost => before[j - 1] - (before[0] - r),
                    PushDown::QueueBound if j == 2 => q[0],
                    PushDown::QueueBound | PushDown::QueueBoundText => before[j - 2],
                    PushDown::Rank => before[j - 1] - r,
                    PushDown::One => before[j - 1] - 1,
                }
                .max(0);
            }
        }
        i - 1
    }

    fn ranks() -> impl Strategy<Value = Vec<u64>> {
        let rank = prop_oneof![8 => 0..12u64, 4 => 0..1_000u64, 1 => any::<u64>(), 1 => Just(u64::MAX)];
        prop::collection::vec(rank, 1..200)
    }

    proptest! {
        #[test]
        fn is_algorithm_1(
            queues in 1..12usize,
            depth in 1..4usize,
            which in 0..PushDown::ALL.len(),
            adapts in prop_oneof![Just(Adapts::OnAccepted), Just(Adapts::OnArrival)],
            ranks in ranks(),
            served in prop::collection::vec(any::<bool>(), 200),
        ) {
            let push_down = PushDown::ALL[which];
            let mut port = Banked::new(queues, depth, SpPifo::new(queues, push_down).unwrap().adapting(adapts)).unwrap();
            let mut naive = vec![0; queues];
            for (rank, served) in ranks.into_iter().zip(served) {
                let before: Vec<usize> = (0..queues).map(|queue| port.bank().len_of(queue)).collect();
                let full: Vec<bool> = before.iter().map(|&length| length == depth).collect();
                let queue = algorithm_1(&mut naive, rank.into(), (push_down, adapts), &full);
                prop_assert_eq!(port.enqueue(packet(rank)).is_some(), full[queue]);
                prop_assert_eq!(port.bank().len_of(queue), before[queue] + usize::from(!full[queue]));
                let bounds = port.mapper().bounds();
                prop_assert!(bounds.iter().zip(&naive).all(|(&bound, &naive)| i128::from(bound) == naive));
                prop_assert!(push_down == PushDown::Rank || bounds.is_sorted());
                if served {
                    port.dequeue();
                }
            }
        }
    }
}
