#![doc = include_str!("../README.md")]
//!
//! # Map of the modules
//!
//! 1. [`Packet`], [`Policy`]: what a scheduler sees, and what it does.
//! 2. [`ratio`]: work per bit, exact and as an integer rank.
//! 3. [`policy`]: the orders of service.
//! 4. [`bounded`]: what goes when the buffer is full.
//! 5. [`theory`]: the best attack on each of them, and what it is worth.
//!
//! With the feature `study`, packets whose service takes unequal time, an attack among them, and one server:
//!
//! 1. `traffic`: innocent and attack packets, and when they come.
//! 2. `application`: what a packet costs the processor, and what it is thought to cost.
//! 3. `server`: the one server, event by event; `tally`: what is counted; `interval`: how far chance may have moved it over seeds.
//! 4. `segments`: the TCP and UDP packets of a capture; `jobs`: packets with what serving them took; `reassembly`: TCP reassembly;
//!    `matching`: the rules of an intrusion detector.
//! 5. `workload`: where users' packets come from; `orders`: orders of service made by name; `rate`: rates as people write them.
//! 6. `search`: the worst attack, without a formula; `replay`: what an earlier study found.
//! 7. `compare`, `guard`: the studies; `words`: how verdicts say numbers.
//!
//! Source: Atre, *Taming Model Incongruities in Networked Systems*, 2025, chapter 3; Atre et al., *SurgeProtector*, SIGCOMM 2022.
#![forbid(unsafe_code)]

pub mod bounded;
pub mod policy;
pub mod ratio;
pub mod theory;

#[cfg(feature = "study")]
pub mod application;
#[cfg(feature = "study")]
pub mod attack;
#[cfg(feature = "study")]
pub mod compare;
#[cfg(feature = "study")]
pub mod guard;
#[cfg(feature = "study")]
pub mod interval;
#[cfg(feature = "study")]
pub mod jobs;
#[cfg(feature = "study")]
pub mod matching;
#[cfg(feature = "study")]
pub mod orders;
#[cfg(feature = "study")]
pub mod rate;
#[cfg(feature = "study")]
pub mod reassembly;
#[cfg(feature = "study")]
pub mod replay;
#[cfg(feature = "study")]
pub mod search;
#[cfg(feature = "study")]
pub mod segments;
#[cfg(feature = "study")]
pub mod server;
#[cfg(feature = "study")]
pub mod tally;
#[cfg(feature = "study")]
pub mod traffic;
#[cfg(feature = "study")]
mod words;
#[cfg(feature = "study")]
pub mod workload;

pub use bounded::{Bounded, Capacity, Overflow};
pub use trueplane_pqueue::{BadShape, Handle};
pub use trueplane_units::{Bytes, Nanos};

/// The belief that this crate holds against what really happens.
pub const BELIEF: &str = "throughput on average traffic";

/// A packet as the scheduler sees it: anything that waits for one server, has a size and takes time, such as a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Packet {
    /// Name of its flow. Where an attacker chooses names, a keyed hash of what he chose.
    pub flow: u64,
    /// Its size on the wire, in bits. A packet without bits counts as one of one bit: in a rank, and in the room that [`Bounded`] gives it.
    pub bits: u32,
    /// Time that it will take, as far as is known: the true job size or an estimate.
    pub work: Nanos,
}

impl Packet {
    /// A packet of so many bytes. Fewer than one bit count as one, and 512 MiB or more as 2^32 − 1 bits.
    pub fn of_bytes(flow: u64, size: Bytes, work: Nanos) -> Self {
        let bits = u32::try_from(size.0.saturating_mul(8)).unwrap_or(u32::MAX).max(1);
        Self { flow, bits, work }
    }
}

/// An order of service for packets that wait for one server, with `T` as what the caller knows a packet by.
///
/// Nothing is dropped here; [`Bounded`] decides when something has to go, the policy which.
///
/// Cost of [`Self::arrive`], [`Self::serve`] and [`Self::drop_worst`]: O(1) amortised for the policies of [`policy`] over find-first-set
/// queues, whatever comes; O(log packets) for those by exact ranks.
pub trait Policy<T> {
    /// Number of packets that the policy has room for.
    fn capacity(&self) -> usize;

    /// Number of packets that wait.
    fn len(&self) -> usize;

    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a packet; `now` never goes back from one call to the next.
    ///
    /// # Errors
    ///
    /// If as many packets wait as [`Self::capacity`] says; nothing has changed, and `item` comes back.
    fn arrive(&mut self, packet: Packet, item: T, now: Nanos) -> Result<(), T>;

    /// Takes out the packet to serve next.
    fn serve(&mut self, now: Nanos) -> Option<(Packet, T)>;

    /// Takes out the packet that deserves service least. A policy that keeps flows in order still does so for those that stay.
    fn drop_worst(&mut self, now: Nanos) -> Option<(Packet, T)>;
}

/// A policy that names the packets that wait, so that one can be taken out wherever it is: its client has gone away.
///
/// [`WsjfNamed`](policy::WsjfNamed) and [`SjfNamed`](policy::SjfNamed) have it at O(1) an operation, [`WsjfExact`](policy::WsjfExact) and
/// [`SjfExact`](policy::SjfExact) at O(log packets). The other policies do not have it: what makes them faster, or keeps flows in order,
/// has no way to a packet in the middle.
pub trait Named<T>: Policy<T> {
    /// Names a packet as long as it waits, and nothing after that. A name is never given again by the same policy.
    type Name: Copy + PartialEq + std::fmt::Debug;

    /// Adds a packet as [`Policy::arrive`] does, and returns its name.
    ///
    /// # Errors
    ///
    /// As [`Policy::arrive`].
    fn arrive_named(&mut self, packet: Packet, item: T, now: Nanos) -> Result<Self::Name, T>;

    /// The packet of this name; `None` if it does not wait any more.
    fn find(&self, name: Self::Name) -> Option<&(Packet, T)>;

    /// Takes out the packet of this name. Returns `None`, and does nothing, if it does not wait any more.
    fn cancel(&mut self, name: Self::Name) -> Option<(Packet, T)>;
}

/// One that is only known at run time.
impl<T, P: Policy<T> + ?Sized> Policy<T> for Box<P> {
    fn capacity(&self) -> usize {
        (**self).capacity()
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    fn arrive(&mut self, packet: Packet, item: T, now: Nanos) -> Result<(), T> {
        (**self).arrive(packet, item, now)
    }

    fn serve(&mut self, now: Nanos) -> Option<(Packet, T)> {
        (**self).serve(now)
    }

    fn drop_worst(&mut self, now: Nanos) -> Option<(Packet, T)> {
        (**self).drop_worst(now)
    }
}
