//! Flows and their packets, each flow a FIFO: two slabs and a directory of names.
//!
//! A flow is there as long as a packet of it waits. Its first packet lies in it, so that a flow of one packet, which is what an
//! attacker sends, is one place in memory; further ones are a list through the second slab.

use std::num::NonZeroU32;

use hashbrown::HashTable;
use trueplane_units::Nanos;

use crate::Packet;

/// The number of a place in a slab, and one.
type Link = NonZeroU32;

/// Place of a flow, as long as a packet of it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowId {
    link: Link,
    /// Hash of the flow's name, by which its entry in the directory is found before its name is read.
    hash: u32,
}

/// Places of one kind that are used again.
#[derive(Clone, Debug)]
struct Slab<V> {
    places: Vec<Option<V>>,
    free: Vec<Link>,
}

impl<V> Slab<V> {
    fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    /// Place of the next value; `None` if there are 2³² − 2 already.
    #[inline]
    fn next(&self) -> Option<Link> {
        self.free.last().copied().or_else(|| Link::new(u32::try_from(self.places.len() + 1).ok()?))
    }

    /// Puts a value where [`Self::next`] says.
    #[inline]
    fn insert(&mut self, value: V) {
        match self.free.pop() {
            Some(link) => self.places[link.get() as usize - 1] = Some(value),
            None => self.places.push(Some(value)),
        }
    }

    #[inline]
    fn get(&self, link: Link) -> Option<&V> {
        self.places.get(link.get() as usize - 1)?.as_ref()
    }

    #[inline]
    fn get_mut(&mut self, link: Link) -> Option<&mut V> {
        self.places.get_mut(link.get() as usize - 1)?.as_mut()
    }

    #[inline]
    fn remove(&mut self, link: Link) -> Option<V> {
        let value = self.places.get_mut(link.get() as usize - 1)?.take()?;
        self.free.push(link);
        Some(value)
    }
}

/// A packet that waits in its flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting<T, M> {
    pub(super) work: Nanos,
    pub(super) item: T,
    /// Mark that the rule made when it came.
    pub(super) mark: M,
    pub(super) bits: u32,
}

impl<T, M> Waiting<T, M> {
    /// The packet as it arrived, and its item.
    pub(super) fn into_packet(self, flow: u64) -> (Packet, T) {
        (Packet { flow, bits: self.bits, work: self.work }, self.item)
    }
}

/// A packet behind the first of its flow.
#[derive(Clone, Debug)]
struct Behind<T, M> {
    waiting: Waiting<T, M>,
    /// Links to the packets before and behind; the first and the last of them link to themselves.
    prev: Link,
    next: Link,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: Link,
    last: Link,
}

/// A flow of which packets wait.
#[derive(Clone, Debug)]
pub(super) struct Flow<T, M, S, N> {
    name: u64,
    pub(super) head: Waiting<T, M>,
    behind: Option<Ends>,
    /// State that the rule keeps of it.
    pub(super) state: S,
    /// Its name in the queue of flows.
    pub(super) place: N,
}

/// State of a flow after a packet was taken from it.
pub(super) enum Left<'a, T, M, S, N> {
    /// Packets that still wait.
    Waiting(&'a mut Flow<T, M, S, N>),
    /// Nothing but what the rule knew of it.
    Nothing(S),
}

/// A packet that was taken, and what is left of its flow.
pub(super) struct Taken<'a, T, M, S, N> {
    pub(super) flow: u64,
    pub(super) packet: Waiting<T, M>,
    pub(super) left: Left<'a, T, M, S, N>,
}

/// All flows.
#[derive(Clone, Debug)]
pub(super) struct Store<T, M, S, N> {
    flows: Slab<Flow<T, M, S, N>>,
    behind: Slab<Behind<T, M>>,
    directory: HashTable<FlowId>,
}

