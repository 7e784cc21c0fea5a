use std::collections::HashMap;

use proptest::prelude::*;
use rand::SeedableRng;
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

fn request(time: u64, key: u64, size: u64) -> Request {
    Request { time: Nanos(time), key, size, fetch: Nanos(0) }
}

fn scan(requests: &[Request]) -> Summary {
    let mut scan = Scan::new();
    scan.push(requests);
    scan.finish()
}

/// At the times of `gaps`, one object.
fn at_gaps(gaps: impl IntoIterator<Item = u64>) -> Vec<Request> {
    let mut now = 1_000;
    let rest = gaps.into_iter().map(|gap| {
        now += gap;
        request(now, 1, 1)
    });
    std::iter::once(request(1_000, 1, 1)).chain(rest.collect::<Vec<_>>()).collect()
}

#[test]
fn the_state_of_an_object_keeps_to_its_promise() {
    // The index holds 5 B per place (4 B and one of control) and is full to 7/16 at its emptiest.
    let index_bytes = 5.0 * 16.0 / 7.0;
    // While one part of it grows, its old half is still there.
    let growing = index_bytes / 2.0 / PARTS as f64;
    assert!(size_of::<Object>() as f64 + index_bytes + growing < 80.0);
    // At the end there is no index, but a sorted list of positions.
    assert!(size_of::<Object>() + size_of::<u64>() <= 80);
}

#[test]
fn a_trace_worked_by_hand() {
    // Objects a = 1, b = 2, c = 3; positions 0 to 5. a: 0..=2, b: 1..=5, c: 3..=4.
    let trace = [
        request(10, 1, 5),
        request(10, 2, 7),
        request(20, 1, 9),
        request(30, 3, 1),
        request(30, 3, 1),
        request(50, 2, 6),
    ];
    let summary = scan(&trace);
    assert_eq!(summary.requests, 6);
    assert_eq!(summary.objects, 3);
    // a and b, then b and c: c begins after a's last request, although at no time are all three apart.
    assert_eq!(summary.peak_active, 2);
    assert_eq!((summary.first, summary.last), (Nanos(10), Nanos(50)));
    assert_eq!(summary.bytes_requested, 29);
    assert_eq!(summary.footprint_bytes, 9 + 7 + 1);
    assert_eq!(summary.largest, 9);
    assert_eq!(summary.one_timers, 0);
    assert_eq!(summary.mean_interarrival(), Some(8.0));
    assert_eq!(summary.z_of(Nanos(100)), Some(12.5));
    // Gaps 0, 10, 10, 0, 20: mean 8, variance (64 + 4 + 4 + 64 + 144) / 5 = 56.
    let sigma = 56f64.sqrt();
    assert!((summary.burstiness_arrivals.unwrap() - (sigma - 8.0) / (sigma + 8.0)).abs() < 1e-12);
    // No object has three requests.
    assert_eq!(summary.burstiness_objects, None);
}

#[test]
fn an_object_asked_for_once_is_active_at_that_request() {
    let summary = scan(&[request(0, 1, 1), request(1, 2, 1), request(2, 3, 1)]);
    assert_eq!((summary.peak_active, summary.one_timers), (1, 3));
}

#[test]
fn perfectly_paced_requests_score_minus_one() {
    // A third of the mean gap is not a binary fraction; the score is exact all the same.
    for gap in [1, 3, 1_000_000_007] {
        let summary = scan(&at_gaps([gap; 5_000]));
        assert_eq!(summary.burstiness_arrivals, Some(-1.0));
        assert_eq!(summary.burstiness_objects, Some(-1.0));
    }
}

#[test]
fn poisson_requests_score_about_zero() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let gaps: Vec<u64> = (0..100_000)
        .map(|_| {
            let unit: f64 = Exp1.sample(&mut rng);
            (unit * 1e6) as u64
        })
        .collect();
    let summary = scan(&at_gaps(gaps));
    assert!(summary.burstiness_arrivals.unwrap().abs() < 0.01);
    assert!(summary.burstiness_objects.unwrap().abs() < 0.01);
}

#[test]
fn a_train_and_a_long_silence_score_towards_one() {
    // 9,999 gaps of 1 and one of 10^9: mean 100,001, sigma about 10^7, so B is about 0.98.
    let gaps = (0..10_000).map(|i| if i == 5_000 { 1_000_000_000 } else { 1 });
    let score = scan(&at_gaps(gaps)).burstiness_arrivals.unwrap();
    assert!((score - 0.980).abs() < 0.001, "{score}");
}

#[test]
fn what_is_undefined_is_none() {
    let empty = scan(&[]);
    assert_eq!((empty.requests, empty.objects, empty.peak_active), (0, 0, 0));
    assert_eq!((empty.burstiness_arrivals, empty.burstiness_objects), (None, None));
    assert_eq!((empty.mean_interarrival(), empty.z_of(Nanos(1))), (None, None));

    let one = scan(&at_gaps([]));
    assert_eq!((one.mean_interarrival(), one.burstiness_arrivals), (None, None));

    let two = scan(&at_gaps([4]));
    assert_eq!((two.mean_interarrival(), two.burstiness_arrivals), (Some(4.0), None));

    let at_one_instant = scan(&at_gaps([0, 0, 0]));
    assert_eq!((at_one_instant.mean_interarrival(), at_one_instant.z_of(Nanos(1))), (Some(0.0), None));
    assert_eq!((at_one_instant.burstiness_arrivals, at_one_instant.burstiness_objects), (None, None));
}

