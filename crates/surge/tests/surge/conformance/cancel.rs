//! Packets that are cancelled while they wait, against a list.

use proptest::prelude::*;
use trueplane_surge::policy::queue::MantissaBits;
use trueplane_surge::policy::{PolicyName, SjfExact, SjfNamed, WsjfExact, WsjfNamed};
use trueplane_surge::{Bounded, Capacity, Named, Overflow, Packet};
use trueplane_units::Nanos;

use super::naive::{Naive, Rounding};
use super::table::CAPACITY;

#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive(Packet),
    Serve,
    /// Cancels the packet of this number among all that have come, whether it still waits or not.
    Cancel(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let work = prop_oneof![(1..5u64).prop_map(|work| work * 1_000), any::<u64>()];
    let bits = prop_oneof![3 => (0..4u32).prop_map(|bits| bits * 512), 1 => 1..12_000u32];
    let packet =
        (0..6u64, bits, work).prop_map(|(flow, bits, work)| Packet { flow, bits, work: Nanos(work) });
    let step = prop_oneof![
        6 => packet.prop_map(Step::Arrive),
        2 => Just(Step::Serve),
        3 => any::<prop::sample::Index>().prop_map(Step::Cancel),
    ];
    prop::collection::vec(step, 1..300)
}

/// A buffer written out: what waits is a list of packets with their numbers, and their order is that of `naive`.
struct List {
    naive: Naive,
    waiting: Vec<(Packet, u64)>,
    most_packets: usize,
    most_bits: u64,
    overflow: Overflow,
}

impl List {
    fn bits(&self) -> u64 {
        self.waiting.iter().map(|(packet, _)| u64::from(packet.bits)).sum()
    }

    fn fits(&self, packets: usize, bits: u64) -> bool {
        packets <= self.most_packets && bits <= self.most_bits
    }

    fn leave(&mut self, left: Option<(Packet, u64)>) -> Option<(Packet, u64)> {
        self.waiting.retain(|waiting| Some(waiting.1) != left.map(|left| left.1));
        left
    }

    /// Adds a packet and returns those that go for it.
    fn arrive(&mut self, packet: Packet, number: u64) -> Vec<(Packet, u64)> {
        let packet = Packet { bits: packet.bits.max(1), ..packet };
        let size = u64::from(packet.bits);
        let alone = self.fits(1, size);
        let fits = self.fits(self.waiting.len() + 1, self.bits() + size);
        if !alone || self.overflow == Overflow::DropNewcomer && !fits {
            return vec![(packet, number)];
        }
        self.naive.arrive(packet, number);
        self.waiting.push((packet, number));
        let mut dropped = Vec::new();
        while !self.fits(self.waiting.len(), self.bits()) {
            let worst = self.naive.drop_worst();
            dropped.extend(self.leave(worst));
        }
        dropped
    }

    fn serve(&mut self) -> Option<(Packet, u64)> {
        let served = self.naive.serve();
        self.leave(served)
    }

    fn cancel(&mut self, number: u64) -> Option<(Packet, u64)> {
        let cancelled = self.naive.cancel(number);
        self.leave(cancelled)
    }
}

