//! Long times as people write them: `8d`.

use trueplane_units::{Datum, Nanos, Shape, Value, scale_decimal, unexpected};

const DAY: u64 = 86_400_000_000_000;

/// A time above zero; `d` are days.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(Nanos);

impl Span {
    /// The time, if it is above zero.
    pub fn new(time: Nanos) -> Option<Self> {
        (time.0 > 0).then_some(Self(time))
    }

    /// The time.
    pub fn get(self) -> Nanos {
        self.0
    }
}

impl Value for Span {
    const SHAPE: Shape = Shape::NUMBER;
    const UNIT: &'static str = Nanos::UNIT;

    fn expected() -> String {
        "a time above zero such as 8d, 12h or 30min".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let days = text.trim().strip_suffix('d').and_then(|days| scale_decimal(days, DAY)).map(Nanos);
        let time = days.or_else(|| text.parse().ok()).and_then(Self::new);
        time.ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        let units = [("d", DAY), ("h", DAY / 24), ("min", DAY / 1_440)];
        let whole = units.into_iter().find(|(_, unit)| self.0.0.is_multiple_of(*unit));
        whole.map_or_else(|| self.0.show(), |(name, unit)| format!("{}{name}", self.0.0 / unit))
    }

    fn datum(&self) -> Datum {
        self.0.datum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_may_be_days() {
        let read = |text: &str| Span::parse(text).map(Span::get);
        assert_eq!(read("8d"), Ok(Nanos(691_200_000_000_000)));
        assert_eq!(read("1.5h"), Ok(Nanos(5_400_000_000_000)));
        for bad in ["0d", "0s", "8", "d", "-1d", "", "_", "1e99", "soon"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        for text in ["8d", "36h", "30min", "1ns"] {
            assert_eq!(Span::parse(text).unwrap().show(), text);
        }
    }
}
