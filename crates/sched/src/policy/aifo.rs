//! One queue, and a gate before it.

use trueplane_pqueue::{BadShape, FifoBank};
use trueplane_units::Rank;

use super::quantile::Window;
use crate::{Mapper, Packet};

/// Rule by which AIFO compares a quantile with the room that is left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AifoRule {
    /// As its authors' simulator: the quantile must be less, but within the headroom everybody comes in.
    #[default]
    Simulator,
    /// Rule of the paper: the quantile must be at most that.
    AtMost,
}

/// AIFO: one FIFO that takes in what a PIFO would not drop.
///
/// It orders nothing; it approximates *which* packets leave. A packet comes in if the share of the last arrivals that had smaller
/// ranks is less than 1/(1 − k) × (C − c)/C, with `c` packets waiting of `C` at most: the fuller the buffer, the smaller the ranks. Of
/// the buffer the share `k`, the headroom, is for everybody: up to `c` = k × C the right-hand side is at least 1, and all come in.
///
/// - Rank: any. One queue; of several only the first is used, and the rest count as free.
/// - Cost: O(window). All products are integers: nothing is rounded.
/// - Source: Yu et al., *Programmable Packet Scheduling with a Single Queue*, SIGCOMM 2021, and `AIFOOutputPort` in `netx-repo/AIFO`,
///   which counts packets as this does. A rank is compared with those before it, and is in the window afterwards.
/// - Departures: every arrival is in the window (the paper may sample one in several).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aifo {
    window: Window,
    rule: AifoRule,
}

impl Aifo {
    /// Compares with the last `window` arrivals; the headroom is `headroom_per_mille`/1000 of the buffer.
    ///
    /// # Errors
    ///
    /// If the window is 0 or longer than 2²⁰, or the headroom is not below 1000.
    pub fn new(window: usize, headroom_per_mille: u32) -> Result<Self, BadShape> {
        Ok(Self { window: Window::new(window, headroom_per_mille)?, rule: AifoRule::Simulator })
    }

    /// The same by another rule.
    #[must_use]
    pub fn by(self, rule: AifoRule) -> Self {
        Self { rule, ..self }
    }
}

impl Mapper for Aifo {
    fn map(&mut self, rank: Rank, bank: &FifoBank<Packet>) -> Option<usize> {
        let (waiting, capacity) = (bank.len(), bank.capacity());
        let share = self.window.arrive(rank);
        let comes_in = match self.rule {
            AifoRule::Simulator => {
                share.fits_strictly(capacity - waiting, capacity)
                    || self.window.is_within_headroom(waiting, capacity)
            }
            AifoRule::AtMost => share.fits(capacity - waiting, capacity),
        };
        comes_in.then_some(0)
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Nanos;

    use super::super::super::{Banked, Scheduler};
    use super::*;

    fn packet(rank: u64) -> Packet {
        Packet { rank: Rank(rank), flow: 0, bytes: 1, handle: 0, arrival: Nanos(0) }
    }

    #[test]
    fn the_fuller_the_buffer_the_smaller_the_rank_must_be() {
        let mut aifo = Banked::new(1, 4, Aifo::new(4, 0).unwrap().by(AifoRule::AtMost)).unwrap();
        // c/C, the last arrivals, the quantile: what comes in.
        assert_eq!(aifo.enqueue(packet(5)), None); // 0/4, none
        assert_eq!(aifo.enqueue(packet(7)), Some(packet(7))); // 1/4, {5}: 1 > 3/4
        assert_eq!(aifo.enqueue(packet(6)), None); // 1/4, {5, 7}: 1/2 ≤ 3/4
        assert_eq!(aifo.enqueue(packet(6)), None); // 2/4, {5, 7, 6}: 1/3 ≤ 1/2
        assert_eq!(aifo.enqueue(packet(6)), None); // 3/4, {5, 7, 6, 6}: 1/4 ≤ 1/4
        assert_eq!(aifo.enqueue(packet(1)), Some(packet(1))); // 4/4: the smallest rank, and no place
        assert_eq!(aifo.dequeue(), Some(packet(5)));
        assert_eq!(aifo.enqueue(packet(7)), Some(packet(7))); // 3/4, {6, 6, 6, 1}: 1 > 1/4
    }

    #[test]
    fn by_the_simulator_a_rank_must_be_below_what_fits() {
        let mut aifo = Banked::new(1, 4, Aifo::new(4, 0).unwrap()).unwrap();
        assert_eq!(aifo.enqueue(packet(5)), None); // 0/4: within a headroom of nothing
        assert_eq!(aifo.enqueue(packet(7)), Some(packet(7))); // 1/4, {5}: 1 ≥ 3/4
        assert_eq!(aifo.enqueue(packet(6)), None); // 1/4, {5, 7}: 1/2 < 3/4
        assert_eq!(aifo.enqueue(packet(6)), None); // 2/4, {5, 7, 6}: 1/3 < 1/2
        assert_eq!(aifo.enqueue(packet(6)), Some(packet(6))); // 3/4, {5, 7, 6, 6}: 1/4 = 1/4
        assert_eq!(aifo.enqueue(packet(1)), None); // 3/4, {7, 6, 6, 6}: 0 < 1/4
    }

    #[test]
    fn within_the_headroom_everybody_comes_in() {
        for rule in [AifoRule::Simulator, AifoRule::AtMost] {
            let mut aifo = Banked::new(1, 10, Aifo::new(10, 500).unwrap().by(rule)).unwrap();
            let accepted = (0..20).filter(|&rank| aifo.enqueue(packet(rank)).is_none()).count();
            assert_eq!(accepted, 6, "{rule:?}"); // each the largest so far: those that find c = 0, …, 5 = k × C
        }
    }
}
