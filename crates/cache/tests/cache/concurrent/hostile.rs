//! Requests that stop at a bad moment, callers' code that panics, and fetches that wait for each other: nobody waits for ever.

use std::collections::HashMap;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use trueplane_cache::{Builder, Cache, FetchError, Nanos, Parts, Reader, Sink};

use super::{Gate, Hand, Plain, Request, exact, poll};

type Numbers = Cache<u64, u64, Plain>;
type Answer = Result<u64, FetchError>;
type Fetch = Gate<Result<u64, Infallible>>;

fn ask<'a>(cache: &'a Numbers, key: u64, gate: &Fetch) -> Request<'a, Answer> {
    let gate = gate.clone();
    Box::pin(async move { cache.get_or_fetch(&key, || gate).await })
}

/// A request for a key of which nothing is on its way any more is answered by its own fetch.
fn is_free(cache: &Numbers, key: u64) {
    assert_eq!(cache.get_or_fetch_blocking(&key, || Ok::<_, Infallible>(77)).unwrap(), 77);
}

#[test]
fn who_has_left_or_never_comes_works_on_nothing() {
    let cache = exact(10).max_fetches(2).build();
    let gate = Fetch::new();
    let mut first = ask(&cache, 1, &gate);
    assert!(poll(&mut first).is_none());
    // A batch that waits for the same key leaves first, and then the one who worked.
    let many = Gate::<Result<HashMap<u64, u64>, Infallible>>::new();
    let mut batch: Request<'_, _> = Box::pin(cache.get_many_or_fetch(&[1, 2], |_| many.clone()));
    assert!(poll(&mut batch).is_none());
    drop(batch);
    drop(first);
    is_free(&cache, 1);
    is_free(&cache, 2);
    // One who waits and is not polled any more, though it was the last one to be.
    let gate = Fetch::new();
    let (mut held, mut other) = (ask(&cache, 3, &gate), ask(&cache, 3, &gate));
    assert!(poll(&mut other).is_none() && poll(&mut held).is_none());
    gate.open(Ok(4));
    assert_eq!(poll(&mut other).unwrap().unwrap(), 4);
    drop(held);
}

#[test]
fn a_batch_works_on_what_it_waits_for() {
    let cache = exact(10).build();
    let gate = Fetch::new();
    let mut first = ask(&cache, 1, &gate);
    assert!(poll(&mut first).is_none());
    let many = Gate::<Result<HashMap<u64, u64>, Infallible>>::new();
    let mut batch: Request<'_, _> = Box::pin(cache.get_many_or_fetch(&[1, 2], |_| many.clone()));
    assert!(poll(&mut batch).is_none());
    drop(first);
    gate.open(Ok(10));
    assert!(poll(&mut batch).is_none());
    assert_eq!(cache.get(&1), Some(10));
    many.open(Ok(HashMap::from([(2, 20)])));
    let answers: Vec<u64> = poll(&mut batch).unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(answers, [10, 20]);
}

#[test]
fn who_waits_for_a_batch_that_leaves_fetches_in_its_own() {
    let cache = exact(10).build();
    let idle = Gate::<Result<HashMap<u64, u64>, Infallible>>::new();
    let mut first: Request<'_, _> = Box::pin(cache.get_many_or_fetch(&[1, 2], |_| idle.clone()));
    assert!(poll(&mut first).is_none());
    let brings =
        |keys: Vec<u64>| async { Ok::<_, Infallible>(keys.into_iter().map(|key| (key, key * 10)).collect()) };
    let mut second: Request<'_, _> = Box::pin(cache.get_many_or_fetch(&[2, 3, 3], brings));
    assert!(poll(&mut second).is_none());
    drop(first);
    let answers: Vec<u64> = poll(&mut second).unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(answers, [20, 30, 30]);
}

/// A value whose clone panics when it is told to.
#[derive(Debug)]
struct Fragile(Arc<AtomicBool>);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        assert!(!self.0.swap(false, Ordering::Relaxed), "cloned");
        Self(Arc::clone(&self.0))
    }
}

