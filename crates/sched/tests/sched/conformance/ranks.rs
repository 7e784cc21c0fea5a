//! What every rank must do, and what each is for.

use proptest::prelude::*;
use trueplane_sched::Scheduler;
use trueplane_sched::policy::Pifo;
use trueplane_sched::rank::{
    Edf, Fifo, FifoPlus, Lstf, PFabric, PacketMeta, RankPolicy, Srpt, Stfq, StrictClass,
};
use trueplane_units::{Nanos, Rank};

use super::packet;

/// Every rank.
fn table() -> Vec<(&'static str, Box<dyn RankPolicy>)> {
    vec![
        ("fifo", Box::new(Fifo)),
        ("fifo+", Box::new(FifoPlus)),
        ("strict class", Box::new(StrictClass)),
        ("pfabric", Box::new(PFabric)),
        ("srpt", Box::new(Srpt::new(16).expect("flows"))),
        ("stfq", Box::new(Stfq::new(16).expect("flows"))),
        ("lstf", Box::new(Lstf)),
        ("edf", Box::new(Edf)),
    ]
}

/// A number as a packet from anywhere may have it.
fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..2_000u64, 1 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn any_packet() -> impl Strategy<Value = PacketMeta> {
    let per_flow = (0..40u64, any::<u8>(), prop_oneof![0..4u32, any::<u32>()]);
    let lengths = (prop_oneof![0..1_500u32, any::<u32>()], any_number(), any_number());
    let times = (any_number(), any_number(), any::<i64>());
    (per_flow, lengths, times).prop_map(
        |((flow, class, weight), (bytes, flow_bytes, remaining_bytes), times)| {
            let (slack, deadline, excess_wait_ns) = (Nanos(times.0), Nanos(times.1), times.2);
            PacketMeta {
                flow,
                bytes,
                class,
                weight,
                flow_bytes,
                remaining_bytes,
                slack,
                deadline,
                excess_wait_ns,
            }
        },
    )
}

proptest! {
    /// Whatever packets say, and at any time: a rank, and the same again.
    #[test]
    fn any_packet_has_a_rank(
        packets in prop::collection::vec((any_packet(), any_number(), prop::option::of(any_number())), 1..60),
    ) {
        for ((name, mut policy), (_, mut twin)) in table().into_iter().zip(table()) {
            for (packet, now, departs) in &packets {
                prop_assert_eq!(policy.rank(packet, Nanos(*now)), twin.rank(packet, Nanos(*now)), "{}", name);
                if let Some(rank) = departs {
                    policy.departs(Rank(*rank));
                    twin.departs(Rank(*rank));
                }
            }
        }
    }

    /// Flows that all wait complete in the order of their lengths; and the packets of each leave from its end, for a PIFO puts what is
    /// left least before what was sent first.
    #[test]
    fn short_flows_complete_first(lengths in prop::collection::vec(1..30u64, 1..12), stateless in any::<bool>()) {
        let mut policy: Box<dyn RankPolicy> =
            if stateless { Box::new(PFabric) } else { Box::new(Srpt::new(1_000).unwrap()) };
        let mut pifo = Pifo::new(1_000).unwrap();
        // One packet of every flow in turn.
        for sent in 0..30 {
            for (flow, &flow_bytes) in (0..).zip(&lengths).filter(|&(_, &length)| sent < length) {
                let remaining_bytes = flow_bytes - sent;
                let meta = PacketMeta { flow, bytes: 1, flow_bytes, remaining_bytes, ..PacketMeta::default() };
                let rank = policy.rank(&meta, Nanos(sent));
                prop_assert_eq!(rank, Rank(remaining_bytes));
                prop_assert_eq!(pifo.enqueue(packet(sent as usize, rank.0, flow, 1)), None);
            }
        }
        let mut sent = vec![0; lengths.len()];
        let mut completed = Vec::new();
        while let Some(packet) = pifo.dequeue() {
            let flow = packet.flow as usize;
            sent[flow] += 1;
            prop_assert_eq!(packet.arrival.0, lengths[flow] - sent[flow], "from the end");
            if sent[flow] == lengths[flow] {
                completed.push(lengths[flow]);
            }
        }
        prop_assert_eq!(completed.len(), lengths.len());
        prop_assert!(completed.is_sorted(), "{completed:?}");
    }

    /// Packets of one length for which some order is in time: these two ranks find one.
    #[test]
    fn the_earliest_deadline_first_is_in_time_if_anything_is(
        slots in prop::collection::vec((0..5u64, 0..5u64), 1..60),
        by_slack in any::<bool>(),
    ) {
        let mut policy: Box<dyn RankPolicy> = if by_slack { Box::new(Lstf) } else { Box::new(Edf) };
        let mut pifo = Pifo::new(slots.len()).unwrap();
        // The packet that could have the slot came some slots before, and may wait until some slots later.
        let times = |(slot, &(early, late)): (u64, &(u64, u64))| (slot.saturating_sub(early), slot + late);
        let packets: Vec<(u64, u64)> = (0..).zip(&slots).map(times).collect();
        for now in 0..(slots.len() + 5) as u64 {
            for &(arrival, deadline) in packets.iter().filter(|&&(arrival, _)| arrival == now) {
                let meta = PacketMeta {
                    slack: Nanos(deadline - arrival),
                    deadline: Nanos(deadline),
                    ..PacketMeta::default()
                };
                prop_assert_eq!(policy.rank(&meta, Nanos(now)), Rank(deadline));
                prop_assert_eq!(pifo.enqueue(packet(0, deadline, 0, 1)), None);
            }
            if let Some(packet) = pifo.dequeue() {
                prop_assert!(packet.rank.0 >= now, "late at {}: {:?}", now, packets);
            }
        }
        prop_assert!(pifo.is_empty());
    }

    #[test]
    fn fifo_plus_of_packets_that_waited_as_long_as_all_is_a_fifo(now in any::<u64>()) {
        let packet = PacketMeta::default();
        prop_assert_eq!(FifoPlus.rank(&packet, Nanos(now)), Fifo.rank(&packet, Nanos(now)));
    }
}
