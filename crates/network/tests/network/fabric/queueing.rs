//! The queueing formulas beside a link that is simulated flow by flow.

use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_network::fabric::queueing::{Discipline, MeanTimes};
use trueplane_network::simulator::Sizes;

/// Mean time of the flows of each size on a link of one byte a time unit, by a simulation from one event to the next.
fn simulated(sizes: &Sizes, load: f64, discipline: Discipline, flows: usize) -> Vec<(u64, f64)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let gap = sizes.mean() / load;
    let mut starts = 0.0;
    let mut coming = (0..flows).map(|_| {
        let wait: f64 = Exp1.sample(&mut random);
        starts += wait * gap;
        (starts, sizes.at(random.random()))
    });
    // Bytes that are left, size, start.
    let mut there: Vec<(f64, u64, f64)> = Vec::new();
    let mut sums: Vec<(u64, f64, f64)> = sizes.shares().map(|(bytes, _)| (bytes, 0.0, 0.0)).collect();
    let (mut now, mut next) = (0.0, coming.next());
    while next.is_some() || !there.is_empty() {
        // The first of those with the fewest bytes left, which all others wait for or share with.
        let first = (0..there.len()).min_by(|&one, &other| there[one].0.total_cmp(&there[other].0));
        let shares = match discipline {
            Discipline::ProcessorSharing => there.len() as f64,
            Discipline::ShortestRemainingFirst => 1.0,
        };
        let end = first.map_or(f64::INFINITY, |first| now + there[first].0 * shares);
        let until = next.map_or(end, |(start, _)| end.min(start));
        let served = (until - now) / shares;
        match discipline {
            Discipline::ProcessorSharing => there.iter_mut().for_each(|flow| flow.0 -= served),
            Discipline::ShortestRemainingFirst => {
                if let Some(first) = first {
                    there[first].0 -= served;
                }
            }
        }
        now = until;
        match (first, next) {
            (Some(first), _) if end <= until => {
                let (_, size, start) = there.remove(first);
                let sum = sums.iter_mut().find(|(bytes, ..)| *bytes == size).unwrap();
                sum.1 += 1.0;
                sum.2 += now - start;
            }
            (_, Some((start, size))) => {
                there.push((size as f64, size, start));
                next = coming.next();
            }
            _ => {}
        }
    }
    sums.into_iter().map(|(bytes, count, sum)| (bytes, sum / count)).collect()
}

/// Mean time beyond the bytes of a flow.
fn mean_delay(sizes: &Sizes, load: f64, discipline: Discipline, bytes: u64) -> Option<f64> {
    MeanTimes::new(sizes, load, discipline).map(|times| times.of(bytes) - bytes as f64)
}

fn check(discipline: Discipline, load: f64) {
    let sizes = Sizes::new(vec![(10, 0.5), (40, 0.8), (200, 1.0)]).unwrap();
    for (bytes, mean) in simulated(&sizes, load, discipline, 200_000) {
        let formula = bytes as f64 + mean_delay(&sizes, load, discipline, bytes).unwrap();
        let ratio = mean / formula;
        assert!(
            (0.93..1.07).contains(&ratio),
            "{discipline:?} at {load}: {bytes} bytes take {mean}, not {formula}"
        );
    }
}

#[test]
fn the_formulas_are_what_a_link_does() {
    for load in [0.3, 0.7] {
        check(Discipline::ProcessorSharing, load);
        check(Discipline::ShortestRemainingFirst, load);
    }
}

/// Worked by hand: half of the flows have 1 byte, half 3, at a load of 0.5, so that a flow starts every 4 bytes.
///
/// - Sharing: 3 bytes take 3 ÷ (1 − 0.5) = 6.
/// - Smallest first: a flow of 1 byte waits for (1 × ½ + 1 × ½) ÷ 4 ÷ 2 = 1⁄8 of work that is no larger, over (1 − 1⁄8) for others of its size that
///   wait: 1⁄7. A flow of 3 bytes waits for (1 × ½ + 9 × ½) ÷ 4 ÷ 2 = 5⁄8, over (1 − ½)(1 − 1⁄8): 10⁄7. Its first 2 bytes are interrupted by flows
///   of 1 byte: 1 + 2 ÷ (1 − 1⁄8) = 23⁄7.
#[test]
fn the_formulas_by_hand() {
    let sizes = Sizes::new(vec![(1, 0.5), (3, 1.0)]).unwrap();
    let of = |discipline, bytes| mean_delay(&sizes, 0.5, discipline, bytes).unwrap();
    let is = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    is(of(Discipline::ProcessorSharing, 3), 3.0);
    is(of(Discipline::ShortestRemainingFirst, 1), 1.0 / 7.0);
    is(of(Discipline::ShortestRemainingFirst, 3), 10.0 / 7.0 + 23.0 / 7.0 - 3.0);
    assert_eq!(mean_delay(&sizes, 1.0, Discipline::ProcessorSharing, 1), None);
}

proptest! {
    #[test]
    fn the_shortest_flows_wait_least_and_all_wait_longer_at_higher_loads(
        steps in prop::collection::btree_map(1_u64..1_000_000, 1_u32..100, 1..6),
        load in 0.01..0.98_f64,
    ) {
        let all: u32 = steps.values().sum();
        let mut share = 0;
        let steps: Vec<(u64, f64)> = steps.iter().map(|(bytes, part)| {
            share += part;
            (*bytes, f64::from(share) / f64::from(all))
        }).collect();
        let sizes = Sizes::new(steps.clone()).unwrap();
        for discipline in [Discipline::ProcessorSharing, Discipline::ShortestRemainingFirst] {
            let delays: Vec<f64> =
                steps.iter().map(|(bytes, _)| mean_delay(&sizes, load, discipline, *bytes).unwrap()).collect();
            prop_assert!(delays.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-9)));
            prop_assert!(delays.iter().all(|delay| *delay >= -1e-6));
            let more = mean_delay(&sizes, load + 0.01, discipline, steps[0].0).unwrap();
            prop_assert!(more >= delays[0]);
        }
        // Whatever the sizes, no order of service is better on average than the shortest first (Schrage 1968).
        let mean = |discipline| sizes.shares().map(|(bytes, share)| share * mean_delay(&sizes, load, discipline, bytes).unwrap()).sum::<f64>();
        prop_assert!(mean(Discipline::ShortestRemainingFirst) <= mean(Discipline::ProcessorSharing) * (1.0 + 1e-9));
    }
}
