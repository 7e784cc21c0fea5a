//! The examples of `docs/concepts/spray.md` and `docs/findings/spray.md`, worked by hand there and by the code here.

use etherparse::PacketBuilder;
use trueplane_spray::dispatch::{Arrival, Dispatch, Rss, Spray};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::steering::{bucket, folded};
use trueplane_spray::{FlowId, Packet, Steering};
use trueplane_testing::page;
use trueplane_units::Nanos;

/// Slots of work for a packet, and of the way to another core.
const WORK: u64 = 4;
const WAY: u64 = 1;

/// A segment from 10.0.0.1:1000 to 192.0.2.1:80 whose checksum ends with this bit.
fn segment(syn: bool, bit: u16) -> Packet {
    let with = |filler: u8| {
        let step = PacketBuilder::ipv4([10, 0, 0, 1], [192, 0, 2, 1], 64).tcp(1000, 80, 0, 1024);
        let step = if syn { step.syn() } else { step.ack(1) };
        let mut bytes = Vec::new();
        step.write(&mut bytes, &[0, filler]).unwrap();
        Packet::new(bytes, Link::Ip)
    };
    (0..2).map(with).find(|packet| packet.tcp_checksum().unwrap() % 2 == bit).unwrap()
}

#[test]
fn seven_packets_on_two_cores() {
    let steering = Steering::new(2);
    let mut free = [[0u64; 2]; 2];
    for row in page::rows("spray", "seven packets of one connection") {
        let [name, arrives, bit, hashed, sprayed] = &row[..] else { panic!("{row:?}") };
        let arrives: u64 = arrives.parse().unwrap();
        let packet = segment(name == "SYN", bit.parse().unwrap());
        let arrival = Arrival::of(&packet);
        let mut leaves = |way: usize, dispatch: &mut dyn Dispatch| {
            let at = dispatch.core(&arrival, Nanos(0));
            let designated = steering.designated(packet.flow().unwrap());
            let core = if packet.is_connection() { designated } else { at };
            let there = arrives + if core == at { 0 } else { WAY };
            let end = there.max(free[way][core]) + WORK;
            free[way][core] = end;
            let moved = if core == at { String::new() } else { format!("{at}, then ") };
            format!("{moved}{core}: {end}")
        };
        assert_eq!(leaves(0, &mut Rss::symmetric(2)), *hashed, "{name}");
        assert_eq!(leaves(1, &mut Spray::new(2)), *sprayed, "{name}");
    }
}

#[test]
fn the_answer_comes_back_to_the_same_core() {
    let (inside, server, public) = ([10, 0, 0, 1].into(), [192, 0, 2, 1].into(), [203, 0, 113, 1].into());
    let steering = Steering::new(2);
    for row in page::rows("spray", "a port whose answers come back") {
        let [flow, sum, line, core] = &row[..] else { panic!("{row:?}") };
        let ends = |text: &str| match text {
            "10.0.0.1:1000 > 192.0.2.1:80" => FlowId::new(6, (inside, 1000), (server, 80)),
            "192.0.2.1:80 > 203.0.113.1:1024" => FlowId::new(6, (server, 80), (public, 1024)),
            "192.0.2.1:80 > 203.0.113.1:1025" => FlowId::new(6, (server, 80), (public, 1025)),
            other => panic!("{other}"),
        };
        let flow = ends(flow);
        assert_eq!(format!("{:#06x}", folded(&flow)), *sum);
        assert_eq!(bucket(&flow).to_string(), *line);
        assert_eq!(steering.designated(&flow).to_string(), *core);
    }
}
