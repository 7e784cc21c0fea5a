//! Draws from a Zipf distribution, each in the same short time.

use rand::Rng;

/// A table by which one of n ranks is drawn in O(1), each with its own probability. Memory: 8 B a rank.
///
/// A draw takes one random number and looks at one place of the table; a place holds both its own share and who has the
/// rest of it. Shares are multiples of 2⁻³² of a place, so that a probability p is off by less than p × 2⁻³² + 2⁻³²/n.
///
/// Source: A. J. Walker, *An Efficient Method for Generating Discrete Random Variables with General Distributions*,
/// 1977, set up in O(n) as by M. D. Vose, 1991.
pub(super) struct Alias {
    /// In the upper half the share of the place that is its own, in the lower half the rank that has the others.
    places: Vec<u64>,
}

const WHOLE: f64 = 4_294_967_296.0;
const LOWER: u64 = 0xffff_ffff;

impl Alias {
    /// Rank r of `ranks`, from 0, with a probability in proportion to (r + 1)^−`exponent`, the same on every machine.
    /// O(ranks); takes another 8 B a rank while at it.
    pub(super) fn zipf(exponent: f64, ranks: u32) -> Self {
        // The platform's own power would differ in the last bits.
        let weight = |rank: u32| libm::pow(f64::from(rank) + 1.0, -exponent);
        let weights: Vec<f64> = (0..ranks).map(weight).collect();
        Self::falling(weights)
    }

    /// Ranks with weights above zero that never rise from one to the next.
    fn falling(mut shares: Vec<f64>) -> Self {
        // The smallest first, where they do not yet vanish in the sum.
        let mean = shares.iter().rev().sum::<f64>() / shares.len() as f64;
        shares.iter_mut().for_each(|share| *share /= mean);
        // Whoever has more than a place, all of them at the front, fills up the places of the others, from the last on.
        let rich = shares.partition_point(|&share| share >= 1.0);
        let mut places = vec![0; shares.len()];
        let mut giver = 0;
        for poor in (rich..shares.len()).rev() {
            let mut place = poor;
            while giver < rich {
                places[place] = share(shares[place]) | giver as u64;
                shares[giver] -= 1.0 - shares[place];
                if shares[giver] >= 1.0 {
                    break;
                }
                // Has become poor by giving, and is filled up by the next.
                place = giver;
                giver += 1;
            }
            if giver == rich {
                // Rounding has left nobody to give: then the place wants for nothing but rounding.
                places[place] = LOWER << 32 | place as u64;
            }
        }
        (giver..rich).for_each(|rank| places[rank] = LOWER << 32 | rank as u64);
        Self { places }
    }

    /// Draws a rank.
    #[inline]
    pub(super) fn draw(&self, random: &mut impl Rng) -> u64 {
        let product = u128::from(random.next_u64()) * self.places.len() as u128;
        let (index, within) = ((product >> 64) as u64, product as u64 >> 32);
        let place = self.places[index as usize];
        // Half of the draws go one way and half the other: a mask is faster than a branch that nobody can predict.
        let own = u64::from(within < place >> 32).wrapping_neg();
        (index & own) | (place & LOWER & !own)
    }
}

/// A share of a place, below 1, as the upper half of its entry.
fn share(share: f64) -> u64 {
    // `as` saturates: rounding may have made it less than nothing.
    ((share * WHOLE) as u64).min(LOWER) << 32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// The probability of every rank, from the table.
    fn probabilities(alias: &Alias) -> Vec<f64> {
        let mut all = vec![0.0; alias.places.len()];
        for (index, place) in alias.places.iter().enumerate() {
            let own = (place >> 32) as f64 / WHOLE;
            all[index] += own;
            all[(place & LOWER) as usize] += 1.0 - own;
        }
        all.iter().map(|sum| sum / alias.places.len() as f64).collect()
    }

    proptest! {
        #[test]
        fn every_rank_has_its_probability(exponent in 0f64..10.0, ranks in 1u32..3000) {
            let total: f64 = (1..=ranks).map(|rank| f64::from(rank).powf(-exponent)).sum();
            for (rank, found) in (1..).zip(probabilities(&Alias::zipf(exponent, ranks))) {
                let expected = f64::from(rank).powf(-exponent) / total;
                prop_assert!((found - expected).abs() < 1e-9, "{}: {} {}", rank, found, expected);
            }
        }
    }

    #[test]
    fn draws_follow_the_table() {
        let alias = Alias::zipf(1.0, 1000);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = vec![0u32; 1000];
        (0..1_000_000).for_each(|_| counts[alias.draw(&mut random) as usize] += 1);
        // Pearson's statistic of 999 degrees of freedom: 999 on average, with a standard deviation of 45.
        let expected = probabilities(&alias).into_iter().map(|probability| probability * 1e6);
        let sum: f64 = counts
            .iter()
            .zip(expected)
            .map(|(&count, expected)| (f64::from(count) - expected).powi(2) / expected)
            .sum();
        assert!((800.0..1200.0).contains(&sum), "{sum}");
    }
}
