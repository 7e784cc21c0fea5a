//! The functions over threads: that nobody can tell from the verdicts how packets came to cores, and how many there were.

#[path = "../../benches/memory/engine/mod.rs"]
mod engine;

use std::net::IpAddr;
use std::sync::Arc;

use engine::flood::{self, Flood};
use engine::packets::{self, Segment};
use engine::run::{Overload, Run, Settings, run};
use engine::script::{Options, Order, Outcome, Script};
use engine::source::{Next, Source};
use engine::steady::Steady;
use trueplane_linux::testnet;
use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_spray::nf::{
    FunctionName, FunctionOptions, Monitor, MonitorOptions, Synthetic, Visit, with_function,
};
use trueplane_spray::packet::headers::{Link, protocol};
use trueplane_spray::packet::tcp_flags;
use trueplane_spray::{FlowId, Flows, Limits, LocalFlows, NetworkFunction, Packet, Reason};
use trueplane_units::Nanos;

/// Functions whose state changes with connection packets only.
const FUNCTIONS: [FunctionName; 5] = [
    FunctionName::Synthetic,
    FunctionName::Nat,
    FunctionName::Firewall,
    FunctionName::Balancer,
    FunctionName::Monitor,
];

const RSS: DispatchName = DispatchName::of(PolicyName::Rss);

/// A function on so many cores, given a script.
struct Trial<'a> {
    dispatch: DispatchName,
    script: &'a Options,
    settings: &'a Settings,
}

impl Visit for Trial<'_> {
    type Output = (Run, Outcome);

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> (Run, Outcome) {
        let mut script = Script::new(self.script);
        let run = run(self.dispatch, &Arc::new(function), &mut script, self.settings);
        (run, script.outcome().clone())
    }
}

impl Trial<'_> {
    fn of(self, function: FunctionName) -> (Run, Outcome) {
        with_function(function, &FunctionOptions::default(), self).expect("a function")
    }
}

/// Every verdict of `ours` is that of `theirs`.
fn assert_same(what: &str, ours: &Outcome, theirs: &Outcome) {
    assert_eq!(
        ours.first_difference(theirs),
        None,
        "{what}: the first connection that was treated otherwise"
    );
    assert_eq!(
        (ours.packets, ours.forwarded, ours.dropped),
        (theirs.packets, theirs.forwarded, theirs.dropped),
        "{what}"
    );
}

/// Runs all policies on two cores, and on three the one that hands over most, and compares them with one core. Returns how many packets there
/// were.
fn identical(function: FunctionName, script: &Options, flows: usize) -> u64 {
    let settings = |cores| Settings::new(cores, flows);
    let (_, alone) = Trial { dispatch: RSS, script, settings: &settings(1) }.of(function);
    assert_eq!((alone.wrong, alone.collisions, alone.dropped[Reason::TableFull as usize]), (0, 0, 0));
    let (forwarded, packets) = (alone.forwarded, alone.packets);
    assert!(forwarded > packets / 4, "{function}: {forwarded} of {packets} passed");
    let mut packets = alone.packets;
    let spray = DispatchName::of(PolicyName::Spray);
    for (dispatch, cores) in DispatchName::all().map(|dispatch| (dispatch, 2)).chain([(spray, 3)]) {
        let (run, outcome) = Trial { dispatch, script, settings: &settings(cores) }.of(function);
        let what = format!("{function}, {dispatch} on {cores} cores");
        assert_same(&what, &outcome, &alone);
        assert_eq!((outcome.wrong, outcome.collisions), (0, 0), "{what}");
        assert_eq!(run.counts().dropped_for(Reason::RingFull), 0, "{what}");
        if dispatch == spray {
            assert!(run.counts().handed_out > 0, "{what}");
        }
        packets += outcome.packets;
    }
    packets
}

#[test]
fn frames_are_what_they_say_and_a_changed_byte_is_noticed() {
    let v4 = |protocol, ports: (u16, u16)| {
        FlowId::new(protocol, ([10, 1, 2, 3].into(), ports.0), ([192, 0, 2, 7].into(), ports.1))
    };
    let v6: [IpAddr; 2] = ["fd00::7".parse().unwrap(), "2001:db8::1".parse().unwrap()];
    let v6 = |protocol, ports: (u16, u16)| FlowId::new(protocol, (v6[0], ports.0), (v6[1], ports.1));
    let segment = Segment { flags: tcp_flags::SYN, sequence: 7, acknowledged: 9 };
    for flow in [
        v4(protocol::TCP, (4000, 80)),
        v4(protocol::UDP, (4000, 53)),
        v4(protocol::ICMP, (77, 0)),
        v4(protocol::ICMP, (0, 77)),
        v6(protocol::TCP, (4000, 443)),
        v6(protocol::UDP, (4000, 443)),
    ] {
        for length in 0..9 {
            let payload: Vec<u8> = (1..=length).collect();
            let mut bytes = vec![1];
            packets::write(&mut bytes, Link::Ethernet, &flow, segment, &payload);
            let mut packet = Packet::new(bytes, Link::Ethernet);
            assert_eq!((packet.flow(), packet.payload()), (Some(&flow), &payload[..]));
            assert!(packets::checksums_are_right(&packet), "{flow} {length}");
            let last = packet.bytes().len() - 1;
            packet.refill(Link::Ethernet, |bytes| bytes[last] ^= 1);
            assert!(!packets::checksums_are_right(&packet), "{flow} {length}");
        }
    }
}

