//! The earliest deadline first.

use trueplane_units::{Nanos, Rank};

use super::{PacketMeta, RankPolicy};

/// EDF: the rank is the deadline.
///
/// Rank unit: ns. Of packets of one length that are all there, if any order lets them leave in time, this one does;
/// it does not wait for a packet that is yet to come and more urgent. Cost: O(1), no state. Source:
/// Liu, Layland, *Scheduling Algorithms for Multiprogramming in a Hard-Real-Time Environment*, J. ACM 1973, §7 (where a task may be
/// interrupted, which a packet may not); as a rank, Sivaraman et al., SIGCOMM 2016.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edf;

impl RankPolicy for Edf {
    fn rank(&mut self, packet: &PacketMeta, _now: Nanos) -> Rank {
        Rank(packet.deadline.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_arrival_does_not_matter() {
        let rank = |now, deadline| {
            Edf.rank(&PacketMeta { deadline: Nanos(deadline), ..PacketMeta::default() }, Nanos(now))
        };
        assert_eq!([rank(0, 9), rank(8, 5)], [Rank(9), Rank(5)]);
    }
}
