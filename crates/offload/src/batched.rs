//! Tables that a controller changes batch by batch, over the control channel.

use std::hash::BuildHasherDefault;

use hashbrown::HashSet;

use crate::pace::Pace;
use crate::table::{AsItIs, Entry, Mixed, Table};
use crate::{Counts, Key, System};

/// Policy that decides which keys come in and which entries go.
///
/// Lookups are told slot by slot. What is due to a policy at a slot, such as ageing, happens with the lookup of that
/// slot, and so after a decision at it.
pub trait Policy {
    /// Called once by [`Batched`], before anything else: the table has at most `entries` entries, a batch at most `batch` insertions.
    fn begin(&mut self, entries: u32, batch: u64);

    /// `key` is looked up at slot `now`, and answered by `entry`, if by any.
    fn lookup(&mut self, key: Mixed, entry: Option<Entry>, now: u64);

    /// `key` will soon be looked up and is not in the table: fetches from memory what that will need. Changes nothing.
    #[inline]
    fn approach(&self, key: Mixed) {
        let _ = key;
    }

    /// Decides a batch. Candidates for insertion are keys that are not in the table; none is under way.
    fn decide<T: Table>(&mut self, plan: &mut Plan<'_, T>);

    /// The entry that was to go is gone; `key` was its.
    fn evicted(&mut self, key: Mixed, entry: Entry);

    /// `key` now has an entry, from slot `now` on.
    fn installed(&mut self, key: Mixed, entry: Entry, now: u64);

    /// There was no place for `key`; it is a candidate again.
    fn failed(&mut self, key: Mixed) {
        let _ = key;
    }

    /// Slots after which counters are halved, where they are.
    fn period(&self) -> Option<u64> {
        None
    }
}

/// Keys that are looked up in the table together before the policy is told: nothing is due in between, and the
/// processor waits for the memory of all at once.
const AHEAD: usize = 32;

/// A batch in the making.
#[derive(Debug)]
pub struct Plan<'a, T> {
    table: &'a T,
    now: u64,
    since: u64,
    free: u64,
    batch: u64,
    insertions: &'a mut Vec<Mixed>,
    evictions: &'a mut Vec<Entry>,
    /// The insertions, to be found.
    coming: &'a mut Keys,
}

type Keys = HashSet<Mixed, BuildHasherDefault<AsItIs>>;

impl<T: Table> Plan<'_, T> {
    /// The slot of this decision.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The slot of the decision before: candidates are looked up from there on (A2).
    pub fn since(&self) -> u64 {
        self.since
    }

    /// Whether the batch has room for another insertion.
    pub fn is_open(&self) -> bool {
        (self.insertions.len() as u64) < self.batch
    }

    /// Whether another insertion needs no eviction.
    pub fn has_free(&self) -> bool {
        self.free > 0
    }

    /// Whether `key` is in the table or in the plan. O(1).
    pub fn holds(&self, key: Mixed) -> bool {
        self.coming.contains(&key) || self.table.find(key).is_some()
    }

    /// Gives `key`, which is not in the table nor in the plan, an entry that is free. Nothing happens if there is none
    /// or the batch is full.
    pub fn insert(&mut self, key: Mixed) {
        if self.is_open() && self.has_free() {
            self.free -= 1;
            self.bring_in(key);
        }
    }

    /// Gives `key`, which is not in the table nor in the plan, the room of `victim`, which is in the table and not in
    /// the plan. Nothing happens if the batch is full.
    pub fn replace(&mut self, victim: Entry, key: Mixed) {
        if self.is_open() {
            self.evictions.push(victim);
            self.bring_in(key);
        }
    }

    fn bring_in(&mut self, key: Mixed) {
        debug_assert!(!self.holds(key), "{key:?} would be inserted twice");
        self.coming.insert(key);
        self.insertions.push(key);
    }

    /// Keys that the plan inserts so far.
    pub fn insertions(&self) -> &[Mixed] {
        self.insertions
    }

    /// Entries that the plan evicts so far.
    pub fn evictions(&self) -> &[Entry] {
        self.evictions
    }
}

