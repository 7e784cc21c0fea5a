//! Runs the same flows under every policy, with every kind of senders.

use std::cell::RefCell;

use trueplane_limit::drain::Drain;
use trueplane_limit::limiter::{Kept, Settings, Visitor, with_limiter};
use trueplane_study::metrics::Distribution;
use trueplane_study::{Error, Observer, cases};
use trueplane_units::Nanos;

use super::deficit::DeficitRoundRobin;
use super::found::{Found, Run, Tenant, TenantRun};
use super::options::Options;
use super::policed::Policed;
use super::policy::{HEADER, Mechanism, PACKET, PolicyName, SEGMENT, TransportName};
use super::record::{OfTenant, Record};
use super::scenario::Scenario;
use super::shared::{Port, SharedPort};
use super::tenants::TenantQueue;
use crate::simulator::{DropTail, MarkingThreshold, Network, Outcome};

/// Simulated nanoseconds in a unit of progress.
const UNIT: u64 = 1_000;

/// Greatest ratio of two quanta of deficit round robin, so that sums of them fit into 64 bits.
const MOST_RATIO: f64 = 1e6;

pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    options.check()?;
    let scenario = Scenario::new(options)?;
    let runs: Vec<(TransportName, PolicyName)> = (options.transport.iter())
        .flat_map(|&transport| options.policies.iter().map(move |&policy| (transport, policy)))
        .collect();
    observer.stage("simulating", runs.len() as u64 * (options.duration.0 / UNIT));
    let numbered = options.flows.iter().zip(options.limits()).enumerate();
    let tenants: Vec<Tenant> =
        numbered.map(|(place, (flows, limit))| Tenant { number: place + 1, flows: **flows, limit }).collect();
    let work = |&(transport, policy): &(TransportName, PolicyName)| {
        Case { options, scenario: &scenario, tenants: &tenants, transport, policy, observer }.run()
    };
    Ok(Found {
        fair_bps: options.fair_bits() * f64::from(SEGMENT) / f64::from(PACKET),
        fair_link_bps: options.fair_bits(),
        measured: options.measured(),
        round_trip: scenario.round_trip,
        interval: options.interval(),
        runs: cases::over(&runs, observer, work)?,
        tenants,
    })
}

/// A policy with its senders.
#[derive(Clone, Copy)]
struct Case<'a> {
    options: &'a Options,
    scenario: &'a Scenario,
    tenants: &'a [Tenant],
    transport: TransportName,
    policy: PolicyName,
    observer: &'a dyn Observer,
}

/// Everything that a simulation tells.
type Told = (Outcome, Record);

impl Visitor for Case<'_> {
    type Output = Told;

    fn visit<L: Kept>(self, make: impl Fn(&Settings) -> Result<L, Error>) -> Result<Told, Error> {
        let marks = matches!(self.policy.properties().mechanism, Mechanism::Limiter { marks: true, .. });
        let limiter = |tenant: &Tenant| {
            let mark = marks.then_some(*self.options.mark);
            make(&Settings { rate: tenant.limit, burst: *self.options.burst, mark })
        };
        let limiters: Vec<L> = self.tenants.iter().map(limiter).collect::<Result<_, _>>()?;
        // Where limiters decide, they alone do.
        self.simulate(Policed::new(limiters, DropTail::new(self.options.buffer.0)))
    }
}

