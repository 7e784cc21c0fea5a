//! Rules that spread the packets of a flow over several ways.

use std::collections::BTreeSet;

use trueplane_network::Nanos;
use trueplane_network::simulator::{Chooser, DropTail, FlowSpec, Fork, Network, Outcome, Spread, Topology};
use trueplane_network::transport::preset;
use trueplane_network::transport::segment::Flags;
use trueplane_units::BitsPerSec;

/// The ways that packets of a flow take at these times.
fn ways(chooser: &mut dyn Chooser, flow: u64, node: u32, times: &[u64]) -> Vec<usize> {
    let fork =
        Fork { flow, is_data: true, from: 0, to: 1, node, bytes: 1_500, flags: Flags::default(), ways: 4 };
    times.iter().map(|time| chooser.choose(&fork, Nanos(*time)).unwrap()).collect()
}

fn different(ways: &[usize]) -> usize {
    ways.iter().collect::<BTreeSet<_>>().len()
}

#[test]
fn the_hash_is_what_networks_have_anyway() {
    assert!(Spread::Hash.chooser(1).is_none());
}

#[test]
fn sprayed_packets_take_all_ways_alike() {
    let mut spray = Spread::Spray.chooser(1).unwrap();
    let taken = ways(&mut *spray, 0, 5, &[0; 4_000]);
    for way in 0..4 {
        let share = taken.iter().filter(|taken| **taken == way).count();
        assert!((900..1_100).contains(&share), "{share} of 4000 packets take way {way}");
    }
}

/// A flow keeps its way while its packets follow each other in less than the gap, and draws another one after a pause.
#[test]
fn a_flowlet_keeps_its_way() {
    let mut flowlets = Spread::Flowlet(Nanos(100)).chooser(1).unwrap();
    let near: Vec<u64> = (0..200).map(|packet| 1_000 + packet * 99).collect();
    assert_eq!(different(&ways(&mut *flowlets, 0, 5, &near)), 1);
    let apart: Vec<u64> = (0..200).map(|packet| 100_000 + packet * 100).collect();
    let drawn = ways(&mut *flowlets, 0, 5, &apart);
    assert_eq!(different(&drawn), 4);
    // Each flow and each switch has flowlets of its own.
    let firsts = |flowlets: &mut dyn Chooser, pairs: &[(u64, u32)]| -> Vec<usize> {
        pairs.iter().map(|(flow, node)| ways(flowlets, *flow, *node, &[1_000_000])[0]).collect()
    };
    let pairs: Vec<(u64, u32)> = (0..20).flat_map(|flow| [(flow, 5), (flow, 6)]).collect();
    let chosen = firsts(&mut *flowlets, &pairs);
    assert_eq!(different(&chosen), 4);
    assert_eq!(firsts(&mut *flowlets, &pairs), chosen, "no pause has passed");
}

#[test]
fn a_flow_takes_its_paths_in_turn() {
    for (most, expected) in [(1, 1), (2, 2), (3, 3), (4, 4), (9, 4)] {
        let mut paths = Spread::Paths(most).chooser(1).unwrap();
        let mut firsts = Vec::new();
        for flow in 0..20 {
            let taken = ways(&mut *paths, flow, 5, &[0; 24]);
            assert_eq!(different(&taken), expected);
            // In turn: each way as often as the others.
            for way in &taken {
                let times = taken.iter().filter(|taken| *taken == way).count();
                assert_eq!(times * expected, 24);
            }
            firsts.push(taken[0]);
        }
        assert_eq!(different(&firsts), 4, "flows begin at different ways");
    }
}

fn run(spread: Spread, seed: u64) -> Outcome {
    let rate = BitsPerSec(1_000_000_000);
    let topology = Topology::leaf_spine(2, 4, 1, rate, BitsPerSec(250_000_000), Nanos(20)).unwrap();
    let network = Network::new(&topology, |_| DropTail::new(60_000), preset::standard_tcp(), 120, 5).unwrap();
    let network = match spread.chooser(seed) {
        Some(chooser) => network.choosing(chooser),
        None => network,
    };
    let spec = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 10_000_000 };
    network.run([spec].into_iter(), Nanos::MAX).unwrap()
}

/// Between two leaf switches are four ways, and each has a quarter of the rate of a host: one way takes four times as long as all four.
#[test]
fn more_ways_carry_more() {
    let millis = |spread| run(spread, 1).completed[0].end.0 as f64 / 1e6;
    // 7246 packets of 1500 bytes.
    let one = 7_246.0 * 1_500.0 * 8.0 / 250e6 * 1e3;
    let [hash, two, four] = [Spread::Hash, Spread::Paths(2), Spread::Paths(4)].map(millis);
    assert!(hash > one && hash < 1.1 * one, "{hash} of {one}");
    assert!(two > one / 2.0 && two < 1.1 * one / 2.0, "{two} of {one}");
    assert!(four < 0.75 * two, "{four} of {two}");
    assert!(millis(Spread::Spray) < 0.75 * hash);
    // A flow that never pauses for a second is one flowlet.
    assert!(millis(Spread::Flowlet(Nanos::from_secs(1))) > one);
}

#[test]
fn the_same_seed_gives_the_same_ways() {
    for spread in [Spread::Spray, Spread::Flowlet(Nanos(20_000)), Spread::Paths(2)] {
        assert_eq!(run(spread, 1), run(spread, 1));
    }
    assert_ne!(run(Spread::Spray, 1), run(Spread::Spray, 2));
}
