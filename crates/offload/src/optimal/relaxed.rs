//! All keys under prices, and a little undecided: what it costs, how many are in the table and how many enter it.

use trueplane_study::dual::{Lanes, Relaxation, Scarce, Softness};

use super::path::{Choice, Costs, Tariff, is_candidate};
use super::problem::{Problem, Visit};

/// Evaluates prices again and again.
pub(super) struct Relaxed<'a> {
    problem: &'a Problem,
    lanes: Lanes<Lane>,
    /// A key in the unit of [`Lane`]'s counts.
    unit: f64,
}

/// Working memory of a thread. Counts are in whole parts of a key: integers add up to the same in any order.
struct Lane {
    /// Keys in the table in each interval less those in the one before.
    entries: Vec<i64>,
    /// Keys inserted in each interval.
    insertions: Vec<i64>,
    /// Shares of a key that decide each way, for each visit.
    shares: Vec<Shares>,
}

#[derive(Clone, Copy, Default)]
struct Shares {
    keep: f32,
    insert: f32,
    hold: f32,
    fetch: f32,
}

impl<'a> Relaxed<'a> {
    /// Prepares for the current number of threads. Memory: 16 B an interval and thread.
    pub(super) fn new(problem: &'a Problem) -> Self {
        let longest = (0..problem.keys()).map(|key| problem.range(key).len()).max().unwrap_or(0);
        let lane = || Lane {
            entries: vec![0; problem.intervals + 1],
            insertions: vec![0; problem.intervals],
            shares: vec![Shares::default(); longest],
        };
        Self {
            problem,
            lanes: Lanes::new(problem.keys(), |key| problem.range(key), lane),
            // There are at most 2³² keys, each in the table once.
            unit: f64::from(1u32 << 30),
        }
    }
}

/// What is scarce in each interval is, first, the table's entries, and second, a batch's insertions.
impl Relaxation for Relaxed<'_> {
    fn evaluate(&mut self, scarce: &mut [Scarce], soft: Softness) -> f64 {
        let Self { problem, lanes, unit } = self;
        let [entries, insertions] = scarce else { unreachable!("two things are scarce") };
        let tariff = Tariff { rent: &entries.sums, toll: &insertions.prices, miss: 1.0 };
        let clear = |lane: &mut Lane| {
            lane.entries.fill(0);
            lane.insertions.fill(0);
        };
        let cost = lanes.solve(clear, |lane, key| lane.key(problem.visits(key), &tariff, soft, *unit));
        let (capacity, batch) = (*unit * problem.capacity as f64, *unit * problem.batch as f64);
        let mut held = 0;
        let excess = entries.excess.iter_mut().zip(&mut insertions.excess);
        for (interval, (entries, insertions)) in excess.enumerate() {
            held += lanes.counted(|lane| lane.entries[interval]);
            *entries = held as f64 / capacity - 1.0;
            *insertions = lanes.counted(|lane| lane.insertions[interval]) as f64 / batch - 1.0;
        }
        cost
    }
}

impl Lane {
    /// Adds one key; returns what it costs.
    fn key(&mut self, visits: &[Visit], tariff: &Tariff<'_, f64>, soft: Softness, unit: f64) -> f64 {
        let shares = &mut self.shares;
        let before = (0..visits.len()).rev().fold(Costs::default(), |next, index| {
            let shares = &mut shares[index];
            tariff.before(visits, index, next, |choice, stored, absent| {
                let (cost, share) = soft.choose(stored, absent);
                match choice {
                    Choice::Keep => shares.keep = share as f32,
                    Choice::Insert => shares.insert = share as f32,
                    Choice::Hold => shares.hold = share as f32,
                    Choice::Fetch => shares.fetch = share as f32,
                }
                cost
            })
        });
        self.follow(visits, unit);
        before.absent
    }

    /// Adds where a key is.
    fn follow(&mut self, visits: &[Visit], unit: f64) {
        let mut stored = 0.0;
        for (index, visit) in visits.iter().enumerate() {
            let interval = visit.interval as usize;
            let Shares { keep, insert, hold, fetch } = self.shares[index];
            let mut after = stored * f64::from(keep);
            if is_candidate(visits, index) {
                let inserted = (1.0 - stored) * f64::from(insert);
                self.insertions[interval] += (inserted * unit) as i64;
                after += inserted;
            }
            self.stay(interval, interval + 1, (after * unit) as i64);
            stored = match visits.get(index + 1) {
                Some(next) if next.interval != visit.interval + 1 => {
                    let fetched = (1.0 - after) * f64::from(fetch);
                    self.insertions[interval + 1] += (fetched * unit) as i64;
                    let held = after * f64::from(hold) + fetched;
                    self.stay(interval + 1, next.interval as usize, (held * unit) as i64);
                    held
                }
                _ => after,
            };
        }
    }

    /// Adds to the table from one interval to the one before another.
    fn stay(&mut self, from: usize, to: usize, amount: i64) {
        self.entries[from] += amount;
        self.entries[to] -= amount;
    }
}
