//! Every packet for itself: a rank when it arrives, and a queue of them.

use trueplane_pqueue::BadShape;
use trueplane_units::Nanos;

use super::queue::{Exact, NamedQueue, Quantised, RankQueue, Reranked};
use crate::ratio::Ratio;
use crate::{Named, Packet, Policy};

/// The rank of a packet.
pub trait Rule {
    /// Rank of a packet, from its arrival on.
    fn rank(&self, packet: &Packet) -> Ratio;
}

/// A policy that serves the packet of the smallest rank, and of those the oldest; it reorders flows.
///
/// The worst packet is the one of the largest rank, and of those the oldest. Cost: that of its queue.
#[derive(Clone, Debug)]
pub struct Ranked<R, Q> {
    rule: R,
    queue: Q,
}

/// SJF: the packet with the least work goes first.
///
/// Rank: work. Its displacement factor has a bound, but one that grows with the size of innocent packets over that of the attacker's.
/// Source: Atre 2025 §3.4.3.
pub type Sjf<T> = Ranked<ShortestJob, Quantised<(Packet, T)>>;

/// [`Sjf`] with a name for every packet that waits, so that it can be cancelled ([`Named`]). The order is the same.
///
/// All memory is reserved at the start. Taking out a packet waits for memory more often than in [`Sjf`].
pub type SjfNamed<T> = Ranked<ShortestJob, Reranked<(Packet, T)>>;

/// [`Sjf`] by exact comparison.
pub type SjfExact<T> = Ranked<ShortestJob, Exact<Ratio, (Packet, T)>>;

/// WSJF: the packet with the least work per bit goes first.
///
/// Rank: work ÷ bits. Its displacement factor is at most the load, and with ranks within a factor of 1 + ε ([`ratio`](crate::ratio)) at
/// most 1 + ε times that. Source: Atre 2025 §3.4.4, theorem 3.
///
/// Work per bit saturates outside 2^−32 to 2^32 ns per bit (4.29 s per bit): all packets below have the first rank, and all above the last.
/// They are served in the order in which they came. [`WsjfExact`] has no such bounds.
pub type Wsjf<T> = Ranked<LeastWorkPerBit, Quantised<(Packet, T)>>;

/// [`Wsjf`] with a name for every packet that waits, so that it can be cancelled ([`Named`]). The order is the same.
///
/// All memory is reserved at the start. Taking out a packet waits for memory more often than in [`Wsjf`].
pub type WsjfNamed<T> = Ranked<LeastWorkPerBit, Reranked<(Packet, T)>>;

/// [`Wsjf`] by exact comparison.
pub type WsjfExact<T> = Ranked<LeastWorkPerBit, Exact<Ratio, (Packet, T)>>;

/// The rule of [`Sjf`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShortestJob;

impl Rule for ShortestJob {
    /// Over 2^32 bits, so that no job is too short or too long for a rank of its own.
    #[inline]
    fn rank(&self, packet: &Packet) -> Ratio {
        Ratio::new(packet.work, 1 << 32)
    }
}

/// The rule of [`Wsjf`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LeastWorkPerBit;

impl Rule for LeastWorkPerBit {
    #[inline]
    fn rank(&self, packet: &Packet) -> Ratio {
        Ratio::new(packet.work, packet.bits.into())
    }
}

impl<R: Default, Q> Ranked<R, Q> {
    /// Room for `capacity` packets, with a queue as it usually is.
    ///
    /// # Errors
    ///
    /// If the capacity is 0 or beyond [`MOST_ITEMS`](trueplane_pqueue::MOST_ITEMS).
    pub fn new<T>(capacity: usize) -> Result<Self, BadShape>
    where
        Q: RankQueue<(Packet, T), Rank = Ratio>,
    {
        Self::with_shape(capacity, Q::Shape::default())
    }

    /// Room for `capacity` packets, with a queue of this shape.
    ///
    /// # Errors
    ///
    /// As [`Self::new`]; if the queue cannot have this shape.
    pub fn with_shape<T>(capacity: usize, shape: Q::Shape) -> Result<Self, BadShape>
    where
        Q: RankQueue<(Packet, T), Rank = Ratio>,
    {
        Ok(Self { rule: R::default(), queue: Q::new(shape, capacity)? })
    }

    /// Bytes of memory for every packet that waits.
    pub fn bytes_per_packet<T>() -> usize
    where
        Q: RankQueue<(Packet, T), Rank = Ratio>,
    {
        Q::bytes_per_item()
    }
}

impl<T, R: Rule, Q: RankQueue<(Packet, T), Rank = Ratio>> Policy<T> for Ranked<R, Q> {
    fn capacity(&self) -> usize {
        self.queue.capacity()
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    #[inline]
    fn arrive(&mut self, packet: Packet, item: T, _now: Nanos) -> Result<(), T> {
        let inserted = self.queue.insert(self.rule.rank(&packet), (packet, item));
        inserted.map(|_| ()).map_err(|(_, item)| item)
    }

    #[inline]
    fn serve(&mut self, now: Nanos) -> Option<(Packet, T)> {
        self.queue.extract_min(now.0)
    }

    fn drop_worst(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        self.queue.extract_max()
    }
}

impl<T, R: Rule, Q: NamedQueue<(Packet, T), Rank = Ratio>> Named<T> for Ranked<R, Q> {
    type Name = Q::Name;

    #[inline]
    fn arrive_named(&mut self, packet: Packet, item: T, _now: Nanos) -> Result<Q::Name, T> {
        self.queue.insert(self.rule.rank(&packet), (packet, item)).map_err(|(_, item)| item)
    }

    fn find(&self, name: Q::Name) -> Option<&(Packet, T)> {
        self.queue.find(name)
    }

    fn cancel(&mut self, name: Q::Name) -> Option<(Packet, T)> {
        self.queue.remove(name)
    }
}
