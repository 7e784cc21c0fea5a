//! The rows of `limit isolation`.

use trueplane_study::metrics::Distribution;
use trueplane_units::{BitsPerSec, Nanos};

use super::policy::{PolicyName, TransportName};
use super::record::{Counts, Span};

/// Everything that is found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Tenants, that of the probes aside.
    pub tenants: Vec<Tenant>,
    /// Goodput of each tenant by the classical model, in bits per second.
    pub fair_bps: f64,
    /// The same on the link, headers included.
    pub fair_link_bps: f64,
    /// Time while all tenants send and are measured.
    pub measured: Span,
    /// Time of an empty packet to the receiver and back on a network without other packets.
    pub round_trip: Nanos,
    /// Length of the intervals of pictures.
    pub interval: Nanos,
    /// Runs, those of one kind of senders together.
    pub runs: Vec<Run>,
}

/// A tenant, as it was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tenant {
    /// Number of the tenant, from 1 on.
    pub number: usize,
    /// Number of its flows.
    pub flows: u32,
    /// Rate that it may have on the link, headers included.
    pub limit: BitsPerSec,
}

impl Tenant {
    /// Its number and its flows in words.
    pub fn title(&self) -> String {
        let plural = if self.flows == 1 { "" } else { "s" };
        format!("tenant {} ({} flow{plural})", self.number, self.flows)
    }
}

/// One policy with one kind of senders.
#[derive(Clone, Debug)]
pub struct Run {
    /// Senders of all flows.
    pub transport: TransportName,
    /// Policy at the port of the shared link.
    pub policy: PolicyName,
    /// Tenants in their order.
    pub tenants: Vec<TenantRun>,
    /// Packets of probes at the port.
    pub probe_counts: Counts,
    /// Completion times of probes, in nanoseconds.
    pub probes: Distribution,
    /// Probes that were on their way at the end.
    pub probes_unfinished: u64,
    /// Bytes that packets find waiting in the port, while all tenants send.
    pub queue: Distribution,
    /// Rate of the first tenant on the link while it is alone; none if it never is.
    pub alone_bps: Option<f64>,
    /// Packets that hosts sent: delivered + drops + packets in the network at the end.
    pub sent: u64,
    /// Packets that reached their host.
    pub delivered: u64,
    /// Packets that ports dropped.
    pub drops: u64,
    /// Packets that are in the network at the end.
    pub in_network: u64,
}

/// A tenant in a run.
#[derive(Clone, Debug)]
pub struct TenantRun {
    /// Tenant that it is.
    pub tenant: Tenant,
    /// Bits per second that its senders know to have arrived, while all tenants send: without headers and repetitions.
    pub goodput_bps: f64,
    /// Bits per second on the link, while all tenants send.
    pub rate_bps: f64,
    /// Packets of the whole run.
    pub all: Counts,
    /// Packets while all tenants send.
    pub counts: Counts,
    /// Bytes that are charged to the tenant after each of its packets; empty if nothing is charged to single tenants.
    pub backlog: Distribution,
    /// Rate on the link in bits per second, by interval.
    pub rates: Vec<f64>,
    /// The most bytes that are charged to it, by interval; `None` without packets, or if nothing is charged to single tenants.
    pub backlogs: Vec<Option<u64>>,
}

impl TenantRun {
    /// Share of the packets that were dropped, while all tenants send.
    pub fn drop_share(&self) -> f64 {
        self.counts.dropped as f64 / self.counts.offered.max(1) as f64
    }

    /// Share of the packets that were marked, while all tenants send.
    pub fn mark_share(&self) -> f64 {
        self.counts.marked as f64 / self.counts.offered.max(1) as f64
    }
}

impl Run {
    /// Part of a tenant in what all tenants have on the link, over its part in all limits, less 1.
    pub fn share_error(&self, tenant: &TenantRun) -> f64 {
        let limits: f64 = self.tenants.iter().map(|one| one.tenant.limit.0 as f64).sum();
        let part = tenant.tenant.limit.0 as f64 / limits;
        tenant.rate_bps / self.rate_bps().max(1.0) / part - 1.0
    }

    /// The error of the tenant whose share is furthest from that of its limit.
    pub fn worst_error(&self) -> f64 {
        let errors = self.tenants.iter().map(|tenant| self.share_error(tenant));
        errors.max_by(|one, other| one.abs().total_cmp(&other.abs())).unwrap_or(0.0)
    }

    /// Rate of all tenants together on the link, in bits per second.
    pub fn rate_bps(&self) -> f64 {
        self.tenants.iter().map(|tenant| tenant.rate_bps).sum()
    }

    /// Goodput of all tenants together, in bits per second.
    pub fn goodput_bps(&self) -> f64 {
        self.tenants.iter().map(|tenant| tenant.goodput_bps).sum()
    }

    /// Share of the packets of all tenants that were dropped, while all send.
    pub fn drop_share(&self) -> f64 {
        let sum = |of: fn(&Counts) -> u64| self.tenants.iter().map(|tenant| of(&tenant.counts)).sum::<u64>();
        sum(|counts| counts.dropped) as f64 / sum(|counts| counts.offered).max(1) as f64
    }

    /// Share of the packets of all tenants that were marked, while all send.
    pub fn mark_share(&self) -> f64 {
        let sum = |of: fn(&Counts) -> u64| self.tenants.iter().map(|tenant| of(&tenant.counts)).sum::<u64>();
        sum(|counts| counts.marked) as f64 / sum(|counts| counts.offered).max(1) as f64
    }

    /// Mean completion time of probes, in nanoseconds; none if no probe came back.
    pub fn probe_mean_ns(&self) -> Option<f64> {
        (self.probes.count() > 0).then(|| self.probes.mean())
    }

    /// Time in which 99 % of the probes complete; none if no probe came back.
    pub fn probe_p99(&self) -> Option<Nanos> {
        (self.probes.count() > 0).then(|| Nanos(self.probes.quantile(0.99)))
    }
}

impl Found {
    /// The senders in the order in which they ran.
    pub fn transports(&self) -> Vec<TransportName> {
        trueplane_units::distinct(self.runs.iter().map(|run| run.transport))
    }

    /// A run.
    pub fn run(&self, transport: TransportName, policy: PolicyName) -> Option<&Run> {
        self.runs.iter().find(|run| (run.transport, run.policy) == (transport, policy))
    }

    /// Place of the tenant with the fewest flows, and of that with the most.
    pub fn extremes(&self) -> (usize, usize) {
        let place = |most: bool| {
            let by = |one: &(usize, &Tenant)| if most { one.1.flows } else { u32::MAX - one.1.flows };
            // Of equals the first.
            self.tenants.iter().enumerate().rev().max_by_key(by).map_or(0, |(place, _)| place)
        };
        (place(false), place(true))
    }
}
