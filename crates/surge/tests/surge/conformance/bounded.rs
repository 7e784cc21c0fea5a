//! What goes when the buffer is full.

use proptest::prelude::*;
use trueplane_surge::{Bounded, Capacity, Overflow, Packet, Policy};
use trueplane_units::Nanos;

use super::table::{CAPACITY, table};

fn packet(flow: u64, bits: u32, work: u64) -> Packet {
    Packet { flow, bits, work: Nanos(work) }
}

/// A policy in a box is one.
struct Boxed(Box<dyn Policy<u64>>);

impl Policy<u64> for Boxed {
    fn capacity(&self) -> usize {
        self.0.capacity()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn arrive(&mut self, packet: Packet, item: u64, now: Nanos) -> Result<(), u64> {
        self.0.arrive(packet, item, now)
    }
    fn serve(&mut self, now: Nanos) -> Option<(Packet, u64)> {
        self.0.serve(now)
    }
    fn drop_worst(&mut self, now: Nanos) -> Option<(Packet, u64)> {
        self.0.drop_worst(now)
    }
}

fn capacity() -> impl Strategy<Value = Capacity> {
    prop_oneof![(1..CAPACITY - 1).prop_map(Capacity::Packets), (1..20_000u64).prop_map(Capacity::Bits)]
}

proptest! {
    #[test]
    fn a_buffer_never_holds_more_and_loses_nothing_unsaid(
        capacity in capacity(),
        overflow in prop::sample::select(vec![Overflow::DropNewcomer, Overflow::DropWorst]),
        steps in prop::collection::vec((0..6u64, 512..3_000u32, 0..10_000u64, 0..10u8), 1..200),
    ) {
        for row in table() {
            let mut buffer = Bounded::new(Boxed(row.policy), Some(capacity), overflow).unwrap();
            let (mut waiting, mut bits) = (std::collections::HashSet::new(), 0u64);
            for (number, &(flow, size, work, act)) in steps.iter().enumerate() {
                let (number, now) = (number as u64, Nanos(number as u64 * 1_000));
                if act < 3 {
                    if let Some((packet, number)) = buffer.serve(now) {
                        prop_assert!(waiting.remove(&number));
                        bits -= u64::from(packet.bits);
                    }
                    continue;
                }
                let (before, newcomer) = (waiting.len(), packet(flow, size, work));
                let mut dropped = Vec::new();
                // With sizes of 512 bits at least, what fits in so many bits fits in the policy.
                prop_assert!(buffer.arrive(newcomer, number, now, |packet, number| dropped.push((packet, number))).is_ok());
                waiting.insert(number);
                bits += u64::from(size);
                let fits = match capacity {
                    Capacity::Packets(most) => before < most,
                    Capacity::Bits(most) => bits <= most,
                };
                prop_assert_eq!(dropped.is_empty(), fits, "{}", row.name);
                if overflow == Overflow::DropNewcomer {
                    prop_assert!(dropped.iter().all(|&(_, dropped)| dropped == number));
                }
                for (packet, number) in dropped {
                    prop_assert!(waiting.remove(&number), "{}", row.name);
                    bits -= u64::from(packet.bits);
                }
                prop_assert_eq!((buffer.policy().len(), buffer.bits()), (waiting.len(), bits));
                let keeps = match capacity {
                    Capacity::Packets(most) => waiting.len() <= most,
                    Capacity::Bits(most) => bits <= most,
                };
                prop_assert!(keeps, "{}", row.name);
            }
        }
    }
}

/// An attacker who fills the buffer with what will not be served soon keeps nobody out, if the worst goes.
#[test]
fn the_worst_makes_room_for_the_better() {
    use trueplane_surge::policy::Wsjf;
    // The attacker's have one rank, of which the oldest goes first.
    for (overflow, kept) in [(Overflow::DropWorst, vec![9, 8, 7]), (Overflow::DropNewcomer, vec![0, 1, 2])] {
        let mut buffer = Bounded::new(Wsjf::new(4).unwrap(), Some(Capacity::Packets(3)), overflow).unwrap();
        for number in 0..8 {
            let _ = buffer.arrive(packet(number, 512, 100_000 + number), number, Nanos(0), |_, _| {});
        }
        for (number, work) in [(8, 2_000), (9, 1_000)] {
            buffer.arrive(packet(number, 12_000, work), number, Nanos(0), |_, _| {}).unwrap();
        }
        let order: Vec<u64> = std::iter::from_fn(|| Some(buffer.serve(Nanos(0))?.1)).collect();
        assert_eq!(order, kept);
    }
}

/// What can never fit goes alone.
#[test]
fn a_packet_larger_than_the_buffer_drives_nobody_out() {
    use trueplane_surge::policy::Wsjf;
    let mut buffer =
        Bounded::new(Wsjf::new(4).unwrap(), Some(Capacity::Bits(1_000)), Overflow::DropWorst).unwrap();
    buffer.arrive(packet(1, 800, 1_000), 1u64, Nanos(0), |_, _| {}).unwrap();
    let mut dropped = Vec::new();
    buffer.arrive(packet(2, 1_001, 1), 2, Nanos(0), |_, number| dropped.push(number)).unwrap();
    assert_eq!((dropped, buffer.bits()), (vec![2], 800));
}

/// A policy that is full before the buffer is would refuse newcomers instead of dropping the worst.
#[test]
fn a_policy_too_small_for_its_buffer_is_refused() {
    use trueplane_surge::policy::Wsjf;
    let of = |room, capacity, overflow| {
        let policy = Wsjf::<u64>::new(room).unwrap();
        Bounded::new(policy, Some(Capacity::Packets(capacity)), overflow)
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let refused = "expected a policy with a capacity of 5 or more, got 4";
    assert_eq!(of(4, 4, Overflow::DropWorst), Err(refused.to_owned()));
    assert_eq!(of(5, 4, Overflow::DropWorst), Ok(()));
    assert_eq!(of(4, 4, Overflow::DropNewcomer), Ok(()));
    assert!(of(3, 4, Overflow::DropNewcomer).is_err());
}
