//! The parameters of `limit isolation`.

use trueplane_study::Error;
use trueplane_study::prose::beyond;
use trueplane_units::{BitsPerSec, Bytes, Choices, List, Nanos, Positive, Within, parameters};

use super::policy::{Mechanism, PACKET, PolicyName, SEGMENT, TransportName};
use super::record::Span;

/// Tenants, at most.
const MOST_TENANTS: usize = 16;
/// Flows of a tenant, at most.
const MOST_FLOWS: u64 = 1_000;
/// More packets than these, under all policies and senders together, are refused: they take hours.
const MOST_PACKETS: f64 = 1e10;
/// Probes, at most.
const MOST_PROBES: u64 = 2_000_000;
/// Parts of the duration for which pictures show the rates, unless the user gives an interval.
const INTERVALS: u64 = 200;
/// More intervals than these are no picture.
const MOST_INTERVALS: u64 = 100_000;
/// Part of the link that the tenants' limits have together, in percent: the rest keeps the queue of the link short.
const LIMITED_PERCENT: u64 = 95;

/// Heading of help texts for the network.
const NETWORK: &str = "The network";
/// Heading of help texts for the port of the shared link.
const PORT: &str = "The port of the shared link";
/// Heading of help texts for probes.
const PROBES: &str = "Probes";

parameters! {
    /// Parameters of `limit isolation`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Policies to compare.
        pub policies: Choices<PolicyName> => { value: "LIST", default: "all" },
        /// Senders of all flows. A list varies them.
        pub transport: Choices<TransportName> => { value: "LIST", default: "dctcp,cubic" },
        /// Number of flows of each tenant.
        pub flows: List<Within<u32, 1, MOST_FLOWS>> => { value: "LIST", default: "10,100" },
        /// Rate of the shared link.
        pub rate: Positive<BitsPerSec> => { value: "RATE", default: "100Gbps" },
        /// Limit of each tenant, in the order of --flows. Headers of packets count.
        pub limit: Option<List<Positive<BitsPerSec>>> =>
            { value: "LIST", default_words: "equal parts of 95% of the rate" },
        /// Simulated time. What is measured begins when all tenants have sent for a third of the rest.
        pub duration: Positive<Nanos> => { value: "TIME", default: "50ms" },
        /// Time between the starts of two tenants.
        pub stagger: Nanos => { value: "TIME", default: "10ms" },
        /// Bytes that the bucket of each limiter holds.
        pub burst: Positive<Bytes> => { value: "SIZE", default: "1MB", heading: PORT },
        /// A packet is marked if more than so many bytes wait with it, or with limiters if more are in the bucket of its tenant.
        pub mark: Positive<Bytes> => { value: "SIZE", default: "150kB", heading: PORT },
        /// Bytes that can wait. With drr, the queue of each tenant has an equal part.
        pub buffer: Positive<Bytes> => { value: "SIZE", default: "1MB", heading: PORT },
        /// Propagation delay of each link. Those of hosts differ from it by up to a tenth, so that flows do not move in step.
        pub link_delay: Nanos => { value: "TIME", default: "25us", heading: NETWORK },
        /// Least retransmission time-out of senders, and the first one.
        pub least_timeout: Positive<Nanos> => { value: "TIME", default: "1ms", heading: NETWORK },
        /// Mean time between the starts of two probes.
        pub probe_interval: Positive<Nanos> => { value: "TIME", default: "20us", heading: PROBES },
        /// Size of a probe, which is one packet.
        pub probe_size: Within<Bytes, 1, { SEGMENT as u64 }> => { value: "SIZE", default: "1000B", heading: PROBES },
        /// Interval over which the pictures over time take the rates.
        pub bin: Option<Positive<Nanos>> => { value: "TIME", default_words: "a 200th of the duration" },
        /// Seed of the random number generator.
        pub seed: u64 => { value: "SEED", default: "1" },
    }
}

impl Options {
    /// Number of tenants, that of the probes aside.
    pub(super) fn tenants(&self) -> usize {
        self.flows.len()
    }

    /// Limit of each tenant.
    pub(super) fn limits(&self) -> Vec<BitsPerSec> {
        let part = u128::from(self.rate.0) * u128::from(LIMITED_PERCENT) / 100 / self.tenants() as u128;
        match &self.limit {
            Some(limits) => limits.iter().map(|limit| limit.get()).collect(),
            None => vec![BitsPerSec((part as u64).max(1)); self.tenants()],
        }
    }

    /// Time at which a tenant starts.
    pub(super) fn start(&self, tenant: usize) -> Nanos {
        Nanos(self.stagger.0.saturating_mul(tenant as u64))
    }

