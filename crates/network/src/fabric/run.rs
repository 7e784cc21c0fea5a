//! Runs the same flows under every system, at every load.

use trueplane_study::{Error, Observer, cases};
use trueplane_units::{BitsPerSec, Nanos};

use super::found::{AtLoad, BusyPort, Class, Found, SystemRun};
use super::names::Workload;
use super::options::{Offered, Options, bits_of, seconds_of};
use super::port::{Queue, queue};
use super::queueing::{Discipline, MeanTimes};
use super::system::{PACKING, RankName, Senders, SystemName, TransportName};
use crate::simulator::{
    Completed, Faults, FlowSpec, Headers, Link, Named, Network, Outcome, Poisson, PortOutcome, SizeClass,
    Sizes, Topology, least_time,
};
use crate::transport::{Simplified, Transport, preset};

/// Looks at a run without a packet that arrived in between, after which it has no end: four million events.
const MOST_IDLE: u32 = 1 << 10;

/// The same once no flow is to come and no link changes any more: what is left are the retries of flows whose host is cut off.
const MOST_RETRIES: u32 = 8;

/// Nanoseconds of simulated time in a unit of progress.
const UNIT: u64 = 1_000;

/// Ports of a run that are shown.
const BUSIEST: usize = 5;

/// Links that most packets pass: host, leaf, spine, leaf, host.
const LINKS: f64 = 4.0;

/// A load with its flows.
struct Load {
    offered: Offered,
    flows: Vec<FlowSpec>,
    /// What the formulas say: equal shares, and the smallest first.
    formulas: [Option<Formula>; 2],
}

/// Mean times of flows on the link of a host, which also carries headers and acknowledgements.
struct Formula {
    times: MeanTimes,
    /// Share of the link that acknowledgements leave.
    left: f64,
}

impl Formula {
    /// The formula at a load by bytes of flows.
    fn new(sizes: &Sizes, load: f64, discipline: Discipline) -> Option<Self> {
        let packets: f64 = sizes.shares().map(|(bytes, share)| PACKING.packets(bytes) as f64 * share).sum();
        let left = 1.0 - load * packets * f64::from(PACKING.header) / sizes.mean();
        let wire = sizes.mapped(|bytes| PACKING.wire_bytes(bytes));
        let load = load * wire.mean() / sizes.mean() / left;
        let times = (left > 0.0).then(|| MeanTimes::new(&wire, load, discipline))??;
        Some(Self { times, left })
    }

    /// Mean time of a flow beyond that of its packets alone, in times of a byte.
    fn delay(&self, bytes: u64) -> f64 {
        let wire = PACKING.wire_bytes(bytes);
        self.times.of(wire) / self.left - wire as f64
    }
}

pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    let network = options.network()?;
    let workload = options.workload.read(&network).map_err(Error::Parameters)?;
    let faults = options.faults(&network)?;
    let topology = &network.topology;
    let capacity = topology.capacity();
    let offered = options.offered(&workload, capacity)?;
    let sizes = match &workload {
        Workload::Sizes(sizes) => sizes.clone(),
        Workload::Flows(flows) => Sizes::of(flows.iter().map(|flow| flow.bytes)),
    };
    let seconds = match &workload {
        Workload::Sizes(_) => options.duration.0 as f64 / 1e9,
        Workload::Flows(flows) => seconds_of(flows, capacity),
    };
    let flow_packets: f64 =
        sizes.shares().map(|(bytes, share)| PACKING.packets(bytes) as f64 * share).sum::<f64>() + 1.0;
    let flows_per_second: f64 = offered.iter().map(|offered| offered.flows_per_second).sum();
    let flows = flows_per_second * seconds * options.policies.len() as f64;
    // Each packet is acknowledged.
    options.check(flows * flow_packets * 2.0 * LINKS)?;
    let flows_at = |offered: &Offered| match &workload {
        Workload::Sizes(sizes) => drawn(options, topology, sizes, *offered),
        Workload::Flows(flows) => flows.clone(),
    };
    let loads: Vec<Load> =
        offered.iter().map(|offered| Load::new(*offered, flows_at(offered), &sizes)).collect();
    let runs: Vec<(&Load, SystemName)> =
        loads.iter().flat_map(|load| options.policies.iter().map(move |&system| (load, system))).collect();
    let captured = options.captured(&network, runs.len())?;
    let start_time = Nanos((seconds * 1e9) as u64);
    observer.stage("simulating", runs.len() as u64 * (start_time.0 / UNIT));
    let setting = Setting { options, network: &network, topology, faults, captured, start_time, observer };
    let mut done = cases::over(&runs, observer, |(load, system)| setting.run(load, *system))?.into_iter();
    let at_load = |load: Load| AtLoad {
        load: bits_of(&load.flows) / seconds / capacity,
        flows: load.flows.len() as u64,
        offered: load.offered,
        systems: done.by_ref().take(options.policies.len()).collect(),
    };
    Ok(Found {
        hosts: topology.hosts(),
        mean_bytes: sizes.mean(),
        start_time,
        is_recorded: matches!(workload, Workload::Flows(_)),
        loads: loads.into_iter().map(at_load).collect(),
    })
}

