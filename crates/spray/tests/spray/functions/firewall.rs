//! The firewall.

use std::net::{IpAddr, SocketAddr};

use trueplane_spray::nf::{Firewall, Rules};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::packet::tcp_flags::{ACK, FIN, RST, SYN};
use trueplane_spray::{FlowId, Limits, Packet, Reason};
use trueplane_units::Nanos;

use super::hostile::extended;
use super::packets::{ICMP, ICMPV6, TCP, UDP, bytes, error_about, packet};
use super::team::{Team, dropped, forwarded};

fn flow(protocol: u8, from: &str, to: &str) -> FlowId {
    let end = |text: &str| {
        let address: SocketAddr = text.parse().unwrap();
        (address.ip(), address.port())
    };
    FlowId::new(protocol, end(from), end(to))
}

fn team(rules: &str) -> Team<Firewall> {
    Team::new(&firewall(rules), 4, Limits::new(256), 3)
}

fn firewall(rules: &str) -> Firewall {
    Firewall::new(Rules::parse("rules", rules).unwrap())
}

#[test]
fn what_is_allowed_opens_both_directions() {
    for (from, to, router, any) in [
        ("10.0.0.1:5000", "192.0.2.1:443", "192.0.2.99", "10.0.0.0/8"),
        ("[2001:db8::1]:5000", "[2001:db8:1::1]:443", "2001:db8:2::1", "2001:db8::/48"),
    ] {
        let mut team = team(&format!("allow tcp from {any} to any\nallow udp from {any} to any\n"));
        let router: IpAddr = router.parse().unwrap();
        let flow_out = flow(TCP, from, to);
        let unasked = [(flow_out.reversed(), SYN), (flow_out, ACK), (flow_out, FIN | ACK), (flow_out, RST)];
        for (flow, flags) in unasked {
            let reason = if flags == SYN { Reason::Refused } else { Reason::NoFlow };
            assert_eq!(dropped(&team.pass_anywhere(packet(&flow, flags, b"x"))), Some(reason), "{flow}");
        }
        assert_eq!(team.flows(), 0);
        let steps =
            [(true, SYN), (false, SYN | ACK), (true, ACK), (false, ACK), (true, FIN | ACK), (false, RST)];
        for (along, flags) in steps {
            let flow = if along { flow_out } else { flow_out.reversed() };
            assert!(forwarded(&team.pass_anywhere(packet(&flow, flags, b"x"))), "{flow} {flags}");
            let error = error_about(router, &packet(&flow, flags, b"x"), 200);
            assert!(forwarded(&team.pass_anywhere(error)));
        }
        let datagrams = flow(UDP, from, to);
        assert_eq!(
            dropped(&team.pass_anywhere(packet(&datagrams.reversed(), 0, b"x"))),
            Some(Reason::Refused)
        );
        assert!(forwarded(&team.pass_anywhere(packet(&datagrams, 0, b"x"))));
        assert!(forwarded(&team.pass_anywhere(packet(&datagrams.reversed(), 0, b"x"))));
        let unknown = packet(&flow(UDP, to, from).with_source(router, 7), 0, b"x");
        assert_eq!(dropped(&team.pass_anywhere(error_about(router, &unknown, 200))), Some(Reason::NoFlow));
        assert_eq!(team.flows(), 2, "one entry for each connection");
        team.counts();
    }
}

#[test]
fn queries_and_protocols_without_ports() {
    let mut team = team("allow icmp from any to any\nallow any from 10.0.0.0/8 to any\n");
    let echo = flow(ICMP, "198.51.100.1:77", "10.0.0.1:0");
    assert_eq!(dropped(&team.pass_anywhere(packet(&echo.reversed(), 0, b"x"))), Some(Reason::NoFlow));
    assert!(forwarded(&team.pass_anywhere(packet(&echo, 0, b"x"))));
    assert!(forwarded(&team.pass_anywhere(packet(&echo.reversed(), 0, b"x"))));
    let echo = flow(ICMPV6, "[2001:db8::1]:77", "[2001:db8::2]:0");
    assert!(forwarded(&team.pass_anywhere(packet(&echo, 0, b"x"))));
    assert!(forwarded(&team.pass_anywhere(packet(&echo.reversed(), 0, b"x"))));
    // GRE from inside, and then back.
    let tunnel = flow(47, "10.0.0.1:0", "198.51.100.1:0");
    assert_eq!(dropped(&team.pass_anywhere(packet(&tunnel.reversed(), 0, b"xxxx"))), Some(Reason::Refused));
    assert!(forwarded(&team.pass_anywhere(packet(&tunnel, 0, b"xxxx"))));
    assert!(forwarded(&team.pass_anywhere(packet(&tunnel.reversed(), 0, b"xxxx"))));
    assert_eq!(team.flows(), 3);
    team.counts();
}

