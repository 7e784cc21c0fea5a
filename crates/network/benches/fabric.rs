//! How many packet-hops a second are simulated on one core.
//!
//! Leaf-spine fabrics of 16 to 1,024 servers, each with data-mining flows for the time that makes about ten million hops, pFabric's sender
//! and SP-PIFO ports. The ratio is the cost of a hop to that of the smallest fabric. Checked: all flows end, the books balance, and every round has
//! the same outcome.

use std::time::Instant;

use trueplane_network::Nanos;
use trueplane_network::simulator::{Network, Outcome, Poisson, Ranked, Sizes, Topology};
use trueplane_network::transport::preset;
use trueplane_sched::Banked;
use trueplane_sched::policy::{PushDown, SpPifo};
use trueplane_sched::rank::PFabric;
use trueplane_units::BitsPerSec;

const ROUNDS: usize = 3;

/// Flow starts a second and host, as in the row of 4000 of the published table.
const LOAD_PER_HOST: f64 = 4_000.0 / 144.0;

/// Leaves, spines, hosts a leaf, and for how many milliseconds flows start.
const FABRICS: [(u32, u32, u32, u64); 3] = [(4, 2, 4, 2_000), (9, 4, 16, 200), (32, 8, 32, 30)];

fn main() {
    println!(
        "{:>7} {:>10} {:>10} {:>12} {:>9} {:>7}",
        "servers", "M hops", "M events", "M hops/s", "ns/hop", "ratio"
    );
    let mut first = None;
    for (leaves, spines, hosts, millis) in FABRICS {
        let (access, core) = (BitsPerSec(1_000_000_000), BitsPerSec(4_000_000_000));
        let topology =
            Topology::leaf_spine(leaves, spines, hosts, access, core, Nanos(20)).expect("a fabric");
        let (mut least, mut found) = (f64::INFINITY, None::<Outcome>);
        for _ in 0..ROUNDS {
            let rate = LOAD_PER_HOST * f64::from(topology.hosts());
            // Without the largest flows, which would make it a matter of chance how long a run is.
            let sizes =
                Sizes::new(vec![(1, 0.1), (1_870, 0.7), (10_000, 0.9), (400_000, 0.95), (3_160_000, 1.0)]);
            let flows = Poisson::new(
                topology.hosts(),
                rate * 10.0,
                sizes.expect("steps"),
                Nanos::from_millis(millis),
                1,
            );
            let network =
                Network::new(&topology, |_| Ranked::new(port(), PFabric), preset::standard_pfabric(), 120, 1);
            let start = now();
            let outcome = network.expect("settings").run(flows, Nanos::MAX).expect("books that balance");
            least = least.min(start.elapsed().as_secs_f64());
            assert_eq!((outcome.unfinished, outcome.counts.in_network()), (0, 0));
            if let Some(before) = &found {
                assert!(*before == outcome, "not the same twice");
            }
            found = Some(outcome);
        }
        let outcome = found.expect("there are rounds");
        let hops = outcome.hops as f64;
        // The books alone: what a packet costs in hops and events is no matter of the clock.
        assert!(outcome.counts.sent < outcome.hops && outcome.hops < outcome.events);
        let cost = least * 1e9 / hops;
        println!(
            "{:7} {:10.1} {:10.1} {:12.2} {:9.1} {:7.2}",
            topology.hosts(),
            hops / 1e6,
            outcome.events as f64 / 1e6,
            hops / least / 1e6,
            cost,
            cost / *first.get_or_insert(cost)
        );
    }
}

fn port() -> Banked<SpPifo> {
    Banked::new(8, 10, SpPifo::new(8, PushDown::Cost).expect("queues")).expect("queues")
}

#[expect(clippy::disallowed_methods, reason = "a bench is a driver")]
fn now() -> Instant {
    Instant::now()
}
