//! Connections that behave like real ones.
//!
//! TCP from the handshake to both FINs or a RST, handshakes that nobody completes, UDP, echoes, and packets of no connection at all. What
//! comes next in a connection is sent when all that came before has passed, as real ends do that wait for answers. What answers goes to where
//! the opening packet seemed to come from when it left: to the translated address, if it was translated.
//!
//! Which connection does what is decided by the seed and its number alone, and what became of its packets is summed up in one word. So
//! two runs that treat all packets alike have the same words, in whatever order packets come back.

use std::collections::{HashSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use trueplane_units::Nanos;

use super::frame::{self, Segment};
use super::source::{Next, Source};
use crate::packet::headers::{Link, protocol};
use crate::packet::tcp_flags::{ACK, FIN, RST, SYN};
use crate::{FlowId, Packet, Reason, Verdict};

/// What time passes from one packet to the next, where it passes evenly: so much that connections that have ended are forgotten after some
/// hundred thousand packets.
const PACE: u64 = 1_000_000;

/// What passes at most while each connection has a turn: far less than any silence after which one is over.
const TURN: u64 = 10_000_000_000;

/// Where clients of a service go: what the load balancer shares out if it is not told otherwise.
pub const SERVICE: (Ipv4Addr, u16) = (Ipv4Addr::new(198, 51, 100, 1), 80);

/// In what order connections take their turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they come; a connection that has ended makes room for another. Time passes evenly, 1 ms from packet to packet or less, and no
    /// connection falls silent.
    Free,
    /// All connections of a round take their first step, then all their second, and so on; what can change tables is sent alone and waited
    /// for, in the order of their numbers, so that tables fill in one order. Time stands still, and between two rounds so much passes.
    Rounds {
        /// Between two rounds.
        pause: Nanos,
    },
}

/// What is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Decides everything.
    pub seed: u64,
    /// Connections in all.
    pub connections: u32,
    /// Connections at a time, or new ones in a round; 65,536 at most.
    pub at_a_time: u32,
    /// Packets of data in a connection: up to twice as many, one at least.
    pub data: u16,
    /// The order.
    pub order: Order,
}

/// What became of the packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// One word for each connection, by its number.
    pub words: Vec<u64>,
    /// Packets that came back.
    pub packets: u64,
    /// Those that were forwarded.
    pub forwarded: u64,
    /// Those that were dropped, in the order of [`Reason::ALL`].
    pub dropped: [u64; Reason::ALL.len()],
    /// Those with a wrong checksum, of which there should be none.
    pub wrong: u64,
    /// Openings that left with the addresses and ports of a connection that was still there. There should be none, as long as no connection
    /// is displaced by another.
    pub collisions: u64,
}

impl Outcome {
    /// The first connection whose packets were treated otherwise.
    pub fn first_difference(&self, other: &Self) -> Option<usize> {
        let most = self.words.len().max(other.words.len());
        (0..most).find(|&at| self.words.get(at) != other.words.get(at))
    }
}

/// What a connection is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Both ends finish.
    Tcp,
    /// One end resets it.
    Reset,
    /// It falls silent for some rounds and goes on.
    Sleeper,
    /// A SYN and no more.
    HalfOpen,
    Udp,
    Echo,
    /// Data of a connection that never began.
    Stray,
}

/// What a connection does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Open,
    Answer,
    Data,
    Sleep,
    Finish,
    FinishBack,
    Reset,
    Last,
}

impl Kind {
    fn steps(self) -> &'static [Step] {
        use Step::{Answer, Data, Finish, FinishBack, Last, Open, Reset, Sleep};
        match self {
            Self::Tcp => &[Open, Answer, Data, Finish, FinishBack, Last],
            Self::Reset => &[Open, Answer, Data, Reset, Data],
            // Nobody answers once it may be over: its public port may be another's by then, and whose, hangs on which was chosen.
            Self::Sleeper => &[Open, Answer, Data, Sleep, Data, Finish],
            Self::HalfOpen => &[Open],
            Self::Udp | Self::Echo => &[Open, Data],
            Self::Stray => &[Last],
        }
    }

    fn protocol(self) -> u8 {
        match self {
            Self::Udp => protocol::UDP,
            Self::Echo => protocol::ICMP,
            _ => protocol::TCP,
        }
    }
}

