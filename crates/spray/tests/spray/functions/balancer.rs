//! The load balancer.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use trueplane_spray::nf::{Backend, Balancer, BalancerOptions, FunctionName, FunctionOptions};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::packet::tcp_flags::{ACK, FIN, RST, SYN};
use trueplane_spray::{FlowId, Limits, Packet, Reason};
use trueplane_units::Nanos;

use super::hostile::{extended, framed};
use super::packets::{ICMP, TCP, UDP, bytes, checksums_are_right, error_about, packet};
use super::team::{Team, dropped, forwarded};

fn options(v6: bool) -> BalancerOptions {
    let address =
        |v4: &str, v6_: &str| if v6 { v6_.parse().unwrap() } else { v4.parse::<SocketAddr>().unwrap() };
    BalancerOptions {
        service: address("198.51.100.1:80", "[2001:db8::1]:80"),
        backends: (1..=4)
            .map(|last| Backend {
                address: address(&format!("10.0.0.{last}:8080"), &format!("[fd00::{last}]:8080")),
                weight: 1,
                up: true,
            })
            .collect(),
        ..BalancerOptions::default()
    }
}

fn client(options: &BalancerOptions, number: u32, protocol: u8) -> FlowId {
    let all = FunctionOptions { balancer: options.clone(), ..FunctionOptions::default() };
    all.example_flow(FunctionName::Balancer, number.wrapping_mul(0x9e37_79b9), protocol)
}

fn new(options: &BalancerOptions) -> (Balancer, Team<Balancer>) {
    let balancer = Balancer::new(options).unwrap();
    let team = Team::new(&balancer, 5, Limits::new(4096), 5);
    (balancer, team)
}

#[test]
fn clients_reach_a_backend_and_see_the_service() {
    for (v6, protocol) in [(false, TCP), (false, UDP), (true, TCP), (true, UDP)] {
        let options = options(v6);
        let (balancer, mut team) = new(&options);
        let mut shares: HashMap<IpAddr, u32> = HashMap::new();
        for number in 0..400 {
            let flow = client(&options, number, protocol);
            let first = team.pass_anywhere(packet(&flow, SYN, b"odd"));
            assert!(forwarded(&first) && checksums_are_right(&first));
            let inside = *first.flow().unwrap();
            assert_eq!((inside.source(), inside.source_port()), (flow.source(), flow.source_port()));
            let backend = SocketAddr::new(inside.destination(), inside.destination_port());
            assert_eq!(balancer.choose(&flow).unwrap().address, backend);
            *shares.entry(backend.ip()).or_default() += 1;
            let answer = team.pass_anywhere(packet(&inside.reversed(), SYN | ACK, b"data!"));
            assert!(forwarded(&answer) && checksums_are_right(&answer));
            assert_eq!(answer.flow(), Some(&flow.reversed()));
            let second = team.pass_anywhere(packet(&flow, ACK, b"odd"));
            assert_eq!(second.flow(), Some(&inside));
            // Errors in both directions.
            let router: IpAddr = if v6 { "2001:db8::99" } else { "192.0.2.99" }.parse().unwrap();
            let about_answer = team.pass_anywhere(error_about(router, &answer, 48));
            assert_eq!((about_answer.flow(), checksums_are_right(&about_answer)), (Some(&inside), true));
            let about_request = team.pass_anywhere(error_about(inside.destination(), &second, 48));
            assert_eq!(about_request.flow(), Some(&flow.reversed()));
            assert!(checksums_are_right(&about_request));
        }
        assert!(shares.len() == 4 && shares.values().all(|&share| (60..=140).contains(&share)), "{shares:?}");
        assert_eq!(team.flows(), 400, "one entry for each connection");
        team.counts();
    }
}

