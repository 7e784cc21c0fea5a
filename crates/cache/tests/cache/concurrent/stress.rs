//! Threads that do everything at once, and what must hold whatever they do.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_cache::policy::PolicyName;
use trueplane_cache::{Cache, Cause};

const THREADS: u64 = 4;
const KEYS: u64 = 60;

#[test]
fn no_update_is_lost() {
    let cache: Cache<u64, u64> = Cache::builder().capacity(1000).build();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..2_000 {
                    cache.update(&(round % 3), |old| Some(old.unwrap_or(0) + 1));
                }
            });
        }
    });
    let sum: u64 = (0..3).filter_map(|key| cache.get(&key)).sum();
    assert_eq!(sum, THREADS * 2_000);
}

/// Values say how often their key was written or fetched. At rest, what has come has left or is there, and weights are exact.
#[test]
fn nothing_is_lost_or_fetched_twice_at_once() {
    for policy in [PolicyName::Lru, PolicyName::LruMad, PolicyName::S3Fifo, PolicyName::LhdMad] {
        let (came, left) = (AtomicU64::new(0), Arc::new(Mutex::new(HashMap::<Cause, u64>::new())));
        let heard = Arc::clone(&left);
        let cache: Cache<u64, u64> = Cache::builder()
            .capacity(60)
            .shards(2)
            .policy(policy)
            .weigher(|key, _| 1 + key % 3)
            .time_to_live(Duration::from_millis(3))
            .eviction_listener(move |_, _, cause| *heard.lock().unwrap().entry(cause).or_default() += 1)
            .build();
        let fetching: Vec<AtomicUsize> = (0..KEYS).map(|_| AtomicUsize::new(0)).collect();
        thread::scope(|scope| {
            for number in 0..THREADS {
                let (cache, fetching, came) = (&cache, &fetching, &came);
                scope.spawn(move || {
                    let mut draws = Xoshiro256PlusPlus::seed_from_u64(number);
                    for round in 0..4_000u64 {
                        let key = draws.random_range(0..KEYS).min(draws.random_range(0..KEYS));
                        match draws.random_range(0..100) {
                            0..5 => {
                                came.fetch_add(1, Ordering::Relaxed);
                                cache.insert(1000 + key, round);
                            }
                            5..7 => drop(cache.remove(&(1000 + key))),
                            7 => drop(cache.iter().count()),
                            8 if round % 50 == 0 => cache.set_capacity(40 + round % 40),
                            8 => drop(cache.stats()),
                            9..40 => drop(cache.get(&key)),
                            _ => {
                                let fetched = cache.get_or_fetch_blocking(&key, || {
                                    let others = fetching[key as usize].fetch_add(1, Ordering::SeqCst);
                                    assert_eq!(others, 0, "two fetch {key}");
                                    if round % 8 == 0 {
                                        thread::yield_now();
                                    }
                                    came.fetch_add(1, Ordering::Relaxed);
                                    fetching[key as usize].fetch_sub(1, Ordering::SeqCst);
                                    Ok::<_, Infallible>(key)
                                });
                                assert_eq!(fetched.unwrap(), key);
                            }
                        }
                    }
                });
            }
        });
        let there: Vec<(u64, u64)> = cache.iter().collect();
        cache.run_pending();
        let weight: u64 = cache.iter().map(|(key, _)| 1 + key % 3).sum();
        assert!(weight <= cache.weight() && cache.weight() <= cache.capacity(), "{policy}");
        cache.invalidate_all();
        let gone: u64 = left.lock().unwrap().values().sum();
        assert_eq!(gone, came.load(Ordering::Relaxed), "{policy}: {left:?}, {} there", there.len());
        assert_eq!((cache.weight(), cache.len()), (0, 0));
    }
}