/// A connection under way.
#[derive(Clone, Copy, Debug)]
struct Connection {
    number: u32,
    kind: Kind,
    /// Its part of the randomness.
    key: u64,
    /// As the one who opens it sends it.
    flow: FlowId,
    /// As it left.
    seen: FlowId,
    step: usize,
    /// Whether its opening passed.
    is_open: bool,
    /// Packets of this step that are to be sent, and to come back.
    unsent: u16,
    unreturned: u16,
    word: u64,
    step_word: u64,
}

/// The source.
#[derive(Debug)]
pub struct Script {
    options: Options,
    outcome: Outcome,
    begun: u32,
    connections: Vec<Connection>,
    free: Vec<u32>,
    /// Connections with packets to send, which take turns.
    ready: VecDeque<u32>,
    /// Those whose packets are sent alone.
    serial: VecDeque<u32>,
    /// Those that wait for others to be as far.
    waiting: Vec<u32>,
    /// Those that are silent, and until which round.
    asleep: Vec<(u32, u32)>,
    on_the_way: u32,
    is_alone: bool,
    round: u32,
    is_swept: bool,
    now: Nanos,
    /// How live connections look from outside.
    live: HashSet<FlowId>,
}

impl Script {
    /// What `options` say.
    pub fn new(options: &Options) -> Self {
        let options = Options {
            at_a_time: options.at_a_time.clamp(1, 1 << 16),
            data: options.data.clamp(1, 1 << 14),
            ..*options
        };
        let outcome = Outcome { words: vec![0; options.connections as usize], ..Outcome::default() };
        let mut script = Self {
            options,
            outcome,
            begun: 0,
            connections: Vec::new(),
            free: Vec::new(),
            ready: VecDeque::new(),
            serial: VecDeque::new(),
            waiting: Vec::new(),
            asleep: Vec::new(),
            on_the_way: 0,
            is_alone: false,
            round: 0,
            is_swept: true,
            now: Nanos(0),
            live: HashSet::new(),
        };
        script.begin();
        script
    }

    /// What became of the packets so far.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    fn is_free(&self) -> bool {
        self.options.order == Order::Free
    }

    /// Begins as many connections as there may be at a time.
    fn begin(&mut self) {
        for _ in 0..self.options.at_a_time {
            self.begin_one();
        }
    }

    fn begin_one(&mut self) {
        if self.begun == self.options.connections {
            return;
        }
        let mut connection = Connection::new(self.begun, self.options.seed);
        if self.is_free() && connection.kind == Kind::Sleeper {
            connection.kind = Kind::Tcp;
        }
        self.begun += 1;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.connections[slot as usize] = connection;
                slot
            }
            None => {
                self.connections.push(connection);
                self.connections.len() as u32 - 1
            }
        };
        self.take_step(slot);
    }

    /// Goes on with a connection whose last step is done.
    fn take_step(&mut self, slot: u32) {
        let is_free = self.is_free();
        let connection = &mut self.connections[slot as usize];
        let Some(&step) = connection.kind.steps().get(connection.step) else {
            self.end(slot);
            return;
        };
        if step == Step::Sleep {
            connection.step += 1;
            let rounds = 1 + (connection.key >> 40) as u32 % 6;
            self.asleep.push((self.round + rounds, slot));
            return;
        }
        let parts = match step {
            Step::Data => 1 + mix(connection.key, connection.step as u64) as u16 % (2 * self.options.data),
            _ => 1,
        };
        (connection.unsent, connection.unreturned, connection.step_word) = (parts, parts, 0);
        // Data of TCP change no table, but for the note that they were seen.
        let is_serial =
            step != Step::Last && (step != Step::Data || connection.kind.protocol() != protocol::TCP);
        if is_serial && !is_free {
            self.serial.push_back(slot);
        } else {
            self.ready.push_back(slot);
        }
    }

    fn end(&mut self, slot: u32) {
        let connection = self.connections[slot as usize];
        self.outcome.words[connection.number as usize] = connection.word;
        if connection.is_open {
            self.live.remove(&connection.seen);
        }
        self.free.push(slot);
        if self.is_free() {
            self.begin_one();
        }
    }

    /// In rounds: nothing is to be sent and all is back.
    fn next_stage(&mut self) -> Next {
        let mut waiting = std::mem::take(&mut self.waiting);
        waiting.sort_unstable_by_key(|&slot| self.connections[slot as usize].number);
        waiting.iter().for_each(|&slot| self.take_step(slot));
        if !self.is_idle() {
            return Next::Packet;
        }
        let Order::Rounds { pause } = self.options.order else { return Next::End };
        if self.begun == self.options.connections && self.asleep.is_empty() {
            return Next::End;
        }
        if self.is_swept {
            self.now = self.now.after(pause);
            self.is_swept = false;
            return Next::Sweep;
        }
        self.is_swept = true;
        self.round += 1;
        let round = self.round;
        let mut awake: Vec<u32> =
            self.asleep.extract_if(.., |(until, _)| *until <= round).map(|(_, slot)| slot).collect();
        awake.sort_unstable_by_key(|&slot| self.connections[slot as usize].number);
        awake.into_iter().for_each(|slot| self.take_step(slot));
        self.begin();
        Next::Packet
    }

    fn is_idle(&self) -> bool {
        self.ready.is_empty() && self.serial.is_empty()
    }

    fn send(&mut self, slot: u32, packet: &mut Packet) {
        let connection = &mut self.connections[slot as usize];
        connection.unsent -= 1;
        let part = connection.unsent;
        connection.write(part, packet);
        packet.set_tag(u64::from(slot) << 16 | u64::from(part));
        self.on_the_way += 1;
    }
}

