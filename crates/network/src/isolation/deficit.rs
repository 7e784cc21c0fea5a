//! A queue for each tenant, served in turn.

use std::collections::VecDeque;

use trueplane_units::Nanos;

use super::tenants::TenantQueue;
use crate::simulator::port::{Offered, Waiting};

/// Deficit round robin over the FIFOs of tenants.
///
/// Each tenant that has packets sends up to its quantum of bytes in a turn. What a packet leaves of the quantum, because the next packet is
/// larger, is kept for the next turn. A tenant without packets loses its turn and what it had kept, so the others send faster: they borrow
/// what it leaves, as the classes of HTB do whose ceiling is the rate of the link.
///
/// - Memory: a FIFO for each tenant, which drops what does not fit, and marks what comes while more than a threshold waits in it.
/// - Cost: O(1) a packet, if no quantum is smaller than a packet.
/// - Source: Shreedhar and Varghese, SIGCOMM 1995, §3. Departure: the quantum is added when a tenant's turn ends, and when it gets packets, and
///   not when its turn begins.
#[derive(Clone, Debug)]
pub struct DeficitRoundRobin {
    queues: Vec<Queue>,
    /// Tenants that have packets, the one whose turn it is first.
    turns: VecDeque<usize>,
    /// Bytes that each queue holds.
    capacity: u64,
    threshold: u64,
    len: usize,
}

/// The packets of a tenant.
#[derive(Clone, Debug)]
struct Queue {
    packets: VecDeque<(u32, u32)>,
    bytes: u64,
    quantum: u64,
    /// Bytes that it may send in this turn.
    deficit: u64,
}

impl DeficitRoundRobin {
    /// Queues for `capacity` bytes each with these quanta, which mark what comes while more than `threshold` bytes would wait with it. A
    /// quantum of 0 counts as 1.
    pub fn new(quanta: impl IntoIterator<Item = u64>, capacity: u64, threshold: u64) -> Self {
        let queue =
            |quantum: u64| Queue { packets: VecDeque::new(), bytes: 0, quantum: quantum.max(1), deficit: 0 };
        Self {
            queues: quanta.into_iter().map(queue).collect(),
            turns: VecDeque::new(),
            capacity,
            threshold,
            len: 0,
        }
    }
}

impl TenantQueue for DeficitRoundRobin {
    fn offer(&mut self, tenant: usize, packet: Waiting, _now: Nanos) -> Offered {
        let queue = &mut self.queues[tenant];
        let with = queue.bytes + u64::from(packet.bytes);
        if with > self.capacity {
            return Offered { dropped: Some(packet.handle), marks: false };
        }
        if queue.packets.is_empty() {
            queue.deficit = queue.quantum;
            self.turns.push_back(tenant);
        }
        queue.bytes = with;
        queue.packets.push_back((packet.handle, packet.bytes));
        self.len += 1;
        Offered { dropped: None, marks: with > self.threshold }
    }

    fn next(&mut self) -> Option<u32> {
        loop {
            let &tenant = self.turns.front()?;
            let queue = &mut self.queues[tenant];
            let &(handle, bytes) = queue.packets.front()?;
            let Some(left) = queue.deficit.checked_sub(u64::from(bytes)) else {
                queue.deficit += queue.quantum;
                self.turns.rotate_left(1);
                continue;
            };
            queue.deficit = left;
            queue.bytes -= u64::from(bytes);
            queue.packets.pop_front();
            self.len -= 1;
            if queue.packets.is_empty() {
                self.turns.pop_front();
            }
            return Some(handle);
        }
    }

    fn len(&self) -> usize {
        self.len
    }

    fn backlog(&self, tenant: usize) -> Option<u64> {
        self.queues.get(tenant).map(|queue| queue.bytes)
    }
}
