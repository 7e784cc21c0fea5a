//! The cores of a machine as servers, event by event.
//!
//! A card puts packets into the receive rings of cores, and drops them at the tail of a full one. A core takes up to 32 packets from its ring and as
//! many that were handed over, lets its [`Worker`](crate::Worker) handle them, which decides what becomes of them as it would
//! anywhere, and is busy for as long as that costs; then they leave together, and what is to be handed over lies in the rings of others. All times are
//! in picoseconds.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, Exp1, LogNormal};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_link::Counts as LinkCounts;
use trueplane_study::{Error, Observer};
use trueplane_units::Nanos;

use crate::dispatch::{DispatchName, DispatchOptions, Load, PERIOD, PolicyName, dispatcher};
use crate::machine::{Costs, Service};
use crate::source::{Next, Offer, Source};
use crate::system::{StateName, SystemName};
use crate::tally::Tally;
use crate::team::{Team, Tray};
use crate::{Counts, Dispatch, Fit, MAX_BATCH, Packet, Steering, Verdict};

/// A nanosecond.
const NANOSECOND: u64 = 1000;
/// Time after which a core that has nothing else to do tries again to hand over what a ring had no room for.
const RETRY: u64 = 1000 * NANOSECOND;
/// Packets between two questions whether to stop.
const REPORT: u64 = 1 << 12;

/// The system whose cores wait for each other.
const LOCKED: SystemName = SystemName::State(StateName::Locked);

/// Parameters of the simulated machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    pub(super) system: SystemName,
    pub(super) dispatch: DispatchOptions,
    pub(super) cores: usize,
    /// Cycles that every packet costs.
    pub(super) cycles: u64,
    pub(super) costs: Costs,
    pub(super) service: Service,
    /// Descriptors of every ring.
    pub(super) ring: usize,
    /// Cycles a second.
    pub(super) clock: u64,
    /// Picoseconds between two packets that the card sprays by checksum.
    pub(super) card_gap: Option<u64>,
    pub(super) seed: u64,
}

impl Machine {
    fn picoseconds(&self, cycles: f64) -> u64 {
        (cycles * 1e12 / self.clock as f64).round() as u64
    }

    /// Time of a packet on a core that has its flow, in picoseconds.
    pub(super) fn alone(&self) -> u64 {
        self.picoseconds((self.costs.base + self.costs.local + self.cycles) as f64)
    }

    /// Longest time of a packet that is handed over, in picoseconds.
    pub(super) fn longest(&self) -> u64 {
        let Costs { base, remote, batch, packet, lock, replay, .. } = self.costs;
        let replay = replay * self.cores as u64;
        self.picoseconds((base + remote + 2 * (batch + packet) + lock + replay + self.cycles) as f64)
    }
}

/// Results of a run.
#[derive(Clone, Debug)]
pub(super) struct Ran {
    pub(super) tally: Tally,
    /// Packets a second that got through in the time that counts, each batch spread over the time that it took.
    pub(super) rate: f64,
    pub(super) counts: Counts,
    /// Counts of packets by their place at the end.
    pub(super) ledger: Ledger,
    /// Counts of the link over which packets come; all zero without one.
    pub(super) link: LinkCounts,
}

/// Counts of packets by place. Identity: `offered` = `card` + `ring` + `done` + `queued`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ledger {
    /// Packets that came.
    pub(super) offered: u64,
    /// Dropped by the card, which sprays no faster.
    pub(super) card: u64,
    /// Dropped at full receive rings.
    pub(super) ring: u64,
    /// Handled, whatever the verdict.
    pub(super) done: u64,
    /// Still in rings or in work at the end.
    pub(super) queued: u64,
}

#[derive(Default)]
struct Core {
    ring: VecDeque<Packet>,
    handed: VecDeque<Packet>,
    /// Places of `handed` that are promised.
    promised: usize,
    is_busy: bool,
    /// Packets that leave at the end of the batch in work.
    done: Vec<Packet>,
    leaving: Vec<(usize, Packet)>,
    /// Time that the core has worked since loads were told, in finished batches.
    worked: u64,
    /// Time when the batch in work began, or when loads were told if that was later.
    began: u64,
}

impl Core {
    fn queued(&self) -> usize {
        self.ring.len() + self.handed.len()
    }
}

/// A packet on its way; its tag is where it stands.
#[derive(Clone, Copy)]
struct Sent {
    came: u64,
    flow: u32,
    sequence: u32,
}

