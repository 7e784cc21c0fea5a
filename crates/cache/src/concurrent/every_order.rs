//! What threads may do, in every order of their steps: `make loom`.

use std::convert::Infallible;
use std::future::poll_fn;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use loom::thread;
use trueplane_units::Nanos;

use super::waiting::block_on;
use super::{Cache, FetchError};
use crate::PolicyName;

/// Keys hash alike in every run.
type Numbers = Cache<u64, u64, BuildHasherDefault<DefaultHasher>>;

fn cache(policy: PolicyName, capacity: u64, max_fetches: usize) -> Numbers {
    Cache::builder()
        .capacity(capacity)
        .shards(1)
        .policy(policy)
        .max_fetches(max_fetches)
        .clock(|| Nanos(0))
        .hasher(BuildHasherDefault::default())
        .build()
}

#[test]
fn two_who_ask_at_once_begin_one_fetch() {
    for policy in [PolicyName::LruMad, PolicyName::Sieve] {
        loom::model(move || {
            let (cache, fetches) = (cache(policy, 10, usize::MAX), Arc::new(AtomicU64::new(0)));
            let ask = |cache: &Numbers, fetches: &AtomicU64| {
                cache.get_or_fetch_blocking(&1, || {
                    fetches.fetch_add(1, Ordering::Relaxed);
                    Ok::<_, Infallible>(7)
                })
            };
            let (other, others) = (cache.clone(), Arc::clone(&fetches));
            let asking = thread::spawn(move || ask(&other, &others).ok());
            assert_eq!(ask(&cache, &fetches).ok(), Some(7));
            assert_eq!(asking.join().unwrap(), Some(7));
            assert_eq!((fetches.load(Ordering::Relaxed), cache.stats().requests(), cache.len()), (1, 2, 1));
        });
    }
}

#[test]
fn what_is_written_outlives_what_is_fetched() {
    loom::model(|| {
        let cache = cache(PolicyName::Lru, 10, usize::MAX);
        let other = cache.clone();
        let asking = thread::spawn(move || other.get_or_fetch_blocking(&1, || Ok::<_, Infallible>(7)).ok());
        cache.insert(1, 8);
        assert!(matches!(asking.join().unwrap(), Some(7 | 8)));
        assert_eq!((cache.peek(&1), cache.weight()), (Some(8), 1));
    });
}

/// A task that begins a fetch, or joins one, and leaves it half done: another one goes on with it.
#[test]
fn nobody_waits_for_one_who_has_left() {
    loom::model(|| {
        let cache = cache(PolicyName::Lru, 10, usize::MAX);
        let ask = |cache: &Numbers| {
            let cache = cache.clone();
            async move {
                let mut turns = 0;
                let at_the_second_turn = poll_fn(move |context| {
                    turns += 1;
                    context.waker().wake_by_ref();
                    if turns > 1 { Poll::Ready(Ok::<_, Infallible>(7)) } else { Poll::Pending }
                });
                cache.get_or_fetch(&1, || at_the_second_turn).await
            }
        };
        let asking = ask(&cache);
        let leaving = thread::spawn(move || {
            let polled = pin!(asking).poll(&mut Context::from_waker(Waker::noop()));
            assert!(matches!(polled, Poll::Pending | Poll::Ready(Ok(7))));
        });
        assert_eq!(block_on(ask(&cache)).ok(), Some(7));
        leaving.join().unwrap();
        assert_eq!((cache.peek(&1), cache.stats().fetches), (Some(7), 1));
    });
}

/// Of a policy whose hits take effect beside each other.
#[test]
fn readers_beside_a_writer_get_what_belongs_to_their_key() {
    loom::model(|| {
        let cache = cache(PolicyName::Sieve, 1, usize::MAX);
        cache.insert(1, 10);
        let other = cache.clone();
        let reading = thread::spawn(move || assert!(matches!(other.get(&1), None | Some(10))));
        cache.insert(2, 20);
        assert_eq!(cache.get(&2), Some(20));
        reading.join().unwrap();
        assert_eq!((cache.len(), cache.stats().requests()), (1, 2));
    });
}

#[test]
fn no_more_fetches_are_on_their_way_than_may_be() {
    loom::model(|| {
        let (cache, running) = (cache(PolicyName::Lru, 10, 1), Arc::new(AtomicU64::new(0)));
        let ask = |cache: &Numbers, running: &AtomicU64, key| {
            let fetch = || {
                assert_eq!(running.fetch_add(1, Ordering::Relaxed), 0);
                thread::yield_now();
                running.fetch_sub(1, Ordering::Relaxed);
                Ok::<_, Infallible>(key)
            };
            let answer = cache.get_or_fetch_blocking(&key, fetch);
            assert!(matches!(answer, Ok(_) | Err(FetchError::TooManyFetches(1))));
        };
        let (other, others) = (cache.clone(), Arc::clone(&running));
        let asking = thread::spawn(move || ask(&other, &others, 1));
        ask(&cache, &running, 2);
        asking.join().unwrap();
        // The next one may begin.
        ask(&cache, &running, 3);
        assert_eq!(cache.peek(&3), Some(3));
    });
}
