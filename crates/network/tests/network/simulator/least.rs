//! The least time of a flow beside flows that have the network to themselves.

use trueplane_network::Nanos;
use trueplane_network::simulator::{DropTail, FlowSpec, Network, Packing, Topology, least_time};
use trueplane_network::transport::preset;
use trueplane_units::BitsPerSec;

const PACKING: Packing = Packing { segment: preset::PUBLISHED_SEGMENT, header: 120 };

/// Bytes that fit into the first window of the sender, so that nothing but links takes time.
const WINDOW: u64 = 30 * preset::PUBLISHED_SEGMENT as u64;

fn alone(topology: &Topology, spec: FlowSpec) -> Nanos {
    let network =
        Network::new(topology, |_| DropTail::new(1_000_000), preset::standard_pfabric(), PACKING.header, 1);
    network.unwrap().run([spec].into_iter(), Nanos::MAX).unwrap().completed[0].time()
}

#[test]
fn a_flow_alone_takes_the_least_time() {
    let rate = BitsPerSec(1_000_000_000);
    let topology = Topology::leaf_spine(3, 2, 2, rate, rate, Nanos(2_000)).unwrap();
    for bytes in [1, 1_380, 1_381, 5_000, WINDOW] {
        for to in [1, 5] {
            let spec = FlowSpec { start: Nanos(77), from: 0, to, bytes };
            assert_eq!(least_time(&topology, &spec, PACKING), alone(&topology, spec), "{bytes} to {to}");
        }
    }
}

#[test]
fn with_links_of_different_rates_it_is_a_bound() {
    for core in [100_000_000, 4_000_000_000] {
        let topology =
            Topology::leaf_spine(3, 2, 2, BitsPerSec(1_000_000_000), BitsPerSec(core), Nanos(20)).unwrap();
        for bytes in [1, 2_000, WINDOW] {
            let spec = FlowSpec { start: Nanos(0), from: 0, to: 5, bytes };
            let (least, found) = (least_time(&topology, &spec, PACKING), alone(&topology, spec));
            assert!(least <= found && found.0 < least.0 * 11 / 10, "{bytes}: {least} and {found}");
        }
    }
}
