//! A server whose requests take unequal time, as a program outside this crate has it.

use std::fmt::Debug;

use trueplane_surge::policy::{
    Drr, DrrExact, Fcfs, Fq, Sjf, SjfExact, SjfInorder, Wsjf, WsjfExact, WsjfHoq, WsjfInorder,
    WsjfInorderExact, WsjfNamed,
};
use trueplane_surge::{BadShape, Bounded, Bytes, Capacity, Nanos, Overflow, Packet, Policy};

const MILLISECOND: u64 = 1_000_000;
const BUFFER: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    User,
    Attacker,
}

/// Requests of users that were served in ten seconds, and how many requests were turned away.
///
/// Users send a request of 1500 bytes that takes 0.8 ms in every millisecond. An attacker sends one of 64 bytes that takes 100 ms in
/// every ten. The server takes the next request when it is done with the last one.
fn served<P: Policy<From>>(mut waiting: Bounded<P>, is_attacked: bool) -> (u64, u64) {
    let (mut free_at, mut served, mut turned_away) = (0, 0, 0);
    for millisecond in 0..10_000 {
        let now = millisecond * MILLISECOND;
        while free_at < now {
            let Some((job, from)) = waiting.serve(Nanos(free_at)) else { break };
            free_at += job.work.0;
            served += u64::from(from == From::User);
        }
        free_at = free_at.max(now);
        let user = Packet::of_bytes(millisecond % 50, Bytes(1_500), Nanos(800_000));
        let attack = Packet::of_bytes(1_000 + millisecond, Bytes(64), Nanos(100 * MILLISECOND));
        let attack = (is_attacked && millisecond % 10 == 0).then_some((attack, From::Attacker));
        for (job, from) in [(user, From::User)].into_iter().chain(attack) {
            let arrived = waiting.arrive(job, from, Nanos(now), |_, _| turned_away += 1);
            assert_eq!(arrived, Ok(()));
            assert!(waiting.len() <= BUFFER);
        }
    }
    (served, turned_away)
}

#[test]
fn users_are_served_whatever_an_attacker_sends() {
    let wsjf = || Bounded::<Wsjf<From>>::with_capacity(BUFFER, Overflow::DropWorst, Wsjf::new).unwrap();
    let (quiet, _) = served(wsjf(), false);
    let (attacked, turned_away) = served(wsjf(), true);
    assert!(quiet > 9_990, "{quiet}");
    // What comes during the last job of the attacker is served after the end.
    assert!(attacked + 200 >= quiet, "{attacked} of {quiet}");
    assert!(turned_away > 0);

    // First come, first served: a user is served for each tenth of a second that the attacker takes, and some more.
    let fcfs: Bounded<Fcfs<From>> =
        Bounded::with_capacity(BUFFER, Overflow::DropNewcomer, |room| Ok(Fcfs::new(room))).unwrap();
    let (attacked, _) = served(fcfs, true);
    assert!(attacked < quiet / 5, "{attacked} of {quiet}");
}

#[test]
fn a_capacity_is_said_once() {
    let of = |packets| Bounded::<Wsjf<u8>>::with_capacity(packets, Overflow::DropWorst, Wsjf::new);
    let mut buffer = of(2).unwrap();
    assert_eq!(buffer.capacity(), Some(Capacity::Packets(2)));
    for work in [3, 2, 1] {
        let mut dropped = Vec::new();
        let job = Packet::of_bytes(0, Bytes(1), Nanos(work));
        assert_eq!(buffer.arrive(job, work as u8, Nanos(0), |_, item| dropped.push(item)), Ok(()));
        assert_eq!(dropped, if work == 1 { vec![3] } else { vec![] });
    }
    assert_eq!((buffer.len(), buffer.is_empty(), buffer.bits()), (2, false, 16));
    assert_eq!(of(0).unwrap_err().to_string(), "expected a capacity of 1 or more, got 0");
    for many in [1 << 28, usize::MAX] {
        assert!(of(many).unwrap_err().to_string().starts_with("expected a capacity from 1 to"));
    }
    let newcomer = Bounded::<Wsjf<u8>>::with_capacity(2, Overflow::DropNewcomer, Wsjf::new).unwrap();
    assert_eq!(newcomer.policy().capacity(), 2);
}

