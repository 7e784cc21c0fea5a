//! The translator of addresses.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr};

use proptest::prelude::*;
use trueplane_spray::nf::{Nat, NatOptions, PortRange};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::packet::tcp_flags::{ACK, FIN, RST, SYN};
use trueplane_spray::{FlowId, Limits, Packet, Reason};
use trueplane_units::Nanos;

use super::packets::{ICMP, TCP, UDP, checksums_are_right, error_about, packet, quotation};
use super::team::{Team, dropped, forwarded};

const SECOND: u64 = 1_000_000_000;
const ROUTER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 99));

fn outward(protocol: u8, client: u8, port: u16, server: u8) -> FlowId {
    let to = if protocol == ICMP { 0 } else { 443 };
    FlowId::new(protocol, ([10, 0, 0, client].into(), port), ([198, 51, 100, server].into(), to))
}

fn nat(public: &[&str], ports: &str) -> Nat {
    let public = public.iter().map(|text| text.parse().unwrap()).collect();
    Nat::new(&NatOptions { public, ports: ports.parse().unwrap(), ..NatOptions::default() }).unwrap()
}

fn taken(team: &Team<Nat>) -> usize {
    team.workers.iter().map(|worker| worker.state().taken()).sum()
}

/// Opens a connection; what leaves.
fn open(team: &mut Team<Nat>, flow: &FlowId, payload: &[u8]) -> Packet {
    team.pass_anywhere(packet(flow, SYN, payload))
}

fn without_udp_checksum(mut bytes: Vec<u8>) -> Packet {
    bytes[26..28].copy_from_slice(&[0, 0]);
    Packet::new(bytes, Link::Ip)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_directions_of_everything(
        cores in 1usize..=16,
        seed: u64,
        connections in prop::collection::hash_set((0u8..3, any::<u8>(), 1u16.., 0u8..4), 1..40),
        payload in prop::collection::vec(any::<u8>(), 0..60),
        no_checksum: bool,
    ) {
        let nat = nat(&["203.0.113.1/32", "203.0.113.8/31"], "1024-65535");
        let mut team = Team::new(&nat, cores, Limits::new(256), seed);
        let mut public = HashSet::new();
        for (protocol, client, port, server) in connections {
            let flow = outward([TCP, UDP, ICMP][usize::from(protocol)], client, port, server);
            let sent = if flow.protocol() == UDP && no_checksum {
                without_udp_checksum(super::packets::bytes(&flow, 0, &payload))
            } else {
                packet(&flow, SYN, &payload)
            };
            let left = team.pass_anywhere(sent.clone());
            prop_assert!(forwarded(&left), "{:?}", left);
            let seen = *left.flow().unwrap();
            let address = seen.source();
            prop_assert!(["203.0.113.1", "203.0.113.8", "203.0.113.9"].contains(&address.to_string().as_str()));
            prop_assert!(seen.source_port() >= 1024);
            prop_assert_eq!((seen.destination(), seen.destination_port()), (flow.destination(), flow.destination_port()));
            prop_assert_eq!((left.payload(), checksums_are_right(&left)), (&payload[..], true));
            prop_assert_eq!(team.hashed(&seen), team.hashed(&flow));
            prop_assert!(public.insert(seen), "{} twice", seen);

            let answer = team.pass_anywhere(packet(&seen.reversed(), SYN | ACK, &payload));
            prop_assert!(forwarded(&answer) && checksums_are_right(&answer));
            prop_assert_eq!((answer.flow(), answer.payload()), (Some(&flow.reversed()), &payload[..]));
            let again = team.pass_anywhere(packet(&flow, ACK, &payload));
            prop_assert_eq!((again.flow(), checksums_are_right(&again)), (Some(&seen), true));

            // Errors about what left, cut where routers cut them: what they quote is what was sent.
            for length in [28, 40, usize::MAX] {
                let error = team.pass_anywhere(error_about(ROUTER, &left, length));
                prop_assert!(forwarded(&error) && checksums_are_right(&error), "{:?} {}", error, length);
                prop_assert_eq!(error.flow(), Some(&flow.reversed()));
                prop_assert_eq!(quotation(&error), &sent.bytes()[..length.min(sent.bytes().len())]);
            }
            // And about what came, from inside.
            let error = team.pass_anywhere(error_about(flow.source(), &answer, 28));
            prop_assert!(forwarded(&error) && checksums_are_right(&error));
            prop_assert_eq!(error.flow(), Some(&seen));
        }
        prop_assert_eq!(taken(&team), public.len());
        prop_assert_eq!(team.flows(), 2 * public.len());
        team.counts();
        team.wait(Nanos(7600 * SECOND));
        prop_assert_eq!((team.flows(), taken(&team)), (0, 0));
    }

    #[test]
    fn ports_come_back_whatever_happens(
        cores in 1usize..=8,
        seed: u64,
        steps in prop::collection::vec((0u8..7, 0u8..40, 0u8..3, 0u64..400), 1..300),
    ) {
        // Few places and few ports, so that flows displace each other and both run out.
        let nat = nat(&["203.0.113.1/32"], "1024-1055");
        let limits = Limits { unconfirmed: 6, ..Limits::new(12) };
        let mut team = Team::new(&nat, cores, limits, seed);
        for (kind, client, server, seconds) in steps {
            let protocol = if client % 4 == 0 { UDP } else { TCP };
            let flow = outward(protocol, client, 5000, server);
            let flags = [SYN, SYN, ACK, ACK, FIN | ACK, RST, SYN][usize::from(kind)];
            let left = team.pass_anywhere(packet(&flow, flags, &[]));
            if kind % 2 == 1 && forwarded(&left) {
                let back = packet(&left.flow().unwrap().reversed(), flags | ACK, &[]);
                prop_assert!(forwarded(&team.pass_anywhere(back)));
            }
            if kind == 6 {
                team.wait(Nanos(seconds * SECOND));
            }
            // Two entries and one port for each connection, always.
            prop_assert_eq!(team.flows(), 2 * taken(&team));
            let answers: HashSet<FlowId> = team.workers.iter().flat_map(|worker| {
                worker.writer().table().flows().filter(|flow| !flow.2.outward).map(|flow| flow.0).collect::<Vec<_>>()
            }).collect();
            prop_assert_eq!(answers.len(), taken(&team));
        }
        team.counts();
        team.wait(Nanos(8000 * SECOND));
        prop_assert_eq!((team.flows(), taken(&team)), (0, 0));
    }
}

