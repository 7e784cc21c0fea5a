//! A calendar of rounds that shares fairly without ranks.

use trueplane_pqueue::{BadShape, FifoBank};

use crate::{Packet, Scheduler};

/// Counters that speak for a flow, in as many rows.
const ROWS: usize = 4;
/// Counters in a row; with 4 rows of 8 bytes each that is 128 KiB.
const COLUMNS: usize = 1 << 12;
/// Odd multipliers, one a row, so that flows that collide in one row part in another (the digits of π).
const SEEDS: [u64; ROWS] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1, 0x082e_fa98_ec4e_6c89];

/// Rule for what AFQ does at the edges, where its paper leaves a choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AfqRule {
    /// As the simulator of SP-PIFO's authors: what lies exactly `queues` rounds ahead is taken in, into the FIFO of the current
    /// round, and so leaves early; a flow is charged for what is taken in, and for nothing else.
    ///
    /// If all flows stay backlogged, everything comes to lie exactly so far ahead: one FIFO is in use, and the others are empty.
    #[default]
    Simulator,
    /// What lies exactly `queues` rounds ahead is beyond the calendar and dropped, and a flow is charged for what a full FIFO drops, as
    /// in a switch that maps before it buffers.
    Strict,
}

/// AFQ: fair queueing by rounds, with a FIFO for each of the next rounds.
///
/// In a round every flow may send `bytes_per_round`. A flow's *bid* is the number of bytes after which its last packet is through, if
/// all flows send one byte at a time in turn: `bid ← max(bid, round × bytes_per_round) + bytes`. The packet goes to the FIFO of the
/// round `bid / bytes_per_round`, and is dropped if that is more than `queues` rounds ahead, or the FIFO is full ([`AfqRule`] has the
/// edges). The FIFO of the current round is served; when it is empty the next round begins, and the FIFO is used again for the last
/// round of the calendar.
///
/// Bids are in a count-min sketch of 4 × 4,096 counters, of which a flow reads the smallest of its four. That is too large if other flows
/// share all four with it, one or more in each row, and never too small: a flow may get less than its share, never more. The hash is no
/// secret: someone who can choose names starves a flow with four of his own. Against attackers, name flows by a keyed hash. A bid behind
/// the current round counts for nothing, so that the sketch forgets old flows by itself.
///
/// - Rank: ignored.
/// - Cost: O(1) to enqueue; O(queues) to dequeue, for the rounds that nothing was sent in.
/// - Source: Sharma et al., *Approximating Fair Queueing on Reconfigurable Switches*, NSDI 2018; for what happens at the edges,
///   `AFQQueue` in `nsg-ethz/SP-PIFO`, which SP-PIFO's authors compare with.
/// - Departures: dequeueing passes over all empty rounds at once, where a switch rotates one at a time. All flows weigh the same. That
///   simulator has an exact bid for every flow instead of the sketch. There, only a packet that leaves turns the calendar. If the port
///   runs empty while the bids of all flows are beyond the calendar, every further packet is dropped. Here an empty port turns the
///   calendar as far as a packet needs, but not past the last bid of its flow. Counters have 64 bits and never wrap.
#[derive(Clone, Debug)]
pub struct Afq {
    bank: FifoBank<Packet>,
    bytes_per_round: u64,
    /// The current round; its FIFO is this modulo the number of FIFOs.
    round: u64,
    bids: Bids,
    rule: AfqRule,
}

impl Afq {
    /// A calendar of `queues` rounds, with `depth` packets for each and `bytes_per_round` for every flow.
    ///
    /// # Errors
    ///
    /// As [`FifoBank::new`]; if `bytes_per_round` is 0.
    pub fn new(queues: usize, depth: usize, bytes_per_round: u32) -> Result<Self, BadShape> {
        BadShape::check("bytes per round", bytes_per_round.into(), 1..=u32::MAX.into())?;
        Ok(Self {
            bank: FifoBank::new(queues, depth)?,
            bytes_per_round: bytes_per_round.into(),
            round: 0,
            bids: Bids::new(),
            rule: AfqRule::Simulator,
        })
    }

    /// The same by another rule.
    #[must_use]
    pub fn by(self, rule: AfqRule) -> Self {
        Self { rule, ..self }
    }

