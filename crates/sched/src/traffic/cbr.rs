//! Flows of a constant rate that start one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_units::{BitsPerSec, Nanos};

use super::{FRACTION_BITS, span, stream, whole};
use crate::port::Traffic;
use crate::rank::PacketMeta;

/// Settings of the flows.
#[derive(Clone, Copy, Debug)]
pub struct Flows {
    /// Number of flows.
    pub flows: u32,
    /// Rate of each flow.
    pub rate: BitsPerSec,
    /// Time between the starts of two flows; all end as long after the start of the last.
    pub step: Nanos,
    /// The length of a packet.
    pub packet_bytes: u32,
    /// Seed of the random draws.
    pub seed: u64,
}

/// Flows 0, 1, 2, … that start a step after each other.
///
/// From one packet of a flow to its next it is a random time, evenly from a half to one and a half times what a packet takes at the
/// flow's rate, and the first comes at a random time of the first of these. Without that, flows of one rate would stay in lock-step
/// with the line and with each other, and the same of them would always meet a full queue.
pub struct Cbr {
    flows: Flows,
    random: Xoshiro256PlusPlus,
    /// The mean gap, in fractions of a nanosecond.
    gap: u128,
    /// The next packet of every flow: when it comes, in fractions of a nanosecond, and whose it is.
    next: BinaryHeap<Reverse<(u128, u32)>>,
    end: Nanos,
}

impl Cbr {
    /// From time zero on.
    pub fn new(flows: &Flows) -> Self {
        let mut random = stream(flows.seed, 0);
        let gap = span(flows.packet_bytes.into(), flows.rate).max(2);
        let starts = (0..flows.flows).map(|flow| {
            let start = (u128::from(flows.step.0) * u128::from(flow)) << FRACTION_BITS;
            Reverse((start + random.random_range(0..gap), flow))
        });
        let next = starts.collect();
        let end = Nanos(flows.step.0.saturating_mul(flows.flows.into()));
        Self { flows: *flows, random, gap, next, end }
    }
}

impl Traffic for Cbr {
    fn next(&mut self) -> Option<(Nanos, PacketMeta)> {
        let mut first = self.next.peek_mut()?;
        let Reverse((time, flow)) = *first;
        let now = whole(time).filter(|&now| now < self.end)?;
        *first = Reverse((time + self.gap / 2 + self.random.random_range(0..self.gap), flow));
        let packet =
            PacketMeta { flow: flow.into(), bytes: self.flows.packet_bytes, ..PacketMeta::default() };
        Some((now, packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flow_sends_its_rate_from_its_start_on() {
        let flows = Flows {
            flows: 3,
            rate: BitsPerSec(20_000_000_000),
            step: Nanos(1_000_000),
            packet_bytes: 1500,
            seed: 1,
        };
        let mut traffic = Cbr::new(&flows);
        let (mut counts, mut last) = ([0u64; 3], Nanos(0));
        while let Some((now, packet)) = traffic.next() {
            assert!(now >= last && now.0 >= packet.flow * 1_000_000 && now.0 < 3_000_000);
            (counts[packet.flow as usize], last) = (counts[packet.flow as usize] + 1, now);
        }
        // 600 ns a packet, give or take what 5,000 random gaps do: their deviation is 0.29 of one.
        for (count, exact) in counts.into_iter().zip([5_000u64, 3_333, 1_666]) {
            assert!(count.abs_diff(exact) <= 80, "{counts:?}");
        }
    }
}
