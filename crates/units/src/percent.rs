//! Percentages.

use std::fmt;

/// A ratio, printed as a percentage: one decimal, two below 1% where the first alone would hide the size, none from
/// 1000%. A share that would round to zero is `<0.01%`; a change or a negative one is `≈0%`. With `{:+}` a positive one has its
/// sign.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Percent(pub f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        let sign = match (percent < 0.0, f.sign_plus() && percent > 0.0) {
            (true, _) => "-",
            (false, true) => "+",
            (false, false) => "",
        };
        match percent.abs() {
            0.0 => f.write_str("0.0%"),
            size if size < 0.005 => f.write_str(if sign.is_empty() { "<0.01%" } else { "≈0%" }),
            size if size < 0.995 => write!(f, "{sign}{size:.2}%"),
            size if size < 999.95 => write!(f, "{sign}{size:.1}%"),
            size => write!(f, "{sign}{size:.0}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_print_with_the_digits_that_they_need() {
        let printed = [0.25, -0.0021, 1e-6, -1e-6, 0.0, 12.345].map(|ratio| Percent(ratio).to_string());
        assert_eq!(printed, ["25.0%", "-0.21%", "<0.01%", "≈0%", "0.0%", "1234%"]);
        assert_eq!([0.25, 0.0, 1e-6].map(|ratio| format!("{:+}", Percent(ratio))), ["+25.0%", "0.0%", "≈0%"]);
    }
}
