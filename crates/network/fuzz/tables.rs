//! What the fuzz target of tables does with an input: read it as flow sizes, as links, as flows and as faults, and run a few packets through what was
//! read.
//!
//! `cargo test` does the same with the seeds (crates/network/tests/network/simulator/tables.rs).

use trueplane_network::Nanos;
use trueplane_network::simulator::{
    DropTail, Faults, FlowSpec, Named, Network, Sizes, Topology, read_faults, read_flows, read_links,
};
use trueplane_network::transport::preset;
use trueplane_units::BitsPerSec;

/// Hosts of the flows, if there are no links.
const HOSTS: u32 = 3;

/// Time that is simulated: some packets, on whatever link.
const END: Nanos = Nanos::from_millis(1);

/// Reads `bytes` as each kind of table: of how many kinds it is. An error is one line, and what is read can be used.
pub fn read_tables(bytes: &[u8]) -> usize {
    let mut read = 0;
    match Sizes::read(bytes) {
        Ok(sizes) => {
            read += 1;
            let all: f64 = sizes.shares().map(|(_, share)| share).sum();
            assert!((all - 1.0).abs() < 1e-6 && sizes.mean() >= 1.0);
            assert!(sizes.at(0.0) <= sizes.at(0.999_999));
        }
        Err(error) => is_one_line(&error.to_string()),
    }
    match read_flows(bytes, &[], HOSTS) {
        Ok(flows) => {
            read += 1;
            assert!(flows.windows(2).all(|pair| pair[0].start <= pair[1].start));
            assert!(flows.iter().all(|flow| flow.from != flow.to && flow.from.max(flow.to) < HOSTS));
        }
        Err(error) => is_one_line(&error.to_string()),
    }
    match read_links(bytes) {
        Ok(named) => {
            read += 1;
            assert_eq!(named.hosts.len() as u32, named.topology.hosts());
            run_flow(&named, None);
        }
        Err(error) => is_one_line(&error.to_string()),
    }
    let named = fabric();
    match read_faults(bytes, &named, 1) {
        Ok(faults) => {
            read += 1;
            run_flow(&named, Some(faults));
        }
        Err(error) => is_one_line(&error.to_string()),
    }
    read
}

/// The network of the faults: two leaf switches with two hosts each, and two ways between them.
fn fabric() -> Named {
    let rate = BitsPerSec(1_000_000_000);
    let topology = Topology::leaf_spine(2, 2, 2, rate, rate, Nanos(20)).expect("there is such a network");
    Named { topology, hosts: Vec::new(), switches: Vec::new() }
}

/// A flow from the first host to the last.
fn run_flow(named: &Named, faults: Option<Faults>) {
    let last = named.topology.hosts() - 1;
    let flow = FlowSpec { start: Nanos(0), from: 0, to: last, bytes: 3_000 };
    let network = Network::new(&named.topology, |_| DropTail::new(10_000), preset::standard_tcp(), 120, 1);
    let network = network.expect("the settings make sense");
    let network = match faults {
        Some(faults) => network.with_faults(faults),
        None => network,
    };
    network.run([flow].into_iter(), END).expect("the books balance");
}

fn is_one_line(text: &str) {
    assert!(!text.contains(['\n', '\r']), "{text:?}");
}
