//! Prices that rise where too much is held and fall where too little is.
//!
//! The dual of the relaxed problem is concave in the prices, and its slope in the price of a gap is what is held there less the
//! capacity. [`Blocks`] of gaps follow it.

use trueplane_study::ascent::{Blocks, Rounds};

use super::relaxed::Relaxed;

/// The length of the first step, in units of the best price that is the same everywhere.
const STEP: f64 = 12.0;
/// Cost differences that are smoothed over at first, in mean costs of a miss.
const SMOOTH: f64 = 0.3;

/// The search for prices.
pub(super) struct Ascent<'a> {
    relaxed: Relaxed<'a>,
    capacity: f64,
    /// The best price that is the same wherever there is one at first.
    level: f64,
    /// 1 at the gaps that have a price at first, 0 at those where there is room for all who would stay for nothing.
    busy: Vec<f64>,
    /// A mean cost of a miss.
    miss: f64,
    /// Blocks of gaps, with their prices in units of `level`.
    blocks: Blocks,
    /// Sums of prices up to each gap, and how much more than the capacity is held there.
    prefix: Vec<f64>,
    excess: Vec<f64>,
    rounds: Rounds,
    best: Best,
}

/// The best prices so far.
pub(super) struct Best {
    /// The lower bound that they prove, as far as floating point goes.
    pub(super) lower: f64,
    /// Their sums up to each gap.
    pub(super) prefix: Vec<f64>,
}

impl<'a> Ascent<'a> {
    /// Begins with the best price that is the same wherever it is full; as far as `go_on` lets it look.
    pub(super) fn new(
        relaxed: Relaxed<'a>,
        gaps: usize,
        capacity: u64,
        miss: f64,
        go_on: impl Fn() -> bool,
    ) -> Self {
        let best = Best { lower: f64::NEG_INFINITY, prefix: vec![0.0; gaps] };
        let mut ascent = Self {
            relaxed,
            capacity: capacity as f64,
            level: 0.0,
            busy: vec![0.0; gaps],
            miss,
            blocks: Blocks::new(gaps),
            prefix: vec![0.0; gaps],
            excess: vec![0.0; gaps],
            rounds: Rounds::default(),
            best,
        };
        ascent.find_level(go_on);
        ascent
    }

    /// The best prices so far.
    pub(super) fn best(&self) -> &Best {
        &self.best
    }

    /// Looks where it is full without prices, and for the price there at which it is full on average, by halving the interval of the
    /// price's logarithm.
    fn find_level(&mut self, go_on: impl Fn() -> bool) {
        self.evaluate(0.0);
        self.busy = self.excess.iter().map(|&excess| f64::from(u8::from(excess > 0.0))).collect();
        let (mut low, mut high) = (0.0, self.miss / self.capacity);
        for _ in 0..40 {
            self.level = if low == 0.0 { high / 8.0 } else { f64::sqrt(low * high) };
            if high < low * 1.2 || !go_on() {
                break;
            }
            self.evaluate(0.0);
            let excess: f64 = self.excess.iter().zip(&self.busy).map(|(excess, busy)| excess * busy).sum();
            let side = if excess > 0.0 { &mut low } else { &mut high };
            *side = self.level;
        }
    }

    /// Evaluates the current prices.
    fn evaluate(&mut self, smooth: f64) {
        self.price();
        let paths = self.relaxed.evaluate(&self.prefix, smooth, &mut self.excess);
        let lower = paths - self.capacity * self.prefix.last().copied().unwrap_or(0.0);
        if lower > self.best.lower {
            self.best.lower = lower;
            self.best.prefix.copy_from_slice(&self.prefix);
        }
    }

    /// Sums up the terms to prices, and the prices.
    fn price(&mut self) {
        let mut sum = 0.0;
        let prices = self.blocks.prices(&self.busy);
        for (gap, (prefix, price)) in self.prefix.iter_mut().zip(prices).enumerate() {
            // There is nothing to hold before the first request.
            sum += if gap == 0 { 0.0 } else { f64::max(price, 0.0) * self.level };
            *prefix = sum;
        }
    }

    /// Makes so many steps, as long as `go_on` says so; it is asked before every one.
    pub(super) fn advance(&mut self, steps: u64, go_on: impl Fn() -> bool) {
        for _ in 0..steps {
            if !go_on() {
                break;
            }
            let (care, left) = self.rounds.care();
            self.evaluate(SMOOTH * self.miss * care * left * left);
            self.blocks.step(&self.excess, STEP * care * left * left.sqrt());
            self.rounds.count();
        }
        // What the last step has come to.
        self.evaluate(0.0);
    }
}