impl Source for Script {
    fn fill(&mut self, packet: &mut Packet) -> Next {
        loop {
            if !self.serial.is_empty() {
                if self.on_the_way > 0 {
                    return Next::Wait;
                }
                let slot = self.serial[0];
                self.send(slot, packet);
                self.is_alone = true;
                if self.connections[slot as usize].unsent == 0 {
                    self.serial.pop_front();
                }
                return Next::Packet;
            }
            if self.is_alone && self.on_the_way > 0 {
                return Next::Wait;
            }
            if let Some(slot) = self.ready.pop_front() {
                self.send(slot, packet);
                self.is_alone = false;
                if self.connections[slot as usize].unsent > 0 {
                    self.ready.push_back(slot);
                }
                if self.is_free() {
                    self.now = self.now.after(Nanos(PACE.min(TURN / u64::from(self.options.at_a_time))));
                }
                return Next::Packet;
            }
            if self.on_the_way > 0 {
                return Next::Wait;
            }
            match self.next_stage() {
                Next::Packet => {}
                other => return other,
            }
        }
    }

    fn back(&mut self, packet: &Packet) {
        let (slot, part) = ((packet.tag() >> 16) as u32, packet.tag() as u16);
        let is_free = self.is_free();
        self.on_the_way -= 1;
        self.outcome.packets += 1;
        match packet.verdict() {
            Verdict::Drop(reason) => self.outcome.dropped[reason as usize] += 1,
            _ => self.outcome.forwarded += 1,
        }
        let is_right = frame::is_right(packet);
        self.outcome.wrong += u64::from(!is_right);

        let connection = &mut self.connections[slot as usize];
        let step = connection.kind.steps()[connection.step];
        if step == Step::Open {
            connection.is_open = !matches!(packet.verdict(), Verdict::Drop(_));
            connection.seen = packet.flow().copied().unwrap_or(connection.flow);
            if connection.is_open && !self.live.insert(connection.seen) {
                self.outcome.collisions += 1;
            }
        }
        connection.note(part, packet, is_right);
        if connection.unreturned > 0 {
            return;
        }
        connection.word = mix(connection.word, connection.step_word);
        connection.step += 1;
        if step == Step::Open && !connection.is_open {
            // Nobody answers; what has not been opened may be tried all the same, with the last step.
            let last = connection.kind.steps().len();
            let tries = connection.kind.protocol() == protocol::TCP
                && connection.kind.steps()[last - 1] == Step::Last;
            connection.step = if tries { last - 1 } else { last };
        }
        if is_free {
            self.take_step(slot);
        } else {
            self.waiting.push(slot);
        }
    }

    fn now(&mut self, _elapsed: Nanos) -> Nanos {
        self.now
    }
}

