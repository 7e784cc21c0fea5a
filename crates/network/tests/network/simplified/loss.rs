//! Whatever is lost, delayed, marked or repeated: all bytes arrive, and the sender hears of it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use proptest::collection::vec;
use proptest::prelude::*;
use trueplane_network::Nanos;
use trueplane_network::transport::{Ecn, End, Segment, SendingEnd, Simplified, Transport};

use super::PLAIN;

/// What becomes of a segment: when its copies arrive, later than they would.
type Fate = Vec<u64>;

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        6 => Just(vec![0]),
        3 => Just(vec![]),
        2 => (1..100_000_u64).prop_map(|late| vec![late]),
        1 => (1..3_000_000_u64).prop_map(|late| vec![late]),
        1 => (1..100_000_u64).prop_map(|late| vec![0, late]),
    ]
}

/// Sends so many bytes over a path of 10 µs and checks each segment. `fates` are those of the first segments in each direction.
fn carry(settings: Simplified, bytes: u64, fates: [&[Fate]; 2]) -> Result<(), TestCaseError> {
    let (mut sender, mut receiver) = settings.connect(bytes).unwrap();
    let mut events = BinaryHeap::from([Reverse((Nanos(0), 0, None::<(usize, usize)>))]);
    let mut sent: [Vec<Segment>; 2] = [Vec::new(), Vec::new()];
    let (segment, mut highest) = (u64::from(settings.segment), 0);
    let mut order = 1;
    let mut wakeups = BTreeSet::new();
    while let Some(Reverse((now, _, event))) = events.pop() {
        prop_assert!(order < 100_000, "it does not end");
        match event {
            Some((0, index)) => receiver.on_segment(&sent[0][index], now),
            Some((_, index)) => sender.on_segment(&sent[1][index], now),
            None => {}
        }
        let mut polled: Vec<(usize, Segment)> = Vec::new();
        while let Some(data) = sender.poll(now) {
            if data.length > 0 {
                let (start, end) = (data.sequence, data.sequence + u64::from(data.length));
                prop_assert_eq!((start - 1) % segment, 0);
                prop_assert!(end == bytes + 1 || u64::from(data.length) == segment && end <= bytes);
                prop_assert!(start <= highest.max(1), "a hole before {data:?}");
                prop_assert_eq!(sender.remaining(&data), bytes - start);
                highest = highest.max(end);
            }
            polled.push((0, data));
        }
        while let Some(ack) = receiver.poll(now) {
            prop_assert!(ack.ack <= highest.max(1));
            polled.push((1, ack));
        }
        for (direction, mut one) in polled {
            let index = sent[direction].len();
            if one.ecn == Ecn::Capable && index.is_multiple_of(3) {
                one.ecn = Ecn::Experienced;
            }
            sent[direction].push(one);
            let at_once = vec![0];
            for late in fates[direction].get(index).unwrap_or(&at_once) {
                order += 1;
                let arrival = now.after(Nanos(10_000 + late));
                events.push(Reverse((arrival, order, Some((direction, index)))));
            }
        }
        for wakeup in [End::wakeup(&sender), End::wakeup(&receiver)].into_iter().flatten() {
            prop_assert!(wakeup > now, "a wake-up that is not in the future");
            // One event a time is enough: with one for each event that there was, there would be more and more of them.
            if wakeups.insert(wakeup) {
                order += 1;
                events.push(Reverse((wakeup, order, None)));
            }
        }
        prop_assert!(receiver.received() <= bytes && receiver.received() < highest.max(1));
        if sender.is_done() {
            prop_assert_eq!(receiver.received(), bytes);
        }
    }
    prop_assert!(sender.is_done(), "nothing will happen any more");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_bytes_arrive_and_are_acknowledged(
        which in 0..4_usize,
        bytes in prop_oneof![1..60_000_u64, 1..4_u64],
        forth in vec(fate(), 0..60),
        back in vec(fate(), 0..40),
    ) {
        let settings = [PLAIN, Simplified::TCP, Simplified::DCTCP, Simplified::PFABRIC][which];
        carry(settings, bytes, [&forth, &back])?;
    }
}

/// The loss of each segment, and of each pair, in each direction.
#[test]
fn any_two_losses_are_repaired() {
    let fates = |lost: [usize; 2]| -> Vec<Fate> {
        (0..30).map(|index| if lost.contains(&index) { vec![] } else { vec![0] }).collect()
    };
    for one in 0..25 {
        for other in one..25 {
            let lost = fates([one, other]);
            carry(PLAIN, 20_000, [&lost, &[]]).unwrap();
            carry(PLAIN, 20_000, [&[], &lost]).unwrap();
            carry(PLAIN, 20_000, [&fates([one, one]), &fates([other, other])]).unwrap();
        }
    }
}
