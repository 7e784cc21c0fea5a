//! Values of parameters as people write them.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{Datum, Nanos, Positive, Shape, Value, Within, scale_share, text_value, unexpected};

use crate::timing::Timing;

/// The lookups at the start that are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warmup {
    /// A number of them: `10M`.
    Lookups(u64),
    /// Duration of the lookups: `1s`.
    Time(Nanos),
}

const WARMUP: &str = "a time such as 1s or a number of lookups such as 10M";

impl Warmup {
    /// The number of lookups.
    pub fn lookups(self, timing: Timing) -> u64 {
        match self {
            Warmup::Lookups(lookups) => lookups,
            Warmup::Time(time) => timing.slots(time),
        }
    }
}

impl FromStr for Warmup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lookups = u64::parse(text).map(Warmup::Lookups);
        lookups.or_else(|_| text.parse().map(Warmup::Time)).map_err(|_| unexpected(WARMUP, text))
    }
}

impl fmt::Display for Warmup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warmup::Lookups(lookups) => lookups.fmt(f),
            Warmup::Time(time) => write!(f, "{time:#}"),
        }
    }
}

text_value!(Warmup, WARMUP);

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

/// A share from `MIN` to `MAX` in steps of `STEP`, all in millionths, as people write it: `90%`, `0.05%`.
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
        Datum::Real(f64::from(self.0) / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Loss = Share<0, 900_000, 1>;
    type Load = Share<PERCENT, 1_000_000, PERCENT>;

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
    fn warmups_are_times_or_counts() {
        let timing = Timing { rate: 80_000_000 };
        let lookups = |text: &str| text.parse::<Warmup>().map(|warmup| warmup.lookups(timing));
        assert_eq!(
            [lookups("1s"), lookups("10M"), lookups("0"), lookups("2ms")],
            [Ok(80_000_000), Ok(10_000_000), Ok(0), Ok(160_000)]
        );
        reads::<Warmup>(&["1s", "1000000", "0"]);
        refuses::<Warmup>(&["soon", "-1s", "10Mpps", "1.5"]);
    }

    #[test]
    fn shares_and_sizes_are_held_to_their_ranges() {
        reads::<History>(&["256x8"]);
        refuses::<History>(&["256", "0x8", "256x0", "x", "256x8x2", "-1x8"]);
        reads::<Loss>(&["0%", "1%", "0.05%", "90%"]);
        refuses::<Loss>(&["1", "90.0001%", "100%", "-1%", "%", "x%"]);
        reads::<Load>(&["1%", "90%", "100%"]);
        refuses::<Load>(&["0%", "101%", "90", "90.5%"]);
        assert_eq!(Load::parse("90%").map(Load::percent), Ok(90));
        reads::<Every>(&["1s", "never"]);
        refuses::<Every>(&["0s", "always"]);
    }
}
