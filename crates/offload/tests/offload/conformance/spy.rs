//! A policy that is looked over the shoulder.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use trueplane_offload::batched::{Plan, Policy};
use trueplane_offload::table::{Entry, Mixed, Table};

/// When a key must have been looked up to be a candidate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Candidates {
    /// In the preceding interval (A2).
    Preceding,
    /// So that a report that took `delay` slots has arrived, and did so after the statistics were cleared last; that is
    /// every `interval` slots.
    Reported { interval: u64, delay: u64 },
}

impl Candidates {
    /// From which slot until which, both included, for a decision at slot `now` after one at slot `since`; if any.
    fn slots(self, since: u64, now: u64) -> Option<RangeInclusive<u64>> {
        let before = now.checked_sub(1)?;
        match self {
            Self::Preceding => Some(since..=before),
            Self::Reported { interval, delay } => {
                // What is cleared with the lookup of slot `now` is not cleared yet.
                let cleared = before / interval * interval;
                // Reports of that slot come after the clearing, even if they take no time.
                let from = if cleared == 0 { 0 } else { cleared.min((cleared + 1).saturating_sub(delay)) };
                Some(from..=before.min(now.checked_sub(delay)?))
            }
        }
    }
}

/// Holds `policy` to what all of them must do, and those who ask it to what they promise.
pub(crate) struct Spy<'a, P> {
    name: &'a str,
    policy: P,
    candidates: Candidates,
    entries: u32,
    batch: u64,
    now: u64,
    /// In the order of time.
    lookups: HashMap<Mixed, Vec<u64>>,
    table: HashMap<Mixed, Entry>,
    leaving: HashSet<Entry>,
    coming: Vec<Mixed>,
    pub(crate) hits: u64,
    pub(crate) installed: u64,
    pub(crate) evicted: u64,
    pub(crate) failed: u64,
}

impl<'a, P> Spy<'a, P> {
    pub(crate) fn new(name: &'a str, policy: P, candidates: Candidates) -> Self {
        Self {
            name,
            policy,
            candidates,
            entries: 0,
            batch: 0,
            now: 0,
            lookups: HashMap::new(),
            table: HashMap::new(),
            leaving: HashSet::new(),
            coming: Vec::new(),
            hits: 0,
            installed: 0,
            evicted: 0,
            failed: 0,
        }
    }

    fn check<T: Table>(&self, plan: &Plan<'_, T>, free: usize) {
        let (name, insertions, evictions) = (self.name, plan.insertions(), plan.evictions());
        assert!(insertions.len() as u64 <= self.batch, "{name}: {insertions:?}");
        assert_eq!(
            evictions.len(),
            insertions.len().saturating_sub(free),
            "{name}: no more room than needed"
        );
        let victims: HashSet<_> = evictions.iter().copied().collect();
        let held: HashSet<_> = self.table.values().copied().collect();
        assert_eq!(victims.len(), evictions.len(), "{name}: {evictions:?}");
        assert!(victims.is_subset(&held), "{name}: {evictions:?}");
        let distinct: HashSet<_> = insertions.iter().collect();
        assert_eq!(distinct.len(), insertions.len(), "{name}: {insertions:?}");
        let slots = self.candidates.slots(plan.since(), plan.now());
        for key in insertions {
            assert!(!self.table.contains_key(key), "{name}: {key:?} is in the table");
            assert!(plan.holds(*key), "{name}: {key:?} is in the plan");
            let lookups = self.lookups.get(key).map_or(&[][..], Vec::as_slice);
            let is_candidate = |slots: &RangeInclusive<u64>| lookups.iter().any(|at| slots.contains(at));
            assert!(
                slots.as_ref().is_some_and(is_candidate),
                "{name}: {key:?} at {lookups:?}, not in {slots:?}"
            );
        }
    }
}

impl<P: Policy> Policy for Spy<'_, P> {
    fn begin(&mut self, entries: u32, batch: u64) {
        (self.entries, self.batch) = (entries, batch);
        self.policy.begin(entries, batch);
    }

    fn lookup(&mut self, key: Mixed, entry: Option<Entry>, now: u64) {
        assert_eq!(now, self.now, "{}: one lookup a slot", self.name);
        assert_eq!(entry, self.table.get(&key).copied(), "{}", self.name);
        self.now += 1;
        self.hits += u64::from(entry.is_some());
        self.lookups.entry(key).or_default().push(now);
        self.policy.lookup(key, entry, now);
    }

    fn approach(&self, key: Mixed) {
        assert!(!self.table.contains_key(&key), "{}", self.name);
        self.policy.approach(key);
    }

    fn decide<T: Table>(&mut self, plan: &mut Plan<'_, T>) {
        assert!(self.coming.is_empty() && self.leaving.is_empty(), "{}: the batch before is done", self.name);
        assert_eq!(plan.now(), self.now, "{}", self.name);
        assert!(self.table.keys().all(|&key| plan.holds(key)), "{}", self.name);
        self.policy.decide(plan);
        self.check(plan, self.entries as usize - self.table.len());
        self.leaving = plan.evictions().iter().copied().collect();
        self.coming = plan.insertions().to_vec();
    }

    fn evicted(&mut self, key: Mixed, entry: Entry) {
        assert_eq!(self.table.remove(&key), Some(entry), "{}", self.name);
        assert!(self.leaving.remove(&entry), "{}", self.name);
        self.evicted += 1;
        self.policy.evicted(key, entry);
    }

    fn installed(&mut self, key: Mixed, entry: Entry, now: u64) {
        assert_eq!((self.coming.remove(0), now), (key, self.now), "{}", self.name);
        assert!(entry.0 < self.entries && self.table.values().all(|&other| other != entry), "{}", self.name);
        self.table.insert(key, entry);
        self.installed += 1;
        self.policy.installed(key, entry, now);
    }

    fn failed(&mut self, key: Mixed) {
        assert_eq!(self.coming.remove(0), key, "{}", self.name);
        self.failed += 1;
        self.policy.failed(key);
    }

    fn period(&self) -> Option<u64> {
        self.policy.period()
    }
}
