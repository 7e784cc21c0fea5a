//! Bounds that stay true when they are rounded, in sentences and in tables: a lower bound downwards, an upper one upwards.

use trueplane_units::Nanos;

use crate::report::Cell;

/// Whether a rounded number may be smaller or larger than what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toward {
    /// Rounding of a number that is at least so much.
    Down,
    /// Rounding of a number that is at most so much.
    Up,
}

/// Decimals beyond these mean nothing: gaps are quotients of whole numbers, in 64 bits of floating point.
const MOST_DECIMALS: usize = 9;

impl Toward {
    /// `value` in so many decimals. What is next to such a number but for the errors of floating point is that number.
    fn decimals(self, value: f64, decimals: usize) -> f64 {
        let scale = 10f64.powi(decimals as i32);
        let nearest = (value * scale).round() / scale;
        if (value - nearest).abs() <= 1e-12 * value.abs().max(1.0) {
            return nearest;
        }
        match self {
            Toward::Down => (value * scale).floor() / scale,
            Toward::Up => (value * scale).ceil() / scale,
        }
    }

    /// A share in percent, with as many decimals as [`Percent`](trueplane_units::Percent) has.
    pub fn percent(self, share: f64) -> String {
        self.in_percent(100.0 * share, usual_decimals(share))
    }

    /// A share as a cell; none if it is not finite.
    pub fn ratio_cell(self, share: f64) -> Cell {
        if share.is_finite() {
            Cell::Bound { printed: self.percent(share), value: share }
        } else {
            Cell::Missing
        }
    }

    /// A change against a base as a cell, with its sign; none if it is not finite.
    pub fn change_cell(self, share: f64) -> Cell {
        if !share.is_finite() {
            return Cell::Missing;
        }
        let printed = self.percent(share);
        let sign = if share > 0.0 && printed != ZERO { "+" } else { "" };
        Cell::Bound { printed: format!("{sign}{printed}"), value: share }
    }

    /// The same with so many more decimals that it can be told from `other`, to which it is compared.
    pub fn percent_beside(self, share: f64, other: f64) -> String {
        let told_apart = |&decimals: &usize| {
            let [share, other] = [share, other].map(|share| format!("{:.decimals$}", 100.0 * share));
            share != other
        };
        let decimals = (usual_decimals(share)..MOST_DECIMALS).find(told_apart);
        self.in_percent(100.0 * share, decimals.unwrap_or(MOST_DECIMALS))
    }

    fn in_percent(self, percent: f64, decimals: usize) -> String {
        let rounded = self.decimals(percent, decimals);
        if rounded == 0.0 { ZERO.to_owned() } else { format!("{rounded:.decimals$}%") }
    }

    /// A time in ns, in four digits.
    pub fn nanos(self, time: f64) -> Nanos {
        let whole = self.decimals(time, 0) as u64;
        // What is longer than 10,000 s is printed in whole seconds.
        let digits = whole.checked_ilog10().unwrap_or(0);
        let step = 10u64.pow(digits.saturating_sub(3).min(9));
        let rounded = match self {
            Toward::Down => whole - whole % step,
            Toward::Up => whole.div_ceil(step).saturating_mul(step),
        };
        Nanos(rounded)
    }

    /// A mean number of steps.
    pub fn steps(self, steps: f64) -> String {
        let decimals = decimals_of_steps(steps);
        format!("{:.decimals$} steps", self.decimals(steps, decimals))
    }
}

/// A mean number of steps that is no bound.
pub fn nearest_steps(steps: f64) -> String {
    format!("{steps:.*} steps", decimals_of_steps(steps))
}

fn decimals_of_steps(steps: f64) -> usize {
    if steps < 10.0 { 3 } else { 1 }
}

/// A share that is rounded to nothing.
const ZERO: &str = "0.0%";

fn usual_decimals(share: f64) -> usize {
    match 100.0 * share.abs() {
        0.0..0.995 => 2,
        0.995..999.95 => 1,
        _ => 0,
    }
}

/// A percentage as it was asked for, in millionths of a percent at the finest.
pub fn as_asked(share: f64) -> String {
    format!("{}%", (share * 1e8).round() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_at_most_so_much_is_rounded_up_and_what_is_at_least_down() {
        for (share, down, up) in [
            (0.0, "0.0%", "0.0%"),
            (0.003, "0.30%", "0.30%"),
            (0.00301, "0.30%", "0.31%"),
            (0.000_01, "0.0%", "0.01%"),
            (0.055_001, "5.5%", "5.6%"),
            (-0.0301, "-3.1%", "-3.0%"),
            (12.3456, "1234%", "1235%"),
        ] {
            assert_eq!((Toward::Down.percent(share), Toward::Up.percent(share)), (down.into(), up.into()));
        }
    }

    #[test]
    fn a_cell_says_what_a_sentence_says() {
        let printed = |cell| match cell {
            Cell::Bound { printed, value } => (printed, value),
            other => panic!("{other:?} is no bound"),
        };
        assert_eq!(printed(Toward::Up.change_cell(0.463_4)), ("+46.4%".into(), 0.463_4));
        assert_eq!(printed(Toward::Down.change_cell(0.463_7)), ("+46.3%".into(), 0.463_7));
        assert_eq!(printed(Toward::Down.change_cell(0.000_01)), ("0.0%".into(), 0.000_01));
        assert_eq!(printed(Toward::Up.ratio_cell(0.000_1)), ("0.01%".into(), 0.000_1));
        assert_eq!(Toward::Up.ratio_cell(f64::INFINITY), Cell::Missing);
    }

    #[test]
    fn what_differs_is_told_apart() {
        for (gap, asked, said) in [
            (0.057, 0.055, "5.7%"),
            (0.055_001, 0.055, "5.5001%"),
            (0.001_02, 0.001, "0.102%"),
            (1e-9, 0.0, "0.0000001%"),
        ] {
            assert_eq!(Toward::Up.percent_beside(gap, asked), said);
        }
        assert_eq!([0.0, 0.001, 0.055, 1.0].map(as_asked), ["0%", "0.1%", "5.5%", "100%"]);
    }

    #[test]
    fn means_stay_bounds() {
        for (time, down, up) in [
            (0.0, "0ns", "0ns"),
            (4.2, "4ns", "5ns"),
            (1_234.0, "1.234us", "1.234us"),
            (12_345.0, "12.34us", "12.35us"),
            (99_999_999.0, "99.99ms", "100ms"),
            (12_345_678_900_000.0, "12345s", "12346s"),
        ] {
            let said = [Toward::Down, Toward::Up].map(|toward| toward.nanos(time).to_string());
            assert_eq!(said, [down, up]);
        }
        assert_eq!(
            (Toward::Down.steps(12.39), Toward::Up.steps(1.2301)),
            ("12.3 steps".into(), "1.231 steps".into())
        );
    }
}