#[test]
fn what_panics_outside_of_a_fetch_holds_nobody() {
    let breaks = Arc::new(AtomicBool::new(false));
    let cache: Cache<u64, Fragile, Plain> =
        Cache::builder().capacity(10).shards(1).hasher(Plain::Itself).max_fetches(1).build();
    let fetch = || Ok::<_, Infallible>(Fragile(Arc::clone(&breaks)));
    breaks.store(true, Ordering::Relaxed);
    assert!(catch_unwind(AssertUnwindSafe(|| cache.get_or_fetch_blocking(&1, fetch).is_ok())).is_err());
    assert!(cache.get_or_fetch_blocking(&1, fetch).is_ok());
    breaks.store(true, Ordering::Relaxed);
    let mut request: Request<'_, _> = Box::pin(cache.get_or_fetch(&2, || std::future::ready(fetch())));
    assert!(catch_unwind(AssertUnwindSafe(|| poll(&mut request).is_some())).is_err());
    drop(request);
    assert!(cache.get_or_fetch_blocking(&2, fetch).is_ok());
    // A clock that panics as the fetch lands.
    let stops = Arc::new(AtomicBool::new(false));
    let clock = Arc::clone(&stops);
    let cache = exact(10)
        .max_fetches(1)
        .clock(move || {
            assert!(!clock.swap(false, Ordering::Relaxed), "no time");
            Nanos(5)
        })
        .build();
    let fetch = || {
        stops.store(true, Ordering::Relaxed);
        Ok::<_, Infallible>(1)
    };
    assert!(catch_unwind(AssertUnwindSafe(|| cache.get_or_fetch_blocking(&1, fetch).is_ok())).is_err());
    is_free(&cache, 1);
    // A closure that panics before there is a future.
    let panics = || -> std::future::Ready<Result<u64, Infallible>> { panic!("no future") };
    let mut request: Request<'_, _> = Box::pin(cache.get_or_fetch(&2, panics));
    assert!(matches!(poll(&mut request), Some(Err(FetchError::Panicked(_)))));
    is_free(&cache, 2);
}

#[test]
fn fetches_of_two_tasks_that_wait_for_each_other_are_told() {
    let cache = exact(10).build();
    let gate = Gate::<()>::new();
    let (inner, open) = (cache.clone(), gate.clone());
    let mut second: Request<'_, Answer> = Box::pin(cache.get_or_fetch(&2, || async move {
        open.await;
        inner.get_or_fetch(&1, || async { Ok::<_, Infallible>(1) }).await
    }));
    assert!(poll(&mut second).is_none());
    let inner = cache.clone();
    let mut first: Request<'_, Answer> = Box::pin(cache.get_or_fetch(&1, || async move {
        inner.get_or_fetch(&2, || async { Ok::<_, Infallible>(2) }).await
    }));
    assert!(poll(&mut first).is_none());
    gate.open(());
    for request in [&mut second, &mut first] {
        assert!(poll(request).unwrap().unwrap_err().to_string().contains("waits for itself"));
    }
    is_free(&cache, 1);
}

#[test]
fn a_failure_holds_only_if_nothing_was_written_meanwhile() {
    let cache = exact(10).negative_time_to_live(Duration::from_secs(9)).clock(|| Nanos(0)).build();
    let fails = |meanwhile: &dyn Fn()| {
        let failed = cache.get_or_fetch_blocking(&1, || {
            meanwhile();
            Err::<u64, _>("old")
        });
        assert!(failed.is_err());
    };
    fails(&|| cache.insert(1, 7));
    assert_eq!(cache.get_or_fetch_blocking(&1, || Ok::<_, Infallible>(8)).unwrap(), 7);
    cache.remove(&1);
    fails(&|| {
        cache.remove(&1);
    });
    assert_eq!(cache.get_or_fetch_blocking(&1, || Ok::<_, Infallible>(8)).unwrap(), 8);
}

fn stale(hand: &Hand) -> Builder<u64, u64, Plain> {
    hand.moves(exact(10))
        .time_to_live(Duration::from_nanos(100))
        .stale_while_revalidate(Duration::from_nanos(20))
}

