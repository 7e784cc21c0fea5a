//! In one shard and in virtual time, the cache does what the simulator does: the same outcome of every request and the same victims, under
//! every policy.

use std::collections::HashMap;
use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use trueplane_cache::policy::{Params, PolicyName, WithPolicy, with_policy};
use trueplane_cache::{
    Access, Cache, Cause, Directory, FetchError, Key, Nanos, Object, Outcome, Policy, Slot,
};
use trueplane_trace::{Clock, Trace, TraceOptions};

use super::{Gate, Hand, Plain, Request, exact, poll};

/// A request of a trace: when, for what, and how long a fetch would take.
#[derive(Clone, Copy, Debug)]
struct Asked {
    time: u64,
    key: u64,
    fetch: u64,
}

fn weight(key: u64) -> u64 {
    1 + key % 4
}

/// What has happened: outcomes of requests, and keys that have left.
type Story = (Vec<Outcome>, Vec<u64>);

/// The simulator: a directory, and fetches in the order of their ends.
struct Simulator<'a> {
    trace: &'a [Asked],
    capacity: u64,
}

impl WithPolicy for Simulator<'_> {
    type Output = Story;

    fn with<P: Policy + Send + 'static>(self, make: impl Fn(u64) -> P) -> Story {
        let mut directory = Directory::new(make(0), self.capacity);
        let (mut outcomes, mut left) = (Vec::new(), Vec::new());
        let mut keys: HashMap<Slot, u64> = HashMap::new();
        let mut due: Vec<(u64, usize, Slot, u64)> = Vec::new();
        for (number, asked) in self.trace.iter().enumerate() {
            due.sort_unstable_by_key(|&(ends, miss, ..)| (ends, miss));
            let over = due.partition_point(|&(ends, ..)| ends <= asked.time);
            for (ends, _, slot, began) in due.drain(..over) {
                let freed = directory.fetched(slot, Nanos(ends - began), Nanos(ends));
                left.extend(freed.iter().map(|slot| keys[slot]));
            }
            let object = Object { key: Key(asked.key), size: weight(asked.key) };
            let (outcome, slot) = directory.request(object, Access::at(Nanos(asked.time)));
            outcomes.push(outcome);
            if outcome == Outcome::Miss {
                keys.insert(slot, asked.key);
                due.push((asked.time + asked.fetch, number, slot, asked.time));
            }
        }
        (outcomes, left)
    }
}

/// The cache in one shard.
fn live(policy: PolicyName, trace: &[Asked], capacity: u64) -> Story {
    let (outcomes, left, _) = played(policy, trace, capacity, 1);
    (outcomes, left)
}

/// The cache, whose fetches end when their time has come. Besides, the time in ns that all requests waited together.
fn played(
    policy: PolicyName,
    trace: &[Asked],
    capacity: u64,
    shards: usize,
) -> (Vec<Outcome>, Vec<u64>, u64) {
    type Fetched = Result<u64, Infallible>;
    let hand = Hand::default();
    let left = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&left);
    let cache: Cache<u64, u64, Plain> = hand
        .moves(exact(capacity))
        .shards(shards)
        .policy(policy)
        .expected_entries(capacity)
        .weigher(|key, _| weight(*key))
        .eviction_listener(move |key, _, cause| {
            assert!(matches!(cause, Cause::Evicted | Cause::TooHeavy));
            heard.lock().unwrap().push(key);
        })
        .build();
    let mut outcomes = Vec::new();
    let mut waiting: Vec<(u64, Request<'_, Result<u64, FetchError>>)> = Vec::new();
    let mut due: Vec<(u64, usize, u64, Gate<Fetched>)> = Vec::new();
    for (number, asked) in trace.iter().enumerate() {
        due.sort_by_key(|&(ends, miss, ..)| (ends, miss));
        let over = due.partition_point(|&(ends, ..)| ends <= asked.time);
        for (ends, _, key, gate) in due.drain(..over) {
            hand.set(ends);
            gate.open(Ok(key.wrapping_mul(3)));
            waiting.retain_mut(|(other, request)| match poll(request).filter(|_| *other == key) {
                Some(value) => {
                    assert_eq!(value.unwrap(), key.wrapping_mul(3));
                    false
                }
                None => true,
            });
        }
        hand.set(asked.time);
        let (gate, key) = (Gate::new(), asked.key);
        let began = Arc::new(Mutex::new(false));
        let (fetch, cache) = ((gate.clone(), Arc::clone(&began)), cache.clone());
        let mut request: Request<'_, _> = Box::pin(async move {
            let (gate, began) = fetch;
            cache
                .get_or_fetch(&key, || async move {
                    *began.lock().unwrap() = true;
                    gate.await
                })
                .await
        });
        let answer = poll(&mut request);
        let is_miss = *began.lock().unwrap();
        outcomes.push(match answer {
            Some(value) => {
                assert_eq!(value.unwrap(), key.wrapping_mul(3));
                Outcome::Hit
            }
            None if is_miss => Outcome::Miss,
            None => Outcome::Delayed,
        });
        if answer_is_open(outcomes.last()) {
            waiting.push((key, request));
        }
        if is_miss {
            due.push((asked.time + asked.fetch, number, key, gate));
        }
    }
    let stats = cache.stats();
    let count = |outcome| outcomes.iter().filter(|other| **other == outcome).count() as u64;
    assert_eq!(
        [stats.hits, stats.delayed_hits, stats.misses],
        [Outcome::Hit, Outcome::Delayed, Outcome::Miss].map(count)
    );
    drop(waiting);
    let left = left.lock().unwrap().clone();
    (outcomes, left, stats.wait_time.0)
}

