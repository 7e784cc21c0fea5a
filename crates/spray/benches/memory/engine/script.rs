//! Connections that behave like real ones.
//!
//! TCP from the handshake to both FINs or a RST, handshakes that nobody completes, UDP, echoes, and packets of no connection at all. What
//! comes next in a connection is sent when all that came before has passed, as real ends do that wait for answers. What answers goes to where
//! the opening packet seemed to come from when it left: to the translated address, if it was translated.
//!
//! Which connection does what is decided by the seed and its number alone, and what became of its packets is summed up in one word. So
//! two runs that treat all packets alike have the same words, in whatever order packets come back.

use std::collections::{HashSet, VecDeque};

use trueplane_units::Nanos;

use super::connection::{Connection, Kind, Step, mix};
use super::packets;
use super::source::{Next, Source};
use trueplane_spray::packet::headers::protocol;
use trueplane_spray::{FlowId, Packet, Reason, Verdict};

/// Time from one packet to the next in ns, where it passes evenly: enough that connections that have ended are forgotten after some
/// hundred thousand packets.
const PACE: u64 = 1_000_000;

/// Most time, in ns, that passes while each connection has a turn: far less than any timeout of a silent connection.
const TURN: u64 = 10_000_000_000;

/// Order in which connections take their turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
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

/// Parameters of the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Decides everything.
    pub(crate) seed: u64,
    /// Connections in all.
    pub(crate) connections: u32,
    /// Connections at a time, or new ones in a round; 65,536 at most.
    pub(crate) at_a_time: u32,
    /// Packets of data in a connection: up to twice as many, one at least.
    pub(crate) data: u16,
    /// The order.
    pub(crate) order: Order,
}

/// Results of the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// One word for each connection, by its number.
    pub(crate) words: Vec<u64>,
    /// Packets that came back.
    pub(crate) packets: u64,
    /// Those that were forwarded.
    pub(crate) forwarded: u64,
    /// Those that were dropped, in the order of [`Reason::ALL`].
    pub(crate) dropped: [u64; Reason::ALL.len()],
    /// Those with a wrong checksum, of which there should be none.
    pub(crate) wrong: u64,
    /// Openings that left with the addresses and ports of a connection that was still there. There should be none, as long as no connection
    /// is displaced by another.
    pub(crate) collisions: u64,
}

impl Outcome {
    /// The first connection whose packets were treated otherwise.
    pub(crate) fn first_difference(&self, other: &Self) -> Option<usize> {
        let most = self.words.len().max(other.words.len());
        (0..most).find(|&at| self.words.get(at) != other.words.get(at))
    }
}

/// The source.
#[derive(Debug)]
pub(crate) struct Script {
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
    /// Flows of live connections as they appear behind the function.
    live: HashSet<FlowId>,
}

impl Script {
    /// A script with these parameters, in their permitted ranges.
    pub(crate) fn new(options: &Options) -> Self {
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

    /// Results so far.
    pub(crate) fn outcome(&self) -> &Outcome {
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

    /// Next stage of a run in rounds, when nothing is left to send and all packets have returned.
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
        let is_right = packets::checksums_are_right(packet);
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
