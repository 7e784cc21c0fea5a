//! What is counted, and how distributions are summed up.

use hdrhistogram::Histogram;

/// The distribution of whole-numbered values, its sum exact and its quantiles within 0.1% up to 2^62.
#[derive(Clone, Debug)]
pub struct Distribution {
    histogram: Histogram<u64>,
    count: u64,
    zeros: u64,
    sum: u128,
    max: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        let histogram = Histogram::new(3).expect("three significant digits are allowed");
        Self { histogram, count: 0, zeros: 0, sum: 0, max: 0 }
    }
}

impl Distribution {
    /// Adds one value. O(1).
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        // Hits of a cache take no time and are most of what comes here: worth a way of their own.
        if value == 0 {
            self.zeros += 1;
            return;
        }
        self.sum += u128::from(value);
        self.max = self.max.max(value);
        // Beyond 2^62 (146 years in ns) only the sum and the maximum stay exact.
        self.histogram.record(value.min(1 << 62)).expect("the histogram grows by itself");
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum of the values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The mean; zero where there are no values.
    pub fn mean(&self) -> f64 {
        ratio(self.sum, self.count)
    }

    /// The smallest value that at least the share `q` of all values does not exceed, up to 0.1% above the true one;
    /// zero where there are no values.
    ///
    /// `q` lies within 0 and 1.
    pub fn quantile(&self, q: f64) -> u64 {
        let rank = ((q * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        if rank <= self.zeros {
            return 0;
        }
        // Half a rank below, so that no rounding reaches the next.
        let within = ((rank - self.zeros) as f64 - 0.5) / self.histogram.len() as f64;
        self.histogram.value_at_quantile(within).min(self.max)
    }

    /// The cumulative distribution in about a hundred points: values, and the share of all values up to each.
    pub fn cumulative(&self) -> Vec<(u64, f64)> {
        let mut points = Vec::new();
        if self.zeros > 0 {
            points.push((0, self.zeros as f64 / self.count as f64));
        }
        let step = self.histogram.len() / 100;
        let (mut seen, mut next) = (0, 0);
        for bucket in self.histogram.iter_recorded() {
            seen += bucket.count_since_last_iteration();
            if seen >= next || seen == self.histogram.len() {
                let value = self.histogram.highest_equivalent(bucket.value_iterated_to()).min(self.max);
                points.push((value, (self.zeros + seen) as f64 / self.count as f64));
                next = seen + step.max(1);
            }
        }
        points
    }
}

/// `total / count`; zero where nothing was counted.
pub fn ratio(total: u128, count: u64) -> f64 {
    if count == 0 { 0.0 } else { total as f64 / count as f64 }
}

/// The middle one of `values`, or the mean of both in the middle; 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[odd / 2],
        even => f64::midpoint(values[even / 2 - 1], values[even / 2]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_distribution_is_all_zeros() {
        let empty = Distribution::default();
        assert_eq!((empty.count(), empty.sum(), empty.quantile(0.5)), (0, 0, 0));
        assert_eq!(empty.mean(), 0.0);
    }

    #[test]
    fn the_cumulative_distribution_ends_at_one() {
        let mut distribution = Distribution::default();
        [0, 0, 5, 7, 7].into_iter().for_each(|value| distribution.record(value));
        assert_eq!(distribution.cumulative(), [(0, 0.4), (5, 0.6), (7, 1.0)]);
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_values(
            mut values in prop::collection::vec(prop_oneof![Just(0), 0..3000u64, 0..1u64 << 40], 1..300),
            q in 0.0..=1.0f64,
        ) {
            let mut distribution = Distribution::default();
            values.iter().for_each(|&value| distribution.record(value));
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).max(1);
            let exact = values[rank - 1];
            let found = distribution.quantile(q);
            prop_assert!(found >= exact && found as f64 <= exact as f64 * 1.001, "{found} for {exact}");
            prop_assert_eq!(distribution.sum(), values.iter().map(|&value| u128::from(value)).sum::<u128>());
        }
    }

    #[test]
    fn medians() {
        assert_eq!([median(&[]), median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0])], [0.0, 2.0, 2.5]);
    }
}
