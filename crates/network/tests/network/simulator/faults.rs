//! Links that are down, lose packets or delay them.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use trueplane_network::Nanos;
use trueplane_network::simulator::port::{Offered, Waiting};
use trueplane_network::simulator::{
    DropTail, FaultKind, Faults, FlowSpec, Link, LinkFault, Named, Network, Outcome, PortQueue, Spread,
    Topology, read_faults,
};
use trueplane_network::transport::{NewReno, Reno, SenderSettings, WindowSettings, preset};
use trueplane_units::BitsPerSec;

const GBPS: BitsPerSec = BitsPerSec(1_000_000_000);

/// Leaf switches 12 to 14 with four hosts each, spine switches 15 and 16.
fn fabric() -> Topology {
    Topology::leaf_spine(3, 2, 4, GBPS, GBPS, Nanos(20)).unwrap()
}

/// A flow from each host to the one six further on, one after the other.
fn flows() -> impl Iterator<Item = FlowSpec> {
    (0..12).map(|from| FlowSpec {
        start: Nanos(u64::from(from) * 10_000),
        from,
        to: (from + 6) % 12,
        bytes: 60_000,
    })
}

fn fault(link: u32, from: u64, until: u64, kind: FaultKind) -> LinkFault {
    LinkFault { link, from: Nanos(from), until: Nanos(until), kind }
}

fn on_all_links(topology: &Topology, kind: FaultKind) -> Vec<LinkFault> {
    (0..topology.links().len() as u32).map(|link| fault(link, 0, u64::MAX, kind)).collect()
}

fn run(topology: &Topology, faults: &[LinkFault], seed: u64, until: Nanos) -> Outcome {
    let faults = Faults::new(topology.links().len(), faults, seed).unwrap();
    let network = Network::new(topology, |_| DropTail::new(30_000), preset::standard_tcp(), 120, 5);
    network.unwrap().with_faults(faults).run(flows(), until).unwrap()
}

/// The link from one node to another.
fn link(topology: &Topology, from: u32, to: u32) -> u32 {
    topology.links().iter().position(|link| (link.from, link.to) == (from, to)).unwrap() as u32
}

/// Ways and losses have the same seed, but not the same numbers.
#[test]
fn losses_meet_all_ways_alike() {
    let rate = BitsPerSec(1_000_000_000);
    let topology = Topology::leaf_spine(2, 2, 1, rate, rate, Nanos(20)).unwrap();
    let up: Vec<u32> = (4..6).map(|spine| link(&topology, 2, spine)).collect();
    let losses: Vec<LinkFault> =
        up.iter().map(|&link| fault(link, 0, u64::MAX, FaultKind::Loss(20_000))).collect();
    for seed in 1..4 {
        let flow = |number: u64| FlowSpec { start: Nanos(number * 1_000_000), from: 0, to: 1, bytes: 1 };
        let network = Network::new(&topology, |_| DropTail::new(30_000), preset::standard_tcp(), 120, 5);
        let network =
            network.unwrap().with_faults(Faults::new(topology.links().len(), &losses, seed).unwrap());
        let network = network.choosing(Spread::Spray.chooser(seed).unwrap());
        let outcome = network.run((0..4_000).map(flow), Nanos::MAX).unwrap();
        let lost: Vec<u64> = up.iter().map(|&link| outcome.ports[link as usize].lost).collect();
        assert!(lost.iter().all(|&one| one > 60) && lost.iter().sum::<u64>() < 400, "{lost:?}");
    }
}

#[test]
fn without_a_fault_nothing_changes() {
    let topology = fabric();
    let network = Network::new(&topology, |_| DropTail::new(30_000), preset::standard_tcp(), 120, 5);
    let expected = network.unwrap().run(flows(), Nanos::MAX).unwrap();
    assert_eq!(run(&topology, &[], 1, Nanos::MAX), expected);
    let nothing = [FaultKind::Loss(0), FaultKind::Jitter(Nanos(0))];
    let faults: Vec<LinkFault> = nothing.iter().flat_map(|kind| on_all_links(&topology, *kind)).collect();
    assert_eq!(run(&topology, &faults, 1, Nanos::MAX), expected);
}

