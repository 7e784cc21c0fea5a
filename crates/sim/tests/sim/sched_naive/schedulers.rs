//! Schedulers, written out: all that waits is in a list in the order of arrival.

use std::cmp::Reverse;

use trueplane_core::sched::policy::{Adapts, PushDown};
use trueplane_core::sched::{Packet, Scheduler};
use trueplane_sim::sched::scheduler::{SchedulerName, Settings};

/// The naive scheduler of this name, if there is one.
pub(crate) fn written_out(name: SchedulerName, settings: &Settings<'_>) -> Option<Box<dyn Scheduler>> {
    let &Settings { queues, depth, push_down, .. } = settings;
    let capacity = queues * depth;
    match name {
        SchedulerName::Fifo => Some(Box::new(NaiveFifo::new(capacity))),
        SchedulerName::Pifo => Some(Box::new(NaivePifo { capacity, waiting: Vec::new() })),
        SchedulerName::SpPifo | SchedulerName::SpPifoArrivals => {
            let adapts = match name {
                SchedulerName::SpPifo => Adapts::OnAccepted,
                _ => Adapts::OnArrival,
            };
            let (bounds, waiting) = (vec![0; queues], Vec::new());
            Some(Box::new(NaiveSpPifo { depth, push_down, adapts, bounds, waiting }))
        }
        _ => None,
    }
}

/// Takes in what there is room for.
pub(crate) struct NaiveFifo {
    capacity: usize,
    waiting: Vec<Packet>,
}

impl NaiveFifo {
    /// With room for `capacity` packets.
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, waiting: Vec::new() }
    }
}

impl Scheduler for NaiveFifo {
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        self.waiting.push(packet);
        if self.waiting.len() > self.capacity { self.waiting.pop() } else { None }
    }

    fn dequeue(&mut self) -> Option<Packet> {
        (!self.waiting.is_empty()).then(|| self.waiting.remove(0))
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }
}

/// The first of the smallest ranks leaves; of the largest, the first is dropped.
struct NaivePifo {
    capacity: usize,
    waiting: Vec<Packet>,
}

impl Scheduler for NaivePifo {
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        if self.waiting.len() < self.capacity {
            self.waiting.push(packet);
            return None;
        }
        let worst = (0..self.waiting.len()).min_by_key(|&place| Reverse(self.waiting[place].rank))?;
        if self.waiting[worst].rank <= packet.rank {
            return Some(packet);
        }
        let dropped = self.waiting.remove(worst);
        self.waiting.push(packet);
        Some(dropped)
    }

    fn dequeue(&mut self) -> Option<Packet> {
        let best = (0..self.waiting.len()).min_by_key(|&place| self.waiting[place].rank)?;
        Some(self.waiting.remove(best))
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn capacity(&self) -> usize {
        self.capacity
    }
}

/// Every packet with its queue.
struct NaiveSpPifo {
    depth: usize,
    push_down: PushDown,
    adapts: Adapts,
    bounds: Vec<i128>,
    waiting: Vec<(usize, Packet)>,
}

impl Scheduler for NaiveSpPifo {
    /// Algorithm 1 and §4.2.2 of the paper: what reaches a bound pushes it up; what reaches none pushes all of them down.
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        let (rank, before) = (i128::from(packet.rank.0), self.bounds.clone());
        let reached = (0..before.len()).rev().find(|&queue| before[queue] <= rank);
        let queue = reached.unwrap_or(0);
        let is_full = self.waiting.iter().filter(|(other, _)| *other == queue).count() == self.depth;
        if is_full && self.adapts == Adapts::OnAccepted {
            return Some(packet);
        }
        if reached.is_none() {
            for (queue, bound) in self.bounds.iter_mut().enumerate().skip(1) {
                let lower = match self.push_down {
                    PushDown::Cost => *bound - (before[0] - rank),
                    PushDown::QueueBound if queue == 1 => rank,
                    PushDown::QueueBound | PushDown::QueueBoundText => before[queue - 1],
                    PushDown::Rank => *bound - rank,
                    PushDown::One => *bound - 1,
                };
                *bound = lower.max(0);
            }
        }
        self.bounds[queue] = rank;
        if is_full {
            return Some(packet);
        }
        self.waiting.push((queue, packet));
        None
    }

    fn dequeue(&mut self) -> Option<Packet> {
        let first = (0..self.waiting.len()).min_by_key(|&place| self.waiting[place].0)?;
        Some(self.waiting.remove(first).1)
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn capacity(&self) -> usize {
        self.depth * self.bounds.len()
    }
}