/// A table whose entries a policy in a controller replaces batch by batch.
///
/// Batch n is decided at slot d_n, with d_0 = 0; its evictions take effect at the middle ⌊(d_n + d_{n+1}) / 2⌋, its
/// insertions at d_{n+1}, right before the next batch is decided at the same slot. Until the middle an entry that is to
/// go still answers. The table begins empty, and while it is not full nothing is evicted.
///
/// updates_sent = updates_applied + updates_failed + insertions under way, at most a batch.
///
/// Source: DySO's appendix, A1–A4 and figure 13. A lookup costs what the table and the policy take.
#[derive(Debug)]
pub struct Batched<P, T> {
    policy: P,
    table: T,
    /// Pace at which batches are decided.
    batches: Pace,
    batch: u64,
    decided: u64,
    now: u64,
    insertions: Vec<Mixed>,
    evictions: Vec<Entry>,
    /// Keys that a plan inserts. Kept for its memory.
    coming: Keys,
    sent: u64,
    applied: u64,
    failed: u64,
}

impl<P: Policy, T: Table> Batched<P, T> {
    /// An empty `table` under `policy`, with a batch of up to `batch` insertions decided at every slot of `batches`.
    pub fn new(mut policy: P, table: T, batches: Pace, batch: u64) -> Self {
        policy.begin(table.capacity(), batch);
        Self {
            policy,
            table,
            batches,
            batch,
            decided: 0,
            now: 0,
            insertions: Vec::new(),
            evictions: Vec::new(),
            coming: Keys::default(),
            sent: 0,
            applied: 0,
            failed: 0,
        }
    }

    /// The policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// The table.
    pub fn table(&self) -> &T {
        &self.table
    }

    /// Slots after which counters are halved, where they are.
    pub fn period(&self) -> Option<u64> {
        self.policy.period()
    }

    /// Insertions that were decided and have not taken effect.
    pub fn under_way(&self) -> u64 {
        self.insertions.len() as u64
    }

    fn evict(&mut self) {
        for entry in self.evictions.drain(..) {
            if let Some(key) = self.table.remove(entry) {
                self.policy.evicted(key, entry);
            }
        }
    }

    fn insert(&mut self) {
        for key in self.insertions.drain(..) {
            match self.table.insert(key) {
                Some(entry) => {
                    self.applied += 1;
                    self.policy.installed(key, entry, self.now);
                }
                None => {
                    self.failed += 1;
                    self.policy.failed(key);
                }
            }
        }
    }

    fn decide(&mut self) {
        self.coming.clear();
        let mut plan = Plan {
            table: &self.table,
            now: self.now,
            since: self.decided,
            free: u64::from(self.table.capacity() - self.table.len()),
            batch: self.batch,
            insertions: &mut self.insertions,
            evictions: &mut self.evictions,
            coming: &mut self.coming,
        };
        self.policy.decide(&mut plan);
        self.sent += self.insertions.len() as u64;
        self.decided = self.now;
    }
}

impl<P: Policy, T: Table> System for Batched<P, T> {
    #[inline]
    fn lookup(&mut self, key: Key) -> bool {
        let key = Mixed::from(key);
        let entry = self.table.find(key);
        self.policy.lookup(key, entry, self.now);
        self.now += 1;
        entry.is_some()
    }

    /// The middle of a batch that evicts, else its end.
    fn due(&self) -> u64 {
        let end = self.batches.due();
        if self.evictions.is_empty() { end } else { self.decided.midpoint(end) }
    }

    fn control(&mut self, now: u64) {
        self.now = now;
        if self.evictions.is_empty() {
            self.insert();
            self.batches.advance();
            self.decide();
        } else {
            self.evict();
        }
    }

    fn misses(&mut self, keys: &[Key]) -> u64 {
        let mut misses = 0;
        let mut found = [(Mixed(0), None); AHEAD];
        for keys in keys.chunks(AHEAD) {
            let found = &mut found[..keys.len()];
            for (found, &key) in found.iter_mut().zip(keys) {
                *found = (Mixed::from(key), self.table.find(key.into()));
            }
            for &(key, _) in found.iter().filter(|(_, entry)| entry.is_none()) {
                self.policy.approach(key);
                misses += 1;
            }
            for (now, &mut (key, entry)) in (self.now..).zip(found) {
                self.policy.lookup(key, entry, now);
            }
            self.now += keys.len() as u64;
        }
        misses
    }

    fn counts(&self) -> Counts {
        Counts {
            updates_sent: Some(self.sent),
            updates_applied: Some(self.applied),
            updates_failed: Some(self.failed),
            ..Counts::default()
        }
    }
}
