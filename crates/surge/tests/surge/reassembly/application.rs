//! The reassembler behind the server.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;

use proptest::prelude::*;
use trueplane_surge::application::Application;
use trueplane_surge::policy::Fcfs;
use trueplane_surge::reassembly::application::offered;
use trueplane_surge::reassembly::{
    Attack, Heuristic, Innocent, Limits, List, Reassembly, ReassemblyCosts, Tree, profile,
};
use trueplane_surge::segments::{Made, Segment, Segments, Tcp};
use trueplane_surge::server::Server;
use trueplane_surge::traffic::{Pace, Traffic};
use trueplane_surge::{Bounded, Overflow};
use trueplane_units::Nanos;

const COSTS: ReassemblyCosts = ReassemblyCosts { base: Nanos(100), step: Nanos(5) };

fn reassembly(segments: Arc<[Segment]>, heuristic: Heuristic) -> Reassembly<List> {
    Reassembly::new(segments, Limits::default(), COSTS, heuristic).unwrap()
}

#[test]
fn a_profile_says_what_each_segment_takes() {
    let attack = Attack { flows: 1, per_flow: 4, seed: 1 }.segments().unwrap();
    let jobs = profile("attack", &mut reassembly(attack.shared(), Heuristic::Ranges), &()).unwrap();
    let times: Vec<(u64, u64)> = jobs.iter().map(|job| (job.job.0, job.estimate.0)).collect();
    assert_eq!(times, [(100, 100), (100, 100), (105, 105), (110, 110), (115, 115)]);
    assert!(jobs.iter().all(|job| job.bits == 512) && jobs.times().is_some());

    let mut tree =
        Reassembly::<Tree>::new(attack.shared(), Limits::default(), COSTS, Heuristic::Ranges).unwrap();
    let times: Vec<u64> = profile("attack", &mut tree, &()).unwrap().iter().map(|job| job.job.0).collect();
    assert_eq!(times, [100, 100, 105, 110, 110]);
}

#[test]
fn the_usual_costs_make_12_gbps_of_packets_of_750_bytes() {
    let segments = Innocent::default().segments().unwrap();
    let mut application = Reassembly::<List>::new(
        segments.shared(),
        Limits::default(),
        ReassemblyCosts::default(),
        Heuristic::Ranges,
    )
    .unwrap();
    let jobs = profile("innocent", &mut application, &()).unwrap();
    let (bits, time) =
        jobs.iter().fold((0, 0), |(bits, time), job| (bits + u64::from(job.bits), time + job.job.0));
    let gbps = bits as f64 / time as f64;
    assert!((11.5..12.5).contains(&gbps), "{gbps}");
}

/// Innocent traffic alone; then an attack with a hundredth of its rate takes much more than that away.
#[test]
fn the_server_drives_it() {
    let innocent = Innocent { flows: 200, ..Innocent::default() }.segments().unwrap();
    let attack = Attack { flows: 2, per_flow: 4000, seed: 9 }.segments().unwrap();
    let all: Arc<[Segment]> = innocent.all().iter().chain(attack.all()).copied().collect();
    let count = innocent.all().len() as u64;
    // 100 Mbps of attack beside 10 Gbps.
    let bits: u64 = innocent.all().iter().map(|segment| u64::from(segment.bits)).sum();
    let users = Traffic {
        packets: offered(innocent.all(), 0),
        pace: Pace::Even { packets: count, nanos: bits / 10 },
        count,
        fresh_flows: false,
    };
    let attacker = Traffic {
        packets: offered(attack.all(), count as u32),
        pace: Pace::Even { packets: 1, nanos: 5_120 },
        count: u64::MAX,
        fresh_flows: false,
    };
    let goodput = |attack: &Traffic<u32>| {
        let application = Reassembly::<List>::new(
            Arc::clone(&all),
            Limits::default(),
            ReassemblyCosts::default(),
            Heuristic::Ranges,
        )
        .unwrap();
        let mut server = Server { application, innocent: &users, attack, end: Nanos(bits / 10) };
        let mut buffer = Bounded::new(Fcfs::new(1 << 20), None, Overflow::DropNewcomer).unwrap();
        let tally = server.run(&mut buffer, &(), &mut |_| Ok(())).unwrap();
        let fate = tally.innocent;
        assert_eq!(fate.arrived.packets, fate.served.packets + fate.dropped.packets + fate.left.packets);
        assert_eq!(fate.arrived.packets, count);
        tally.goodput_bps()
    };
    let (without, with) = (goodput(&Traffic::none()), goodput(&attacker));
    let displaced = (without - with) / 100e6;
    assert!(without > 9.9e9, "{without}");
    assert!(displaced > 10.0, "{displaced} bits for each bit");
}

