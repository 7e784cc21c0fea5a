//! However packets are placed on however many cores: every connection gets the same verdicts and the same packets.

use trueplane_spray::nf::{FunctionName, FunctionOptions, Rules, Visit, with_function};
use trueplane_spray::packet::tcp_flags::{ACK, FIN, RST, SYN};
use trueplane_spray::{Fit, FlowId, Limits, NetworkFunction, Verdict};

use super::packets::{ICMP, TCP, UDP, checksums_are_right, packet};
use super::team::{Team, forwarded};

/// How packets come to cores.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Placement {
    Hashed,
    RoundRobin,
    Random,
}

/// A connection: its flow, and what both ends send, one after the other.
struct Script {
    flow: FlowId,
    steps: Vec<(bool, u8)>,
}

fn scripts(name: FunctionName, options: &FunctionOptions) -> Vec<Script> {
    let complete = |end: u8| {
        let mut steps = vec![(true, SYN), (false, SYN | ACK), (true, ACK)];
        steps.extend([(true, ACK), (true, ACK), (false, ACK), (true, ACK), (false, ACK)]);
        steps.extend([(true, end), (false, end), (true, ACK), (true, SYN), (false, SYN | ACK), (true, ACK)]);
        steps
    };
    let kinds = [
        (TCP, complete(FIN | ACK)),
        (TCP, complete(RST)),
        (TCP, vec![(true, ACK), (true, FIN | ACK), (false, SYN | ACK), (true, RST)]),
        (UDP, vec![(true, 0), (false, 0), (true, 0), (true, 0), (false, 0)]),
        (UDP, vec![(false, 0), (true, 0)]),
        (ICMP, vec![(true, 0), (false, 0), (true, 0)]),
    ];
    (0..60)
        .map(|number| {
            let (protocol, steps) = &kinds[number as usize % kinds.len()];
            let flow = options.example_flow(name, number, *protocol);
            let flow = if *protocol == ICMP {
                flow.with_source(flow.source(), 4000 + number as u16).with_destination(flow.destination(), 0)
            } else {
                flow
            };
            Script { flow, steps: steps.clone() }
        })
        .collect()
}

/// What became of the steps of each script: verdict, and the flow as the other end sees it, but for the port that a translator chose.
type Transcript = Vec<Vec<(Verdict, Option<FlowId>)>>;

struct Run<'a> {
    scripts: &'a [Script],
    cores: usize,
    placement: Placement,
    seed: u64,
}

impl Visit for Run<'_> {
    type Output = Option<Transcript>;

    fn visit<N: NetworkFunction + Clone + 'static>(self, function: N) -> Option<Transcript> {
        if matches!(N::FIT, Fit::WholeFlows(_)) && self.placement != Placement::Hashed {
            return None;
        }
        let mut team = Team::new(&function, self.cores, Limits::new(1024), self.seed);
        let mut transcript: Transcript = vec![Vec::new(); self.scripts.len()];
        let mut seen: Vec<Option<FlowId>> = vec![None; self.scripts.len()];
        let mut turn = 0;
        // Connections take steps in an order that the seed shuffles; each sends its next when the last has come to its end.
        let mut open: Vec<usize> = (0..self.scripts.len()).collect();
        while !open.is_empty() {
            let at = team.below(open.len());
            let script = open[at];
            let (along, flags) = self.scripts[script].steps[transcript[script].len()];
            let there = seen[script].unwrap_or(self.scripts[script].flow);
            let flow = if along { self.scripts[script].flow } else { there.reversed() };
            let packet = packet(&flow, flags, b"harmless");
            turn += 1;
            let core = match self.placement {
                Placement::Hashed => team.hashed(packet.flow().unwrap()),
                Placement::RoundRobin => turn % self.cores,
                Placement::Random => team.below(self.cores),
            };
            let left = team.pass(core, packet);
            assert!(checksums_are_right(&left) && left.payload() == b"harmless");
            let mut shown = None;
            if forwarded(&left) {
                let flow = *left.flow().unwrap();
                if along {
                    let before = seen[script].replace(flow);
                    // What a connection is translated to never changes while it lasts.
                    assert!(before.is_none_or(|before| before == flow));
                }
                shown = Some(if along { flow.with_source(flow.source(), 0) } else { flow });
            }
            transcript[script].push((left.verdict(), shown));
            if transcript[script].len() == self.scripts[script].steps.len() {
                open.swap_remove(at);
            }
        }
        team.counts();
        Some(transcript)
    }
}

#[test]
fn connections_get_the_same_verdicts_on_any_number_of_cores() {
    let rules = "deny tcp from any to 198.18.0.0/16\nallow from 10.0.0.0/8 to any\n";
    let options =
        FunctionOptions { rules: Rules::parse("rules", rules).unwrap(), ..FunctionOptions::default() };
    for &name in FunctionName::ALL {
        let scripts = scripts(name, &options);
        let run = |cores, placement, seed| {
            let run = Run { scripts: &scripts, cores, placement, seed };
            with_function(name, &options, run).unwrap()
        };
        let alone = run(1, Placement::Hashed, 0).unwrap();
        let verdicts: Vec<Verdict> = alone.iter().flatten().map(|(verdict, _)| *verdict).collect();
        assert!(verdicts.contains(&Verdict::Forward), "{name} does something");
        for cores in 1..=8 {
            for placement in [Placement::Hashed, Placement::RoundRobin, Placement::Random] {
                for seed in 0..4 {
                    let Some(transcript) = run(cores, placement, seed) else { continue };
                    assert!(transcript == alone, "{name} on {cores} cores, {placement:?}, seed {seed}");
                }
            }
        }
    }
}
