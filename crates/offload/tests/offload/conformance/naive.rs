//! The loop of DySO's appendix, step by step, with everything looked for in sorted vectors.

use std::collections::BTreeMap;

use trueplane_offload::Key;

use super::Case;

/// What policies go by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rank {
    Recency,
    Frequency { period: u64 },
}

/// A table and its controller.
pub(crate) struct Loop {
    rank: Rank,
    entries: usize,
    batch: usize,
    /// d_1, d_2, …: n × slots / batches.
    slots: u64,
    batches: u64,
    /// The batch under way.
    n: u64,
    now: u64,
    pub(crate) table: Vec<Key>,
    leaving: Vec<Key>,
    coming: Vec<Key>,
    /// Of every key ever seen: how often, and when last.
    seen: BTreeMap<Key, (u64, u64)>,
    pub(crate) sent: u64,
    pub(crate) applied: u64,
}

impl Loop {
    pub(crate) fn new(case: &Case, rank: Rank) -> Self {
        Self {
            rank,
            entries: case.entries as usize,
            batch: case.batch as usize,
            slots: case.slots,
            batches: case.batches,
            n: 0,
            now: 0,
            table: Vec::new(),
            leaving: Vec::new(),
            coming: Vec::new(),
            seen: BTreeMap::new(),
            sent: 0,
            applied: 0,
        }
    }

    fn decided(&self, n: u64) -> u64 {
        n * self.slots / self.batches
    }

    pub(crate) fn lookup(&mut self, key: Key) -> bool {
        while (self.decided(self.n) + self.decided(self.n + 1)) / 2 <= self.now {
            let leaving = std::mem::take(&mut self.leaving);
            self.table.retain(|key| !leaving.contains(key));
            if self.decided(self.n + 1) > self.now {
                break;
            }
            self.applied += self.coming.len() as u64;
            self.table.append(&mut self.coming);
            assert!(self.table.len() <= self.entries);
            self.n += 1;
            self.decide();
        }
        self.count(key);
        self.now += 1;
        self.table.contains(&key)
    }

    fn count(&mut self, key: Key) {
        if let Rank::Frequency { period } = self.rank
            && self.now > 0
            && self.now.is_multiple_of(period)
        {
            self.seen.values_mut().for_each(|(count, _)| *count /= 2);
        }
        let (count, last) = self.seen.entry(key).or_default();
        (*count, *last) = (*count + 1, self.now);
    }

    /// By what is compared first, and when last.
    fn rank(&self, key: Key) -> (u64, u64) {
        let (count, last) = self.seen[&key];
        match self.rank {
            Rank::Recency => (last, last),
            Rank::Frequency { .. } => (count, last),
        }
    }

    fn decide(&mut self) {
        let since = self.decided(self.n - 1);
        let candidates = self
            .seen
            .iter()
            .filter(|(key, (count, last))| *count > 0 && *last >= since && !self.table.contains(key));
        let mut candidates: Vec<_> = candidates.map(|(&key, _)| (self.rank(key), key)).collect();
        candidates.sort();
        let mut victims: Vec<_> = self.table.iter().map(|&key| (self.rank(key), key)).collect();
        victims.sort();
        let mut victims = victims.into_iter();
        for (rank, key) in candidates.into_iter().rev().take(self.batch) {
            if self.table.len() + self.coming.len() - self.leaving.len() == self.entries {
                match victims.next() {
                    Some((victim, leaving)) if victim.0 < rank.0 => self.leaving.push(leaving),
                    _ => break,
                }
            }
            self.coming.push(key);
        }
        self.sent += self.coming.len() as u64;
    }
}