/// The example of `three_packets_over_two_hops_with_one_loss`, but the second link is down instead of having no room.
///
/// The packets begin to leave the switch at 1100, 3600 and 6100 ns. The link is down from 7000 to 8000 ns, while the third is on it: that is lost.
/// Its predecessors are there at 3700 and 6200, and their acknowledgements are back at 4100 and 6600: as there, the timer expires at 19660.
#[test]
fn a_link_that_goes_down_loses_what_is_on_it() {
    let link = |from, to, rate| Link { from, to, rate: BitsPerSec(rate), delay: Nanos(100) };
    let links = vec![
        link(0, 2, 8_000_000_000),
        link(2, 0, 8_000_000_000),
        link(1, 2, 8_000_000_000),
        link(2, 1, 3_200_000_000),
    ];
    let topology = Topology::new(3, 2, links).unwrap();
    let windows = WindowSettings { segment: 900, ..preset::PUBLISHED_WINDOWS };
    let settings = SenderSettings { segment: 900, handshake: false, ..preset::PUBLISHED };
    let transport = (settings, Reno::new(windows), NewReno::new());
    let faults = Faults::new(4, &[fault(3, 7_000, 8_000, FaultKind::Down)], 0).unwrap();
    let network = Network::new(&topology, |_| DropTail::new(10_000), transport, 100, 0).unwrap();
    let spec = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 2_700 };
    let outcome = network.with_faults(faults).run([spec].into_iter(), Nanos::MAX).unwrap();
    assert_eq!(outcome.completed[0].end, Nanos(23_760));
    let counts = outcome.counts;
    assert_eq!([counts.sent, counts.delivered, counts.dropped, counts.down, counts.lost], [7, 6, 0, 1, 0]);
    assert_eq!(outcome.hops, 13, "the lost packet passed one link");
}

/// With a spine's link to one leaf down, packets for that leaf take the other spine, also at leaves whose own links are up.
#[test]
fn packets_take_the_ways_that_are_up_all_along() {
    let topology = fabric();
    let cut = [link(&topology, 15, 14), link(&topology, 14, 15)];
    let faults = cut.map(|link| fault(link, 0, u64::MAX, FaultKind::Down));
    let outcome = run(&topology, &faults, 1, Nanos::MAX);
    assert_eq!((outcome.completed.len(), outcome.counts.down), (12, 0));
    // Without the last spine there is no way to that leaf, and none from it.
    let cut = [15, 16].map(|spine| link(&topology, spine, 14));
    let faults = cut.map(|link| fault(link, 0, u64::MAX, FaultKind::Down));
    let outcome = run(&topology, &faults, 1, Nanos::from_secs(1));
    // Hosts 2 to 5 send to the leaf with hosts 8 to 11, and those to 2 to 5: packets of these get there, but their acknowledgements do not come back.
    assert_eq!((outcome.completed.len(), outcome.unfinished), (4, 8));
    assert!(outcome.counts.down > 0);
}

#[test]
fn a_link_that_comes_up_again_is_used_again() {
    let topology = fabric();
    let access = [link(&topology, 0, 12), link(&topology, 12, 0)];
    let faults = access.map(|link| fault(link, 0, 5_000_000, FaultKind::Down));
    let outcome = run(&topology, &faults, 1, Nanos::MAX);
    assert_eq!((outcome.completed.len(), outcome.counts.in_network()), (12, 0));
    let host = outcome.completed.iter().find(|one| one.spec.from == 0).unwrap();
    assert!(host.end > Nanos(5_000_000) && outcome.counts.down > 0);
}

