//! The search for patterns.

use trueplane_spray::nf::{Dpi, DpiOptions, FunctionName, FunctionOptions};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::packet::tcp_flags::{ACK, SYN};
use trueplane_spray::{Fit, FlowId, Limits, NetworkFunction, Packet, Reason};

use super::hostile::extended;
use super::packets::{TCP, UDP, bytes, packet};
use super::team::{Team, dropped, forwarded};

fn flow(number: u32, protocol: u8) -> FlowId {
    FunctionOptions::default().example_flow(FunctionName::Dpi, number, protocol)
}

fn team(options: &DpiOptions) -> Team<Dpi> {
    Team::new(&Dpi::new(options).unwrap(), 3, Limits::new(64), 11)
}

fn matches(team: &Team<Dpi>) -> u64 {
    team.workers.iter().map(|worker| worker.state().findings().matches).sum()
}

#[test]
fn it_cannot_be_sprayed() {
    assert!(matches!(Dpi::FIT, Fit::WholeFlows(why) if !why.is_empty()));
}

#[test]
fn patterns_are_found_across_packets() {
    // Cut at every place, between packets of another flow.
    let text = b"GET /../../etc/passwd HTTP/1.1";
    for cut in 1..text.len() {
        let mut team = team(&DpiOptions::default());
        let (flow, other) = (flow(1, TCP), flow(2, TCP));
        let core = team.hashed(&flow);
        let first = team.pass(core, packet(&flow, ACK, &text[..cut]));
        let second_of_other = team.pass(core, packet(&other, ACK, &text[cut..]));
        let second = team.pass(core, packet(&flow, ACK, &text[cut..]));
        assert!(forwarded(&first) || cut >= 21, "{cut}");
        assert_eq!(dropped(&second), Some(Reason::Refused), "{cut}");
        assert_eq!(forwarded(&second_of_other), cut > 10, "{cut}");
        // The rest of the flow goes nowhere; a new connection does.
        assert_eq!(dropped(&team.pass(core, packet(&flow, ACK, b"more"))), Some(Reason::Refused));
        assert!(forwarded(&team.pass(core, packet(&flow, SYN, &[]))));
        assert!(forwarded(&team.pass(core, packet(&flow, ACK, b"more"))));
        team.counts();
    }
}

#[test]
fn extension_headers_do_not_hide_patterns() {
    let mut team = team(&DpiOptions::default());
    let end = |last: u16| (std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last).into(), 80);
    let text = bytes(&FlowId::new(TCP, end(1), end(2)), ACK, b"GET /etc/passwd");
    for (count, reason) in [(8, Reason::Refused), (9, Reason::Unfit)] {
        let hidden = Packet::new(extended(&text, &vec![60; count], [0, 0]), Link::Ip);
        assert_eq!(dropped(&team.pass(0, hidden)), Some(reason), "{count}");
    }
}

#[test]
fn datagrams_are_searched_one_by_one_and_findings_counted() {
    let options = DpiOptions {
        patterns: vec![b"abc".to_vec(), b"bc".to_vec()],
        refuse: false,
        flows: 1,
        ..DpiOptions::default()
    };
    let mut team = team(&options);
    for payload in [&b"xab"[..], b"cxx", b"abcabc"] {
        assert!(forwarded(&team.pass(0, packet(&flow(1, UDP), 0, payload))));
    }
    assert_eq!(matches(&team), 4);
    // No room for another: its packets are searched by themselves.
    for payload in [&b"ab"[..], b"c", b"bc"] {
        assert!(forwarded(&team.pass(0, packet(&flow(2, TCP), ACK, payload))));
    }
    assert_eq!((matches(&team), team.workers[0].state().findings().unfollowed), (5, 3));
}

#[test]
fn patterns_there_must_be() {
    for patterns in [vec![], vec![b"x".to_vec(), vec![]]] {
        let options = DpiOptions { patterns, ..DpiOptions::default() };
        assert_eq!(
            Dpi::new(&options).unwrap_err().to_string(),
            "dpi: expected one pattern or more, none of them empty"
        );
    }
}
