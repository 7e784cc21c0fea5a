//! One fetch for a key at a time, however many ask and however they come and go.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use trueplane_cache::{Cache, Cause, FetchError, Nanos, PolicyName};

use super::{Gate, Hand, Plain, Request, exact, poll};

type Numbers = Cache<u64, u64, Plain>;
type Answer = Result<u64, FetchError>;

fn numbers() -> Numbers {
    exact(10).build()
}

/// A request whose fetch ends when the gate opens; counts the fetches that begin.
fn ask<'a>(
    cache: &'a Numbers,
    key: u64,
    gate: &Gate<Result<u64, io::Error>>,
    fetches: &'a AtomicUsize,
) -> Request<'a, Answer> {
    let gate = gate.clone();
    Box::pin(async move {
        let fetch = || {
            fetches.fetch_add(1, Ordering::Relaxed);
            gate
        };
        cache.get_or_fetch(&key, fetch).await
    })
}

#[test]
fn all_who_ask_wait_for_one_fetch() {
    let (cache, gate, fetches) = (numbers(), Gate::new(), AtomicUsize::new(0));
    let mut requests: Vec<_> = (0..100).map(|_| ask(&cache, 1, &gate, &fetches)).collect();
    assert!(requests.iter_mut().all(|request| poll(request).is_none()));
    assert_eq!((fetches.load(Ordering::Relaxed), cache.len()), (1, 0));
    gate.open(Ok(11));
    // Whoever comes first works on it.
    assert_eq!(poll(&mut requests.remove(50)).unwrap().unwrap(), 11);
    for request in &mut requests {
        assert_eq!(poll(request).unwrap().unwrap(), 11);
    }
    assert_eq!(cache.get(&1), Some(11));
    let stats = cache.stats();
    assert_eq!((stats.misses, stats.delayed_hits, stats.hits, stats.waited), (1, 99, 1, 100));
}

#[test]
fn when_the_one_who_works_leaves_another_goes_on_where_it_stopped() {
    let (cache, gate, fetches) = (numbers(), Gate::new(), AtomicUsize::new(0));
    let mut first = ask(&cache, 1, &gate, &fetches);
    let mut second = ask(&cache, 1, &gate, &fetches);
    let mut third = ask(&cache, 1, &gate, &fetches);
    assert!([&mut first, &mut second, &mut third].map(poll).iter().all(Option::is_none));
    assert_eq!(gate.polls(), 1);
    drop(first);
    // There is nothing to do before it can go on.
    assert!(poll(&mut second).is_none());
    assert_eq!(gate.polls(), 1);
    drop(second);
    gate.open(Ok(5));
    assert_eq!(poll(&mut third).unwrap().unwrap(), 5);
    assert_eq!((fetches.load(Ordering::Relaxed), gate.polls()), (1, 2));
    assert_eq!(cache.stats().waited, 1);
}

#[test]
fn a_fetch_that_nobody_waits_for_is_dropped_and_the_next_one_begins_anew() {
    let (cache, fetches) = (numbers(), AtomicUsize::new(0));
    let gate = Gate::new();
    let mut first = ask(&cache, 1, &gate, &fetches);
    assert!(poll(&mut first).is_none());
    let mut second = ask(&cache, 1, &gate, &fetches);
    assert!(poll(&mut second).is_none());
    drop(second);
    drop(first);
    let other = Gate::new();
    let mut third = ask(&cache, 1, &other, &fetches);
    assert!(poll(&mut third).is_none());
    other.open(Ok(9));
    assert_eq!(poll(&mut third).unwrap().unwrap(), 9);
    assert_eq!(fetches.load(Ordering::Relaxed), 2);
}

#[test]
fn the_one_who_takes_over_is_woken() {
    // Two threads: the first one leaves after a while, and the second would sleep for ever if nobody woke it.
    let cache: Cache<u64, u64> = Cache::builder().capacity(10).build();
    let gate: Gate<Result<u64, Infallible>> = Gate::new();
    let mut first: Request<'_, Answer> = {
        let (cache, gate) = (cache.clone(), gate.clone());
        Box::pin(async move { cache.get_or_fetch(&1, || gate).await })
    };
    assert!(poll(&mut first).is_none());
    let waiter = {
        let cache = cache.clone();
        thread::spawn(move || {
            cache.get_or_fetch_blocking(&1, || -> Result<u64, Infallible> { panic!("there is a fetch") })
        })
    };
    while cache.stats().delayed_hits == 0 {
        thread::yield_now();
    }
    thread::sleep(Duration::from_millis(5));
    drop(first);
    gate.open(Ok(3));
    assert_eq!(waiter.join().unwrap().unwrap(), 3);
}

