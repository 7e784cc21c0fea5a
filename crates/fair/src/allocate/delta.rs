//! δ as people write it.

use std::fmt;
use std::str::FromStr;

/// What is left and what is forgotten, of one, as people say it: `0.9`, or by what is forgotten, `1-1e-6`. `None` if that is no number, or
/// one below 0 or above 1, or nothing is forgotten.
///
/// Both, as a number close to 1 cannot say how close.
pub fn left_and_forgotten(text: &str) -> Option<(f64, f64)> {
    let number = |part: &str| part.trim().parse::<f64>().ok();
    let (left, forgotten) = match text.trim().strip_prefix("1-") {
        Some(forgotten) => number(forgotten).map(|forgotten| (1.0 - forgotten, forgotten))?,
        None => number(text).map(|left| (left, 1.0 - left))?,
    };
    ((0.0..=1.0).contains(&left) && forgotten > 0.0).then_some((left, forgotten))
}

/// What is left of a commitment after a stage: from 0 to below 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Delta(f64);

impl Delta {
    /// δ as a number; none if it is not from 0 to below 1.
    pub fn new(delta: f64) -> Option<Self> {
        (0.0..1.0).contains(&delta).then_some(Self(delta))
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }
}

impl FromStr for Delta {
    type Err = String;

    /// `0.9`, or by what is forgotten: `1-1e-6`.
    fn from_str(text: &str) -> Result<Self, String> {
        let found = left_and_forgotten(text).and_then(|(left, _)| Delta::new(left));
        found.ok_or_else(|| format!("expected δ from 0 to below 1 such as 0.9 or 1-1e-6, found \"{text}\""))
    }
}

/// In the fewest digits that are read as the same number.
impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_by_what_is_left_or_by_what_is_forgotten() {
        let read = |text: &str| text.parse::<Delta>().map(Delta::value);
        assert_eq!(
            [read("0"), read("0.5"), read("0.999999"), read(" 1e-3 ")],
            [0.0, 0.5, 0.999_999, 1e-3].map(Ok)
        );
        assert_eq!([read("1-1e-6"), read("1-0.25"), read("1- 0.5")], [1.0 - 1e-6, 0.75, 0.5].map(Ok));
        for bad in
            ["", "1", "1-0", "1-2", "1--1", "-0.1", "NaN", "1-NaN", "inf", "8d", "0,5", "1-1e-20", "1 - 0.25"]
        {
            let error = read(bad).unwrap_err();
            assert!(error.ends_with(&format!("found \"{bad}\"")), "{error}");
        }
    }
}
