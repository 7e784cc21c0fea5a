//! Whole runs: one worked by hand, and what must hold of all.

use trueplane_network::Nanos;
use trueplane_network::simulator::{
    Completed, DropTail, FlowSpec, Link, MarkingThreshold, Network, Outcome, Poisson, PortQueue, Ranked,
    SizeClass, Sizes, SkippedWhenIdle, Times, Topology,
};
use trueplane_network::transport::preset;
use trueplane_network::transport::{NewReno, Reno, SenderSettings, Simplified, Transport, WindowSettings};
use trueplane_sched::Banked;
use trueplane_sched::policy::{Afq, Pifo, PushDown, SpPifo};
use trueplane_sched::rank::{PFabric, Stfq};
use trueplane_units::BitsPerSec;

const HEADER: u32 = 120;

fn run<Q: PortQueue, T: Transport>(
    topology: &Topology,
    queue: impl FnMut(usize) -> Q,
    transport: T,
    flows: impl Iterator<Item = FlowSpec>,
    until: Nanos,
) -> Outcome {
    Network::new(topology, queue, transport, HEADER, 5).unwrap().run(flows, until).unwrap()
}

fn small_fabric() -> Topology {
    let (access, core) = (BitsPerSec(1_000_000_000), BitsPerSec(4_000_000_000));
    Topology::leaf_spine(3, 2, 4, access, core, Nanos(20)).unwrap()
}

fn flows(rate: f64, seed: u64) -> Poisson {
    let sizes = Sizes::new(vec![(1, 0.2), (5_000, 0.7), (300_000, 1.0)]).unwrap();
    Poisson::new(12, rate, sizes, Nanos::from_millis(50), seed)
}

/// Three packets, two hops, one loss, worked by hand.
///
/// A host sends three packets of 1000 bytes at 8 Gbit/s (1 µs each) to a switch, whose line to the other host takes 2.5 µs for each, and
/// whose queue holds one. Links have 100 ns of delay.
///
/// | time in ns | what happens |
/// |---|---|
/// | 1100, 2100, 3100 | the packets are at the switch: the first leaves until 3600, the second waits, the third is dropped |
/// | 3700, 6200 | two packets have arrived, their acknowledgements of 100 bytes take 100 ns on each link |
/// | 4100 | SRTT = 4100, RTTVAR = 2050 |
/// | 6600 | RTTVAR = (3 × 2050 + 2500) ÷ 4 = 2162, SRTT = (7 × 4100 + 6600) ÷ 8 = 4412, RTO = 4412 + 4 × 2162 = 13060 |
/// | 19660 | the timer expires: the third packet is sent again; it is there at 23360, and acknowledged at 23760 |
#[test]
fn three_packets_over_two_hops_with_one_loss() {
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
    let capacity = |port| DropTail::new(if port == 3 { 1_000 } else { 10_000 });
    let network =
        Network::new(&topology, capacity, (settings, Reno::new(windows), NewReno::new()), 100, 0).unwrap();
    let spec = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 2_700 };
    let outcome = network.run([spec].into_iter(), Nanos::MAX).unwrap();
    assert_eq!(outcome.completed, [Completed { spec, end: Nanos(23_760) }]);
    let counts = outcome.counts;
    assert_eq!([counts.sent, counts.delivered, counts.dropped], [7, 6, 1]);
    assert_eq!([outcome.hops, outcome.most_packets as u64], [13, 3]);
}

