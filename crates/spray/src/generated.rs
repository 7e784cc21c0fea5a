//! Flows of TCP that are made up: frames of 64 bytes with their checksum, one of each flow in turn (§3.4).

use etherparse::PacketBuilder;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::dispatch::Arrival;
use crate::packet::checksum::updated_word;
use crate::packet::headers::Link;
use crate::source::{Next, Offer, Source};
use crate::traffic::{Arrivals, Lengths};
use crate::{FlowId, Packet};

/// Bytes of a frame without its checksum, which cards do not hand on.
const FRAME: usize = 60;
/// Offsets of the TCP checksum and the payload: after 14 bytes of Ethernet and 20 of IPv4, and after 20 of TCP.
const CHECKSUM: usize = 14 + 20 + 16;
const PAYLOAD: usize = 14 + 20 + 20;

/// Parameters of generated flows.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Flows at a time, one at least.
    pub flows: usize,
    /// Lengths of flows.
    pub sizes: Lengths,
    /// Packets once all are open.
    pub packets: u64,
    /// Picoseconds between packets.
    pub gap: u64,
    /// Picoseconds between those that open the first flows.
    pub opening_gap: u64,
    /// Arrival times of packets.
    pub arrivals: Arrivals,
    /// Destination address and port of all flows; without it, they are drawn.
    pub destination: Option<([u8; 4], u16)>,
    /// Seed of the random draws.
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has sent nothing yet, or its SYN was lost.
    Closed,
    /// It waits for an answer to its SYN.
    Opening,
    /// It is open.
    Open,
}

struct Slot {
    number: u32,
    sequence: u32,
    state: State,
    /// Packets until its FIN.
    left: u64,
    ends: Ends,
    flow: FlowId,
    /// A packet with data, all zeros.
    frame: [u8; FRAME],
    checksum: u16,
}

type Ends = (([u8; 4], u16), ([u8; 4], u16));

/// The flows.
///
/// First they are opened one after the other, slowly, with a SYN and a packet each; then they take turns. A flow with an end sends a FIN, and another
/// one takes its place, which sends data once its SYN came through; a SYN that was lost is sent again.
pub struct Generated {
    wanted: Wanted,
    slots: Vec<Slot>,
    /// Slot of each flow, by the flow's number.
    slot_of: Vec<u32>,
    turn: usize,
    /// Packets that were sent.
    sent: u64,
    at: u64,
    /// The frame that was offered last.
    last: [u8; FRAME],
    random: Xoshiro256PlusPlus,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Syn,
    Fin,
    None,
}

impl Generated {
    /// The flows that were asked for.
    pub fn new(wanted: Wanted) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(wanted.seed);
        let mut this = Self {
            slots: Vec::new(),
            slot_of: Vec::new(),
            turn: 0,
            sent: 0,
            at: 0,
            last: [0; FRAME],
            random,
            wanted,
        };
        this.slots = (0..this.wanted.flows.max(1)).map(|slot| this.fresh(slot)).collect();
        this
    }

    fn fresh(&mut self, slot: usize) -> Slot {
        let random = &mut self.random;
        let address = |random: &mut Xoshiro256PlusPlus, net| {
            let bits = random.next_u32();
            [net, (bits >> 16) as u8, (bits >> 8) as u8, bits as u8]
        };
        let source = (address(random, 10), random.random_range(1024..=u16::MAX));
        let drawn = (address(random, 198), random.random_range(1..=u16::MAX));
        let destination = self.wanted.destination.unwrap_or(drawn);
        let left = match &self.wanted.sizes {
            Lengths::Forever => u64::MAX,
            Lengths::Packets(packets) => *packets,
            Lengths::Drawn(sizes) => sizes.packets(random.random()),
        };
        let number = self.slot_of.len() as u32;
        self.slot_of.push(slot as u32);
        let ends = (source, destination);
        let frame = frame(&ends, Flag::None);
        let checksum = u16::from_be_bytes([frame[CHECKSUM], frame[CHECKSUM + 1]]);
        let address = |(address, port): ([u8; 4], u16)| (address.into(), port);
        let flow = FlowId::new(6, address(source), address(destination));
        Slot { number, sequence: 0, state: State::Closed, left, ends, flow, frame, checksum }
    }

    /// The next packet of a slot; none while it waits for an answer.
    fn of(&mut self, slot: usize) -> Option<Offer> {
        let word: u16 = self.random.random();
        let of = &mut self.slots[slot];
        let flag = match of.state {
            State::Opening => return None,
            State::Closed => Flag::Syn,
            State::Open if of.left == 0 => Flag::Fin,
            State::Open => Flag::None,
        };
        let checksum = match flag {
            Flag::None => {
                self.last = of.frame;
                let checksum = updated_word(of.checksum, 0, word);
                self.last[PAYLOAD..PAYLOAD + 2].copy_from_slice(&word.to_be_bytes());
                self.last[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
                of.left = of.left.saturating_sub(1);
                checksum
            }
            flag => {
                self.last = frame(&of.ends, flag);
                u16::from_be_bytes([self.last[CHECKSUM], self.last[CHECKSUM + 1]])
            }
        };
        let arrival = Arrival { flow: Some(of.flow), checksum: Some(checksum), bytes: FRAME as u32 };
        let offer = Offer { at: self.at, flow: of.number, sequence: of.sequence, arrival, is_copy: false };
        of.sequence += 1;
        match flag {
            Flag::Syn => of.state = State::Opening,
            Flag::Fin => self.slots[slot] = self.fresh(slot),
            Flag::None => {}
        }
        Some(offer)
    }

    /// The packets that open the first flows: of each a SYN, and one that shows that it is in earnest.
    fn openers(&self) -> u64 {
        2 * self.slots.len() as u64
    }
}