#[test]
fn losses_come_with_their_chance() {
    let topology = fabric();
    let outcome = run(&topology, &on_all_links(&topology, FaultKind::Loss(50_000)), 1, Nanos::MAX);
    assert_eq!((outcome.completed.len(), outcome.counts.in_network()), (12, 0));
    let lost = outcome.counts.lost as f64 / (outcome.counts.lost + outcome.hops) as f64;
    assert!((0.04..0.06).contains(&lost), "{lost}");
    let all = run(&topology, &on_all_links(&topology, FaultKind::Loss(1_000_000)), 1, Nanos::from_secs(1));
    assert_eq!((all.hops, all.counts.delivered, all.counts.lost), (0, 0, all.counts.sent));
}

#[test]
fn chances_are_those_of_the_seed() {
    let topology = fabric();
    let faults = on_all_links(&topology, FaultKind::Loss(50_000));
    let once = |seed| run(&topology, &faults, seed, Nanos::MAX);
    assert_eq!(once(1), once(1));
    assert_ne!(once(1), once(2));
}

/// A FIFO that notes how many bytes of the flow were left when each packet was sent.
struct Noting(DropTail, Rc<RefCell<Vec<u64>>>);

impl PortQueue for Noting {
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered {
        self.1.borrow_mut().push(packet.remaining);
        self.0.offer(packet, now)
    }

