//! Prices that rise where too much is used and fall where too little is.

use super::blocks::{Blocks, Rounds};
use super::softness::Softness;

/// Number of halvings that look for the best price that is the same everywhere, at most.
const HALVINGS: usize = 40;

/// A problem that falls apart under prices.
pub trait Relaxation {
    /// Returns the least cost of all parts under the prices of what is scarce, with decisions softened. Writes to the excess of each scarce
    /// thing how much more than there is the parts use in every stretch, as a share of it.
    fn evaluate(&mut self, scarce: &mut [Scarce], soft: Softness) -> f64;
}

/// Something of which there is the same amount in every stretch, with a price in each.
#[derive(Clone, Debug)]
pub struct Scarce {
    /// Price in every stretch; zero before `from`.
    pub prices: Vec<f64>,
    /// Sums of the prices of the stretches before each one, and of all: one more than there are stretches.
    pub sums: Vec<f64>,
    /// Excess in every stretch under these prices, as a share of what there is.
    pub excess: Vec<f64>,
    there: f64,
    /// Worth of the whole amount at these prices.
    worth: f64,
    /// Stretch from which on there are prices.
    from: usize,
    highest: Highest,
    /// The best price that is the same wherever there is one at first.
    level: f64,
    /// 1 in the stretches that have a price at first, 0 in those in which there is enough for nothing.
    busy: Vec<f64>,
    /// Prices as a sum of blocks, in units of `level`.
    blocks: Blocks,
}

/// Bound on the first prices, which are the same in every busy stretch.
#[derive(Clone, Copy, Debug)]
pub enum Highest {
    /// Cost of the whole amount in one stretch.
    Stretch(f64),
    /// Cost of the whole amount in all busy stretches together.
    BusyStretches(f64),
}

impl Scarce {
    /// So much of it in each of so many stretches, with first prices up to `highest`.
    pub fn new(there: f64, stretches: usize, highest: Highest) -> Self {
        Self {
            prices: vec![0.0; stretches],
            sums: vec![0.0; stretches + 1],
            excess: vec![0.0; stretches],
            there,
            worth: 0.0,
            from: 0,
            highest,
            level: 0.0,
            busy: vec![0.0; stretches],
            blocks: Blocks::new(stretches),
        }
    }

    /// The same, with prices from stretch `from` on.
    #[must_use]
    pub fn priced_from(self, from: usize) -> Self {
        Self { from, ..self }
    }

    /// The best price that is the same in every busy stretch: the scale of prices.
    pub fn level(&self) -> f64 {
        self.level
    }

    /// Sums up the terms to prices.
    fn price(&mut self) {
        let Self { prices, sums, from, level, .. } = self;
        let mut total = 0.0;
        let places = prices.iter_mut().zip(&mut sums[1..]);
        for (stretch, ((price, sum), terms)) in places.zip(self.blocks.prices(&self.busy)).enumerate() {
            *price = if stretch < *from { 0.0 } else { f64::max(terms, 0.0) * *level };
            total += *price;
            *sum = total;
        }
        self.worth = self.there * total;
    }
}

/// Sums of the prices of the stretches before each one, and of all.
pub fn sums(prices: &[f64]) -> Vec<f64> {
    let mut sum = 0.0;
    let through = prices.iter().map(|price| {
        sum += price;
        sum
    });
    std::iter::once(0.0).chain(through).collect()
}

/// The best prices so far.
#[derive(Clone, Debug)]
pub struct Best {
    /// The lower bound that they prove, as far as floating point goes.
    pub lower: f64,
    /// Prices of each scarce thing in every stretch.
    pub prices: Vec<Vec<f64>>,
}

/// The search for prices.
#[derive(Debug)]
pub struct Ascent<R> {
    relaxation: R,
    scarce: Vec<Scarce>,
    /// Length of the first step, in levels.
    step: f64,
    rounds: Rounds,
    best: Best,
}

impl<R: Relaxation> Ascent<R> {
    /// Begins with the best prices that are the same wherever something is scarce, as far as `go_on` lets it look; they are looked for in
    /// turn, `turns` times. The first step has the length `step`, in units of these prices.
    pub fn new(
        relaxation: R,
        scarce: Vec<Scarce>,
        step: f64,
        turns: usize,
        go_on: impl Fn() -> bool,
    ) -> Self {
        let prices = scarce.iter().map(|scarce| scarce.prices.clone()).collect();
        let best = Best { lower: f64::NEG_INFINITY, prices };
        let mut ascent = Self { relaxation, scarce, step, rounds: Rounds::default(), best };
        ascent.evaluate(0.0);
        for Scarce { busy, excess, .. } in &mut ascent.scarce {
            *busy = excess.iter().map(|&excess| f64::from(u8::from(excess > 0.0))).collect();
        }
        for _ in 0..turns {
            (0..ascent.scarce.len()).for_each(|index| ascent.find_level(index, &go_on));
        }
        ascent
    }