/// The frame of a packet between these ends.
fn frame(&(source, destination): &Ends, flag: Flag) -> [u8; FRAME] {
    let builder = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2])
        .ipv4(source.0, destination.0, 64)
        .tcp(source.1, destination.1, 1, 8192);
    let builder = match flag {
        Flag::Syn => builder.syn(),
        Flag::Fin => builder.fin().ack(1),
        Flag::None => builder.ack(1),
    };
    let mut bytes = Vec::with_capacity(FRAME);
    // Writing to memory does not fail, and what would be too long for IPv4 is not.
    let _ = builder.write(&mut bytes, &[0; FRAME - PAYLOAD]);
    bytes.resize(FRAME, 0);
    let mut frame = [0; FRAME];
    frame.copy_from_slice(&bytes);
    frame
}

impl Source for Generated {
    fn next(&mut self) -> Next {
        if self.sent < self.openers() {
            let slot = (self.sent / 2) as usize;
            self.sent += 1;
            self.at = self.sent * self.wanted.opening_gap;
            // One whose SYN was not answered yet sends later.
            return self.of(slot).map_or(Next::Nothing(self.at), Next::Packet);
        }
        if self.sent == self.openers() + self.wanted.packets {
            return Next::End;
        }
        if self.sent == self.openers() {
            self.at = self.begins();
        } else {
            let even = self.wanted.arrivals == Arrivals::Even;
            let factor: f64 = if even { 1.0 } else { Exp1.sample(&mut self.random) };
            self.at += (self.wanted.gap as f64 * factor) as u64;
        }
        self.sent += 1;
        for _ in 0..self.slots.len() {
            let slot = self.turn;
            self.turn = if slot + 1 == self.slots.len() { 0 } else { slot + 1 };
            if let Some(offer) = self.of(slot) {
                return Next::Packet(offer);
            }
        }
        Next::Nothing(self.at)
    }

    fn packet(&mut self, spent: Option<Packet>) -> Packet {
        match spent {
            Some(mut packet) => {
                packet.refill(Link::Ethernet, |bytes| {
                    bytes.clear();
                    bytes.extend_from_slice(&self.last);
                });
                packet
            }
            None => Packet::new(self.last.to_vec(), Link::Ethernet),
        }
    }

    fn begins(&self) -> u64 {
        // What was sent last is handled by then.
        (self.openers() + 8) * self.wanted.opening_gap
    }

    fn ends(&self) -> u64 {
        self.begins() + self.wanted.packets * self.wanted.gap
    }

    fn answer(&mut self, flow: u32, sequence: u32, delivered: bool) {
        let Some(&slot) = self.slot_of.get(flow as usize) else { return };
        let slot = &mut self.slots[slot as usize];
        if slot.number == flow && slot.state == State::Opening && sequence + 1 == slot.sequence {
            slot.state = if delivered { State::Open } else { State::Closed };
        }
    }
}
