//! Identities, and the model of each fault.

use proptest::prelude::*;

use super::*;

/// Sends a packet at each time from 0 on; which ones arrive when.
fn arrivals(link: &mut Link<u64>, packets: u64) -> Vec<Arrived<u64>> {
    let mut arrived = Vec::new();
    for now in 0.. {
        while let Some(packet) = link.arrive(now) {
            arrived.push(packet);
        }
        if now < packets {
            let _ = link.send(now, now);
        } else if link.on_its_way() == 0 {
            return arrived;
        }
    }
    arrived
}

#[test]
fn without_faults_all_arrive_in_order_and_in_time() {
    let mut link = Link::new(Terms { delay: 5, ..Terms::default() }, 1);
    let expected: Vec<_> = (0..50).map(|packet| Arrived { packet, at: packet + 5, is_copy: false }).collect();
    assert_eq!(arrivals(&mut link, 50), expected);
    assert!(link.overtaking.is_empty());
}

#[test]
fn jitter_makes_some_overtake_others() {
    let arrived = arrivals(&mut Link::new(Terms { delay: 5, jitter: 9, ..Terms::default() }, 1), 200);
    let late = |arrived: &Arrived<u64>| arrived.at - arrived.packet;
    assert_eq!(
        (arrived.len(), arrived.iter().map(late).min(), arrived.iter().map(late).max()),
        (200, Some(5), Some(14))
    );
    assert!(!arrived.is_sorted_by_key(|arrived| arrived.packet));
}

/// Six standard deviations of a binomial variable of `count` draws with this probability.
fn within(found: u64, count: u64, ppm: u32) {
    let share = f64::from(ppm) / 1e6;
    let (mean, deviation) = (count as f64 * share, (count as f64 * share * (1.0 - share)).sqrt());
    assert!((found as f64 - mean).abs() <= 6.0 * deviation, "{found} of {count} at {ppm} ppm");
}

#[test]
fn each_fault_is_as_frequent_as_it_should_be() {
    let terms =
        Terms { delay: 100, jitter: 0, loss_ppm: 250_000, reorder_ppm: 10_000, duplicate_ppm: 40_000 };
    let mut link = Link::new(terms, 1);
    let arrived = arrivals(&mut link, 40_000);
    let Counts { sent, lost, duplicated, reordered, .. } = link.counts();
    within(lost, sent, terms.loss_ppm);
    within(duplicated, sent - lost, terms.duplicate_ppm);
    within(reordered, sent - lost + duplicated, terms.reorder_ppm);
    // What is not reordered takes the delay.
    let prompt = arrived.iter().filter(|arrived| arrived.at == arrived.packet).count() as u64;
    let delayed = arrived.iter().filter(|arrived| arrived.at == arrived.packet + 100).count() as u64;
    assert_eq!((prompt, delayed), (reordered, sent - lost + duplicated - reordered));
}

#[test]
fn what_has_no_probability_takes_no_draw() {
    // The same packets are lost with and without delay; jitter is drawn only for those that are not.
    let lost = |terms: Terms| {
        let mut link = Link::new(terms, 7);
        (0..1000u64).filter(|&now| matches!(link.send(now, now), Fate::Lost(_))).collect::<Vec<_>>()
    };
    let terms = Terms { loss_ppm: 100_000, ..Terms::default() };
    assert_eq!(lost(terms), lost(Terms { delay: 9, ..terms }));
    assert_ne!(lost(terms), lost(Terms { duplicate_ppm: 1, ..terms }));
}

#[test]
fn times_beyond_the_range_are_the_latest_there_is() {
    let mut link = Link::new(Terms { delay: u64::MAX, jitter: u64::MAX, ..Terms::default() }, 1);
    assert_eq!(link.send('a', 5), Fate::Sent);
    assert_eq!((link.due(), link.arrive(u64::MAX - 1)), (u64::MAX, None));
    assert_eq!(link.arrive(u64::MAX).map(|arrived| arrived.packet), Some('a'));
}

fn terms() -> impl Strategy<Value = Terms> {
    let ppm = || prop_oneof![Just(0u32), 0..=1_000_000u32];
    let time = || prop_oneof![Just(0u64), 0..40u64];
    (time(), time(), ppm(), ppm(), ppm()).prop_map(|(delay, jitter, loss_ppm, reorder_ppm, duplicate_ppm)| {
        Terms { delay, jitter, loss_ppm, reorder_ppm, duplicate_ppm }
    })
}

proptest! {
    /// Whatever the terms, and however they change: every packet that is not lost arrives once, and once more if it was
    /// duplicated, in the order of times, when [`Link::due`] said, and no later than delay and jitter allow.
    #[test]
    fn every_packet_is_somewhere(
        seed: u64,
        phases in prop::collection::vec((terms(), prop::collection::vec(0..4u64, 0..60)), 1..4),
    ) {
        let mut link = Link::new(Terms::default(), seed);
        let (mut now, mut sent, mut expected, mut arrived) = (0, Vec::new(), Vec::new(), Vec::new());
        let mut deliver = |link: &mut Link<usize>, until: u64| {
            while link.due() <= until {
                let due = link.due();
                let next = link.arrive(until).unwrap();
                assert_eq!(next.at, due);
                arrived.push(next);
            }
            assert_eq!(link.arrive(until), None);
            let counts = link.counts();
            assert_eq!(counts.sent + counts.duplicated, counts.arrived + counts.lost + link.on_its_way());
        };
        for (terms, gaps) in &phases {
            link.set_terms(*terms);
            for gap in gaps {
                now += gap;
                deliver(&mut link, now);
                let number = sent.len();
                sent.push((now, *terms));
                match link.send(number, now) {
                    Fate::Sent => expected.push((number, false)),
                    Fate::Duplicated => expected.extend([(number, false), (number, true)]),
                    Fate::Lost(lost) => prop_assert_eq!(lost, number),
                }
            }
        }
        deliver(&mut link, u64::MAX - 1);
        prop_assert_eq!(link.on_its_way(), 0);
        prop_assert!(arrived.is_sorted_by_key(|arrived| arrived.at));
        for next in &arrived {
            let (at, Terms { delay, jitter, reorder_ppm, .. }) = sent[next.packet];
            let took = next.at - at;
            prop_assert!((delay..=delay + jitter).contains(&took) || took == 0 && reorder_ppm > 0);
        }
        let same_time = arrived.chunk_by(|a, b| a.at == b.at);
        prop_assert!(same_time.into_iter().all(|at| at.is_sorted_by_key(|next| (next.packet, next.is_copy))));
        let mut found: Vec<_> = arrived.iter().map(|next| (next.packet, next.is_copy)).collect();
        found.sort_unstable();
        prop_assert_eq!(found, expected);
    }
}
