//! The dispatcher's thread, which is generator and sink as well.

use std::collections::VecDeque;

use trueplane_units::Nanos;

use super::mark;
use super::picker::Picker;
use super::source::{Next, Source};
use trueplane_spray::dispatch::{Load, PERIOD};
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

/// The memory of packets: nothing is made while it lasts.
pub(crate) struct Memory {
    /// The source's.
    own: Vec<Packet>,
    /// Packets for copies and marks.
    spare: Vec<Packet>,
}

impl Memory {
    /// Memory of `own` packets and `spare` spare ones.
    pub(crate) fn new(own: usize, spare: usize) -> Self {
        let make = |count| (0..count).map(|_| Packet::new(Vec::new(), Link::Ip)).collect();
        Self { own: make(own), spare: make(spare) }
    }
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
    /// Copies and marks of time to each core.
    pub(crate) extra: Vec<u64>,
    /// Packets of the source that came back from cores.
    pub(crate) returned: u64,
    /// Copies and marks that came back.
    pub(crate) extra_returned: u64,
    /// Marks of time among what was sent besides.
    pub(crate) marks: u64,
}

/// The dispatcher.
pub(crate) struct Dispatcher<'s, S> {
    pub(crate) source: &'s mut S,
    pub(crate) lines: Vec<Line>,
    pub(crate) tally: Dispatched,
    picker: Picker,
    memory: Memory,
    back: Vec<Packet>,
    /// Every core gets a copy of what others get.
    replicates: bool,
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
        picker: Picker,
        lines: Vec<Line>,
        memory: Memory,
        replicates: bool,
        drops: bool,
    ) -> Self {
        let cores = lines.len();
        let tally = Dispatched { sent: vec![0; cores], extra: vec![0; cores], ..Dispatched::default() };
        Self {
            source,
            tally,
            picker,
            lines,
            memory,
            back: Vec::with_capacity(TAKEN_BACK),
            replicates,
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
        let (sent, next) = if self.replicates { self.replicate(now) } else { self.send(now) };
        self.push();
        if self.drops && !self.replicates {
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

    /// Sends every core a mark of time and no packets, so that replicas look for flows that are over.
    pub(crate) fn tick(&mut self, now: Nanos) {
        self.turn();
        let is_free = self.lines.iter().all(|line| line.staged.is_empty());
        if self.replicates && is_free && self.memory.spare.len() >= self.lines.len() {
            self.mark(now);
            self.push();
        }
    }

    /// Tells the policy how much each core has to do, if it is time for that. `worked` is in cycles.
    pub(crate) fn observe(&mut self, now: Nanos, worked: impl Iterator<Item = u64>) {
        if now.since(self.observed) < PERIOD {
            return;
        }
        let Picker::Card(policy) = &mut self.picker else { return };
        let looked = counter();
        let cycles = looked.wrapping_sub(self.looked).max(1) as f64;
        let load = |((line, before), after): ((&Line, &mut u64), u64)| {
            let busy = (after.wrapping_sub(*before) as f64 / cycles).min(1.0);
            *before = after;
            Load { queued: line.giver.queued() as u32, busy }
        };
        let loads: Vec<Load> = self.lines.iter().zip(&mut self.worked).zip(worked).map(load).collect();
        policy.observe(&loads, now);
        (self.observed, self.looked) = (now, looked);
    }

    /// Takes back what is done and moves what is staged.
    pub(crate) fn turn(&mut self) {
        self.take_back();
        self.push();
    }

    /// Whether all packets are back, copies included.
    pub(crate) fn is_quiet(&self) -> bool {
        self.on_the_way == 0 && self.lines.iter().all(|line| line.staged.is_empty())
    }

    fn take_back(&mut self) -> usize {
        let mut count = 0;
        for line in &mut self.lines {
            count += line.taker.take(TAKEN_BACK, &mut self.back);
        }
        self.on_the_way -= count as u64;
        for packet in self.back.drain(..) {
            if mark::is_own(&packet) {
                self.tally.returned += 1;
                self.source.back(&packet);
                self.memory.own.push(packet);
            } else {
                self.tally.extra_returned += 1;
                self.memory.spare.push(packet);
            }
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
            let core = self.picker.core(&packet, now) % self.lines.len();
            self.tally.sent[core] += 1;
            self.lines[core].staged.push_back(packet);
        }
        (MAX_BATCH, Next::Packet)
    }

    /// Stages a batch, with copies of every packet for all cores but one, and the time at which all of them handle it.
    fn replicate(&mut self, now: Nanos) -> (usize, Next) {
        let cores = self.lines.len();
        // Refused before it is copied: a packet that some replicas saw and others did not would set them apart.
        let room = self.lines.iter().map(|line| line.giver.room()).min().unwrap_or(0);
        let refuses = self.drops && room <= MAX_BATCH;
        if self.memory.spare.len() < (MAX_BATCH + 1) * cores {
            return (0, Next::Packet);
        }
        let (mut sent, mut refused, mut next) = (0, 0, Next::Packet);
        while sent + refused < MAX_BATCH {
            let packet;
            (packet, next) = self.next();
            let Some(packet) = packet else { break };
            if refuses {
                self.refuse(packet);
                refused += 1;
                continue;
            }
            let chosen = self.picker.core(&packet, now) % cores;
            for (core, line) in self.lines.iter_mut().enumerate().filter(|(core, _)| *core != chosen) {
                if let Some(mut copy) = self.memory.spare.pop() {
                    mark::make_history(&mut copy, &packet);
                    self.tally.extra[core] += 1;
                    line.staged.push_back(copy);
                }
            }
            self.tally.sent[chosen] += 1;
            self.lines[chosen].staged.push_back(packet);
            sent += 1;
        }
        if sent > 0 {
            self.mark(now);
        }
        (sent + refused, next)
    }

    /// Ends a group.
    fn mark(&mut self, now: Nanos) {
        for (core, line) in self.lines.iter_mut().enumerate() {
            if let Some(mut packet) = self.memory.spare.pop() {
                mark::make_time(&mut packet, now);
                self.tally.extra[core] += 1;
                self.tally.marks += 1;
                line.staged.push_back(packet);
            }
        }
    }

    /// The source's next packet.
    fn next(&mut self) -> (Option<Packet>, Next) {
        let Some(mut packet) = self.memory.own.pop() else { return (None, Next::Packet) };
        match self.source.fill(&mut packet) {
            Next::Packet => {
                debug_assert!(mark::is_own(&packet));
                self.tally.offered += 1;
                (Some(packet), Next::Packet)
            }
            other => {
                self.memory.own.push(packet);
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
        self.memory.own.push(packet);
    }
}
