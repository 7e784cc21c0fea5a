//! No order at all.

use trueplane_pqueue::FifoBank;
use trueplane_units::Rank;

use crate::{Mapper, Packet};

/// FIFO: packets leave in the order in which they came, whatever their ranks.
///
/// What every other scheduler is held against. Everything goes to the first queue; with one queue of the whole depth this is the
/// drop-tail FIFO of every switch. Cost: O(1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fifo;

impl Mapper for Fifo {
    #[inline]
    fn map(&mut self, _rank: Rank, _bank: &FifoBank<Packet>) -> Option<usize> {
        Some(0)
    }
}
