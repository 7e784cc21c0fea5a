//! Faults of links: times without the link, packets lost by chance, and delays that differ from packet to packet.

use std::collections::HashMap;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;
use trueplane_units::Nanos;

use super::flow::DropCause;
use super::topology::Topology;

/// Chances are given in parts of a million.
pub const MILLION: u32 = 1_000_000;

/// Faults that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("faults: expected {expected}, got {got}")]
pub struct BadFaults {
    /// Description of what they can be.
    pub expected: String,
    /// Text of what they are.
    pub got: String,
}

/// What is wrong with a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The link is down. A packet is dropped if the link is down at any time between its first bit at the beginning of the link and its last bit at
    /// the end.
    Down,
    /// Each packet is lost with a chance of so many parts of a million, independently of all others.
    Loss(u32),
    /// Each packet takes longer by a time that is drawn from 0 to so much, all nanoseconds alike. Packets overtake each other on the link.
    Jitter(Nanos),
}

/// A fault of a link in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkFault {
    /// Number of the link.
    pub link: u32,
    /// Time at which it begins.
    pub from: Nanos,
    /// Time at which it is over.
    pub until: Nanos,
    /// The kind of the fault.
    pub kind: FaultKind,
}

/// Times of a kind of fault with their values, in ascending order; none meets another.
#[derive(Clone, Debug, Default)]
struct Spans(Vec<(Nanos, Nanos, u64)>);

impl Spans {
    /// The value at a time; none without a fault then. O(log n).
    fn at(&self, now: Nanos) -> Option<u64> {
        let place = self.0.partition_point(|(_, until, _)| *until <= now);
        self.0.get(place).filter(|(from, ..)| *from <= now).map(|(.., value)| *value)
    }

    /// Whether there is a fault at a time from `first` to `last`. O(log n).
    fn meets(&self, first: Nanos, last: Nanos) -> bool {
        let place = self.0.partition_point(|(_, until, _)| *until <= first);
        self.0.get(place).is_some_and(|(from, ..)| *from <= last)
    }
}

/// The faults of a link, and the packets that they took.
#[derive(Clone, Debug, Default)]
struct OfLink {
    down: Spans,
    loss: Spans,
    jitter: Spans,
    counts: LinkDrops,
}

/// Packets that a link has dropped, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LinkDrops {
    pub(super) down: u64,
    pub(super) lost: u64,
}

/// What becomes of a packet on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Passage {
    /// It arrives, so much later than on a link without faults.
    Late(Nanos),
    /// It does not arrive.
    Dropped(DropCause),
}

/// The faults of all links of a network.
///
/// The chances are drawn from one generator, in the order in which packets leave their ports: the same seed gives the same faults.
#[derive(Clone, Debug)]
pub struct Faults {
    links: Vec<OfLink>,
    /// Times at which a link goes down or comes up, in ascending order, with the number of links that are down from then on.
    changes: Vec<(Nanos, u32)>,
    /// Changes up to now.
    changed: usize,
    /// Whether a way leads from a node to a host while no further change happens.
    known: HashMap<(u32, u32), bool>,
    random: Xoshiro256PlusPlus,
}

impl Faults {
    /// The faults of a network with so many links. O(n log n).
    ///
    /// # Errors
    ///
    /// If a fault has no such link, does not end after it begins, or has a chance above a million, or if two of one kind meet on a link.
    pub fn new(links: usize, faults: &[LinkFault], seed: u64) -> Result<Self, BadFaults> {
        let bad = |expected: &str, got: String| Err(BadFaults { expected: expected.to_owned(), got });
        let mut of_links = vec![OfLink::default(); links];
        let mut sorted = faults.to_vec();
        sorted.sort_by_key(|fault| (fault.from, fault.until, fault.link));
        let mut steps = Vec::new();
        for fault in sorted {
            let LinkFault { link, from, until, kind } = fault;
            let Some(of_link) = of_links.get_mut(link as usize) else {
                return bad("the number of a link", link.to_string());
            };
            if from >= until {
                return bad("an end after the start", format!("{from} to {until}"));
            }
            let (spans, value) = match kind {
                FaultKind::Down => (&mut of_link.down, 0),
                FaultKind::Loss(chance) if chance > MILLION => {
                    return bad("a chance of at most 1000000 parts of a million", chance.to_string());
                }
                FaultKind::Loss(chance) => (&mut of_link.loss, u64::from(chance)),
                FaultKind::Jitter(most) => (&mut of_link.jitter, most.0),
            };
            if let Some((before, upto, _)) = spans.0.last().filter(|(_, upto, _)| *upto > from) {
                let got = format!("{before} to {upto} and {from} to {until}");
                return bad("faults of one kind and one link one after the other", got);
            }
            spans.0.push((from, until, value));
            if kind == FaultKind::Down {
                steps.extend([(from, true), (until, false)]);
            }
        }
        // Other numbers than those that choose flows and ways by the same seed.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        random.jump();
        Ok(Self { links: of_links, changes: changes(steps), changed: 0, known: HashMap::new(), random })
    }

