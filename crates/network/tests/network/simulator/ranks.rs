//! Ranks by what packets carry, on small networks: LSTF, EDF and FIFO+.

use trueplane_network::Nanos;
use trueplane_network::simulator::{DropTail, FlowSpec, Headers, Link, Network, PortQueue, Ranked, Topology};
use trueplane_network::transport::{NewReno, Reno, SenderSettings, Transport, WindowSettings, preset};
use trueplane_sched::policy::Pifo;
use trueplane_sched::rank::{Edf, FifoPlus, Lstf, RankPolicy};
use trueplane_units::BitsPerSec;

/// Bytes of a packet beside its payload.
const HEADER: u32 = 100;

/// Senders without a handshake, whose packets have 900 bytes of payload: 1000 bytes, which take 1 µs at 8 Gbit/s.
fn transport() -> impl Transport {
    let windows = WindowSettings { segment: 900, ..preset::PUBLISHED_WINDOWS };
    let settings = SenderSettings { segment: 900, handshake: false, ..preset::PUBLISHED };
    (settings, Reno::new(windows), NewReno::new())
}

fn ranked(policy: impl RankPolicy + 'static, headers: &Headers) -> Box<dyn PortQueue> {
    Box::new(Ranked::with_facts(Pifo::new(1 << 16).unwrap(), policy, headers.clone()))
}

/// Times at which flows end, by the number of the flow.
fn ends(
    topology: &Topology,
    flows: &[FlowSpec],
    headers: &Headers,
    queue: impl Fn(&Headers) -> Box<dyn PortQueue>,
) -> Vec<Nanos> {
    let network = Network::new(topology, |_| queue(headers), transport(), HEADER, 0).unwrap();
    let outcome = network.with_headers(headers.clone()).run(flows.iter().copied(), Nanos::MAX).unwrap();
    assert_eq!((outcome.unfinished, outcome.counts.dropped), (0, 0));
    let end = |flow: &FlowSpec| outcome.completed.iter().find(|one| one.spec == *flow).unwrap().end;
    flows.iter().map(end).collect()
}

const FAST: u64 = 8_000_000_000;

fn both(one: u32, other: u32, rate: u64) -> [Link; 2] {
    let link = |from, to| Link { from, to, rate: BitsPerSec(rate), delay: Nanos(0) };
    [link(one, other), link(other, one)]
}

/// Senders 0 to 2 and receivers 3 and 4: the senders share the link from switch 5 to switch 6 (8 Gbit/s). Receiver 3 is behind a fast link, and
/// receiver 4 behind one of 0.8 Gbit/s, on which a packet takes 10 µs.
fn near_and_far() -> Topology {
    let mut links = Vec::new();
    for host in 0..3 {
        links.extend(both(host, 5, FAST));
    }
    links.extend(both(5, 6, FAST));
    links.extend(both(3, 6, FAST));
    links.extend(both(4, 6, FAST / 10));
    Topology::new(7, 5, links).unwrap()
}

/// Three packets come to the shared link at 1 µs. That of flow 0 is sent at once, the others wait until 2 µs.
///
/// Flow 1 goes to the near host until 20 µs, flow 2 to the far host until 25 µs. The deadline of flow 1 is the earlier one, so EDF sends its packet
/// first. But on its way a packet of flow 2 takes 9 µs longer: 12 µs, and that of flow 1 takes 3 µs. So their slacks are 25 − 12 = 13 µs and 20 − 3
/// = 17 µs, and LSTF sends the packet of flow 2 first.
#[test]
fn lstf_sees_the_way_that_is_left_and_edf_does_not() {
    let topology = near_and_far();
    let flow = |from, to| FlowSpec { start: Nanos(0), from, to, bytes: 900 };
    let flows = [flow(0, 3), flow(1, 3), flow(2, 4)];
    let deadlines = [0, 20_000, 25_000].map(Nanos).to_vec();
    let headers = || Headers::new(topology.links().len(), deadlines.clone());
    let edf = ends(&topology, &flows, &headers(), |headers| ranked(Edf, headers));
    let lstf = ends(&topology, &flows, &headers(), |headers| ranked(Lstf, headers));
    // Acknowledgements of 100 bytes take 0.1 µs on each of the fast links, and 1 µs on the slow one. Flow 1 first: it passes the shared link from
    // 2 to 3 µs and is there at 4 µs; flow 2 passes from 3 to 4 µs and is there at 14 µs.
    assert_eq!(edf[1..], [4_000 + 300, 14_000 + 1_200].map(Nanos));
    // Flow 2 first: it is there at 13 µs, and flow 1 at 5 µs.
    assert_eq!(lstf[1..], [5_000 + 300, 13_000 + 1_200].map(Nanos));
}

/// What a packet waits at one port is less slack at the next.
///
/// Senders 0 and 1 share the link from switch 4 to switch 5, and sender 2 joins them at switch 5 on the way to host 3. The packet of flow 1 waits 1
/// µs for that of flow 0, and comes to switch 5 at 3 µs with 8 − 3 − 1 = 4 µs of slack left. The packet of flow 0 keeps the line to the host busy
/// from 2 to 3 µs. Flow 2's packet has waited there since 2.9 µs, with 8.5 − 1.9 − 2 = 4.6 µs of slack, of which 4.5 are left at 3 µs. It goes
/// last; if waiting did not count, the packet of flow 1 would have 5 µs left, and go last.
#[test]
fn waiting_takes_slack() {
    let mut links = Vec::new();
    for (host, switch) in [(0, 4), (1, 4), (2, 5), (3, 5)] {
        links.extend(both(host, switch, FAST));
    }
    links.extend(both(4, 5, FAST));
    let topology = Topology::new(6, 4, links).unwrap();
    let flow = |start, from| FlowSpec { start: Nanos(start), from, to: 3, bytes: 900 };
    let flows = [flow(0, 0), flow(0, 1), flow(1_900, 2)];
    let headers = Headers::new(topology.links().len(), [1_000, 8_000, 8_500].map(Nanos).to_vec());
    let found = ends(&topology, &flows, &headers, |headers| ranked(Lstf, headers));
    // At host 3 at 3, 4 and 5 µs; acknowledgements take 0.1 µs a link. Those of flows 0 and 1 pass three links, that of flow 2 two.
    assert_eq!(found, [3_300, 4_300, 5_200].map(Nanos));
}

