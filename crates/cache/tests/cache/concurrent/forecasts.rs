//! What a cache says that other policies would come to.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_cache::{Advice, Cache, FetchError, Nanos, PolicyName};

use super::{Gate, Hand, Plain, Request, exact, poll};

/// A fetch on its way: its end, what ends it, and who waits.
type Fetch<'a> = (u64, Gate<Result<u64, std::io::Error>>, Vec<Request<'a, Result<u64, FetchError>>>);

/// Requests of which some come in bursts: a few keys many times at once, and then not for long. A fetch takes 1 ms.
fn bursts(count: usize) -> Vec<(u64, u64)> {
    let mut draws = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut requests, mut now) = (Vec::new(), 0);
    while requests.len() < count {
        now += draws.random_range(10_000..30_000);
        let key = (draws.random_range(0.0..1.0_f64).powi(3) * 4_000.0) as u64;
        let is_burst = key.is_multiple_of(5);
        for extra in 0..if is_burst { 12 } else { 1 } {
            requests.push((now + extra * 20_000, key));
        }
    }
    requests.sort_unstable();
    requests
}

/// Drives a cache in virtual time, in which every fetch takes 1 ms.
fn run(policy: PolicyName, share: f64) -> Cache<u64, u64, Plain> {
    const FETCH: u64 = 1_000_000;
    let hand = Hand::default();
    let cache = hand.moves(exact(400)).policy(policy).forecast(share).build();
    let mut waiting: VecDeque<Fetch<'_>> = VecDeque::new();
    for (now, key) in bursts(60_000) {
        while waiting.front().is_some_and(|(ends, ..)| *ends <= now) {
            let (ends, gate, mut requests) = waiting.pop_front().unwrap();
            hand.set(ends);
            gate.open(Ok(0));
            requests.iter_mut().for_each(|request| assert!(poll(request).is_some()));
        }
        hand.set(now);
        let gate = Gate::new();
        let began = Rc::new(Cell::new(None));
        let (fetch, cache, mark) = (gate.clone(), cache.clone(), Rc::clone(&began));
        let mut request: Request<'_, _> = Box::pin(async move {
            let fetch = || {
                mark.set(Some(key));
                fetch
            };
            cache.get_or_fetch(&key, fetch).await
        });
        if poll(&mut request).is_none() {
            match began.get() {
                Some(_) => waiting.push_back((now + FETCH, gate, vec![request])),
                // One of those on their way; whose does not matter but for the order of polls.
                None => match waiting.back_mut() {
                    Some((.., requests)) => requests.push(request),
                    None => unreachable!("it waits for something"),
                },
            }
        }
    }
    let stats = cache.stats();
    assert!(stats.delayed_hits > 1000, "{stats:?}");
    drop(waiting);
    cache
}

#[test]
fn a_sample_of_all_keys_foretells_what_happened() {
    for policy in [PolicyName::Lru, PolicyName::LruMad, PolicyName::S3Fifo] {
        let stats = run(policy, 1.0).stats();
        let own = stats.forecasts[0];
        assert_eq!((own.policy, own.requests), (policy, stats.requests()));
        let hit_rate = stats.hit_rate().unwrap();
        assert!((own.hit_rate - hit_rate).abs() < 0.005, "{policy}: {own:?}, {hit_rate}");
        let measured = stats.measured_latency().unwrap();
        assert!((own.latency / measured - 1.0).abs() < 0.03, "{policy}: {own:?}, {measured}");
        assert_eq!(stats.forecasts.iter().filter(|other| other.policy == policy).count(), 1);
    }
}

#[test]
fn a_small_sample_is_near() {
    let whole = run(PolicyName::Lru, 1.0).stats();
    let sample = run(PolicyName::Lru, 0.25).stats();
    for (one, other) in whole.forecasts.iter().zip(&sample.forecasts) {
        assert_eq!(one.policy, other.policy);
        assert!(other.requests < one.requests / 2);
        assert!((one.hit_rate - other.hit_rate).abs() < 0.08, "{one:?} {other:?}");
    }
}

#[test]
fn advice_names_who_makes_requests_wait_less() {
    let stats = run(PolicyName::Lru, 1.0).stats();
    let best = stats.forecasts.iter().min_by(|a, b| a.latency.total_cmp(&b.latency)).unwrap();
    match stats.advice() {
        Advice::Take(policy, saves) => {
            assert_eq!(policy, best.policy);
            assert!((saves - (1.0 - best.latency / stats.forecasts[0].latency)).abs() < 1e-9);
            assert!(stats.advice().to_string().starts_with(&format!("take {policy}: requests would wait")));
        }
        other => panic!("{other}: {:?}", stats.forecasts),
    }
    assert_eq!(run(best.policy, 1.0).stats().advice(), Advice::Keep);
    let quiet: Cache<u64, u64> = Cache::new(1000);
    quiet.insert_fetched(1, 1, Nanos(5));
    assert_eq!((quiet.stats().forecasts.len(), quiet.stats().advice()), (0, Advice::Unknown));
}
