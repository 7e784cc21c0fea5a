//! Bounds that stay.

use trueplane_pqueue::bank::MOST_QUEUES;
use trueplane_pqueue::{BadShape, FifoBank};
use trueplane_units::Rank;

use crate::bounds::queue_of;
use crate::{Mapper, Packet};

/// Strict priority with fixed bounds: the queue `i` takes the ranks from its bound to below that of the queue `i + 1`.
///
/// What an operator configures who knows the ranks. [`bounds::uniform`](super::super::bounds::uniform) and
/// [`bounds::optimal`](super::super::bounds::optimal) are what the others are held against. With the bounds 0, 1, 2, … it is a PIFO
/// for as many ranks as there are queues, until something is dropped: a PIFO drops the worst, a full FIFO whatever comes.
///
/// Cost: O(queues). Source: SP-PIFO §2 (the mapping), §4.2.1 (the optimum as a baseline).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    bounds: Box<[u64]>,
}

impl Fixed {
    /// A queue for every bound; the smallest rank of each.
    ///
    /// # Errors
    ///
    /// If there are no bounds or more than [`MOST_QUEUES`], if the first is not 0, or if one is below the one before it.
    pub fn new(bounds: Vec<u64>) -> Result<Self, BadShape> {
        BadShape::check("a number of queues", bounds.len() as u64, 1..=MOST_QUEUES)?;
        if bounds[0] > 0 {
            return Err(BadShape { expected: "0 as the first bound".into(), found: bounds[0] });
        }
        for pair in bounds.windows(2) {
            if pair[1] < pair[0] {
                return Err(BadShape {
                    expected: format!("a bound of at least {}", pair[0]),
                    found: pair[1],
                });
            }
        }
        Ok(Self { bounds: bounds.into() })
    }

    /// The smallest rank of every queue.
    pub fn bounds(&self) -> &[u64] {
        &self.bounds
    }
}

impl Mapper for Fixed {
    fn queues(&self) -> Option<usize> {
        Some(self.bounds.len())
    }

    #[inline]
    fn map(&mut self, rank: Rank, _bank: &FifoBank<Packet>) -> Option<usize> {
        Some(queue_of(&self.bounds, rank.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_goes_to_the_last_queue_that_it_reaches() {
        // The example of SP-PIFO §2.
        let mut fixed = Fixed::new(vec![0, 3, 5]).unwrap();
        let bank = FifoBank::new(3, 1).unwrap();
        let queues = [0, 2, 3, 4, 5, 10, u64::MAX].map(|rank| fixed.map(Rank(rank), &bank));
        assert_eq!(queues, [0, 0, 1, 1, 2, 2, 2].map(Some));
    }

    #[test]
    fn bounds_must_be_in_order_and_begin_at_0() {
        let message = |bounds: Vec<u64>| Fixed::new(bounds).unwrap_err().to_string();
        assert_eq!(message(vec![]), "expected a number of queues from 1 to 4096, got 0");
        assert_eq!(message(vec![1, 2]), "expected 0 as the first bound, got 1");
        assert_eq!(message(vec![0, 5, 3]), "expected a bound of at least 5, got 3");
        assert!(Fixed::new(vec![0, 0, 7, 7]).is_ok());
    }
}
