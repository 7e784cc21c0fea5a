//! What only the core of a table can do.

use std::collections::VecDeque;
use std::sync::Arc;

use super::bucket::SLOTS;
use super::{FlowState, Held, Phase, Table, Tick, Timeouts};
use crate::FlowId;

/// Capacity of a table, and its timeouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Flows, one at least.
    pub flows: usize,
    /// Flows that no regular packet has confirmed, one at least and no more than `flows`.
    pub unconfirmed: usize,
    /// After what silence a flow is over.
    pub timeouts: Timeouts,
}

impl Limits {
    /// Limits for `flows` flows, of which a quarter may be unconfirmed.
    pub fn new(flows: usize) -> Self {
        let flows = flows.max(1);
        Self { flows, unconfirmed: flows.div_ceil(4), timeouts: Timeouts::default() }
    }
}

/// All flows of the table are confirmed, and there is no room for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the flow table is full of confirmed flows")]
pub struct Full;

/// A flow that is no longer there, or should not be for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed<S> {
    /// The flow.
    pub flow: FlowId,
    /// Its last state.
    pub state: S,
}

/// A flow that no regular packet had confirmed when it was last looked at.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    slot: usize,
    /// The insertion that it came with: another flow may be in its slot now, or itself again.
    born: u32,
}

/// The writing end of a table. There is one, and it is not shared.
#[derive(Debug)]
pub struct Writer<S> {
    table: Arc<Table<S>>,
    limits: Limits,
    len: usize,
    /// Flows as they came, each until it is found confirmed, displaced or gone.
    waiting: VecDeque<Waiting>,
    /// Flows that were added to those since all of them were looked at.
    since_look: usize,
    /// For each slot, which insertion its flow came with; 0 if it is free.
    born: Box<[u32]>,
    /// The last insertion.
    insertions: u32,
    /// Slot at which the search for idle flows continues.
    hand: usize,
}

impl<S: FlowState> Writer<S> {
    /// An empty table. `seed` decides which flows lie together; keep it from whoever sends packets.
    pub fn new(limits: Limits, seed: u64) -> Self {
        let flows = limits.flows.max(1);
        let limits = Limits { flows, unconfirmed: limits.unconfirmed.clamp(1, flows), ..limits };
        let table = Table::new(flows, seed);
        let born = vec![0; table.slots.len()].into();
        let (waiting, since_look) = (VecDeque::new(), limits.unconfirmed);
        Self { table, limits, len: 0, waiting, since_look, born, insertions: 0, hand: 0 }
    }

    /// The reading end.
    pub fn table(&self) -> &Arc<Table<S>> {
        &self.table
    }

    /// Number of flows in the table.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether another flow can be inserted, and which one has to be [removed](Self::remove) before: it no longer counts as waiting. O(1)
    /// amortised: who waits is looked at after every fourth part of those who may, so that a flow is displaced only if at least three
    /// quarters of them did.
    ///
    /// # Errors
    ///
    /// [`Full`], if all flows are confirmed.
    pub fn make_room(&mut self) -> Result<Option<Removed<S>>, Full> {
        if self.has_room() {
            return Ok(None);
        }
        if self.since_look >= self.limits.unconfirmed.div_ceil(4) {
            let mut waiting = std::mem::take(&mut self.waiting);
            waiting.retain(|waits| self.still_waits(waits));
            (self.waiting, self.since_look) = (waiting, 0);
            if self.has_room() {
                return Ok(None);
            }
        }
        while let Some(oldest) = self.waiting.pop_front() {
            if self.still_waits(&oldest)
                && let Some(held) = self.table.slots[oldest.slot].read()
            {
                return Ok(Some(Removed { flow: held.flow, state: S::from_words(held.state) }));
            }
            if self.has_room() {
                return Ok(None);
            }
        }
        if self.len < self.limits.flows { Ok(None) } else { Err(Full) }
    }

    fn has_room(&self) -> bool {
        self.len < self.limits.flows && self.waiting.len() < self.limits.unconfirmed
    }

    /// Whether the flow is there that came then, and no regular packet has confirmed it.
    fn still_waits(&self, waits: &Waiting) -> bool {
        self.born[waits.slot] == waits.born && !self.table.slots[waits.slot].seen().1
    }

