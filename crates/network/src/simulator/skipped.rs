//! Ports that use their queue only while the line is busy.

use trueplane_units::Nanos;

use super::port::{Offered, PortQueue, Waiting};

/// A queue that a packet which finds the line idle does not enter.
///
/// A scheduler then neither ranks such a packet nor moves its bounds for it. The ports of the simulator that SP-PIFO's authors published
/// work so.
#[derive(Clone, Debug)]
pub struct SkippedWhenIdle<Q>(pub Q);

impl<Q: PortQueue> PortQueue for SkippedWhenIdle<Q> {
    #[inline]
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered {
        self.0.offer(packet, now)
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.0.next()
    }

    #[inline]
    fn pass(&mut self, _packet: Waiting, _now: Nanos) -> Offered {
        Offered::default()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
