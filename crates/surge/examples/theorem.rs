//! Looks for an attack on WSJF that theorem 3 excludes, on as many random workloads as one likes:
//!
//! ```sh
//! cargo run --release -p trueplane-surge --example theorem -- 1000000 100 4
//! ```
//!
//! Arguments: workloads, packets of users in each, attacks tried on each. It ends at once if it finds one.

#[allow(dead_code, reason = "the tests need more of it")]
#[path = "../tests/surge/theorem/workload.rs"]
mod workload;

use rayon::prelude::*;

use workload::Workload;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().expect("whole numbers"));
    let mut argument = |usual: u64| arguments.next().unwrap_or(usual);
    let (workloads, packets, trials) = (argument(10_000), argument(100), argument(4));
    let (mut above, mut nearest, mut largest, mut binding) = (0, 0.0f64, 0.0f64, 0u64);
    const CHUNK: u64 = 10_000;
    for start in (0..workloads).step_by(CHUNK as usize) {
        let seeds = start..workloads.min(start + CHUNK);
        let outcomes: Vec<_> = seeds
            .into_par_iter()
            .map(|seed| Workload::random(seed, packets).search(seed, trials as usize))
            .collect();
        for outcome in outcomes {
            above += u64::from(outcome.to_load > 1.0);
            largest = largest.max(outcome.to_load);
            nearest = nearest.max(outcome.to_allowance);
            binding += u64::from(outcome.binding);
        }
        eprint!("\r{} workloads", workloads.min(start + CHUNK));
    }
    eprintln!();
    println!(
        "{workloads} workloads of {packets} packets, {trials} attacks on each: none displaced more than the allowance"
    );
    println!(
        "the allowance was less than all that users got in {binding}; the nearest attack came to {nearest:.3} of it"
    );
    println!(
        "{above} displaced more than the load, at most {largest:.3} times it: what the ends of so short a run are worth"
    );
}
