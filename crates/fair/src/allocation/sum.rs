//! Sums that do not lose what is small beside what is large.

/// A sum as a number and what it is off by, some 32 digits together (Knuth, *The Art of Computer Programming* 2, §4.2.2, theorem B).
///
/// What was added and taken away again leaves nothing that matters: a sweep over sorted events may keep its sums from one to the next
/// instead of summing up anew.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    /// Adds a finite number.
    pub(super) fn add(&mut self, number: f64) {
        let (high, error) = exact(self.high, number);
        (self.high, self.low) = exact(high, self.low + error);
    }

    /// Takes a finite number away.
    pub(super) fn take(&mut self, number: f64) {
        self.add(-number);
    }

    /// The sum.
    pub(super) fn value(self) -> f64 {
        self.high + self.low
    }

    /// The sum less `other`.
    pub(super) fn less(mut self, other: Sum) -> Self {
        self.add(-other.high);
        self.add(-other.low);
        self
    }
}

/// `a + b` rounded, and what rounding took.
fn exact(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_and_went_leaves_nothing() {
        let mut sum = Sum::default();
        let numbers: Vec<f64> = (1..2000).map(|n| 1e3 / f64::from(n)).collect();
        sum.add(1e-9);
        numbers.iter().for_each(|number| sum.add(*number));
        numbers.iter().rev().for_each(|number| sum.take(*number));
        assert!((sum.value() - 1e-9).abs() < 1e-24, "{sum:?}");
        let mut plain = 1e-9;
        numbers.iter().for_each(|number| plain += number);
        numbers.iter().rev().for_each(|number| plain -= number);
        assert!((plain - 1e-9).abs() > 1e-15, "{plain}: a plain sum does leave something");
    }

    #[test]
    fn sums_are_subtracted() {
        let (mut a, mut b) = (Sum::default(), Sum::default());
        [1.0, 1e-20, 1e-20].into_iter().for_each(|number| a.add(number));
        b.add(1.0);
        assert_eq!(a.less(b).value(), 2e-20);
    }
}