    /// The round that is served.
    pub fn round(&self) -> u64 {
        self.round
    }

    /// The FIFO of a round of the calendar.
    fn queue(&self, round: u64) -> usize {
        (round % self.bank.queues() as u64) as usize
    }
}

impl Scheduler for Afq {
    fn enqueue(&mut self, packet: Packet) -> Option<Packet> {
        let now = self.round.saturating_mul(self.bytes_per_round);
        let last = self.bids.of(packet.flow);
        let bid = last.max(now).saturating_add(packet.bytes.into());
        let round = bid / self.bytes_per_round;
        let most_ahead = self.bank.queues() as u64 - u64::from(self.rule == AfqRule::Strict);
        if round - self.round > most_ahead {
            let turned = round - most_ahead;
            let is_idle = self.rule == AfqRule::Simulator && self.bank.is_empty();
            if !is_idle || turned > last / self.bytes_per_round {
                return Some(packet);
            }
            self.round = turned;
        }
        let dropped =
            self.bank.push(self.queue(round), packet).err().map(trueplane_pqueue::Refused::into_item);
        if dropped.is_none() || self.rule == AfqRule::Strict {
            self.bids.raise(packet.flow, bid);
        }
        dropped
    }

    fn dequeue(&mut self) -> Option<Packet> {
        if self.bank.is_empty() {
            return None;
        }
        while self.bank.len_of(self.queue(self.round)) == 0 {
            self.round += 1;
        }
        self.bank.pop(self.queue(self.round))
    }

    fn len(&self) -> usize {
        self.bank.len()
    }

    fn capacity(&self) -> usize {
        self.bank.capacity()
    }
}

/// A count-min sketch of bids that only grow.
#[derive(Clone, Debug)]
struct Bids {
    rows: Box<[[u64; COLUMNS]]>,
}

impl Bids {
    fn new() -> Self {
        Self { rows: vec![[0; COLUMNS]; ROWS].into() }
    }

