//! Flows that stay in order: a FIFO for each, a rule that gives a flow its rank, and a queue of flows.
//!
//! 1. [`Rule`]: what is known of a flow, and its rank.
//! 2. [`fq`], [`drr`], [`inorder`]: the rules.
//! 3. [`PerFlow`]: all of them as policies.

pub mod drr;
pub mod fq;
pub mod inorder;
mod store;

use trueplane_pqueue::{BadShape, MOST_ITEMS};
use trueplane_units::Nanos;

use crate::policy::queue::{Calendar, Exact, Quantised, RankQueue, Reranked};
use crate::ratio::Ratio;
use crate::{Packet, Policy};

pub use drr::DeficitRoundRobin;
pub use fq::SelfClocked;
pub use inorder::{HeadOfQueue, MeanWork, WorkPerBit};
pub use store::FlowId;
use store::{Left, Store, Taken, Waiting};

/// A longer job counts as this long, 68.7 s: the work of as many packets as can wait then never overflows, and what is added for
/// one is what is taken away.
pub const MOST_WORK: Nanos = Nanos((1 << 36) - 1);

const _: () = assert!(MOST_WORK.0 <= u64::MAX / MOST_ITEMS, "the sum over all packets is below 2^64");

/// A packet as a rule sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job<M> {
    /// Its work in nanoseconds, at most [`MOST_WORK`].
    pub work: u64,
    /// Its size.
    pub bits: u32,
    /// Mark that the rule made when it came.
    pub mark: M,
}

impl<M: Copy> Job<M> {
    #[inline]
    fn of<T>(waiting: &Waiting<T, M>) -> Self {
        Self { work: waiting.work.min(MOST_WORK).0, bits: waiting.bits, mark: waiting.mark }
    }
}

/// The end of a flow at which a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It is served.
    Head,
    /// It is dropped.
    Tail,
}

/// Next state of a flow that was served and has more packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn<R> {
    /// It is served again.
    GoesOn,
    /// It waits with this rank, behind flows of the same.
    Waits(R),
}

/// The rank of a flow, and what has to be known of the flow for it.
pub trait Rule {
    /// Rank by which flows are ordered.
    type Rank: Copy + PartialEq;
    /// State of a flow that has packets waiting.
    type State;
    /// Mark that is kept with every packet.
    type Mark: Copy;
    /// Whether the rank of a flow may change while its first packet stays the same.
    const RERANKS: bool;

    /// A flow of which no packet waits gets one, which [`Self::arrives`] is told of next.
    fn opens(&mut self) -> Self::State;

    /// A packet comes to the end of the flow.
    fn arrives(&mut self, state: &mut Self::State, job: Job<()>) -> Self::Mark;

    /// The rank of a flow that begins to wait.
    fn enters(&mut self, state: &mut Self::State, head: Job<Self::Mark>) -> Self::Rank {
        self.rank(state, head)
    }

    /// The rank of a flow that waits.
    fn rank(&self, state: &Self::State, head: Job<Self::Mark>) -> Self::Rank;

    /// A packet leaves.
    fn leaves(&mut self, state: &mut Self::State, job: Job<Self::Mark>, end: End);

    /// A flow was served, and `head` is its first packet now.
    fn continues(&mut self, state: &mut Self::State, head: Job<Self::Mark>) -> Turn<Self::Rank> {
        Turn::Waits(self.rank(state, head))
    }

    /// No flow will begin to wait with a rank that is below both this and the one that is served now.
    fn bound(&self) -> u64 {
        0
    }
}