#[test]
fn verdicts_are_those_of_one_core() {
    let _alone = testnet::alone();
    let script = Options { seed: 1, connections: 12_000, at_a_time: 200, data: 16, order: Order::Free };
    let packets: u64 = FUNCTIONS.into_iter().map(|function| identical(function, &script, 1 << 15)).sum();
    assert!(packets >= 10_000_000, "{packets}");
}

#[test]
fn verdicts_are_the_same_as_time_passes() {
    let _alone = testnet::alone();
    // Connections fall silent for up to six rounds: a query is over after one minute, a closing connection after four.
    let order = Order::Rounds { pause: Nanos(70_000_000_000) };
    let script = Options { seed: 2, connections: 1_000, at_a_time: 100, data: 4, order };
    for function in FUNCTIONS {
        identical(function, &script, 1 << 13);
    }
}

#[test]
fn verdicts_are_the_same_when_tables_are_full() {
    let _alone = testnet::alone();
    let order = Order::Rounds { pause: Nanos(70_000_000_000) };
    let script = Options { seed: 3, connections: 2_000, at_a_time: 250, data: 4, order };
    for function in FUNCTIONS {
        let settings = |cores| {
            let limits = Limits { unconfirmed: 64, ..Limits::new(256) };
            Settings { limits, ..Settings::new(cores, 256) }
        };
        let of =
            |dispatch, cores| Trial { dispatch, script: &script, settings: &settings(cores) }.of(function);
        // One table of all flows is what one core has.
        let (_, alone) = of(RSS, 1);
        // Of as many tables as cores, each is full at a time of its own, the same for all who share flows out alike.
        let (_, apart) = of(RSS, 2);
        for dispatch in DispatchName::all() {
            let (run, outcome) = of(dispatch, 2);
            assert_same(&format!("{function}, {dispatch}"), &outcome, &apart);
            let most = run.flows.iter().max().unwrap_or(&0);
            assert!(*most <= 256, "{dispatch}: {most}");
        }
        // Or nothing was tested.
        if function == FunctionName::Synthetic {
            assert!(alone.first_difference(&apart).is_some());
        }
        let roomy = Settings::new(1, 1 << 13);
        let (_, free) = Trial { dispatch: RSS, script: &script, settings: &roomy }.of(function);
        // The monitor lets everything pass, whether it has room to count it or not.
        let is_moved = alone.first_difference(&free).is_some();
        assert_eq!(is_moved, function != FunctionName::Monitor, "{function} had room for all flows");
    }
}

/// Sends packets that are no packets, for as long as it is asked.
struct Endless {
    on_the_way: u64,
    left: u64,
}

impl Source for Endless {
    fn fill(&mut self, packet: &mut Packet) -> Next {
        if self.left == 0 {
            return if self.on_the_way == 0 { Next::End } else { Next::Wait };
        }
        self.left -= 1;
        self.on_the_way += 1;
        packet.set_tag(self.left);
        Next::Packet
    }

    fn back(&mut self, _packet: &Packet) {
        self.on_the_way -= 1;
    }

    fn now(&mut self, elapsed: Nanos) -> Nanos {
        elapsed
    }
}

/// More than can be sent before somebody ends it.
const MANY: u64 = 1 << 40;

/// Does what it is told with every packet.
struct Special<F>(F);

impl<F: Fn(&mut Packet) + Send + Sync> NetworkFunction for Special<F> {
    type State = u64;
    type Core = ();

    fn init(&self, _core: usize, _cores: usize) {}