/// Packets without bits would fill the policy while a buffer of bits seems empty, and keep everybody out.
#[test]
fn packets_without_bits_take_room() {
    let policy = Wsjf::new(11).unwrap();
    let mut buffer = Bounded::new(policy, Some(Capacity::Bits(10)), Overflow::DropWorst).unwrap();
    for number in 0..1_000 {
        let nothing = Packet { flow: 0, bits: 0, work: Nanos(1_000) };
        assert_eq!(buffer.arrive(nothing, number, Nanos(0), |_, _| {}), Ok(()));
        assert!(buffer.bits() <= 10);
    }
    assert_eq!((buffer.len(), buffer.bits()), (10, 10));
    let better = Packet { flow: 1, bits: 1, work: Nanos(1) };
    let mut dropped = 0;
    assert_eq!(buffer.arrive(better, 1_000, Nanos(0), |_, _| dropped += 1), Ok(()));
    assert_eq!((dropped, buffer.serve(Nanos(0))), (1, Some((better, 1_000))));
    while buffer.serve(Nanos(0)).is_some() {}
    assert_eq!(buffer.bits(), 0);
}

/// A policy that is full before the buffer is drops the worst, too, and refuses nobody.
#[test]
fn a_policy_that_is_full_drops_the_worst() {
    let bad = Packet { flow: 0, bits: 1, work: Nanos::from_secs(9) };
    let good = Packet { flow: 1, bits: 8_000, work: Nanos::from_millis(1) };
    let of = |capacity| Bounded::new(Wsjf::new(100).unwrap(), capacity, Overflow::DropWorst).unwrap();
    let with_bits = Bounded::with_bits(1_000_000, 99, Overflow::DropWorst, Wsjf::new).unwrap();
    for mut buffer in [of(Some(Capacity::Bits(1_000_000))), of(None), with_bits] {
        let mut dropped = Vec::new();
        for number in 0..100 {
            assert_eq!(buffer.arrive(bad, number, Nanos(0), |_, number| dropped.push(number)), Ok(()));
        }
        assert_eq!((&*dropped, buffer.len()), (&[0][..], 99));
        for number in 100..200 {
            assert_eq!(buffer.arrive(good, number, Nanos(0), |_, number| dropped.push(number)), Ok(()));
        }
        // The bad ones go, the oldest first, and then the oldest good one.
        assert_eq!(dropped, (0..=100).collect::<Vec<_>>());
        assert_eq!((buffer.len(), buffer.bits()), (99, 99 * 8_000));
        assert_eq!(
            buffer.drain(Nanos(0)).map(|(_, number)| number).collect::<Vec<_>>(),
            (101..200).collect::<Vec<_>>()
        );
    }
    let refused = Bounded::new(Wsjf::<u8>::new(1).unwrap(), None, Overflow::DropWorst).unwrap_err();
    assert_eq!(refused.to_string(), "expected a policy with a capacity of 2 or more, got 1");
    // The newcomer goes if that is the rule, to the policy's end.
    let mut buffer = Bounded::new(Wsjf::new(1).unwrap(), None, Overflow::DropNewcomer).unwrap();
    assert_eq!([1, 2].map(|number| buffer.arrive(bad, number, Nanos(0), |_, _| {})), [Ok(()), Err(2)]);
}

