//! Schedulers, written out: all that waits is in a list in the order of arrival.

use std::cmp::Reverse;
use std::collections::HashMap;

use trueplane_sched::policy::SchedulerName;
use trueplane_sched::policy::{Adapts, PushDown};
use trueplane_sched::scheduler::{HEADROOM_PER_MILLE, Settings};
use trueplane_sched::{Packet, Scheduler};

/// The naive scheduler of this name, if there is one.
pub(crate) fn written_out(name: SchedulerName, settings: &Settings<'_>) -> Option<Box<dyn Scheduler>> {
    let &Settings { queues, depth, push_down, window, bytes_per_round, .. } = settings;
    let capacity = queues * depth;
    match name {
        SchedulerName::Fifo => Some(Box::new(NaiveFifo::new(capacity))),
        SchedulerName::Pifo => Some(Box::new(NaivePifo { capacity, waiting: Vec::new() })),
        SchedulerName::SpPifo | SchedulerName::SpPifoArrivals => {
            let adapts = match name {
                SchedulerName::SpPifo => Adapts::OnAccepted,
                _ => Adapts::OnArrival,
            };
            let (bounds, waiting) = (vec![0; queues], Queued::default());
            Some(Box::new(NaiveSpPifo { depth, push_down, adapts, bounds, waiting }))
        }
        SchedulerName::Aifo | SchedulerName::AifoAtMost | SchedulerName::Packs | SchedulerName::PacksPast => {
            let (came, waiting) = (Vec::new(), Queued::default());
            Some(Box::new(NaiveQuantiles { name, queues, depth, window, came, waiting }))
        }
        SchedulerName::Afq | SchedulerName::AfqStrict => Some(Box::new(NaiveAfq {
            is_strict: name == SchedulerName::AfqStrict,
            queues: queues as u64,
            depth,
            bytes: bytes_per_round.into(),
            round: 0,
            bids: HashMap::new(),
            waiting: Vec::new(),
        })),
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

/// Every packet with its queue, in the order of arrival.
#[derive(Default)]
struct Queued(Vec<(usize, Packet)>);

impl Queued {
    fn len_of(&self, queue: usize) -> usize {
        self.0.iter().filter(|(other, _)| *other == queue).count()
    }

    /// The first packet of the first queue that has one.
    fn take_first(&mut self) -> Option<Packet> {
        let first = (0..self.0.len()).min_by_key(|&place| self.0[place].0)?;
        Some(self.0.remove(first).1)
    }
}

struct NaiveSpPifo {
    depth: usize,
    push_down: PushDown,
    adapts: Adapts,
    bounds: Vec<i128>,
    waiting: Queued,
}

impl Scheduler for NaiveSpPifo {
    /// Algorithm 1 and §4.2.2 of the paper: what reaches a bound pushes it up; what reaches none pushes all of them down.
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        let (rank, before) = (i128::from(packet.rank.0), self.bounds.clone());
        let reached = (0..before.len()).rev().find(|&queue| before[queue] <= rank);
        let queue = reached.unwrap_or(0);
        let is_full = self.waiting.len_of(queue) == self.depth;
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
        self.waiting.0.push((queue, packet));
        None
    }

    fn dequeue(&mut self) -> Option<Packet> {
        self.waiting.take_first()
    }

    fn len(&self) -> usize {
        self.waiting.0.len()
    }

    fn capacity(&self) -> usize {
        self.depth * self.bounds.len()
    }
}

/// AIFO and PACKS by all their rules, with everything that ever came.
struct NaiveQuantiles {
    name: SchedulerName,
    queues: usize,
    depth: usize,
    window: usize,
    came: Vec<u64>,
    waiting: Queued,
}

impl NaiveQuantiles {
    /// Whether a quantile fits so many free places.
    fn fits(&self, (smaller, all): (usize, usize), free: usize) -> bool {
        let capacity = self.capacity();
        let (quantile, most) =
            (smaller * capacity * (1_000 - HEADROOM_PER_MILLE as usize), free * all * 1_000);
        let is_headroom = (capacity - free) * 1_000 <= HEADROOM_PER_MILLE as usize * capacity;
        match self.name {
            SchedulerName::Aifo => quantile < most || is_headroom,
            SchedulerName::Packs => quantile < most,
            _ => quantile <= most,
        }
    }
}

impl Scheduler for NaiveQuantiles {
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        let rank = packet.rank.0;
        if self.name == SchedulerName::Packs {
            self.came.push(rank);
        }
        let last = &self.came[self.came.len().saturating_sub(self.window)..];
        let quantile = (last.iter().filter(|&&other| other < rank).count(), last.len());
        if self.name != SchedulerName::Packs {
            self.came.push(rank);
        }
        let is_aifo = matches!(self.name, SchedulerName::Aifo | SchedulerName::AifoAtMost);
        let (queues, depth) = if is_aifo { (1, self.capacity()) } else { (self.queues, self.depth) };
        let free = |queue: usize| depth - self.waiting.len_of(queue);
        let chosen =
            (0..queues).find(|&queue| free(queue) > 0 && self.fits(quantile, (0..=queue).map(free).sum()));
        match chosen {
            Some(queue) => self.waiting.0.push((queue, packet)),
            None => return Some(packet),
        }
        None
    }

    fn dequeue(&mut self) -> Option<Packet> {
        self.waiting.take_first()
    }

    fn len(&self) -> usize {
        self.waiting.0.len()
    }

    fn capacity(&self) -> usize {
        self.queues * self.depth
    }
}

/// AFQ by both rules: every packet with the FIFO of its round, and an exact bid for every flow.
struct NaiveAfq {
    is_strict: bool,
    queues: u64,
    depth: usize,
    bytes: u64,
    round: u64,
    bids: HashMap<u64, u64>,
    waiting: Vec<(u64, Packet)>,
}

impl Scheduler for NaiveAfq {
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        let last = self.bids.get(&packet.flow).copied().unwrap_or(0);
        let bid = last.max(self.round * self.bytes) + u64::from(packet.bytes);
        let most_ahead = if self.is_strict { self.queues - 1 } else { self.queues };
        // An idle port may turn its calendar to the last round of the flow; it turns no further than it must.
        let latest = if self.waiting.is_empty() && !self.is_strict { last / self.bytes } else { 0 };
        let fits = |round: &u64| bid / self.bytes <= round + most_ahead;
        match (self.round..=latest.max(self.round)).find(fits) {
            Some(round) => self.round = round,
            None => return Some(packet),
        }
        let fifo = bid / self.bytes % self.queues;
        let is_full = self.waiting.iter().filter(|(other, _)| *other == fifo).count() == self.depth;
        if self.is_strict || !is_full {
            self.bids.insert(packet.flow, bid);
        }
        if is_full {
            return Some(packet);
        }
        self.waiting.push((fifo, packet));
        None
    }

    fn dequeue(&mut self) -> Option<Packet> {
        while !self.waiting.is_empty() {
            let fifo = self.round % self.queues;
            if let Some(place) = self.waiting.iter().position(|(other, _)| *other == fifo) {
                return Some(self.waiting.remove(place).1);
            }
            self.round += 1;
        }
        None
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    fn capacity(&self) -> usize {
        self.queues as usize * self.depth
    }
}
