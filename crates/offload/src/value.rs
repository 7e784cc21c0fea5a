//! Values of parameters as people write them.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{Datum, Nanos, Positive, Shape, Value, Within, text_value, unexpected};

/// The sizes of a history buffer: `256x8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct History {
    /// Rows of the buffer.
    pub rows: u32,
    /// Keys in a row.
    pub slots: u32,
}

const HISTORY: &str = "rows x slots, both above zero, such as 256x8";

impl FromStr for History {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let size = |text: &str| Positive::<u32>::parse(text).ok().map(Within::get);
        let sizes = text.split_once('x').and_then(|(rows, slots)| Some((size(rows)?, size(slots)?)));
        sizes.map(|(rows, slots)| Self { rows, slots }).ok_or_else(|| unexpected(HISTORY, text))
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.rows, self.slots)
    }
}

text_value!(History, HISTORY);

/// Time between two repetitions: above zero, or `never`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Every(pub Option<Nanos>);

impl Value for Every {
    const SHAPE: Shape = Shape { is_optional: true, ..Shape::NUMBER };
    const UNIT: &'static str = Nanos::UNIT;

    fn expected() -> String {
        "a time above zero such as 1s, or never".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(Self(None));
        }
        let time = Positive::<Nanos>::parse(text).map_err(|_| unexpected(Self::expected(), text))?;
        Ok(Self(Some(time.get())))
    }

    fn show(&self) -> String {
        self.0.map_or_else(|| "never".to_owned(), |time| time.show())
    }

    fn datum(&self) -> Datum {
        self.0.datum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONSENSE: [&str; 4] = ["", "_", "-1", "1e99"];

    fn refuses<T: Value>(texts: &[&str]) {
        for text in NONSENSE.iter().chain(texts) {
            let error = T::parse(text).err().unwrap_or_else(|| panic!("{text} is refused"));
            assert!(error.starts_with("expected ") && error.contains("got \""), "{error}");
        }
    }

    fn reads<T: Value>(texts: &[&str]) {
        for text in texts {
            assert_eq!(T::parse(text).map(|value| value.show()), Ok((*text).to_owned()));
        }
    }

    #[test]
    fn sizes_and_repetitions_are_held_to_their_ranges() {
        reads::<History>(&["256x8"]);
        refuses::<History>(&["256", "0x8", "256x0", "x", "256x8x2", "-1x8"]);
        reads::<Every>(&["1s", "never"]);
        refuses::<Every>(&["0s", "always"]);
    }
}
