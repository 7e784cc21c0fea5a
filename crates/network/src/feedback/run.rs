//! Runs every scheduler with senders that react, and again without.

use std::cell::RefCell;
use std::rc::Rc;

use trueplane_sched::choice::RankChoice;
use trueplane_sched::inversions::{self, Inversions};
use trueplane_sched::policy::{Adaptation, SchedulerName};
use trueplane_sched::scheduler::{Settings, with_scheduler};
use trueplane_study::{Error, Observer, Study, cases};
use trueplane_units::{Nanos, Parameters as _};

use super::found::{Found, Open, Scenario, SchedulerRun, Variable};
use super::options::Options;
use super::port::{Counting, Queue, Tally, roomy};
use crate::fabric::TransportName;
use crate::fabric::system::PACKING;
use crate::simulator::{FlowSpec, Link, Network, Outcome, Poisson, Sizes, Topology};
use crate::transport::{Simplified, Transport, preset};

/// Nanoseconds of simulated time in a unit of progress.
const UNIT: u64 = 1_000;

/// Loads that the open loop can have.
const LOADS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    let scenarios = scenarios(options);
    let pushes_down = |scheduler: &SchedulerName| scheduler.properties().pushes_down;
    let all: Vec<(Scenario, SchedulerName)> = (scenarios.iter())
        .flat_map(|scenario| {
            let runs = options
                .policies
                .iter()
                .filter(|scheduler| scenario.varied != Some(Variable::PushDown) || pushes_down(scheduler));
            runs.map(|&scheduler| (*scenario, scheduler))
        })
        .collect();
    let packets = |scenario: &Scenario| {
        let flows = scenario.flow_starts as f64 * options.duration.0 as f64 / 1e9;
        flows * PACKING.packets(options.flow_size.0) as f64
    };
    options.check(all.iter().map(|(scenario, _)| packets(scenario)).sum())?;
    observer.stage("simulating", all.len() as u64 * (options.duration.0 / UNIT));
    let runs = cases::over(&all, observer, |(scenario, scheduler)| {
        measure(options, *scenario, *scheduler, observer)
    })?;
    Ok(Found { runs })
}

/// The base, and what differs from it in one thing.
fn scenarios(options: &Options) -> Vec<Scenario> {
    let (ranks, push_downs, starts) = (options.ranks(), options.push_downs(), options.flow_starts());
    let base = Scenario { varied: None, ranks: ranks[0], push_down: push_downs[0], flow_starts: starts[0] };
    let mut all = vec![base];
    all.extend(push_downs[1..].iter().map(|&push_down| Scenario {
        varied: Some(Variable::PushDown),
        push_down,
        ..base
    }));
    all.extend(starts[1..].iter().map(|&flow_starts| Scenario {
        varied: Some(Variable::FlowStarts),
        flow_starts,
        ..base
    }));
    all.extend(ranks[1..].iter().map(|&ranks| Scenario { varied: Some(Variable::Ranks), ranks, ..base }));
    all
}

fn measure(
    options: &Options,
    scenario: Scenario,
    scheduler: SchedulerName,
    observer: &dyn Observer,
) -> Result<SchedulerRun, Error> {
    let tally = Rc::new(RefCell::new(Tally::default()));
    let counted = |seed| port(options, scenario, scheduler, &tally, seed);
    let back = if options.both_ways { counted(!options.seed)? } else { roomy() };
    let ports = [counted(options.seed)?, back];
    let outcome = match options.transport {
        TransportName::Standard => simulate(options, scenario, ports, preset::standard_tcp(), observer),
        TransportName::Simplified => simulate(options, scenario, ports, Simplified::TCP, observer),
    }?;
    let Tally { by_rank, bytes, waiting } = tally.take();
    let directions = if options.both_ways { 2.0 } else { 1.0 };
    let sent = options.rate.0 as f64 * options.duration.0 as f64 / 1e9 * directions;
    let mut run = SchedulerRun {
        scenario,
        scheduler,
        completed: outcome.completed.len() as u64,
        unfinished: outcome.unfinished as u64,
        waiting,
        offered_load: bytes as f64 * 8.0 / sent,
        by_rank,
        nominal_load: flow_bits(options, &outcome) / sent,
        open: None,
        open_at_offered: None,
    };
    run.open = open_loop(options, &run, run.nominal_load, observer)?;
    run.open_at_offered = open_loop(options, &run, run.offered_load, observer)?;
    Ok(run)
}

