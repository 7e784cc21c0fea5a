//! The port of the shared link, which sees every packet of every tenant.

use trueplane_units::{BitsPerSec, Nanos};

use super::record::Record;
use super::tenants::TenantQueue;
use crate::simulator::port::{Offered, Waiting};
use crate::simulator::{DropTail, FlowSpec, PortQueue};

/// A flow as the port knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OfFlow {
    /// Tenant that it belongs to.
    pub tenant: usize,
    /// Flow that it is.
    pub spec: FlowSpec,
}

/// The queue of the shared link, with a record of what happens at it.
///
/// The port that it stands at asks for the next packet when its line becomes free, or when a packet comes to an idle line. So the time of
/// that is known without being told: it is the later one of both.
#[derive(Debug)]
pub struct SharedPort<'a, Q> {
    queue: Q,
    flows: &'a [OfFlow],
    rate: BitsPerSec,
    heeds_marks: bool,
    record: &'a mut Record,
    /// Tenant and size of each packet that waits, by its place in the slab.
    waiting: Vec<(usize, u32)>,
    bytes: u64,
    /// Time of the last packet that came.
    now: Nanos,
    /// Time at which the line is free.
    free: Nanos,
}

impl<'a, Q: TenantQueue> SharedPort<'a, Q> {
    /// A port of this rate for flows by their number. `heeds_marks`: packets may be marked.
    pub fn new(
        queue: Q,
        flows: &'a [OfFlow],
        rate: BitsPerSec,
        heeds_marks: bool,
        record: &'a mut Record,
    ) -> Self {
        Self {
            queue,
            flows,
            rate,
            heeds_marks,
            record,
            waiting: Vec::new(),
            bytes: 0,
            now: Nanos(0),
            free: Nanos(0),
        }
    }
}

impl<Q: TenantQueue> PortQueue for SharedPort<'_, Q> {
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered {
        // Of each flow and its acknowledgements, which take another port, the number is half of what a queue is told.
        let number = (packet.flow >> 1) as usize;
        let flow = &self.flows[number];
        let tenant = flow.tenant;
        self.now = now;
        self.record.offered(tenant, number, flow.spec.bytes - packet.remaining, self.bytes, now);
        let place = packet.handle as usize;
        if place >= self.waiting.len() {
            self.waiting.resize(place + 1, (0, 0));
        }
        self.waiting[place] = (tenant, packet.bytes);
        self.bytes += u64::from(packet.bytes);
        let offered = self.queue.offer(tenant, packet, now);
        if let Some(dropped) = offered.dropped {
            let (tenant, bytes) = self.waiting[dropped as usize];
            self.bytes -= u64::from(bytes);
            self.record.dropped(tenant, now);
        }
        if offered.marks && self.heeds_marks {
            self.record.marked(tenant, now);
        }
        if let Some(backlog) = self.queue.backlog(tenant) {
            self.record.charged(tenant, backlog, now);
        }
        offered
    }

    fn next(&mut self) -> Option<u32> {
        let handle = self.queue.next()?;
        let (tenant, bytes) = self.waiting[handle as usize];
        self.bytes -= u64::from(bytes);
        let start = self.free.max(self.now);
        let bits = u64::from(bytes) * 8 * 1_000_000_000;
        self.free = start.after(Nanos(bits.div_ceil(self.rate.0.max(1))));
        self.record.sent(tenant, bytes, start);
        Some(handle)
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}

/// The ports of the network: the shared one, and those of hosts.
#[derive(Debug)]
pub enum Port<'a, Q> {
    /// Port of a host, or towards one.
    Host(DropTail),
    /// Port of the shared link.
    Shared(SharedPort<'a, Q>),
}

impl<Q: TenantQueue> PortQueue for Port<'_, Q> {
    #[inline]
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered {
        match self {
            Port::Host(queue) => PortQueue::offer(queue, packet, now),
            Port::Shared(queue) => queue.offer(packet, now),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            Port::Host(queue) => PortQueue::next(queue),
            Port::Shared(queue) => queue.next(),
        }
    }

    #[inline]
    fn len(&self) -> usize {
        match self {
            Port::Host(queue) => PortQueue::len(queue),
            Port::Shared(queue) => queue.len(),
        }
    }
}
