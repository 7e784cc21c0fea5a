//! How close two bounds are to be.

use crate::{Datum, Shape, Value, scale_decimal, unexpected};

/// The distance between two bounds at which a search ends, as a share of the lower one. Written in percent; no `0.1`, which many would take for the 0.1% of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap(pub f64);

impl Value for Gap {
    const SHAPE: Shape = Shape::NUMBER;

    fn expected() -> String {
        "a percentage up to 100% such as 0.1%".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        // A millionth of a percent is finer than any search will get.
        let share = text.strip_suffix('%').and_then(|percent| scale_decimal(percent, 1_000_000));
        let share = share.map(|millionths| millionths as f64 / 1e8).filter(|share| *share <= 1.0);
        share.map(Self).ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        format!("{}%", (self.0 * 1e8).round() / 1e6)
    }

    fn datum(&self) -> Datum {
        Datum::Real(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_percentages() {
        let share = |text: &str| Gap::parse(text).map(|gap| gap.0);
        assert_eq!(["0%", "0.1%", "100%"].map(share), [Ok(0.0), Ok(0.001), Ok(1.0)]);
        for bad in ["", "_", "-1", "1e99", "0.1", "101%", "NaN%"] {
            assert_eq!(Gap::parse(bad), Err(unexpected(Gap::expected(), bad)));
        }
        for text in ["0%", "0.1%", "12.345678%"] {
            assert_eq!(Gap::parse(text).unwrap().show(), text);
        }
    }
}