/// Flows that are drawn: the same under every system.
fn drawn(options: &Options, topology: &Topology, sizes: &Sizes, offered: Offered) -> Vec<FlowSpec> {
    let (rate, until) = (offered.flows_per_second, *options.duration);
    let flows = Poisson::new(topology.hosts(), rate, sizes.clone(), until, options.seed);
    flows.with_pattern(options.pattern, *options.fan_in).collect()
}

impl Load {
    fn new(offered: Offered, flows: Vec<FlowSpec>, sizes: &Sizes) -> Self {
        let formulas = [Discipline::ProcessorSharing, Discipline::ShortestRemainingFirst]
            .map(|discipline| Formula::new(sizes, offered.load, discipline));
        Self { offered, flows, formulas }
    }
}

/// Time from the start of the first flow until the last one has ended, of those that have. If none has, until the last event.
fn time_of(load: &Load, outcome: &Outcome) -> Nanos {
    let first = load.flows.first().map_or(Nanos(0), |flow| flow.start);
    outcome.completed.last().map_or(outcome.end, |last| last.end).since(first)
}

/// Bits of the flows that have ended over the time until the last of them did; 0 bit/s if none has.
fn goodput(completed: &[Completed], time: Nanos) -> BitsPerSec {
    let bytes: u64 = completed.iter().map(|one| one.spec.bytes).sum();
    BitsPerSec((bytes as f64 * 8e9 / time.0.max(1) as f64) as u64)
}

struct Setting<'a> {
    options: &'a Options,
    network: &'a Named,
    topology: &'a Topology,
    faults: Option<Faults>,
    /// Number of the link to capture.
    captured: Option<u32>,
    /// Time in which flows start.
    start_time: Nanos,
    observer: &'a dyn Observer,
}