    /// Inserts a flow, or sets phase and state of one that is there. A new one waits to be confirmed by a regular packet, unless it is
    /// `confirmed` already. O(1) expected.
    ///
    /// # Errors
    ///
    /// [`Full`], if there is no room; nothing has changed. [`make_room`](Self::make_room) makes some.
    pub fn insert(
        &mut self,
        flow: FlowId,
        phase: Phase,
        state: S,
        confirmed: bool,
        now: Tick,
    ) -> Result<(), Full> {
        let held = Held { flow, phase, state: state.to_words() };
        if let Some(at) = self.table.position(&flow) {
            self.table.slots[at].write(&held);
            return Ok(());
        }
        let crowded = !confirmed && self.waiting.len() >= self.limits.unconfirmed;
        if self.len == self.limits.flows || crowded {
            return Err(Full);
        }
        let slot = self.place(&held, confirmed, now);
        self.len += 1;
        self.insertions = self.insertions.wrapping_add(1).max(1);
        self.born[slot] = self.insertions;
        if !confirmed {
            self.waiting.push_back(Waiting { slot, born: self.insertions });
            self.since_look += 1;
        }
        Ok(())
    }

    /// Puts a new flow where there is room, which there is: fewer flows are there than slots. Returns where.
    fn place(&mut self, held: &Held, confirmed: bool, now: Tick) -> usize {
        let table = &*self.table;
        let home = table.home(&held.flow);
        let mut at = home.bucket;
        let free = loop {
            match table.buckets[at].free_slot() {
                Some(free) => break free,
                None => table.buckets[at].pass(true),
            }
            at = table.following(at);
        };
        let slot = &table.slots[at * SLOTS + free];
        slot.set_seen(now, confirmed);
        slot.write(held);
        table.buckets[at].set_tag(free, home.tag);
        at * SLOTS + free
    }

    /// Phase and state of a flow; the phase is what regular packets have made of it.
    pub fn find(&self, flow: &FlowId) -> Option<(Phase, S)> {
        let at = self.table.position(flow)?;
        let slot = &self.table.slots[at];
        let held = slot.read()?;
        let confirmed = slot.seen().1;
        let phase = held.phase.seen(confirmed);
        Some((phase, S::from_words(held.state)))
    }

    /// Notes that a packet of the flow was seen, without confirming it.
    pub fn touch(&mut self, flow: &FlowId, now: Tick) {
        if let Some(at) = self.table.position(flow) {
            self.table.slots[at].touch(now);
        }
    }

    /// Whether the flow has been silent for longer than its phase allows; a flow that is not there has.
    pub fn is_idle(&self, flow: &FlowId, now: Tick) -> bool {
        self.table.position(flow).is_none_or(|at| self.idle_at(at, now).is_some())
    }

    /// Removes a flow; its state, if it was there. O(1) expected.
    pub fn remove(&mut self, flow: &FlowId) -> Option<S> {
        let at = self.table.position(flow)?;
        let state = S::from_words(self.table.slots[at].read()?.state);
        self.vacate(at, flow);
        self.len -= 1;
        Some(state)
    }

    /// Frees the slot at `at`, where `flow` lies.
    fn vacate(&mut self, at: usize, flow: &FlowId) {
        let table = &*self.table;
        table.buckets[at / SLOTS].set_tag(at % SLOTS, 0);
        table.slots[at].clear();
        self.born[at] = 0;
        let mut bucket = table.home(flow).bucket;
        while bucket != at / SLOTS {
            table.buckets[bucket].pass(false);
            bucket = table.following(bucket);
        }
    }

    /// Looks at so many slots for flows that are over, going on where it stopped, and adds them to `over`; it removes none. O(slots looked at).
    pub fn sweep(&mut self, slots: usize, now: Tick, over: &mut Vec<Removed<S>>) {
        for _ in 0..slots.min(self.table.slots.len()) {
            if let Some(held) = self.idle_at(self.hand, now) {
                over.push(Removed { flow: held.flow, state: S::from_words(held.state) });
            }
            self.hand = if self.hand + 1 == self.table.slots.len() { 0 } else { self.hand + 1 };
        }
    }

    /// Contents of the slot at `at`, if its flow is over.
    fn idle_at(&self, at: usize, now: Tick) -> Option<Held> {
        let slot = &self.table.slots[at];
        let held = slot.read()?;
        let (seen, confirmed) = slot.seen();
        let phase = held.phase.seen(confirmed);
        now.is_past(seen, self.limits.timeouts.of(phase)).then_some(held)
    }

    /// Checks the invariants of the table: for tests. O(slots).
    #[doc(hidden)]
    pub fn check(&self) -> Result<(), String> {
        let held: Vec<_> = self.table.slots.iter().filter_map(super::Slot::read).collect();
        if held.len() != self.len {
            return Err(format!("{} flows are there, and {} are counted", held.len(), self.len));
        }
        match held.iter().find(|held| self.table.find(&held.flow, None).is_none()) {
            Some(lost) => Err(format!("{} is there and cannot be found", lost.flow)),
            None if self.waiting.len() > self.limits.unconfirmed => {
                Err(format!("{} wait", self.waiting.len()))
            }
            None => Ok(()),
        }
    }
}