#[test]
fn a_renewal_that_outlasts_its_entry_is_the_fetch_of_all() {
    let hand = Hand::default();
    let cache = stale(&hand).build();
    cache.insert(1, 7);
    hand.set(110);
    let gate = Fetch::new();
    let mut first = ask(&cache, 1, &gate);
    assert!(poll(&mut first).is_none());
    hand.set(130);
    let other = Fetch::new();
    let mut second = ask(&cache, 1, &other);
    assert!(poll(&mut second).is_none());
    gate.open(Ok(8));
    assert_eq!(poll(&mut second).unwrap().unwrap(), 8);
    assert_eq!((poll(&mut first).unwrap().unwrap(), other.polls(), cache.get(&1)), (8, 0, Some(8)));
}

#[test]
fn times_at_the_end_of_all_times() {
    let hand = Hand::default();
    let cache =
        hand.moves(exact(10)).time_to_live(Duration::from_nanos(100)).stale_if_error(Duration::MAX).build();
    cache.insert(1, 7);
    hand.set(1_000_000);
    assert_eq!(cache.get(&1), None);
    assert_eq!(cache.get_or_fetch_blocking(&1, || Err::<u64, _>("down")).unwrap(), 7);
    let cache = hand.moves(exact(10)).expire_after(|_, _| None).build();
    cache.insert(1, 7);
    hand.set(u64::MAX);
    assert_eq!(cache.get(&1), Some(7));
    cache.set_capacity(u64::MAX);
    assert_eq!(cache.capacity(), trueplane_cache::LARGEST_CAPACITY);
}

/// The next part, which is there.
fn next(reader: &mut Reader<u64, u64, Plain>) -> Option<u64> {
    let mut read: Request<'_, Option<Result<u64, FetchError>>> = Box::pin(reader.next());
    poll(&mut read).unwrap().map(Result::unwrap)
}

#[test]
fn a_stream_that_fails_before_its_first_part_is_the_old_value() {
    let hand = Hand::default();
    let cache: Cache<u64, Parts<u64>, Plain> = hand
        .moves(Cache::builder().capacity(10).shards(1).hasher(Plain::Itself))
        .time_to_live(Duration::from_nanos(100))
        .stale_if_error(Duration::from_nanos(100))
        .build();
    cache.insert(1, [1, 2].into_iter().collect());
    hand.set(150);
    let mut reader = cache.get_or_stream(&1, |_: Sink<u64>| async { Err("down") }).unwrap();
    let mut read = || next(&mut reader);
    assert_eq!([read(), read(), read()], [Some(1), Some(2), None]);
    // A sink that is used after the end of the fetch changes nothing.
    let kept = Arc::new(std::sync::Mutex::new(None));
    let keeps = Arc::clone(&kept);
    let mut reader = cache
        .get_or_stream(&2, |sink: Sink<u64>| async move {
            sink.push(5);
            *keeps.lock().unwrap() = Some(sink);
            Ok::<_, Infallible>(())
        })
        .unwrap();
    let mut read = || next(&mut reader);
    assert_eq!([read(), read()], [Some(5), None]);
    kept.lock().unwrap().take().unwrap().push(6);
    assert_eq!(cache.get(&2).unwrap().with(<[u64]>::to_vec), [5]);
}

#[test]
fn what_comes_for_a_renewal_that_was_overtaken_is_told_to_the_listener() {
    let hand = Hand::default();
    let sum = Arc::new(AtomicU64::new(0));
    let heard = Arc::clone(&sum);
    let cache = stale(&hand)
        .eviction_listener(move |_, value, _| {
            heard.fetch_add(value, Ordering::Relaxed);
        })
        .build();
    cache.insert(1, 7);
    hand.set(110);
    let gate = Fetch::new();
    let mut first = ask(&cache, 1, &gate);
    assert!(poll(&mut first).is_none());
    cache.insert(1, 100);
    gate.open(Ok(1000));
    assert_eq!(poll(&mut first).unwrap().unwrap(), 1000);
    assert_eq!((cache.get(&1), sum.load(Ordering::Relaxed)), (Some(100), 1007));
}
