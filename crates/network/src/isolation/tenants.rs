//! A queue that tells tenants apart.

use trueplane_units::Nanos;

use crate::simulator::port::{Offered, Waiting};
use crate::simulator::{DropTail, PortQueue};

/// The queue of the shared link: a [`PortQueue`] that is told the tenant of each packet.
pub trait TenantQueue {
    /// A packet of a tenant comes.
    fn offer(&mut self, tenant: usize, packet: Waiting, now: Nanos) -> Offered;

    /// Takes the packet that is sent next; `None` if and only if nothing waits.
    fn next(&mut self) -> Option<u32>;

    /// Number of packets that wait.
    fn len(&self) -> usize;

    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that are charged to a tenant as of its last packet: those in its bucket, or in its queue. `None` if nothing is charged to single
    /// tenants.
    fn backlog(&self, tenant: usize) -> Option<u64>;
}

/// A FIFO for all tenants.
impl TenantQueue for DropTail {
    #[inline]
    fn offer(&mut self, _tenant: usize, packet: Waiting, now: Nanos) -> Offered {
        PortQueue::offer(self, packet, now)
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        PortQueue::next(self)
    }

    fn len(&self) -> usize {
        PortQueue::len(self)
    }

    fn backlog(&self, _tenant: usize) -> Option<u64> {
        None
    }
}
