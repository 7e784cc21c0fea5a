//! The state of flows as a network function sees it (Table 3.2).
//!
//! | | regular packets: [`Flows`] | connection packets: [`LocalFlows`] |
//! |---|---|---|
//! | `get_flow`, `get_flows` | of any core | of any core |
//! | `get_local_flow`, `insert_local_flow`, `remove_local_flow` | | of this core |
//!
//! **Writing from the wrong core cannot be expressed.** Who handles regular packets gets [`Flows`], which has nothing that writes. Who handles
//! connection packets gets the [`LocalFlows`] of one core; what it writes to is named by a [`LocalFlow`], which only
//! [`claim`](LocalFlows::claim) makes, for flows of this core alone, and which can neither be sent to another thread nor outlive the call:
//!
//! ```compile_fail,E0599
//! use trueplane_spray::{FlowId, Flows};
//!
//! fn regular(flows: &Flows<'_, u64>, flow: &FlowId) {
//!     flows.remove_local_flow(flow); // no method named `remove_local_flow`
//! }
//! ```
//!
//! ```compile_fail,E0277
//! use trueplane_spray::{LocalFlow, LocalFlows};
//!
//! fn elsewhere(flow: LocalFlow<'_>, flows: &mut LocalFlows<'_, u64>) {
//!     std::thread::scope(|scope| {
//!         scope.spawn(move || drop(flow)); // `LocalFlow` cannot be sent between threads
//!     });
//! }
//! ```

use std::borrow::Borrow;
use std::marker::PhantomData;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::table::{FlowState, Full, Home, Phase, Removed, Table, Tick, Writer};
use crate::{FlowId, Packet, Steering};

/// Packets that are handled at once at most.
pub const MAX_BATCH: usize = 32;

/// One answer for every packet of a batch.
pub type Found<S> = SmallVec<[Option<S>; MAX_BATCH]>;

/// The state of all flows, to read.
#[derive(Debug)]
pub struct Flows<'a, S> {
    tables: &'a [Arc<Table<S>>],
    steering: &'a Steering,
    now: Tick,
}

impl<'a, S: FlowState> Flows<'a, S> {
    /// The flows of these tables, one table for each core that `steering` knows.
    pub fn new(tables: &'a [Arc<Table<S>>], steering: &'a Steering, now: Tick) -> Self {
        Self { tables, steering, now }
    }

    /// The state of a flow, from the table of its designated core, and the note that a regular packet saw it. O(1) expected.
    #[inline]
    pub fn get_flow(&self, flow: &FlowId) -> Option<S> {
        self.table(flow)?.find(flow, Some(self.now))
    }

    /// The same without the note: for packets that do not show that anybody is there, such as errors of ICMP (RFC 5508 §4).
    #[inline]
    pub fn peek_flow(&self, flow: &FlowId) -> Option<S> {
        self.table(flow)?.find(flow, None)
    }

    /// The states of the flows of `packets`. All lookups begin before the first one ends, so that they wait for memory together. O(packets)
    /// expected.
    #[inline]
    pub fn get_flows(&self, packets: &[Packet]) -> Found<S> {
        self.get_flows_by(packets, Packet::flow)
    }

    /// The same for flows that are computed from packets, or from anything else; `flow` is called twice for each.
    #[inline]
    pub fn get_flows_by<'p, P, F: Borrow<FlowId>>(
        &self,
        of: &'p [P],
        flow: impl Fn(&'p P) -> Option<F>,
    ) -> Found<S> {
        let mut found = Found::new();
        for of in of.chunks(MAX_BATCH) {
            // Three passes, because a core looks ahead no further than some hundred instructions: all buckets are fetched at once, then all slots.
            let mut homes = [None; MAX_BATCH];
            for (home, of) in homes.iter_mut().zip(of) {
                *home = flow(of).and_then(|flow| self.begin(flow.borrow()));
            }
            for (table, home) in homes.iter().flatten() {
                table.fetch(*home);
            }
            found.extend(homes.iter().zip(of).map(|(home, of)| {
                let ((table, home), flow) = ((*home)?, flow(of)?);
                table.find_from(home, flow.borrow(), Some(self.now))
            }));
        }
        found
    }

    /// Table and home bucket at which the lookup of a flow begins.
    #[inline]
    fn begin(&self, flow: &FlowId) -> Option<(&'a Table<S>, Home)> {
        let table = self.table(flow)?;
        let home = table.home(flow);
        table.fetch_bucket(home);
        Some((table, home))
    }

    #[inline]
    fn table(&self, flow: &FlowId) -> Option<&'a Table<S>> {
        self.tables.get(self.steering.designated(flow)).map(|table| &**table)
    }
}

