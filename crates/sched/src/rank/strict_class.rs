//! Classes of service.

use trueplane_units::{Nanos, Rank};

use super::{PacketMeta, RankPolicy};

/// Strict priority of classes: the rank is the class, 0 first.
///
/// Rank: 0 to 255, no unit. A class waits as long as any before it has packets. Cost: O(1), no state. Source: what every
/// switch offers, with as many classes as it has queues; here there may be more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StrictClass;

impl RankPolicy for StrictClass {
    fn rank(&mut self, packet: &PacketMeta, _now: Nanos) -> Rank {
        Rank(packet.class.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_0_goes_first() {
        let rank = |class| StrictClass.rank(&PacketMeta { class, ..PacketMeta::default() }, Nanos(u64::MAX));
        assert_eq!([rank(0), rank(255)], [Rank(0), Rank(255)]);
    }
}