impl Connection {
    fn new(number: u32, seed: u64) -> Self {
        let key = mix(seed, number.into());
        let kind = match key % 16 {
            0..=6 => Kind::Tcp,
            7 | 8 => Kind::Reset,
            9 | 10 => Kind::Sleeper,
            11 => Kind::HalfOpen,
            12 | 13 => Kind::Udp,
            14 => Kind::Echo,
            _ => Kind::Stray,
        };
        // No two connections have the same client, or only when 16 million came between them.
        let client = (1 << 16) | (number % 0xff_0000);
        let port = 1024 + (key >> 8) as u16 % 60_000;
        let flow = if kind == Kind::Echo {
            let server = Ipv4Addr::new(192, 0, 2, (key >> 32) as u8);
            FlowId::new(protocol::ICMP, (private(client), port), (server.into(), 0))
        } else if (key >> 4).is_multiple_of(16) {
            let address = |prefix: u16, host: u32| {
                Ipv6Addr::from_bits(u128::from(prefix) << 112 | u128::from(host)).into()
            };
            FlowId::new(kind.protocol(), (address(0xfd00, client), port), (address(0x2001, 7), 443))
        } else if (key >> 16).is_multiple_of(2) {
            FlowId::new(kind.protocol(), (private(client), port), (SERVICE.0.into(), SERVICE.1))
        } else {
            let server = Ipv4Addr::new(192, 0, 2, (key >> 32) as u8);
            let ports = [80, 443, 22, 53, 8080, 23, 25, 5432];
            FlowId::new(
                kind.protocol(),
                (private(client), port),
                (server.into(), ports[(key >> 24) as usize % 8]),
            )
        };
        Self {
            number,
            kind,
            key,
            flow,
            seen: flow,
            step: 0,
            is_open: false,
            unsent: 0,
            unreturned: 0,
            word: 0,
            step_word: 0,
        }
    }

    /// Whether packet `part` of this step goes the way of the opening.
    fn is_outward(&self, part: u16) -> bool {
        match self.kind.steps()[self.step] {
            Step::Answer | Step::FinishBack => false,
            // One end resets as often as the other.
            Step::Reset => self.key >> 41 & 1 == 0,
            Step::Data if self.kind == Kind::Sleeper && self.step > 3 => true,
            Step::Data => mix(self.key, u64::from(part) | 1 << 20) & 1 == 0,
            _ => true,
        }
    }

    fn write(&self, part: u16, packet: &mut Packet) {
        let outward = self.is_outward(part);
        let flow = if outward { self.flow } else { self.seen.reversed() };
        let flags = match self.kind.steps()[self.step] {
            Step::Open => SYN,
            Step::Answer => SYN | ACK,
            Step::Finish | Step::FinishBack => FIN | ACK,
            Step::Reset => RST,
            Step::Data | Step::Last | Step::Sleep => ACK,
        };
        let noise = mix(self.key, (self.step as u64) << 16 | u64::from(part));
        let segment = Segment { flags, sequence: noise as u32, acknowledged: (noise >> 32) as u32 };
        let payload = [noise.to_be_bytes(), (!noise).to_le_bytes()].concat();
        let carried =
            if flags == ACK || self.kind.protocol() != protocol::TCP { noise as usize % 17 } else { 0 };
        packet.refill(Link::Ethernet, |bytes| frame::write(bytes, &flow, segment, &payload[..carried]));
        packet.set_input(u8::from(!outward));
    }

    /// Adds what became of packet `part` of this step, in whatever order they come.
    fn note(&mut self, part: u16, packet: &Packet, is_right: bool) {
        let verdict = match packet.verdict() {
            Verdict::Forward => 1,
            Verdict::Transmit(interface) => 0x100 | u64::from(interface),
            Verdict::Drop(reason) => 0x200 | reason as u64,
            Verdict::HandOver => 0x300,
        };
        // The chosen port is what may differ: everything else of the addresses is looked at.
        let (sent, seen) = if self.is_outward(part) {
            (self.flow, self.seen)
        } else {
            (self.flow.reversed(), self.seen.reversed())
        };
        let addresses = match packet.flow() {
            Some(flow) if *flow == sent => 1,
            Some(flow) if *flow == seen => 2,
            _ => 3,
        };
        let end = |address: IpAddr| match address {
            IpAddr::V4(address) => u64::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits() as u64,
        };
        let to = mix(end(self.seen.source()), end(self.seen.destination()))
            ^ u64::from(self.seen.destination_port());
        let hops = packet
            .headers()
            .ip
            .and_then(|ip| packet.bytes().get(ip.offset + if self.flow.is_v6() { 7 } else { 8 }));
        let rest = u64::from(hops.copied().unwrap_or(0)) << 2 | addresses;
        let word = mix(mix(verdict << 16 | u64::from(part), rest << 1 | u64::from(is_right)), to);
        self.step_word = self.step_word.wrapping_add(word);
        self.unreturned -= 1;
    }
}

/// An address of 10.0.0.0/8.
fn private(host: u32) -> IpAddr {
    Ipv4Addr::from_bits(10 << 24 | host).into()
}

/// Mixes two words: the finaliser of SplitMix64 (Steele, Lea and Flood, 2014).
pub(super) fn mix(one: u64, other: u64) -> u64 {
    let mut word = one.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ other.wrapping_add(0x632b_e59b_d9b4_e019);
    word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}
