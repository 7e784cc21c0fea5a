//! Prices that rise where too much is held and fall where too little is.
//!
//! The dual of the relaxed problem is concave in the prices, and its slope in the price of a gap is what is held there less the
//! capacity. Prices of single gaps alone find their level slowly: an object is held over thousands of them. So a
//! price is the sum of one term for each block of 1, 4, 16, … gaps that the gap is in, and each term follows its own
//! block's mean slope, with steps as in Adam (Kingma and Ba, ICLR 2015): of one length, whatever the slope's scale. Steps
//! and smoothing shrink in the course of a round; the next round begins where the last one ended, more carefully, and takes twice
//! as long.

use super::relaxed::Relaxed;

/// log₂ of how many blocks of one level make a block of the next.
const BRANCHING: u32 = 2;
/// How much of the past a term's mean slope, and mean square of the slope, remember.
const MEMORY: [f64; 2] = [0.9, 0.99];
/// The length of the first step, in units of the best price that is the same everywhere.
const STEP: f64 = 12.0;
/// Cost differences that are smoothed over at first, in mean costs of a miss.
const SMOOTH: f64 = 0.3;
/// How much smaller steps and smoothing are from round to round.
const CARE: f64 = 0.5;
/// Steps of the first round.
const STEPS: u64 = 100;
/// Slopes, as shares of the capacity, below which steps get shorter.
const FLAT: f64 = 1e-5;

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
    levels: Vec<Vec<Term>>,
    /// Sums of prices up to each gap, and how much more than the capacity is held there.
    prefix: Vec<f64>,
    excess: Vec<f64>,
    round: i32,
    /// Steps made of the round.
    made: u64,
    best: Best,
}

/// The best prices so far.
pub(super) struct Best {
    /// The lower bound that they prove, as far as floating point goes.
    pub(super) lower: f64,
    /// Their sums up to each gap.
    pub(super) prefix: Vec<f64>,
}

/// The part that a block has in the prices of its gaps, in units of [`Ascent::level`].
#[derive(Clone, Copy, Default)]
struct Term {
    price: f64,
    slope: f64,
    square: f64,
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
        let mut levels = Vec::new();
        let mut blocks = gaps;
        while blocks > 8 || levels.is_empty() {
            levels.push(vec![Term::default(); blocks]);
            blocks = blocks.div_ceil(1 << BRANCHING);
        }
        let best = Best { lower: f64::NEG_INFINITY, prefix: vec![0.0; gaps] };
        let mut ascent = Self {
            relaxed,
            capacity: capacity as f64,
            level: 0.0,
            busy: vec![0.0; gaps],
            miss,
            levels,
            prefix: vec![0.0; gaps],
            excess: vec![0.0; gaps],
            round: 0,
            made: 0,
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
        // What the terms of all larger blocks give to each block of a level.
        let mut above = vec![0.0; self.levels.last().map_or(0, Vec::len)];
        for pair in self.levels.windows(2).rev() {
            let block = |block: usize| above[block >> BRANCHING] + pair[1][block >> BRANCHING].price;
            above = (0..pair[0].len()).map(block).collect();
        }
        let mut sum = 0.0;
        let terms = self.levels[0].iter().zip(&self.busy).zip(above);
        for (gap, (prefix, ((term, busy), above))) in self.prefix.iter_mut().zip(terms).enumerate() {
            // There is nothing to hold before the first request.
            sum += if gap == 0 { 0.0 } else { f64::max(busy + above + term.price, 0.0) * self.level };
            *prefix = sum;
        }
    }

    /// Makes so many steps, as long as `go_on` says so; it is asked before every one.
    pub(super) fn advance(&mut self, steps: u64, go_on: impl Fn() -> bool) {
        for _ in 0..steps {
            if !go_on() {
                break;
            }
            let all = STEPS << self.round.min(20);
            let care = CARE.powi(self.round);
            let left = 1.0 - self.made as f64 / all as f64;
            self.evaluate(SMOOTH * self.miss * care * left * left);
            self.step(STEP * care * left * left.sqrt());
            self.made += 1;
            if self.made == all {
                (self.round, self.made) = (self.round + 1, 0);
            }
        }
        // What the last step has come to.
        self.evaluate(0.0);
    }

    /// Moves every term along its slope, by about `length`.
    fn step(&mut self, length: f64) {
        let mut slopes = std::mem::take(&mut self.excess);
        for terms in &mut self.levels {
            for (term, slope) in terms.iter_mut().zip(&slopes) {
                term.slope += (1.0 - MEMORY[0]) * (slope - term.slope);
                term.square += (1.0 - MEMORY[1]) * (slope * slope - term.square);
                term.price += length * term.slope / (term.square.sqrt() + FLAT);
            }
            let blocks = slopes.chunks(1 << BRANCHING);
            let means = blocks.map(|block| block.iter().sum::<f64>() / block.len() as f64).collect();
            if self.excess.is_empty() {
                self.excess = std::mem::replace(&mut slopes, means);
            } else {
                slopes = means;
            }
        }
    }
}