#[test]
fn an_error_goes_to_all_who_wait_and_the_next_request_tries_again() {
    let (cache, gate, fetches) = (numbers(), Gate::new(), AtomicUsize::new(0));
    let mut first = ask(&cache, 1, &gate, &fetches);
    let mut second = ask(&cache, 1, &gate, &fetches);
    assert!(poll(&mut first).is_none() && poll(&mut second).is_none());
    gate.open(Err(io::Error::other("no route")));
    for request in [&mut first, &mut second] {
        let error = poll(request).unwrap().unwrap_err();
        assert_eq!(error.to_string(), "no route");
        assert_eq!(error.downcast_ref::<io::Error>().unwrap().kind(), io::ErrorKind::Other);
    }
    let next = Gate::new();
    let mut third = ask(&cache, 1, &next, &fetches);
    assert!(poll(&mut third).is_none());
    assert_eq!((fetches.load(Ordering::Relaxed), cache.stats().failures), (2, 1));
}

#[test]
fn a_failure_is_remembered_for_its_time() {
    let hand = Hand::default();
    let cache = hand.moves(exact(10)).negative_time_to_live(Duration::from_nanos(10)).build();
    let fail = || cache.get_or_fetch_blocking(&1, || Err::<u64, _>("down"));
    let good = || cache.get_or_fetch_blocking(&1, || Ok::<_, Infallible>(4));
    assert_eq!(fail().unwrap_err().to_string(), "down");
    hand.set(9);
    assert_eq!(good().unwrap_err().to_string(), "down");
    hand.set(10);
    assert_eq!(good().unwrap(), 4);
    // A value that is stored meanwhile counts.
    cache.remove(&1);
    assert!(fail().is_err());
    cache.insert(1, 5);
    assert_eq!(good().unwrap(), 5);
}

#[test]
fn a_panic_is_an_error() {
    let cache = numbers();
    let error =
        cache.get_or_fetch_blocking(&1, || -> Result<u64, Infallible> { panic!("out of {}", "cheese") });
    assert_eq!(error.unwrap_err().to_string(), "the fetch panicked: out of cheese");
    let mut request: Request<'_, Answer> = Box::pin(cache.get_or_fetch(&1, || async {
        if true {
            panic!("again");
        }
        Ok::<u64, Infallible>(1)
    }));
    assert!(matches!(poll(&mut request), Some(Err(FetchError::Panicked(_)))));
    assert_eq!(cache.get_or_fetch_blocking(&1, || Ok::<_, Infallible>(1)).unwrap(), 1);
}

#[test]
fn waiters_and_fetches_are_bounded() {
    let (gate, fetches) = (Gate::new(), AtomicUsize::new(0));
    let cache = exact(10).max_waiters(2).max_fetches(2).build();
    let mut requests: Vec<_> = (0..3).map(|_| ask(&cache, 1, &gate, &fetches)).collect();
    let answers: Vec<_> = requests.iter_mut().map(poll).collect();
    assert!(answers[..2].iter().all(Option::is_none));
    assert!(matches!(answers[2], Some(Err(FetchError::TooManyWaiters(2)))));
    let other = Gate::new();
    let mut second = ask(&cache, 2, &other, &fetches);
    assert!(poll(&mut second).is_none());
    assert!(matches!(poll(&mut ask(&cache, 3, &other, &fetches)), Some(Err(FetchError::TooManyFetches(2)))));
    // Who has left leaves a place.
    drop(requests.pop());
    drop(requests.pop());
    assert!(poll(&mut ask(&cache, 1, &gate, &fetches)).is_none());
    drop(second);
    let mut third = ask(&cache, 3, &other, &fetches);
    assert!(poll(&mut third).is_none());
}

#[test]
fn a_fetch_may_use_the_cache_but_not_wait_for_itself() {
    let cache: Cache<u64, u64> = Cache::new(100);
    // Fibonacci's numbers: each fetch asks for two others.
    fn number(cache: &Cache<u64, u64>, n: u64) -> Answer {
        cache.get_or_fetch_blocking(&n, || match n {
            0 | 1 => Ok(n),
            _ => Ok::<_, FetchError>(number(cache, n - 1)? + number(cache, n - 2)?),
        })
    }
    assert_eq!(number(&cache, 50).unwrap(), 12_586_269_025);
    let itself = cache.get_or_fetch_blocking(&100, || {
        cache.get_or_fetch_blocking(&101, || cache.get_or_fetch_blocking(&100, || Ok::<_, Infallible>(0)))
    });
    assert!(itself.unwrap_err().to_string().contains("waits for itself"));
    let inner = cache.clone();
    let mut request: Request<'_, Answer> = Box::pin(cache.get_or_fetch(&100, || async move {
        inner.get_or_fetch(&100, || async { Ok::<_, Infallible>(0) }).await
    }));
    assert!(poll(&mut request).unwrap().is_err());
    // A fetch may write its own key: what it brings is not stored then.
    let writes = cache.get_or_fetch_blocking(&7000, || {
        cache.insert(7000, 1);
        Ok::<_, Infallible>(2)
    });
    assert_eq!((writes.unwrap(), cache.get(&7000)), (2, Some(1)));
}