#[test]
fn ports_run_out_and_are_all_used_before() {
    for cores in [1, 3, 8] {
        let mut team = Team::new(&nat(&["203.0.113.1/32"], "2000-2127"), cores, Limits::new(4096), 1);
        let mut seen = HashSet::new();
        let mut refused = 0;
        for port in 1..=2000 {
            let left = open(&mut team, &outward(TCP, 1, port, 1), &[]);
            match dropped(&left) {
                None => assert!(seen.insert(left.flow().unwrap().source_port())),
                Some(reason) => {
                    assert_eq!(reason, Reason::NoPort);
                    refused += 1;
                }
            }
        }
        assert_eq!((seen.len(), refused), (128, 2000 - 128), "{cores} cores");
        // To another server, the hash permitting, they can be used again.
        let to_another =
            (1..=2000).filter(|&port| forwarded(&open(&mut team, &outward(TCP, 1, port, 2), &[])));
        assert_eq!(to_another.count(), 128);
        team.counts();
    }
}

#[test]
fn an_inside_address_keeps_its_public_one() {
    let mut team = Team::new(&nat(&["203.0.113.0/29"], "1024-65535"), 4, Limits::new(4096), 1);
    let mut public: Vec<HashSet<IpAddr>> = vec![HashSet::new(); 64];
    for port in 1..=20 {
        for client in 0..64 {
            let left = open(&mut team, &outward(TCP, client, port, client % 7), &[]);
            public[usize::from(client)].insert(left.flow().unwrap().source());
        }
    }
    assert!(public.iter().all(|addresses| addresses.len() == 1));
    assert!(public.iter().flatten().collect::<HashSet<_>>().len() == 8);
}

#[test]
fn what_comes_from_outside_unasked_is_dropped() {
    let mut team = Team::new(&nat(&["203.0.113.1/32"], "1024-65535"), 2, Limits::new(64), 1);
    let left = open(&mut team, &outward(TCP, 1, 5000, 1), &[]);
    let answer = left.flow().unwrap().reversed();
    let stranger = answer.with_source([198, 51, 100, 77].into(), 443);
    for flags in [SYN, SYN | ACK, ACK, FIN | ACK, RST] {
        assert_eq!(dropped(&team.pass_anywhere(packet(&stranger, flags, &[]))), Some(Reason::NoFlow));
    }
    // Straight to the inside, inside to inside, and back in through the public address.
    let straight = FlowId::new(TCP, ([198, 51, 100, 1].into(), 443), ([10, 0, 0, 1].into(), 5000));
    assert_eq!(dropped(&team.pass_anywhere(packet(&straight, ACK, &[]))), Some(Reason::NoFlow));
    let within = FlowId::new(UDP, ([10, 0, 0, 1].into(), 1), ([10, 0, 0, 2].into(), 2));
    assert_eq!(dropped(&team.pass_anywhere(packet(&within, 0, &[]))), Some(Reason::Refused));
    let hairpin = within.with_destination([203, 0, 113, 1].into(), 2000);
    assert_eq!(dropped(&team.pass_anywhere(packet(&hairpin, 0, &[]))), Some(Reason::Refused));
    let error = error_about(ROUTER, &packet(&stranger.reversed(), ACK, &[]), 40);
    assert_eq!(dropped(&team.pass_anywhere(error)), Some(Reason::NoFlow));
    team.counts();
}

