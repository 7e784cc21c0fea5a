//! Decisions that are a little undecided.

/// Smoothing of decisions that prices bring about: where two ways cost nearly the same, a share takes each.
///
/// Smoothed costs are never above the smaller one, so that a bound stays one.
#[derive(Clone, Copy, Debug)]
pub struct Softness {
    smooth: f64,
    halved: f64,
}

impl Softness {
    /// Smooths over cost differences below `smooth`; not at all if it is zero.
    pub fn new(smooth: f64) -> Self {
        Self { smooth, halved: 0.5 / smooth }
    }

    /// Cost of choosing between two ways, and the share that takes the first: none of it if they cost the same and nothing is smoothed.
    #[inline]
    pub fn choose(self, first: f64, second: f64) -> (f64, f64) {
        if self.smooth == 0.0 {
            return (first.min(second), f64::from(u8::from(first < second)));
        }
        let share = (0.5 + (second - first) * self.halved).clamp(0.0, 1.0);
        (second + share * (first - second) - self.smooth * share * (1.0 - share), share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothed_costs_are_below_the_smaller_one() {
        let soft = Softness::new(2.0);
        for (first, second) in [(1.0, 1.0), (1.0, 2.5), (4.0, 1.0), (0.0, 2.0)] {
            let (cost, share) = soft.choose(first, second);
            assert!(
                cost <= f64::min(first, second) && (0.0..=1.0).contains(&share),
                "{first} {second}: {cost}"
            );
            assert_eq!(share > 0.5, first < second);
        }
        assert_eq!(Softness::new(0.0).choose(1.0, 1.0), (1.0, 0.0));
        assert_eq!(Softness::new(0.0).choose(1.0, 1.5), (1.0, 1.0));
    }
}
