//! How fast tables in a switch are simulated, system by system, on keys that are there beforehand.
//!
//! One thread, 64 Ki entries, a million keys by Zipf's law at 80 million lookups a second. Checked: every lookup is counted; two rounds find the
//! same; and the more updates `frequency` has, the less it misses.

use std::time::Instant;

use trueplane_offload::batched::Batched;
use trueplane_offload::cuckoo::CuckooTable;
use trueplane_offload::dyso::{Dyso, DysoLoop};
use trueplane_offload::ideal::IdealLru;
use trueplane_offload::policy::{Frequency, NetCache, NetCacheOptions, Recency};
use trueplane_offload::table::ExactTable;
use trueplane_offload::tally::Tally;
use trueplane_offload::timing::Timing;
use trueplane_offload::workload::Workload;
use trueplane_offload::{Key, System, engine};
use trueplane_trace::TraceOptions;
use trueplane_units::PerSecond;

const TIMING: Timing = Timing { rate: 80_000_000 };
const ENTRIES: u32 = 1 << 16;
const BATCH: u64 = 256;
const ROUNDS: usize = 3;

fn main() {
    let keys = keys();
    println!("{} lookups, {ENTRIES} entries\n", keys.len());
    println!(
        "{:28} {:>12} {:>10} {:>12} {:>10}",
        "system", "M lookups/s", "ns/lookup", "to ideal-lru", "miss ratio"
    );
    let lru = measure(&keys, || IdealLru::new(u64::from(ENTRIES)));
    let show = |name: &str, (nanos, misses): (f64, u64)| {
        let ratio = misses as f64 / keys.len() as f64;
        println!("{name:28} {:12.1} {nanos:10.1} {:12.2} {ratio:10.4}", 1e3 / nanos, nanos / lru.0);
    };
    show("ideal-lru", lru);
    let mut slower = u64::MAX;
    for rate in [20_000, 80_000, 1_250_000] {
        let batches = TIMING.batches(BATCH, rate);
        let exact = || ExactTable::new(ENTRIES);
        let recency = measure(&keys, || Batched::new(Recency::default(), exact(), batches, BATCH));
        show(&format!("recency, {rate} entries/s"), recency);
        let ageing = TIMING.rate / 10;
        let frequency = measure(&keys, || Batched::new(Frequency::new(ageing), exact(), batches, BATCH));
        assert!(frequency.1 <= slower, "more updates and more misses");
        slower = frequency.1;
        show(&format!("frequency, {rate} entries/s"), frequency);
        let netcache = NetCacheOptions::new(128, TIMING.rate, 4096, 1);
        let cuckoo = || CuckooTable::new(ENTRIES, 90);
        show(
            &format!("netcache, {rate} entries/s"),
            measure(&keys, || Batched::new(NetCache::new(netcache), cuckoo(), batches, BATCH)),
        );
    }
    for rate in [1_000_000, 5_000_000, 80_000_000] {
        let dyso = || {
            DysoLoop::new(&Dyso::default(), ENTRIES.into(), 1, TIMING, PerSecond(rate), 4)
                .expect("64 Ki entries are rows of 4")
        };
        show(&format!("dyso, {rate} packets/s"), measure(&keys, dyso));
    }
}

fn keys() -> Vec<Key> {
    let workload =
        Workload::open("zipf:0.99,keys=1M,lookups=16M", &TraceOptions::default()).expect("a workload");
    let mut lookups = workload.lookups(TIMING, 1).expect("it can be drawn");
    let (mut keys, mut chunk) = (Vec::new(), Vec::new());
    while lookups.next_chunk(&mut chunk).expect("nothing is read") {
        keys.append(&mut chunk);
    }
    keys
}

/// The least time of some rounds, in nanoseconds a lookup, and the misses that they all found.
fn measure<S: System>(keys: &[Key], system: impl Fn() -> S) -> (f64, u64) {
    let (mut least, mut found) = (f64::INFINITY, None);
    for _ in 0..ROUNDS {
        let (mut system, mut tally) = (system(), Tally::new(TIMING, 0));
        let start = now();
        engine::run(&mut system, keys, &mut tally);
        least = least.min(start.elapsed().as_secs_f64());
        assert_eq!(tally.lookups(), keys.len() as u64, "lookups got lost");
        assert_eq!(*found.get_or_insert(tally.misses()), tally.misses(), "not the same twice");
    }
    (least * 1e9 / keys.len() as f64, found.expect("there are rounds"))
}

#[expect(clippy::disallowed_methods, reason = "a bench is a driver")]
fn now() -> Instant {
    Instant::now()
}
