//! Plain numbers that may lie between two whole ones.

use crate::{Datum, Shape, Value, scale_decimal, unexpected};

/// A number from 0 to `MOST`, to the billionth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal<const MOST: u64>(u64);

impl<const MOST: u64> Decimal<MOST> {
    /// The number.
    pub fn get(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl<const MOST: u64> Value for Decimal<MOST> {
    const SHAPE: Shape = Shape::NUMBER;

    fn expected() -> String {
        format!("a number from 0 to {MOST} such as 0.5")
    }

    fn range() -> Option<String> {
        Some(format!("0 to {MOST}"))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let billionths = scale_decimal(text, 1_000_000_000).filter(|&number| number <= MOST * 1_000_000_000);
        billionths.map(Self).ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        self.get().to_string()
    }

    fn datum(&self) -> Datum {
        Datum::Real(self.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_to_their_range() {
        assert_eq!(
            ["0", "0.5", "2"].map(|text| Decimal::<2>::parse(text).map(Decimal::get)),
            [Ok(0.0), Ok(0.5), Ok(2.0)]
        );
        for bad in ["", "_", "-1", "1e99", "2.1", "NaN"] {
            let expected = format!("expected a number from 0 to 2 such as 0.5, got \"{bad}\"");
            assert_eq!(Decimal::<2>::parse(bad).map(Decimal::get), Err(expected));
        }
        assert_eq!(Decimal::<2>::parse("0.25").unwrap().show(), "0.25");
    }
}