/// Every flow ends, and every packet is accounted for (the network checks that itself), with every queue.
#[test]
fn all_flows_end_whatever_the_queue() {
    let topology = small_fabric();
    let expected = flows(20_000.0, 3).count();
    let sp_pifo = || Banked::new(8, 10, SpPifo::new(8, PushDown::Cost).unwrap()).unwrap();
    let outcomes = [
        run(&topology, |_| DropTail::new(30_000), preset::standard_tcp(), flows(20_000.0, 3), Nanos::MAX),
        run(
            &topology,
            |_| DropTail::new(30_000).marking(MarkingThreshold::above(14_600)),
            preset::standard_dctcp(),
            flows(20_000.0, 3),
            Nanos::MAX,
        ),
        run(
            &topology,
            |_| Ranked::new(Pifo::new(20).unwrap(), PFabric),
            preset::standard_pfabric(),
            flows(20_000.0, 3),
            Nanos::MAX,
        ),
        run(
            &topology,
            |_| Ranked::new(sp_pifo(), PFabric),
            preset::standard_pfabric(),
            flows(20_000.0, 3),
            Nanos::MAX,
        ),
    ];
    for outcome in outcomes {
        assert_eq!([outcome.completed.len(), outcome.unfinished], [expected, 0]);
        assert_eq!(outcome.counts.in_network(), 0);
        assert!(outcome.counts.dropped > 0);
    }
}

/// The same with the ends and the ports of the published simulator.
#[test]
fn all_flows_end_with_the_simplified_sender() {
    let topology = small_fabric();
    let expected = flows(20_000.0, 3).count();
    let sp_pifo = || Banked::new(8, 10, SpPifo::new(8, PushDown::Cost).unwrap()).unwrap();
    let load = || flows(20_000.0, 3);
    let outcomes = [
        run(&topology, |_| DropTail::new(30_000), Simplified::TCP, load(), Nanos::MAX),
        run(
            &topology,
            |_| DropTail::new(30_000).marking(MarkingThreshold::behind(14_600)),
            Simplified::DCTCP,
            load(),
            Nanos::MAX,
        ),
        run(
            &topology,
            |_| SkippedWhenIdle(Ranked::new(Pifo::new(20).unwrap(), PFabric)),
            Simplified::PFABRIC,
            load(),
            Nanos::MAX,
        ),
        run(
            &topology,
            |_| SkippedWhenIdle(Ranked::new(sp_pifo(), Stfq::new(64).unwrap())),
            Simplified::DCTCP,
            load(),
            Nanos::MAX,
        ),
        run(
            &topology,
            |_| SkippedWhenIdle(Ranked::new(Afq::new(8, 10, 320).unwrap(), PFabric)),
            Simplified::DCTCP,
            load(),
            Nanos::MAX,
        ),
    ];
    for outcome in outcomes {
        assert_eq!([outcome.completed.len(), outcome.unfinished], [expected, 0]);
        assert_eq!(outcome.counts.in_network(), 0);
        assert!(outcome.counts.dropped > 0);
    }
}

/// A queue that holds nothing drops all but what finds the line idle.
#[test]
fn an_idle_line_needs_no_queue() {
    let link = |from, to| Link { from, to, rate: BitsPerSec(8_000_000_000), delay: Nanos(100) };
    let topology = Topology::new(2, 2, vec![link(0, 1), link(1, 0)]).unwrap();
    let network = Network::new(&topology, |_| SkippedWhenIdle(DropTail::new(0)), Simplified::TCP, 120, 0);
    let spec = FlowSpec { start: Nanos(0), from: 0, to: 1, bytes: 1 };
    let outcome = network.unwrap().run([spec].into_iter(), Nanos::from_secs(1)).unwrap();
    // The handshake takes 440 ns. Its last packet is being sent when the byte comes, so the byte is dropped, and sent again after 300 µs.
    assert_eq!([outcome.counts.dropped, outcome.completed.len() as u64], [1, 1]);
    assert_eq!(outcome.completed[0].end, Nanos(440 + 300_000 + 221 + 220));
}