#[test]
fn flows_stay_where_they_are_while_that_is_up() {
    let options = options(false);
    let (balancer, mut team) = new(&options);
    let flows: Vec<_> =
        (0..400).map(|number| client(&options, number, [TCP, UDP][number as usize % 2])).collect();
    let reach = |team: &mut Team<Balancer>, flow: &FlowId, flags| {
        let left = team.pass_anywhere(packet(flow, flags, &[]));
        if forwarded(&left) { Ok(left.flow().unwrap().destination()) } else { Err(dropped(&left).unwrap()) }
    };
    let before: Vec<_> = flows.iter().map(|flow| reach(&mut team, flow, SYN).unwrap()).collect();
    let down = options.backends[1].address;
    let without = balancer.with_health(down, false).unwrap();
    team.reconfigure(&without);
    for (flow, &before) in flows.iter().zip(&before) {
        let after = reach(&mut team, flow, ACK);
        if before != down.ip() {
            assert_eq!(after, Ok(before), "{flow} stays");
            continue;
        }
        match flow.protocol() {
            UDP => assert!(after.is_ok_and(|backend| backend != down.ip())),
            _ => {
                assert_eq!(after, Err(Reason::NoBackend));
                assert!(reach(&mut team, flow, SYN).is_ok_and(|backend| backend != down.ip()));
                assert!(reach(&mut team, flow, ACK).is_ok_and(|backend| backend != down.ip()));
            }
        }
        // What the old backend still sends is not the service's any more.
        let late =
            FlowId::new(flow.protocol(), (down.ip(), down.port()), (flow.source(), flow.source_port()));
        assert_eq!(dropped(&team.pass_anywhere(packet(&late, ACK, &[]))), Some(Reason::NoFlow));
    }
    // Up again: who went away stays away.
    team.reconfigure(&without.with_health(down, true).unwrap());
    for (flow, &before) in flows.iter().zip(&before) {
        let after = reach(&mut team, flow, ACK).unwrap();
        assert_eq!(after == before, before != down.ip());
    }
    let nobody = options
        .backends
        .iter()
        .fold(balancer, |balancer, backend| balancer.with_health(backend.address, false).unwrap());
    team.reconfigure(&nobody);
    assert_eq!(reach(&mut team, &flows[0], SYN), Err(Reason::NoBackend));
    assert_eq!(reach(&mut team, &flows[1], 0), Err(Reason::NoBackend));
    team.counts();
}

#[test]
fn what_is_not_of_the_service_passes_by() {
    let options = options(false);
    let (_, mut team) = new(&options);
    let flow = client(&options, 1, TCP);
    let service = options.service.ip();
    assert_eq!(dropped(&team.pass_anywhere(packet(&flow, ACK, &[]))), Some(Reason::NoFlow));
    let other_port = flow.with_destination(service, 81);
    assert_eq!(dropped(&team.pass_anywhere(packet(&other_port, SYN, &[]))), Some(Reason::Refused));
    let ping = FlowId::new(ICMP, (flow.source(), 9), (service, 0));
    assert_eq!(dropped(&team.pass_anywhere(packet(&ping, 0, &[]))), Some(Reason::Refused));
    let from_backend = flow.with_destination([10, 0, 0, 1].into(), 8080).reversed();
    assert_eq!(dropped(&team.pass_anywhere(packet(&from_backend, ACK, &[]))), Some(Reason::NoFlow));
    for by in
        [flow.with_destination([192, 0, 2, 7].into(), 80), from_backend.with_source([10, 0, 0, 1].into(), 22)]
    {
        let sent = packet(&by, SYN, b"x");
        let left = team.pass_anywhere(sent.clone());
        assert!(forwarded(&left) && left.bytes() == sent.bytes());
    }
    for (flow, fragment) in [(flow, true), (flow.with_destination([192, 0, 2, 7].into(), 80), false)] {
        let mut bytes = bytes(&flow, SYN, &[0; 16]);
        bytes[6] = 0x20;
        let left = team.pass_anywhere(Packet::new(bytes, Link::Ip));
        assert_eq!(dropped(&left), fragment.then_some(Reason::Fragment));
    }
    assert_eq!(team.flows(), 0);
}

