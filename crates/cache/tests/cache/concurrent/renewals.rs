//! Entries that are fetched again: before they are stale, while they are, and if that fails.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use trueplane_cache::{Builder, Cache, FetchError};

use super::{Gate, Hand, Plain, Request, exact, poll};

type Numbers = Cache<u64, u64, Plain>;
type Answer = Result<u64, FetchError>;
type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Entries live for 100 ns, and are served for 20 ns more while they are fetched, and for 50 ns if that fails.
fn terms(hand: &Hand) -> Builder<u64, u64, Plain> {
    let nanos = Duration::from_nanos;
    let builder = hand.moves(exact(10)).time_to_live(nanos(100));
    builder.stale_while_revalidate(nanos(20)).stale_if_error(nanos(50))
}

fn request<'a>(cache: &'a Numbers, gate: &Gate<Result<u64, io::Error>>) -> Request<'a, Answer> {
    let gate = gate.clone();
    Box::pin(async move { cache.get_or_fetch(&1, || gate).await })
}

#[test]
fn one_fetches_a_stale_entry_and_the_others_are_served() {
    let hand = Hand::default();
    let cache = terms(&hand).build();
    cache.insert(1, 7);
    hand.set(100);
    assert_eq!(cache.get(&1), None, "a plain look-up gets nothing that is stale");
    let gate = Gate::new();
    let mut first = request(&cache, &gate);
    assert!(poll(&mut first).is_none());
    for _ in 0..3 {
        assert_eq!(poll(&mut request(&cache, &Gate::new())).unwrap().unwrap(), 7);
    }
    hand.set(110);
    gate.open(Ok(8));
    assert_eq!(poll(&mut first).unwrap().unwrap(), 8);
    assert_eq!((cache.get(&1), cache.len()), (Some(8), 1));
    hand.set(209);
    assert_eq!(cache.get(&1), Some(8));
}

#[test]
fn later_all_wait_and_get_the_old_value_if_the_fetch_fails() {
    let hand = Hand::default();
    let cache = terms(&hand).build();
    cache.insert(1, 7);
    hand.set(120);
    let gate = Gate::new();
    let (mut first, mut second) = (request(&cache, &gate), request(&cache, &Gate::new()));
    assert!(poll(&mut first).is_none() && poll(&mut second).is_none());
    gate.open(Err(io::Error::other("down")));
    assert_eq!(poll(&mut first).unwrap().unwrap(), 7);
    assert_eq!(poll(&mut second).unwrap().unwrap(), 7);
    // The next one tries again, and succeeds.
    let gate = Gate::new();
    let mut third = request(&cache, &gate);
    assert!(poll(&mut third).is_none());
    gate.open(Ok(9));
    assert_eq!(poll(&mut third).unwrap().unwrap(), 9);
    // After all grace there is nothing to serve.
    hand.set(120 + 150);
    let failed = cache.get_or_fetch_blocking(&1, || Err::<u64, _>("down"));
    assert_eq!(failed.unwrap_err().to_string(), "down");
}

#[test]
fn with_a_spawner_nobody_waits() {
    let hand = Hand::default();
    let tasks: Arc<Mutex<Vec<Task>>> = Arc::default();
    let spawned = Arc::clone(&tasks);
    let cache = terms(&hand).spawner(move |task| spawned.lock().unwrap().push(task)).build();
    cache.insert(1, 7);
    hand.set(101);
    let gate = Gate::new();
    assert_eq!(poll(&mut request(&cache, &gate)).unwrap().unwrap(), 7);
    assert_eq!(poll(&mut request(&cache, &gate)).unwrap().unwrap(), 7);
    gate.open(Ok(8));
    let mut tasks = std::mem::take(&mut *tasks.lock().unwrap());
    assert_eq!(tasks.len(), 1);
    assert!(tasks[0].as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_ready());
    assert_eq!(cache.get(&1), Some(8));
}

#[test]
fn entries_are_fetched_before_they_are_stale() {
    let hand = Hand::default();
    let fetches = AtomicU64::new(0);
    let cache: Numbers =
        hand.moves(exact(10)).time_to_live(Duration::from_nanos(100)).refresh_ahead(0.8).build();
    let ask = || {
        cache
            .get_or_fetch_blocking(&1, || Ok::<_, Infallible>(fetches.fetch_add(1, Ordering::Relaxed) + 1))
            .unwrap()
    };
    assert_eq!(ask(), 1);
    hand.set(79);
    assert_eq!(ask(), 1);
    hand.set(80);
    assert_eq!(cache.get(&1), Some(1));
    assert_eq!(ask(), 2);
    hand.set(159);
    assert_eq!((ask(), fetches.load(Ordering::Relaxed)), (2, 2));
}