impl Setting<'_> {
    fn run(&self, load: &Load, system: SystemName) -> Result<SystemRun, Error> {
        let is_standard = self.options.transport == TransportName::Standard;
        let outcome = match (system.senders(self.options.rank), is_standard) {
            (Senders::Tcp, true) => self.simulate(load, system, preset::standard_tcp()),
            (Senders::Tcp, false) => self.simulate(load, system, Simplified::TCP),
            (Senders::Dctcp, true) => self.simulate(load, system, preset::standard_dctcp()),
            (Senders::Dctcp, false) => self.simulate(load, system, Simplified::DCTCP),
            (Senders::PFabric, true) => self.simulate(load, system, preset::standard_pfabric()),
            (Senders::PFabric, false) => self.simulate(load, system, Simplified::PFABRIC),
        }?;
        let in_time = outcome.completed.iter().filter(|one| one.end <= self.deadline(&one.spec)).count();
        let time = time_of(load, &outcome);
        let class = |class: SizeClass| self.class(load, system, &outcome.completed, class);
        Ok(SystemRun {
            system,
            small: class(SizeClass::SMALL),
            large: class(SizeClass::LARGE),
            all: class(SizeClass { from: 0, below: u64::MAX }),
            sent: outcome.counts.sent,
            delivered: outcome.counts.delivered,
            drops: outcome.counts.drops(),
            queue_drops: outcome.counts.dropped,
            down_drops: outcome.counts.down,
            losses: outcome.counts.lost,
            in_network: outcome.counts.in_network(),
            hops: outcome.hops,
            most_packets: outcome.most_packets as u64,
            unfinished: outcome.unfinished as u64,
            late: load.flows.len() as u64 - in_time as u64,
            ports: self.busiest(&outcome, time),
            goodput: goodput(&outcome.completed, time),
            end: outcome.completed.last().map_or(outcome.end, |last| last.end),
        })
    }

    /// The network of a system, with its faults and its rule for ways.
    fn network<T: Transport>(
        &self,
        load: &Load,
        system: SystemName,
        transport: T,
    ) -> Result<Network<'_, Queue, T>, Error> {
        let links = self.topology.links().len();
        let headers = Headers::new(links, load.flows.iter().map(|flow| self.deadline(flow)).collect());
        let queues = (0..links).map(|_| queue(self.options, system, &headers));
        let mut queues = queues.collect::<Result<Vec<_>, Error>>()?.into_iter();
        let next = |_| queues.next().expect("there is a queue for each link");
        let network = Network::new(self.topology, next, transport, PACKING.header, self.options.seed);
        let mut network = network.map_err(|error| Error::Parameters(error.to_string()))?.measuring();
        if self.options.rank.needs_headers() {
            network = network.with_headers(headers);
        }
        if let Some(faults) = &self.faults {
            network = network.with_faults(faults.clone());
        }
        if let Some(chooser) = self.options.balancing.0.chooser(self.options.seed) {
            network = network.choosing(chooser);
        }
        Ok(network)
    }

    fn simulate(&self, load: &Load, system: SystemName, transport: impl Transport) -> Result<Outcome, Error> {
        let mut network = self.network(load, system, transport)?;
        let capture = self.captured.map(|link| self.options.capture(link)).transpose()?;
        if let Some(capture) = &capture {
            network = network.capturing(capture.capture());
        }
        // Progress is the time in which flows start: nobody knows how long the last ones take.
        let (first, mut told) = (load.flows.first().map_or(Nanos(0), |flow| flow.start), 0);
        let mut tell = |time: Nanos| {
            let done = time.since(first).min(self.start_time).0 / UNIT;
            self.observer.advance(done - told);
            told = done;
        };
        let can_cut = self.faults.as_ref().is_some_and(Faults::can_cut);
        let last_start = load.flows.last().map_or(Nanos(0), |flow| flow.start);
        let last_change = self.faults.as_ref().map_or(Nanos(0), Faults::last_change);
        let (mut arrived, mut idle) = (0, 0);
        let watch = |so_far: &mut Outcome| {
            tell(so_far.end);
            idle = if so_far.counts.delivered > arrived { 0 } else { idle + 1 };
            arrived = so_far.counts.delivered;
            let is_settled = can_cut && so_far.end > last_start.max(last_change);
            idle < if is_settled { MOST_RETRIES } else { MOST_IDLE } && !self.observer.interrupted()
        };
        let outcome = network.run_watched(load.flows.iter().copied(), Nanos::MAX, watch);
        self.observer.go_on()?;
        // Flows whose host is cut off do not end.
        if idle >= MOST_IDLE && !can_cut {
            return Err(Error::Parameters(format!(
                "under {system} no packet arrives any more: expected ports that let every packet through at some time"
            )));
        }
        tell(Nanos::MAX);
        if let Some(capture) = capture {
            capture.finish().map_err(|error| self.options.cannot_write(&error))?;
        }
        outcome.map_err(|error| Error::Internal(error.to_string()))
    }

    /// The deadline of a flow.
    fn deadline(&self, flow: &FlowSpec) -> Nanos {
        let least = least_time(self.topology, flow, PACKING);
        let time = u128::from(least.0) * u128::from(self.options.deadline.millionths()) / 1_000_000;
        flow.start.after(Nanos(u64::try_from(time).unwrap_or(u64::MAX)))
    }

    /// The ports at which most packets waited, with means over so much time: timers may expire long after the last flow has ended.
    fn busiest(&self, outcome: &Outcome, time: Nanos) -> Vec<BusyPort> {
        let links = self.topology.links();
        let busy = |(link, port): (&Link, &PortOutcome)| {
            let waited = port.waited.unwrap_or_default();
            BusyPort {
                link: format!("{}-{}", self.network.name(link.from), self.network.name(link.to)),
                sent: port.sent,
                drops: port.dropped + port.down + port.lost,
                mean: waited.mean(time),
                longest: waited.longest,
            }
        };
        let mut ports: Vec<BusyPort> = links.iter().zip(&outcome.ports).map(busy).collect();
        // Ports alike stay in the order of their numbers.
        ports.sort_by(|one, other| other.mean.total_cmp(&one.mean));
        ports.truncate(BUSIEST);
        ports
    }

    fn class(&self, load: &Load, system: SystemName, completed: &[Completed], class: SizeClass) -> Class {
        let mut found = Class { classical_ns: self.classical(load, system, class), ..Class::default() };
        for one in completed.iter().filter(|one| (class.from..class.below).contains(&one.spec.bytes)) {
            let time = one.time();
            let least = least_time(self.topology, &one.spec, PACKING);
            found.times.record(time.0);
            found.slowdowns.record((u128::from(time.0) * 1_000 / u128::from(least.0.max(1))) as u64);
        }
        found
    }

    /// Mean completion time by the formula: the least time on an empty network, and what the formula has of waiting.
    fn classical(&self, load: &Load, system: SystemName, class: SizeClass) -> Option<f64> {
        let has_ranks = system.properties().scheduler.is_some() && self.options.rank == RankName::PFabric;
        let formula = load.formulas[usize::from(has_ranks)].as_ref()?;
        // The link of a host on average.
        let byte_ns = 8e9 * f64::from(self.topology.hosts()) / self.topology.capacity();
        let (mut sum, mut flows) = (0.0, 0.0);
        for flow in load.flows.iter().filter(|flow| (class.from..class.below).contains(&flow.bytes)) {
            sum += least_time(self.topology, flow, PACKING).0 as f64 + formula.delay(flow.bytes) * byte_ns;
            flows += 1.0;
        }
        (flows > 0.0).then(|| sum / flows)
    }
}
