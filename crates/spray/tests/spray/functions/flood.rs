//! Floods of SYNs: memory stays as it was, and established connections go on.

use trueplane_spray::nf::{Firewall, FunctionName, FunctionOptions, Nat, NatOptions, Synthetic};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::packet::tcp_flags::{ACK, SYN};
use trueplane_spray::{FlowId, Limits, NetworkFunction, Packet};

use super::packets::{TCP, bytes, packet};
use super::team::{Team, forwarded};

/// Sources of the flood.
const SOURCES: u32 = 2_000_000;

/// Establishes connections, floods, and looks whether they go on meanwhile and after.
fn survives<N: NetworkFunction + Clone>(function: &N, flow: impl Fn(u32) -> FlowId) -> Team<N> {
    let mut team = Team::new(function, 2, Limits::new(4096), 13);
    let memory =
        |team: &Team<N>| team.workers.iter().map(|worker| worker.writer().table().bytes()).sum::<usize>();
    let before = memory(&team);
    let established: Vec<(FlowId, FlowId)> = (0..200)
        .map(|number| {
            let flow = flow(u32::MAX - number);
            let left = team.pass_anywhere(packet(&flow, SYN, &[]));
            let answer = left.flow().unwrap().reversed();
            assert!(forwarded(&team.pass_anywhere(packet(&answer, SYN | ACK, &[]))));
            assert!(forwarded(&team.pass_anywhere(packet(&flow, ACK, &[]))));
            (flow, answer)
        })
        .collect();
    for source in 0..SOURCES {
        let syn = Packet::new(bytes(&flow(source), SYN, &[]), Link::Ip);
        team.arrive(source as usize % 2, vec![syn]);
        if source % 20_000 == 0 {
            team.settle();
            for (flow, answer) in &established {
                assert!(forwarded(&team.pass_anywhere(packet(flow, ACK, b"data"))), "after {source}");
                assert!(forwarded(&team.pass_anywhere(packet(answer, ACK, b"data"))), "after {source}");
            }
        }
    }
    team.settle();
    assert_eq!(memory(&team), before);
    for worker in &team.workers {
        assert!(worker.writer().len() <= 4096);
    }
    // A newcomer is still served.
    let late = flow(u32::MAX - 1000);
    assert!(forwarded(&team.pass_anywhere(packet(&late, SYN, &[]))));
    assert!(forwarded(&team.pass_anywhere(packet(&late, ACK, &[]))));
    team.counts();
    team
}

fn example(name: FunctionName) -> impl Fn(u32) -> FlowId {
    let options = FunctionOptions::default();
    move |number| options.example_flow(name, number, TCP)
}

#[test]
fn entries_of_a_connection() {
    survives(&Synthetic, example(FunctionName::Synthetic));
    survives(&Firewall::default(), example(FunctionName::Firewall));
}

#[test]
fn ports_of_a_translator() {
    let nat = Nat::new(&NatOptions::default()).unwrap();
    let team = survives(&nat, example(FunctionName::Nat));
    let taken: usize = team.workers.iter().map(|worker| worker.state().taken()).sum();
    assert_eq!(2 * taken, team.flows());
}