#[test]
fn what_is_written_during_a_renewal_stays() {
    let hand = Hand::default();
    let cache = terms(&hand).max_fetches(1).build();
    for write in [Some(100), None] {
        let now = cache.stats().requests() * 1000;
        hand.set(now);
        cache.insert(1, 7);
        hand.set(now + 100);
        let gate = Gate::new();
        let mut first = request(&cache, &gate);
        assert!(poll(&mut first).is_none());
        match write {
            Some(value) => cache.insert(1, value),
            None => assert_eq!(cache.remove(&1), Some(7)),
        }
        gate.open(Ok(8));
        assert_eq!(poll(&mut first).unwrap().unwrap(), 8);
        assert_eq!(cache.get(&1), write);
    }
    // Nothing is left on its way, or this one would be one too many.
    assert_eq!(cache.get_or_fetch_blocking(&2, || Ok::<_, Infallible>(5)).unwrap(), 5);
    // One who leaves gives up what nobody else waits for.
    hand.set(1_000_000);
    cache.insert(1, 7);
    hand.set(1_000_100);
    let mut first = request(&cache, &Gate::new());
    assert!(poll(&mut first).is_none());
    drop(first);
    assert_eq!(cache.get_or_fetch_blocking(&1, || Ok::<_, Infallible>(6)).unwrap(), 6);
}

/// A request for which a value below `least` is unfit.
fn at_least<'a>(cache: &'a Numbers, least: u64, gate: &Gate<Result<u64, io::Error>>) -> Request<'a, Answer> {
    let gate = gate.clone();
    Box::pin(async move { cache.get_or_fetch_unless(&1, move |value| *value < least, || gate).await })
}

#[test]
fn a_value_that_is_unfit_for_some_is_fetched_once_for_all_of_them() {
    for policy in [trueplane_cache::PolicyName::Lru, trueplane_cache::PolicyName::Sieve] {
        let cache = exact(10).policy(policy).build();
        cache.insert(1, 7);
        assert_eq!(poll(&mut at_least(&cache, 7, &Gate::new())).unwrap().unwrap(), 7);
        let gate = Gate::new();
        let (mut first, mut second) = (at_least(&cache, 8, &gate), at_least(&cache, 9, &Gate::new()));
        assert!(poll(&mut first).is_none() && poll(&mut second).is_none());
        // Those for whom it is good do not wait.
        assert_eq!(poll(&mut at_least(&cache, 5, &Gate::new())).unwrap().unwrap(), 7);
        gate.open(Ok(8));
        assert_eq!(poll(&mut first).unwrap().unwrap(), 8);
        // Whoever wanted more gets what came, and may ask again.
        assert_eq!(poll(&mut second).unwrap().unwrap(), 8);
        assert_eq!((cache.get(&1), cache.stats().fetches), (Some(8), 1));
        // A failure is told, and the old value stays.
        let gate = Gate::new();
        let mut failing = at_least(&cache, 9, &gate);
        assert!(poll(&mut failing).is_none());
        gate.open(Err(io::Error::other("down")));
        assert_eq!(poll(&mut failing).unwrap().unwrap_err().to_string(), "down");
        assert_eq!(cache.get(&1), Some(8));
        // What is removed while it is fetched does not come back.
        let gate = Gate::new();
        let mut late = at_least(&cache, 9, &gate);
        assert!(poll(&mut late).is_none());
        cache.remove(&1);
        gate.open(Ok(9));
        assert_eq!(poll(&mut late).unwrap().unwrap(), 9);
        assert_eq!(cache.get(&1), None);
    }
}

#[test]
fn an_unfit_value_may_be_stale_too() {
    let hand = Hand::default();
    let cache = terms(&hand).build();
    cache.insert(1, 7);
    for (now, brought) in [(110, 8), (340, 9), (600, 10)] {
        // Served while it is fetched again, served if that fails, and over.
        hand.set(now);
        let gate = Gate::new();
        let mut request = at_least(&cache, 100, &gate);
        assert!(poll(&mut request).is_none());
        gate.open(Ok(brought));
        assert_eq!(poll(&mut request).unwrap().unwrap(), brought);
    }
}

#[test]
fn fetches_for_unfit_values_are_bounded_too() {
    let cache = exact(10).max_fetches(1).build();
    cache.insert(1, 7);
    let gate = Gate::new();
    let mut other: Request<'_, _> = {
        let gate = gate.clone();
        Box::pin(async { cache.get_or_fetch(&2, || gate).await })
    };
    assert!(poll(&mut other).is_none());
    let refused = poll(&mut at_least(&cache, 8, &Gate::new())).unwrap();
    assert!(matches!(refused, Err(FetchError::TooManyFetches(1))));
    gate.open(Ok::<_, Infallible>(0));
    assert!(poll(&mut other).is_some());
}