    fn next(&mut self) -> Option<u32> {
        self.0.next()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// Without jitter, packets come to the switch as they were sent; with it, some overtake others, and each is late by no more than the most.
#[test]
fn jitter_reorders_packets() {
    let topology = Topology::dumbbell(1, GBPS, GBPS, Nanos(20)).unwrap();
    let access = link(&topology, 0, 2);
    let arrivals = |most| {
        let noted = Rc::new(RefCell::new(Vec::new()));
        let queue = |port: usize| {
            let noted =
                if port == link(&topology, 2, 3) as usize { Rc::clone(&noted) } else { Rc::default() };
            Noting(DropTail::new(1_000_000), noted)
        };
        let faults = [fault(access, 0, u64::MAX, FaultKind::Jitter(Nanos(most)))];
        let faults = Faults::new(topology.links().len(), &faults, 3).unwrap();
        let network = Network::new(&topology, queue, preset::standard_pfabric(), 120, 5).unwrap();
        let spec = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 30 * 1_380 };
        let outcome = network.with_faults(faults).run([spec].into_iter(), Nanos::MAX).unwrap();
        assert_eq!(outcome.completed.len(), 1);
        noted.take()
    };
    let steps = |arrivals: &[u64]| arrivals.windows(2).filter(|pair| pair[1] > pair[0]).count();
    assert_eq!(steps(&arrivals(0)), 0);
    assert!(steps(&arrivals(100_000)) > 5);
    // A packet takes 12 µs: with less jitter than that none overtakes another.
    assert_eq!(steps(&arrivals(11_000)), 0);
}

#[test]
fn a_table_names_links_and_kinds() {
    let switches = ["leaf0", "leaf1", "leaf2", "spine0", "spine1"].map(str::to_owned).to_vec();
    let named = Named { topology: fabric(), hosts: Vec::new(), switches };
    let table =
        "kind,from,to,start_ns,end_ns,value\ndown,leaf2,spine0,0,1000000000,\nloss,3,leaf0,0,9,1000000\n";
    let faults = read_faults(table.as_bytes(), &named, 1).unwrap();
    let network = Network::new(&named.topology, |_| DropTail::new(30_000), preset::standard_tcp(), 120, 5);
    let outcome = network.unwrap().with_faults(faults).run(flows(), Nanos::MAX).unwrap();
    let topology = &named.topology;
    let both = |one, other| [link(topology, one, other), link(topology, other, one)];
    let mut expected = both(14, 15).map(|link| fault(link, 0, 1_000_000_000, FaultKind::Down)).to_vec();
    expected.extend(both(3, 12).map(|link| fault(link, 0, 9, FaultKind::Loss(1_000_000))));
    assert_eq!(outcome, run(topology, &expected, 1, Nanos::MAX));
}

#[test]
fn wrong_faults_are_refused_in_one_line() {
    let named = Named { topology: fabric(), hosts: Vec::new(), switches: Vec::new() };
    let refusal = |rows: &str| {
        let table = format!("from,to,start_ns,end_ns,kind,value\n{rows}\n");
        read_faults(table.as_bytes(), &named, 1).unwrap_err().to_string()
    };
    let cases = [
        ("0,12,x,9,down,", "nanoseconds as start_ns, got \"x\" in line 2"),
        ("0,12,9,9,down,", "an end_ns above start_ns, got \"9\" in line 2"),
        ("0,17,0,9,down,", "a node such as 0 as to, got \"17\" in line 2"),
        ("leaf0,1,0,9,down,", "a node such as 0 as from, got \"leaf0\" in line 2"),
        ("0,13,0,9,down,", "two nodes with a link, got \"0\" and \"13\" in line 2"),
        ("0,12,0,9,up,", "down, loss or jitter as kind, got \"up\" in line 2"),
        ("0,12,0,9,down,5", "no value for down, got \"5\" in line 2"),
        ("0,12,0,9,loss,1000001", "0 to 1000000 parts of a million as value, got \"1000001\" in line 2"),
        ("0,12,0,9,jitter,-1", "0 to 10^12 nanoseconds as value, got \"-1\" in line 2"),
        ("0,12,0,9,jitter,1000000000001", "0 to 10^12 nanoseconds as value, got \"1000000000001\" in line 2"),
        (
            "0,12,5,9,down,\n12,0,0,6,down,",
            "faults of one kind and one link one after the other, got 0ns to 6ns in line 3 and 5ns to 9ns in line 2",
        ),
    ];
    for (rows, expected) in cases {
        assert_eq!(refusal(rows), format!("faults: expected {expected}"), "{rows}");
    }
    let header = read_faults("from,to\n".as_bytes(), &named, 1).unwrap_err().to_string();
    assert!(header.starts_with("faults: expected the columns from, to, start_ns, end_ns, kind and value"));
    let errors = [
        (fault(99, 0, 1, FaultKind::Down), "the number of a link, got 99"),
        (fault(0, 1, 1, FaultKind::Down), "an end after the start, got 1ns to 1ns"),
        (
            fault(0, 0, 1, FaultKind::Loss(1_000_001)),
            "a chance of at most 1000000 parts of a million, got 1000001",
        ),
    ];
    for (fault, expected) in errors {
        let message = Faults::new(4, &[fault], 1).unwrap_err().to_string();
        assert_eq!(message, format!("faults: expected {expected}"));
    }
}

fn faults() -> impl Strategy<Value = Vec<LinkFault>> {
    let kind = prop_oneof![
        3 => Just(FaultKind::Down),
        2 => (0..300_000_u32).prop_map(FaultKind::Loss),
        1 => (0..200_000_u64).prop_map(|most| FaultKind::Jitter(Nanos(most))),
    ];
    // One in each period of a link, so that none meets another.
    let one = (0..36_u32, 0..4_u64, 0..500_000_u64, 1..500_000_u64, kind);
    prop::collection::vec(one, 0..60).prop_map(|mut all| {
        all.sort_by_key(|(link, period, ..)| (*link, *period));
        all.dedup_by_key(|(link, period, ..)| (*link, *period));
        let of = |(link, period, from, length, kind)| {
            let from = period * 1_000_000 + from;
            fault(link, from, from + length, kind)
        };
        all.into_iter().map(of).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the faults, the books balance (which the network checks itself), and all flows end once the links are up again.
    #[test]
    fn books_balance_with_faults(faults in faults(), seed in any::<u64>()) {
        let topology = fabric();
        let halfway = run(&topology, &faults, seed, Nanos::from_millis(1));
        prop_assert_eq!(halfway.completed.len() + halfway.unfinished, 12);
        let outcome = run(&topology, &faults, seed, Nanos::MAX);
        prop_assert_eq!((outcome.completed.len(), outcome.counts.in_network()), (12, 0));
    }
}
