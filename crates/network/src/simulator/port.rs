//! Queues of output ports: a FIFO of bytes that drops or marks, and any scheduler by any rank.

use std::collections::VecDeque;

use trueplane_sched::rank::{PacketMeta, RankPolicy};
use trueplane_sched::{Nanos, Packet, Scheduler};

/// A packet as a queue sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Place of the packet in the slab.
    pub handle: u32,
    /// Length on the wire, in bytes.
    pub bytes: u32,
    /// Number that the flow has among all flows; the two directions of a flow have two.
    pub flow: u64,
    /// Bytes of the flow that are left, this packet included; 0 for acknowledgements.
    pub remaining: u64,
}

/// What a queue does about a packet that comes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// Packet that is dropped: this one, or one that waited.
    pub dropped: Option<u32>,
    /// Whether this packet is to be marked, if it may be.
    pub marks: bool,
}

/// The queue of an output port.
pub trait PortQueue {
    /// A packet comes.
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered;

    /// Takes the packet that is sent next; `None` if and only if nothing waits.
    fn next(&mut self) -> Option<u32>;

    /// A packet comes while none waits, and is sent at once unless it is dropped.
    ///
    /// The same as [`Self::offer`] and [`Self::next`] one after the other, unless the queue is one that such packets do not enter.
    #[inline]
    fn pass(&mut self, packet: Waiting, now: Nanos) -> Offered {
        debug_assert!(self.is_empty());
        let offered = self.offer(packet, now);
        if offered.dropped.is_none() {
            self.next();
        }
        offered
    }

    /// Number of packets that wait.
    fn len(&self) -> usize;

    /// Whether no packet waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Queues of different kinds in one network.
impl<Q: PortQueue + ?Sized> PortQueue for Box<Q> {
    #[inline]
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered {
        (**self).offer(packet, now)
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        (**self).next()
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    #[inline]
    fn pass(&mut self, packet: Waiting, now: Nanos) -> Offered {
        (**self).pass(packet, now)
    }
}

/// When a port marks what comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkingThreshold {
    bytes: u64,
    /// Bytes of a packet that count when it comes; `None`: all.
    counted: Option<u64>,
}

impl MarkingThreshold {
    /// A threshold that nothing passes.
    pub const NEVER: Self = Self { bytes: u64::MAX, counted: Some(0) };

    /// A packet is marked while more than so many bytes would wait with it (RFC 8257 §3.1).
    pub fn above(bytes: u64) -> Self {
        Self { bytes, counted: None }
    }

    /// A packet is marked while so many bytes or more wait already.
    pub fn behind(bytes: u64) -> Self {
        Self { bytes, counted: Some(1) }
    }

    /// Whether a packet of so many bytes is marked that comes while `waiting` bytes wait.
    #[inline]
    pub fn marks(&self, waiting: u64, packet: u32) -> bool {
        waiting + self.counted.unwrap_or(u64::from(packet)) > self.bytes
    }
}

/// A FIFO that holds so many bytes, and marks what comes while more than a threshold wait.
#[derive(Clone, Debug)]
pub struct DropTail {
    waiting: VecDeque<(u32, u32)>,
    bytes: u64,
    capacity: u64,
    threshold: MarkingThreshold,
}

impl DropTail {
    /// A FIFO for `capacity` bytes that marks nothing.
    pub fn new(capacity: u64) -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, capacity, threshold: MarkingThreshold::NEVER }
    }

    /// The same with marks.
    #[must_use]
    pub fn marking(self, threshold: MarkingThreshold) -> Self {
        Self { threshold, ..self }
    }
}

impl PortQueue for DropTail {
    #[inline]
    fn offer(&mut self, packet: Waiting, _now: Nanos) -> Offered {
        let marks = self.threshold.marks(self.bytes, packet.bytes);
        let with = self.bytes + u64::from(packet.bytes);
        if with > self.capacity {
            return Offered { dropped: Some(packet.handle), marks: false };
        }
        self.bytes = with;
        self.waiting.push_back((packet.handle, packet.bytes));
        Offered { dropped: None, marks }
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let (handle, bytes) = self.waiting.pop_front()?;
        self.bytes -= u64::from(bytes);
        Some(handle)
    }

    #[inline]
    fn pass(&mut self, packet: Waiting, _now: Nanos) -> Offered {
        if u64::from(packet.bytes) > self.capacity {
            return Offered { dropped: Some(packet.handle), marks: false };
        }
        Offered { dropped: None, marks: self.threshold.marks(0, packet.bytes) }
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}

impl Waiting {
    /// The packet as rank policies see it.
    #[inline]
    pub fn meta(&self) -> PacketMeta {
        PacketMeta {
            flow: self.flow,
            bytes: self.bytes,
            remaining_bytes: self.remaining,
            ..PacketMeta::default()
        }
    }
}

/// What is known of a packet when it gets its rank.
pub trait Facts {
    /// The packet as rank policies see it.
    fn of(&self, packet: &Waiting) -> PacketMeta;
}

/// What every queue knows of a packet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Facts for Plain {
    #[inline]
    fn of(&self, packet: &Waiting) -> PacketMeta {
        packet.meta()
    }
}

/// A scheduler of `trueplane-sched` behind a rank.
#[derive(Clone, Debug)]
pub struct Ranked<S, P, F = Plain> {
    scheduler: S,
    policy: P,
    facts: F,
}

impl<S: Scheduler, P: RankPolicy> Ranked<S, P> {
    /// Packets get their rank from `policy` and wait in `scheduler`.
    pub fn new(scheduler: S, policy: P) -> Self {
        Self::with_facts(scheduler, policy, Plain)
    }
}

impl<S: Scheduler, P: RankPolicy, F: Facts> Ranked<S, P, F> {
    /// The same, with more that the policy knows of packets, such as [`Headers`](super::Headers).
    pub fn with_facts(scheduler: S, policy: P, facts: F) -> Self {
        Self { scheduler, policy, facts }
    }

    /// The packet as the scheduler sees it.
    #[inline]
    fn ranked(&mut self, packet: Waiting, now: Nanos) -> Packet {
        let Waiting { handle, bytes, flow, .. } = packet;
        Packet { rank: self.policy.rank(&self.facts.of(&packet), now), flow, bytes, handle, arrival: now }
    }
}

impl<S: Scheduler, P: RankPolicy, F: Facts> PortQueue for Ranked<S, P, F> {
    #[inline]
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered {
        let ranked = self.ranked(packet, now);
        let dropped = self.scheduler.enqueue(ranked).map(|packet| packet.handle);
        Offered { dropped, marks: false }
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let packet = self.scheduler.dequeue()?;
        self.policy.departs(packet.rank);
        Some(packet.handle)
    }

    #[inline]
    fn pass(&mut self, packet: Waiting, now: Nanos) -> Offered {
        let ranked = self.ranked(packet, now);
        if !self.scheduler.pass(ranked) {
            return Offered { dropped: Some(packet.handle), marks: false };
        }
        self.policy.departs(ranked.rank);
        Offered::default()
    }

    fn len(&self) -> usize {
        self.scheduler.len()
    }
}
