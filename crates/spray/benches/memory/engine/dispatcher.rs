//! The dispatcher's thread, which is generator and sink as well.

use std::collections::VecDeque;

use trueplane_units::Nanos;

use super::source::{Next, Source};
use trueplane_spray::dispatch::{Arrival, Dispatch, Load, PERIOD};
use trueplane_spray::live::busy::counter;
use trueplane_spray::live::rings::{Giver, Taker};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::{MAX_BATCH, Packet, Reason, Verdict};

/// Packets that are taken back from a core at once at most.
const TAKEN_BACK: usize = 8 * MAX_BATCH;

/// State of one core at the dispatcher.
pub(crate) struct Line {
    pub(crate) giver: Giver,
    pub(crate) taker: Taker,
    /// Packets that wait for room in the ring.
    staged: VecDeque<Packet>,
}

impl Line {
    pub(crate) fn new(giver: Giver, taker: Taker) -> Self {
        Self { giver, taker, staged: VecDeque::new() }
    }
}

/// Outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Packets moved.
    Moved,
    /// A ring is full.
    Full,
    /// The source waits for packets.
    Waits,
    /// The source wants all tables to be looked through.
    Sweep,
    /// The source has ended.
    End,
}

/// Counters of the dispatcher.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dispatched {
    /// Packets of the source.
    pub(crate) offered: u64,
    /// Those that were sent to each core.
    pub(crate) sent: Vec<u64>,
    /// Those that found the ring to their core full and were dropped there.
    pub(crate) refused: u64,
    /// Packets of the source that came back from cores.
    pub(crate) returned: u64,
}

/// The dispatcher.
pub(crate) struct Dispatcher<'s, S> {
    pub(crate) source: &'s mut S,
    pub(crate) lines: Vec<Line>,
    pub(crate) tally: Dispatched,
    policy: Box<dyn Dispatch>,
    /// Packets that are not on their way: nothing is made while it lasts.
    free: Vec<Packet>,
    back: Vec<Packet>,
    /// True if packets that find no room are dropped.
    drops: bool,
    on_the_way: u64,
    observed: Nanos,
    looked: u64,
    /// Cycles that each core had worked by then.
    worked: Vec<u64>,
}

impl<'s, S: Source> Dispatcher<'s, S> {
    pub(crate) fn new(
        source: &'s mut S,
        policy: Box<dyn Dispatch>,
        lines: Vec<Line>,
        packets: usize,
        drops: bool,
    ) -> Self {
        let cores = lines.len();
        let tally = Dispatched { sent: vec![0; cores], ..Dispatched::default() };
        Self {
            source,
            tally,
            policy,
            lines,
            free: (0..packets).map(|_| Packet::new(Vec::new(), Link::Ip)).collect(),
            back: Vec::with_capacity(TAKEN_BACK),
            drops,
            on_the_way: 0,
            observed: Nanos(0),
            looked: counter(),
            worked: vec![0; cores],
        }
    }

    /// Takes back what is done, and sends a batch.
    pub(crate) fn step(&mut self, now: Nanos) -> Step {
        let moved = self.take_back() + self.push();
        if self.lines.iter().any(|line| !line.staged.is_empty()) {
            return if moved > 0 { Step::Moved } else { Step::Full };
        }
        let (sent, next) = self.send(now);
        self.push();
        if self.drops {
            self.refuse_staged();
        }
        match next {
            // Said once, and nothing was sent then.
            Next::Sweep => Step::Sweep,
            _ if moved > 0 || sent > 0 => Step::Moved,
            Next::Packet => Step::Full,
            Next::Wait => Step::Waits,
            Next::End => Step::End,
        }
    }

    /// Tells the policy how much each core has to do, if it is time for that. `worked` is in cycles.
    pub(crate) fn observe(&mut self, now: Nanos, worked: impl Iterator<Item = u64>) {
        if now.since(self.observed) < PERIOD {
            return;
        }
        let looked = counter();
        let cycles = looked.wrapping_sub(self.looked).max(1) as f64;
        let load = |((line, before), after): ((&Line, &mut u64), u64)| {
            let busy = (after.wrapping_sub(*before) as f64 / cycles).min(1.0);
            *before = after;
            Load { queued: line.giver.queued() as u32, busy }
        };
        let loads: Vec<Load> = self.lines.iter().zip(&mut self.worked).zip(worked).map(load).collect();
        self.policy.observe(&loads, now);
        (self.observed, self.looked) = (now, looked);
    }

    fn take_back(&mut self) -> usize {
        let mut count = 0;
        for line in &mut self.lines {
            count += line.taker.take(TAKEN_BACK, &mut self.back);
        }
        self.on_the_way -= count as u64;
        for packet in self.back.drain(..) {
            self.tally.returned += 1;
            self.source.back(&packet);
            self.free.push(packet);
        }
        count
    }

    /// Moves what is staged into the rings.
    fn push(&mut self) -> usize {
        let count = self.lines.iter_mut().map(|line| line.giver.give(&mut line.staged)).sum();
        self.on_the_way += count as u64;
        count
    }

    /// Stages a batch; how many packets, and why not more.
    fn send(&mut self, now: Nanos) -> (usize, Next) {
        for sent in 0..MAX_BATCH {
            let (packet, next) = self.next();
            let Some(packet) = packet else { return (sent, next) };
            let core = self.policy.core(&Arrival::of(&packet), now) % self.lines.len();
            self.tally.sent[core] += 1;
            self.lines[core].staged.push_back(packet);
        }
        (MAX_BATCH, Next::Packet)
    }

    /// The source's next packet.
    fn next(&mut self) -> (Option<Packet>, Next) {
        let Some(mut packet) = self.free.pop() else { return (None, Next::Packet) };
        match self.source.fill(&mut packet) {
            Next::Packet => {
                self.tally.offered += 1;
                (Some(packet), Next::Packet)
            }
            other => {
                self.free.push(packet);
                (None, other)
            }
        }
    }

    fn refuse_staged(&mut self) {
        for core in 0..self.lines.len() {
            while let Some(packet) = self.lines[core].staged.pop_front() {
                self.tally.sent[core] -= 1;
                self.refuse(packet);
            }
        }
    }

    fn refuse(&mut self, mut packet: Packet) {
        packet.set_verdict(Verdict::Drop(Reason::RingFull));
        self.tally.refused += 1;
        self.source.back(&packet);
        self.free.push(packet);
    }
}
