//! The ranks of packets: drawn, read, or given by a policy.

use std::sync::Arc;

use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_units::{Nanos, Rank};

use super::stream;
use crate::distribution::AliasTable;
use crate::port::Ranks;
use crate::rank::{PacketMeta, RankPolicy};

/// Ranks drawn from a distribution, whatever the packet.
pub struct Drawn {
    table: Arc<AliasTable>,
    random: Xoshiro256PlusPlus,
}

impl Drawn {
    /// Draws from `table`.
    pub fn new(table: Arc<AliasTable>, seed: u64) -> Self {
        Self { table, random: stream(seed, 1) }
    }
}

impl Ranks for Drawn {
    #[inline]
    fn rank(&mut self, _packet: &PacketMeta, _now: Nanos) -> Rank {
        Rank(self.table.draw(&mut self.random))
    }
}

/// Ranks from a list, one after the other; from its start again when it ends.
pub struct Listed {
    ranks: Arc<[u64]>,
    next: usize,
}

impl Listed {
    /// The ranks of `ranks`.
    pub fn new(ranks: Arc<[u64]>) -> Self {
        Self { ranks, next: 0 }
    }
}

impl Ranks for Listed {
    fn rank(&mut self, _packet: &PacketMeta, _now: Nanos) -> Rank {
        let rank = self.ranks.get(self.next).copied().unwrap_or_default();
        self.next = if self.next + 1 < self.ranks.len() { self.next + 1 } else { 0 };
        Rank(rank)
    }
}

/// Ranks by a policy.
pub struct Policy(pub Box<dyn RankPolicy>);

impl Ranks for Policy {
    fn rank(&mut self, packet: &PacketMeta, now: Nanos) -> Rank {
        self.0.rank(packet, now)
    }

    fn departs(&mut self, rank: Rank) {
        self.0.departs(rank);
    }
}