#[test]
fn neighbours_are_found() {
    let mut team = team("default deny");
    let solicitation = |hops: u8| {
        let mut bytes = bytes(&flow(ICMPV6, "[fe80::1]:0", "[ff02::1:ff00:2]:0"), 0, &[0; 16]);
        (bytes[7], bytes[40]) = (hops, 135);
        Packet::new(bytes, Link::Ip)
    };
    assert!(forwarded(&team.pass_anywhere(solicitation(255))));
    assert_eq!(dropped(&team.pass_anywhere(solicitation(254))), Some(Reason::Unfit));
    let mut arp = vec![0; 42];
    arp[12..14].copy_from_slice(&[0x08, 0x06]);
    assert!(forwarded(&team.pass_anywhere(Packet::new(arp.clone(), Link::Ethernet))));
    // Without a link header, these bytes are something else.
    assert_eq!(dropped(&team.pass_anywhere(Packet::new(arp.clone(), Link::Ip))), Some(Reason::Unfit));
    let mut no_ip = bytes(&flow(TCP, "8.6.0.1:1", "192.0.2.1:443"), SYN, &[]);
    (no_ip[0], no_ip[12], no_ip[13]) = (0x75, 0x08, 0x06);
    assert_eq!(dropped(&team.pass_anywhere(Packet::new(no_ip, Link::Ip))), Some(Reason::Unfit));
    // Behind two tags, not behind three.
    for (tags, reason) in [(1, None), (2, None), (3, Some(Reason::Unfit))] {
        arp.splice(12..12, [0x81, 0, 0, 7]);
        let left = team.pass_anywhere(Packet::new(arp.clone(), Link::Ethernet));
        assert_eq!(dropped(&left), reason, "{tags} tags");
    }
    assert_eq!(team.flows(), 0);
}

#[test]
fn extension_headers_hide_nothing_from_the_rules() {
    let mut team = team("deny tcp from any to any\ndefault allow\n");
    let syn = bytes(&flow(TCP, "[2001:db8::1]:5000", "[2001:db8::2]:443"), SYN, &[]);
    let mut pass = |bytes: Vec<u8>| team.pass_anywhere(Packet::new(bytes, Link::Ip));
    let chain = |count: usize, kind: u8| extended(&syn, &vec![kind; count], [0, 0]);
    for count in 0..=8 {
        let bytes = if count == 0 { syn.clone() } else { chain(count, 60) };
        assert_eq!(dropped(&pass(bytes)), Some(Reason::Refused), "{count}");
    }
    for kind in [0, 43, 44, 51, 60] {
        // One too many.
        assert_eq!(dropped(&pass(chain(9, kind))), Some(Reason::Unfit), "{kind}");
        // One that says it is longer than the packet; a fragment header's length is fixed, so that the packet ends in it.
        let mut cut = chain(1, kind);
        cut[41] = 0xff;
        if kind == 44 {
            cut.truncate(44);
            cut[4..6].copy_from_slice(&[0, 4]);
        }
        assert_eq!(dropped(&pass(cut)), Some(Reason::Unfit), "{kind} cut short");
    }
    for kind in [135, 139, 140] {
        assert_eq!(dropped(&pass(chain(1, kind))), Some(Reason::Unfit), "{kind}");
    }
    // Other protocols may pass: SCTP, also behind extension headers, and what is encrypted.
    for kind in [132, 50] {
        let other = bytes(&flow(kind, "[2001:db8::1]:0", "[2001:db8::2]:0"), 0, b"12345678");
        assert!(forwarded(&pass(extended(&other, &[0, 60], [0, 0]))), "{kind}");
    }
    // In IPv4, these numbers are protocols like others.
    assert!(forwarded(&pass(bytes(&flow(51, "10.0.0.1:0", "192.0.2.1:0"), 0, b"12345678"))));
    assert_eq!(team.flows(), 3);
    team.counts();
}

#[test]
fn connections_go_on_when_rules_change() {
    let mut team = team("allow from any to any");
    let (old, new) = (flow(TCP, "10.0.0.1:1", "192.0.2.1:443"), flow(TCP, "10.0.0.1:2", "192.0.2.1:443"));
    for (flow, flags) in [(old, SYN), (old.reversed(), SYN | ACK), (old, ACK)] {
        assert!(forwarded(&team.pass_anywhere(packet(&flow, flags, &[]))));
    }
    team.reconfigure(&firewall("default deny"));
    assert!(forwarded(&team.pass_anywhere(packet(&old.reversed(), ACK, b"data"))));
    assert_eq!(dropped(&team.pass_anywhere(packet(&new, SYN, &[]))), Some(Reason::Refused));
    // Once it is closing, the same ports are a new connection.
    team.pass_anywhere(packet(&old, RST, &[]));
    assert_eq!(dropped(&team.pass_anywhere(packet(&old, SYN, &[]))), Some(Reason::Refused));
    team.wait(Nanos(242_000_000_000));
    assert_eq!(team.flows(), 0);
}