    fn column(flow: u64, row: usize) -> usize {
        let mixed = (flow ^ (flow >> 32)).wrapping_mul(SEEDS[row]);
        ((mixed ^ (mixed >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - COLUMNS.ilog2())) as usize
    }

    /// The last bid of the flow, or more.
    fn of(&self, flow: u64) -> u64 {
        let counters = self.rows.iter().enumerate().map(|(row, counters)| counters[Self::column(flow, row)]);
        counters.min().unwrap_or(0)
    }

    /// Notes a bid of the flow.
    fn raise(&mut self, flow: u64, bid: u64) {
        for (row, counters) in self.rows.iter_mut().enumerate() {
            let counter = &mut counters[Self::column(flow, row)];
            *counter = bid.max(*counter);
        }
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::{Nanos, Rank};

    use super::*;

    fn packet(flow: u64, bytes: u32) -> Packet {
        Packet { rank: Rank(0), flow, bytes, handle: 0, arrival: Nanos(0) }
    }

    /// A calendar by the strict rule.
    fn strict(queues: usize, depth: usize, bytes_per_round: u32) -> Afq {
        Afq::new(queues, depth, bytes_per_round).unwrap().by(AfqRule::Strict)
    }

    #[test]
    fn flows_take_turns_and_what_is_too_far_ahead_is_dropped() {
        let mut afq = strict(3, 10, 100);
        // Flow 1 sends four packets of 80 bytes: bids 80, 160, 240, 320, the last of which is a round too far.
        let dropped: Vec<bool> = (0..4).map(|_| afq.enqueue(packet(1, 80)).is_some()).collect();
        assert_eq!(dropped, [false, false, false, true]);
        assert_eq!(afq.enqueue(packet(2, 80)), None);
        assert_eq!(afq.enqueue(packet(2, 80)), None);
        let order: Vec<(u64, u64)> =
            std::iter::from_fn(|| Some((afq.dequeue()?.flow, afq.round()))).collect();
        assert_eq!(order, [(1, 0), (2, 0), (1, 1), (2, 1), (1, 2)]);
        // The round goes on from where it is, for flows with a past and without one.
        assert_eq!(afq.enqueue(packet(2, 80)), None); // 200 + 80: round 2
        assert_eq!(afq.enqueue(packet(1, 80)), None); // 240 + 80: round 3
        assert_eq!(afq.enqueue(packet(3, 80)), None); // 200 + 80: round 2
        let order: Vec<(u64, u64)> =
            std::iter::from_fn(|| Some((afq.dequeue()?.flow, afq.round()))).collect();
        assert_eq!(order, [(2, 2), (3, 2), (1, 3)]);
    }

    #[test]
    fn a_packet_larger_than_the_calendar_never_passes() {
        let mut afq = strict(2, 10, 100);
        assert_eq!(afq.enqueue(packet(1, 200)), Some(packet(1, 200)));
        assert_eq!(afq.enqueue(packet(1, 199)), None); // the one before was not charged
        assert!(Afq::new(2, 10, 0).is_err() && Afq::new(0, 10, 1).is_err());
    }

    #[test]
    fn rules_differ_for_what_lies_exactly_a_calendar_ahead() {
        // Bids of 80, 160 and 240: rounds 0, 1 and 2 of a calendar of two.
        let offered = |mut afq: Afq| [80; 3].map(|bytes| afq.enqueue(packet(1, bytes)).is_some());
        assert_eq!(offered(strict(2, 10, 100)), [false, false, true]);
        let mut afq = Afq::new(2, 10, 100).unwrap();
        assert_eq!(offered(afq.clone()), [false; 3]);
        // The third is in the FIFO of the current round and leaves before the second; the fifth is beyond.
        let dropped = [(1, 80), (1, 81), (1, 82), (1, 60), (2, 83)]
            .map(|(flow, bytes)| afq.enqueue(packet(flow, bytes)));
        assert_eq!(dropped, [None, None, None, Some(packet(1, 60)), None]);
        let order: Vec<u32> = std::iter::from_fn(|| afq.dequeue()).map(|packet| packet.bytes).collect();
        assert_eq!(order, [80, 82, 83, 81]);
    }

    #[test]
    fn rules_differ_in_who_pays_for_a_full_queue() {
        // One place in each FIFO. Of flow 2 the first packet finds none in round 0; the second is in round 1 if it was charged.
        let offered = |mut afq: Afq| {
            [(1, 30), (2, 60), (2, 60)].map(|(flow, bytes)| afq.enqueue(packet(flow, bytes)).is_some())
        };
        assert_eq!(offered(Afq::new(4, 1, 100).unwrap()), [false, true, true]);
        assert_eq!(offered(strict(4, 1, 100)), [false, true, false]);
    }

    /// Keeps four flows with packets of several sizes backlogged for a long time, and tells what each sent.
    fn backlogged(mut afq: Afq) -> [u64; 4] {
        let mut sent = [0u64; 4];
        for _ in 0..5_000 {
            for (flow, bytes) in [64, 300, 1_000, 1_500].into_iter().enumerate() {
                while afq.enqueue(packet(flow as u64, bytes)).is_none() {}
            }
            assert!(!afq.is_empty(), "flows that have something to send are let in");
            for packet in std::iter::from_fn(|| afq.dequeue()).take(4) {
                sent[packet.flow as usize] += u64::from(packet.bytes);
            }
        }
        sent
    }

    /// By the simulator's rule all bids come to lie a whole calendar ahead, with nothing between, and the port runs empty.
    #[test]
    fn backlogged_flows_get_the_same_whatever_the_size_of_their_packets() {
        for afq in [strict(16, 1_000, 1_500), Afq::new(16, 1_000, 1_500).unwrap()] {
            let sent = backlogged(afq);
            // Between two flows lie a round, and a packet of each that reaches into the next.
            let (least, most) = (sent.iter().min().unwrap(), sent.iter().max().unwrap());
            assert!(most - least <= 1_500 + 2 * 1_500 && *least > 900_000, "{sent:?}");
        }
    }

    #[test]
    fn the_sketch_never_falls_short() {
        let mut bids = Bids::new();
        for flow in 0..20_000 {
            bids.raise(flow, flow * 7 % 1_000);
        }
        assert!((0..20_000).all(|flow| bids.of(flow) >= flow * 7 % 1_000));
        assert_eq!(Bids::new().of(1), 0);
    }
}
