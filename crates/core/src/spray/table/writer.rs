//! What only the core of a table can do.

use std::collections::VecDeque;
use std::sync::Arc;

use super::sync::{Ordering, fence};
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
            let Ok(at) = self.table.position(&flow) else {
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
        match self.table.position(&flow) {
            Ok(at) => self.table.slots[at].write(&held),
            Err(_) if self.len == self.limits.flows => return Err(Full),
            Err(_) if !confirmed && self.waiting.len() >= self.limits.unconfirmed => return Err(Full),
            Err(at) => {
                self.table.slots[at].set_seen(now, confirmed);
                self.table.slots[at].write(&held);
                self.len += 1;
                if !confirmed {
                    self.waiting.push_back(flow);
                }
            }
        }
        Ok(())
    }

    /// Phase and state of a flow; the phase is what regular packets have made of it.
    pub fn find(&self, flow: &FlowId) -> Option<(Phase, S)> {
        let at = self.table.position(flow).ok()?;
        let slot = &self.table.slots[at];
        let held = slot.read()?;
        let confirmed = slot.seen().1;
        let phase = if confirmed && held.phase == Phase::HalfOpen { Phase::Established } else { held.phase };
        Some((phase, S::from_words(held.state)))
    }

    /// Notes that a packet of the flow was seen, without confirming it.
    pub fn touch(&mut self, flow: &FlowId, now: Tick) {
        if let Ok(at) = self.table.position(flow) {
            let slot = &self.table.slots[at];
            slot.set_seen(now, slot.seen().1);
        }
    }

    /// Whether the flow has been silent for longer than its phase allows; a flow that is not there has.
    pub fn is_idle(&self, flow: &FlowId, now: Tick) -> bool {
        self.table.position(flow).map_or(true, |at| self.idle_at(at, now).is_some())
    }

    /// Removes a flow; its state, if it was there. O(1) expected.
    pub fn remove(&mut self, flow: &FlowId) -> Option<S> {
        let at = self.table.position(flow).ok()?;
        let state = S::from_words(self.table.slots[at].read()?.state);
        self.close_gap(at);
        self.len -= 1;
        Some(state)
    }

    /// Looks at so many slots for flows that are over, going on where it stopped, and adds them to `over`; it removes none. O(slots looked at).
    pub fn sweep(&mut self, slots: usize, now: Tick, over: &mut Vec<Removed<S>>) {
        for _ in 0..slots.min(self.table.slots.len()) {
            if let Some(held) = self.idle_at(self.hand, now) {
                over.push(Removed { flow: held.flow, state: S::from_words(held.state) });
            }
            self.hand = self.table.following(self.hand);
        }
    }

    /// What lies at `at`, if it is over.
    fn idle_at(&self, at: usize, now: Tick) -> Option<Held> {
        let slot = &self.table.slots[at];
        let held = slot.read()?;
        let (seen, confirmed) = slot.seen();
        let phase = if confirmed && held.phase == Phase::HalfOpen { Phase::Established } else { held.phase };
        now.is_past(seen, self.limits.timeouts.of(phase)).then_some(held)
    }

    /// Frees the slot at `gap`: moves those back that would not be found behind it.
    fn close_gap(&mut self, mut gap: usize) {
        let table = &*self.table;
        let moves = table.moves.load(Ordering::Relaxed);
        table.moves.store(moves.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        let mut at = gap;
        loop {
            at = table.following(at);
            let Some(held) = table.slots[at].read() else { break };
            let home = table.home(&held.flow);
            // Whether its home lies cyclically in (gap, at]: then it is found from there.
            let stays = if gap <= at { gap < home && home <= at } else { gap < home || home <= at };
            if stays {
                continue;
            }
            let (seen, confirmed) = table.slots[at].seen();
            table.slots[gap].set_seen(seen, confirmed);
            table.slots[gap].write(&held);
            gap = at;
        }
        table.slots[gap].clear();
        table.moves.store(moves.wrapping_add(2), Ordering::Release);
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
