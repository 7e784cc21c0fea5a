//! What goes when the buffer is full.
//!
//! Whoever can fill the buffer with packets that will not be served soon keeps everybody else out, if the newcomer is dropped: the
//! order of service is then worth nothing. So the worst has to go, and the queue needs both ends (Atre 2025, §3.5.4).

use trueplane_pqueue::BadShape;
use trueplane_units::{Bytes, Datum, Nanos, Value, choices, unexpected};

use crate::{Named, Packet, Policy};

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
    ///
    /// With `DropWorst`, SJF and WSJF drop the oldest of the packets that share the worst rank. So a newcomer of that rank takes the place of one
    /// that has waited longer: where packets of one rank overload the server, those that are served have waited for a short time, and the
    /// others are dropped after they have waited. Ranks are rounded ([`ratio`](crate::ratio)): a newcomer that is worse by less than
    /// the rounding has the same rank. FCFS drops the newest packet. A policy that keeps flows in order drops the last packet of the flow
    /// of the worst rank.
    pub enum Overflow {
        /// The packet with the worst rank, which may be the one that arrives.
        DropWorst = "worst",
        /// The packet that arrives.
        DropNewcomer = "newcomer",
    }
}

/// A policy with a bounded buffer.
#[derive(Clone, Debug)]
pub struct Bounded<P> {
    policy: P,
    capacity: Option<Capacity>,
    overflow: Overflow,
    /// Number of packets that may wait, whatever `capacity` counts; the largest number if only the policy limits it.
    most_packets: usize,
    /// Number of bits that may wait; the largest number if `capacity` counts no bits.
    most_bits: u64,
    /// Bits that wait.
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
        Self::with_room(Capacity::Packets(packets), packets, overflow, policy)
    }

    /// A buffer for `bits` bits in at most `most_packets` packets, with a policy that `policy` makes with the room that it needs.
    ///
    /// Both limits hold: what is beyond either is dropped, as `overflow` says. The memory of the policy is proportional to `most_packets`.
    ///
    /// ```
    /// use trueplane_surge::policy::Wsjf;
    /// use trueplane_surge::{Bounded, Capacity, Overflow};
    ///
    /// // 64 MiB of requests, and no more than 10,000 of them.
    /// let waiting: Bounded<Wsjf<u64>> = Bounded::with_bits(64 << 23, 10_000, Overflow::DropWorst, Wsjf::new)?;
    /// assert_eq!(waiting.capacity(), Some(Capacity::Bits(64 << 23)));
    /// # Ok::<(), trueplane_surge::BadShape>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If `bits` or `most_packets` is 0, or the policy cannot have so much room.
    pub fn with_bits<T>(
        bits: u64,
        most_packets: usize,
        overflow: Overflow,
        policy: impl FnOnce(usize) -> Result<P, BadShape>,
    ) -> Result<Self, BadShape>
    where
        P: Policy<T>,
    {
        BadShape::check_least("a capacity in bits", bits, 1)?;
        Self::with_room(Capacity::Bits(bits), most_packets, overflow, policy)
    }

    fn with_room<T>(
        capacity: Capacity,
        most_packets: usize,
        overflow: Overflow,
        policy: impl FnOnce(usize) -> Result<P, BadShape>,
    ) -> Result<Self, BadShape>
    where
        P: Policy<T>,
    {
        BadShape::check_least("a capacity", most_packets as u64, 1)?;
        let policy = policy(most_packets.saturating_add(spare(overflow)))?;
        check_room(policy.capacity(), most_packets, overflow)?;
        Ok(Self { most_packets, ..Self::new(policy, Some(capacity), overflow)? })
    }

    /// `policy` with a buffer for `capacity`; `None` for as much as the policy has room for.
    ///
    /// With [`Overflow::DropWorst`] one place of the policy stays free for the newcomer: at most `policy.capacity()` − 1 packets wait, whatever
    /// their size.
    ///
    /// # Errors
    ///
    /// If packets wait in the policy already, the capacity is 0, or the policy has room for fewer packets than the buffer should hold, which is one packet at least if `capacity` counts no packets;
    /// with [`Overflow::DropWorst`] it needs room for one more ([`Self::with_capacity`] and [`Self::with_bits`] make it so).
    pub fn new<T>(policy: P, capacity: Option<Capacity>, overflow: Overflow) -> Result<Self, BadShape>
    where
        P: Policy<T>,
    {
        if !policy.is_empty() {
            let expected = "a policy in which no packet waits".to_owned();
            return Err(BadShape { expected, found: policy.len() as u64 });
        }
        let room = policy.capacity();
        let (packets, most_bits) = match capacity {
            Some(Capacity::Packets(packets)) => (Some(packets), u64::MAX),
            Some(Capacity::Bits(bits)) => (None, bits),
            None => (None, u64::MAX),
        };
        BadShape::check_least("a capacity", packets.map_or(most_bits, |packets| packets as u64), 1)?;
        check_room(room, packets.unwrap_or(1), overflow)?;
        let most_packets = packets.unwrap_or(match overflow {
            Overflow::DropWorst => room - spare(overflow),
            // The policy refuses newcomers when it is full.
            Overflow::DropNewcomer => usize::MAX,
        });
        Ok(Self { policy, capacity, overflow, most_packets, most_bits, bits: 0 })
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

    /// What is dropped when the buffer is full.
    pub fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// Bits that wait.
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// Adds a packet, and hands everything that has to go for it to `dropped`, which may be the newcomer.
    ///
    /// A packet that is larger than the whole buffer goes at once, and displaces nobody, whatever its rank. One large packet may take the room of
    /// many small ones, which all go for it. Every packet goes once, so that over all calls together
    /// no more go than came. Let `dropped` collect what goes: if it panics, the packets that it was not called for wait beyond the capacity.
    ///
    /// Cost: an arrival at the policy, and its `drop_worst` for each packet that goes: O(1) amortised if those are.
    ///
    /// # Errors
    ///
    /// With [`Overflow::DropNewcomer`], if the policy is full before a buffer made by [`Self::new`] is, whose capacity counts no packets;
    /// nothing has changed, and `item` comes back. With [`Overflow::DropWorst`] there is no error: what goes, which may be the newcomer, is
    /// handed to `dropped`.
    #[inline]
    pub fn arrive<T>(
        &mut self,
        packet: Packet,
        item: T,
        now: Nanos,
        dropped: impl FnMut(Packet, T),
    ) -> Result<(), T>
    where
        P: Policy<T>,
    {
        let arrived = self.admit(packet, item, now, dropped, P::arrive);
        arrived.map(|_| ())
    }

    /// Adds a packet as [`Self::arrive`] does, and returns the name by which it can be cancelled; `None` if it has been dropped at once.
    ///
    /// # Errors
    ///
    /// As [`Self::arrive`].
    ///
    /// ```
    /// use trueplane_surge::policy::WsjfNamed;
    /// use trueplane_surge::{Bounded, Bytes, Nanos, Overflow, Packet};
    ///
    /// let mut waiting: Bounded<WsjfNamed<&str>> = Bounded::with_capacity(1, Overflow::DropWorst, WsjfNamed::new)?;
    /// let packet = Packet::of_bytes(0, Bytes(1_000), Nanos(5));
    /// let name = waiting.arrive_named(packet, "a", Nanos(0), |_, _| ()).unwrap().expect("there is room");
    /// assert_eq!(waiting.cancel(name), Some((packet, "a")));
    /// assert_eq!((waiting.len(), waiting.bits(), waiting.cancel(name)), (0, 0, None));
    /// # Ok::<(), trueplane_surge::BadShape>(())
    /// ```
    #[inline]
    pub fn arrive_named<T>(
        &mut self,
        packet: Packet,
        item: T,
        now: Nanos,
        dropped: impl FnMut(Packet, T),
    ) -> Result<Option<P::Name>, T>
    where
        P: Named<T>,
    {
        let arrived = self.admit(packet, item, now, dropped, P::arrive_named)?;
        Ok(arrived.filter(|&name| self.policy.find(name).is_some()))
    }

    /// Adds a packet by `arrive`, whose result comes back unless the packet is too large or the newcomer goes.
    #[inline]
    fn admit<T, N>(
        &mut self,
        packet: Packet,
        item: T,
        now: Nanos,
        mut dropped: impl FnMut(Packet, T),
        arrive: impl FnOnce(&mut P, Packet, T, Nanos) -> Result<N, T>,
    ) -> Result<Option<N>, T>
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
            return Ok(None);
        }
        let arrived = arrive(&mut self.policy, packet, item, now)?;
        self.bits += size;
        while self.exceeds(self.policy.len(), self.bits) {
            let Some((packet, item)) = self.policy.drop_worst(now) else { break };
            self.bits -= u64::from(packet.bits);
            dropped(packet, item);
        }
        Ok(Some(arrived))
    }

    /// The packet of this name; `None` if it does not wait any more.
    pub fn find<T>(&self, name: P::Name) -> Option<&(Packet, T)>
    where
        P: Named<T>,
    {
        self.policy.find(name)
    }

    /// Takes out the packet of this name, which this buffer gave: a name from another buffer, or from a clone, may be that of any packet. Frees its place at once. Returns `None`, and does nothing, if it does not wait any more: it
    /// has been served, dropped or cancelled. Cost: O(1) for [`WsjfNamed`](crate::policy::WsjfNamed).
    pub fn cancel<T>(&mut self, name: P::Name) -> Option<(Packet, T)>
    where
        P: Named<T>,
    {
        let (packet, item) = self.policy.cancel(name)?;
        self.bits -= u64::from(packet.bits);
        Some((packet, item))
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

    /// Takes out all packets in the order of [`Self::serve`] at `now`, each at its cost.
    ///
    /// Packets that the iterator has not returned when it is dropped stay in the buffer.
    pub fn drain<T>(&mut self, now: Nanos) -> impl Iterator<Item = (Packet, T)>
    where
        P: Policy<T>,
    {
        std::iter::from_fn(move || self.serve(now))
    }

    /// Drops all packets, each at the cost of [`Self::serve`]. The policy keeps its memory.
    pub fn clear<T>(&mut self, now: Nanos)
    where
        P: Policy<T>,
    {
        self.drain(now).for_each(drop);
    }

    /// The policy, to look at.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Whether so much is more than may wait.
    #[inline]
    fn exceeds(&self, packets: usize, bits: u64) -> bool {
        packets > self.most_packets || bits > self.most_bits
    }
}

/// Number of packets for which the policy has to have room beside those of the buffer.
fn spare(overflow: Overflow) -> usize {
    usize::from(overflow == Overflow::DropWorst)
}

/// Refuses a policy with room for `room` packets that is too small for a buffer of `packets`.
fn check_room(room: usize, packets: usize, overflow: Overflow) -> Result<(), BadShape> {
    let needed = (packets as u64).saturating_add(spare(overflow) as u64);
    BadShape::check_least("a policy with a capacity", room as u64, needed)
}