    /// Time while all tenants send, but for a third of it in which they find their windows.
    pub(super) fn measured(&self) -> Span {
        let last = self.start(self.tenants() - 1);
        let third = self.duration.since(last).0 / 3;
        Span { from: last.after(Nanos(third)), until: *self.duration }
    }

    /// Time while the first tenant is alone, but for a half of it in which it finds its windows. Empty if no other comes later.
    pub(super) fn alone(&self) -> Span {
        let until = if self.tenants() > 1 { self.start(1) } else { Nanos(0) };
        Span { from: Nanos(until.0 / 2), until }
    }

    /// Interval over which pictures take the rates.
    pub(super) fn interval(&self) -> Nanos {
        self.bin.map_or_else(|| Nanos((self.duration.0 / INTERVALS).max(1)), |bin| *bin)
    }

    /// Rate of the probes on the link, in bits per second.
    pub(super) fn probe_bits(&self) -> f64 {
        let bytes = self.probe_size.0 + u64::from(PACKET - SEGMENT);
        bytes as f64 * 8.0 / (self.probe_interval.0 as f64 / 1e9)
    }

    /// Share of each tenant in the link by the classical model: an equal part of what the probes leave, in bits per second.
    pub(super) fn fair_bits(&self) -> f64 {
        (self.rate.0 as f64 - self.probe_bits()).max(0.0) / self.tenants() as f64
    }

    /// Refuses what does not fit together.
    pub(super) fn check(&self) -> Result<(), Error> {
        let bad = |message: String| Err(Error::Parameters(message));
        let tenants = self.tenants();
        if tenants > MOST_TENANTS {
            return bad(format!("--flows: expected at most {MOST_TENANTS} tenants, got {tenants}"));
        }
        if let Some(limits) = self.limit.as_ref().filter(|limits| limits.len() != tenants) {
            let got = limits.len();
            return bad(format!(
                "--limit: expected a limit for each of the {tenants} tenants of --flows, got {got}"
            ));
        }
        let last = self.start(tenants - 1);
        if self.measured().length() == Nanos(0) || last >= *self.duration {
            return bad(format!(
                "--duration {}: expected more than {last}, when the last tenant starts",
                *self.duration
            ));
        }
        if self.burst.0 < u64::from(PACKET) {
            return bad(format!(
                "--burst {}B: expected {PACKET} bytes or more, those of a packet",
                self.burst.0
            ));
        }
        let marks = |policy: &PolicyName| {
            matches!(policy.properties().mechanism, Mechanism::Limiter { marks: true, .. })
        };
        // Such a limiter would drop before it marks.
        if *self.mark > *self.burst && self.policies.iter().any(marks) {
            return bad(format!(
                "--mark {}B: expected at most the --burst of {}B, or only --policies whose limiters do not mark",
                self.mark.0, self.burst.0
            ));
        }
        let queues = tenants as u64 + 1;
        if self.buffer.0 / queues < u64::from(PACKET) {
            let least = queues * u64::from(PACKET);
            return bad(format!(
                "--buffer {}B: expected {least} bytes or more, a packet for each tenant",
                self.buffer.0
            ));
        }
        let probes = self.measured().length().0 / self.probe_interval.0;
        if probes > MOST_PROBES {
            return bad(format!(
                "--probe-interval {}: expected at most {MOST_PROBES} probes, got {probes}",
                *self.probe_interval
            ));
        }
        if self.probe_bits() > self.rate.0 as f64 / 2.0 {
            return bad(format!(
                "--probe-interval {}: expected probes that take at most half of {}",
                *self.probe_interval, *self.rate
            ));
        }
        let intervals = self.duration.0 / self.interval().0;
        if !(1..=MOST_INTERVALS).contains(&intervals) {
            return bad(format!(
                "--bin {}: expected 1 to {MOST_INTERVALS} intervals in {}",
                self.interval(),
                *self.duration
            ));
        }
        self.check_work()
    }

    fn check_work(&self) -> Result<(), Error> {
        let runs = (self.policies.len() * self.transport.len()) as f64;
        let packets = self.rate.0 as f64 / 8.0 / f64::from(PACKET) * (self.duration.0 as f64 / 1e9) * runs;
        if packets > MOST_PACKETS {
            return Err(Error::Parameters(format!(
                "--duration {} at {} is {} packets under all policies and senders together; at most {MOST_PACKETS:.0e} are simulated",
                *self.duration,
                *self.rate,
                beyond(packets, MOST_PACKETS)
            )));
        }
        Ok(())
    }
}
