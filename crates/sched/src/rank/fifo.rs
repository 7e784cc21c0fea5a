//! First come, first served.

use trueplane_units::{Nanos, Rank};

use super::{PacketMeta, RankPolicy};

/// FIFO: the rank is the time of arrival.
///
/// Rank unit: ns. Cost: O(1), no state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fifo;

impl RankPolicy for Fifo {
    fn rank(&mut self, _packet: &PacketMeta, now: Nanos) -> Rank {
        Rank(now.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_come_goes_first() {
        assert_eq!(Fifo.rank(&PacketMeta::default(), Nanos(7)), Rank(7));
    }
}