/// Does `steps` to a buffer, and holds every answer to the list.
fn follow<P: Named<u64>>(
    name: &str,
    policy: P,
    naive: Naive,
    capacity: Capacity,
    overflow: Overflow,
    steps: &[Step],
) {
    let (most_packets, most_bits) = match capacity {
        Capacity::Packets(packets) => (packets, u64::MAX),
        Capacity::Bits(bits) => (policy.capacity() - 1, bits),
    };
    let mut buffer = match capacity {
        Capacity::Packets(packets) => Bounded::with_capacity(packets, overflow, |_| Ok(policy)),
        Capacity::Bits(bits) => Bounded::with_bits(bits, most_packets, overflow, |_| Ok(policy)),
    }
    .unwrap();
    let mut list = List { naive, waiting: Vec::new(), most_packets, most_bits, overflow };
    // The name of every packet that has come; `None` if it was dropped at once.
    let mut names: Vec<Option<P::Name>> = Vec::new();
    for &step in steps {
        match step {
            Step::Arrive(packet) => {
                let number = names.len() as u64;
                let mut dropped = Vec::new();
                let arrived = buffer
                    .arrive_named(packet, number, Nanos(0), |packet, number| dropped.push((packet, number)));
                names.push(arrived.expect("the policy has the room that the buffer needs"));
                assert_eq!(dropped, list.arrive(packet, number), "{name}");
                let waits = list.waiting.iter().any(|&(_, waiting)| waiting == number);
                assert_eq!(names[number as usize].is_some(), waits, "{name}");
            }
            Step::Serve => assert_eq!(buffer.serve(Nanos(0)), list.serve(), "{name}"),
            Step::Cancel(_) if names.is_empty() => {}
            Step::Cancel(index) => {
                let number = index.index(names.len());
                let Some(named) = names[number] else { continue };
                let found = list.waiting.iter().find(|&&(_, waiting)| waiting == number as u64).copied();
                assert_eq!(buffer.find(named).copied(), found, "{name}");
                assert_eq!(buffer.cancel(named), list.cancel(number as u64), "{name}");
                assert_eq!(buffer.cancel(named), None, "{name}: a packet leaves once");
            }
        }
        assert_eq!((buffer.len(), buffer.bits()), (list.waiting.len(), list.bits()), "{name}");
    }
    for number in (0..names.len()).step_by(2) {
        let cancelled = names[number].and_then(|named| buffer.cancel(named));
        assert_eq!(cancelled, list.cancel(number as u64), "{name}");
    }
    for served in buffer.drain(Nanos(0)) {
        assert_eq!(Some(served), list.serve(), "{name} at the end");
    }
    assert_eq!((buffer.len(), buffer.bits(), list.waiting.len()), (0, 0, 0), "{name}");
}

fn capacity() -> impl Strategy<Value = Capacity> {
    prop_oneof![(1..CAPACITY).prop_map(Capacity::Packets), (1..20_000u64).prop_map(Capacity::Bits)]
}

proptest! {
    #[test]
    fn what_is_cancelled_leaves_its_place_to_others(
        capacity in capacity(),
        overflow in prop::sample::select(vec![Overflow::DropNewcomer, Overflow::DropWorst]),
        steps in steps(),
    ) {
        let (room, usual, coarse) = (CAPACITY, MantissaBits::default(), MantissaBits(2));
        let naive = |rule, MantissaBits(bits)| Naive::new(rule, Rounding::Mantissa(bits));
        let exact = |rule| Naive::new(rule, Rounding::None);
        let (wsjf, sjf) = (PolicyName::Wsjf, PolicyName::Sjf);
        let shaped = WsjfNamed::with_shape(room, coarse).unwrap();
        follow("wsjf", WsjfNamed::new(room).unwrap(), naive(wsjf, usual), capacity, overflow, &steps);
        follow("wsjf coarse", shaped, naive(wsjf, coarse), capacity, overflow, &steps);
        follow("wsjf exact", WsjfExact::new(room).unwrap(), exact(wsjf), capacity, overflow, &steps);
        follow("sjf", SjfNamed::new(room).unwrap(), naive(sjf, usual), capacity, overflow, &steps);
        follow("sjf exact", SjfExact::new(room).unwrap(), exact(sjf), capacity, overflow, &steps);
    }
}

/// A hundred clients open good requests and go away at once: nobody who comes later is turned away for them.
#[test]
fn clients_that_go_away_keep_nobody_out() {
    let mut buffer: Bounded<WsjfNamed<u64>> =
        Bounded::with_capacity(100, Overflow::DropWorst, WsjfNamed::new).unwrap();
    let packet = |bits| Packet { flow: 0, bits, work: Nanos(1_000) };
    for number in 0..100 {
        let name = buffer.arrive_named(packet(1 << 20), number, Nanos(0), |_, _| panic!("there is room"));
        assert!(buffer.cancel(name.unwrap().unwrap()).is_some());
    }
    for number in 100..200 {
        assert_eq!(buffer.arrive(packet(8), number, Nanos(0), |_, _| panic!("there is room")), Ok(()));
    }
    assert_eq!((buffer.len(), buffer.bits()), (100, 800));
}
