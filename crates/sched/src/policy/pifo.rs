//! The exact order.

use trueplane_pqueue as pqueue;
use trueplane_pqueue::{BadShape, Overflow};

use crate::{Packet, Scheduler};

/// PIFO: the smallest rank leaves first, and the largest is dropped.
///
/// What all others approximate. Packets of one rank leave in the order in which they came. When it is full, a newcomer takes the place
/// of the oldest packet of the largest rank if that is larger than its own, and is dropped otherwise.
///
/// - Rank: any.
/// - Cost: that of the queue below, [`pqueue::Pifo`]: O(capacity), which is little for the buffer of a port.
/// - Source: Sivaraman et al., *Programmable Packet Scheduling at Line Rate*, SIGCOMM 2016. Departure: the paper leaves drops to
///   what comes before the PIFO; those here keep the best that came, which is the PIFO that AIFO and PACKS approximate.
#[derive(Clone, Debug)]
pub struct Pifo {
    queue: pqueue::Pifo<Packet>,
}

impl Pifo {
    /// A buffer for `capacity` packets.
    ///
    /// # Errors
    ///
    /// As [`pqueue::Pifo::new`].
    pub fn new(capacity: usize) -> Result<Self, BadShape> {
        Ok(Self { queue: pqueue::Pifo::new(capacity, Overflow::DropIfWorst)? })
    }
}

impl Scheduler for Pifo {
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        match self.queue.insert(packet.rank.0, packet) {
            Ok(displaced) => displaced.map(|(_, packet)| packet),
            Err(refused) => Some(refused.into_item()),
        }
    }

    fn dequeue(&mut self) -> Option<Packet> {
        self.queue.extract_min().map(|(_, packet)| packet)
    }

    fn pass(&mut self, _packet: Packet) -> bool {
        debug_assert!(self.queue.is_empty());
        true
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn capacity(&self) -> usize {
        self.queue.capacity()
    }
}
