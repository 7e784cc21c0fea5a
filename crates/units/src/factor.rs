//! Factors, such as the load of a line.

use std::fmt;
use std::str::FromStr;

use crate::{Datum, Shape, Value, scale_decimal, scale_share, unexpected};

/// Millionths in one.
const ONE: u64 = 1_000_000;

/// The largest factor, in millionths: a million.
const MOST: u64 = ONE * ONE;

/// A factor above zero, in millionths: people write `2`, `0.5` or `50%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor(u64);

impl Factor {
    /// The factor of so many millionths, if it is above zero and at most a million.
    pub const fn of_millionths(millionths: u64) -> Option<Self> {
        match millionths {
            1..=MOST => Some(Self(millionths)),
            _ => None,
        }
    }

    /// The factor in millionths.
    pub fn millionths(self) -> u64 {
        self.0
    }

    /// The factor as a number.
    pub fn number(self) -> f64 {
        self.0 as f64 / ONE as f64
    }
}

const EXPECTED: &str = "a factor of 0.000001 to 1000000 such as 2, 0.5 or 50%";

impl FromStr for Factor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let millionths = scale_share(text, ONE).or_else(|| scale_decimal(text, ONE));
        let factor = millionths.and_then(Self::of_millionths);
        factor.ok_or_else(|| unexpected(EXPECTED, text))
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.number().to_string())
    }
}

impl Value for Factor {
    const SHAPE: Shape = Shape::NUMBER;

    fn expected() -> String {
        EXPECTED.to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn datum(&self) -> Datum {
        Datum::Real(self.number())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_above_zero() {
        let millionths = |text: &str| text.parse::<Factor>().map(Factor::millionths);
        assert_eq!(
            ["2", "0.5", "1000000", "90%", "250%", "0.0001%"].map(millionths),
            [2_000_000, 500_000, 1_000_000_000_000, 900_000, 2_500_000, 1].map(Ok)
        );
        for bad in ["0", "", "_", "-1", "0.0000001", "2x", "1e99", "1000001", "NaN", "0%", "%", "x%"] {
            assert_eq!(Factor::parse(bad), Err(unexpected(EXPECTED, bad)));
        }
        for text in ["2", "1.000001", "0.000001", "1000000"] {
            assert_eq!(text.parse::<Factor>().unwrap().show(), text);
        }
    }
}
