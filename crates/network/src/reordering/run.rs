//! Runs the same flows under every policy with every loss recovery.

use std::cell::RefCell;
use std::net::Ipv4Addr;
use std::rc::Rc;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_spray::FlowId;
use trueplane_spray::dispatch::{DispatchName, dispatcher};
use trueplane_study::{Error, Observer, cases};
use trueplane_units::Nanos;

use super::classical;
use super::ends::{Book, Counting};
use super::found::{Case, Counts, Found, Packets, Row, Spread};
use super::middlebox::{Card, Queue, RECEIVER, SENDER, idle, port_of, topology};
use super::options::Options;
use super::senders::{HEADER, RecoveryName, settings};
use crate::simulator::{FlowSpec, Network, Topology};

/// Bytes of a flow that does not end.
const ENDLESS: u64 = 1 << 60;

/// All flows start within this part of a run.
const STARTS: u64 = 100;

/// A core is used if it has more than this share of the packets: connection packets alone are fewer.
const USED: f64 = 0.001;

/// Protocol number of TCP.
const TCP: u8 = 6;

/// A run: case, policy, recovery and the number of the run.
#[derive(Clone, Copy)]
struct Job {
    case: Case,
    policy: DispatchName,
    recovery: RecoveryName,
    run: u32,
}

/// A run and what came of it.
struct Ran {
    goodput: f64,
    jain: f64,
    cores_used: f64,
    busiest: f64,
    counts: Counts,
    packets: Packets,
}

pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    options.check()?;
    let topology = topology(*options.cores, *options.line_rate, options.link_delay)
        .map_err(|error| Error::Parameters(error.to_string()))?;
    let mut jobs = Vec::new();
    for case in options.cases() {
        for &policy in options.policies.iter() {
            for &recovery in options.recovery.iter() {
                jobs.extend((0..*options.runs).map(|run| Job { case, policy, recovery, run }));
            }
        }
    }
    observer.stage("simulating TCP", jobs.len() as u64);
    let ran = cases::over(&jobs, observer, |job| {
        let ran = simulate(options, &topology, *job, observer);
        observer.advance(1);
        ran
    })?;
    let runs = *options.runs as usize;
    let rows = jobs.chunks(runs).zip(ran.chunks(runs)).map(|(jobs, ran)| row(options, jobs[0], ran));
    Ok(Found { rows: rows.collect() })
}

fn row(options: &Options, Job { case, policy, recovery, .. }: Job, ran: &[Ran]) -> Row {
    let service = options.service(case.cycles);
    let line = options.line_rate.0 as f64;
    let round_trip = Nanos(options.link_delay.0.saturating_mul(4).saturating_add(2 * service.0));
    let (mut counts, mut packets) = (Counts::default(), Packets::default());
    for one in ran {
        counts.add(&one.counts);
        packets.sent += one.packets.sent;
        packets.delivered += one.packets.delivered;
        packets.dropped += one.packets.dropped;
        packets.on_their_way += one.packets.on_their_way;
    }
    Row {
        case,
        policy,
        recovery,
        classical: classical::goodput(policy, case.flows, *options.cores, service, line)
            .min(classical::window_goodput(case.flows, options.receive_window.0, round_trip)),
        goodput: Spread::of(ran.iter().map(|ran| ran.goodput)),
        jain: Spread::of(ran.iter().map(|ran| ran.jain)),
        cores_used: Spread::of(ran.iter().map(|ran| ran.cores_used)),
        busiest: Spread::of(ran.iter().map(|ran| ran.busiest)),
        counts,
        packets,
    }
}

/// Five-tuples and starts of the flows of a run, in the order of the starts.
fn flows(count: u64, within: Nanos, seed: u64) -> Vec<(Nanos, FlowId)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut end = |port: Option<u16>| {
        let address = Ipv4Addr::from(random.random::<u32>());
        (address.into(), port.unwrap_or_else(|| random.random_range(1_024..=u16::MAX)))
    };
    let ids: Vec<FlowId> = (0..count).map(|_| FlowId::new(TCP, end(None), end(Some(5_201)))).collect();
    let mut flows: Vec<(Nanos, FlowId)> =
        ids.into_iter().map(|id| (Nanos(random.random_range(0..=within.0)), id)).collect();
    flows.sort_by_key(|(start, _)| *start);
    flows
}

fn simulate(options: &Options, topology: &Topology, job: Job, observer: &dyn Observer) -> Result<Ran, Error> {
    let until = *options.duration;
    // All policies and recoveries see the same flows in the same run.
    let seed = options.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(job.run.into());
    let flows = flows(job.case.flows, Nanos(until.0 / STARTS), seed);
    let (count, service) = (*options.cores, options.service(job.case.cycles));
    let cores = idle(count);
    let dispatch = dispatcher(job.policy, count, &options.dispatch());
    let ids = flows.iter().map(|(_, id)| *id).collect();
    let card = Card::new(dispatch, ids, Rc::clone(&cores), service, !seed);
    let book: Book = Rc::new(RefCell::default());
    let window = options.receive_window.0 as u32;
    let parts =
        (settings(*options.least_timeout, window), options.congestion_control.make(), job.recovery.make());
    let transport = Counting { parts, book: Rc::clone(&book), from: options.from() };
    let queue = |port| Queue::of(port, &cores, *options.ring as usize);
    let network = Network::new(topology, queue, transport, HEADER, seed)
        .map_err(|error| Error::Parameters(error.to_string()))?;
    let network = (0..count)
        .fold(network.choosing(Box::new(card)), |network, core| network.serving(port_of(core), service));
    let specs =
        flows.iter().map(|(start, _)| FlowSpec { start: *start, from: SENDER, to: RECEIVER, bytes: ENDLESS });
    let outcome = network.run_watched(specs, until, |_| !observer.interrupted());
    observer.go_on()?;
    let outcome = outcome.map_err(|error| Error::Internal(error.to_string()))?;
    let seconds = until.since(options.from()).0 as f64 / 1e9;
    let book = book.borrow();
    let goodputs: Vec<f64> =
        book.iter().map(|flow| (flow.bytes - flow.before) as f64 * 8.0 / seconds).collect();
    let mut counts = Counts::default();
    for flow in book.iter() {
        counts.add(&flow.counts);
    }
    let begun: Vec<u64> = cores.iter().map(|core| core.begun.get()).collect();
    let all = begun.iter().sum::<u64>().max(1) as f64;
    Ok(Ran {
        goodput: goodputs.iter().sum(),
        jain: jain(&goodputs),
        cores_used: begun.iter().filter(|begun| **begun as f64 > USED * all).count() as f64,
        busiest: begun.iter().copied().max().unwrap_or(0) as f64 / all,
        counts,
        packets: Packets {
            sent: outcome.counts.sent,
            delivered: outcome.counts.delivered,
            dropped: outcome.counts.dropped,
            on_their_way: outcome.counts.in_network(),
        },
    })
}

/// Jain's index: (Σx)² ÷ (n Σx²), 1 if all are equal; 1 if nobody has anything.
fn jain(shares: &[f64]) -> f64 {
    let (sum, squares): (f64, f64) = (shares.iter().sum(), shares.iter().map(|share| share * share).sum());
    if squares > 0.0 { sum * sum / (shares.len() as f64 * squares) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_equals_and_one_nth_for_one_who_has_all() {
        assert_eq!(jain(&[2.0, 2.0]), 1.0);
        assert_eq!(jain(&[3.0, 0.0, 0.0]), 1.0 / 3.0);
        assert_eq!(jain(&[0.0, 0.0]), 1.0);
    }
}