pub(super) struct Engine<'a> {
    machine: Machine,
    team: Box<dyn Team>,
    dispatch: Option<Box<dyn Dispatch>>,
    steering: Steering,
    cores: Vec<Core>,
    ends: BinaryHeap<Reverse<(u64, usize)>>,
    source: &'a mut dyn Source,
    sent: Vec<Sent>,
    /// Tags of packets in the machine that are copies. Apart from `sent`, which is read for each packet and so stays small.
    copies: HashSet<u32>,
    free: Vec<u32>,
    spent: Vec<Packet>,
    tray: Tray,
    arrived: Vec<Packet>,
    handed: Vec<Packet>,
    /// Core whose turn it is, where packets go in turns.
    turn: usize,
    lock_free: u64,
    card_free: u64,
    told: u64,
    window: (u64, u64),
    through: f64,
    tally: Tally,
    ledger: Ledger,
    random: Xoshiro256PlusPlus,
}

impl<'a> Engine<'a> {
    /// Ready to run; counted is from `from` to `to`.
    pub(super) fn new(
        machine: Machine,
        team: Box<dyn Team>,
        source: &'a mut dyn Source,
        (from, to): (u64, u64),
    ) -> Self {
        let cores = machine.cores;
        let dispatch = match machine.system {
            SystemName::Dispatch(name) => Some(dispatcher(name, cores, &machine.dispatch)),
            SystemName::State(StateName::Sharded) => {
                Some(dispatcher(DispatchName::of(PolicyName::Rss), cores, &machine.dispatch))
            }
            SystemName::State(StateName::Scr | StateName::Locked) => None,
        };
        Self {
            machine,
            team,
            dispatch,
            steering: Steering::new(cores),
            cores: (0..cores).map(|_| Core::default()).collect(),
            ends: BinaryHeap::new(),
            source,
            sent: Vec::new(),
            copies: HashSet::new(),
            free: Vec::new(),
            spent: Vec::new(),
            tray: Tray { room: vec![0; cores], ..Tray::default() },
            arrived: Vec::new(),
            handed: Vec::new(),
            turn: 0,
            lock_free: 0,
            card_free: 0,
            told: 0,
            window: (from, to),
            through: 0.0,
            tally: Tally::new(from, to),
            ledger: Ledger::default(),
            random: Xoshiro256PlusPlus::seed_from_u64(machine.seed),
        }
    }

    /// Runs until all packets have come, and with `drain`, until all have gone.
    ///
    /// # Errors
    ///
    /// The observer interrupts.
    pub(super) fn run(mut self, drain: bool, observer: &dyn Observer) -> Result<Ran, Error> {
        let mut asked = 0;
        loop {
            let next = self.source.next();
            let at = match next {
                Next::Packet(offer) => offer.at,
                Next::Nothing(at) => at,
                Next::End => break,
            };
            self.until(at);
            if let Next::Packet(offer) = next {
                self.offer(&offer);
            }
            // Where packets are rare, the periods between them take the time.
            if self.ledger.offered.is_multiple_of(REPORT) || at - asked > REPORT * PERIOD.0 * NANOSECOND {
                asked = at;
                if observer.interrupted() {
                    return Err(Error::Interrupted);
                }
            }
        }
        let end = self.source.ends();
        self.until(if drain { u64::MAX } else { end });
        self.ledger.queued = self.cores.iter().map(|core| (core.queued() + core.leaving.len()) as u64).sum();
        self.ledger.queued += self.cores.iter().map(|core| core.done.len() as u64).sum::<u64>();
        self.ledger.queued += (0..self.cores.len()).map(|core| self.team.waiting(core) as u64).sum::<u64>();
        let seconds = (self.window.1 - self.window.0) as f64 / 1e12;
        let rate = self.through / seconds;
        self.tally.close();
        let (counts, link) = (self.team.counts(), self.source.link());
        Ok(Ran { tally: self.tally, rate, counts, ledger: self.ledger, link })
    }

    /// Lets everything happen that happens up to `at`.
    fn until(&mut self, at: u64) {
        let period = PERIOD.0 * NANOSECOND;
        loop {
            let end = self.ends.peek().map(|Reverse(end)| *end);
            match end {
                Some((end, core)) if end <= at && end < self.told + period => {
                    self.ends.pop();
                    self.finish(core, end);
                }
                // With nothing to do, loads need not be told for ever.
                None if at == u64::MAX => return,
                _ if self.told.saturating_add(period) <= at => {
                    self.told += period;
                    self.tell();
                }
                _ => return,
            }
        }
    }

