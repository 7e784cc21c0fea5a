//! Sets of spans and the scoreboard against models that keep each sequence number by itself.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use trueplane_network::Nanos;
use trueplane_network::transport::recovery::{Heard, Stage};
use trueplane_network::transport::scoreboard::{Belief, Scoreboard};
use trueplane_network::transport::span::SpanSet;
use trueplane_network::transport::{LossRecovery, RoundTrip, Sack, Span, TimeoutSettings};

fn spans(numbers: &BTreeSet<u64>) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for &number in numbers {
        match spans.last_mut().filter(|last| last.end == number) {
            Some(last) => last.end += 1,
            None => spans.push(Span { start: number, end: number + 1 }),
        }
    }
    spans
}

#[derive(Clone, Debug)]
enum SetStep {
    Insert(u64, u64),
    RemoveBelow(u64),
}

fn set_step() -> impl Strategy<Value = SetStep> {
    prop_oneof![
        4 => (0..60_u64, 0..9_u64).prop_map(|(start, length)| SetStep::Insert(start, length)),
        1 => (0..60_u64).prop_map(SetStep::RemoveBelow),
    ]
}

#[derive(Clone, Debug)]
enum BoardStep {
    Send(u64),
    /// The bytes that are acknowledged, the blocks, and the least round-trip time so far.
    Acknowledge(u64, Vec<(u64, u64)>, Option<u64>),
    Lose(u64, u64),
    SendAgain,
}

fn board_step() -> impl Strategy<Value = BoardStep> {
    prop_oneof![
        4 => (1..6_u64).prop_map(BoardStep::Send),
        3 => (0..8_u64, vec((0..30_u64, 0..6_u64), 0..3), prop::option::of(0..20_u64))
            .prop_map(|(ack, blocks, least)| BoardStep::Acknowledge(ack, blocks, least)),
        2 => (0..30_u64, 0..12_u64).prop_map(|(from, length)| BoardStep::Lose(from, length)),
        3 => Just(BoardStep::SendAgain),
    ]
}

