//! The most frequent misses for the least frequent entries.

use std::hash::BuildHasherDefault;

use hashbrown::HashSet;

use super::coldest::Coldest;
use super::counters::{Counted, Counters};
use crate::batched::{Plan, Policy};
use crate::table::{AsItIs, Entry, Mixed, Table};

/// Least frequently used with ageing, batch by batch: the most frequent of the keys looked up since the last decision
/// that are not in the table replace the least frequent entries, while the one is strictly more frequent than the
/// other.
///
/// Rank: lookups, halved (rounded down) with the lookups of slots T, 2T, 3T, …; among equals the slot of the last
/// lookup, so that the most recent candidate comes in and the least recent entry goes. Counters stop at 2³² − 1.
///
/// Costs: O(1) a lookup, amortised, and O(log B) a key that missed since the last decision. The halving is put off
/// until a counter is used. Keys at zero that are not under way are forgotten, so that memory is bounded by what was
/// looked up in the last few periods: 32 to 128 B a key, and some 50 B an entry.
///
/// Source: DySO §II-B2, *frequency-biased*; candidates by A2; the controller sees all lookups, as there ("zero
/// monitoring overhead", §IV-A). Departure: the paper names neither the order of equals nor the period, which it
/// searches for.
#[derive(Clone, Debug)]
pub struct Frequency {
    batch: usize,
    period: u64,
    /// The slot of the next halving.
    halving: u64,
    /// Halvings so far.
    age: u32,
    entries: Vec<Counter>,
    coldest: Coldest,
    /// Counters of keys that have no entry.
    others: Counters<Counter>,
    /// The slot of the last decision.
    since: u64,
    /// Keys with such a counter that were looked up since, each once.
    recent: Vec<Mixed>,
    /// Keys of the last decision. Their counters stay even at zero, as entries go in the order of their last slots.
    under_way: HashSet<Mixed, BuildHasherDefault<AsItIs>>,
    /// Kept for its memory.
    candidates: Vec<(u128, Mixed)>,
}

/// Count of a key's lookups, and the slot of the last.
#[derive(Clone, Copy, Debug, Default)]
struct Counter {
    last: u64,
    /// Count after `age` halvings.
    count: u32,
    age: u32,
}

impl Counter {
    fn count(&self, age: u32) -> u32 {
        self.count.checked_shr(age.wrapping_sub(self.age)).unwrap_or(0)
    }

    fn rank(&self, age: u32) -> u128 {
        u128::from(self.count(age)) << 64 | u128::from(self.last)
    }

    /// Whether it differs from none at all, for a key that is neither in the table nor under way: by how often it was
    /// looked up, or by saying that it is listed already.
    fn matters(&self, age: u32, since: u64) -> bool {
        self.count(age) > 0 || self.last >= since
    }

    #[inline]
    fn add(&mut self, age: u32, now: u64) {
        *self = Self { last: now, count: self.count(age).saturating_add(1), age };
    }
}

impl Counted for Counter {
    const VACANT: Self = Self { last: 0, count: 0, age: 0 };

    fn is_vacant(&self) -> bool {
        self.count == 0
    }
}

impl Frequency {
    /// Halves every `period` slots, at least 1.
    pub fn new(period: u64) -> Self {
        let period = period.max(1);
        Self {
            batch: 0,
            period,
            halving: period,
            age: 0,
            entries: Vec::new(),
            coldest: Coldest::default(),
            others: Counters::new(),
            since: 0,
            recent: Vec::new(),
            under_way: HashSet::default(),
            candidates: Vec::new(),
        }
    }

    /// Keys without an entry whose counters are held.
    pub fn remembered(&self) -> usize {
        self.others.len()
    }

    #[inline]
    fn missed(&mut self, key: Mixed, now: u64) {
        self.make_room();
        let (age, since) = (self.age, self.since);
        let is_first = self.others.update(key, |counter| {
            let is_first = counter.is_vacant() || counter.last < since;
            counter.add(age, now);
            is_first
        });
        if is_first {
            self.recent.push(key);
        }
    }

    /// Forgets the keys at zero, but for those that are listed as recent or under way, if there is no room for another.
    #[inline]
    fn make_room(&mut self) {
        if self.others.is_full() {
            let (age, since, under_way) = (self.age, self.since, &self.under_way);
            self.others.rearrange(|key, counter| counter.matters(age, since) || under_way.contains(&key));
        }
    }

    /// The most frequent candidates first, as many as may come in.
    fn gather(&mut self) {
        let ranked = self.recent.drain(..).filter_map(|key| {
            let counter = self.others.find(key)?;
            (counter.count(self.age) > 0).then(|| (counter.rank(self.age), key))
        });
        self.candidates.clear();
        self.candidates.extend(ranked);
        if self.candidates.len() > self.batch {
            self.candidates.select_nth_unstable_by(self.batch, |a, b| b.cmp(a));
            self.candidates.truncate(self.batch);
        }
        self.candidates.sort_unstable_by(|a, b| b.cmp(a));
    }
}

fn count(rank: u128) -> u128 {
    rank >> 64
}

impl Policy for Frequency {
    fn begin(&mut self, _entries: u32, batch: u64) {
        self.batch = usize::try_from(batch).unwrap_or(usize::MAX);
    }

    #[inline]
    fn lookup(&mut self, key: Mixed, entry: Option<Entry>, now: u64) {
        if now >= self.halving {
            self.halving = self.halving.saturating_add(self.period);
            self.age = self.age.wrapping_add(1);
            self.coldest.forget();
        }
        match entry {
            Some(entry) => self.entries[entry.index()].add(self.age, now),
            None => self.missed(key, now),
        }
    }

    fn approach(&self, key: Mixed) {
        self.others.approach(key);
    }

    fn decide<T: Table>(&mut self, plan: &mut Plan<'_, T>) {
        self.gather();
        for &(rank, key) in &self.candidates {
            if plan.has_free() {
                plan.insert(key);
                continue;
            }
            let ranks = |entry: Entry| self.entries[entry.index()].rank(self.age);
            let Some((victim, least)) = self.coldest.take(ranks) else { break };
            if count(least) >= count(rank) {
                self.coldest.insert(victim, least);
                break;
            }
            plan.replace(victim, key);
        }
        self.under_way.clear();
        self.under_way.extend(plan.insertions());
        self.since = plan.now();
    }

    fn evicted(&mut self, key: Mixed, entry: Entry) {
        let counter = self.entries[entry.index()];
        if counter.matters(self.age, self.since) {
            if counter.last >= self.since {
                self.recent.push(key);
            }
            self.make_room();
            self.others.update(key, |other| *other = counter);
        }
    }

    fn installed(&mut self, key: Mixed, entry: Entry, _now: u64) {
        if entry.index() >= self.entries.len() {
            self.entries.resize(entry.index() + 1, Counter::default());
        }
        let counter = self.others.remove(key).unwrap_or_default();
        self.entries[entry.index()] = counter;
        self.coldest.insert(entry, counter.rank(self.age));
    }

    fn period(&self) -> Option<u64> {
        Some(self.period)
    }
}
