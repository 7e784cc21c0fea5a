//! How fast caches are simulated: `cargo bench -p trueplane-cache --bench cache`.
//!
//! One thread, trace in memory, every policy on the same requests in one run. Rates are requests per second; the last
//! column is the ratio to LRU, which says more than the rates on a machine that others use too. Before it times a
//! policy, the bench holds its answers on part of the trace against the naive model of the tests.

#[path = "../tests/cache/naive/mod.rs"]
#[expect(dead_code, reason = "the tests use all of it, a bench does not")]
mod naive;
#[path = "../tests/cache/twin.rs"]
mod twin;

use std::fs;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use trueplane_cache::engine::{Engine, Shape};
use trueplane_cache::generate::{Generator, Objects, Profile, write_csv};
use trueplane_cache::grid::{Plan, simulate};
use trueplane_cache::latency::Latency;
use trueplane_cache::policy::{MadMemory, Params, PolicyName, Search, Window, WithPolicy, with_policy};
use trueplane_cache::{NextUse, Outcome, Policy};
use trueplane_trace::{Clock, Format, Request, Trace, TraceOptions};
use trueplane_units::{Nanos, Warmup};
use twin::twin;

const REQUESTS: u64 = 4_000_000;
const CAPACITIES: [u64; 3] = [1_000, 10_000, 100_000];
/// Requests whose outcome the naive model confirms first.
const CHECKED: usize = 30_000;

fn main() {
    memory();
    // Bursts over 400,000 objects; and hardly any reuse, so that nearly every request evicts.
    let bursts = trace(Profile::cdn(), 400_000, None);
    let misses = trace(Profile::zipf(), 4_000_000, Some(0.5));
    check(&slotted(&bursts)[..CHECKED]);
    for capacity in CAPACITIES {
        compare("bursts, continuous, 10 ms", &bursts, Clock::Timestamps, Nanos(10_000_000), capacity);
    }
    compare("bursts, slotted, 10000 steps", &slotted(&bursts), Clock::Steps, Nanos(10_000), 10_000);
    compare("misses, continuous, 10 ms", &misses, Clock::Timestamps, Nanos(10_000_000), 100_000);
    read_oracle_general(&bursts);
}

fn trace(mut profile: Profile, objects: u64, alpha: Option<f64>) -> Vec<Request> {
    if let Some(catalogue) = &mut profile.catalogue {
        catalogue.objects = Objects::Count(objects);
        catalogue.alpha = alpha.unwrap_or(catalogue.alpha);
    }
    Generator::new(&profile, REQUESTS, 1).expect("the profile is sound").collect()
}

fn slotted(requests: &[Request]) -> Vec<Request> {
    (0..).zip(requests).map(|(step, request)| Request { time: Nanos(step), ..*request }).collect()
}

fn compare(name: &str, requests: &[Request], clock: Clock, latency: Nanos, capacity: u64) {
    println!("\n{name}, {capacity} objects");
    println!("{:10} {:>10} {:>10} {:>10} {:>8}", "policy", "M req/s", "miss %", "mean/Z", "to lru");
    let mut base = None;
    for policy in PolicyName::ALL.iter().copied().filter(|policy| !policy.properties().offline) {
        let (rate, misses, mean) = rate(policy, requests, clock, latency, capacity);
        let ratio = rate / *base.get_or_insert(rate);
        println!("{policy:10} {rate:10.2} {misses:10.1} {mean:10.3} {ratio:8.2}");
    }
}

/// Serves all requests and returns every outcome.
struct Outcomes<'a> {
    requests: &'a [Request],
    clock: Clock,
    latency: Nanos,
    capacity: u64,
}

impl WithPolicy for Outcomes<'_> {
    type Output = (f64, Vec<(Outcome, u64)>);

    fn with<P: Policy + Send + 'static>(self, make: impl Fn(u64) -> P) -> Self::Output {
        let shape = Shape { capacity: self.capacity, by_bytes: false, sets: 1 };
        let mut engine = Engine::new(make, &shape, self.clock);
        let mut outcomes = Vec::with_capacity(self.requests.len());
        let start = now();
        for request in self.requests {
            let (outcome, wait) = engine.request(request, NextUse::UNKNOWN, || self.latency);
            outcomes.push((outcome, wait.0));
        }
        (start.elapsed().as_secs_f64(), black_box(outcomes))
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench is a driver")]
fn now() -> Instant {
    Instant::now()
}