#[test]
fn what_is_written_during_a_fetch_stays() {
    let (cache, gate, fetches) = (numbers(), Gate::new(), AtomicUsize::new(0));
    let mut first = ask(&cache, 1, &gate, &fetches);
    assert!(poll(&mut first).is_none());
    cache.insert(1, 100);
    assert_eq!(cache.get(&1), Some(100));
    cache.remove(&1);
    // A fetch that begins now is another one.
    let next = Gate::new();
    let mut second = ask(&cache, 1, &next, &fetches);
    assert!(poll(&mut second).is_none());
    gate.open(Ok(1));
    assert_eq!(poll(&mut first).unwrap().unwrap(), 1);
    assert_eq!(cache.get(&1), None);
    next.open(Ok(2));
    assert_eq!(poll(&mut second).unwrap().unwrap(), 2);
    assert_eq!(cache.get(&1), Some(2));
    // So it is with all.
    let last = Gate::new();
    let mut third = ask(&cache, 9, &last, &fetches);
    assert!(poll(&mut third).is_none());
    cache.invalidate_all();
    last.open(Ok(3));
    assert_eq!(poll(&mut third).unwrap().unwrap(), 3);
    assert!(cache.is_empty());
}

#[test]
fn a_spawner_works_on_fetches_though_all_have_left() {
    type Task = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;
    let tasks: Arc<Mutex<Vec<Task>>> = Arc::default();
    let spawned = Arc::clone(&tasks);
    let cache = exact(10).spawner(move |task| spawned.lock().unwrap().push(task)).build();
    let (gate, fetches) = (Gate::new(), AtomicUsize::new(0));
    let mut request = ask(&cache, 1, &gate, &fetches);
    assert!(poll(&mut request).is_none());
    drop(request);
    let mut task: Request<'_, ()> = tasks.lock().unwrap().pop().unwrap();
    gate.open(Ok(6));
    assert!(poll(&mut task).is_some());
    assert_eq!(cache.get(&1), Some(6));
    // A runtime that shuts down.
    let mut request = ask(&cache, 2, &gate, &fetches);
    assert!(poll(&mut request).is_none());
    drop(tasks.lock().unwrap().pop());
    assert!(matches!(poll(&mut request), Some(Err(FetchError::Dropped))));
}

#[test]
fn a_blocking_fetch_serves_tasks_and_threads() {
    let cache: Cache<u64, u64> = Cache::builder().policy(PolicyName::Sieve).capacity(10).build();
    let fetches = AtomicUsize::new(0);
    let start = Barrier::new(4);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                start.wait();
                let answer = cache.get_or_fetch_blocking(&1, || {
                    fetches.fetch_add(1, Ordering::Relaxed);
                    thread::sleep(Duration::from_millis(20));
                    Ok::<_, Infallible>(8)
                });
                assert_eq!(answer.unwrap(), 8);
            });
        }
    });
    assert_eq!(fetches.load(Ordering::Relaxed), 1);
}

#[test]
fn waits_are_counted_as_they_were() {
    let hand = Hand::default();
    let cache: Numbers = hand.moves(exact(10)).policy(PolicyName::Lru).build();
    let (gate, fetches) = (Gate::new(), AtomicUsize::new(0));
    let mut requests = Vec::new();
    for at in [3, 5, 11] {
        hand.set(at);
        let mut request = ask(&cache, 1, &gate, &fetches);
        assert!(poll(&mut request).is_none());
        requests.push(request);
    }
    hand.set(13);
    gate.open(Ok(0));
    requests.iter_mut().for_each(|request| assert!(poll(request).is_some()));
    let stats = cache.stats();
    // §2.1 of the thesis: a fetch of 10, and waits of 10, 8 and 2.
    assert_eq!((stats.fetch_time, stats.wait_time), (Nanos(10), Nanos(20)));
    let thirds = |number: Option<f64>| number.map(|number| (number * 3e9).round() / 1e9);
    assert_eq!(thirds(stats.predicted_latency()), Some(10.0));
    assert_eq!(thirds(stats.measured_latency()), Some(20.0));
    assert_eq!(thirds(stats.hit_rate()), Some(2.0));
}

