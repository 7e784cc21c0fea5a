//! Simulates rows of tables that SP-PIFO's authors published, and prints them beside theirs.
//!
//! The flows are those of the published runs, or drawn anew from `--seed`. Flows that have not ended after the second in which they start
//! count for nothing, as in the published runs.
//!
//! `cargo run --release -p trueplane-network --features study --example published -- [--sender simplified|standard] [--seed N]…
//! [--only SYSTEM]… [LOAD]…`
//!
//! A load is one of the published tables, of pFabric with data-mining flows (4000…) or of fairness with web-search flows (3600…).

mod flows;
mod heap;
mod table;

use std::time::Instant;

use flows::Published;
use heap::Heap;
use table::{DATA_MINING, FAIRNESS, Table};
use trueplane_network::Nanos;
use trueplane_network::simulator::{
    DropTail, FlowSpec, Network, Poisson, PortQueue, Ranked, SizeClass, Sizes, SkippedWhenIdle, Times,
    Topology,
};
use trueplane_network::transport::{Simplified, Transport, preset};
use trueplane_sched::policy::{Afq, Pifo, PushDown, SpPifo};
use trueplane_sched::rank::{PFabric, Stfq};
use trueplane_sched::{Banked, Scheduler};
use trueplane_units::BitsPerSec;

/// Packets that wait at a published PIFO of "80 packets": it drops the largest rank as soon as there are 80.
const PIFO: usize = 79;

/// Flows whose finish tags a port remembers.
const FLOWS: usize = 1 << 12;

/// What was asked for.
struct Asked {
    is_standard: bool,
    /// Seeds of the draws; `None` is the published one.
    seeds: Vec<Option<u64>>,
    only: Vec<String>,
    loads: Vec<f64>,
}

impl Asked {
    fn parse() -> Self {
        let mut asked = Self { is_standard: false, seeds: Vec::new(), only: Vec::new(), loads: Vec::new() };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("a value");
            match word.as_str() {
                "--sender" => asked.is_standard = value() == *"standard",
                "--seed" => asked.seeds.push(Some(value().parse::<u64>().expect("a seed"))),
                "--only" => asked.only.push(value()),
                load => asked.loads.push(load.parse::<f64>().expect("a load in flows a second")),
            }
        }
        if asked.seeds.is_empty() {
            asked.seeds.push(None);
        }
        asked
    }
}

fn main() {
    let asked = Asked::parse();
    for (table, sizes) in [(&DATA_MINING, Sizes::data_mining()), (&FAIRNESS, Sizes::web_search())] {
        for row in table.rows.iter().filter(|row| asked.loads.contains(&row.0)) {
            compare(table, row, &sizes, &asked);
        }
    }
}

/// Runs a row and prints it beside the published one.
fn compare(table: &Table, (load, published): &(f64, &[f64]), sizes: &Sizes, asked: &Asked) {
    let (access, core) = (BitsPerSec(1_000_000_000), BitsPerSec(4_000_000_000));
    let topology = Topology::leaf_spine(9, 4, 16, access, core, Nanos(20)).expect("a fabric");
    for &seed in &asked.seeds {
        let columns = table.systems.iter().zip(*published);
        let wanted = columns
            .filter(|(system, _)| asked.only.is_empty() || asked.only.iter().any(|one| one == *system));
        let mut found: Vec<(f64, f64)> = Vec::new();
        for (system, published) in wanted {
            let mut drawn =
                Poisson::new(topology.hosts(), *load, sizes.clone(), Nanos::from_secs(1), seed.unwrap_or(0));
            let mut same = Published::new(topology.hosts(), *load, sizes.clone());
            let flows: &mut dyn Iterator<Item = FlowSpec> =
                if seed.is_some() { &mut drawn } else { &mut same };
            let times = simulate(system, &topology, flows, asked.is_standard);
            println!(
                "{load:6} {system:12} mean {:.4} ms, published {published:.4}, ratio {:.3}; 99th percentile {:.4} ms",
                times.mean_ms,
                times.mean_ms / published,
                times.p99_ms
            );
            found.push((times.mean_ms, *published));
        }
        let (ours, theirs): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
        println!(
            "{load:6} order {}, ratios between neighbours, ours to theirs: {}",
            if order(&ours) == order(&theirs) { "same" } else { "DIFFERENT" },
            (1..ours.len())
                .map(|right| format!(
                    "{:.3}",
                    ours[right] / ours[right - 1] / (theirs[right] / theirs[right - 1])
                ))
                .collect::<Vec<_>>()
                .join(" ")
        );
    }
}

