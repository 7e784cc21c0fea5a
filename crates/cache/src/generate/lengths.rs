//! Heavy-tailed session lengths.

use rand::{Rng, RngExt};

/// Distribution of the number of requests in a session: a power law cut off on both sides.
///
/// The length is the whole part of `X`, where `X` has density ∝ x^(−`tail`−1) on [`least`, `most` + 1). With a tail
/// exponent below 2 the variance grows with the cut-off: few sessions carry much of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lengths {
    /// The tail exponent, above 0: the chance of more than x requests falls as x^(−`tail`).
    pub tail: f64,
    /// The shortest session, in requests; at least 1.
    pub least: u32,
    /// The longest session, in requests; at least `least`.
    pub most: u32,
}

impl Lengths {
    /// The mean number of requests per session, exactly.
    ///
    /// Cost: O(`most` − `least`).
    pub fn mean(&self) -> f64 {
        let (low, high) = self.bounds();
        let whole = low.powf(-self.tail) - high.powf(-self.tail);
        // The mean of a whole number is the sum over k of the chance that it is at least k.
        let beyond_least: f64 = (u64::from(self.least) + 1..=u64::from(self.most))
            .map(|k| ((k as f64).powf(-self.tail) - high.powf(-self.tail)) / whole)
            .sum();
        low + beyond_least
    }

    /// The length of a session that starts.
    pub(super) fn draw(&self, rng: &mut impl Rng) -> u32 {
        self.draw_with_tail(self.tail, rng) as u32
    }

    /// Draws the number of requests that a session still has to come when it is met at a random instant.
    ///
    /// A session is met in one of its `length − 1` gaps: long sessions are met more often, in proportion to that
    /// number, and each gap is as likely as the others. At least one session length must be above 1.
    pub(super) fn draw_remaining(&self, rng: &mut impl Rng) -> u32 {
        loop {
            // Weighting the density by x lowers the tail exponent by one; the rejection turns the weight into
            // (length − 1).
            let x = self.draw_with_tail(self.tail - 1.0, rng);
            let gaps = x.floor() - 1.0;
            if rng.random::<f64>() * x < gaps {
                return rng.random_range(1..=gaps as u32);
            }
        }
    }

    fn bounds(&self) -> (f64, f64) {
        (f64::from(self.least), f64::from(self.most) + 1.0)
    }

    /// Draws from the density ∝ x^(−`tail`−1) between the bounds by inverting its distribution; any `tail`.
    fn draw_with_tail(&self, tail: f64, rng: &mut impl Rng) -> f64 {
        let (low, high) = self.bounds();
        let u: f64 = rng.random();
        let x = if tail.abs() < 1e-9 {
            low * (high / low).powf(u)
        } else {
            let (at_low, at_high) = (low.powf(-tail), high.powf(-tail));
            (at_low + u * (at_high - at_low)).powf(-1.0 / tail)
        };
        // Rounding must not lead out of the interval.
        x.clamp(low, f64::from(self.most) + 0.999)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn a_single_length_is_its_own_mean() {
        let lengths = Lengths { tail: 1.5, least: 7, most: 7 };
        assert_eq!(lengths.mean(), 7.0);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        assert!((0..100).all(|_| lengths.draw(&mut rng) == 7));
    }

    #[test]
    fn draws_stay_within_the_bounds_and_have_the_stated_mean() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        for lengths in [
            Lengths { tail: 1.3, least: 1, most: 50 },
            Lengths { tail: 1.0, least: 2, most: 200 },
            Lengths { tail: 0.5, least: 3, most: 40 },
        ] {
            let draws: Vec<u32> = (0..200_000).map(|_| lengths.draw(&mut rng)).collect();
            assert!(draws.iter().all(|&length| (lengths.least..=lengths.most).contains(&length)));
            let mean = draws.iter().map(|&length| f64::from(length)).sum::<f64>() / draws.len() as f64;
            assert!(
                (mean / lengths.mean() - 1.0).abs() < 0.02,
                "{lengths:?}: {mean}, not {}",
                lengths.mean()
            );
        }
    }

    #[test]
    fn the_remaining_length_is_that_of_a_session_met_at_random() {
        // The mean number of requests to come is E[G(G + 1)] / 2 E[G], where G = length − 1 is the number of gaps.
        let lengths = Lengths { tail: 1.3, least: 1, most: 60 };
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
        let (mut weighted, mut gaps) = (0.0, 0.0);
        for _ in 0..400_000 {
            let g = f64::from(lengths.draw(&mut rng)) - 1.0;
            weighted += g * (g + 1.0) / 2.0;
            gaps += g;
        }
        let expected = weighted / gaps;
        let mean = (0..400_000).map(|_| f64::from(lengths.draw_remaining(&mut rng))).sum::<f64>() / 400_000.0;
        assert!((mean / expected - 1.0).abs() < 0.02, "{mean}, not {expected}");
    }
}