#[test]
fn what_has_come_for_nobody_is_told_to_the_listener() {
    let left: Arc<Mutex<Vec<(u64, u64, Cause)>>> = Arc::default();
    let heard = Arc::clone(&left);
    let cache = exact(10)
        .eviction_listener(move |key, value, cause| heard.lock().unwrap().push((key, value, cause)))
        .build();
    let (gate, fetches) = (Gate::new(), AtomicUsize::new(0));
    let mut request = ask(&cache, 1, &gate, &fetches);
    assert!(poll(&mut request).is_none());
    cache.remove(&1);
    gate.open(Ok(1));
    assert!(poll(&mut request).is_some());
    assert_eq!(*left.lock().unwrap(), [(1, 1, Cause::Removed)]);
}

/// The keys of a fetch for many, and how it ends.
type Many = Gate<Result<HashMap<u64, u64>, io::Error>>;

fn ask_many<'a>(
    cache: &'a Numbers,
    keys: &'a [u64],
    gate: &Many,
    wanted: &'a Mutex<Vec<u64>>,
) -> Request<'a, Vec<Answer>> {
    let gate = gate.clone();
    Box::pin(cache.get_many_or_fetch(keys, move |keys| {
        wanted.lock().unwrap().extend(keys);
        gate.clone()
    }))
}

#[test]
fn many_keys_are_fetched_together_but_for_those_on_their_way() {
    let (cache, fetches, wanted) = (numbers(), AtomicUsize::new(0), Mutex::default());
    cache.insert(1, 10);
    let gate = Gate::new();
    let mut single = ask(&cache, 2, &gate, &fetches);
    assert!(poll(&mut single).is_none());
    let many = Many::new();
    let mut request = ask_many(&cache, &[1, 2, 3, 3, 4, 5], &many, &wanted);
    assert!(poll(&mut request).is_none());
    assert_eq!(*wanted.lock().unwrap(), [3, 4, 5]);
    let mut third = ask(&cache, 3, &gate, &fetches);
    assert!(poll(&mut third).is_none());
    many.open(Ok(HashMap::from([(3, 30), (4, 40)])));
    assert!(poll(&mut request).is_none(), "2 is another one's");
    assert_eq!(poll(&mut third).unwrap().unwrap(), 30);
    gate.open(Ok(20));
    assert!(poll(&mut single).is_some());
    let answers = poll(&mut request).unwrap();
    let values: Vec<Option<u64>> = answers.iter().map(|answer| answer.as_ref().ok().copied()).collect();
    assert_eq!(values, [Some(10), Some(20), Some(30), Some(30), Some(40), None]);
    assert!(matches!(answers[5], Err(FetchError::NotBrought)));
    assert_eq!((cache.get(&4), cache.get(&5)), (Some(40), None));
    let panics = cache.get_many_or_fetch(&[8], |_| async {
        if true {
            panic!("lost");
        }
        Ok::<_, Infallible>(HashMap::new())
    });
    let mut panics: Request<'_, _> = Box::pin(panics);
    assert!(matches!(poll(&mut panics).unwrap()[0], Err(FetchError::Panicked(_))));
}

#[test]
fn who_waits_for_a_batch_that_leaves_fetches_alone() {
    let (cache, fetches, wanted) = (numbers(), AtomicUsize::new(0), Mutex::default());
    let mut request = ask_many(&cache, &[1, 2], &Many::new(), &wanted);
    assert!(poll(&mut request).is_none());
    let gate = Gate::new();
    let mut single = ask(&cache, 1, &gate, &fetches);
    assert!(poll(&mut single).is_none());
    assert_eq!(fetches.load(Ordering::Relaxed), 0);
    drop(request);
    assert!(poll(&mut single).is_none());
    assert_eq!(fetches.load(Ordering::Relaxed), 1);
    gate.open(Ok(3));
    assert_eq!(poll(&mut single).unwrap().unwrap(), 3);
    // A batch that asks for one of its own keys.
    let mut request: Request<'_, _> = Box::pin(cache.get_many_or_fetch(&[7], |_| async {
        let seven = cache.get_or_fetch(&7, || async { Ok::<_, Infallible>(7) }).await?;
        Ok::<_, FetchError>(HashMap::from([(7, seven)]))
    }));
    let answer = poll(&mut request).unwrap().remove(0);
    assert!(answer.unwrap_err().to_string().contains("waits for itself"));
}
