//! Fair shares by virtual time.

use trueplane_pqueue::BadShape;
use trueplane_units::{Nanos, Rank};

use super::{FlowTable, PacketMeta, RankPolicy};

/// A unit of virtual time is 1/256 of a byte of a flow of weight 1.
const FRACTION_BITS: u32 = 8;

/// STFQ: start-time fair queueing, which shares a link between flows in proportion to their weights.
///
/// Every packet has a start tag and a finish tag in virtual time. It starts when its flow's packet before it finishes, and not before
/// the present: `start = max(v, finish of the flow)`, `finish = start + ⌈bytes × 2⁸ / weight⌉`. The rank is the start tag, and the
/// virtual time `v` is the start tag of the packet that began to be sent last. Between two flows that always have packets waiting, what
/// they were sent, divided by their weights, differs by at most a packet of each, divided by its weight (Goyal, theorem 1), **as long as
/// nothing is dropped**: a packet is charged to its flow when it comes, so a flow whose packets are dropped waits for them all the same,
/// and one that sends more than its share may get far less than it.
///
/// - Rank unit: 2⁻⁸ bytes at weight 1. It saturates, and is a FIFO from then on: a link of 100 Gbit/s with one flow of weight
///   1 takes 66 days to get there. Make a new policy when nothing waits.
/// - State: per flow its last finish tag, in a [`FlowTable`]; of a set, the flow with the smallest makes room. A flow whose finish tag
///   is at or behind `v` loses nothing: `v` never goes back, so its next start tag is max(v, finish) = v, which is what a flow that
///   was never seen gets. As long as every set has such an entry, or room, ranks are those of a table without end. Else a flow
///   forgets how far it was ahead, and gains that, at every eviction.
/// - Cost: O(1), a division.
/// - Source: Goyal, Vin, Cheng, *Start-Time Fair Queuing*, SIGCOMM 1996; as a rank, Sivaraman et al., SIGCOMM 2016.
/// - Departures: when nothing waits any more Goyal sets `v` to the largest finish tag so far; here, as in Sivaraman's, it stays: a flow
///   that comes back at once after all were idle may start up to one packet behind one that is new. If packets do not leave in the
///   order of their ranks (SP-PIFO), `v` stays at the largest. The quotient is rounded up, so that a large weight is not for free.
#[derive(Clone, Debug)]
pub struct Stfq {
    finishes: FlowTable<u64>,
    virtual_time: u64,
}

impl Stfq {
    /// With state for `flows` flows.
    ///
    /// # Errors
    ///
    /// As [`FlowTable::new`].
    pub fn new(flows: usize) -> Result<Self, BadShape> {
        Ok(Self { finishes: FlowTable::new(flows)?, virtual_time: 0 })
    }

    /// The virtual time now.
    pub fn virtual_time(&self) -> Rank {
        Rank(self.virtual_time)
    }
}

impl RankPolicy for Stfq {
    fn rank(&mut self, packet: &PacketMeta, _now: Nanos) -> Rank {
        let finish = self.finishes.entry(packet.flow, 0, |&finish| finish);
        let start = self.virtual_time.max(*finish);
        let length = (u64::from(packet.bytes) << FRACTION_BITS).div_ceil(packet.weight.max(1).into());
        *finish = start.saturating_add(length);
        Rank(start)
    }

