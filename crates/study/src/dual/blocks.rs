//! Prices as sums over blocks of stretches, and the steps that they take.

/// log₂ of how many blocks of one level make a block of the next.
const BRANCHING: u32 = 2;
/// Factors by which a term's mean slope, and its mean square of the slope, remember the past.
const MEMORY: [f64; 2] = [0.9, 0.99];
/// Slopes, as shares of what there is, below which steps get shorter.
const FLAT: f64 = 1e-5;
/// Factor by which steps and smoothing get smaller from round to round.
const CARE: f64 = 0.5;
/// Steps of the first round.
const STEPS: u64 = 100;

/// Prices as sums of terms, one for each block of stretches, from single ones up to a few that are all.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    levels: Vec<Vec<Term>>,
}

/// The part that a block has in the prices of its stretches.
#[derive(Clone, Copy, Debug, Default)]
struct Term {
    price: f64,
    slope: f64,
    square: f64,
}

impl Blocks {
    /// All prices zero.
    pub(super) fn new(stretches: usize) -> Self {
        let mut levels = Vec::new();
        let mut blocks = stretches;
        while blocks > 8 || levels.is_empty() {
            levels.push(vec![Term::default(); blocks]);
            blocks = blocks.div_ceil(1 << BRANCHING);
        }
        Self { levels }
    }

    /// The price of each stretch, on top of what it has in `base`.
    #[inline]
    pub(super) fn prices<'a>(&'a self, base: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        // What the terms of all larger blocks give to each block of a level.
        let mut above = vec![0.0; self.levels.last().map_or(0, Vec::len)];
        for pair in self.levels.windows(2).rev() {
            let block = |block: usize| above[block >> BRANCHING] + pair[1][block >> BRANCHING].price;
            above = (0..pair[0].len()).map(block).collect();
        }
        self.levels[0].iter().zip(base).zip(above).map(|((term, base), above)| base + above + term.price)
    }

    /// Moves every term along its slope, by about `length`. The slope in the price of each stretch is what is used
    /// there more than there is, as a share of it.
    #[inline]
    pub(super) fn step(&mut self, slopes: &[f64], length: f64) {
        let mut means;
        let mut slopes = slopes;
        for terms in &mut self.levels {
            for (term, slope) in terms.iter_mut().zip(slopes) {
                term.slope += (1.0 - MEMORY[0]) * (slope - term.slope);
                term.square += (1.0 - MEMORY[1]) * (slope * slope - term.square);
                term.price += length * term.slope / (term.square.sqrt() + FLAT);
            }
            let blocks = slopes.chunks(1 << BRANCHING);
            means = blocks.map(|block| block.iter().sum::<f64>() / block.len() as f64).collect::<Vec<f64>>();
            slopes = &means;
        }
    }
}

/// Rounds of the ascent, each with smaller steps than the one before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    round: i32,
    /// Steps made of the round.
    made: u64,
}

impl Rounds {
    /// Factor for the steps of this round, and the part of the round that is left.
    #[inline]
    pub(super) fn care(self) -> (f64, f64) {
        (CARE.powi(self.round), 1.0 - self.made as f64 / self.all() as f64)
    }

    /// A step has been made.
    #[inline]
    pub(super) fn count(&mut self) {
        self.made += 1;
        if self.made == self.all() {
            (self.round, self.made) = (self.round + 1, 0);
        }
    }

    fn all(self) -> u64 {
        STEPS << self.round.min(20)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A concave function with a kink at every price that is wanted.
    #[test]
    fn blocks_find_prices_of_any_shape() {
        let wanted: Vec<f64> =
            (0..1000).map(|stretch| f64::from(u8::from(stretch > 600)) * 7.0 + 3.0).collect();
        let (mut blocks, mut rounds) = (Blocks::new(wanted.len()), Rounds::default());
        let base = vec![1.0; wanted.len()];
        let mut prices = Vec::new();
        for _ in 0..1500 {
            prices = blocks.prices(&base).collect();
            let slopes: Vec<f64> =
                wanted.iter().zip(&prices).map(|(wanted, price)| (wanted - price).signum()).collect();
            let (care, left) = rounds.care();
            blocks.step(&slopes, care * left);
            rounds.count();
        }
        let worst =
            wanted.iter().zip(&prices).map(|(wanted, price)| (wanted - price).abs()).fold(0.0, f64::max);
        assert!(worst < 0.5, "{worst}");
    }
}
