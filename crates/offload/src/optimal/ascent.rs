//! Prices that rise where too much is used and fall where too little is.
//!
//! The relaxed problem is concave in the prices, and its slope in a price is what is used more than there is: keys in
//! the table against its capacity, keys inserted against the batch. [`Blocks`] of intervals follow it, one for
//! entries and one for insertions.

use trueplane_study::ascent::{Blocks, Rounds, Softness};

use super::path::Tariff;
use super::problem::Problem;
use super::relaxed::Relaxed;

/// The length of the first step, in units of the best price that is the same everywhere.
const STEP: f64 = 0.3;
/// Cost differences that are smoothed over at first, in such prices of an entry and of an insertion.
const SMOOTH: [f64; 2] = [1.0, 0.1];
/// Number of times that the best prices that are the same everywhere are looked for in turn.
const TURNS: usize = 2;

/// The search for prices.
pub(super) struct Ascent<'a> {
    relaxed: Relaxed<'a>,
    entries: Side,
    insertions: Side,
    /// Sums of the prices of an entry.
    rent: Vec<f64>,
    rounds: Rounds,
    best: Best,
}

/// The best prices so far, in misses.
pub(super) struct Best {
    /// The lower bound that they prove, as far as floating point goes.
    pub(super) lower: f64,
    /// Price of an entry in every interval, in misses.
    pub(super) entries: Vec<f64>,
    /// Price of an insertion in every interval, in misses.
    pub(super) insertions: Vec<f64>,
}

/// Something scarce.
struct Side {
    /// Amount of the scarce thing in every interval.
    there: f64,
    /// The best price that is the same wherever there is one at first.
    level: f64,
    /// 1 in the intervals that have a price at first, 0 in those in which there is enough for nothing.
    busy: Vec<f64>,
    /// Prices as a sum of blocks, in units of `level`.
    blocks: Blocks,
    prices: Vec<f64>,
    excess: Vec<f64>,
}

impl<'a> Ascent<'a> {
    /// Begins with the best prices that are the same wherever something is scarce; as far as `go_on` lets it look.
    pub(super) fn new(problem: &'a Problem, go_on: impl Fn() -> bool) -> Self {
        let intervals = problem.intervals;
        let zero = || vec![0.0; intervals];
        let best = Best { lower: f64::NEG_INFINITY, entries: zero(), insertions: zero() };
        let mut ascent = Self {
            relaxed: Relaxed::new(problem),
            entries: Side::new(problem.capacity, intervals),
            insertions: Side::new(problem.batch, intervals),
            rent: vec![0.0; intervals + 1],
            rounds: Rounds::default(),
            best,
        };
        ascent.find_levels(problem.lookups() as f64, go_on);
        ascent
    }

    /// The best prices so far.
    pub(super) fn best(&self) -> &Best {
        &self.best
    }

    /// Looks where something is scarce without prices, and for the prices there at which as much is used as there is,
    /// on average.
    fn find_levels(&mut self, lookups: f64, go_on: impl Fn() -> bool) {
        self.evaluate(0.0);
        for side in [&mut self.entries, &mut self.insertions] {
            side.busy = side.excess.iter().map(|&excess| f64::from(u8::from(excess > 0.0))).collect();
        }
        for _ in 0..TURNS {
            self.find_level(|ascent| &mut ascent.entries, lookups, &go_on);
            self.find_level(|ascent| &mut ascent.insertions, lookups, &go_on);
        }
    }

    /// Halves the interval of the logarithm of one side's price.
    fn find_level(&mut self, side: impl Fn(&mut Self) -> &mut Side, lookups: f64, go_on: impl Fn() -> bool) {
        let Side { busy, there, .. } = side(self);
        let busy: f64 = busy.iter().sum();
        if busy == 0.0 {
            return;
        }
        // Nobody pays more than all lookups are worth.
        let (mut low, mut high) = (0.0, lookups.max(1.0) / (*there * busy));
        for _ in 0..40 {
            let level = if low == 0.0 { high / 8.0 } else { f64::sqrt(low * high) };
            side(self).level = level;
            if high < low * 1.2 || !go_on() {
                break;
            }
            self.evaluate(0.0);
            let Side { busy, excess, .. } = side(self);
            let excess: f64 = excess.iter().zip(busy).map(|(excess, busy)| excess * *busy).sum();
            *(if excess > 0.0 { &mut low } else { &mut high }) = level;
        }
    }

    /// Evaluates the current prices, with decisions smoothed over cost differences below `smooth`.
    fn evaluate(&mut self, smooth: f64) {
        let Self { relaxed, entries, insertions, rent, best, .. } = self;
        entries.price();
        insertions.price();
        for (interval, price) in entries.prices.iter().enumerate() {
            rent[interval + 1] = rent[interval] + price;
        }
        let tariff = Tariff { rent, toll: &insertions.prices, miss: 1.0 };
        let paths =
            relaxed.evaluate(&tariff, Softness::new(smooth), &mut entries.excess, &mut insertions.excess);
        let lower = paths - entries.worth() - insertions.worth();
        if lower > best.lower {
            best.lower = lower;
            best.entries.copy_from_slice(&entries.prices);
            best.insertions.copy_from_slice(&insertions.prices);
        }
    }

    /// Makes so many steps, as long as `go_on` says so; it is asked before every one.
    pub(super) fn advance(&mut self, steps: u64, go_on: impl Fn() -> bool) {
        let smooth = SMOOTH[0] * self.entries.level + SMOOTH[1] * self.insertions.level;
        for _ in 0..steps {
            if !go_on() {
                break;
            }
            let (care, left) = self.rounds.care();
            self.evaluate(smooth * care * left * left);
            let length = STEP * care * left * left.sqrt();
            for side in [&mut self.entries, &mut self.insertions] {
                side.blocks.step(&side.excess, length);
            }
            self.rounds.count();
        }
        // What the last step has come to.
        self.evaluate(0.0);
    }
}

impl Side {
    fn new(there: u64, intervals: usize) -> Self {
        Self {
            there: there as f64,
            level: 0.0,
            busy: vec![0.0; intervals],
            blocks: Blocks::new(intervals),
            prices: vec![0.0; intervals],
            excess: vec![0.0; intervals],
        }
    }

    /// Sums up the terms to prices.
    fn price(&mut self) {
        for (price, sum) in self.prices.iter_mut().zip(self.blocks.prices(&self.busy)) {
            *price = f64::max(sum, 0.0) * self.level;
        }
    }

    /// Worth of the whole amount at the current prices.
    fn worth(&self) -> f64 {
        self.there * self.prices.iter().sum::<f64>()
    }
}
