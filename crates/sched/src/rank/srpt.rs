//! The least that is left first, as seen here.

use trueplane_pqueue::BadShape;
use trueplane_units::{Nanos, Rank};

use super::{FlowTable, PacketMeta, RankPolicy};

/// SRPT: shortest remaining processing time; the rank is what is left of the flow, counted here.
///
/// Rank: the length of the flow less the bytes of it that arrived before this packet, in bytes, 0 at least. Serving what is left least
/// first minimises the mean completion time on one link.
///
/// - State: per flow the bytes that arrived, in a [`FlowTable`]; the least recently used flow of a set makes room. A flow that was
///   evicted counts from the beginning, so that its ranks are too large by what it has sent, and others that are longer than what it
///   has left go first. If the rank is to be right for `n` flows at a time, ask for a few times as many.
/// - Cost: O(1).
/// - Source: Schrage, *A Proof of the Optimality of the Shortest Remaining Processing Time Discipline*, Operations Research 1968; as a
///   rank, Sivaraman et al., SIGCOMM 2016, and SP-PIFO §8.
/// - Departures: packets of one flow that wait together leave in reverse, as with [`PFabric`](super::PFabric). What counts is what
///   arrives here, so bytes that are dropped later and sent again count twice; a flow whose name is used again for another goes on where it was, until it is evicted.
#[derive(Clone, Debug)]
pub struct Srpt {
    flows: FlowTable<Progress>,
    /// Packets so far, as a clock for what was used last.
    clock: u64,
}

/// Progress of a flow.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    arrived_bytes: u64,
    used: u64,
}

impl Srpt {
    /// With state for `flows` flows.
    ///
    /// # Errors
    ///
    /// As [`FlowTable::new`].
    pub fn new(flows: usize) -> Result<Self, BadShape> {
        Ok(Self { flows: FlowTable::new(flows)?, clock: 0 })
    }
}

impl RankPolicy for Srpt {
    fn rank(&mut self, packet: &PacketMeta, _now: Nanos) -> Rank {
        self.clock += 1;
        let progress = self.flows.entry(packet.flow, Progress::default(), |progress| progress.used);
        let left = packet.flow_bytes.saturating_sub(progress.arrived_bytes);
        progress.arrived_bytes = progress.arrived_bytes.saturating_add(packet.bytes.into());
        progress.used = self.clock;
        Rank(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(srpt: &mut Srpt, flow: u64, bytes: u32, flow_bytes: u64) -> u64 {
        srpt.rank(&PacketMeta { flow, bytes, flow_bytes, ..PacketMeta::default() }, Nanos(0)).0
    }

    #[test]
    fn what_arrived_is_not_left() {
        let mut srpt = Srpt::new(8).unwrap();
        let ranks: Vec<u64> = (0..4).map(|_| rank(&mut srpt, 1, 1_500, 4_000)).collect();
        assert_eq!(ranks, [4_000, 2_500, 1_000, 0]); // the last is sent again
        assert_eq!(rank(&mut srpt, 2, 500, 500), 500);
    }

    #[test]
    fn agrees_with_a_sender_that_counts_itself() {
        let mut srpt = Srpt::new(8).unwrap();
        for (index, left) in (1..=7).rev().enumerate() {
            for flow in 0..3 {
                let sender = left * 1_000 * (flow + 1);
                let bytes = 1_000 * (flow as u32 + 1);
                assert_eq!(
                    rank(&mut srpt, flow, bytes, 7_000 * (flow + 1)),
                    sender,
                    "packet {index} of {flow}"
                );
            }
        }
    }

    #[test]
    fn the_least_recently_used_flow_begins_again() {
        let mut srpt = Srpt::new(8).unwrap();
        for flow in 0..8 {
            assert_eq!(rank(&mut srpt, flow, 100, 1_000), 1_000);
        }
        assert_eq!(rank(&mut srpt, 0, 100, 1_000), 900); // flow 1 is now the one
        assert_eq!(rank(&mut srpt, 8, 100, 1_000), 1_000);
        assert_eq!(rank(&mut srpt, 0, 100, 1_000), 800);
        assert_eq!(rank(&mut srpt, 2, 100, 1_000), 900);
        assert_eq!(rank(&mut srpt, 1, 100, 1_000), 1_000);
    }
}