/// A port with the scheduler.
fn port(
    options: &Options,
    scenario: Scenario,
    scheduler: SchedulerName,
    tally: &Rc<RefCell<Tally>>,
    seed: u64,
) -> Result<Queue, Error> {
    let RankChoice::Drawn(ranks) = scenario.ranks else {
        return Err(Error::Internal("ranks that are not drawn were not refused".to_owned()));
    };
    let weights = ranks.weights();
    let settings = Settings {
        queues: *options.queues as usize,
        depth: *options.depth as usize,
        push_down: scenario.push_down,
        window: *options.window as usize,
        adaptation: Adaptation::OneStep,
        bytes_per_round: 1_500,
        counts: Some(&weights),
        optimum: None,
    };
    with_scheduler(scheduler, &settings, Counting { ranks, seed, tally: Rc::clone(tally) })
}

/// Two hosts and a link in each direction, each with its port.
fn simulate(
    options: &Options,
    scenario: Scenario,
    ports: [Queue; 2],
    transport: impl Transport,
    observer: &dyn Observer,
) -> Result<Outcome, Error> {
    let parameters = |error: &dyn std::error::Error| Error::Parameters(error.to_string());
    let link = |from, to| Link { from, to, rate: *options.rate, delay: options.link_delay };
    let topology = Topology::new(2, 2, vec![link(0, 1), link(1, 0)]).map_err(|error| parameters(&error))?;
    let sizes = Sizes::new(vec![(options.flow_size.0, 1.0)]).map_err(|error| parameters(&error))?;
    let starts = Poisson::new(2, scenario.flow_starts as f64, sizes, *options.duration, options.seed);
    let flows = starts.map(|flow| if options.both_ways { flow } else { FlowSpec { from: 0, to: 1, ..flow } });
    let mut ports = ports.into_iter();
    let next = move |_| ports.next().expect("there is a port for each link");
    let network = Network::new(&topology, next, transport, PACKING.header, options.seed);
    let network = network.map_err(|error| parameters(&error))?;
    let mut told = 0;
    let mut tell = |time: Nanos| {
        let done = time.min(*options.duration).0 / UNIT;
        observer.advance(done - told);
        told = done;
    };
    let watch = |so_far: &mut Outcome| {
        tell(so_far.end);
        !observer.interrupted()
    };
    let outcome = network.run_watched(flows, *options.duration, watch);
    observer.go_on()?;
    tell(Nanos::MAX);
    outcome.map_err(|error| Error::Internal(error.to_string()))
}

/// Bits that the flows need at the ports that are counted if nothing is lost.
fn flow_bits(options: &Options, outcome: &Outcome) -> f64 {
    let flows = outcome.completed.len() + outcome.unfinished;
    let there = PACKING.wire_bytes(options.flow_size.0);
    // Each packet is acknowledged.
    let back = PACKING.packets(options.flow_size.0) * u64::from(PACKING.header);
    let bytes = if options.both_ways { there + back } else { there };
    flows as f64 * bytes as f64 * 8.0
}

/// The same scheduler where as many packets come at random times, at this load. None without packets.
fn open_loop(
    options: &Options,
    run: &SchedulerRun,
    load: f64,
    observer: &dyn Observer,
) -> Result<Option<Open>, Error> {
    let packets = run.total().arrivals;
    if packets == 0 || !LOADS.contains(&load) {
        return Ok(None);
    }
    let given = [
        ("ranks", run.scenario.ranks.to_string()),
        ("policies", run.scheduler.to_string()),
        ("load", format!("{load:.6}")),
        ("packets", packets.to_string()),
        ("queues", options.queues.to_string()),
        ("depth", options.depth.to_string()),
        ("push_down", run.scenario.push_down.to_string()),
        ("window", options.window.to_string()),
        ("rate", format!("{}bps", options.rate.0)),
        ("seed", options.seed.to_string()),
    ];
    let given: Vec<(&str, &str)> = given.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let open = inversions::Options::given(&given).map_err(Error::Internal)?;
    let found = Inversions::run(&open, &Quiet(observer))?;
    let open = |run: &inversions::found::SchedulerRun| Open {
        inversion_share: run.inversion_share,
        drop_share: run.drop_share,
    };
    Ok(found.schedulers.first().map(open))
}

/// An observer that passes on only that the work should stop.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}
