//! Flows that wait get the same work done under fair queueing, but for a job of each.

use std::collections::HashMap;

use proptest::prelude::*;
use trueplane_surge::policy::queue::TICK;
use trueplane_surge::policy::{Fq, FqExact};
use trueplane_surge::{Packet, Policy};
use trueplane_units::Nanos;

const FLOWS: u64 = 4;

/// Packets of which some come before each service: flow and work.
type Rounds = Vec<Vec<(u64, u64)>>;

fn rounds() -> impl Strategy<Value = Rounds> {
    let work = prop_oneof![Just(1_000_000u64), 1..50_000u64, Just(0u64)];
    prop::collection::vec(prop::collection::vec((0..FLOWS, work), 0..4), 1..80)
}

/// What has been done for every flow, and since when packets of it wait without a break.
#[derive(Clone, Default)]
struct Flow {
    done: u64,
    waiting: u64,
    since: usize,
    longest: u64,
}

/// For any two flows and any two times between which both wait throughout, the work done differs by at most the longest job of each.
fn holds(policy: &mut dyn Policy<u64>, rounds: &Rounds, slack: u64) -> Result<(), TestCaseError> {
    let mut flows: HashMap<u64, Flow> = HashMap::new();
    // After every service, what had been done for each flow.
    let mut history: Vec<Vec<u64>> = vec![vec![0; FLOWS as usize]];
    for arrivals in rounds {
        for &(flow, work) in arrivals {
            policy.arrive(Packet { flow, bits: 512, work: Nanos(work) }, 0, Nanos(0)).expect("there is room");
            let flow = flows.entry(flow).or_default();
            if flow.waiting == 0 {
                flow.since = history.len() - 1;
            }
            (flow.waiting, flow.longest) = (flow.waiting + 1, flow.longest.max(work));
        }
        let Some((packet, _)) = policy.serve(Nanos(0)) else { continue };
        let served = flows.get_mut(&packet.flow).expect("it has come");
        (served.waiting, served.done) = (served.waiting - 1, served.done + packet.work.0);
        let done = |flow: u64| flows.get(&flow).map_or(0, |flow| flow.done);
        history.push((0..FLOWS).map(done).collect());
        for (a, first) in &flows {
            for (b, second) in flows.iter().filter(|(b, _)| a < *b) {
                if first.waiting == 0 || second.waiting == 0 {
                    continue;
                }
                for then in &history[first.since.max(second.since)..] {
                    let did = |number: &u64, flow: &Flow| flow.done - then[*number as usize];
                    let apart = did(a, first).abs_diff(did(b, second));
                    let most = first.longest + second.longest + slack;
                    prop_assert!(apart <= most, "flows {a} and {b}: {apart} ns apart, at most {most}");
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn flows_that_wait_are_at_most_a_job_of_each_apart(rounds in rounds()) {
        holds(&mut FqExact::new(1_000).expect("a shape"), &rounds, 0)?;
        holds(&mut Fq::new(1_000).expect("a shape"), &rounds, 2 << TICK)?;
    }
}

/// Two flows that always wait, of which one asks for 0.9 of the server and the other for 0.7: half for each.
#[test]
fn who_asks_for_more_gets_no_more() {
    let job = 1_000;
    let mut arrivals: Vec<(u64, u64)> = (0..9_000).map(|number| (number * 10 * job / 9, 1)).collect();
    arrivals.extend((0..7_000).map(|number| (number * 10 * job / 7, 2)));
    arrivals.sort_unstable();
    let (mut fq, mut served, mut arrivals) =
        (Fq::new(16_000).expect("a shape"), [0u64; 2], arrivals.into_iter().peekable());
    // As long as users come, and the server is always busy.
    for now in (0..10_000).map(|number| Nanos(number * job)) {
        while let Some((_, flow)) = arrivals.next_if(|&(at, _)| at <= now.0) {
            let packet = Packet { flow, bits: 1_000, work: Nanos(job) };
            fq.arrive(packet, 0, now).expect("there is room");
        }
        let (packet, _) = fq.serve(now).expect("something waits");
        served[packet.flow as usize - 1] += 1;
    }
    assert!(served[0].abs_diff(served[1]) <= 10, "{served:?}");
}
