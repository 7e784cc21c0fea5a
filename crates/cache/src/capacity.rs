//! How large a cache is, as people say it.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{Bytes, Datum, Value, scale_share, unexpected};

use crate::LARGEST_CAPACITY;

/// The capacity of a cache, as people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Number of objects.
    Objects(u64),
    /// Millionths of the largest number of objects that are active at once.
    Share(u64),
    /// Size in bytes.
    Bytes(Bytes),
}

const EXPECTED: &str = "a capacity above zero, up to 1EiB, such as 5000 (objects), 5% or 0.05 (of the peak of active objects) or 256MiB (units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)";

/// Whether a cache can be as large as this.
fn possible(capacity: u64) -> bool {
    (1..=LARGEST_CAPACITY).contains(&capacity)
}

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = if let Some(share) = scale_share(text, 1_000_000) {
            // More than all of it is not written as a factor: 50.4 is a slip.
            let is_meant = share <= 1_000_000 || text.ends_with('%');
            (possible(share) && is_meant).then_some(Capacity::Share(share))
        } else if let Ok(objects) = text.parse() {
            possible(objects).then_some(Capacity::Objects(objects))
        } else {
            text.parse().ok().filter(|&Bytes(bytes)| possible(bytes)).map(Capacity::Bytes)
        };
        parsed.ok_or_else(|| unexpected(EXPECTED, text))
    }
}

/// Sizes in four digits; with `{:#}` in as many as it takes to read them back.
impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Capacity::Objects(objects) => write!(f, "{objects}"),
            Capacity::Share(share) => write!(f, "{}%", *share as f64 / 10_000.0),
            Capacity::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

impl Value for Capacity {
    fn expected() -> String {
        EXPECTED.to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
    }

    fn show(&self) -> String {
        format!("{self:#}")
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.show())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_read_as_people_write_them() {
        assert_eq!("5%".parse(), Ok(Capacity::Share(50_000)));
        assert_eq!("0.5%".parse(), Ok(Capacity::Share(5_000)));
        assert_eq!("120%".parse(), Ok(Capacity::Share(1_200_000)));
        assert_eq!("1.0".parse(), Ok(Capacity::Share(1_000_000)));
        assert_eq!("249".parse(), Ok(Capacity::Objects(249)));
        assert_eq!("256MiB".parse(), Ok(Capacity::Bytes(Bytes(256 << 20))));
        for bad in [
            "50.4",
            "1.01",
            "",
            "_",
            "0",
            "0%",
            "0MiB",
            "-5",
            "1e99",
            "nan",
            "NaN%",
            "5 apples",
            "%",
            "16000000TiB",
            "18446744073709551615",
        ] {
            assert_eq!(Capacity::parse(bad), Err(unexpected(EXPECTED, bad)));
        }
        for text in ["0.5%", "5000", "12345678901B"] {
            let capacity = Capacity::parse(text).unwrap();
            assert_eq!(Capacity::parse(&capacity.show()), Ok(capacity), "{text}");
        }
    }
}