/// Stopped in between, the books balance, too, and what is missing is in the network.
#[test]
fn books_balance_in_the_middle() {
    let topology = small_fabric();
    for millis in [0, 1, 7, 30] {
        let outcome = run(
            &topology,
            |_| DropTail::new(30_000),
            preset::standard_tcp(),
            flows(20_000.0, 3),
            Nanos::from_millis(millis),
        );
        assert_eq!(outcome.unfinished > 0, millis > 0);
        assert_eq!(outcome.counts.in_network() > 0, millis > 0);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let topology = small_fabric();
    let once = |seed| {
        run(&topology, |_| DropTail::new(30_000), preset::standard_tcp(), flows(20_000.0, seed), Nanos::MAX)
    };
    assert_eq!(once(3), once(3));
    assert_ne!(once(3), once(4));
}

/// A flow that is alone takes a round trip for the handshake and then its bytes at the rate of the link.
#[test]
fn a_lone_flow_takes_its_ideal_time() {
    let topology = small_fabric();
    let alone = |bytes| {
        let spec = FlowSpec { start: Nanos(0), from: 0, to: 5, bytes };
        run(&topology, |_| DropTail::new(146_000), preset::standard_tcp(), [spec].into_iter(), Nanos::MAX)
            .completed[0]
            .time()
    };
    // Two links of 1 Gbit/s and two of 4 Gbit/s each way, 20 ns each: an empty packet takes 2 × 960 + 2 × 240 + 80 ns.
    let empty = 2_480;
    // The byte makes each link take 8 or 2 ns more.
    assert_eq!(alone(1), Nanos(4 * empty + 20));
    // Three segments, back to back on the first link: 12 µs each, and the last over the others.
    assert_eq!(alone(3 * 1_380), Nanos(2 * empty + 2 * 12_000 + (2 * 12_000 + 2 * 3_000 + 80) + empty));
    // Long flows get the rate: 1380 of 1500 bytes.
    let seconds = alone(10_000_000).0 as f64 / 1e9;
    let ideal = 10_000_000.0 * 8.0 * 1_500.0 / 1_380.0 / 1e9;
    assert!(seconds > ideal && seconds < ideal * 1.01, "{seconds} s, ideal {ideal} s");
}

/// pFabric's belief: short flows are through first, with a PIFO as with SP-PIFO, and TCP's wait longest.
#[test]
fn short_flows_wait_least_with_a_pifo() {
    let topology = small_fabric();
    let load = || flows(9_000.0, 11);
    let class = SizeClass { from: 0, below: 100_000 };
    let mean = |outcome: Outcome| Times::of(&outcome.completed, class).unwrap().mean_ms;
    let sp_pifo = || Banked::new(8, 10, SpPifo::new(8, PushDown::Cost).unwrap()).unwrap();
    let tcp = mean(run(&topology, |_| DropTail::new(146_000), preset::standard_tcp(), load(), Nanos::MAX));
    let marking = |_| DropTail::new(146_000).marking(MarkingThreshold::above(14_600));
    let dctcp = mean(run(&topology, marking, preset::standard_dctcp(), load(), Nanos::MAX));
    let sp = mean(run(
        &topology,
        |_| Ranked::new(sp_pifo(), PFabric),
        preset::standard_pfabric(),
        load(),
        Nanos::MAX,
    ));
    let pifo = mean(run(
        &topology,
        |_| Ranked::new(Pifo::new(80).unwrap(), PFabric),
        preset::standard_pfabric(),
        load(),
        Nanos::MAX,
    ));
    assert!(pifo < sp && sp < dctcp && dctcp < tcp, "PIFO {pifo}, SP-PIFO {sp}, DCTCP {dctcp}, TCP {tcp}");
}

/// Nearest rank: of 200 times the 99th percentile is the 198th.
#[test]
fn times_are_means_and_percentiles() {
    let flow = |bytes, time: u64| Completed {
        spec: FlowSpec { start: Nanos(7), from: 0, to: 1, bytes },
        end: Nanos(7 + time),
    };
    let completed: Vec<Completed> =
        (1..=200).rev().map(|time| flow(10, time * 1_000_000)).chain([flow(100_000, 1)]).collect();
    let times = Times::of(&completed, SizeClass::SMALL).unwrap();
    assert_eq!(times, Times { flows: 200, mean_ms: 100.5, p99_ms: 198.0 });
    assert_eq!(Times::of(&completed, SizeClass::LARGE), None);
}
