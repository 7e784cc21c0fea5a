//! A mean of few numbers, and how far off it may be.

/// A mean over seeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end of the 95% confidence interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The mean of `values`; zero if there are none.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The 95% confidence interval of the mean of `values`, by Student's t; none for fewer than two of them.
pub fn interval(values: &[f64]) -> Option<Interval> {
    let freedom = values.len().checked_sub(1).filter(|freedom| *freedom > 0)?;
    let mean = mean(values);
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom as f64;
    let half = student(freedom) * (variance / values.len() as f64).sqrt();
    Some(Interval { low: mean - half, high: mean + half })
}

/// The 0.975 quantile of Student's t distribution, to three decimals.
///
/// For few degrees of freedom from the table of every textbook, beyond by the first terms of its expansion around the normal
/// quantile (Abramowitz and Stegun, 26.7.5).
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    if let Some(quantile) = TABLE.get(freedom - 1) {
        return *quantile;
    }
    let (z, n) = (1.959_963_985_f64, freedom as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / n + second / n.powi(2) + third / n.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_textbooks() {
        // Mean 5, variance 2.5 of five numbers: 5 ± 2.776 · √(2.5/5).
        let Interval { low, high } = interval(&[3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
        assert!((low - 3.037).abs() < 1e-3 && (high - 6.963).abs() < 1e-3, "{low} {high}");
        assert_eq!((interval(&[1.0]), interval(&[]), mean(&[])), (None, None, 0.0));
        for (freedom, expected) in [(1, 12.706), (11, 2.201), (15, 2.131), (30, 2.042), (100, 1.984)] {
            assert!((student(freedom) - expected).abs() < 6e-4, "{freedom}: {}", student(freedom));
        }
    }
}
