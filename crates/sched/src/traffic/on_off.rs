//! Flows that come, send and go.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_units::{BitsPerSec, Bytes, Nanos};

use super::{Character, Imagined, span, stream, whole};
use crate::port::Traffic;
use crate::rank::PacketMeta;

/// Flows of one size that start as a Poisson process (§4.2) and each send evenly at an access rate, whatever becomes of their
/// packets. Without end.
///
/// At time zero as many flows send as at any other time: flows start from as long before it as one sends, and those under way go on as
/// flows of what they have left. Without that a line would have a smaller load than it should until the first flows have ended.
///
/// The paper's flows are TCP's, which slow down where packets are lost; these do not.
pub struct OnOff {
    imagined: Imagined,
    flow_bytes: u64,
    random: Xoshiro256PlusPlus,
    character: Character,
    /// Time that a flow sends, and that a packet takes of it; mean time from one start to the next, and the next start. All are in
    /// fractions of a nanosecond, and the clock of starts is ahead by as long as a flow sends.
    sends: u128,
    gap: u128,
    mean: f64,
    start: u128,
    flows: u64,
    /// The flows that send, the one whose next packet is first on top.
    sending: BinaryHeap<Reverse<Sending>>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Sending {
    next: u128,
    flow: u64,
    bytes: u64,
    left: u64,
    class: u8,
    slack: Nanos,
    deadline: Nanos,
}

impl OnOff {
    /// Flows of `flow_size`, which is not zero, at `access` each.
    pub fn new(imagined: &Imagined, flow_size: Bytes, access: BitsPerSec) -> Self {
        let flow_bytes = flow_size.0.max(1);
        let mut on_off = Self {
            imagined: *imagined,
            flow_bytes,
            random: stream(imagined.seed, 0),
            character: Character::new(imagined.seed, imagined.slack),
            sends: span(flow_bytes, access),
            gap: span(imagined.packet_bytes.into(), access).max(1),
            mean: span(flow_bytes, imagined.offered) as f64,
            start: 0,
            flows: 0,
            sending: BinaryHeap::new(),
        };
        on_off.draw_start();
        on_off
    }

    fn draw_start(&mut self) {
        let gap: f64 = Exp1.sample(&mut self.random);
        self.start = self.start.saturating_add((self.mean * gap) as u128);
    }

    /// Time at which the next flow starts, or would have started, before zero: then zero.
    fn next_start(&self) -> u128 {
        self.start.saturating_sub(self.sends)
    }

    /// The next flow begins to send. It is due when its last packet has come and the flow's slack has passed.
    fn begin(&mut self) {
        let late = self.sends.saturating_sub(self.start);
        let sent = late.div_ceil(self.gap);
        let bytes = u128::from(self.flow_bytes)
            .saturating_sub(sent.saturating_mul(self.imagined.packet_bytes.into()))
            as u64;
        let (class, slack) = self.character.of(self.flows);
        // The clock of starts says when the flow ends.
        let deadline = whole(self.start).unwrap_or(Nanos::MAX).after(slack);
        if bytes > 0 {
            self.sending.push(Reverse(Sending {
                next: sent.saturating_mul(self.gap) - late + self.next_start(),
                flow: self.flows,
                bytes,
                left: bytes,
                class,
                slack,
                deadline,
            }));
            self.flows += 1;
        }
        self.draw_start();
    }
}

impl Traffic for OnOff {
    fn next(&mut self) -> Option<(Nanos, PacketMeta)> {
        // What would start after the end of time does not.
        while self.start < u128::MAX
            && whole(self.next_start()).is_some()
            && self.sending.peek().is_none_or(|Reverse(first)| self.next_start() <= first.next)
        {
            self.begin();
        }
        let Reverse(mut sending) = self.sending.pop()?;
        let now = whole(sending.next)?;
        let bytes = u64::from(self.imagined.packet_bytes).min(sending.left) as u32;
        let packet = PacketMeta {
            flow: sending.flow,
            bytes,
            class: sending.class,
            flow_bytes: sending.bytes,
            remaining_bytes: sending.left,
            slack: sending.slack,
            deadline: sending.deadline,
            excess_wait_ns: self.character.excess_wait_ns(),
            ..PacketMeta::default()
        };
        sending.left -= u64::from(bytes);
        if sending.left > 0 {
            sending.next += self.gap;
            self.sending.push(Reverse(sending));
        }
        Some((now, packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imagined(seed: u64) -> Imagined {
        Imagined { seed, packet_bytes: 1500, offered: BitsPerSec(9_000_000_000), slack: Nanos(1_000_000) }
    }

    #[test]
    fn flows_send_their_size_at_their_rate() {
        let mut traffic = OnOff::new(&imagined(1), Bytes(1_000_000), BitsPerSec(1_000_000_000));
        let (mut last, mut bytes, mut whole_flow) = (Nanos(0), 0u64, Vec::new());
        for _ in 0..2_000_000 {
            let (now, packet) = traffic.next().unwrap();
            assert!(now >= last);
            (last, bytes) = (now, bytes + u64::from(packet.bytes));
            if packet.flow == 1_000 {
                whole_flow.push((now, packet));
            }
        }
        let sum: u64 = whole_flow.iter().map(|(_, packet)| u64::from(packet.bytes)).sum();
        assert_eq!((sum, whole_flow.len()), (1_000_000, 667));
        assert_eq!((whole_flow[0].1.remaining_bytes, whole_flow[666].1.bytes), (1_000_000, 1_000));
        let (first, due) = (whole_flow[0].0, whole_flow[0].1.deadline);
        assert_eq!(whole_flow[666].0.since(first), Nanos(666 * 12_000));
        assert_eq!(due, first.after(Nanos(8_000_000)).after(whole_flow[0].1.slack));
        let rate = BitsPerSec::of(Bytes(bytes), last).0 as f64;
        assert!((rate / 9e9 - 1.0).abs() < 0.05, "{rate}");
    }

    /// A flow sends for 8 ms, and nine do at a time, on average over 400 seeds, from the first millisecond on.
    #[test]
    fn as_many_flows_send_at_the_beginning_as_ever() {
        let sum: u64 = (0..400)
            .map(|seed| {
                let mut traffic = OnOff::new(&imagined(seed), Bytes(1_000_000), BitsPerSec(1_000_000_000));
                let packets = std::iter::from_fn(|| traffic.next());
                let first = packets.take_while(|(now, _)| now.0 < 1_000_000);
                first
                    .map(|(_, packet)| {
                        assert!(
                            packet.remaining_bytes <= packet.flow_bytes && packet.flow_bytes <= 1_000_000
                        );
                        u64::from(packet.bytes)
                    })
                    .sum::<u64>()
            })
            .sum();
        let rate = sum as f64 * 8e3 / 400.0;
        assert!((rate / 9e9 - 1.0).abs() < 0.06, "{rate}");
    }

    #[test]
    fn the_end_of_time_is_an_end() {
        let imagined = Imagined { offered: BitsPerSec(1), ..imagined(1) };
        let mut traffic = OnOff::new(&imagined, Bytes(u64::MAX), BitsPerSec(1));
        assert!((0..1_000).all(|_| traffic.next().is_none_or(|(_, packet)| packet.bytes == 1500)));
    }
}