/// A policy that serves flows by rank, and each flow in order.
///
/// The worst packet is the last of the flow with the largest rank; if that was all of it, the flow goes. So what is dropped is never
/// ahead of what stays, in its own flow or by rank.
///
/// Nothing is kept of a flow of which nothing waits. Flows are found by a hash of their names that is no secret: where an attacker
/// chooses names, they have to be keyed hashes ([`Packet::flow`]). Memory grows with what waits, and is kept.
///
/// Cost: that of the queue, and a look into a hash table at arrival and when a flow ends: O(1) amortised, without [`Exact`].
#[derive(Clone, Debug)]
pub struct PerFlow<T, R: Rule, Q: RankQueue<FlowId>> {
    rule: R,
    len: usize,
    queue: Q,
    store: Store<T, R::Mark, R::State, Q::Name>,
    /// The flow that goes on being served; it is not in the queue.
    current: Option<FlowId>,
}

/// FQ: self-clocked fair queueing, in ticks of about a microsecond.
pub type Fq<T> = PerFlow<T, SelfClocked, Calendar<FlowId>>;
/// [`Fq`] by exact comparison.
pub type FqExact<T> = PerFlow<T, SelfClocked, Exact<u64, FlowId>>;
/// DRR: deficit round robin.
pub type Drr<T> = PerFlow<T, DeficitRoundRobin, Calendar<FlowId, 0>>;
/// [`Drr`] by exact comparison.
pub type DrrExact<T> = PerFlow<T, DeficitRoundRobin, Exact<u64, FlowId>>;
/// WSJF-HoQ: the flow whose first packet has the least work per bit.
pub type WsjfHoq<T> = PerFlow<T, HeadOfQueue, Quantised<FlowId>>;
/// [`WsjfHoq`] by exact comparison.
pub type WsjfHoqExact<T> = PerFlow<T, HeadOfQueue, Exact<Ratio, FlowId>>;
/// WSJF-Inorder: the flow whose packets have the least work per bit together.
pub type WsjfInorder<T> = PerFlow<T, WorkPerBit, Reranked<FlowId>>;
/// [`WsjfInorder`] by exact comparison.
pub type WsjfInorderExact<T> = PerFlow<T, WorkPerBit, Exact<Ratio, FlowId>>;
/// SJF-Inorder: the flow whose packets have the least work on average.
pub type SjfInorder<T> = PerFlow<T, MeanWork, Reranked<FlowId>>;
/// [`SjfInorder`] by exact comparison.
pub type SjfInorderExact<T> = PerFlow<T, MeanWork, Exact<Ratio, FlowId>>;

impl<T, R: Rule, Q: RankQueue<FlowId, Rank = R::Rank>> PerFlow<T, R, Q> {
    /// Room for `capacity` packets, with a rule and a queue as they usually are.
    ///
    /// # Errors
    ///
    /// If the capacity is 0 or beyond [`MOST_ITEMS`].
    pub fn new(capacity: usize) -> Result<Self, BadShape>
    where
        R: Default,
    {
        Self::with(capacity, R::default(), Q::Shape::default())
    }

    /// Room for `capacity` packets, with this rule and a queue of this shape.
    ///
    /// # Errors
    ///
    /// As [`Self::new`]; if the queue cannot have this shape.
    pub fn with(capacity: usize, rule: R, shape: Q::Shape) -> Result<Self, BadShape> {
        const { assert!(Q::RERANKS || !R::RERANKS, "a queue for this rule has to give flows other ranks") };
        let queue = Q::new(shape, capacity)?;
        Ok(Self { rule, len: 0, queue, store: Store::new(), current: None })
    }

    /// The rule, to look at.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    /// Bytes of memory for every packet that there is room for: if each waits in a flow of its own or all in one, whichever is more. What the queue takes when it is empty is not in it ([`Quantised`]).
    pub fn bytes_per_packet() -> usize {
        Store::<T, R::Mark, R::State, Q::Name>::bytes_per_packet() + Q::bytes_per_item()
    }