/// A byte as the model keeps it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Byte {
    belief: Belief,
    sent: u64,
    is_repeated: bool,
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sets_of_spans_are_sets_of_numbers(steps in vec(set_step(), 0..40), probe in (0..60_u64, 0..12_u64)) {
        let (mut set, mut model) = (SpanSet::new(), BTreeSet::new());
        for step in steps {
            match step {
                SetStep::Insert(start, length) => {
                    let before = model.len();
                    model.extend(start..start + length);
                    let new = set.insert(Span { start, end: start + length });
                    prop_assert_eq!(new, (model.len() - before) as u64);
                }
                SetStep::RemoveBelow(number) => {
                    model.retain(|known| *known >= number);
                    set.remove_below(number);
                }
            }
            prop_assert_eq!(set.spans(), &spans(&model)[..]);
            prop_assert_eq!(set.total(), model.len() as u64);
            let within = Span { start: probe.0, end: probe.0 + probe.1 };
            let missing: BTreeSet<u64> = (within.start..within.end).filter(|number| !model.contains(number)).collect();
            prop_assert_eq!(set.gap(within), spans(&missing).first().copied());
            prop_assert_eq!(set.covers(within), missing.is_empty());
            let found = spans(&model).into_iter().find(|span| (span.start..span.end).contains(&probe.0));
            prop_assert_eq!(set.containing(probe.0), found);
        }
    }

    #[test]
    fn the_scoreboard_counts_as_one_of_bytes_does(steps in vec(board_step(), 0..60)) {
        let mut board = Scoreboard::new(0);
        let mut model: Vec<Byte> = Vec::new();
        let (mut una, mut highest) = (0, 0_usize);
        for (now, step) in (0_u64..).zip(steps) {
            match step {
                BoardStep::Send(length) => {
                    let byte = Byte { belief: Belief::InFlight, sent: now, is_repeated: false };
                    model.extend(std::iter::repeat_n(byte, length as usize));
                    board.send(model.len() as u64, Nanos(now));
                }
                BoardStep::Acknowledge(forward, blocks, least) => {
                    let ack = (una as u64 + forward).min(model.len() as u64);
                    let blocks: Vec<Span> = blocks.iter().map(|&(from, length)| {
                        Span { start: una as u64 + from, end: una as u64 + from + length }
                    }).collect();
                    let (mut bytes, mut acked, mut newest, mut oldest, mut repeated) = (0, 0, None, None, false);
                    let (before, mut reordered) = (highest, false);
                    let mut arrive = |byte: &mut Byte, number: usize| {
                        if byte.belief != Belief::Sacked {
                            bytes += 1;
                            // What was sent again and comes too soon is the original.
                            let is_original = byte.is_repeated && least.is_some_and(|least| now - byte.sent < least);
                            newest = if is_original { newest } else { newest.max(Some((byte.sent, number as u64 + 1))) };
                            reordered |= number < before && !byte.is_repeated;
                            highest = highest.max(number + 1);
                            oldest = Some(oldest.map_or(byte.sent, |oldest: u64| oldest.min(byte.sent)));
                            repeated |= byte.is_repeated;
                        }
                        byte.belief = Belief::Sacked;
                    };
                    for (number, byte) in model.iter_mut().enumerate().take(ack as usize).skip(una) {
                        acked += 1;
                        arrive(byte, number);
                    }
                    let mut sacked = 0;
                    for block in &blocks {
                        for number in block.start.max(ack)..block.end.min(model.len() as u64) {
                            sacked += u64::from(model[number as usize].belief != Belief::Sacked);
                            arrive(&mut model[number as usize], number as usize);
                        }
                    }
                    una = ack as usize;
                    let delivered = board.acknowledge(ack, &blocks, least.map(Nanos), Nanos(now));
                    prop_assert_eq!([delivered.acked, delivered.sacked, delivered.bytes], [acked, sacked, bytes]);
                    let expected = oldest.filter(|_| !repeated).map(|sent| Nanos(now - sent));
                    prop_assert_eq!(delivered.round_trip, expected);
                    prop_assert_eq!(delivered.is_reordered, reordered);
                    prop_assert_eq!(delivered.newest.map(|run| (run.sent.0, run.end)), newest);
                }
                BoardStep::Lose(from, length) => {
                    let from = una as u64 + from;
                    // Runs are lost as a whole.
                    let within: Vec<Span> = board.runs().map(|run| run.span).filter(|run| run.end > from && run.start < from + length).collect();
                    board.lose(from, from + length, |_| true);
                    for number in within.iter().flat_map(|run| run.start..run.end) {
                        let byte = &mut model[number as usize];
                        if byte.belief == Belief::InFlight {
                            byte.belief = Belief::Lost;
                        }
                    }
                }
                BoardStep::SendAgain => {
                    let expected = (una..model.len()).find(|number| model[*number].belief == Belief::Lost);
                    let span = board.first_lost();
                    prop_assert_eq!(span.map(|span| span.start), expected.map(|number| number as u64));
                    if let Some(span) = span {
                        board.send_again(span, Nanos(now));
                        for byte in &mut model[span.start as usize..span.end as usize] {
                            *byte = Byte { belief: Belief::InFlight, sent: now, is_repeated: true };
                        }
                    }
                }
            }
            let seen: Vec<Byte> = board.runs().flat_map(|run| {
                let byte = Byte { belief: run.belief, sent: run.sent.0, is_repeated: run.is_repeated };
                std::iter::repeat_n(byte, run.span.len() as usize)
            }).collect();
            prop_assert_eq!(&seen[..], &model[una..]);
            let count = |belief: Belief| model[una..].iter().filter(|byte| byte.belief == belief).count() as u64;
            prop_assert_eq!(board.pipe(), count(Belief::InFlight));
            prop_assert_eq!(board.lost(), count(Belief::Lost));
        }
    }

    /// RFC 6675 §4, IsLost, byte by byte, for what was sent once and blocks that come one after the other.
    #[test]
    fn sack_loses_what_the_standard_says(order in Just((0..20_u64).collect::<Vec<_>>()).prop_shuffle(), count in 1..20_usize) {
        const SEGMENT: u64 = 10;
        let (mut board, mut sack) = (Scoreboard::new(0), Sack::new());
        for index in 1..=20 {
            board.send(index * SEGMENT, Nanos(0));
        }
        let round_trip = RoundTrip::new(TimeoutSettings::STANDARD);
        let mut arrived = BTreeSet::new();
        for &index in order[..count].iter().filter(|index| **index > 0) {
            let block = Span { start: index * SEGMENT, end: (index + 1) * SEGMENT };
            arrived.extend(block.start..block.end);
            let delivered = board.acknowledge(0, &[block], None, Nanos(1));
            let heard = Heard {
                now: Nanos(1), delivered: &delivered, ack: 0, is_duplicate: true, has_duplicate_block: false,
                round_trip: &round_trip, segment: SEGMENT, expiry: None,
            };
            sack.on_ack(&mut board, &heard);
        }
        let blocks = spans(&arrived);
        let is_lost = |number: u64| {
            let above = blocks.iter().filter(|block| block.start > number);
            above.clone().count() >= 3 || above.map(|block| block.len()).sum::<u64>() > 2 * SEGMENT
        };
        let entered = sack.episode().stage() == Stage::FastRecovery;
        prop_assert_eq!(entered, is_lost(0));
        for run in board.runs() {
            let expected = run.belief != Belief::Sacked && is_lost(run.span.start);
            prop_assert_eq!(run.belief == Belief::Lost, expected, "{:?} {:?}", run, blocks);
        }
    }
}