/// The name of a flow that is this core's to write, for as long as a handler runs.
#[derive(Clone, Copy, Debug)]
pub struct LocalFlow<'a> {
    flow: FlowId,
    // Not to other threads, and no longer than the handler runs, which has the flows of one core only.
    core: PhantomData<(*const (), &'a ())>,
}

impl LocalFlow<'_> {
    /// The flow.
    pub fn id(&self) -> &FlowId {
        &self.flow
    }
}

/// The state of this core's flows, to write, and that of all others, to read.
#[derive(Debug)]
pub struct LocalFlows<'a, S> {
    writer: &'a mut Writer<S>,
    tables: &'a [Arc<Table<S>>],
    steering: &'a Steering,
    core: usize,
    now: Tick,
}

impl<'a, S: FlowState> LocalFlows<'a, S> {
    /// Those of `core`, whose table `writer` writes.
    pub fn new(
        writer: &'a mut Writer<S>,
        tables: &'a [Arc<Table<S>>],
        steering: &'a Steering,
        core: usize,
        now: Tick,
    ) -> Self {
        Self { writer, tables, steering, core, now }
    }

    /// The number of this core.
    pub fn core(&self) -> usize {
        self.core
    }

    /// The rule that assigns flows to cores.
    pub fn steering(&self) -> &Steering {
        self.steering
    }

    /// The right to write a flow's state, if the flow is this core's: as that of every connection packet is, of its other direction, and of what
    /// it is translated to, if that was chosen well.
    pub fn claim(&self, flow: &FlowId) -> Option<LocalFlow<'a>> {
        (self.steering.designated(flow) == self.core).then_some(LocalFlow { flow: *flow, core: PhantomData })
    }

    /// Inserts a flow, or sets phase and state of one that is there; returns the flow that had to go for it: one that no regular packet has
    /// confirmed, and whose other direction and whatever else belongs to it are the caller's to remove. O(1) amortised.
    ///
    /// # Errors
    ///
    /// [`Full`], if all flows are confirmed and there is no room.
    pub fn insert_local_flow(
        &mut self,
        flow: LocalFlow<'_>,
        phase: Phase,
        state: S,
    ) -> Result<Option<Removed<S>>, Full> {
        let displaced = match self.writer.find(&flow.flow) {
            Some(_) => None,
            None => self.writer.make_room()?,
        };
        if let Some(displaced) = &displaced {
            self.writer.remove(&displaced.flow);
        }
        self.writer.insert(flow.flow, phase, state, false, self.now)?;
        Ok(displaced)
    }

    /// Inserts the other direction of a flow that was just inserted, or what else goes with it: it displaces nothing and is not displaced itself,
    /// but goes when the function [removes](Self::remove_local_flow) it together with the first. O(1) expected.
    ///
    /// # Errors
    ///
    /// [`Full`], if there is no room.
    pub fn insert_local_sibling(&mut self, flow: LocalFlow<'_>, phase: Phase, state: S) -> Result<(), Full> {
        self.writer.insert(flow.flow, phase, state, true, self.now)
    }

    /// Removes a flow; its state, if it was there. O(1) expected.
    pub fn remove_local_flow(&mut self, flow: LocalFlow<'_>) -> Option<S> {
        self.writer.remove(&flow.flow)
    }

    /// Phase and state of a flow of this core, and the note that a packet of it was seen. What is changed is written with
    /// [`set_local_flow`](Self::set_local_flow). O(1) expected.
    pub fn get_local_flow(&mut self, flow: LocalFlow<'_>) -> Option<(Phase, S)> {
        let found = self.writer.find(&flow.flow)?;
        self.writer.touch(&flow.flow, self.now);
        Some(found)
    }

    /// The same without the note: to decide whether a flow is over. O(1) expected.
    pub fn peek_local_flow(&self, flow: LocalFlow<'_>) -> Option<(Phase, S)> {
        self.writer.find(&flow.flow)
    }

    /// Sets phase and state of a flow that is there; returns whether it is.
    pub fn set_local_flow(&mut self, flow: LocalFlow<'_>, phase: Phase, state: S) -> bool {
        self.writer.find(&flow.flow).is_some()
            && self.writer.insert(flow.flow, phase, state, true, self.now).is_ok()
    }

    /// Whether a flow has been silent for longer than its phase allows, or is not there.
    pub fn is_idle(&self, flow: LocalFlow<'_>) -> bool {
        self.writer.is_idle(&flow.flow, self.now)
    }

    /// The state of a flow of any core; it notes nothing. O(1) expected.
    pub fn get_flow(&self, flow: &FlowId) -> Option<S> {
        self.tables.get(self.steering.designated(flow))?.find(flow, None)
    }

    /// Number of flows of this core.
    pub fn len(&self) -> usize {
        self.writer.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.writer.is_empty()
    }
}
