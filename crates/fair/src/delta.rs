//! δ as people write it.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{Datum, Value, text_value, unexpected};

use crate::Memory;

/// Parses what is left and what is forgotten, of one, as people write it: `0.9`, or by what is forgotten, `1-1e-6`. `None` if that is no
/// number, or one below 0 or above 1, or nothing is forgotten.
///
/// Both, as a number close to 1 cannot say how close.
fn left_and_forgotten(text: &str) -> Option<(f64, f64)> {
    let number = |part: &str| part.trim().parse::<f64>().ok();
    let (left, forgotten) = match text.trim().strip_prefix("1-") {
        Some(forgotten) => number(forgotten).map(|forgotten| (1.0 - forgotten, forgotten))?,
        None => number(text).map(|left| (left, 1.0 - left))?,
    };
    ((0.0..=1.0).contains(&left) && forgotten > 0.0).then_some((left, forgotten))
}

/// Part of a commitment that is left after a stage: from 0 to below 1.
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
        found.ok_or_else(|| unexpected(STAGE, text))
    }
}

const STAGE: &str = "δ from 0 to below 1 such as 0.9 or 1-1e-6";

text_value!(Delta, STAGE);

/// Writes the fewest digits that are read as the same number.
impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The δ of a memory, what is left of a commitment after a second: between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaPerSecond(pub Memory);

impl DeltaPerSecond {
    /// `1-1e-6`, or `0.5`, with so many digits.
    fn text(self, digits: usize) -> String {
        let forgotten = self.0.forgotten_per_second();
        if forgotten > 0.1001 {
            return trimmed(&format!("{:.digits$}", 1.0 - forgotten)).to_owned();
        }
        let text = format!("{forgotten:.digits$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("1-{}e{exponent}", trimmed(mantissa))
    }
}

impl Value for DeltaPerSecond {
    fn expected() -> String {
        "a δ between 0 and 1, per second, such as 1-1e-6 or 0.999".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let found = left_and_forgotten(text).and_then(|(_, forgotten)| Memory::forgetting(forgotten).ok());
        found.map(Self).ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        let mut texts = (3..=20).map(|digits| self.text(digits));
        texts.find(|text| Self::parse(text) == Ok(*self)).unwrap_or_else(|| self.to_string())
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.show())
    }
}

/// Writes few digits.
impl fmt::Display for DeltaPerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let forgotten = self.0.forgotten_per_second();
        f.pad(&self.text(if forgotten > 0.1001 { 4 } else { 3 }))
    }
}

/// Without zeros at the end.
fn trimmed(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Nanos;

    use super::*;

    #[test]
    fn what_is_left_after_a_second_is_a_memory() {
        let read = |text: &str| DeltaPerSecond::parse(text).map(|delta| delta.0);
        assert_eq!(read("1-1e-6"), Ok(Memory::forgetting(1e-6).unwrap()));
        assert_eq!(read("0.5"), Ok(Memory::half_life(Nanos(1_000_000_000)).unwrap()));
        for bad in
            ["1", "0", "-0.5", "-1", "1-0", "1-1", "1--1", "2", "", "_", "1e99", "x", "1-x", "nan", "inf"]
        {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_delta_is_written_as_it_is_said() {
        for text in ["1-1e-6", "1-1e-1", "0.5", "1-2.5e-4", "1-1.23456e-5"] {
            assert_eq!(DeltaPerSecond::parse(text).unwrap().show(), text);
        }
        let day = DeltaPerSecond(Memory::half_life(Nanos(86_400_000_000_000)).unwrap());
        assert_eq!(day.to_string(), "1-8.023e-6");
        assert_eq!(DeltaPerSecond::parse(&day.show()), Ok(day));
        let short = DeltaPerSecond(Memory::half_life(Nanos(1)).unwrap());
        assert_eq!(short.to_string(), "0");
    }

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
            assert!(error.ends_with(&format!("got \"{bad}\"")), "{error}");
        }
    }
}
