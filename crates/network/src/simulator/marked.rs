//! Schedulers whose ports mark packets.

use std::collections::HashMap;

use trueplane_units::Nanos;

use super::port::{MarkingThreshold, Offered, PortQueue, Waiting};

/// A queue whose port marks what comes while more than a threshold waits, whatever the queue does with it.
///
/// DCTCP needs such marks. A scheduler does not give them: it orders packets and drops them.
#[derive(Clone, Debug)]
pub struct Marked<Q> {
    queue: Q,
    threshold: MarkingThreshold,
    /// Bytes that wait.
    bytes: u64,
    /// Length of each packet that waits, by its handle.
    lengths: HashMap<u32, u32>,
}

impl<Q: PortQueue> Marked<Q> {
    /// An empty queue and its threshold.
    pub fn new(queue: Q, threshold: MarkingThreshold) -> Self {
        Self { queue, threshold, bytes: 0, lengths: HashMap::new() }
    }

    /// A packet waits no more.
    fn leave(&mut self, handle: u32) {
        self.bytes -= self.lengths.remove(&handle).map_or(0, u64::from);
    }
}

impl<Q: PortQueue> PortQueue for Marked<Q> {
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered {
        let marks = self.threshold.marks(self.bytes, packet.bytes);
        let offered = self.queue.offer(packet, now);
        self.lengths.insert(packet.handle, packet.bytes);
        self.bytes += u64::from(packet.bytes);
        if let Some(dropped) = offered.dropped {
            self.leave(dropped);
        }
        Offered { marks: marks || offered.marks, ..offered }
    }

    fn next(&mut self) -> Option<u32> {
        let handle = self.queue.next()?;
        self.leave(handle);
        Some(handle)
    }

    fn pass(&mut self, packet: Waiting, now: Nanos) -> Offered {
        let offered = self.queue.pass(packet, now);
        Offered { marks: offered.marks || self.threshold.marks(0, packet.bytes), ..offered }
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}
