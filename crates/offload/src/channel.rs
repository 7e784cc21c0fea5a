//! The way between controller and switch.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::policy::dyso::Packet;

/// A million, the denominator of losses.
const MILLION: u32 = 1_000_000;

/// One way: packets take a fixed time and up to some more, and may be lost.
///
/// O(1) a packet without jitter, else O(log packets on their way).
pub(super) struct Way {
    /// Time that every packet takes, in slots.
    delay: u64,
    jitter: u64,
    loss_ppm: u32,
    rng: Xoshiro256PlusPlus,
    /// Without jitter: packets arrive in the order in which they leave.
    in_order: VecDeque<Sent>,
    /// With jitter.
    shuffled: BinaryHeap<Reverse<Sent>>,
    /// Packets that have left.
    count: u64,
}

/// A packet on its way. They compare by when they arrive, and at the same slot by when they left.
struct Sent {
    arrival: u64,
    number: u64,
    packet: Packet,
}

impl Way {
    /// Nothing on its way.
    pub(super) fn new(delay: u64, jitter: u64, loss_ppm: u32, seed: u64) -> Self {
        Self {
            delay,
            jitter,
            loss_ppm,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            in_order: VecDeque::new(),
            shuffled: BinaryHeap::new(),
            count: 0,
        }
    }

    /// A packet leaves at `now`, no earlier than any before it; it is given back if it is lost.
    pub(super) fn depart(&mut self, packet: Packet, now: u64) -> Option<Packet> {
        if self.loss_ppm > 0 && self.rng.random_range(0..MILLION) < self.loss_ppm {
            return Some(packet);
        }
        self.count += 1;
        let arrival = now.saturating_add(self.delay);
        if self.jitter == 0 {
            self.in_order.push_back(Sent { arrival, number: self.count, packet });
        } else {
            let arrival = arrival.saturating_add(self.rng.random_range(0..=self.jitter));
            self.shuffled.push(Reverse(Sent { arrival, number: self.count, packet }));
        }
        None
    }

    /// Slot at which the next packet arrives; `u64::MAX` if none is on its way.
    pub(super) fn due(&self) -> u64 {
        let shuffled = self.shuffled.peek().map_or(u64::MAX, |Reverse(sent)| sent.arrival);
        self.in_order.front().map_or(shuffled, |sent| sent.arrival)
    }

    /// A packet that has arrived by `now`.
    pub(super) fn arrival(&mut self, now: u64) -> Option<Packet> {
        if self.due() > now {
            return None;
        }
        let sent = self.in_order.pop_front().or_else(|| self.shuffled.pop().map(|Reverse(sent)| sent));
        sent.map(|sent| sent.packet)
    }
}

impl Ord for Sent {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.arrival, self.number).cmp(&(other.arrival, other.number))
    }
}

impl PartialOrd for Sent {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sent {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Sent {}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(number: u32) -> Packet {
        Packet { history_row: number, ..Packet::default() }
    }

    /// Sends a packet a slot; which ones arrive at which slots.
    fn arrivals(way: &mut Way, packets: u32) -> Vec<(u32, u64)> {
        let mut arrived = Vec::new();
        for now in 0..u64::from(packets) * 2 {
            while let Some(packet) = way.arrival(now) {
                arrived.push((packet.history_row, now));
            }
            if now < u64::from(packets) {
                way.depart(packet(now as u32), now);
            }
            assert!(way.due() > now);
        }
        arrived
    }

    #[test]
    fn without_jitter_all_arrive_in_order_and_in_time() {
        let expected: Vec<(u32, u64)> = (0..50).map(|number| (number, u64::from(number) + 5)).collect();
        assert_eq!(arrivals(&mut Way::new(5, 0, 0, 1), 50), expected);
    }

    #[test]
    fn jitter_makes_some_overtake_others() {
        let arrived = arrivals(&mut Way::new(5, 9, 0, 1), 200);
        let late = |&(number, at): &(u32, u64)| at - u64::from(number);
        assert_eq!(
            (arrived.len(), arrived.iter().map(late).min(), arrived.iter().map(late).max()),
            (200, Some(5), Some(14))
        );
        assert!(arrived.is_sorted_by_key(|&(_, at)| at) && !arrived.is_sorted());
        // At the same slot, who left first is first.
        assert!(arrived.windows(2).all(|pair| pair[0].1 < pair[1].1 || pair[0].0 < pair[1].0));
    }

    #[test]
    fn so_many_are_lost() {
        let mut way = Way::new(0, 0, 250_000, 1);
        let lost = (0..40_000).filter(|&now| way.depart(packet(0), now).is_some()).count();
        // Binomial with mean 10,000: six standard deviations.
        assert!(lost.abs_diff(10_000) < 520, "{lost}");
    }
}
