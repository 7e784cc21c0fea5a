//! Identities, and what formulas say.

use super::*;
use crate::generated::{Generated, Wanted};
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
    let flows = wanted.flows + 20_000;
    let mut source = Generated::new(wanted);
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
    Engine::new(machine, team.unwrap(), &mut source, window).run(drain, &()).unwrap()
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
