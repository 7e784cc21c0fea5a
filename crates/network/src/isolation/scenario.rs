//! Hosts, links, and the flows of all tenants.

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_study::Error;
use trueplane_units::Nanos;

use super::options::Options;
use super::policy::PACKET;
use super::shared::OfFlow;
use crate::simulator::{FlowSpec, Link, Topology};

/// The hosts, at one switch, and the flows.
#[derive(Debug)]
pub(super) struct Scenario {
    pub(super) topology: Topology,
    /// Port of the shared link, which leads to the host that receives everything.
    pub(super) shared: usize,
    /// Flows in the order of their starts.
    pub(super) flows: Vec<OfFlow>,
    /// Time of an empty packet to the receiver and back.
    pub(super) round_trip: Nanos,
}

impl Scenario {
    /// The scenario of these parameters. All chance is in it: the delays of hosts, the starts of flows within a round trip, and the probes.
    pub(super) fn new(options: &Options) -> Result<Self, Error> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(options.seed);
        let senders: u32 = options.flows.iter().map(|flows| **flows).sum();
        let (probe, receiver, switch) = (senders, senders + 1, senders + 2);
        let delay = options.link_delay;
        let mut links = Vec::new();
        for host in 0..receiver {
            let tenth = delay.0 / 10;
            let delay = Nanos(delay.0 - tenth).after(Nanos(random.random_range(0..=2 * tenth)));
            links.push(Link { from: host, to: switch, rate: *options.rate, delay });
            links.push(Link { from: switch, to: host, rate: *options.rate, delay });
        }
        let shared = links.len();
        links.push(Link { from: switch, to: receiver, rate: *options.rate, delay });
        links.push(Link { from: receiver, to: switch, rate: *options.rate, delay });
        let topology =
            Topology::new(switch + 1, switch, links).map_err(|error| Error::Parameters(error.to_string()))?;
        let round_trip = Nanos(delay.0.saturating_mul(4));
        let mut flows = Vec::new();
        let mut host = 0;
        // So many that no flow ends: more than the link carries in the whole time.
        let bits = u128::from(options.rate.0) * u128::from(options.duration.0) / 1_000_000_000;
        let bytes = u64::try_from(bits / 8).unwrap_or(u64::MAX / 4).saturating_add(u64::from(PACKET));
        for (tenant, count) in options.flows.iter().enumerate() {
            for _ in 0..**count {
                let start = options.start(tenant).after(Nanos(random.random_range(0..=round_trip.0)));
                flows.push(OfFlow { tenant, spec: FlowSpec { start, from: host, to: receiver, bytes } });
                host += 1;
            }
        }
        let span = options.measured();
        let mut now = span.from.0 as f64;
        loop {
            let wait: f64 = Exp1.sample(&mut random);
            now += wait * options.probe_interval.0 as f64;
            let start = Nanos(now as u64);
            if start >= span.until {
                break;
            }
            let spec = FlowSpec { start, from: probe, to: receiver, bytes: options.probe_size.0 };
            flows.push(OfFlow { tenant: options.tenants(), spec });
        }
        flows.sort_by_key(|flow| flow.spec.start);
        Ok(Self { topology, shared, flows, round_trip })
    }

    /// Whether a flow is a probe.
    pub(super) fn is_probe(&self, spec: &FlowSpec) -> bool {
        // Its host is the last one before the receiver.
        spec.from + 1 == spec.to
    }
}