impl Case<'_> {
    fn run(self) -> Result<Run, Error> {
        let (outcome, record) = match self.policy.properties().mechanism {
            Mechanism::Nothing => self.simulate(
                DropTail::new(self.options.buffer.0).marking(MarkingThreshold::above(self.options.mark.0)),
            ),
            Mechanism::Limiter { name, .. } => with_limiter(name, Drain::Exact, self),
            Mechanism::Queues => self.simulate(self.queues()),
        }?;
        Ok(self.found(&outcome, &record))
    }

    /// A queue for each tenant and one for the probes, whose quantum is that of the tenant with the smallest limit: a packet.
    fn queues(&self) -> DeficitRoundRobin {
        let least = self.tenants.iter().map(|tenant| tenant.limit.0).min().unwrap_or(1).max(1);
        let quantum = |tenant: &Tenant| {
            let ratio = (tenant.limit.0 as f64 / least as f64).min(MOST_RATIO);
            (ratio * f64::from(PACKET)) as u64
        };
        let quanta = self.tenants.iter().map(quantum).chain([u64::from(PACKET)]);
        let part = self.options.buffer.0 / (self.tenants.len() as u64 + 1);
        // A queue that is shorter than the threshold has to mark, too.
        DeficitRoundRobin::new(quanta, part, self.options.mark.0.min(part / 2).max(1))
    }

    fn simulate<Q: TenantQueue>(&self, queue: Q) -> Result<Told, Error> {
        let &Self { options, scenario, .. } = self;
        let spans = [options.measured(), options.alone()];
        let mut record = Record::new(self.tenants.len() + 1, scenario.flows.len(), spans, options.interval());
        let heeds_marks = self.transport.heeds_marks();
        let mut shared =
            Some(SharedPort::new(queue, &scenario.flows, *options.rate, heeds_marks, &mut record));
        let port = |number| match shared.take_if(|_| number == scenario.shared) {
            Some(port) => Port::Shared(port),
            // Hosts keep what their line has not sent yet.
            None => Port::Host(DropTail::new(u64::MAX)),
        };
        let senders = self.transport.senders(*options.least_timeout);
        let network = Network::new(&scenario.topology, port, senders, HEADER, options.seed)
            .map_err(|error| Error::Parameters(error.to_string()))?;
        let told = RefCell::new(0);
        let tell = |time: Nanos| {
            let done = time.min(*options.duration).0 / UNIT;
            self.observer.advance(done - told.replace(done));
        };
        let watch = |so_far: &mut Outcome| {
            tell(so_far.end);
            !self.observer.interrupted()
        };
        let flows = scenario.flows.iter().map(|flow| flow.spec);
        let outcome = network.run_watched(flows, *options.duration, watch);
        self.observer.go_on()?;
        tell(*options.duration);
        let outcome = outcome.map_err(|error| Error::Internal(error.to_string()))?;
        Ok((outcome, record))
    }

    fn found(&self, outcome: &Outcome, record: &Record) -> Run {
        let probes = || outcome.completed.iter().filter(|flow| self.scenario.is_probe(&flow.spec));
        let mut times = Distribution::default();
        for probe in probes() {
            times.record(probe.time().0);
        }
        let all = self.scenario.flows.iter().filter(|flow| self.scenario.is_probe(&flow.spec)).count() as u64;
        let alone = record.alone.length();
        Run {
            transport: self.transport,
            policy: self.policy,
            tenants: self.tenants.iter().map(|tenant| self.tenant(tenant, record)).collect(),
            probe_counts: record.tenants[self.tenants.len()].all,
            probes_unfinished: all - times.count(),
            probes: times,
            queue: record.found.clone(),
            alone_bps: (alone > Nanos(0)).then(|| per_second(record.tenants[0].alone_bytes, alone)),
            sent: outcome.counts.sent,
            delivered: outcome.counts.delivered,
            drops: outcome.counts.dropped,
            in_network: outcome.counts.in_network(),
        }
    }

    fn tenant(&self, tenant: &Tenant, record: &Record) -> TenantRun {
        let place = tenant.number - 1;
        let OfTenant { all, measured, measured_bytes, bytes, backlog, backlogs, .. } = &record.tenants[place];
        let flows = self.scenario.flows.iter().zip(&record.flows).filter(|(flow, _)| flow.tenant == place);
        let acknowledged: u64 = flows.map(|(_, progress)| progress.end - progress.before).sum();
        let time = record.measured.length();
        TenantRun {
            tenant: *tenant,
            goodput_bps: per_second(acknowledged, time),
            rate_bps: per_second(*measured_bytes, time),
            all: *all,
            counts: *measured,
            backlog: backlog.clone(),
            rates: bytes.iter().map(|&bytes| per_second(bytes, record.interval)).collect(),
            backlogs: backlogs.clone(),
        }
    }
}

/// Bits per second, for so many bytes in a time.
fn per_second(bytes: u64, time: Nanos) -> f64 {
    bytes as f64 * 8.0 * 1e9 / time.0.max(1) as f64
}
