//! What only the core of a table can do.

use std::collections::VecDeque;
use std::sync::Arc;

use super::bucket::SLOTS;
use super::{FlowState, Held, Phase, Table, Tick, Timeouts};
use crate::spray::FlowId;

/// How much a table holds, and for how long.
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
    /// So many flows, of which a quarter may be unconfirmed.
    pub fn new(flows: usize) -> Self {
        let flows = flows.max(1);
        Self { flows, unconfirmed: flows.div_ceil(4), timeouts: Timeouts::default() }
    }
}

/// All flows of the table are confirmed, and there is no room for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// A flow that is no longer there, or should not be for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed<S> {
    /// The flow.
    pub flow: FlowId,
    /// Its last state.
    pub state: S,
}

/// The writing end of a table. There is one, and it is not shared.
#[derive(Debug)]
pub struct Writer<S> {
    table: Arc<Table<S>>,
    limits: Limits,
    len: usize,
    /// Flows as they came, each until it is found confirmed, displaced or gone.
    waiting: VecDeque<FlowId>,
    /// Where the search for idle flows goes on.
    hand: usize,
}

impl<S: FlowState> Writer<S> {
    /// An empty table. `seed` decides which flows lie together; keep it from whoever sends packets.
    pub fn new(limits: Limits, seed: u64) -> Self {
        let flows = limits.flows.max(1);
        let limits = Limits { flows, unconfirmed: limits.unconfirmed.clamp(1, flows), ..limits };
        Self { table: Table::new(flows, seed), limits, len: 0, waiting: VecDeque::new(), hand: 0 }
    }

    /// The reading end.
    pub fn table(&self) -> &Arc<Table<S>> {
        &self.table
    }

    /// How many flows there are.
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

    /// Sets other timeouts, which hold from now on for all flows.
    pub fn set_timeouts(&mut self, timeouts: Timeouts) {
        self.limits.timeouts = timeouts;
    }

    /// Whether another flow can be inserted, and which one has to be [removed](Self::remove) before: it no longer counts as waiting. O(1)
    /// amortised.
    ///
    /// # Errors
    ///
    /// [`Full`], if all flows are confirmed.
    pub fn make_room(&mut self) -> Result<Option<Removed<S>>, Full> {
        let crowded = self.waiting.len() >= self.limits.unconfirmed;
        if self.len < self.limits.flows && !crowded {
            return Ok(None);
        }
        while let Some(flow) = self.waiting.pop_front() {
            let Some(at) = self.table.position(&flow) else {
                // Gone: one waits less.
                if self.len < self.limits.flows {
                    return Ok(None);
                }
                continue;
            };
            let slot = &self.table.slots[at];
            if slot.seen().1 {
                if self.len < self.limits.flows {
                    return Ok(None);
                }
                continue;
            }
            let Some(held) = slot.read() else { continue };
            return Ok(Some(Removed { flow, state: S::from_words(held.state) }));
        }
        if self.len < self.limits.flows { Ok(None) } else { Err(Full) }
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
        self.place(&held, confirmed, now);
        self.len += 1;
        if !confirmed {
            self.waiting.push_back(flow);
        }
        Ok(())
    }

    /// Puts a new flow where there is room, which there is: fewer flows are there than slots.
    fn place(&mut self, held: &Held, confirmed: bool, now: Tick) {
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
            let slot = &self.table.slots[at];
            slot.set_seen(now, slot.seen().1);
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

    /// What lies at `at`, if it is over.
    fn idle_at(&self, at: usize, now: Tick) -> Option<Held> {
        let slot = &self.table.slots[at];
        let held = slot.read()?;
        let (seen, confirmed) = slot.seen();
        let phase = held.phase.seen(confirmed);
        now.is_past(seen, self.limits.timeouts.of(phase)).then_some(held)
    }

    /// What has to hold, however it was used: for tests. O(slots).
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
