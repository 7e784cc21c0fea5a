//! What is counted at the port of the shared link.

use trueplane_study::metrics::Distribution;
use trueplane_units::Nanos;

/// Packets at the port: offered = sent + dropped + waiting at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that came.
    pub offered: u64,
    /// Packets that were put on the link.
    pub sent: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Packets that were marked.
    pub marked: u64,
}

/// Times between which something is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Time from which on it is.
    pub from: Nanos,
    /// Time from which on it is not.
    pub until: Nanos,
}

impl Span {
    /// Whether a time lies in it.
    #[inline]
    pub fn contains(&self, time: Nanos) -> bool {
        (self.from..self.until).contains(&time)
    }

    /// Length of the span.
    pub fn length(&self) -> Nanos {
        self.until.since(self.from)
    }
}

/// A tenant at the port.
#[derive(Clone, Debug, Default)]
pub struct OfTenant {
    /// Packets of the whole run.
    pub all: Counts,
    /// Packets while all tenants send.
    pub measured: Counts,
    /// Bytes that were put on the link while all tenants send.
    pub measured_bytes: u64,
    /// Bytes that were put on the link while the first tenant is alone.
    pub alone_bytes: u64,
    /// Bytes that were put on the link, by interval.
    pub bytes: Vec<u64>,
    /// Bytes that are charged to the tenant after each of its packets, while all tenants send; empty if nothing is charged.
    pub backlog: Distribution,
    /// The most bytes that are charged to the tenant after one of its packets, by interval; `None` without such packets.
    pub backlogs: Vec<Option<u64>>,
}

/// Bytes of a flow that its sender knows to have arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Bytes before all tenants send.
    pub before: u64,
    /// Bytes at the end.
    pub end: u64,
}

/// Everything that is counted.
#[derive(Clone, Debug)]
pub struct Record {
    /// Time while all tenants send and are measured.
    pub measured: Span,
    /// Time while the first tenant is alone and measured.
    pub alone: Span,
    /// Length of an interval.
    pub interval: Nanos,
    /// Tenants, that of the probes last.
    pub tenants: Vec<OfTenant>,
    /// Flows by their number.
    pub flows: Vec<Progress>,
    /// Bytes that packets find waiting in the port, while all tenants send.
    pub found: Distribution,
}

impl Record {
    /// Nothing is counted yet.
    pub fn new(tenants: usize, flows: usize, [measured, alone]: [Span; 2], interval: Nanos) -> Self {
        // The last interval counts only if it is a whole one.
        let intervals = (measured.until.0 / interval.0.max(1)) as usize;
        let tenant =
            OfTenant { bytes: vec![0; intervals], backlogs: vec![None; intervals], ..OfTenant::default() };
        Self {
            measured,
            alone,
            interval,
            tenants: vec![tenant; tenants],
            flows: vec![Progress::default(); flows],
            found: Distribution::default(),
        }
    }

    fn place(&self, time: Nanos) -> usize {
        (time.0 / self.interval.0.max(1)) as usize
    }

    /// A packet of a tenant comes and finds so many bytes; its flow has so many bytes acknowledged.
    pub(super) fn offered(&mut self, tenant: usize, flow: usize, acknowledged: u64, found: u64, now: Nanos) {
        let is_measured = self.measured.contains(now);
        let progress = &mut self.flows[flow];
        progress.end = progress.end.max(acknowledged);
        if now < self.measured.from {
            progress.before = progress.end;
        }
        let one = &mut self.tenants[tenant];
        one.all.offered += 1;
        if is_measured {
            one.measured.offered += 1;
            self.found.record(found);
        }
    }

    /// A packet of a tenant is dropped.
    pub(super) fn dropped(&mut self, tenant: usize, now: Nanos) {
        let one = &mut self.tenants[tenant];
        one.all.dropped += 1;
        one.measured.dropped += u64::from(self.measured.contains(now));
    }

    /// A packet of a tenant is marked.
    pub(super) fn marked(&mut self, tenant: usize, now: Nanos) {
        let one = &mut self.tenants[tenant];
        one.all.marked += 1;
        one.measured.marked += u64::from(self.measured.contains(now));
    }

    /// So many bytes are charged to a tenant.
    pub(super) fn charged(&mut self, tenant: usize, bytes: u64, now: Nanos) {
        let place = self.place(now);
        let one = &mut self.tenants[tenant];
        if let Some(most) = one.backlogs.get_mut(place) {
            *most = Some(most.map_or(bytes, |known| known.max(bytes)));
        }
        if self.measured.contains(now) {
            one.backlog.record(bytes);
        }
    }

    /// A packet of a tenant is put on the link.
    pub(super) fn sent(&mut self, tenant: usize, bytes: u32, now: Nanos) {
        let (place, bytes) = (self.place(now), u64::from(bytes));
        let one = &mut self.tenants[tenant];
        one.all.sent += 1;
        if let Some(sum) = one.bytes.get_mut(place) {
            *sum += bytes;
        }
        if self.measured.contains(now) {
            one.measured.sent += 1;
            one.measured_bytes += bytes;
        }
        if self.alone.contains(now) {
            one.alone_bytes += bytes;
        }
    }
}
