//! What goes when the buffer is full.
//!
//! Whoever can fill the buffer with packets that will not be served soon keeps everybody else out, if the newcomer is dropped: the
//! order of service is then worth nothing. So the worst has to go, and the queue needs both ends (Atre 2025, §3.5.4).

use trueplane_pqueue::BadShape;
use trueplane_units::{Bytes, Datum, Nanos, Value, choices, unexpected};

use crate::{Packet, Policy};

/// Capacity of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Capacity {
    /// Number of packets.
    Packets(usize),
    /// Number of bits.
    Bits(u64),
}

/// A buffer of packets, `1000`, or of bytes, `64KiB`; neither is zero.
impl Value for Capacity {
    fn expected() -> String {
        "a capacity above zero such as 1000 packets or 64KiB".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let packets = usize::parse(text).ok().map(Capacity::Packets);
        let bytes = || text.parse().ok().and_then(|Bytes(bytes)| bytes.checked_mul(8)).map(Capacity::Bits);
        match packets.or_else(bytes) {
            None | Some(Capacity::Packets(0) | Capacity::Bits(0)) => Err(unexpected(Self::expected(), text)),
            Some(capacity) => Ok(capacity),
        }
    }

    fn show(&self) -> String {
        match self {
            Capacity::Packets(packets) => packets.to_string(),
            Capacity::Bits(bits) => Bytes(bits / 8).show(),
        }
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.show())
    }
}

choices! {
    /// Policy for what is dropped when the buffer is full.
    pub enum Overflow {
        /// The packet that the policy would serve last, which may be the newcomer.
        DropWorst = "worst",
        /// The newcomer.
        DropNewcomer = "newcomer",
    }
}

/// A policy with a bounded buffer.
#[derive(Clone, Debug)]
pub struct Bounded<P> {
    policy: P,
    capacity: Option<Capacity>,
    overflow: Overflow,
    bits: u64,
}

impl<P> Bounded<P> {
    /// A buffer for `packets` packets, with a policy that `policy` makes with the room that it needs.
    ///
    /// The policy is asked for room for one packet more if the worst goes, as the newcomer has to be in before the worst is known.
    ///
    /// ```
    /// use trueplane_surge::policy::{Fcfs, Wsjf};
    /// use trueplane_surge::{Bounded, Overflow};
    ///
    /// let wsjf: Bounded<Wsjf<u64>> = Bounded::with_capacity(1000, Overflow::DropWorst, Wsjf::new)?;
    /// let fcfs: Bounded<Fcfs<u64>> =
    ///     Bounded::with_capacity(1000, Overflow::DropNewcomer, |room| Ok(Fcfs::new(room)))?;
    /// assert!(wsjf.is_empty() && fcfs.is_empty());
    /// # Ok::<(), trueplane_surge::BadShape>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If `packets` is 0, or the policy cannot have so much room.
    pub fn with_capacity<T>(
        packets: usize,
        overflow: Overflow,
        policy: impl FnOnce(usize) -> Result<P, BadShape>,
    ) -> Result<Self, BadShape>
    where
        P: Policy<T>,
    {
        BadShape::check_least("a capacity", packets as u64, 1)?;
        let policy = policy(packets.saturating_add(spare(overflow)))?;
        Self::new(policy, Some(Capacity::Packets(packets)), overflow)
    }

    /// `policy` with a buffer for `capacity`; `None` for as much as the policy has room for.
    ///
    /// # Errors
    ///
    /// If the policy has room for fewer packets than the buffer should hold; with [`Overflow::DropWorst`] it needs room for one more
    /// ([`Self::with_capacity`] makes it so). A buffer of bits is not checked: [`Self::arrive`] says so if the policy is full.
    pub fn new<T>(policy: P, capacity: Option<Capacity>, overflow: Overflow) -> Result<Self, BadShape>
    where
        P: Policy<T>,
    {
        if let Some(Capacity::Packets(packets)) = capacity {
            let needed = (packets as u64).saturating_add(spare(overflow) as u64);
            BadShape::check_least("a policy with a capacity", policy.capacity() as u64, needed)?;
        }
        Ok(Self { policy, capacity, overflow, bits: 0 })
    }

    /// Number of packets that wait.
    pub fn len<T>(&self) -> usize
    where
        P: Policy<T>,
    {
        self.policy.len()
    }

    /// Whether no packet waits.
    pub fn is_empty<T>(&self) -> bool
    where
        P: Policy<T>,
    {
        self.policy.is_empty()
    }

    /// The capacity of the buffer; `None` if it is that of the policy.
    pub fn capacity(&self) -> Option<Capacity> {
        self.capacity
    }

    /// Bits that wait.
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Adds a packet, and hands everything that has to go for it to `dropped`, which may be the newcomer.
    ///
    /// One large packet may take the room of many small ones, which all go for it. Every packet goes once, so that over all calls together
    /// no more go than came. Cost: an arrival at the policy, and its `drop_worst` for each packet that goes: O(1) amortised if those are.
    ///
    /// # Errors
    ///
    /// If the policy has no room for what the buffer should hold; nothing has changed, and `item` comes back.
    #[inline]
    pub fn arrive<T>(
        &mut self,
        packet: Packet,
        item: T,
        now: Nanos,
        mut dropped: impl FnMut(Packet, T),
    ) -> Result<(), T>
    where
        P: Policy<T>,
    {
        // Packets without bits would fill the policy before they fill a buffer of bits.
        let packet = Packet { bits: packet.bits.max(1), ..packet };
        let size = u64::from(packet.bits);
        let drops_newcomer = self.overflow == Overflow::DropNewcomer;
        // What does not even fit into an empty buffer drives nobody out.
        if self.exceeds(1, size) || drops_newcomer && self.exceeds(self.policy.len() + 1, self.bits + size) {
            dropped(packet, item);
            return Ok(());
        }
        self.policy.arrive(packet, item, now)?;
        self.bits += size;
        while self.exceeds(self.policy.len(), self.bits) {
            let Some((packet, item)) = self.policy.drop_worst(now) else { break };
            self.bits -= u64::from(packet.bits);
            dropped(packet, item);
        }
        Ok(())
    }

    /// Takes out the packet to serve next, at the cost of the policy.
    #[inline]
    pub fn serve<T>(&mut self, now: Nanos) -> Option<(Packet, T)>
    where
        P: Policy<T>,
    {
        let (packet, item) = self.policy.serve(now)?;
        self.bits -= u64::from(packet.bits);
        Some((packet, item))
    }

    /// The policy, to look at.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Whether so much is more than may wait.
    #[inline]
    fn exceeds(&self, packets: usize, bits: u64) -> bool {
        match self.capacity {
            None => false,
            Some(Capacity::Packets(most)) => packets > most,
            Some(Capacity::Bits(most)) => bits > most,
        }
    }
}

/// Number of packets for which the policy has to have room beside those of the buffer.
fn spare(overflow: Overflow) -> usize {
    usize::from(overflow == Overflow::DropWorst)
}