    fn tell(&mut self) {
        let now = self.told;
        let period = (PERIOD.0 * NANOSECOND) as f64;
        let loads = self.cores.iter_mut().map(|core| {
            if core.is_busy {
                core.worked += now - core.began;
                core.began = now;
            }
            let busy = (core.worked as f64 / period).min(1.0);
            core.worked = 0;
            Load { queued: core.queued() as u32, busy }
        });
        let loads: Vec<Load> = loads.collect();
        if let Some(dispatch) = &mut self.dispatch {
            dispatch.observe(&loads, Nanos(now / NANOSECOND));
        }
    }

    fn offer(&mut self, offer: &Offer) {
        self.ledger.offered += 1;
        self.tally.offered(offer.flow, offer.at);
        if self.is_too_fast(offer) {
            self.ledger.card += 1;
            return self.source.answer(offer.flow, offer.sequence, false);
        }
        let core = match &mut self.dispatch {
            Some(dispatch) => dispatch.core(&offer.arrival, Nanos(offer.at / NANOSECOND)),
            None => {
                self.turn = if self.turn + 1 >= self.cores.len() { 0 } else { self.turn + 1 };
                self.turn
            }
        };
        if self.cores[core].ring.len() >= self.machine.ring {
            self.ledger.ring += 1;
            return self.source.answer(offer.flow, offer.sequence, false);
        }
        let mut packet = self.source.packet(self.spent.pop());
        let Offer { at, flow, sequence, is_copy, .. } = *offer;
        let sent = Sent { came: at, flow, sequence };
        let tag = match self.free.pop() {
            Some(tag) => {
                self.sent[tag as usize] = sent;
                tag
            }
            None => {
                self.sent.push(sent);
                self.sent.len() as u32 - 1
            }
        };
        if is_copy {
            self.copies.insert(tag);
        }
        packet.set_tag(tag.into());
        self.cores[core].ring.push_back(packet);
        if !self.cores[core].is_busy {
            self.begin(core, offer.at);
        }
    }

    /// Whether the card cannot keep up: it sprays by checksum and is still at work on what came before, of which it holds a batch.
    fn is_too_fast(&mut self, offer: &Offer) -> bool {
        let by_checksum =
            matches!(self.machine.system, SystemName::Dispatch(name) if name.properties().by_checksum);
        let Some(gap) = self.machine.card_gap.filter(|_| by_checksum) else { return false };
        if self.card_free > offer.at + gap * MAX_BATCH as u64 {
            return true;
        }
        self.card_free = self.card_free.max(offer.at) + gap;
        false
    }

    /// Begins a batch, if there is anything to do.
    fn begin(&mut self, core: usize, now: u64) {
        // One at a time where a lock is taken for each, or a core would get it for its whole batch before others get it at all.
        let most = if self.machine.system == LOCKED { 1 } else { MAX_BATCH };
        let of = &mut self.cores[core];
        let (arrived, handed) = (of.ring.len().min(most), of.handed.len().min(most));
        if arrived + handed + self.team.waiting(core) == 0 {
            return;
        }
        self.arrived.extend(of.ring.drain(..arrived));
        self.handed.extend(of.handed.drain(..handed));
        for (room, other) in self.tray.room.iter_mut().zip(&self.cores) {
            *room = self.machine.ring.saturating_sub(other.handed.len() + other.promised);
        }
        let lookups = self.lookups(core);
        self.team.poll(core, Nanos(now / NANOSECOND), &mut self.arrived, &mut self.handed, &mut self.tray);
        let end = now.saturating_add(self.duration(now, arrived, handed, lookups));
        let of = &mut self.cores[core];
        (of.is_busy, of.began) = (true, now);
        of.done.append(&mut self.tray.done);
        of.leaving.append(&mut self.tray.handed);
        self.through += self.within(now, end)
            * self.cores[core].done.iter().filter(|packet| is_through(packet.verdict())).count() as f64;
        for at in 0..self.cores[core].leaving.len() {
            let to = self.cores[core].leaving[at].0;
            self.cores[to].promised += 1;
        }
        self.ends.push(Reverse((end, core)));
    }

    /// The share of a batch's time that counts.
    fn within(&self, begin: u64, end: u64) -> f64 {
        let inside = end.min(self.window.1).saturating_sub(begin.max(self.window.0));
        inside as f64 / (end - begin) as f64
    }

