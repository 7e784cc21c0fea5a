//! Identities, and what formulas say.

use trueplane_link::Terms;

use super::*;
use crate::generated::{Generated, Wanted};
use crate::linked::Linked;
use crate::nf::{FunctionName, FunctionOptions};
use crate::team::team;
use crate::traffic::{Arrivals, Lengths};

fn machine(system: &str, cores: usize, cycles: u64) -> Machine {
    Machine {
        system: system.parse().unwrap(),
        dispatch: DispatchOptions::default(),
        cores,
        cycles,
        costs: Costs::default(),
        service: Service::Constant,
        ring: 512,
        clock: 2_000_000_000,
        card_gap: None,
        seed: 1,
    }
}

/// Flows of a machine at one packet in `gap` picoseconds.
fn wanted(machine: &Machine, flows: usize, packets: u64, gap: u64) -> Wanted {
    Wanted {
        flows,
        sizes: Lengths::Forever,
        packets,
        gap,
        opening_gap: 2 * machine.longest(),
        arrivals: Arrivals::Even,
        destination: None,
        seed: 1,
    }
}

fn run(machine: Machine, wanted: Wanted, drain: bool) -> Ran {
    let flows = wanted.flows;
    from(machine, &mut Generated::new(wanted), flows, drain)
}

/// Runs what comes over a link of these terms until nothing is left.
fn run_over(terms: Terms, machine: Machine, wanted: Wanted) -> Ran {
    let flows = wanted.flows;
    from(machine, &mut Linked::new(Box::new(Generated::new(wanted)), terms, 2), flows, true)
}

/// Runs what comes from a source that has about so many flows at a time.
fn from(machine: Machine, source: &mut dyn Source, flows: usize, drain: bool) -> Ran {
    let flows = flows + 20_000;
    let (begin, end) = (source.begins(), source.ends());
    let window = (begin + (end - begin) / 4, if drain { u64::MAX } else { end });
    let team = team(
        FunctionName::Synthetic,
        &FunctionOptions::default(),
        machine.system,
        machine.cores,
        flows,
        machine.ring,
    );
    Engine::new(machine, team.unwrap(), source, window).run(drain, &()).unwrap()
}

const LINE: u64 = 67_200;

fn close(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found} instead of {expected}");
}

#[test]
fn every_packet_is_somewhere() {
    let sizes = [Lengths::Forever, Lengths::Packets(20)];
    for (system, sizes) in SystemName::all().flat_map(|system| sizes.clone().map(|of| (system, of))) {
        let machine = Machine { ring: 64, ..machine(&system.to_string(), 4, 3000) };
        let flows = Wanted { sizes: sizes.clone(), ..wanted(&machine, 9, 20_000, LINE) };
        for drain in [false, true] {
            let Ran { ledger, counts, tally, .. } = run(machine, flows.clone(), drain);
            let Ledger { offered, card, ring, done, queued } = ledger;
            assert_eq!(offered, card + ring + done + queued, "{system}");
            // Flows that wait for the answer to a SYN may not fill a ring.
            assert!(done > 1000 && (ring > 0 || sizes != Lengths::Forever), "{system}: {ledger:?}");
            if drain {
                assert_eq!((queued, counts.done()), (0, done), "{system}");
                assert_eq!(counts.handed_in, counts.handed_out);
            }
            assert!((0.0..=1.0).contains(&tally.reordered()) && tally.late() <= tally.reordered());
        }
    }
}

#[test]
fn one_core_does_what_its_cycles_allow() {
    for cycles in [0, 1000, 10_000] {
        let machine = machine("rss", 1, cycles);
        let ran = run(machine, wanted(&machine, 1, 200_000, LINE), false);
        let Costs { base, local, .. } = machine.costs;
        close(ran.rate, 2e9 / (base + local + cycles) as f64, 0.01);
        assert_eq!(ran.tally.reordered(), 0.0);
    }
}

#[test]
fn sprayed_over_many_cores_a_packet_mostly_looks_elsewhere() {
    let machine = machine("spray", 8, 5000);
    let ran = run(machine, wanted(&machine, 1, 200_000, LINE), false);
    let Costs { base, local, remote, .. } = machine.costs;
    let cycles = base as f64 + (local + 7 * remote) as f64 / 8.0 + 5000.0;
    close(ran.rate, 8.0 * 2e9 / cycles, 0.02);
}

/// Poisson arrivals, constant service, one server, one packet at a time: T = S + ρ S / (2 (1 − ρ)) (Pollaczek and Khinchine).
#[test]
fn latency_is_that_of_the_textbook() {
    let mut machine = machine("locked", 1, 1840);
    machine.costs.lock = 0;
    let service = 1e6;
    for load in [0.3, 0.7] {
        let gap = (service / load) as u64;
        let flows = Wanted { arrivals: Arrivals::Poisson, ..wanted(&machine, 1, 200_000, gap) };
        let mean = run(machine, flows, true).tally.mean();
        close(mean, (service + load * service / (2.0 * (1.0 - load))) / 1e3, 0.03);
    }
}