    fn departs(&mut self, rank: Rank) {
        self.virtual_time = self.virtual_time.max(rank.0);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use trueplane_pqueue::{Overflow, Pifo};

    use super::*;

    fn packet(flow: u64, bytes: u32, weight: u32) -> PacketMeta {
        PacketMeta { flow, bytes, weight, ..PacketMeta::default() }
    }

    #[test]
    fn tags_follow_the_flow_and_the_virtual_time() {
        let mut stfq = Stfq::new(8).unwrap();
        let mut rank = |flow, bytes, weight| stfq.rank(&packet(flow, bytes, weight), Nanos(0)).0;
        assert_eq!([rank(1, 1_000, 1), rank(1, 1_000, 1), rank(1, 1, 1)], [0, 256_000, 512_000]);
        assert_eq!([rank(2, 1_000, 4), rank(2, 1_000, 4), rank(2, 1, 3)], [0, 64_000, 128_000]);
        assert_eq!([rank(2, 1, 0), rank(2, 0, 1)], [128_086, 128_342]); // 256/3 rounded up; a weight of 0 is 1
        stfq.departs(Rank(300_000));
        stfq.departs(Rank(200_000)); // out of order
        assert_eq!(stfq.virtual_time(), Rank(300_000));
        let mut rank = |flow| stfq.rank(&packet(flow, 100, 1), Nanos(0)).0;
        assert_eq!([rank(1), rank(2), rank(3)], [512_256, 300_000, 300_000]);
    }

    #[test]
    fn ranks_saturate() {
        let mut stfq = Stfq::new(8).unwrap();
        stfq.departs(Rank(u64::MAX - 1));
        let ranks = [0; 2].map(|_| stfq.rank(&packet(1, u32::MAX, 1), Nanos(0)));
        assert_eq!(ranks, [Rank(u64::MAX - 1), Rank(u64::MAX)]);
    }

    /// The same without bounds.
    #[derive(Default)]
    struct Naive {
        finishes: HashMap<u64, u64>,
        virtual_time: u64,
    }

    impl Naive {
        fn rank(&mut self, packet: &PacketMeta) -> u64 {
            let start = self.virtual_time.max(self.finishes.get(&packet.flow).copied().unwrap_or(0));
            let length = (u64::from(packet.bytes) * 256).div_ceil(packet.weight.into());
            self.finishes.insert(packet.flow, start + length);
            start
        }
    }

    /// A flow with its weight, the lengths of its packets in turn, and what it was sent.
    #[derive(Clone, Debug)]
    struct Backlogged {
        weight: u32,
        lengths: Vec<u32>,
        came: usize,
        sent: u64,
    }

    fn backlogged() -> impl Strategy<Value = Vec<Backlogged>> {
        let lengths = prop::collection::vec(prop_oneof![64..1_500u32, Just(1_500)], 1..6);
        let flow = (1..1_000u32, lengths).prop_map(|(weight, lengths)| Backlogged {
            weight,
            lengths,
            came: 0,
            sent: 0,
        });
        prop::collection::vec(flow, 2..7)
    }

    proptest! {
        /// Flows come and go; as long as no more than eight are ahead of virtual time, the table of one set forgets nothing that
        /// matters, however many flows there were.
        #[test]
        fn evicting_what_is_behind_virtual_time_changes_no_rank(
            packets in prop::collection::vec((0..4u64, 1..1_500u32, 1..5u32), 1..200),
        ) {
            let (mut stfq, mut naive) = (Stfq::new(8).unwrap(), Naive::default());
            let mut evicted = false;
            for (index, &(flow, bytes, weight)) in packets.iter().enumerate() {
                // Names move on, so that in all there are many more than eight.
                let flow = flow + index as u64 / 10;
                let packet = packet(flow, bytes, weight);
                let rank = stfq.rank(&packet, Nanos(0));
                prop_assert_eq!(rank.0, naive.rank(&packet));
                let ahead: Vec<_> = naive.finishes.values().filter(|&&finish| finish > naive.virtual_time).collect();
                if ahead.len() >= 8 {
                    // Serve up to the fourth of them.
                    let mut finishes: Vec<u64> = ahead.into_iter().copied().collect();
                    finishes.sort_unstable();
                    naive.virtual_time = finishes[3];
                    stfq.departs(Rank(finishes[3]));
                }
                evicted |= naive.finishes.len() > 8;
            }
            prop_assert!(evicted || packets.len() < 80);
        }

        /// Goyal, theorem 1, with what rounding adds: at most a unit for every packet.
        #[test]
        fn backlogged_flows_share_by_weight(mut flows in backlogged()) {
            let mut stfq = Stfq::new(64).unwrap();
            let mut pifo = Pifo::new(64, Overflow::Refuse).unwrap();
            let arrive = |stfq: &mut Stfq, pifo: &mut Pifo<(usize, u32)>, flows: &mut [Backlogged], index: usize| {
                let flow = &mut flows[index];
                let bytes = flow.lengths[flow.came % flow.lengths.len()];
                flow.came += 1;
                let rank = stfq.rank(&packet(index as u64, bytes, flow.weight), Nanos(0));
                pifo.insert(rank.0, (index, bytes)).expect("room");
            };
            for index in 0..flows.len() {
                arrive(&mut stfq, &mut pifo, &mut flows, index);
                arrive(&mut stfq, &mut pifo, &mut flows, index);
            }
            for step in 0..500u64 {
                let (rank, (index, bytes)) = pifo.extract_min().expect("backlogged");
                stfq.departs(Rank(rank));
                flows[index].sent += u64::from(bytes);
                arrive(&mut stfq, &mut pifo, &mut flows, index);
                for (a, b) in flows.iter().flat_map(|a| flows.iter().map(move |b| (a, b))) {
                    let scaled = |bytes: u64, flow: &Backlogged| bytes as f64 / f64::from(flow.weight);
                    let longest = |flow: &Backlogged| scaled(flow.lengths.iter().max().copied().unwrap_or(0).into(), flow);
                    let rounding = (step + 1) as f64 / 256.0;
                    let apart = scaled(a.sent, a) - scaled(b.sent, b);
                    prop_assert!(apart <= longest(a) + longest(b) + rounding, "{apart}: {a:?} {b:?}");
                }
            }
        }
    }
}