    fn connection_packets(&self, _: &mut [Packet], _: &mut LocalFlows<'_, u64>, (): &mut (), _: Nanos) {}

    fn regular_packets(&self, packets: &mut [Packet], _: &Flows<'_, u64>, (): &mut (), _: Nanos) {
        packets.iter_mut().for_each(&self.0);
    }
}

#[test]
fn a_panic_of_a_core_ends_the_run() {
    let _alone = testnet::alone();
    let dispatch = DispatchName::of(PolicyName::RoundRobin);
    let function = Arc::new(Special(|packet: &mut Packet| assert_ne!(packet.tag(), MANY - 10_000)));
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let mut source = Endless { on_the_way: 0, left: MANY };
        run(dispatch, &function, &mut source, &Settings::new(2, 16))
    }));
    assert!(result.is_err(), "{dispatch}");
}

#[test]
fn what_finds_no_room_is_counted() {
    let _alone = testnet::alone();
    // More than the dispatcher needs for a packet, so that rings are full.
    let settings = Settings { ring: 64, cycles: 5_000, overload: Overload::Drop, ..Settings::new(2, 16) };
    for dispatch in [RSS, DispatchName::of(PolicyName::RoundRobin)] {
        let mut source = Endless { on_the_way: 0, left: 20_000 };
        let run = run(dispatch, &Arc::new(Synthetic), &mut source, &settings);
        let of = &run.dispatched;
        assert!(of.refused > 0, "{dispatch}");
        assert_eq!((of.offered, of.refused + of.returned), (20_000, 20_000), "{dispatch}");
    }
}

#[test]
fn a_full_ring_between_cores_is_counted() {
    let _alone = testnet::alone();
    let script = Options { seed: 4, connections: 20_000, at_a_time: 2_000, data: 1, order: Order::Free };
    let settings = Settings { handover: 1, patience: Some(1), ..Settings::new(2, 1 << 15) };
    let dispatch = DispatchName::of(PolicyName::RoundRobin);
    let (run, outcome) = Trial { dispatch, script: &script, settings: &settings }.of(FunctionName::Synthetic);
    let full = run.counts().dropped_for(Reason::RingFull);
    assert!(full > 0);
    assert_eq!(outcome.dropped[Reason::RingFull as usize], full);
}

#[test]
fn a_flood_displaces_nothing_that_is_there() {
    let _alone = testnet::alone();
    for function in [FunctionName::Synthetic, FunctionName::Nat, FunctionName::Firewall] {
        for dispatch in DispatchName::all() {
            let mut settings = Settings::new(2, 1 << 12);
            settings.limits.unconfirmed = 1 << 10;
            let (run, outcome) =
                with_function(function, &FunctionOptions::default(), Flooded { dispatch, settings })
                    .expect("a function");
            assert_eq!(outcome.established, outcome.established_forwarded, "{function}, {dispatch}");
            // One packet behind every 20 SYNs but the last 20, after which the run ends; what opened the connections came before.
            assert_eq!((outcome.flood, outcome.established), (40_000, 1_999), "{function}, {dispatch}");
            assert!(outcome.forwarded() >= outcome.established, "{function}, {dispatch}");
            let most = run.flows.iter().max().unwrap_or(&0);
            assert!(*most <= 1 << 12, "{function}, {dispatch}: {most} flows");
        }
    }
}

#[test]
fn steady_flows_all_pass_and_hashing_keeps_their_order() {
    let _alone = testnet::alone();
    for (dispatch, cycles) in DispatchName::all().flat_map(|dispatch| [(dispatch, 0), (dispatch, 100)]) {
        let mut source = Steady::new(4, 20_000, 2_000, 1);
        let settings = Settings { cycles, ..Settings::new(2, 1 << 12) };
        let function = Arc::new(Monitor::new(&MonitorOptions::default()));
        let run = run(dispatch, &function, &mut source, &settings);
        let of = source.outcome();
        assert_eq!((of.forwarded, of.refused, run.dispatched.refused), (of.packets, 0, 0), "{dispatch}");
        assert!((17_000..=20_000).contains(&of.packets), "{dispatch}: {}", of.packets);
        assert!(of.reordered < of.packets && of.rate() > 0.0, "{dispatch}");
        assert!(!dispatch.properties().whole_flows || of.reordered == 0, "{dispatch}: {}", of.reordered);
        assert!(run.dispatcher > Nanos(0), "{dispatch}");
        let busy: u64 = run.busy.iter().map(|busy| busy.0).sum();
        assert!(busy <= 2 * run.elapsed.0 + run.elapsed.0 / 50, "{dispatch}");
    }
}

/// A function under a flood that is ten times as large as its table.
struct Flooded {
    dispatch: DispatchName,
    settings: Settings,
}

impl Visit for Flooded {
    type Output = (Run, flood::Outcome);

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> Self::Output {
        let mut source = Flood::new(200, 40_000, 20);
        let run = run(self.dispatch, &Arc::new(function), &mut source, &self.settings);
        (run, *source.outcome())
    }
}
