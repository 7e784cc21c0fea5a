//! Simulates rows of tables that SP-PIFO's authors published, and prints them beside theirs.
//!
//! The flows, and the ways that they take, are those of the published runs; with `--seed` the flows are drawn anew. What has not ended
//! after the second in which flows start counts for nothing, as in the published runs.
//!
//! `cargo run --release -p trueplane-network --features study --example published -- [--sender simplified|standard] [--seed N]…
//! [--table TABLE]… [--only SYSTEM]… [LOAD]…`
//!
//! A load is one of a published table: 4000, 6000, 10000, 15000, 22500, 37000, 60000 (`data-mining`) or 3600, 5200, 7000, 8900, 11100, 14150,
//! 19000 (`web-search`, and the fair systems of `fairness` and `fairness-32`). A run has 18 to 72 million packet-hops.

mod flows;
mod heap;
mod paths;
mod systems;
mod table;

use flows::Published;
use systems::Run;
use table::{DATA_MINING, FAIRNESS, FAIRNESS_32, Table, WEB_SEARCH};
use trueplane_network::Nanos;
use trueplane_network::simulator::{FlowSpec, Poisson, Sizes, Times, Topology};
use trueplane_units::BitsPerSec;

const TABLES: [&Table; 4] = [&DATA_MINING, &WEB_SEARCH, &FAIRNESS, &FAIRNESS_32];

/// What was asked for.
#[derive(Default)]
struct Asked {
    /// Senders that follow the RFCs instead of the published ones.
    is_standard: bool,
    /// Seeds for flows; none: those of the published runs.
    seeds: Vec<u64>,
    /// Tables to run rows of; none: all.
    tables: Vec<String>,
    /// Systems to run; none: all.
    only: Vec<String>,
    loads: Vec<f64>,
}

impl Asked {
    fn parse() -> Self {
        let mut asked = Self::default();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("a value");
            match word.as_str() {
                "--sender" => {
                    let sender = value();
                    assert!(
                        ["simplified", "standard"].contains(&sender.as_str()),
                        "no such sender: {sender}"
                    );
                    asked.is_standard = sender == "standard";
                }
                "--seed" => asked.seeds.push(value().parse::<u64>().expect("a seed")),
                "--table" => {
                    let table = value();
                    assert!(TABLES.iter().any(|known| known.name == table), "no such table: {table}");
                    asked.tables.push(table);
                }
                "--only" => {
                    let system = value();
                    let is_known = TABLES.iter().any(|table| table.systems.contains(&system.as_str()));
                    assert!(is_known, "no such system: {system}");
                    asked.only.push(system);
                }
                load => asked.loads.push(load.parse::<f64>().expect("a load in flows a second")),
            }
        }
        asked
    }

    fn wants_table(&self, table: &str) -> bool {
        self.tables.is_empty() || self.tables.iter().any(|one| one.as_str() == table)
    }

    fn wants(&self, system: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|one| one.as_str() == system)
    }
}

fn main() {
    let asked = Asked::parse();
    let (access, core) = (BitsPerSec(1_000_000_000), BitsPerSec(4_000_000_000));
    let topology = Topology::leaf_spine(9, 4, 16, access, core, Nanos(20)).expect("a fabric");
    let hosts = topology.hosts();
    for table in TABLES.into_iter().filter(|table| asked.wants_table(table.name)) {
        let sizes = if table.name == DATA_MINING.name { Sizes::data_mining() } else { Sizes::web_search() };
        for &(load, published) in table.rows.iter().filter(|row| asked.loads.contains(&row.0)) {
            let row = |flows: &dyn Fn() -> Box<dyn Iterator<Item = FlowSpec>>| {
                compare(&asked, &topology, (table, load, published), flows);
            };
            if asked.seeds.is_empty() {
                row(&|| Box::new(Published::new(hosts, load, sizes.clone())));
            }
            for &seed in &asked.seeds {
                println!("seed {seed}");
                row(&|| Box::new(Poisson::new(hosts, load, sizes.clone(), Nanos::from_secs(1), seed)));
            }
        }
    }
}

/// Runs the systems of a row and prints them beside the published ones.
fn compare(
    asked: &Asked,
    topology: &Topology,
    (table, load, published): (&Table, f64, &[f64]),
    flows: &dyn Fn() -> Box<dyn Iterator<Item = FlowSpec>>,
) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for (system, published) in table.systems.iter().zip(published).filter(|(system, _)| asked.wants(system)) {
        let run = Run { topology, flows: &mut *flows() };
        let Times { mean_ms, p99_ms, .. } =
            if asked.is_standard { run.standard(system) } else { run.simplified(system) };
        let ratio = mean_ms / published;
        println!(
            "{load:6} {system:15} mean {mean_ms:.4} ms, published {published:.4}, ratio {ratio:.3}; 99th percentile {p99_ms:.4} ms"
        );
        ours.push(mean_ms);
        theirs.push(*published);
    }
    if ours.len() > 1 {
        let is_same = if order(&ours) == order(&theirs) { "as published" } else { "DIFFERENT" };
        let last = ours.len() - 1;
        // The last system of each table is a PIFO.
        let ratios = (0..last).map(|column| ours[column] / ours[last] / (theirs[column] / theirs[last]));
        let ratios = ratios.map(|ratio| format!("{ratio:.3}")).collect::<Vec<_>>().join(" ");
        println!("{load:6} order {is_same}; ratios to the last, ours to theirs: {ratios}");
    }
}

/// The columns from the smallest to the largest.
fn order(row: &[f64]) -> Vec<usize> {
    let mut columns: Vec<usize> = (0..row.len()).collect();
    columns.sort_by(|left, right| row[*left].total_cmp(&row[*right]));
    columns
}
