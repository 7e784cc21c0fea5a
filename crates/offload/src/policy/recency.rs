//! The most recent misses for the least recent entries.

use std::hash::BuildHasherDefault;

use hashbrown::HashSet;

use super::coldest::Coldest;
use crate::batched::{Plan, Policy};
use crate::table::{AsItIs, Entry, Mixed, MixedMap, Table};

/// Least recently used, batch by batch: the keys looked up last that are not in the table replace the entries looked up
/// longest ago, while the one is more recent than the other.
///
/// Rank: the slot of the last lookup, of a key that is in the table or not; exact, as the controller sees all lookups.
/// No two ranks are equal.
///
/// Costs: O(1) a lookup, amortised: a hit writes its slot; a miss goes to the end of a log, of which every now and then
/// only the last B different keys are kept (more cannot come in). Memory: 16 B for each of up to 8 B keys and some 30 B
/// an entry.
///
/// Source: DySO §II-B2, *recency-biased*; candidates by A2. Departure: none known; that a replacement must be an
/// improvement is understood.
#[derive(Clone, Debug, Default)]
pub struct Recency {
    batch: usize,
    /// Slot of the last lookup of each entry.
    last: Vec<u64>,
    coldest: Coldest,
    /// Misses since the last decision, of keys that are not under way.
    log: Log,
    /// The keys under way, and when they were looked up last.
    under_way: MixedMap<u64>,
    /// Other keys that may have been looked up since the last decision: whose entry went, or that found no place.
    others: Vec<(u64, Mixed)>,
    /// Kept for its memory.
    candidates: Vec<(u64, Mixed)>,
}

impl Policy for Recency {
    fn begin(&mut self, _entries: u32, batch: u64) {
        self.batch = usize::try_from(batch).unwrap_or(usize::MAX);
        self.log.keep = self.batch;
    }

    #[inline]
    fn lookup(&mut self, key: Mixed, entry: Option<Entry>, now: u64) {
        match entry {
            Some(entry) => self.last[entry.index()] = now,
            None => match self.under_way.get_mut(&key) {
                Some(last) => *last = now,
                None => self.log.push(now, key),
            },
        }
    }

    fn decide<T: Table>(&mut self, plan: &mut Plan<'_, T>) {
        let mut candidates = std::mem::take(&mut self.candidates);
        self.gather(plan.since(), &mut candidates);
        for &(last, key) in &candidates {
            if !plan.is_open() {
                break;
            }
            if plan.has_free() {
                plan.insert(key);
            } else {
                let Some((victim, rank)) = self.coldest.take(|entry| self.last[entry.index()].into()) else {
                    break;
                };
                if rank >= last.into() {
                    self.coldest.insert(victim, rank);
                    break;
                }
                plan.replace(victim, key);
            }
            self.under_way.insert(key, last);
        }
        self.candidates = candidates;
    }

    fn evicted(&mut self, key: Mixed, entry: Entry) {
        self.others.push((self.last[entry.index()], key));
    }

    fn installed(&mut self, key: Mixed, entry: Entry, now: u64) {
        // The slot of its last lookup, which is not that of its arrival.
        let last = self.under_way.remove(&key).unwrap_or(now);
        if entry.index() >= self.last.len() {
            self.last.resize(entry.index() + 1, 0);
        }
        self.last[entry.index()] = last;
        self.coldest.insert(entry, last.into());
    }

    fn failed(&mut self, key: Mixed) {
        self.others.extend(self.under_way.remove(&key).map(|last| (last, key)));
    }
}

impl Recency {
    /// The keys looked up since slot `since`, the most recent first, at least as many as may come in.
    fn gather(&mut self, since: u64, candidates: &mut Vec<(u64, Mixed)>) {
        self.log.compact();
        candidates.clear();
        candidates.append(&mut self.log.misses);
        // Whose entry went may have missed again: the log knows better, if it knows at all. If it no longer does, then
        // of B others that missed later, and the older slot does not bring the key before them.
        let recent = self.others.drain(..).filter(|(last, _)| *last >= since);
        candidates.extend(recent.filter(|(_, key)| !self.log.seen.contains(key)));
        candidates.sort_unstable_by(|a, b| b.cmp(a));
    }
}

/// Keys with the slots of their lookups.
#[derive(Clone, Debug, Default)]
struct Log {
    /// Misses in the order of time.
    misses: Vec<(u64, Mixed)>,
    /// Number of different keys that matter.
    keep: usize,
    /// The keys of the log when it was last compacted.
    seen: HashSet<Mixed, BuildHasherDefault<AsItIs>>,
}

impl Log {
    #[inline]
    fn push(&mut self, now: u64, key: Mixed) {
        if self.misses.len() >= self.keep.saturating_mul(8) {
            self.compact();
        }
        self.misses.push((now, key));
    }

    /// Leaves the last lookup of each of the last `keep` different keys.
    fn compact(&mut self) {
        self.seen.clear();
        let mut kept = self.misses.len();
        for at in (0..self.misses.len()).rev() {
            if self.seen.len() == self.keep {
                break;
            }
            if self.seen.insert(self.misses[at].1) {
                kept -= 1;
                self.misses[kept] = self.misses[at];
            }
        }
        self.misses.drain(..kept);
    }
}