/// Under EDF, flows that can all be in time are in time, in whatever order they come; FIFO has some late.
#[test]
fn edf_meets_deadlines_that_can_be_met() {
    let mut links = Vec::new();
    for host in 0..21 {
        links.extend(both(host, 21, FAST));
    }
    let topology = Topology::new(22, 21, links).unwrap();
    // Twenty hosts send a packet each to host 20. In the order in which they come, that of flow n is there at (n + 2) µs.
    let flows: Vec<FlowSpec> =
        (0..20).map(|from| FlowSpec { start: Nanos(0), from, to: 20, bytes: 900 }).collect();
    // The last to come has the earliest deadline, but for the first, which finds the line idle. Acknowledgements take 0.2 µs.
    let deadline = |from: u64| if from == 0 { 2_200 } else { 2_200 + (20 - from) * 1_000 };
    let deadlines: Vec<Nanos> = (0..20).map(|from| Nanos(deadline(from))).collect();
    let late = |ends: &[Nanos]| ends.iter().zip(&deadlines).filter(|(end, deadline)| end > deadline).count();
    let headers = Headers::new(topology.links().len(), deadlines.clone());
    let fifo = ends(&topology, &flows, &headers, |_| Box::new(DropTail::new(u64::MAX)));
    let edf = ends(&topology, &flows, &headers, |headers| ranked(Edf, headers));
    assert_eq!((late(&edf), late(&fifo)), (0, 9));
}

/// A chain of switches 10 to 14: host 0 sends to host 1 over all four links between them, and at each of these links two other hosts cross.
fn chain() -> Topology {
    let mut links = both(0, 10, FAST * 10).to_vec();
    links.extend(both(1, 14, FAST * 10));
    for hop in 0..4 {
        links.extend(both(10 + hop, 11 + hop, FAST));
        links.extend(both(2 + 2 * hop, 10 + hop, FAST * 10));
        links.extend(both(3 + 2 * hop, 11 + hop, FAST * 10));
    }
    Topology::new(15, 10, links).unwrap()
}

/// FIFO+: the packets that pass many ports are late by less, as those that waited long at one port wait less at the next.
///
/// Single packets at random times, which keep each of the four links busy for about 0.8 of the time: the 99th percentile of those over all four links
/// falls against FIFO, and their mean does not rise by more than a tenth.
#[test]
fn fifo_plus_narrows_the_tail_of_long_ways() {
    let topology = chain();
    let mut random = 1_u64;
    let mut draw = |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut flows = Vec::new();
    for window in 0..600_u64 {
        // A packet takes 1 µs: two packets over all links and 12 to 15 over each make 14 to 17 of 20 µs.
        let mut at = || Nanos(window * 20_000 + draw(20_000));
        flows.extend([0; 2].map(|from| FlowSpec { start: at(), from, to: 1, bytes: 900 }));
        for hop in 0..4 {
            let (from, to) = (2 + 2 * hop, 3 + 2 * hop);
            flows.extend((0..12 + window % 4).map(|_| FlowSpec { start: at(), from, to, bytes: 900 }));
        }
    }
    flows.sort_by_key(|flow| flow.start);
    let times = |queue: &dyn Fn(&Headers) -> Box<dyn PortQueue>| {
        let headers = Headers::new(topology.links().len(), Vec::new());
        let network = Network::new(&topology, |_| queue(&headers), transport(), HEADER, 0).unwrap();
        let network = network.with_headers(headers.clone());
        let outcome = network.run(flows.iter().copied(), Nanos::MAX).unwrap();
        let long = outcome.completed.iter().filter(|one| one.spec.from == 0);
        let mut times: Vec<u64> = long.map(|one| one.time().0).collect();
        times.sort_unstable();
        assert_eq!(times.len(), 1_200);
        (times.iter().sum::<u64>() / 1_200, times[1_188])
    };
    let (fifo_mean, fifo_p99) = times(&|_| Box::new(DropTail::new(u64::MAX)));
    let (mean, p99) = times(&|headers| ranked(FifoPlus, headers));
    assert!(p99 < fifo_p99, "99th percentile {p99} ns, FIFO {fifo_p99} ns");
    assert!(mean < fifo_mean + fifo_mean / 10, "mean {mean} ns, FIFO {fifo_mean} ns");
}

/// Packets of flows beyond the deadlines have none.
#[test]
fn a_flow_without_a_deadline_is_never_urgent() {
    let topology = near_and_far();
    let flows = [0, 1, 2].map(|from| FlowSpec { start: Nanos(0), from, to: 3, bytes: 900 });
    let found = |deadlines: Vec<Nanos>| {
        let headers = Headers::new(topology.links().len(), deadlines);
        ends(&topology, &flows, &headers, |headers| ranked(Edf, headers))
    };
    let without = found(vec![Nanos(0)]);
    assert!(without[1] < without[2], "alike: in the order of arrival");
    let with = found(vec![Nanos(0), Nanos::MAX, Nanos(1_000_000)]);
    assert!(with[2] < with[1]);
}
