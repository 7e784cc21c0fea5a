//! Simulates rows of the data-mining table that SP-PIFO's authors published, and prints them beside theirs.
//!
//! Each row takes four runs of some 50 to 700 million packet-hops, and 2 % of its flows carry nearly all bytes: another seed moves a mean by
//! several per cent.
//!
//! `cargo run --release -p trueplane-network --features study --example published -- [LOAD…]`

use std::time::Instant;

use trueplane_network::Nanos;
use trueplane_network::simulator::workload::{Poisson, Sizes};
use trueplane_network::simulator::{
    DropTail, Network, Outcome, PortQueue, Ranked, SizeClass, Times, Topology,
};
use trueplane_network::transport::{Transport, preset};
use trueplane_sched::Banked;
use trueplane_sched::policy::{Pifo, PushDown, SpPifo};
use trueplane_sched::rank::PFabric;
use trueplane_units::BitsPerSec;

/// Load in flow starts a second; mean of flows below 100 kB and their 99th percentile in ms, for TCP, DCTCP, PIFO and SP-PIFO.
const PUBLISHED: [(f64, [f64; 4], [f64; 4]); 7] = [
    (4_000.0, [0.676812, 0.141102, 0.0687613, 0.0767175], [5.15181, 0.621794, 0.322639, 0.411121]),
    (6_000.0, [0.967282, 0.182643, 0.0806226, 0.0874529], [5.68742, 0.722592, 0.356957, 0.443831]),
    (10_000.0, [1.38502, 0.238304, 0.0963917, 0.094819], [6.84873, 0.853353, 0.393081, 0.46586]),
    (15_000.0, [1.83837, 0.297729, 0.108462, 0.100372], [8.1926, 1.06386, 0.414483, 0.460101]),
    (22_500.0, [2.3719, 0.371173, 0.120546, 0.107343], [9.05238, 1.31866, 0.4327, 0.476032]),
    (37_000.0, [3.13013, 0.489135, 0.134099, 0.117242], [10.1294, 1.76652, 0.447523, 0.500478]),
    (60_000.0, [3.99905, 0.669112, 0.146913, 0.129873], [11.7652, 2.49687, 0.467343, 0.531858]),
];

fn main() {
    let wanted: Vec<f64> =
        std::env::args().skip(1).map(|load| load.parse().expect("a load in flows a second")).collect();
    let (access, core) = (BitsPerSec(1_000_000_000), BitsPerSec(4_000_000_000));
    let topology = Topology::leaf_spine(9, 4, 16, access, core, Nanos(20)).expect("a fabric");
    for (load, means, p99s) in PUBLISHED.into_iter().filter(|row| wanted.contains(&row.0)) {
        let runs = [
            run("TCP", &topology, |_| DropTail::new(146_000), preset::simplified_tcp(), load),
            run(
                "DCTCP",
                &topology,
                |_| DropTail::new(146_000).marking_above(14_600),
                preset::simplified_dctcp(),
                load,
            ),
            run(
                "PIFO",
                &topology,
                |_| Ranked::new(Pifo::new(80).unwrap(), PFabric),
                preset::simplified_pfabric(),
                load,
            ),
            run(
                "SP-PIFO",
                &topology,
                |_| Ranked::new(sp_pifo(), PFabric),
                preset::simplified_pfabric(),
                load,
            ),
        ];
        for ((index, times), system) in runs.iter().enumerate().zip(["TCP", "DCTCP", "PIFO", "SP-PIFO"]) {
            println!(
                "{load:6} {system:8} mean {:.4} ms, published {:.4}, ratio {:.2}; 99th percentile {:.4} ms, published {:.4}, ratio {:.2}",
                times.mean_ms,
                means[index],
                times.mean_ms / means[index],
                times.p99_ms,
                p99s[index],
                times.p99_ms / p99s[index]
            );
        }
    }
}

fn sp_pifo() -> Banked<SpPifo> {
    Banked::new(8, 10, SpPifo::new(8, PushDown::Cost).unwrap()).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "an example is a driver")]
fn run<Q: PortQueue, T: Transport>(
    name: &str,
    topology: &Topology,
    queue: impl FnMut(usize) -> Q,
    transport: T,
    load: f64,
) -> Times {
    let flows = Poisson::new(topology.hosts(), load, Sizes::data_mining(), Nanos::from_secs(1), 1);
    let network = Network::new(topology, queue, transport, 120, 1).expect("settings");
    let start = Instant::now();
    let outcome: Outcome = network.run(flows, Nanos::MAX).expect("books that balance");
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{name:8} {} flows, {} unfinished, {:.1} M hops, {:.1} M events, {:.2} M hops/s, {} drops, end {:.3} s, most packets {}",
        outcome.completed.len(),
        outcome.unfinished,
        outcome.hops as f64 / 1e6,
        outcome.events as f64 / 1e6,
        outcome.hops as f64 / 1e6 / seconds,
        outcome.counts.dropped,
        outcome.end.0 as f64 / 1e9,
        outcome.most_packets
    );
    Times::of(&outcome.completed, SizeClass::SMALL).expect("small flows")
}
