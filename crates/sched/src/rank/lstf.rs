//! The least slack first.

use trueplane_units::{Nanos, Rank};

use super::{PacketMeta, RankPolicy};

/// LSTF: the packet that can wait least goes first.
///
/// Rank: arrival + slack, in ns, the time at which no slack is left. At any moment the slack that is left is this less the time, for
/// all packets alike, so that the order of ranks is the order of slacks left. Each hop takes from the slack what the packet waited
/// there; that is the driver's part. With all slacks equal this is FIFO+ without averages; it replays nearly any schedule, if slacks
/// are set by it.
///
/// Cost: O(1), no state. Source: Mittal, Agarwal, Ratnasamy, Shenker, *Universal Packet Scheduling*, NSDI 2016. Departures: the
/// slack counts to the beginning of the transmission and not to its end, and nothing is preempted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lstf;

impl RankPolicy for Lstf {
    fn rank(&mut self, packet: &PacketMeta, now: Nanos) -> Rank {
        Rank(now.after(packet.slack).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_runs_out_while_packets_wait() {
        let rank =
            |now, slack| Lstf.rank(&PacketMeta { slack: Nanos(slack), ..PacketMeta::default() }, Nanos(now));
        // At 60 the first has 40 ns of its 100 left, the second all of its 50, the third all of its 30.
        assert_eq!([rank(0, 100), rank(60, 50), rank(60, 30)], [Rank(100), Rank(110), Rank(90)]);
        assert_eq!(rank(1, u64::MAX), Rank(u64::MAX));
    }
}
