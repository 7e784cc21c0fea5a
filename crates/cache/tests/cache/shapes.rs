//! What the thesis claims of delayed hits must show on generated traces, over seeds: who wins, and which way it goes.

use std::sync::atomic::AtomicBool;

use trueplane_cache::capacity::Capacity;
use trueplane_cache::generate::{Generator, Profile, write_csv};
use trueplane_cache::grid::{Plan, Point, Points, PolicyRun, simulate};
use trueplane_cache::latency::Latency;
use trueplane_cache::policy::{MadMemory, PolicyName, Search, Window};
use trueplane_trace::{Clock, Trace, TraceOptions};
use trueplane_units::{Nanos, Warmup};

fn trace(profile: &Profile, requests: u64, seed: u64) -> Trace {
    let mut bytes = Vec::new();
    let generator = Generator::new(profile, requests, seed).expect("the profile is sound");
    write_csv(generator, &mut bytes, &AtomicBool::new(false)).expect("memory takes it");
    Trace::from_bytes("generated.csv", bytes, &TraceOptions::default()).expect("it is our own format")
}

fn bursty(seed: u64) -> Trace {
    trace(&Profile { irt: Nanos(10_000), ..Profile::cdn() }, 60_000, seed)
}

fn plan(latencies: &[u64]) -> Plan {
    Plan {
        policies: PolicyName::ALL.to_vec(),
        latencies: latencies.iter().map(|&ms| Latency::Constant(Nanos(ms * 1_000_000))).collect(),
        capacities: vec![Capacity::Share(50_000)],
        clock: Clock::Timestamps,
        hit_latency: Nanos(0),
        warmup: Warmup::Count(0),
        ways: None,
        mad_memory: MadMemory::Cached,
        search: Search::Sampled,
        window: Window::Adaptive,
        seed: 1,
        bypass_oversized: false,
    }
}

fn study(trace: &Trace, plan: &Plan) -> Points {
    simulate(trace, plan, &()).expect("the trace fits the plan")
}

fn of(run: &Point, name: PolicyName) -> &PolicyRun {
    run.policies.iter().find(|policy| policy.policy == name).expect("all policies ran")
}

#[test]
fn the_longer_a_fetch_the_more_the_classical_model_underestimates() {
    // Figure 2.3, up to fetches of 10 ms: the trace spans 0.6 s, and of longer ones it holds too few.
    for seed in 1..=3 {
        let comparison = study(&bursty(seed), &plan(&[1, 3, 10]));
        for name in [PolicyName::Lru, PolicyName::Arc] {
            let gaps: Vec<f64> =
                comparison.points.iter().map(|run| of(run, name).classical_underestimate).collect();
            assert!(gaps.is_sorted() && gaps[0] > 0.0 && gaps[2] > 0.3, "{name}, seed {seed}: {gaps:?}");
        }
    }
}

#[test]
fn mad_saves_latency_and_saves_more_the_longer_a_fetch() {
    // Figure 2.20: gains of 5 to 20% at tens of milliseconds, growing with Z; here Z = 100 to 10,000.
    for seed in 1..=3 {
        let comparison = study(&bursty(seed), &plan(&[1, 10, 100]));
        let gain = |run: &Point| {
            1.0 - of(run, PolicyName::LruMad).latency_mean / of(run, PolicyName::Lru).latency_mean
        };
        let gains: Vec<f64> = comparison.points.iter().map(gain).collect();
        assert!(gains.is_sorted() && gains[0] > 0.0 && gains[2] > 0.05, "seed {seed}: {gains:?}");
    }
}

#[test]
fn knowing_the_aggregate_delay_beats_knowing_the_next_access() {
    // Figure 2.16, and §2.2.2: Bélády is not the oracle of latency.
    for seed in 1..=3 {
        for run in study(&bursty(seed), &plan(&[10, 100])).points {
            let (belady, belady_ad) = (of(&run, PolicyName::Belady), of(&run, PolicyName::BeladyAd));
            assert!(belady_ad.latency_total < belady.latency_total, "seed {seed}");
            let online = run.policies.iter().filter(|policy| !policy.policy.properties().offline);
            assert!(
                online.map(|policy| policy.latency_total).min() > Some(belady_ad.latency_total),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn counters_of_cached_objects_do_nearly_as_well_as_all() {
    // §2.6.2: within 6% over the entire range of Z.
    for seed in 1..=3 {
        let trace = bursty(seed);
        let cached = study(&trace, &plan(&[1, 10, 100]));
        let all = study(&trace, &Plan { mad_memory: MadMemory::All, ..plan(&[1, 10, 100]) });
        for (cached, all) in cached.points.iter().zip(&all.points) {
            let (cached, all) = (of(cached, PolicyName::LruMad), of(all, PolicyName::LruMad));
            assert!(cached.latency_mean < 1.06 * all.latency_mean, "seed {seed}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let trace = bursty(1);
    let plan = Plan { latencies: vec![varying()], ..plan(&[]) };
    let with = |threads| {
        let pool =
            rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads are to be had");
        pool.install(|| study(&trace, &plan))
    };
    assert_eq!(with(1), with(3));
}

fn varying() -> Latency {
    Latency::LogNormal { median: Nanos(10_000_000), sigma: 0.5, seed: 9 }
}

#[test]
fn under_varying_latencies_the_classical_model_charges_every_miss_its_own() {
    let trace = bursty(2);
    let origins = Latency::Origins(vec![Nanos(68_000_000), Nanos(103_000_000), Nanos(226_000_000)]);
    let comparison = study(&trace, &Plan { latencies: vec![origins, varying()], ..plan(&[]) });
    for run in &comparison.points {
        for policy in &run.policies {
            assert_eq!(policy.requests, policy.hits + policy.delayed_hits + policy.misses);
            let per_miss = policy.classical_latency_mean / (1.0 - policy.classical_hit_rate);
            let range = if matches!(run.latency, Latency::Origins(_)) {
                68e6..226e6
            } else {
                9e6..14e6 // the mean of the log-normal: 10 ms × e^(0.5² / 2) = 11.3 ms
            };
            assert!(range.contains(&per_miss), "{}: {per_miss}", policy.policy);
        }
    }
}

#[test]
fn warm_up_is_simulated_but_not_counted() {
    let trace = bursty(1);
    let whole = study(&trace, &plan(&[10]));
    let tail = study(&trace, &Plan { warmup: Warmup::Count(20_000), ..plan(&[10]) });
    for (whole, tail) in whole.points[0].policies.iter().zip(&tail.points[0].policies) {
        assert_eq!((whole.requests, tail.requests), (60_000, 40_000));
        assert!(
            tail.misses < whole.misses
                && tail.hits < whole.hits
                && tail.classical_hits < whole.classical_hits
        );
    }
    // What was fetched in the warm-up is there when counting begins.
    let twice = b"time_ns,key\n0,7\n5000000,7\n".to_vec();
    let twice = Trace::from_bytes("twice.csv", twice, &TraceOptions::default()).expect("it is well-formed");
    let one = vec![Capacity::Objects(1)];
    let twice = study(&twice, &Plan { warmup: Warmup::Count(1), capacities: one, ..plan(&[1]) });
    for policy in &twice.points[0].policies {
        assert_eq!((policy.requests, policy.hits, policy.classical_hits), (1, 1, 1), "{}", policy.policy);
    }
    let none = simulate(&trace, &Plan { warmup: Warmup::Count(60_000), ..plan(&[10]) }, &());
    assert!(none.is_err_and(|error| error.to_string().contains("--warmup 60000 leaves none")));
}