    /// A packet of a flow of which none waits.
    #[inline]
    fn open(&mut self, packet: Packet, item: T) -> Result<(), T> {
        let Some(id) = self.store.next(packet.flow) else { return Err(item) };
        let mut state = self.rule.opens();
        let mark = self.rule.arrives(&mut state, job(packet));
        let head = Waiting { work: packet.work, item, mark, bits: packet.bits };
        let rank = self.rule.enters(&mut state, Job::of(&head));
        match self.queue.insert(rank, id) {
            Ok(place) => self.store.open(id, packet.flow, head, state, place),
            Err(_) => return Err(head.item),
        }
        Ok(())
    }

    /// A packet of a flow of which others wait.
    #[inline]
    fn append(&mut self, id: FlowId, packet: Packet, item: T) -> Result<(), T> {
        let Some(flow) = self.store.get_mut(id) else { return Err(item) };
        let head = Job::of(&flow.head);
        let before = self.rule.rank(&flow.state, head);
        let mark = self.rule.arrives(&mut flow.state, job(packet));
        let after = self.rule.rank(&flow.state, head);
        self.rerank(id, before, after);
        self.store.append(id, Waiting { work: packet.work, item, mark, bits: packet.bits })
    }

    /// The rank of a flow may have changed.
    #[inline]
    fn rerank(&mut self, id: FlowId, before: R::Rank, after: R::Rank) {
        if !R::RERANKS || before == after || self.current == Some(id) {
            return;
        }
        if let Some(flow) = self.store.get_mut(id)
            && let Some(place) = self.queue.rerank(flow.place, before, after)
        {
            flow.place = place;
        }
    }
}

/// The facts of a new packet that a rule sees.
#[inline]
fn job(packet: Packet) -> Job<()> {
    Job { work: packet.work.min(MOST_WORK).0, bits: packet.bits, mark: () }
}

impl<T, R: Rule, Q: RankQueue<FlowId, Rank = R::Rank>> Policy<T> for PerFlow<T, R, Q> {
    fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn arrive(&mut self, packet: Packet, item: T, _now: Nanos) -> Result<(), T> {
        if self.len == self.queue.capacity() {
            return Err(item);
        }
        match self.store.find(packet.flow) {
            Some(id) => self.append(id, packet, item)?,
            None => self.open(packet, item)?,
        }
        self.len += 1;
        Ok(())
    }

    #[inline]
    fn serve(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        let bound = self.rule.bound();
        let id = self.current.take().or_else(|| self.queue.extract_min(bound))?;
        let Taken { flow, packet, left } = self.store.take_head(id)?;
        self.len -= 1;
        match left {
            Left::Waiting(left) => {
                self.rule.leaves(&mut left.state, Job::of(&packet), End::Head);
                match self.rule.continues(&mut left.state, Job::of(&left.head)) {
                    Turn::GoesOn => self.current = Some(id),
                    // It has the room that it left; if not, nothing is lost.
                    Turn::Waits(rank) => match self.queue.insert(rank, id) {
                        Ok(place) => left.place = place,
                        Err(id) => self.current = Some(id),
                    },
                }
            }
            Left::Nothing(mut state) => {
                self.rule.leaves(&mut state, Job::of(&packet), End::Head);
            }
        }
        Some(packet.into_packet(flow))
    }

    fn drop_worst(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        let id = self.queue.peek_max().copied().or(self.current)?;
        let flow = self.store.get(id)?;
        let before = self.rule.rank(&flow.state, Job::of(&flow.head));
        let Taken { flow, packet, left } = self.store.take_tail(id)?;
        self.len -= 1;
        match left {
            Left::Waiting(left) => {
                self.rule.leaves(&mut left.state, Job::of(&packet), End::Tail);
                let after = self.rule.rank(&left.state, Job::of(&left.head));
                self.rerank(id, before, after);
            }
            Left::Nothing(mut state) => {
                self.rule.leaves(&mut state, Job::of(&packet), End::Tail);
                if self.current == Some(id) {
                    self.current = None;
                } else {
                    self.queue.extract_max();
                }
            }
        }
        Some(packet.into_packet(flow))
    }
}