#[test]
fn a_lock_is_had_by_one_core_at_a_time() {
    let machine = machine("locked", 16, 0);
    let ran = run(machine, wanted(&machine, 1, 100_000, 10_000), false);
    close(ran.rate, 2e9 / machine.costs.lock as f64, 0.01);
}

#[test]
fn replaying_costs_every_core_the_packets_of_all_others() {
    let machine = machine("scr", 8, 1000);
    let ran = run(machine, wanted(&machine, 1, 100_000, LINE), false);
    let Costs { base, local, replay, .. } = machine.costs;
    close(ran.rate, 8.0 * 2e9 / (base + local + 7 * replay + 1000) as f64, 0.02);
}

#[test]
fn a_card_sprays_no_faster_than_it_can() {
    let machine = Machine { card_gap: Some(100_000), ..machine("spray", 8, 0) };
    let flows = wanted(&machine, 4, 100_000, LINE);
    close(run(machine, flows.clone(), false).rate, 1e7, 0.01);
    let hashed = Machine { system: "rss".parse().unwrap(), ..machine };
    assert!(run(hashed, flows, false).rate > 1.1e7);
}

#[test]
fn times_vary_around_their_mean() {
    for service in [Service::Exponential, Service::LogNormal(2.0)] {
        let machine = Machine { service, ..machine("rss", 1, 840) };
        let ran = run(machine, wanted(&machine, 1, 400_000, LINE), false);
        close(ran.rate, 2e6, 0.03);
    }
}

#[test]
fn flows_that_end_are_opened_anew_and_handed_over() {
    let machine = machine("spray", 4, 1000);
    let flows = Wanted { sizes: Lengths::Packets(10), ..wanted(&machine, 64, 20_000, 400_000) };
    let ran = run(machine, flows, true);
    // Of twelve packets of a flow two are of its connection, of which three in four come to another core.
    let handed = ran.counts.handed_out as f64 / ran.counts.done() as f64;
    close(handed, 2.0 / 12.0 * 0.75, 0.1);
    assert_eq!(ran.counts.handed_in, ran.counts.handed_out);
    // Neither a FIN nor data overtakes a SYN, but data may come after a FIN that it followed.
    assert!(ran.ledger.ring == 0 && ran.tally.jain() > 0.5);
}

#[test]
fn a_link_without_faults_changes_nothing() {
    for sizes in [Lengths::Forever, Lengths::Packets(20)] {
        let machine = machine("spray", 4, 3000);
        let flows = Wanted { sizes, ..wanted(&machine, 9, 20_000, LINE) };
        let direct = run(machine, flows.clone(), true);
        let linked = run_over(Terms::default(), machine, flows);
        assert_eq!((direct.ledger, direct.counts, direct.rate), (linked.ledger, linked.counts, linked.rate));
        let numbers = |tally: &Tally| [tally.reordered(), tally.late(), tally.jain(), tally.mean()];
        assert_eq!(numbers(&direct.tally), numbers(&linked.tally));
        assert_eq!((direct.link.sent, linked.link.sent), (0, linked.ledger.offered));
    }
}

#[test]
fn a_link_has_its_own_losses_and_copies() {
    let terms = Terms {
        delay: 5_000_000,
        jitter: 1_000_000,
        loss_ppm: 100_000,
        reorder_ppm: 10_000,
        duplicate_ppm: 50_000,
    };
    for system in SystemName::all() {
        for sizes in [Lengths::Forever, Lengths::Packets(20)] {
            let machine = machine(&system.to_string(), 4, 1000);
            let flows = Wanted { sizes: sizes.clone(), ..wanted(&machine, 9, 20_000, 4 * LINE) };
            let Ran { ledger, counts, tally, link, .. } = run_over(terms, machine, flows);
            let Ledger { offered, card, ring, done, queued } = ledger;
            assert_eq!(
                (link.sent + link.duplicated, link.arrived),
                (offered + link.lost, offered),
                "{system}"
            );
            assert_eq!((offered, queued), (card + ring + done, 0), "{system}");
            assert_eq!(counts.done(), done, "{system}");
            assert!(link.lost > 0 && link.duplicated > 0 && link.reordered > 0, "{system}: {link:?}");
            // Even a system that keeps flows in order lets out in disorder what comes in disorder.
            assert!(tally.reordered() > 0.0 || sizes != Lengths::Forever, "{system}");
        }
    }
}

#[test]
fn copies_are_not_reordered() {
    let machine = machine("rss", 4, 100);
    let twice = Terms { duplicate_ppm: 1_000_000, ..Terms::default() };
    let ran = run_over(twice, machine, wanted(&machine, 9, 20_000, 4 * LINE));
    assert_eq!(ran.ledger.offered, 2 * ran.link.sent);
    assert_eq!((ran.tally.reordered(), ran.tally.late()), (0.0, 0.0));
}
