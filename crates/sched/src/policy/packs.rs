//! A gate and queues in one.

use trueplane_pqueue::{BadShape, FifoBank};
use trueplane_units::Rank;

use super::quantile::Window;
use crate::{Mapper, Packet};

/// Rule by which PACKS compares a rank with the last arrivals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PacksRule {
    /// As its authors' simulator: the packet itself is one of the last arrivals, and its quantile must be less than what fits.
    #[default]
    Simulator,
    /// The arrivals before the packet, and its quantile must be at most what fits: with one queue this is
    /// [`AifoRule::AtMost`](super::AifoRule).
    Past,
}

/// PACKS: takes in what a PIFO would not drop, and gives every queue the share of the ranks that it has room for.
///
/// A packet goes to the first queue `i` that is not full and for which the share of the last arrivals that had smaller ranks is less
/// than 1/(1 − k) × (free places in the queues up to `i`)/(places in all queues); if there is none it is dropped. The gate is much
/// like the one of [`Aifo`](super::Aifo) over all queues. Bounds so follow both the ranks and the occupancy: a queue that fills up
/// hands the ranks at its end to the next.
///
/// - Rank: any. The headroom `k` is a share of the whole buffer.
/// - Cost: O(window + queues). All products are integers: nothing is rounded.
/// - Source: Gran Alcoz, Vass, Namyar, Arzani, Rétvári, Vanbever, *Everything Matters in Programmable Packet Scheduling*, NSDI 2025,
///   with the free places of each queue; what the window has in it, and that a quantile must be less, is from their simulator
///   (`PACKSQueue`), which in 2023 gave every queue an equal share of all free places instead.
/// - Departures: every arrival is in the window (the simulator may sample one in several).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packs {
    window: Window,
    rule: PacksRule,
}

impl Packs {
    /// Compares with the last `window` arrivals; the headroom is `headroom_per_mille`/1000 of the buffer.
    ///
    /// # Errors
    ///
    /// If the window is 0 or longer than 2²⁰, or the headroom is not below 1000.
    pub fn new(window: usize, headroom_per_mille: u32) -> Result<Self, BadShape> {
        Ok(Self { window: Window::new(window, headroom_per_mille)?, rule: PacksRule::Simulator })
    }

    /// The same by another rule.
    #[must_use]
    pub fn by(self, rule: PacksRule) -> Self {
        Self { rule, ..self }
    }
}

impl Mapper for Packs {
    fn map(&mut self, rank: Rank, bank: &FifoBank<Packet>) -> Option<usize> {
        let quantile = match self.rule {
            PacksRule::Simulator => {
                self.window.add(rank);
                self.window.share(rank)
            }
            PacksRule::Past => self.window.arrive(rank),
        };
        let mut free = 0;
        (0..bank.queues()).find(|&queue| {
            let here = bank.depth() - bank.len_of(queue);
            free += here;
            here > 0
                && match self.rule {
                    PacksRule::Simulator => quantile.fits_strictly(free, bank.capacity()),
                    PacksRule::Past => quantile.fits(free, bank.capacity()),
                }
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trueplane_units::Nanos;

    use super::super::super::{Banked, Scheduler};
    use super::super::{Aifo, AifoRule};
    use super::*;

    fn packet(rank: u64) -> Packet {
        Packet { rank: Rank(rank), flow: 0, bytes: 1, handle: 0, arrival: Nanos(0) }
    }

    fn lengths(packs: &Banked<Packs>) -> Vec<usize> {
        (0..packs.bank().queues()).map(|queue| packs.bank().len_of(queue)).collect()
    }

    /// Two queues, a window of four and no headroom, by the rule that looks at the past alone.
    fn past(depth: usize) -> Banked<Packs> {
        Banked::new(2, depth, Packs::new(4, 0).unwrap().by(PacksRule::Past)).unwrap()
    }

    #[test]
    fn by_the_simulator_a_packet_is_one_of_the_last_arrivals_and_must_be_below_what_fits() {
        let mut packs = Banked::new(2, 2, Packs::new(4, 0).unwrap()).unwrap();
        assert_eq!(packs.enqueue(packet(4)), None); // {4}: 0 < 2/4
        assert_eq!(lengths(&packs), [1, 0]);
        assert_eq!(packs.enqueue(packet(9)), None); // {4, 9}: 1/2 ≥ 1/4, < 3/4
        assert_eq!(lengths(&packs), [1, 1]);
        assert_eq!(packs.enqueue(packet(6)), None); // {4, 9, 6}: 1/3 ≥ 1/4, < 2/4
        assert_eq!(lengths(&packs), [1, 2]);
        assert_eq!(packs.enqueue(packet(5)), Some(packet(5))); // {4, 9, 6, 5}: 1/4 = 1/4
        assert_eq!(packs.enqueue(packet(5)), None); // {9, 6, 5, 5}: 0 < 1/4
        assert_eq!(lengths(&packs), [2, 2]);
        assert_eq!(packs.enqueue(packet(0)), Some(packet(0)));
    }

    #[test]
    fn queues_share_the_ranks_by_their_free_places() {
        let mut packs = past(2);
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
        let simulator = Banked::new(2, 1, Packs::new(4, 0).unwrap()).unwrap();
        for mut packs in [past(1), simulator] {
            assert_eq!(
                [packs.enqueue(packet(2)), packs.enqueue(packet(2)), packs.enqueue(packet(1))],
                [None, None, Some(packet(1))]
            );
        }
    }

    proptest! {
        #[test]
        fn with_one_queue_and_the_past_it_is_aifo(
            depth in 1..12usize,
            window in 1..12usize,
            headroom in 0..=999u32,
            steps in prop::collection::vec(prop::option::weighted(0.7, 0..20u64), 1..100),
        ) {
            let mut packs = Banked::new(1, depth, Packs::new(window, headroom).unwrap().by(PacksRule::Past)).unwrap();
            let mut aifo = Banked::new(1, depth, Aifo::new(window, headroom).unwrap().by(AifoRule::AtMost)).unwrap();
            for step in steps {
                match step {
                    Some(rank) => prop_assert_eq!(packs.enqueue(packet(rank)), aifo.enqueue(packet(rank))),
                    None => prop_assert_eq!(packs.dequeue(), aifo.dequeue()),
                }
            }
        }
    }
}
