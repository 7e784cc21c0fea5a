//! A schedule from prices: batch by batch, whoever is worth least makes room for the candidates that are worth most.
//!
//! A key in the table is worth what it would cost more not to have it there, under the prices from then on. While it
//! is held without being looked up, what has already passed of the price of holding it is the same for all, so that
//! their order does not change with time and a heap will do.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trueplane_study::Error;

use super::path::{Costs, Money as _, Tariff};
use super::problem::{Problem, Visit};
use super::schedule::{Batch, Sweep};

/// No visit.
const NONE: u32 = u32::MAX;

/// Cost of a miss in the unit of [`Worth`].
const MISS: f64 = (1u32 << 20) as f64;

/// Entries of the heap, beside two for each key in the table, above which dead ones are removed.
const LEFT: u64 = 1 << 10;

/// Worth of a key, in whole parts of a miss, so that it can be compared.
type Worth = i64;

/// Hands the batches of the schedule that the prices of `tariff` lead to to `decided`, in order. O(n log n) for n
/// visits. Memory: 4 B a visit, 21 B a key and 32 B an entry of the table.
pub(super) fn guided(
    problem: &Problem,
    tariff: &Tariff<'_, f64>,
    mut decided: impl FnMut(&Batch) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut course = Course::new(problem, tariff);
    let (mut sweep, mut visits) = (Sweep::new(problem), Vec::new());
    for interval in 0..problem.intervals {
        sweep.interval(interval, &mut visits);
        course.decide(interval, &visits);
        decided(&course.batch)?;
    }
    Ok(())
}

/// A table in the course of time.
struct Course<'a> {
    problem: &'a Problem,
    tariff: &'a Tariff<'a, f64>,
    /// Saving from each visit on if the key is in the table before it, in the unit of `tariff`.
    saved: Vec<f32>,
    stored: Vec<bool>,
    used: u64,
    /// Keys that are held without being looked up, by what they are worth before the rent until now; those whose
    /// entry in `held` is no longer that visit are not.
    heap: BinaryHeap<Reverse<(Worth, u32, u32)>>,
    /// The visit that each key is held for.
    held: Vec<u32>,
    /// Keys that were looked up in the last interval and are not stored, and their visits then.
    candidates: Vec<(u32, u32)>,
    /// Keys in the table that will never be looked up again.
    done: Vec<u32>,
    batch: Batch,
}

impl<'a> Course<'a> {
    fn new(problem: &'a Problem, tariff: &'a Tariff<'a, f64>) -> Self {
        let keys = problem.keys();
        let mut saved = vec![0.0; problem.all_visits().len()];
        for key in 0..keys {
            let (range, visits) = (problem.range(key), problem.visits(key));
            (0..visits.len()).rev().fold(Costs::default(), |next, index| {
                let costs = tariff.before(visits, index, next, |_, stored, absent| stored.least(absent));
                saved[range.start + index] = (costs.absent - costs.stored) as f32;
                costs
            });
        }
        Self {
            problem,
            tariff,
            saved,
            stored: vec![false; keys],
            used: 0,
            heap: BinaryHeap::new(),
            held: vec![NONE; keys],
            candidates: Vec::new(),
            done: Vec::new(),
            batch: Batch::default(),
        }
    }

    /// Decides the batch of an interval in which there are these visits.
    fn decide(&mut self, interval: usize, visits: &[(u32, u32)]) {
        self.batch.inserted.clear();
        self.batch.evicted.clear();
        for key in std::mem::take(&mut self.done) {
            self.evict(key);
        }
        if self.heap.len() as u64 > 2 * self.used + LEFT {
            let held = &self.held;
            self.heap.retain(|&Reverse((_, key, visit))| held[key as usize] == visit);
        }
        let mut present = BinaryHeap::new();
        for &(key, visit) in visits.iter().filter(|(key, _)| self.stored[*key as usize]) {
            self.held[key as usize] = NONE;
            let late = f64::from(self.problem.all_visits()[visit as usize].late);
            present.push(Reverse((whole(late + self.saved_after(key, visit)), key)));
        }
        let mut entered = Vec::new();
        for (worth, key, next) in self.best_candidates(interval) {
            if self.used >= self.problem.capacity && !self.make_room(worth, interval, &mut present) {
                break;
            }
            self.stored[key as usize] = true;
            self.used += 1;
            self.batch.inserted.push(key);
            entered.push((key, next));
        }
        // Only now, so that nobody leaves in the batch that it came in.
        entered.into_iter().for_each(|(key, next)| self.hold(key, next, interval));
        self.look_ahead(interval, visits);
    }

