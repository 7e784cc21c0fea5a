//! Times the shared cache of trueplane beside those that others use: nanoseconds an operation, hit rates and bytes an entry, with every answer
//! checked.
//!
//! All run in one process, one after the other in every round, and the median of the rounds counts. `cargo run --release [TRACE.csv] …`
//! adds real traces, of which the second column is the key; `ONLY=TEXT` runs the workloads with this text in their names, `ONLY=bytes` none.

mod memory;
mod rivals;
mod workloads;

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use rivals::{RIVALS, Rival};
use workloads::{Workload, real, synthetic};

/// Rounds of which the median counts.
const ROUNDS: usize = 5;

/// The value that belongs to a key.
fn value_of(key: u64) -> u64 {
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xABCD
}

fn main() {
    let mut workloads = synthetic();
    workloads.extend(std::env::args().skip(1).flat_map(|path| real(&path)));
    let only = std::env::var("ONLY").unwrap_or_default();
    for workload in workloads.iter().filter(|workload| workload.name.contains(&only)) {
        print!("{}", run(workload));
    }
    if only.is_empty() || only == "bytes" {
        print!("{}", bytes_per_entry());
    }
}

/// Times of every rival under a workload, in ns an operation, for each number of threads; and hit rates.
fn run(workload: &Workload) -> String {
    let mut text = format!("\n{}\n{:22}{:>8}{:>8}{:>9}\n", workload.name, "", "1 thr", "2 thr", "hits");
    let mut times = vec![[const { Vec::new() }; 2]; RIVALS.len()];
    let mut hits = vec![0.0; RIVALS.len()];
    for _ in 0..ROUNDS {
        for (place, (_, make)) in RIVALS.iter().enumerate() {
            for threads in [1, 2] {
                let cache = make(workload.capacity);
                let (nanos, rate) = timed(&*cache, workload, threads);
                times[place][threads - 1].push(nanos);
                if threads == 1 {
                    hits[place] = rate;
                }
            }
        }
    }
    for (place, (name, _)) in RIVALS.iter().enumerate() {
        let [one, two] = &mut times[place];
        let rate = hits[place] * 100.0;
        text += &format!("{name:22}{:>8.1}{:>8.1}{rate:>8.2}%\n", median(one), median(two));
    }
    text
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Nanoseconds an operation takes each thread, and the share of hits, once the cache is warm.
fn timed(cache: &dyn Rival, workload: &Workload, threads: usize) -> (f64, f64) {
    workload.warm_up.iter().for_each(|&key| {
        cache.fetch(key);
    });
    let part = workload.keys.len() / threads;
    let start = Instant::now();
    let hits: u64 = thread::scope(|scope| {
        let work = |number: usize| {
            let keys = &workload.keys[number * part..][..part];
            scope.spawn(move || keys.iter().enumerate().map(|(turn, &key)| u64::from(workload.step(cache, turn, key))).sum::<u64>())
        };
        let running: Vec<_> = (0..threads).map(work).collect();
        running.into_iter().map(|thread| thread.join().expect("answers are right")).sum()
    });
    let nanos = start.elapsed().as_nanos() as f64 / part as f64;
    (nanos, hits as f64 / (part * threads) as f64)
}

/// Bytes that an entry of a full cache takes, its key and value of 8 bytes each included.
fn bytes_per_entry() -> String {
    let mut text = "\nbytes an entry, of which 16 are its key and value\n".to_owned();
    for capacity in [10_000u64, 1_000_000] {
        for (name, make) in RIVALS {
            let before = memory::in_use();
            let cache = make(capacity);
            (0..capacity * 2).for_each(|key| cache.insert(key));
            cache.settle();
            let bytes = memory::in_use().saturating_sub(before);
            let entries = black_box(cache.len()).max(1);
            text += &format!("{name:22}{:>9}{:>8.1}\n", entries, bytes as f64 / entries as f64);
        }
    }
    text
}
