//! Every order of service as a list that is searched from end to end.
//!
//! Nothing is shared with what it is held against but the rounding of a ratio, which has tests of its own.

use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};

use trueplane_surge::Packet;
use trueplane_surge::policy::PolicyName;
use trueplane_surge::ratio::Ratio;
use trueplane_units::Nanos;

use super::table::QUANTUM;

/// What is done to a rank before it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    None,
    Mantissa(u32),
    Tick(u32),
}

/// A fraction.
#[derive(Clone, Copy, Debug)]
struct Rank(u128, u128);

impl Rank {
    fn cmp(self, other: Self) -> Ordering {
        (self.0 * other.1).cmp(&(other.0 * self.1))
    }
}

/// A packet with its number and its tag.
type Entry = (Packet, u64, u64);

/// What waits together, in order: a flow, or one packet.
#[derive(Clone, Debug)]
struct Unit {
    entries: VecDeque<Entry>,
    exact: Rank,
    rank: Rank,
    /// When it came to this rank.
    since: u64,
    deficit: u64,
}

pub(crate) struct Naive {
    rule: PolicyName,
    rounding: Rounding,
    units: Vec<Unit>,
    changes: u64,
    /// Of every flow that there ever was, the tag of its last packet.
    clocks: HashMap<u64, u64>,
    /// The largest tag that was served.
    virtual_time: u64,
    round: u64,
    /// The flow that goes on being served.
    current: Option<u64>,
}

/// A job beyond 2^36 − 1 ns counts as that, in flows.
fn counted(packet: &Packet) -> u64 {
    packet.work.0.min((1 << 36) - 1)
}

impl Naive {
    pub(crate) fn new(rule: PolicyName, rounding: Rounding) -> Self {
        let (units, clocks) = (Vec::new(), HashMap::new());
        Self { rule, rounding, units, changes: 0, clocks, virtual_time: 0, round: 0, current: None }
    }

    pub(crate) fn arrive(&mut self, packet: Packet, number: u64) {
        let mut tag = number;
        if self.rule == PolicyName::Fq {
            let clock = self.clocks.entry(packet.flow).or_insert(0);
            *clock = self.virtual_time.max(*clock) + counted(&packet);
            tag = *clock;
        }
        let alone = matches!(self.rule, PolicyName::Fcfs | PolicyName::Sjf | PolicyName::Wsjf);
        let found = self.units.iter().position(|unit| !alone && unit.entries[0].0.flow == packet.flow);
        if let Some(index) = found {
            self.units[index].entries.push_back((packet, number, tag));
            self.update(index, false);
            return;
        }
        let (entries, zero) = (VecDeque::from([(packet, number, tag)]), Rank(0, 1));
        self.units.push(Unit { entries, exact: zero, rank: zero, since: 0, deficit: 0 });
        self.update(self.units.len() - 1, true);
    }

    /// Gives a unit the rank that it has now; one that begins to wait comes behind the others of its rank.
    fn update(&mut self, index: usize, begins: bool) {
        let unit = &mut self.units[index];
        let (head, number, tag) = unit.entries[0];
        let sum = |of: fn(&Packet) -> u64| {
            unit.entries.iter().map(|(packet, ..)| u128::from(of(packet))).sum::<u128>()
        };
        unit.exact = match self.rule {
            PolicyName::Fcfs => Rank(number.into(), 1),
            PolicyName::Sjf => Rank(head.work.0.into(), 1),
            PolicyName::Wsjf => Rank(head.work.0.into(), head.bits.into()),
            PolicyName::WsjfHoq => Rank(counted(&head).into(), head.bits.into()),
            PolicyName::Fq => Rank(tag.into(), 1),
            PolicyName::WsjfInorder => Rank(sum(counted), sum(|packet| packet.bits.into())),
            PolicyName::SjfInorder => Rank(sum(counted), unit.entries.len() as u128),
            // By walking.
            PolicyName::Drr if begins => {
                let mut round = self.round;
                loop {
                    round += 1;
                    unit.deficit += QUANTUM;
                    if unit.deficit >= counted(&head) {
                        break Rank(round.into(), 1);
                    }
                }
            }
            PolicyName::Drr => unit.exact,
        };
        let rank = match self.rounding {
            Rounding::None => unit.exact,
            Rounding::Tick(tick) => Rank(unit.exact.0 >> tick, 1),
            Rounding::Mantissa(bits) => {
                let weight = match self.rule {
                    PolicyName::Sjf => 1 << 32,
                    PolicyName::SjfInorder => 1 << 20,
                    _ => 1,
                };
                let ratio = Ratio::new(Nanos(unit.exact.0 as u64), unit.exact.1 as u64 * weight);
                Rank(ratio.quantise(bits).into(), 1)
            }
        };
        if begins || rank.cmp(unit.rank).is_ne() {
            (unit.rank, unit.since) = (rank, self.changes);
            self.changes += 1;
        }
    }