/// Serves from a queue of bounded length, in order: every (estimate, job).
fn queued(segments: &Arc<[Segment]>, heuristic: Heuristic, waiting: usize) -> Vec<(Nanos, Nanos)> {
    let application = RefCell::new(reassembly(Arc::clone(segments), heuristic));
    let mut queue = VecDeque::new();
    let mut found = Vec::new();
    let mut serve = |queue: &mut VecDeque<(u32, Nanos)>| {
        if let Some((packet, estimate)) = queue.pop_front() {
            found.push((estimate, application.borrow_mut().serve(packet)));
        }
    };
    for packet in 0..segments.len() as u32 {
        let estimate = application.borrow_mut().estimate(packet);
        if packet % 7 == 3 {
            application.borrow_mut().abandon(packet);
            continue;
        }
        queue.push_back((packet, estimate));
        if queue.len() > waiting {
            serve(&mut queue);
        }
    }
    while !queue.is_empty() {
        serve(&mut queue);
    }
    found
}

/// The length of the list when a segment arrives is no bound if the list grows before it is served.
#[test]
fn a_burst_gets_past_the_length_of_the_list() {
    let attack = Attack { flows: 3, per_flow: 50, seed: 1 }.segments().unwrap().shared();
    let is_bound = |&(estimate, job): &(Nanos, Nanos)| job <= estimate;
    assert!(queued(&attack, Heuristic::Ranges, 0).iter().all(is_bound));
    let burst = queued(&attack, Heuristic::Ranges, 1000);
    assert!(burst.iter().all(|(estimate, _)| *estimate == COSTS.base), "all are thought to be free");
    assert!(burst.iter().filter(|pair| !is_bound(pair)).count() > 100);
    assert!(queued(&attack, Heuristic::RangesAndWaiting, 1000).iter().all(is_bound));
}

proptest! {
    #[test]
    fn with_those_that_wait_it_is_a_bound(
        made in prop::collection::vec((0..3_u64, 0..300_u32, 0..30_u32, 0..50_u8), 1..200),
        waiting in 0..40_usize,
    ) {
        let segments = Segments::made("made", made.into_iter().map(|(flow, seq, length, flags)| {
            let tcp = (flags > 2).then_some(Tcp { seq, syn: flags == 3, fin: flags == 4, rst: flags == 5 });
            (Made { at: Nanos(0), flow, bits: 512, length, tcp }, Vec::new())
        }));
        for (estimate, job) in queued(&segments.shared(), Heuristic::RangesAndWaiting, waiting) {
            prop_assert!(job <= estimate, "{job:?} {estimate:?}");
        }
        for (estimate, job) in queued(&segments.shared(), Heuristic::Ranges, 0) {
            prop_assert!(job <= estimate, "{job:?} {estimate:?}");
        }
    }
}

#[test]
fn free_packets_are_refused() {
    let attack = Attack { flows: 1, per_flow: 4, seed: 1 }.segments().unwrap();
    let costs = ReassemblyCosts { base: Nanos(0), step: Nanos(5) };
    let error =
        Reassembly::<List>::new(attack.shared(), Limits::default(), costs, Heuristic::Ranges).unwrap_err();
    assert_eq!(error.to_string(), "expected packets that take 1 ns or more, got 0 ns");
}
