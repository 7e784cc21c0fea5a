//! Rules that spread the packets of a flow over several ways.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_sched::rank::FlowTable;
use trueplane_units::Nanos;

use super::fork::{Chooser, Fork, by_hash};

/// Flows, each at each switch, that are remembered at a time. Others begin as new ones.
const MOST_FLOWS: usize = 1 << 16;

/// A rule for the ways of the packets of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// A hash of the flow: all packets take one way.
    Hash,
    /// Each packet takes a random way (Dixit, Prakash, Hu and Kompella, INFOCOM 2013).
    Spray,
    /// A flow takes a random way, and another one after each pause of at least so much (Vanini, Pan, Alizadeh, Taheri and Edsall, NSDI 2017).
    Flowlet(Nanos),
    /// A flow takes so many ways in turn, packet by packet: those behind the way of the hash, or all if there are no more.
    ///
    /// Each switch counts by itself. On a leaf-spine fabric this makes so many paths, and with more layers of switches the product of the ways.
    Paths(u32),
}

impl Spread {
    /// The rule for a network; none for the hash, which networks have anyway.
    pub fn chooser(self, seed: u64) -> Option<Box<dyn Chooser>> {
        // Other numbers than those that choose flows and faults by the same seed.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        random.long_jump();
        let last = || FlowTable::new(MOST_FLOWS).expect("such a table can be had");
        match self {
            Spread::Hash => None,
            Spread::Spray => Some(Box::new(Spray { random })),
            Spread::Flowlet(gap) => Some(Box::new(Flowlets { gap, last: last(), random })),
            Spread::Paths(most) => Some(Box::new(Paths { most: most.max(1) as usize, last: last(), seed })),
        }
    }
}

/// Each packet takes a random way.
#[derive(Debug)]
struct Spray {
    random: Xoshiro256PlusPlus,
}

impl Chooser for Spray {
    fn choose(&mut self, fork: &Fork, _now: Nanos) -> Option<usize> {
        Some(self.random.random_range(0..fork.ways))
    }
}

/// The last packet of a flow at a switch.
#[derive(Clone, Copy, Debug)]
struct Last {
    time: Nanos,
    way: usize,
    /// Number of ways that there were.
    ways: usize,
}

/// The last packet of a flow that a switch does not know.
const NONE: Last = Last { time: Nanos(0), way: 0, ways: 0 };

/// The number of one direction of a flow.
fn key(fork: &Fork) -> u64 {
    2 * fork.flow + u64::from(fork.is_data)
}

/// The entry of one direction of a flow at a switch. The least recently used makes room.
fn entry<'a>(last: &'a mut FlowTable<Last>, fork: &Fork) -> &'a mut Last {
    // Nodes have fewer than 32 bits, and the multiplier is odd: flows of one node never meet, and those of two nodes hardly ever.
    let name = key(fork) ^ u64::from(fork.node).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    last.entry(name, NONE, |last| last.time.0)
}

/// A flow takes a random way until it pauses.
#[derive(Debug)]
struct Flowlets {
    gap: Nanos,
    last: FlowTable<Last>,
    random: Xoshiro256PlusPlus,
}

impl Chooser for Flowlets {
    fn choose(&mut self, fork: &Fork, now: Nanos) -> Option<usize> {
        let last = entry(&mut self.last, fork);
        if now.since(last.time) >= self.gap || last.ways != fork.ways {
            last.way = self.random.random_range(0..fork.ways);
        }
        *last = Last { time: now, ways: fork.ways, ..*last };
        Some(last.way)
    }
}

/// A flow takes some ways in turn.
#[derive(Debug)]
struct Paths {
    most: usize,
    last: FlowTable<Last>,
    seed: u64,
}

impl Chooser for Paths {
    fn choose(&mut self, fork: &Fork, now: Nanos) -> Option<usize> {
        let first = by_hash(key(fork) ^ self.seed, fork.node, fork.ways);
        let last = entry(&mut self.last, fork);
        let turn = if last.ways == fork.ways { (last.way + 1) % self.most.min(fork.ways) } else { 0 };
        *last = Last { time: now, way: turn, ways: fork.ways };
        Some((first + turn) % fork.ways)
    }
}