    /// Cycles that it costs to look up the flows of the packets that arrived.
    fn lookups(&self, core: usize) -> u64 {
        let Costs { local, remote, .. } = self.machine.costs;
        let fit = self.team.fit();
        if fit == Fit::Stateless {
            return 0;
        }
        let mut cycles = self.handed.len() as u64 * local;
        for packet in &self.arrived {
            let designated = match self.machine.system {
                SystemName::Dispatch(_) if fit == Fit::Sprayed => {
                    packet.flow().map_or(core, |flow| self.steering.designated(flow))
                }
                _ => core,
            };
            cycles += match (designated == core, packet.is_connection()) {
                (true, _) => local,
                // Handed over without a look.
                (false, true) => 0,
                (false, false) => remote,
            };
        }
        cycles
    }

    /// Duration of the batch whose results lie in the tray.
    fn duration(&mut self, now: u64, arrived: usize, handed: usize, lookups: u64) -> u64 {
        let (machine, costs) = (self.machine, self.machine.costs);
        let done = self.tray.done.len() as u64;
        let replayed = match machine.system {
            SystemName::State(StateName::Scr) => (machine.cores as u64 - 1) * costs.replay,
            _ => 0,
        };
        let work = arrived as u64 * (costs.base + replayed) + lookups + done * machine.cycles;
        let mut cycles = work as f64 * self.factor(done);
        let batches = self
            .tray
            .handed
            .iter()
            .enumerate()
            .filter(|&(at, (to, _))| self.tray.handed[..at].iter().all(|(before, _)| before != to));
        let batches = batches.count() as u64 + u64::from(handed > 0);
        cycles += (batches * costs.batch + (self.tray.handed.len() + handed) as u64 * costs.packet) as f64;
        let own = machine.picoseconds(cycles);
        if arrived + handed == 0 {
            return own.max(RETRY);
        }
        if machine.system != LOCKED || arrived == 0 {
            // What costs nothing would never end.
            return own.max(NANOSECOND);
        }
        // The lock serves in the order in which cores come to it.
        let begin = self.lock_free.max(now);
        self.lock_free = begin + machine.picoseconds(costs.lock as f64);
        (self.lock_free - now + own).max(NANOSECOND)
    }

    /// The mean of the factors of so many packets' times.
    fn factor(&mut self, packets: u64) -> f64 {
        let draw: &dyn Fn(&mut Xoshiro256PlusPlus) -> f64 = match self.machine.service {
            Service::Constant => return 1.0,
            Service::Exponential => &|random| Exp1.sample(random),
            Service::LogNormal(variation) => {
                // A mean of one.
                let variance = (1.0 + variation * variation).ln();
                &move |random| {
                    LogNormal::new(-variance / 2.0, variance.sqrt())
                        .map_or(1.0, |normal| normal.sample(random))
                }
            }
        };
        let count = packets.max(1);
        (0..count).map(|_| draw(&mut self.random)).sum::<f64>() / count as f64
    }

    /// Ends a core's batch, and begins its next one.
    fn finish(&mut self, core: usize, now: u64) {
        let of = &mut self.cores[core];
        of.worked += now - of.began;
        of.is_busy = false;
        let (mut done, mut leaving) = (std::mem::take(&mut of.done), std::mem::take(&mut of.leaving));
        for packet in done.drain(..) {
            self.ledger.done += 1;
            let tag = packet.tag() as u32;
            let Sent { came, flow, sequence } = self.sent[tag as usize];
            self.free.push(tag);
            let is_copy = !self.copies.is_empty() && self.copies.remove(&tag);
            let through = is_through(packet.verdict());
            match (through, is_copy) {
                (true, false) => self.tally.delivered(flow, sequence, came, now),
                (true, true) => self.tally.delivered_copy(flow, came, now),
                (false, _) => {}
            }
            self.source.answer(flow, sequence, through);
            self.spent.push(packet);
        }
        for (to, packet) in leaving.drain(..) {
            self.cores[to].promised -= 1;
            self.cores[to].handed.push_back(packet);
            if to != core && !self.cores[to].is_busy {
                self.begin(to, now);
            }
        }
        (self.cores[core].done, self.cores[core].leaving) = (done, leaving);
        self.begin(core, now);
    }
}

/// Whether a packet with this verdict goes on.
fn is_through(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Forward | Verdict::Transmit(_))
}

#[cfg(test)]
mod tests;
