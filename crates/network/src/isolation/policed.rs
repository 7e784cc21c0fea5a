//! Limiters in front of a FIFO: policing, as a switch or a network card does it.

use trueplane_limit::Verdict;
use trueplane_limit::limiter::Kept;
use trueplane_units::Nanos;

use super::tenants::TenantQueue;
use crate::simulator::port::{Offered, Waiting};
use crate::simulator::{DropTail, PortQueue};

/// A limiter for each tenant. What passes waits in one FIFO; nothing waits in a limiter.
///
/// A packet that passes its limiter and finds the FIFO full has been charged all the same, as in a switch, where the limiter comes first.
#[derive(Clone, Debug)]
pub struct Policed<L> {
    /// Limiters with the time of their last packet. Tenants behind the last one are not limited.
    limiters: Vec<(L, Nanos)>,
    fifo: DropTail,
}

impl<L: Kept> Policed<L> {
    /// These limiters, tenant by tenant, before a FIFO. Tenants beyond them are not limited.
    pub fn new(limiters: impl IntoIterator<Item = L>, fifo: DropTail) -> Self {
        Self { limiters: limiters.into_iter().map(|limiter| (limiter, Nanos(0))).collect(), fifo }
    }
}

impl<L: Kept> TenantQueue for Policed<L> {
    #[inline]
    fn offer(&mut self, tenant: usize, packet: Waiting, now: Nanos) -> Offered {
        let verdict = match self.limiters.get_mut(tenant) {
            None => Verdict::Pass,
            Some((limiter, last)) => {
                limiter.refresh(*last, now);
                *last = now;
                limiter.offer(packet.bytes, now)
            }
        };
        if verdict == Verdict::Drop {
            return Offered { dropped: Some(packet.handle), marks: false };
        }
        let offered = PortQueue::offer(&mut self.fifo, packet, now);
        Offered { marks: offered.marks || verdict == Verdict::Mark && offered.dropped.is_none(), ..offered }
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        PortQueue::next(&mut self.fifo)
    }

    fn len(&self) -> usize {
        PortQueue::len(&self.fifo)
    }

    fn backlog(&self, tenant: usize) -> Option<u64> {
        self.limiters.get(tenant).and_then(|(limiter, _)| limiter.occupancy()).map(|bytes| bytes.0)
    }
}