#[test]
fn what_is_no_ip_passes_by() {
    let options = options(false);
    let (_, mut team) = new(&options);
    // LLDP, STP (a length in place of a type), ARP, PPPoE.
    for kind in [[0x88, 0xcc], [0x00, 0x26], [0x08, 0x06], [0x88, 0x64]] {
        for tags in [0, 2] {
            let mut frame = framed(&[7; 60], tags);
            frame[12 + 4 * tags..14 + 4 * tags].copy_from_slice(&kind);
            let left = team.pass_anywhere(Packet::new(frame.clone(), Link::Ethernet));
            assert!(forwarded(&left) && left.bytes() == frame, "{kind:?}");
        }
    }
    // What says that it is IP and is none.
    let broken = bytes(&client(&options, 1, TCP), SYN, &[])[..19].to_vec();
    let frame = Packet::new(framed(&broken, 1), Link::Ethernet);
    assert_eq!(dropped(&team.pass_anywhere(frame)), Some(Reason::Unfit));
    assert_eq!(dropped(&team.pass_anywhere(Packet::new(broken, Link::Ip))), Some(Reason::Unfit));
    team.counts();
}

#[test]
fn what_cannot_be_told_to_be_of_the_service_does_not_leave_a_backend() {
    for (v6, protocol) in [(false, TCP), (false, UDP), (true, TCP), (true, UDP)] {
        let options = options(v6);
        let (_, mut team) = new(&options);
        let flow = client(&options, 1, protocol);
        let backend = flow.with_destination(options.backends[0].address.ip(), 8080).reversed();
        let (service, by) = (flow, flow.with_destination(flow.source(), 80));
        for (flow, reason) in [(backend, Some(Reason::Unfit)), (service, Some(Reason::Unfit)), (by, None)] {
            let whole = bytes(&flow, ACK, &[]);
            // The transport header ends after six bytes.
            let cut = whole[..if v6 { 46 } else { 26 }].to_vec();
            let left = team.pass_anywhere(Packet::new(cut, Link::Ip));
            assert_eq!(dropped(&left), reason, "{flow}");
            if v6 {
                let left = team.pass_anywhere(Packet::new(extended(&whole, &[60; 9], [0, 0]), Link::Ip));
                assert_eq!(dropped(&left), reason, "{flow}");
            }
        }
        assert_eq!(team.flows(), 0);
        team.counts();
    }
}

#[test]
fn a_connection_ends_with_its_client() {
    let options = options(false);
    let (_, mut team) = new(&options);
    for (number, end) in [(1, FIN | ACK), (2, RST)] {
        let flow = client(&options, number, TCP);
        for flags in [SYN, ACK, end, ACK] {
            assert!(forwarded(&team.pass_anywhere(packet(&flow, flags, &[]))));
        }
    }
    team.wait(Nanos(242_000_000_000));
    assert_eq!(team.flows(), 0);
}

#[test]
fn what_cannot_work_is_refused_in_one_line() {
    let with = |change: fn(&mut BalancerOptions)| {
        let mut options = options(false);
        change(&mut options);
        Balancer::new(&options).unwrap_err().to_string()
    };
    assert_eq!(with(|o| o.backends.clear()), "balancer: expected 1 to 65535 backends, got 0");
    assert_eq!(
        with(|o| o.rows = 65536),
        "balancer: expected a prime of 4 to 16777216 as the table's size, got 65536"
    );
    assert_eq!(
        with(|o| o.backends[1] = o.backends[0]),
        "balancer: expected each backend once, got 10.0.0.1:8080 twice"
    );
    assert_eq!(
        with(|o| o.backends[0].address = "[::1]:80".parse().unwrap()),
        "balancer: expected backends of the service's family but itself, got [::1]:80"
    );
    let nobody = Balancer::new(&options(false)).unwrap().with_health("10.9.9.9:1".parse().unwrap(), true);
    assert_eq!(nobody.unwrap_err().to_string(), "balancer: expected one of the backends, got 10.9.9.9:1");
    let backends = Backend::parse_file("b", "10.0.0.1 # first\n\n10.0.0.2:81 3\n", 80).unwrap();
    let read: Vec<_> = backends.iter().map(|backend| (backend.address.to_string(), backend.weight)).collect();
    assert_eq!(read, [("10.0.0.1:80".to_owned(), 1), ("10.0.0.2:81".to_owned(), 3)]);
    assert_eq!(
        Backend::parse_file("b", "10.0.0.1\nweb 2\n", 80).unwrap_err().to_string(),
        "b:2: expected a backend such as 10.0.0.11:80, with a weight after a space, got \"web 2\""
    );
}
