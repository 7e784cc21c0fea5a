//! How many packet-hops a second of processor time are simulated on one core.
//!
//! Leaf-spine fabrics of 16 to 1,024 servers, each with data-mining flows for the time that makes about ten million hops, pFabric's sender
//! and SP-PIFO ports. The ratio is the cost of a hop to that of the smallest fabric. Checked: all flows end, the books balance, and every round has
//! the same outcome.
//!
//! With a number of milliseconds, as in `cargo bench -p trueplane-network --bench fabric -- 3000`, the largest fabric alone, once, with flows that
//! start for so long: a billion packet-hops. The memory is the most that the process had, `VmHWM` of Linux; flows that have ended are
//! counted and not kept.

use std::fs;

use trueplane_network::Nanos;
use trueplane_network::simulator::{Completed, Network, Outcome, Poisson, Ranked, Sizes, Topology};
use trueplane_network::transport::preset;
use trueplane_sched::Banked;
use trueplane_sched::policy::{PushDown, SpPifo};
use trueplane_sched::rank::PFabric;
use trueplane_units::BitsPerSec;

const ROUNDS: usize = 3;

/// Flow starts a second and host: ten times those of the row of 4000 of the published table.
const LOAD_PER_HOST: f64 = 40_000.0 / 144.0;

/// Leaves, spines, hosts a leaf, and for how many milliseconds flows start.
const FABRICS: [(u32, u32, u32, u64); 3] = [(4, 2, 4, 2_000), (9, 4, 16, 200), (32, 8, 32, 30)];

fn main() {
    println!(
        "{:>7} {:>10} {:>10} {:>12} {:>9} {:>7} {:>12}",
        "servers", "M hops", "M events", "M hops/s", "ns/hop", "ratio", "memory in MB"
    );
    // Cargo passes `--bench`.
    let millis = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let [.., (leaves, spines, hosts, _)] = FABRICS;
    match millis {
        Some(millis) => measure(&[(leaves, spines, hosts, millis)], 1),
        None => measure(&FABRICS, ROUNDS),
    }
}

fn measure(fabrics: &[(u32, u32, u32, u64)], rounds: usize) {
    let mut first = None;
    for &(leaves, spines, hosts, millis) in fabrics {
        let (access, core) = (BitsPerSec(1_000_000_000), BitsPerSec(4_000_000_000));
        let topology =
            Topology::leaf_spine(leaves, spines, hosts, access, core, Nanos(20)).expect("a fabric");
        let (mut least, mut found) = (u64::MAX, None::<(Outcome, u64)>);
        for _ in 0..rounds {
            let (outcome, times, time) = run(&topology, millis);
            least = least.min(time);
            assert_eq!((outcome.unfinished, outcome.counts.in_network()), (0, 0));
            let now = (outcome, times);
            if let Some(before) = &found {
                assert!(*before == now, "not the same twice");
            }
            found = Some(now);
        }
        let (outcome, _) = found.expect("there are rounds");
        let hops = outcome.hops as f64;
        // The books alone: what a packet costs in hops and events is no matter of the clock.
        assert!(outcome.counts.sent < outcome.hops && outcome.hops < outcome.events);
        let cost = least as f64 / hops;
        println!(
            "{:7} {:10.1} {:10.1} {:12.2} {:9.1} {:7.2} {:>12}",
            topology.hosts(),
            hops / 1e6,
            outcome.events as f64 / 1e6,
            1e3 / cost,
            cost,
            cost / *first.get_or_insert(cost),
            peak_memory().map_or_else(|| "-".to_owned(), |bytes| format!("{:.1}", bytes as f64 / 1e6)),
        );
    }
}

/// A run, the completion times of all flows together, and the processor time in nanoseconds that it took.
fn run(topology: &Topology, millis: u64) -> (Outcome, u64, u64) {
    let rate = LOAD_PER_HOST * f64::from(topology.hosts());
    // Without the largest flows, which would make it a matter of chance how long a run is.
    let sizes = Sizes::new(vec![(1, 0.1), (1_870, 0.7), (10_000, 0.9), (400_000, 0.95), (3_160_000, 1.0)]);
    let flows = Poisson::new(topology.hosts(), rate, sizes.expect("steps"), Nanos::from_millis(millis), 1);
    let queue = |_| Ranked::new(port(), PFabric);
    let network = Network::new(topology, queue, preset::standard_pfabric(), 120, 1).expect("settings");
    let start = thread_time();
    let (mut started, mut ended, mut times) = (0, 0, 0);
    let mut count = |completed: &mut Vec<Completed>| {
        for flow in completed.drain(..) {
            ended += 1;
            times += flow.time().0;
        }
    };
    let outcome = network.run_watched(flows.inspect(|_| started += 1), Nanos::MAX, |outcome| {
        count(&mut outcome.completed);
        true
    });
    let mut outcome = outcome.expect("books that balance");
    count(&mut outcome.completed);
    assert_eq!(ended, started);
    (outcome, times, thread_time() - start)
}

fn port() -> Banked<SpPifo> {
    Banked::new(8, 10, SpPifo::new(8, PushDown::Cost).expect("queues")).expect("queues")
}

/// Time in nanoseconds that this thread has run on a core (proc(5), schedstat): other processes do not count.
fn thread_time() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux with /proc");
    text.split(' ').next().and_then(|first| first.parse().ok()).expect("a time")
}

/// Most memory that this process had, in bytes.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1_024)
}
