//! Continuous time against a naive model of LRU, and the order of events at one instant.

use proptest::prelude::*;
use trueplane_cache::engine::{Engine, Shape};
use trueplane_cache::latency::spread;
use trueplane_cache::policy::Lru;
use trueplane_cache::{NextUse, Outcome};
use trueplane_trace::{Clock, Request};
use trueplane_units::Nanos;

fn request(time: u64, key: u64, fetch: u64) -> Request {
    Request { time: Nanos(time), key, size: 1, fetch: Nanos(fetch) }
}

/// Each request's fetch takes what it says itself.
fn engine(requests: &[Request], capacity: u64, sets: usize) -> Vec<(Outcome, u64)> {
    let shape = Shape { capacity, by_bytes: false, sets };
    let mut engine = Engine::new(|_| <Lru>::default(), &shape, Clock::Timestamps);
    let mut serve = |request: &Request| {
        let (outcome, wait) = engine.request(request, NextUse::UNKNOWN, || request.fetch);
        (outcome, wait.0)
    };
    requests.iter().map(&mut serve).collect()
}

/// LRU by vectors: residents from old to new, and fetches in the order of their misses.
fn naive(requests: &[Request], capacity: usize, sets: usize) -> Vec<(Outcome, u64)> {
    let mut residents: Vec<Vec<u64>> = vec![Vec::new(); sets];
    let mut fetches: Vec<(u64, u64)> = Vec::new();
    let mut answers = Vec::new();
    for request in requests {
        let (now, key) = (request.time.0, request.key);
        while let Some(first) =
            (0..fetches.len()).min_by_key(|&i| fetches[i].1).filter(|&i| fetches[i].1 <= now)
        {
            let (key, _) = fetches.remove(first);
            let set = &mut residents[spread(key, sets)];
            if set.len() == capacity / sets {
                set.remove(0);
            }
            set.push(key);
        }
        let set = &mut residents[spread(key, sets)];
        if let Some(place) = set.iter().position(|&other| other == key) {
            let key = set.remove(place);
            set.push(key);
            answers.push((Outcome::Hit, 0));
        } else if let Some(&(_, ends)) = fetches.iter().find(|(other, _)| *other == key) {
            answers.push((Outcome::Delayed, ends - now));
        } else {
            fetches.push((key, now + request.fetch.0));
            answers.push((Outcome::Miss, request.fetch.0));
        }
    }
    answers
}

proptest! {
    #[test]
    fn lru_fares_as_in_the_naive_model(
        gaps in prop::collection::vec((0..4u64, 0..25u64, 0..40u64), 1..400),
        per_set in 1..8u64,
        sets in 1..4usize,
    ) {
        let mut now = 0;
        let requests: Vec<Request> = gaps
            .into_iter()
            .map(|(gap, key, fetch)| {
                now += gap;
                request(now, key, fetch)
            })
            .collect();
        let capacity = per_set * sets as u64;
        prop_assert_eq!(engine(&requests, capacity, sets), naive(&requests, capacity as usize, sets));
    }
}

#[test]
fn a_fetch_ends_before_the_arrivals_of_its_instant() {
    use Outcome::{Delayed, Hit, Miss};
    let requests =
        [request(0, 1, 10), request(0, 1, 10), request(9, 1, 10), request(10, 1, 10), request(10, 1, 10)];
    assert_eq!(engine(&requests, 1, 1), [(Miss, 10), (Delayed, 10), (Delayed, 1), (Hit, 0), (Hit, 0)]);
}

#[test]
fn what_takes_no_time_is_there_for_the_next_arrival() {
    let requests = [request(5, 1, 0), request(5, 1, 0)];
    assert_eq!(engine(&requests, 1, 1), [(Outcome::Miss, 0), (Outcome::Hit, 0)]);
}

#[test]
fn the_last_instant_there_is_does_not_overflow() {
    let end = u64::MAX;
    let requests = [request(end - 1, 1, end), request(end - 1, 1, end), request(end, 2, 1)];
    let answers = engine(&requests, 1, 1);
    assert_eq!(answers[0], (Outcome::Miss, end));
    assert_eq!(answers[1], (Outcome::Delayed, 1), "time ends before the fetch does");
}
