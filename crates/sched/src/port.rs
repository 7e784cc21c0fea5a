//! The output port: packets come, a scheduler takes them in or drops them, and the line sends one after the other.
//!
//! Time is in nanoseconds. Packets come at whole ones; the end of a transmission is exact, a whole number of nanoseconds and a
//! fraction over the rate, so that the line sends at its rate however odd that is.
//!
//! Ties: a packet that comes at the very instant at which the port chooses is there when it chooses, also if the port was idle; and
//! packets of one instant are taken in in their order.

use trueplane_study::{Error, Observer};
use trueplane_units::{BitsPerSec, Nanos, Rank};

use crate::rank::PacketMeta;
use crate::waiting::Waiting;
use crate::{Packet, Scheduler};

/// Packets between two reports of progress, and two questions whether to stop.
const REPORT: u64 = 1 << 14;

/// Bits per byte × nanoseconds per second.
const SCALE: u128 = 8_000_000_000;

/// Stops the work if that is asked for.
///
/// # Errors
/// Then.
pub fn go_on(observer: &dyn Observer) -> Result<(), Error> {
    if observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
}

/// Packets that come to a port.
pub trait Traffic {
    /// The next packet and when it comes, which is not before the one before it.
    fn next(&mut self) -> Option<(Nanos, PacketMeta)>;
}

/// Source of the packets' ranks, one after the other as they come.
pub trait Ranks {
    /// The rank of the packet that comes now.
    fn rank(&mut self, packet: &PacketMeta, now: Nanos) -> Rank;

    /// A packet of this rank begins to be sent.
    fn departs(&mut self, _rank: Rank) {}
}

impl<T: Traffic + ?Sized> Traffic for Box<T> {
    fn next(&mut self) -> Option<(Nanos, PacketMeta)> {
        (**self).next()
    }
}

impl<R: Ranks + ?Sized> Ranks for Box<R> {
    fn rank(&mut self, packet: &PacketMeta, now: Nanos) -> Rank {
        (**self).rank(packet, now)
    }

    fn departs(&mut self, rank: Rank) {
        (**self).departs(rank);
    }
}

/// Counters of what happens at a port.
pub trait Tally<S> {
    /// A packet comes.
    fn arrives(&mut self, packet: &Packet);

    /// A packet, not always the one that came last, is dropped.
    fn drops(&mut self, packet: &Packet);

    /// A packet begins to be sent at `start`, while `smallest` is the smallest rank that still waits.
    fn departs(&mut self, packet: &Packet, start: Nanos, smallest: Option<u64>);

    /// Looks at the scheduler after the packet that came was taken in or dropped.
    fn looks(&mut self, scheduler: &S) {
        let _ = scheduler;
    }
}

/// A port with its scheduler, and who keeps count.
pub struct Port<S, W, T> {
    scheduler: S,
    waiting: W,
    tally: T,
    rate: u64,
    /// When the line is free: whole nanoseconds, and a fraction of one in units of 1 / rate.
    free: u64,
    fraction: u64,
}

impl<S: Scheduler, W: Waiting, T: Tally<S>> Port<S, W, T> {
    /// An idle port that sends at `rate`, at least 1 bit/s.
    pub fn new(rate: BitsPerSec, scheduler: S, waiting: W, tally: T) -> Self {
        Self { scheduler, waiting, tally, rate: rate.0.max(1), free: 0, fraction: 0 }
    }

    /// Runs until all packets of `traffic` have come and have left or been dropped; returns who kept count and the scheduler.
    ///
    /// # Errors
    /// If the observer interrupts.
    pub fn run(
        mut self,
        mut traffic: impl Traffic,
        mut ranks: impl Ranks,
        observer: &dyn Observer,
    ) -> Result<(T, S), Error> {
        let mut count = 0u64;
        while let Some((now, meta)) = traffic.next() {
            while self.free < now.0 && self.depart(&mut ranks) {}
            let rank = ranks.rank(&meta, now);
            self.arrive(Packet { rank, flow: meta.flow, bytes: meta.bytes, handle: 0, arrival: now });
            count += 1;
            if count.is_multiple_of(REPORT) {
                observer.advance(REPORT);
                go_on(observer)?;
            }
        }
        while self.depart(&mut ranks) {}
        observer.advance(count % REPORT);
        go_on(observer)?;
        Ok((self.tally, self.scheduler))
    }

    #[inline]
    fn arrive(&mut self, packet: Packet) {
        // The line is free before now only if nothing waits.
        if self.free < packet.arrival.0 {
            (self.free, self.fraction) = (packet.arrival.0, 0);
        }
        self.tally.arrives(&packet);
        match self.scheduler.enqueue(packet) {
            None => self.waiting.add(packet.rank.0),
            Some(dropped) => {
                self.tally.drops(&dropped);
                // Of two packets with one rank it does not matter which waits.
                if dropped.rank != packet.rank {
                    self.waiting.add(packet.rank.0);
                    self.waiting.remove(dropped.rank.0);
                }
            }
        }
        self.tally.looks(&self.scheduler);
    }

    /// Sends the next packet as soon as the line is free; `false` if none waits.
    #[inline]
    fn depart(&mut self, ranks: &mut impl Ranks) -> bool {
        let Some(packet) = self.scheduler.dequeue() else { return false };
        self.waiting.remove(packet.rank.0);
        self.tally.departs(&packet, Nanos(self.free), self.waiting.min());
        ranks.departs(packet.rank);
        let takes = u128::from(packet.bytes) * SCALE + u128::from(self.fraction);
        let (whole, fraction) = match u64::try_from(takes) {
            // The common case, without a division of 128 bits.
            Ok(takes) => (takes / self.rate, takes % self.rate),
            Err(_) => {
                let rate = u128::from(self.rate);
                (u64::try_from(takes / rate).unwrap_or(u64::MAX), (takes % rate) as u64)
            }
        };
        self.free = self.free.saturating_add(whole);
        self.fraction = fraction;
        true
    }
}