#[test]
fn a_syn_again_keeps_the_port_and_uses_that_of_a_closing_connection() {
    let mut team = Team::new(&nat(&["203.0.113.1/32"], "1024-65535"), 4, Limits::new(64), 1);
    let flow = outward(TCP, 1, 5000, 1);
    let first = *open(&mut team, &flow, &[]).flow().unwrap();
    assert_eq!(open(&mut team, &flow, &[]).flow(), Some(&first));
    team.pass_anywhere(packet(&first.reversed(), SYN | ACK, &[]));
    team.pass_anywhere(packet(&flow, ACK, &[]));
    team.pass_anywhere(packet(&flow, FIN | ACK, &[]));
    team.pass_anywhere(packet(&first.reversed(), FIN | ACK, &[]));
    // Closing: stragglers pass, and another SYN begins it again.
    assert!(forwarded(&team.pass_anywhere(packet(&flow, ACK, &[]))));
    assert_eq!(open(&mut team, &flow, &[]).flow(), Some(&first));
    assert_eq!((team.flows(), taken(&team)), (2, 1));
    // Nobody answers: it is half open again, and over after four minutes.
    team.wait(Nanos(242 * SECOND));
    assert_eq!((team.flows(), taken(&team)), (0, 0));
}

#[test]
fn timeouts_are_those_of_the_phase() {
    let mut team = Team::new(&nat(&["203.0.113.1/32"], "1024-65535"), 4, Limits::new(64), 1);
    let flow = outward(TCP, 1, 5000, 1);
    let left = *open(&mut team, &flow, &[]).flow().unwrap();
    team.pass_anywhere(packet(&left.reversed(), SYN | ACK, &[]));
    team.pass_anywhere(packet(&flow, ACK, &[]));
    // An established connection rests for two hours; one direction alone keeps it.
    team.wait(Nanos(7000 * SECOND));
    assert_eq!(taken(&team), 1);
    team.pass_anywhere(packet(&left.reversed(), ACK, &[]));
    team.wait(Nanos(7000 * SECOND));
    assert_eq!((team.flows(), taken(&team)), (2, 1));
    // An error is no sign of life, and a reset leaves four minutes.
    let late = packet(&left, ACK, &[]);
    team.pass_anywhere(error_about(ROUTER, &late, 28));
    team.pass_anywhere(packet(&left.reversed(), RST, &[]));
    team.wait(Nanos(242 * SECOND));
    assert_eq!((team.flows(), taken(&team)), (0, 0));
}

#[test]
fn what_cannot_work_is_refused_in_one_line() {
    let ports = PortRange { first: 1024, last: 65535 };
    let with = |public: &[&str], inside: &[&str]| {
        let parse = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
        Nat::new(&NatOptions { public: parse(public), inside: parse(inside), ports, seed: 1 })
            .unwrap_err()
            .to_string()
    };
    assert_eq!(with(&[], &["10.0.0.0/8"]), "nat: expected 1 to 1024 public addresses, got 0");
    assert_eq!(with(&["0.0.0.0/0"], &[]), "nat: expected 1 to 1024 public addresses, got 4294967296");
    assert_eq!(with(&["203.0.113.1/32"], &[]), "nat: expected a prefix inside, got none");
    assert_eq!(
        with(&["10.1.0.0/30"], &["10.0.0.0/8"]),
        "nat: expected public addresses outside of the prefixes inside, got 10.1.0.0"
    );
    for (first, last, got) in [(0, 0, "0"), (0, 65535, "0-65535"), (5, 4, "5-4")] {
        let options = NatOptions { ports: PortRange { first, last }, ..NatOptions::default() };
        assert_eq!(
            Nat::new(&options).unwrap_err().to_string(),
            format!("nat: expected ports from 1 on, the first not after the last, got {got}")
        );
    }
    let one = NatOptions { ports: PortRange { first: 1, last: 1 }, ..NatOptions::default() };
    assert!(Nat::new(&one).is_ok());
}