/// Bits of a name that any of its bits may change.
#[inline]
fn hash(name: u64) -> u32 {
    // Digits of π and of the golden ratio.
    let wide = u128::from(name ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15;
    let folded = (wide >> 64) as u64 ^ wide as u64;
    (folded >> 32) as u32 ^ folded as u32
}

/// The same for the table, which looks at the lowest and the highest bits.
#[inline]
fn spread(hash: u32) -> u64 {
    u64::from(hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl<T, M, S, N> Store<T, M, S, N> {
    pub(super) fn new() -> Self {
        Self { flows: Slab::new(), behind: Slab::new(), directory: HashTable::new() }
    }

    /// The flow of this name.
    #[inline]
    pub(super) fn find(&self, name: u64) -> Option<FlowId> {
        let hash = hash(name);
        let is_it = |id: &FlowId| id.hash == hash && self.get(*id).is_some_and(|flow| flow.name == name);
        self.directory.find(spread(hash), is_it).copied()
    }

    #[inline]
    pub(super) fn get(&self, id: FlowId) -> Option<&Flow<T, M, S, N>> {
        self.flows.get(id.link)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: FlowId) -> Option<&mut Flow<T, M, S, N>> {
        self.flows.get_mut(id.link)
    }

    /// Place of the next new flow, if its name is this.
    #[inline]
    pub(super) fn next(&self, name: u64) -> Option<FlowId> {
        Some(FlowId { link: self.flows.next()?, hash: hash(name) })
    }

    /// Adds a flow of one packet where [`Self::next`] says; there must be none of its name.
    #[inline]
    pub(super) fn open(&mut self, id: FlowId, name: u64, head: Waiting<T, M>, state: S, place: N) {
        self.flows.insert(Flow { name, head, behind: None, state, place });
        self.directory.insert_unique(spread(id.hash), id, |id| spread(id.hash));
    }

    /// Adds a packet at the end of a flow; it comes back if there is no place for it.
    #[inline]
    pub(super) fn append(&mut self, id: FlowId, waiting: Waiting<T, M>) -> Result<(), T> {
        let (Some(flow), Some(link)) = (self.flows.get_mut(id.link), self.behind.next()) else {
            return Err(waiting.item);
        };
        let ends = flow.behind.get_or_insert(Ends { first: link, last: link });
        let prev = std::mem::replace(&mut ends.last, link);
        self.behind.insert(Behind { waiting, prev, next: link });
        if let Some(prev) = self.behind.get_mut(prev) {
            prev.next = link;
        }
        Ok(())
    }

    /// Takes out the first packet of a flow.
    #[inline]
    pub(super) fn take_head(&mut self, id: FlowId) -> Option<Taken<'_, T, M, S, N>> {
        let Some(ends) = self.get(id)?.behind else { return self.close(id) };
        let Behind { waiting, next, .. } = self.behind.remove(ends.first)?;
        let flow = self.flows.get_mut(id.link)?;
        flow.behind = (ends.first != ends.last).then_some(Ends { first: next, ..ends });
        let packet = std::mem::replace(&mut flow.head, waiting);
        Some(Taken { flow: flow.name, packet, left: Left::Waiting(flow) })
    }

    /// Takes out the last packet of a flow.
    pub(super) fn take_tail(&mut self, id: FlowId) -> Option<Taken<'_, T, M, S, N>> {
        let Some(ends) = self.get(id)?.behind else { return self.close(id) };
        let Behind { waiting: packet, prev, .. } = self.behind.remove(ends.last)?;
        let flow = self.flows.get_mut(id.link)?;
        flow.behind = (ends.first != ends.last).then_some(Ends { last: prev, ..ends });
        Some(Taken { flow: flow.name, packet, left: Left::Waiting(flow) })
    }

    /// Takes out a flow with its only packet.
    #[inline]
    fn close(&mut self, id: FlowId) -> Option<Taken<'_, T, M, S, N>> {
        if let Ok(entry) = self.directory.find_entry(spread(id.hash), |entry| *entry == id) {
            entry.remove();
        }
        let Flow { name, head, state, .. } = self.flows.remove(id.link)?;
        Some(Taken { flow: name, packet: head, left: Left::Nothing(state) })
    }

    /// Bytes for a packet, if it is the only one of its flow or behind another, whichever is more.
    pub(super) fn bytes_per_packet() -> usize {
        let link = size_of::<Link>();
        // A directory is between 7/16 and 7/8 full, and has a byte for every place.
        let flow = size_of::<Option<Flow<T, M, S, N>>>() + link + (size_of::<FlowId>() + 1) * 16 / 7;
        flow.max(size_of::<Option<Behind<T, M>>>() + link)
    }
}