    /// Whether a fault can keep all packets from a host: a link that is down, or loses each of them.
    pub fn can_cut(&self) -> bool {
        let loses_all =
            |of_link: &OfLink| of_link.loss.0.iter().any(|&(.., chance)| chance == u64::from(MILLION));
        !self.changes.is_empty() || self.links.iter().any(loses_all)
    }

    /// The time of the last change of any link; one at the end of time does not count.
    pub fn last_change(&self) -> Nanos {
        let spans = |of_link: &OfLink| {
            let all = [&of_link.down, &of_link.loss, &of_link.jitter].into_iter().flat_map(|spans| &spans.0);
            all.flat_map(|&(from, until, _)| [from, until]).filter(|&time| time < Nanos::MAX).max()
        };
        self.links.iter().filter_map(spans).max().unwrap_or_default()
    }

    /// Whether any link is down now. Times must not descend. O(1), and O(changes) over a run.
    pub(super) fn is_cut(&mut self, now: Nanos) -> bool {
        while self.changes.get(self.changed).is_some_and(|(time, _)| *time <= now) {
            self.changed += 1;
            self.known.clear();
        }
        self.changed.checked_sub(1).is_some_and(|last| self.changes[last].1 > 0)
    }

    /// The ports among `ports`, which lead from a node to host `to`, with links that are up now all the way.
    ///
    /// Only the ways of the whole network count, those with the fewest links. O(links of these ways), once for each change.
    pub(super) fn ways(&mut self, topology: &Topology, ports: &[u32], to: u32, now: Nanos) -> Vec<u32> {
        ports.iter().copied().filter(|port| self.leads(topology, *port, to, now)).collect()
    }

    /// Whether a port leads to a host over links that are up. The ways are walked with a stack of our own, as a network may be long.
    fn leads(&mut self, topology: &Topology, port: u32, to: u32, now: Nanos) -> bool {
        // A node is left again once all that is behind it is known.
        let mut stack = vec![topology.links()[port as usize].to];
        while let Some(&node) = stack.last() {
            if node == to || self.known.contains_key(&(node, to)) {
                stack.pop();
                continue;
            }
            let next = |port: &&u32| self.links[**port as usize].down.at(now).is_none();
            let behind = topology.ports(node, to).iter().filter(next);
            let mut leads = false;
            let mut unknown = None;
            for &port in behind {
                let end = topology.links()[port as usize].to;
                match self.known.get(&(end, to)) {
                    _ if end == to => leads = true,
                    Some(known) => leads |= known,
                    None => unknown = Some(end),
                }
            }
            match unknown.filter(|_| !leads) {
                Some(end) => stack.push(end),
                None => {
                    self.known.insert((node, to), leads);
                }
            }
        }
        let first = topology.links()[port as usize].to;
        self.links[port as usize].down.at(now).is_none() && (first == to || self.known[&(first, to)])
    }

    /// Counts a packet that found no way, at the port that it would have taken.
    pub(super) fn no_way(&mut self, link: u32) {
        self.links[link as usize].counts.down += 1;
    }

    /// What becomes of a packet that a port begins to send now, and that arrives at a time if nothing is wrong.
    pub(super) fn pass(&mut self, link: u32, now: Nanos, arrival: Nanos) -> Passage {
        let of_link = &mut self.links[link as usize];
        let chance = of_link.loss.at(now).unwrap_or(0);
        if chance > 0 && self.random.random_range(0..u64::from(MILLION)) < chance {
            of_link.counts.lost += 1;
            return Passage::Dropped(DropCause::Loss);
        }
        let most = of_link.jitter.at(now).unwrap_or(0);
        let late = if most > 0 { Nanos(self.random.random_range(0..=most)) } else { Nanos(0) };
        if of_link.down.meets(now, arrival.after(late)) {
            of_link.counts.down += 1;
            return Passage::Dropped(DropCause::Down);
        }
        Passage::Late(late)
    }

    /// Packets that a link has dropped.
    pub(super) fn drops(&self, link: usize) -> LinkDrops {
        self.links[link].counts
    }
}

/// Numbers of links that are down, from the times at which one goes down (`true`) or comes up.
fn changes(mut steps: Vec<(Nanos, bool)>) -> Vec<(Nanos, u32)> {
    // At one time those that go down come first, so that the number never falls below 0.
    steps.sort_by_key(|(time, is_down)| (*time, !*is_down));
    let mut changes: Vec<(Nanos, u32)> = Vec::new();
    let mut down = 0;
    for (time, is_down) in steps {
        down = if is_down { down + 1 } else { down - 1 };
        match changes.last_mut() {
            Some((last, count)) if *last == time => *count = down,
            _ => changes.push((time, down)),
        }
    }
    changes
}