    fn next(&self) -> Option<usize> {
        let first = |a: &Unit, b: &Unit| a.rank.cmp(b.rank).then(a.since.cmp(&b.since));
        let current = self.units.iter().position(|unit| self.current == Some(unit.entries[0].0.flow));
        current.or_else(|| (0..self.units.len()).min_by(|&a, &b| first(&self.units[a], &self.units[b])))
    }

    /// Whether the exact rank of what is next is at most 1 + 2^−M times the least of all, and by less than a tick later.
    pub(crate) fn closeness_of_next(&self) -> Option<bool> {
        let next = self.units[self.next()?].exact;
        let least = self.units.iter().map(|unit| unit.exact).min_by(|a, b| a.cmp(*b))?;
        Some(match self.rounding {
            Rounding::None => true,
            Rounding::Tick(tick) => next.0 < least.0 + (1 << tick),
            Rounding::Mantissa(bits) => {
                // Below 2^−32 ns per bit, which is 1 ns for all bits that there can be, only no work at all is.
                least.0 == 0 || next.cmp(Rank(least.0 * ((1 << bits) + 1), least.1 << bits)).is_le()
            }
        })
    }

    pub(crate) fn serve(&mut self) -> Option<(Packet, u64)> {
        let index = self.next()?;
        self.current = None;
        let unit = &mut self.units[index];
        let (packet, number, tag) = unit.entries.pop_front()?;
        if self.rule == PolicyName::Fq {
            self.virtual_time = self.virtual_time.max(tag);
        }
        if self.rule == PolicyName::Drr {
            self.round = unit.exact.0 as u64;
            unit.deficit -= counted(&packet);
        }
        match unit.entries.front() {
            None => drop(self.units.remove(index)),
            Some((head, ..)) if self.rule == PolicyName::Drr && counted(head) <= unit.deficit => {
                self.current = Some(head.flow);
            }
            Some(_) => self.update(index, true),
        }
        Some((packet, number))
    }

    /// Takes out a packet by its number, where each waits alone.
    pub(crate) fn cancel(&mut self, number: u64) -> Option<(Packet, u64)> {
        let index = self.units.iter().position(|unit| unit.entries[0].1 == number)?;
        let (packet, number, _) = self.units.remove(index).entries[0];
        Some((packet, number))
    }

    pub(crate) fn drop_worst(&mut self) -> Option<(Packet, u64)> {
        let worse = |a: &Unit, b: &Unit| a.rank.cmp(b.rank).then(b.since.cmp(&a.since));
        let waits = |&index: &usize| self.current != Some(self.units[index].entries[0].0.flow);
        let waiting = (0..self.units.len()).filter(waits);
        let index = waiting.max_by(|&a, &b| worse(&self.units[a], &self.units[b])).or(self.next())?;
        let unit = &mut self.units[index];
        let (packet, number, tag) = unit.entries.pop_back()?;
        if self.rule == PolicyName::Fq {
            self.clocks.insert(packet.flow, tag - counted(&packet));
        }
        if unit.entries.is_empty() {
            self.units.remove(index);
            self.current = self.current.filter(|&flow| flow != packet.flow);
        } else {
            self.update(index, false);
        }
        Some((packet, number))
    }
}
