//! Long times as people say them.

use std::fmt;

use crate::{DIGITS, Nanos, digits};

/// A time in ns as people say long ones, in three digits: `1.5ms`, `12.3s`, from two minutes on `26.8min`, from two hours on `4.5h`,
/// from two days on `8.02d`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct LongTime(pub f64);

impl fmt::Display for LongTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1e9;
        let (unit, scale) = match seconds {
            0.0 => return f.pad("0s"),
            // `as` saturates; it is less than a second.
            seconds if seconds < 1.0 => {
                return f.pad(&Nanos((three_digits(seconds) * 1e9).round() as u64).to_string());
            }
            seconds if seconds < 120.0 => ("s", 1.0),
            seconds if seconds < 7_200.0 => ("min", 60.0),
            seconds if seconds < 172_800.0 => ("h", 3_600.0),
            _ => ("d", 86_400.0),
        };
        f.pad(&format!("{}{unit}", digits(three_digits(seconds / scale), DIGITS)))
    }
}

/// The number of three significant digits that is next to `number`, or, from 1000 on, the next whole one.
fn three_digits(number: f64) -> f64 {
    let scale = 10f64.powi((2 - number.abs().log10().floor() as i32).clamp(0, 300));
    (number * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_times_are_said_as_people_do() {
        let said = [0.0, 0.0015, 0.12345, 1.0, 59.96, 119.4, 120.0, 5_400.0, 7_200.0, 86_400.0, 1e6, 1e9];
        let expected =
            ["0s", "1.5ms", "123ms", "1s", "60s", "119s", "2min", "90min", "2h", "24h", "11.6d", "11574d"];
        assert_eq!(said.map(|seconds| LongTime(seconds * 1e9).to_string()), expected);
        assert_eq!(LongTime(12.3).to_string(), "12ns");
    }
}
