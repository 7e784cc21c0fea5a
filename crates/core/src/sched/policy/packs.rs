//! A gate and queues in one.

use super::super::{Mapper, Packet};
use super::quantile::Window;
use crate::pqueue::{BadShape, FifoBank, PriorityQueue};
use crate::units::Rank;

/// PACKS: takes in what a PIFO would not drop, and gives every queue the share of the ranks that it has room for.
///
/// A packet goes to the first queue `i` for which the share of the last arrivals that had smaller ranks is at most
/// 1/(1 − k) × (free places in the queues up to `i`)/(places in all queues); if there is none it is dropped. The gate is the one of
/// [`Aifo`](super::Aifo) over all queues; with one queue it is AIFO. Bounds so follow both the ranks and the occupancy: a queue that
/// fills up hands the ranks at its end to the next.
///
/// - Rank: any. The headroom `k` is a share of the whole buffer.
/// - Cost: O(window + queues). All products are integers: nothing is rounded.
/// - Source: Gran Alcoz, Vass, Namyar, Arzani, Rétvári, Vanbever, *Everything Matters in Programmable Packet Scheduling*, NSDI 2025,
///   with the free places of each queue; their simulator of 2023 gave every queue an equal share of all free places instead.
/// - Departures: a full queue is passed over. A full queue adds no free places, so this changes only what becomes of a rank that
///   none of the window was below (quantile 0), which fits even where nothing is free: it goes to the next queue with room instead
///   of being dropped. Every arrival is in the window, after it was compared with those before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packs {
    window: Window,
}

impl Packs {
    /// Compares with the last `window` arrivals; the headroom is `headroom_per_mille`/1000 of the buffer.
    ///
    /// # Errors
    ///
    /// If the window is 0 or longer than 2²⁰, or the headroom is not below 1000.
    pub fn new(window: usize, headroom_per_mille: u32) -> Result<Self, BadShape> {
        Ok(Self { window: Window::new(window, headroom_per_mille)? })
    }
}

impl Mapper for Packs {
    fn map(&mut self, rank: Rank, bank: &FifoBank<Packet>) -> Option<usize> {
        let quantile = self.window.arrive(rank);
        let mut free = 0;
        (0..bank.queues()).find(|&queue| {
            let here = bank.depth() - bank.len_of(queue);
            free += here;
            here > 0 && quantile.fits(free, bank.capacity())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Banked, Scheduler};
    use super::super::Aifo;
    use super::*;
    use crate::units::Nanos;
    use proptest::prelude::*;

    fn packet(rank: u64) -> Packet {
        Packet { rank: Rank(rank), flow: 0, bytes: 1, arrival: Nanos(0) }
    }

    fn lengths(packs: &Banked<Packs>) -> Vec<usize> {
        (0..packs.bank().queues()).map(|queue| packs.bank().len_of(queue)).collect()
    }

    #[test]
    fn queues_share_the_ranks_by_their_free_places() {
        let mut packs = Banked::new(2, 2, Packs::new(4, 0).unwrap()).unwrap();
        assert_eq!(packs.enqueue(packet(4)), None); // none before: quantile 0
        assert_eq!(lengths(&packs), [1, 0]);
        assert_eq!(packs.enqueue(packet(9)), Some(packet(9))); // {4}: 1 > 3/4
        assert_eq!(packs.enqueue(packet(6)), None); // {4, 9}: 1/2 > 1/4, ≤ 3/4
        assert_eq!(lengths(&packs), [1, 1]);
        assert_eq!(packs.enqueue(packet(5)), None); // {4, 9, 6}: 1/3 > 1/4, ≤ 2/4
        assert_eq!(lengths(&packs), [1, 2]);
        assert_eq!(packs.enqueue(packet(5)), None); // {4, 9, 6, 5}: 1/4 ≤ 1/4
        assert_eq!(lengths(&packs), [2, 2]);
        assert_eq!(packs.enqueue(packet(0)), Some(packet(0)));
    }

    #[test]
    fn the_smallest_rank_passes_over_a_full_queue() {
        let mut packs = Banked::new(2, 1, Packs::new(4, 0).unwrap()).unwrap();
        assert_eq!(
            [packs.enqueue(packet(2)), packs.enqueue(packet(2)), packs.enqueue(packet(1))],
            [None, None, Some(packet(1))]
        );
    }

    proptest! {
        #[test]
        fn with_one_queue_it_is_aifo(
            depth in 1..12usize,
            window in 1..12usize,
            headroom in 0..=999u32,
            steps in prop::collection::vec(prop::option::weighted(0.7, 0..20u64), 1..100),
        ) {
            let mut packs = Banked::new(1, depth, Packs::new(window, headroom).unwrap()).unwrap();
            let mut aifo = Banked::new(1, depth, Aifo::new(window, headroom).unwrap()).unwrap();
            for step in steps {
                match step {
                    Some(rank) => prop_assert_eq!(packs.enqueue(packet(rank)), aifo.enqueue(packet(rank))),
                    None => prop_assert_eq!(packs.dequeue(), aifo.dequeue()),
                }
            }
        }
    }
}
