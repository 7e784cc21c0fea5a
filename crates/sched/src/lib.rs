#![doc = include_str!("../README.md")]
//!
//! ## The modules
//!
//! 1. [`rank`]: what the rank of a packet is ([`rank::RankPolicy`]): FIFO+, pFabric, fair queueing, deadlines, …
//! 2. [`Scheduler`]: a buffer of packets that decides what it takes in and what leaves next.
//! 3. [`policy`]: the schedulers. Those on FIFOs in strict priority are a [`Mapper`] each, on one [`Banked`].
//! 4. [`bounds`]: the best division of ranks among FIFOs for a known distribution, exactly.
//!
//! With the feature `study`, what schedulers on a few FIFOs make of the ranks that a PIFO would serve exactly:
//!
//! 1. `distribution`: how often which rank comes; `traffic`: packets, drawn or from a trace, and their ranks.
//! 2. `port`: one output port, event by event; `waiting`: the ranks that wait there; `tally`: what is counted; `batch_means`: how far
//!    chance may have moved it.
//! 3. `scheduler`: the schedulers by name; `choice`: what can be chosen; `options`: what no port has.
//! 4. `inversions`: the study of the order.
//! 5. `bandwidth`: the study of who gets the line while flows of increasing priority join.
#![forbid(unsafe_code)]

pub mod bounds;
pub mod policy;
pub mod rank;

#[cfg(feature = "study")]
pub mod bandwidth;
#[cfg(feature = "study")]
pub mod batch_means;
#[cfg(feature = "study")]
pub mod choice;
#[cfg(feature = "study")]
pub mod distribution;
#[cfg(feature = "study")]
pub mod inversions;
#[cfg(feature = "study")]
pub mod options;
#[cfg(feature = "study")]
pub mod port;
#[cfg(feature = "study")]
pub mod scheduler;
#[cfg(feature = "study")]
pub mod tally;
#[cfg(feature = "study")]
pub mod traffic;
#[cfg(feature = "study")]
pub mod waiting;

use trueplane_pqueue::FifoBank;

pub use trueplane_pqueue::BadShape;
pub use trueplane_units::{Nanos, Rank};

/// The classical model, in one sentence.
pub const BELIEF: &str = "only a PIFO serves packets in the order of their ranks; FIFOs in strict priority keep apart as many ranks as there are FIFOs";

/// Packet as a scheduler sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Rank of the packet: its place in the order of service.
    pub rank: Rank,
    /// Flow that the packet belongs to.
    pub flow: u64,
    /// Length of the packet on the wire, in bytes.
    pub bytes: u32,
    /// Number by which the owner knows the packet; schedulers do not read it.
    pub handle: u32,
    /// Time of arrival.
    pub arrival: Nanos,
}

/// A buffer of packets that decides which it takes in, and which leaves next.
pub trait Scheduler {
    /// Offers a packet. Returns the one that is dropped for it, if any: the packet itself, or one that was waiting.
    fn enqueue(&mut self, packet: Packet) -> Option<Packet>;

    /// Takes out the packet that is sent next; `None` if and only if nothing waits.
    fn dequeue(&mut self) -> Option<Packet>;

    /// Whether a packet is let in that comes while none waits, and is sent at once.
    ///
    /// The same as [`Self::enqueue`] and [`Self::dequeue`] one after the other. Most packets of a port that is not saturated go this way, so
    /// that it pays to leave the buffer alone.
    fn pass(&mut self, packet: Packet) -> bool {
        debug_assert!(self.is_empty());
        self.enqueue(packet).is_none() && self.dequeue().is_some()
    }

    /// Number of packets that wait.
    fn len(&self) -> usize;

    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of packets that can wait at most.
    fn capacity(&self) -> usize;
}

/// Decides which of the FIFOs in strict priority a packet goes to.
///
/// It sees every arriving packet once, also those that find their FIFO full. `bank` tells which FIFOs are full.
pub trait Mapper {
    /// The number of FIFOs that it maps to; `None`: any number.
    fn queues(&self) -> Option<usize> {
        None
    }

    /// The FIFO for a packet of this rank, 0 first; `None`: it is not let in.
    fn map(&mut self, rank: Rank, bank: &FifoBank<Packet>) -> Option<usize>;
}

/// FIFOs in strict priority under a mapper. A packet whose FIFO is full is dropped.
#[derive(Clone, Debug)]
pub struct Banked<M> {
    bank: FifoBank<Packet>,
    mapper: M,
}

impl<M: Mapper> Banked<M> {
    /// `queues` FIFOs of `depth` packets each.
    ///
    /// # Errors
    ///
    /// As [`FifoBank::new`], or if the mapper maps to another number of queues.
    pub fn new(queues: usize, depth: usize, mapper: M) -> Result<Self, BadShape> {
        if let Some(mapped) = mapper.queues().filter(|&mapped| mapped != queues) {
            return Err(BadShape {
                expected: format!("the {mapped} queues of the mapper"),
                found: queues as u64,
            });
        }
        Ok(Self { bank: FifoBank::new(queues, depth)?, mapper })
    }

    /// Mapper that selects the FIFO for each packet.
    pub fn mapper(&self) -> &M {
        &self.mapper
    }

    /// The FIFOs.
    pub fn bank(&self) -> &FifoBank<Packet> {
        &self.bank
    }
}

impl<M: Mapper> Scheduler for Banked<M> {
    #[inline]
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        let Some(queue) = self.mapper.map(packet.rank, &self.bank) else { return Some(packet) };
        self.bank.push(queue, packet).err().map(trueplane_pqueue::Refused::into_item)
    }

    #[inline]
    fn dequeue(&mut self) -> Option<Packet> {
        self.bank.extract_min().map(|(_, packet)| packet)
    }

    #[inline]
    fn pass(&mut self, packet: Packet) -> bool {
        debug_assert!(self.bank.is_empty());
        self.mapper.map(packet.rank, &self.bank).is_some_and(|queue| queue < self.bank.queues())
    }

    fn len(&self) -> usize {
        self.bank.len()
    }

    fn capacity(&self) -> usize {
        self.bank.capacity()
    }
}
