//! Shares of a whole, in integers.

use crate::{Datum, Shape, Value, scale_share, unexpected};

/// A share from `MIN` to `MAX` in steps of `STEP`, all in millionths, as people write it: `90%`, `0.9`, `0.05%`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share<const MIN: u32, const MAX: u32, const STEP: u32>(u32);

/// Millionths of one percent.
pub const PERCENT: u32 = 10_000;

impl<const MIN: u32, const MAX: u32, const STEP: u32> Share<MIN, MAX, STEP> {
    /// The share, if there is such a one.
    pub fn of_millionths(millionths: u32) -> Option<Self> {
        ((MIN..=MAX).contains(&millionths) && millionths.is_multiple_of(STEP)).then_some(Self(millionths))
    }

    /// The share in millionths.
    pub fn millionths(self) -> u32 {
        self.0
    }

    /// The share as a number from 0 to 1.
    pub fn ratio(self) -> f64 {
        f64::from(self.0) / 1e6
    }

    /// The share in percent, rounded down.
    pub fn percent(self) -> u32 {
        self.0 / PERCENT
    }
}

fn percentage(millionths: u32) -> String {
    format!("{}%", f64::from(millionths) / f64::from(PERCENT))
}

impl<const MIN: u32, const MAX: u32, const STEP: u32> Value for Share<MIN, MAX, STEP> {
    const SHAPE: Shape = Shape::NUMBER;

    fn expected() -> String {
        let what = if STEP.is_multiple_of(PERCENT) { "a whole percentage" } else { "a percentage" };
        format!("{what} from {} to {}", percentage(MIN), percentage(MAX))
    }

    fn range() -> Option<String> {
        Some(format!("{} to {}", percentage(MIN), percentage(MAX)))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let millionths = scale_share(text, 1_000_000).and_then(|share| u32::try_from(share).ok());
        millionths.and_then(Self::of_millionths).ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        percentage(self.0)
    }

    fn datum(&self) -> Datum {
        Datum::Real(self.ratio())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Loss = Share<0, 900_000, 1>;
    type Load = Share<PERCENT, 1_000_000, PERCENT>;

    fn refuses<T: Value>(texts: &[&str]) {
        for text in ["", "_", "-1", "1e99"].iter().chain(texts) {
            assert_eq!(T::parse(text).err(), Some(unexpected(T::expected(), text)));
        }
    }

    fn reads<T: Value>(texts: &[&str]) {
        for text in texts {
            assert_eq!(T::parse(text).map(|value| value.show()), Ok((*text).to_owned()));
        }
    }

    #[test]
    fn shares_are_held_to_their_ranges() {
        reads::<Loss>(&["0%", "1%", "0.05%", "90%"]);
        refuses::<Loss>(&["1", "90.0001%", "100%", "-1%", "%", "x%"]);
        reads::<Load>(&["1%", "90%", "100%"]);
        refuses::<Load>(&["0%", "101%", "90", "90.5%"]);
        assert_eq!(["90%", "0.9"].map(|text| Load::parse(text).map(Load::percent)), [Ok(90), Ok(90)]);
        assert_eq!(Loss::of_millionths(900_001), None);
    }
}