    /// The best prices so far.
    pub fn best(&self) -> &Best {
        &self.best
    }

    /// What is scarce, under the current prices.
    pub fn scarce(&self) -> &[Scarce] {
        &self.scarce
    }

    /// Looks for the price at which as much is used as there is, on average over busy stretches, by halving the interval of its logarithm.
    fn find_level(&mut self, index: usize, go_on: &impl Fn() -> bool) {
        let Scarce { busy, there, highest, .. } = &self.scarce[index];
        let busy: f64 = busy.iter().sum();
        if busy == 0.0 {
            return;
        }
        let highest = match *highest {
            Highest::Stretch(highest) => highest / there,
            Highest::BusyStretches(highest) => highest / (there * busy),
        };
        let (mut low, mut high) = (0.0, highest);
        for _ in 0..HALVINGS {
            let level = if low == 0.0 { high / 8.0 } else { f64::sqrt(low * high) };
            self.scarce[index].level = level;
            if high < low * 1.2 || !go_on() {
                break;
            }
            self.evaluate(0.0);
            let Scarce { busy, excess, .. } = &self.scarce[index];
            let excess: f64 = excess.iter().zip(busy).map(|(excess, busy)| excess * busy).sum();
            *(if excess > 0.0 { &mut low } else { &mut high }) = level;
        }
    }

    /// Evaluates the current prices, with decisions smoothed over cost differences below `smooth`.
    fn evaluate(&mut self, smooth: f64) {
        self.scarce.iter_mut().for_each(Scarce::price);
        let cost = self.relaxation.evaluate(&mut self.scarce, Softness::new(smooth));
        let lower = self.scarce.iter().fold(cost, |lower, scarce| lower - scarce.worth);
        if lower > self.best.lower {
            self.best.lower = lower;
            for (best, Scarce { prices, .. }) in self.best.prices.iter_mut().zip(&self.scarce) {
                best.copy_from_slice(prices);
            }
        }
    }

    /// Makes so many steps, as long as `go_on` says so; it is asked before every one. Decisions are smoothed over cost differences below
    /// `smooth` at first, and over less and less later.
    pub fn advance(&mut self, steps: u64, smooth: f64, go_on: impl Fn() -> bool) {
        for _ in 0..steps {
            if !go_on() {
                break;
            }
            let (care, left) = self.rounds.care();
            self.evaluate(smooth * care * left * left);
            let length = self.step * care * left * left.sqrt();
            for Scarce { blocks, excess, .. } in &mut self.scarce {
                blocks.step(excess, length);
            }
            self.rounds.count();
        }
        // What the last step has come to.
        self.evaluate(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three clients want one unit each of a thing of which there is one; they save 1, 2 and 4 by having it.
    struct Clients;

    impl Relaxation for Clients {
        fn evaluate(&mut self, scarce: &mut [Scarce], soft: Softness) -> f64 {
            let Scarce { prices, excess, .. } = &mut scarce[0];
            let ways = [1.0, 2.0, 4.0].map(|saved| soft.choose(prices[0], saved));
            excess[0] = ways.iter().map(|(_, share)| share).sum::<f64>() - 1.0;
            ways.iter().map(|(cost, _)| cost).sum()
        }
    }

    #[test]
    fn the_price_of_one_thing_lets_the_neediest_have_it() {
        let scarce = Scarce::new(1.0, 1, Highest::Stretch(10.0));
        let mut ascent = Ascent::new(Clients, vec![scarce], 0.3, 1, || true);
        ascent.advance(200, 0.1, || true);
        let Best { lower, prices } = ascent.best();
        // At a price from 2 to 4, two do without, which costs 1 + 2, and the third pays what the thing is worth.
        assert!((lower - 3.0).abs() < 1e-9, "{lower}");
        assert!((2.0..=4.0).contains(&prices[0][0]), "{prices:?}");
    }

    #[test]
    fn sums_belong_to_their_prices() {
        let scarce = Scarce::new(1.0, 3, Highest::Stretch(10.0)).priced_from(1);
        let mut scarce = Scarce { level: 2.0, busy: vec![1.0; 3], ..scarce };
        scarce.price();
        assert_eq!((&scarce.prices[..], scarce.worth), (&[0.0, 2.0, 2.0][..], 4.0));
        assert_eq!(scarce.sums, [0.0, 0.0, 2.0, 4.0]);
        assert_eq!(sums(&scarce.prices), scarce.sums);
    }

    #[test]
    fn nothing_is_tried_once_it_must_stop() {
        let mut ascent =
            Ascent::new(Clients, vec![Scarce::new(1.0, 1, Highest::Stretch(10.0))], 0.3, 1, || false);
        ascent.advance(5, 0.1, || false);
        assert!(ascent.best().lower <= 3.0);
    }
}