#[test]
fn hostile_numbers_neither_panic_nor_break_the_report() {
    let summary = scan(&[
        request(u64::MAX, 1, u64::MAX),
        request(0, 2, u64::MAX),
        request(u64::MAX, u64::MAX, 3),
        request(5, 1, 3),
    ]);
    assert_eq!(summary.bytes_requested, 2 * u128::from(u64::MAX) + 6);
    assert_eq!(summary.footprint_bytes, u64::MAX);
    assert_eq!((summary.first, summary.last), (Nanos::MAX, Nanos::MAX));
    assert_eq!(summary.peak_active, 2);
}

/// The same summary, computed the long way round.
fn naive(requests: &[Request]) -> Summary {
    let mut positions: HashMap<u64, Vec<usize>> = HashMap::new();
    for (position, request) in requests.iter().enumerate() {
        positions.entry(request.key).or_default().push(position);
    }
    let active_at = |i: usize| positions.values().filter(|p| p[0] <= i && i <= p[p.len() - 1]).count() as u64;
    let times =
        |positions: &[usize]| -> Vec<f64> { positions.iter().map(|&p| requests[p].time.0 as f64).collect() };
    let all: Vec<usize> = (0..requests.len()).collect();
    let (mut weighted, mut weight) = (0.0, 0.0);
    for positions in positions.values() {
        if let Some(score) = naive_burstiness(&times(positions)) {
            weighted += score * positions.len() as f64;
            weight += positions.len() as f64;
        }
    }
    let largest_of =
        |positions: &Vec<usize>| positions.iter().map(|&p| requests[p].size).max().unwrap_or_default();
    Summary {
        requests: requests.len() as u64,
        objects: positions.len() as u64,
        peak_active: all.iter().map(|&i| active_at(i)).max().unwrap_or(0),
        first: requests.first().map_or(Nanos(0), |request| request.time),
        last: requests.last().map_or(Nanos(0), |request| request.time),
        granularity: [1_000_000_000, 1_000_000, 1_000, 1]
            .map(Nanos)
            .into_iter()
            .find(|unit| requests.iter().all(|request| request.time.0 % unit.0 == 0))
            .unwrap_or(Nanos(1)),
        simultaneous: requests.windows(2).filter(|pair| pair[0].time == pair[1].time).count() as u64,
        sizeless: requests.iter().filter(|request| request.size == 0).count() as u64,
        fetchless: requests.iter().filter(|request| request.fetch.0 == 0).count() as u64,
        bytes_requested: requests.iter().map(|request| u128::from(request.size)).sum(),
        footprint_bytes: positions.values().map(largest_of).sum(),
        largest: requests.iter().map(|request| request.size).max().unwrap_or(0),
        one_timers: positions.values().filter(|positions| positions.len() == 1).count() as u64,
        burstiness_arrivals: naive_burstiness(&times(&all)),
        burstiness_objects: (weight > 0.0).then(|| weighted / weight),
    }
}

fn naive_burstiness(times: &[f64]) -> Option<f64> {
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let sigma = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
    (gaps.len() >= 2 && mean > 0.0).then(|| (sigma - mean) / (sigma + mean))
}

fn close(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() < 1e-6,
        (a, b) => a == b,
    }
}

proptest! {
    #[test]
    fn the_scan_agrees_with_the_naive_computation(
        steps in prop::collection::vec((0u64..1_000, 0u64..40, 0u64..5_000), 0..300),
        cut in 0usize..300,
    ) {
        let mut now = 0;
        let requests: Vec<Request> = steps
            .into_iter()
            .map(|(gap, key, size)| {
                // Half of the gaps are zero, so that many requests share an instant.
                now += if gap < 500 { 0 } else { gap };
                request(now, key, size)
            })
            .collect();
        // In two pieces: the answer must not depend on where the reader cut the trace.
        let (start, end) = requests.split_at(cut.min(requests.len()));
        let mut scan = Scan::new();
        scan.push(start);
        scan.push(end);
        let (found, expected) = (scan.finish(), naive(&requests));
        prop_assert!(close(found.burstiness_arrivals, expected.burstiness_arrivals), "{found:?} {expected:?}");
        prop_assert!(close(found.burstiness_objects, expected.burstiness_objects), "{found:?} {expected:?}");
        let scores_aside =
            |summary: Summary| Summary { burstiness_arrivals: None, burstiness_objects: None, ..summary };
        prop_assert_eq!(scores_aside(found), scores_aside(expected));
    }

    #[test]
    fn objects_are_told_apart_across_blocks(seed: u64) {
        // More objects than one block holds, each asked for twice: all are active in the middle.
        let count = 2 * BLOCK as u64 + seed % 100;
        let key = |i: u64| (i ^ seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let requests: Vec<Request> = (0..2 * count).map(|i| request(i, key(i % count), 1)).collect();
        let summary = scan(&requests);
        prop_assert_eq!((summary.objects, summary.peak_active), (count, count));
        prop_assert_eq!(summary.one_timers, 0);
    }
}