    /// The candidates that are worth something in the table from `interval` on, the best first, as many as a batch
    /// can insert; each with its next visit.
    fn best_candidates(&mut self, interval: usize) -> Vec<(Worth, u32, u32)> {
        let candidates = std::mem::take(&mut self.candidates);
        let worths = candidates.iter().filter_map(|&(key, visit)| {
            let next = self.next(key, visit)?;
            let at = self.problem.all_visits()[next as usize].interval as usize;
            let worth = if at == interval {
                self.saved_after(key, next)
            } else {
                f64::from(self.saved[next as usize]) - (self.tariff.rent[at] - self.tariff.rent[interval + 1])
            };
            let worth = whole(worth);
            (worth > 0).then_some((worth, key, next))
        });
        let mut worths: Vec<(Worth, u32, u32)> = worths.collect();
        worths.sort_unstable_by_key(|&(worth, key, _)| (Reverse(worth), key));
        worths.truncate(usize::try_from(self.problem.batch).unwrap_or(usize::MAX));
        worths
    }

    /// Evicts the key that is worth least, if that is less than `worth`.
    fn make_room(
        &mut self,
        worth: Worth,
        interval: usize,
        present: &mut BinaryHeap<Reverse<(Worth, u32)>>,
    ) -> bool {
        while let Some(&Reverse((_, key, visit))) = self.heap.peek() {
            if self.held[key as usize] == visit {
                break;
            }
            self.heap.pop();
        }
        let passed = whole(self.tariff.rent[interval + 1]);
        let held = self.heap.peek().map(|&Reverse((worth, key, _))| ((worth + passed).max(0), key));
        let looked_up = present.peek().map(|&Reverse(least)| least);
        let from_heap = looked_up.is_none_or(|looked_up| held.is_some_and(|held| held.0 <= looked_up.0));
        let Some((least, key)) = (if from_heap { held } else { looked_up }) else { return false };
        if least >= worth {
            return false;
        }
        if from_heap {
            self.heap.pop();
        } else {
            present.pop();
        }
        self.evict(key);
        true
    }

    fn evict(&mut self, key: u32) {
        self.stored[key as usize] = false;
        self.held[key as usize] = NONE;
        self.used -= 1;
        self.batch.evicted.push(key);
    }

    /// Finds out what becomes of the keys that were looked up.
    fn look_ahead(&mut self, interval: usize, visits: &[(u32, u32)]) {
        for &(key, visit) in visits {
            match self.next(key, visit) {
                _ if !self.stored[key as usize] => self.candidates.push((key, visit)),
                Some(next) => self.hold(key, next, interval),
                None => self.done.push(key),
            }
        }
    }

    /// Holds a key after `interval` for a visit.
    fn hold(&mut self, key: u32, visit: u32, interval: usize) {
        let at = self.problem.all_visits()[visit as usize].interval as usize;
        if at > interval + 1 {
            let worth = whole(f64::from(self.saved[visit as usize]) - self.tariff.rent[at]);
            self.held[key as usize] = visit;
            self.heap.push(Reverse((worth, key, visit)));
        }
    }

    /// The visit of a key after another.
    fn next(&self, key: u32, visit: u32) -> Option<u32> {
        (visit as usize + 1 < self.problem.range(key as usize).end).then_some(visit + 1)
    }

    /// Saving after a visit if the key is in the table in the interval of the visit.
    fn saved_after(&self, key: u32, visit: u32) -> f64 {
        let Some(next) = self.next(key, visit) else { return 0.0 };
        let [Visit { interval, .. }, Visit { interval: at, .. }] =
            [visit, next].map(|visit| self.problem.all_visits()[visit as usize]);
        let saved = f64::from(self.saved[next as usize]);
        if at == interval + 1 {
            return saved;
        }
        let stay = self.tariff.rent[at as usize] - self.tariff.rent[interval as usize + 1];
        let toll = self.tariff.toll[interval as usize + 1];
        (toll + stay - saved).min(0.0) - (stay - saved).min(0.0)
    }
}

fn whole(worth: f64) -> Worth {
    (worth * MISS) as Worth
}
