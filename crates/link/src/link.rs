//! Packets on their way.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The denominator of probabilities.
const MILLION: u32 = 1_000_000;

/// Terms on which a link carries packets. The default takes no time and has no faults.
///
/// Times have any unit, the same as those of the calls of [`Link`]. Probabilities are in millionths, from 0 to 1,000,000; more means
/// always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Time that every packet takes.
    pub delay: u64,
    /// The longest time that a packet takes beside the delay. Each is drawn evenly from 0 to this.
    pub jitter: u64,
    /// Probability that a packet is lost.
    pub loss_ppm: u32,
    /// Probability that a packet takes no time, neither delay nor jitter.
    pub reorder_ppm: u32,
    /// Probability that a packet arrives twice.
    pub duplicate_ppm: u32,
}

/// What a link does with a packet that is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Fate<T> {
    /// The packet is on its way.
    Sent,
    /// The packet and a copy of it are on their way.
    Duplicated,
    /// The packet is lost. The sender of a simulation has it back, to count what it held.
    Lost(T),
}

/// A packet at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrived<T> {
    /// The packet.
    pub packet: T,
    /// Time at which it arrives.
    pub at: u64,
    /// Whether the link made it out of another, which may arrive earlier or later.
    pub is_copy: bool,
}

/// Counts of packets. Identity: `sent` + `duplicated` = `arrived` + `lost` + [`Link::on_its_way`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that were sent, with those that were lost and without copies.
    pub sent: u64,
    /// Packets that were lost.
    pub lost: u64,
    /// Copies that the link made.
    pub duplicated: u64,
    /// Packets and copies that took no time.
    pub reordered: u64,
    /// Packets and copies at the other end.
    pub arrived: u64,
}

impl Counts {
    /// Adds the counts of another link.
    pub fn merge(&mut self, other: &Self) {
        self.sent += other.sent;
        self.lost += other.lost;
        self.duplicated += other.duplicated;
        self.reordered += other.reordered;
        self.arrived += other.arrived;
    }
}

/// One direction of a link: packets take time, may be late, and may be lost, reordered or duplicated.
///
/// For each packet, in this order and only if the probability is above 0, or the jitter: it draws whether the packet is lost; whether it is
/// duplicated; then for the packet and for its copy whether it takes no time, and if it does take time, how late it is. Packets that
/// arrive at the same time do so in the order in which they were sent.
///
/// Cost: O(1) for a packet that arrives no earlier than those sent before it, else O(log n) with n packets on their way. Memory:
/// proportional to these. Deterministic: the seed, the terms and the packets decide everything.
///
/// The model of reordering is that of `tc-netem(8)`: with a certain probability a packet is sent at once instead of waiting. Departures:
/// a copy cannot be lost, and draws are independent of each other.
#[derive(Clone, Debug)]
pub struct Link<T> {
    terms: Terms,
    rng: Xoshiro256PlusPlus,
    /// Packets that arrive in the order in which they were sent.
    in_order: VecDeque<Sent<T>>,
    /// Packets that arrive before one that was sent earlier.
    overtaking: BinaryHeap<Reverse<Sent<T>>>,
    /// Packets and copies that have left.
    left: u64,
    counts: Counts,
}

/// A packet on its way. They compare by when they arrive, and at the same time by when they left.
#[derive(Clone, Debug)]
struct Sent<T> {
    arrival: u64,
    number: u64,
    is_copy: bool,
    packet: T,
}

impl<T> Link<T> {
    /// A link with nothing on its way.
    pub fn new(terms: Terms, seed: u64) -> Self {
        Self {
            terms,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            in_order: VecDeque::new(),
            overtaking: BinaryHeap::new(),
            left: 0,
            counts: Counts::default(),
        }
    }

    /// Changes the terms for packets that are sent from now on. Those on their way arrive as they would have.
    pub fn set_terms(&mut self, terms: Terms) {
        self.terms = terms;
    }

    /// Sends a packet at `now`, which is no earlier than in earlier calls. Arrivals beyond the range of times are at `u64::MAX`.
    #[inline]
    pub fn send(&mut self, packet: T, now: u64) -> Fate<T>
    where
        T: Clone,
    {
        self.counts.sent += 1;
        if self.happens(self.terms.loss_ppm) {
            self.counts.lost += 1;
            return Fate::Lost(packet);
        }
        if !self.happens(self.terms.duplicate_ppm) {
            self.carry(packet, now, false);
            return Fate::Sent;
        }
        self.counts.duplicated += 1;
        let copy = packet.clone();
        self.carry(packet, now, false);
        self.carry(copy, now, true);
        Fate::Duplicated
    }

    /// Time at which the next packet arrives; `u64::MAX` if none is on its way. O(1).
    #[inline]
    pub fn due(&self) -> u64 {
        let overtaking = self.overtaking.peek().map_or(u64::MAX, |Reverse(sent)| sent.arrival);
        self.in_order.front().map_or(overtaking, |sent| sent.arrival.min(overtaking))
    }

    /// The next packet that has arrived by `now`, if there is one.
    #[inline]
    pub fn arrive(&mut self, now: u64) -> Option<Arrived<T>> {
        let overtakes = match (self.in_order.front(), self.overtaking.peek()) {
            (Some(first), Some(Reverse(other))) => other < first,
            (None, Some(_)) => true,
            (_, None) => false,
        };
        let sent = if overtakes {
            if self.overtaking.peek()?.0.arrival > now {
                return None;
            }
            self.overtaking.pop()?.0
        } else {
            if self.in_order.front()?.arrival > now {
                return None;
            }
            self.in_order.pop_front()?
        };
        self.counts.arrived += 1;
        Some(Arrived { packet: sent.packet, at: sent.arrival, is_copy: sent.is_copy })
    }

    /// Number of packets and copies that have neither arrived nor been lost.
    pub fn on_its_way(&self) -> u64 {
        (self.in_order.len() + self.overtaking.len()) as u64
    }

    /// Counts so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Draws whether something happens that has this probability. What never happens takes no draw.
    #[inline]
    fn happens(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.rng.random_range(0..MILLION) < ppm
    }

    #[inline]
    fn carry(&mut self, packet: T, now: u64, is_copy: bool) {
        let arrival = if self.happens(self.terms.reorder_ppm) {
            self.counts.reordered += 1;
            now
        } else {
            let late = if self.terms.jitter == 0 { 0 } else { self.rng.random_range(0..=self.terms.jitter) };
            now.saturating_add(self.terms.delay).saturating_add(late)
        };
        self.left += 1;
        let sent = Sent { arrival, number: self.left, is_copy, packet };
        if self.in_order.back().is_none_or(|last| last.arrival <= arrival) {
            self.in_order.push_back(sent);
        } else {
            self.overtaking.push(Reverse(sent));
        }
    }
}

impl<T> Ord for Sent<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.arrival, self.number).cmp(&(other.arrival, other.number))
    }
}

impl<T> PartialOrd for Sent<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Sent<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T> Eq for Sent<T> {}

#[cfg(test)]
mod tests;