#[test]
fn a_buffer_of_bits_has_two_limits() {
    let of = |bits, most, overflow| Bounded::<Wsjf<u8>>::with_bits(bits, most, overflow, Wsjf::new);
    assert_eq!(
        of(0, 1, Overflow::DropWorst).unwrap_err().to_string(),
        "expected a capacity in bits of 1 or more, got 0"
    );
    assert_eq!(
        of(1, 0, Overflow::DropWorst).unwrap_err().to_string(),
        "expected a capacity of 1 or more, got 0"
    );
    // The third is one packet too many, the fourth too many of both, and the fifth has more bits than the buffer.
    let arrivals = [(3, 10), (2, 10), (1, 10), (4, 90), (5, 101)];
    for (overflow, expected) in [(Overflow::DropWorst, [3, 2, 5]), (Overflow::DropNewcomer, [1, 4, 5])] {
        let mut buffer = of(100, 2, overflow).unwrap();
        let mut dropped = Vec::new();
        for (work, bits) in arrivals {
            let packet = Packet { flow: 0, bits, work: Nanos(work) };
            assert_eq!(buffer.arrive(packet, work as u8, Nanos(0), |_, item| dropped.push(item)), Ok(()));
        }
        assert_eq!((&dropped[..], buffer.len()), (&expected[..], 2));
        // What the iterator does not return stays, until it is cleared.
        assert!(buffer.drain(Nanos(0)).next().is_some());
        assert_eq!(buffer.len(), 1);
        buffer.clear(Nanos(0));
        assert_eq!((buffer.len(), buffer.bits()), (0, 0));
    }
}

#[test]
fn sizes_that_no_packet_has_are_the_nearest_that_one_has() {
    let bits = |bytes| Packet::of_bytes(0, Bytes(bytes), Nanos(1)).bits;
    assert_eq!([0, 1, 1_500, 1 << 29, u64::MAX].map(bits), [1, 8, 12_000, u32::MAX, u32::MAX]);
}

/// A policy that is not all of this is an error when the tests are compiled.
const fn is_usual<T: Clone + Debug + Send + Sync + 'static>() {}
const fn is_error<E: std::error::Error + Send + Sync + 'static>() {}

const _: () = {
    is_usual::<Bounded<Wsjf<u8>>>();
    is_usual::<Bounded<WsjfExact<u8>>>();
    is_usual::<Sjf<u8>>();
    is_usual::<SjfExact<u8>>();
    is_usual::<Fcfs<u8>>();
    is_usual::<Fq<u8>>();
    is_usual::<Drr<u8>>();
    is_usual::<DrrExact<u8>>();
    is_usual::<WsjfHoq<u8>>();
    is_usual::<WsjfInorder<u8>>();
    is_usual::<WsjfInorderExact<u8>>();
    is_usual::<SjfInorder<u8>>();
    is_usual::<Packet>();
    is_usual::<Capacity>();
    is_error::<BadShape>();
};

#[test]
fn a_buffer_prints_what_waits_in_it() {
    let mut buffer: Bounded<Wsjf<u8>> = Bounded::with_capacity(5, Overflow::DropWorst, Wsjf::new).unwrap();
    for item in 0..2 {
        buffer.arrive(Packet::of_bytes(0, Bytes(1), Nanos(8)), item, Nanos(0), |_, _| {}).unwrap();
    }
    // Two packets of a nanosecond per bit, and not the places of all ranks.
    let printed = format!("{buffer:?}");
    assert!(printed.contains("{32768: 2}") && printed.len() < 400, "{printed}");
}

#[test]
fn a_buffer_begins_empty_and_has_room() {
    let mut policy: WsjfNamed<u32> = WsjfNamed::new(4).unwrap();
    let packet = Packet::of_bytes(0, Bytes(1), Nanos(1));
    policy.arrive(packet, 7, Nanos(0)).unwrap();
    let refused = |policy, capacity| Bounded::new(policy, Some(capacity), Overflow::DropWorst).map(|_| ());
    assert_eq!(
        refused(policy.clone(), Capacity::Packets(2)).unwrap_err().to_string(),
        "expected a policy in which no packet waits, got 1"
    );
    policy.serve(Nanos(0));
    for none in [Capacity::Packets(0), Capacity::Bits(0)] {
        assert!(refused(policy.clone(), none).is_err(), "{none:?}");
    }
    assert!(refused(policy, Capacity::Packets(2)).is_ok());
}