fn answer_is_open(outcome: Option<&Outcome>) -> bool {
    !matches!(outcome, Some(Outcome::Hit))
}

fn check(trace: &[Asked], capacity: u64) {
    for policy in PolicyName::ALL.iter().copied().filter(|policy| !policy.properties().offline) {
        let expected = with_policy(policy, Params::objects(capacity), Simulator { trace, capacity });
        let found = live(policy, trace, capacity);
        assert_eq!(found.0, expected.0, "{policy}");
        assert_eq!(found.1, expected.1, "{policy}");
    }
}

/// Requests by powers of two: few keys are asked for often, and in bursts.
fn trace(steps: &[(u8, u8, u16)]) -> Vec<Asked> {
    let mut time = 0;
    let asked = |&(pause, key, fetch): &(u8, u8, u16)| {
        time += u64::from(pause);
        let key = u64::from(key).pow(2) / 700;
        Asked { time, key, fetch: 1 + u64::from(fetch) % 300 }
    };
    steps.iter().map(asked).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_cache_does_what_the_simulator_does(
        steps in prop::collection::vec((0u8..20, any::<u8>(), any::<u16>()), 1..600),
        capacity in 0u64..60,
    ) {
        check(&trace(&steps), capacity);
    }
}

/// Requests of a bundled trace, up to `most`. Their fetches take as long as a hash says, from `base` to 20 times as long.
fn real(name: &str, base: u64, most: u64) -> Vec<Asked> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    let columns = name.ends_with("packets.csv").then(|| "time=time_ns,key=flow".parse().expect("columns"));
    let options = TraceOptions { columns, ..TraceOptions::default() };
    let trace = Trace::open(&path, &options).expect("it is a trace");
    let mut reader = trace.reader(Clock::Timestamps).expect("it has times").first(most);
    let (mut requests, mut chunk) = (Vec::new(), Vec::new());
    while reader.next_chunk(&mut chunk).expect("it is whole") {
        requests.extend(chunk.iter().map(|request| {
            let fetch = base + request.key.wrapping_mul(0x9E37_79B9_7F4A_7C15) % (19 * base);
            Asked { time: request.time.0, key: request.key, fetch }
        }));
    }
    requests
}

#[test]
fn real_traces_are_the_same_too() {
    for (name, base, capacity) in
        [("cdn-200k.csv.zst", 5_000_000, 1000), ("tenants.pcap", 10_000, 8), ("packets.csv", 1_000, 12)]
    {
        let requests = real(name, base, 20_000);
        assert!(requests.len() >= 1000, "{name} has {} requests", requests.len());
        check(&requests, capacity);
    }
}

/// Of a cache in many shards, each with a part of the capacity of its own: hit rates are at most 0.3 points below one shard's, and
/// mean waits at most 1% above.
#[test]
fn shards_change_little() {
    let requests = real("cdn-200k.csv.zst", 5_000_000, 60_000);
    for policy in PolicyName::ALL.iter().copied().filter(|policy| !policy.properties().offline) {
        let of = |shards: usize| {
            let (outcomes, _, waits) = played(policy, &requests, 4096, shards);
            let found = outcomes.iter().filter(|outcome| **outcome != Outcome::Miss).count();
            (found as f64 / requests.len() as f64, waits as f64)
        };
        let ((one_found, one_waits), (found, waits)) = (of(1), of(8));
        assert!(found >= one_found - 0.003, "{policy} finds {found} instead of {one_found}");
        assert!(waits <= one_waits * 1.01, "{policy} waits {waits} instead of {one_waits}");
    }
}