fn rate(
    policy: PolicyName,
    requests: &[Request],
    clock: Clock,
    latency: Nanos,
    capacity: u64,
) -> (f64, f64, f64) {
    let (seconds, outcomes) =
        with_policy(policy, Params::objects(capacity), Outcomes { requests, clock, latency, capacity });
    let count = |wanted| outcomes.iter().filter(|(outcome, _)| *outcome == wanted).count();
    let misses = count(Outcome::Miss);
    let total: u64 = outcomes.iter().map(|(_, wait)| wait).sum();
    let requests = requests.len() as f64;
    (requests / seconds / 1e6, 100.0 * misses as f64 / requests, total as f64 / requests / latency.0 as f64)
}

/// Holds the policies that the naive model has against it, one request after another.
fn check(requests: &[Request]) {
    let trace: Vec<Option<u64>> = requests.iter().map(|request| Some(request.key)).collect();
    let (z, capacity) = (500, 100);
    let online = PolicyName::ALL.iter().copied().filter(|policy| !policy.properties().offline);
    let twins = online.filter_map(|policy| Some((policy, twin(policy, MadMemory::Cached)?)));
    let mut checked = Vec::new();
    for (policy, naive) in twins {
        let play = Outcomes { requests, clock: Clock::Steps, latency: Nanos(z), capacity };
        let (_, ours) = with_policy(policy, Params::objects(capacity), play);
        let theirs = naive::latencies(naive, &trace, z, capacity as usize);
        let ours: Vec<u64> = ours.into_iter().map(|(_, wait)| wait).collect();
        assert_eq!(ours, theirs, "{policy} disagrees with the naive model");
        checked.push(policy.name());
    }
    println!("{} requests as in the naive model: {}", requests.len(), checked.join(", "));
}

/// Peak memory of a whole study beyond the trace, for every distinct object.
fn memory() {
    let mut bytes = Vec::new();
    let requests = trace(Profile::zipf(), 4_000_000, Some(0.5));
    write_csv(requests.into_iter(), &mut bytes, &AtomicBool::new(false)).expect("memory takes it");
    let trace = Trace::from_bytes("bench.csv", bytes, &TraceOptions::default()).expect("well-formed");
    for policy in [PolicyName::Lru, PolicyName::LruMad, PolicyName::ArcMad] {
        let plan = Plan {
            policies: vec![policy],
            latencies: vec![Latency::Constant(Nanos(10_000_000))],
            capacities: vec!["5%".parse().expect("a capacity")],
            clock: Clock::Timestamps,
            hit_latency: Nanos(0),
            warmup: Warmup::Count(0),
            ways: None,
            mad_memory: MadMemory::Cached,
            search: Search::Sampled,
            window: Window::Adaptive,
            seed: 1,
            bypass_oversized: false,
        };
        // Forget the peak so far (proc(5), clear_refs).
        let (Ok(()), Some(before)) = (fs::write("/proc/self/clear_refs", "5"), peak_memory()) else {
            return println!("peak memory: not known without /proc");
        };
        let found = simulate(&trace, &plan, &()).expect("the trace fits the plan");
        let grown = peak_memory().unwrap_or(before).saturating_sub(before);
        let objects = found.trace.summary.objects;
        println!("{policy}: {} B an object at 5% of {objects} objects", grown / objects);
        assert_eq!(found.trace.summary.requests, REQUESTS);
    }
}

/// The largest resident size so far, in bytes.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?)
}

/// Times the reader of libCacheSim's binary format, and checks what it read.
fn read_oracle_general(requests: &[Request]) {
    let mut bytes = Vec::new();
    for request in requests {
        bytes.extend_from_slice(&((request.time.0 / 1_000_000_000) as u32).to_le_bytes());
        bytes.extend_from_slice(&request.key.to_le_bytes());
        bytes.extend_from_slice(&(request.size as u32).to_le_bytes());
        bytes.extend_from_slice(&(-1i64).to_le_bytes());
    }
    let options = TraceOptions { format: Some(Format::OracleGeneral), ..TraceOptions::default() };
    let trace = Trace::from_bytes("bench.oracleGeneral", bytes, &options).expect("well-formed");
    let start = now();
    let mut reader = trace.reader(Clock::Timestamps).expect("well-formed");
    let (mut chunk, mut read, mut keys) = (Vec::new(), 0, 0u64);
    while reader.next_chunk(&mut chunk).expect("well-formed") {
        read += chunk.len();
        keys = chunk.iter().fold(keys, |sum, request| sum.wrapping_add(request.key));
    }
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(read, requests.len());
    assert_eq!(keys, requests.iter().fold(0, |sum: u64, request| sum.wrapping_add(request.key)));
    println!("\noracleGeneral: {:.1} M records/s", read as f64 / seconds / 1e6);
}