/// The columns from the smallest to the largest.
fn order(row: &[f64]) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..row.len()).collect();
    columns.sort_by(|left, right| row[*left].total_cmp(&row[*right]));
    columns
}

fn simulate(
    system: &str,
    topology: &Topology,
    flows: &mut dyn Iterator<Item = FlowSpec>,
    is_standard: bool,
) -> Times {
    let marks = |threshold, capacity| DropTail::new(capacity).marking_behind(threshold);
    let sp_pifo = || Banked::new(8, 10, SpPifo::new(8, PushDown::Cost).unwrap()).unwrap();
    let stfq = || Stfq::new(FLOWS).unwrap();
    let pifo = || Pifo::new(PIFO).unwrap();
    match (system, is_standard) {
        ("tcp", true) => run(topology, |_| DropTail::new(146_000), preset::simplified_tcp(), flows),
        ("tcp", false) => run(topology, |_| DropTail::new(146_000), Simplified::TCP, flows),
        ("dctcp", true) => run(topology, |_| marks(14_600, 146_000), preset::simplified_dctcp(), flows),
        ("dctcp", false) => run(topology, |_| marks(14_600, 146_000), Simplified::DCTCP, flows),
        ("pifo", true) => {
            run(topology, |_| Ranked::new(pifo(), PFabric), preset::simplified_pfabric(), flows)
        }
        ("pifo", false) => run(topology, |_| skipped(Heap::new(PIFO), PFabric), Simplified::PFABRIC, flows),
        ("sp-pifo", true) => {
            run(topology, |_| Ranked::new(sp_pifo(), PFabric), preset::simplified_pfabric(), flows)
        }
        ("sp-pifo", false) => run(topology, |_| skipped(sp_pifo(), PFabric), Simplified::PFABRIC, flows),
        ("fair-tcp", true) => run(topology, |_| DropTail::new(120_000), preset::simplified_tcp(), flows),
        ("fair-tcp", false) => run(topology, |_| DropTail::new(120_000), Simplified::TCP, flows),
        ("fair-dctcp", true) => run(topology, |_| marks(48_000, 120_000), preset::simplified_dctcp(), flows),
        ("fair-dctcp", false) => run(topology, |_| marks(48_000, 120_000), Simplified::DCTCP, flows),
        ("afq", true) => run(topology, |_| Ranked::new(afq(), PFabric), preset::simplified_dctcp(), flows),
        ("afq", false) => run(topology, |_| skipped(afq(), PFabric), Simplified::DCTCP, flows),
        ("sp-pifo-stfq", true) => {
            run(topology, |_| Ranked::new(sp_pifo(), stfq()), preset::simplified_dctcp(), flows)
        }
        ("sp-pifo-stfq", false) => run(topology, |_| skipped(sp_pifo(), stfq()), Simplified::DCTCP, flows),
        ("pifo-stfq", true) => {
            run(topology, |_| Ranked::new(pifo(), stfq()), preset::simplified_dctcp(), flows)
        }
        ("pifo-stfq", false) => run(topology, |_| skipped(Heap::new(PIFO), stfq()), Simplified::DCTCP, flows),
        _ => unreachable!("{system} is in no table"),
    }
}

fn skipped<S: Scheduler, P: trueplane_sched::rank::RankPolicy>(
    scheduler: S,
    policy: P,
) -> SkippedWhenIdle<Ranked<S, P>> {
    SkippedWhenIdle(Ranked::new(scheduler, policy))
}

fn afq() -> Afq {
    Afq::new(8, 10, 320).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "an example is a driver")]
fn run<Q: PortQueue, T: Transport>(
    topology: &Topology,
    queue: impl FnMut(usize) -> Q,
    transport: T,
    flows: &mut dyn Iterator<Item = FlowSpec>,
) -> Times {
    let network = Network::new(topology, queue, transport, 120, 1).expect("settings");
    let start = Instant::now();
    let outcome = network.run(flows, Nanos::from_secs(1)).expect("books that balance");
    let seconds = start.elapsed().as_secs_f64();
    eprintln!(
        "{} flows, {} unfinished, {:.1} M hops, {:.2} M hops/s, {} drops",
        outcome.completed.len(),
        outcome.unfinished,
        outcome.hops as f64 / 1e6,
        outcome.hops as f64 / 1e6 / seconds,
        outcome.counts.dropped
    );
    Times::of(&outcome.completed, SizeClass::SMALL).expect("small flows")
}
