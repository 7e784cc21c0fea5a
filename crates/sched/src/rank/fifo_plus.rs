//! First come, first served along the whole path.

use trueplane_units::{Nanos, Rank};

use super::{PacketMeta, RankPolicy};

/// FIFO+: the rank is when the packet would have come, had it waited at every hop before as long as the average of its class.
///
/// Rank: arrival − excess wait, in ns; a packet that waited longer than others so far goes before those that came a little earlier. It
/// narrows the tail of the delay over several hops. Each hop adds to `excess_wait_ns` what the packet waited there, less the average
/// of its class there; that is the driver's part.
///
/// Cost: O(1), no state. Source: Clark, Shenker, Zhang, *Supporting Real-Time Applications in an Integrated Services Packet Network*,
/// SIGCOMM 1992. Departure: the rank saturates at both ends of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FifoPlus;

impl RankPolicy for FifoPlus {
    fn rank(&mut self, packet: &PacketMeta, now: Nanos) -> Rank {
        let excess = packet.excess_wait_ns.unsigned_abs();
        if packet.excess_wait_ns < 0 {
            Rank(now.0.saturating_add(excess))
        } else {
            Rank(now.0.saturating_sub(excess))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waited_longer_elsewhere_goes_before_who_came_earlier() {
        let rank = |now, excess_wait_ns| {
            FifoPlus.rank(&PacketMeta { excess_wait_ns, ..PacketMeta::default() }, Nanos(now))
        };
        assert_eq!([rank(100, 0), rank(120, 30), rank(90, -30)], [Rank(100), Rank(90), Rank(120)]);
        assert_eq!([rank(5, i64::MAX), rank(u64::MAX - 5, i64::MIN)], [Rank(0), Rank(u64::MAX)]);
    }
}
