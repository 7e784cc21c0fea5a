//! How often something happens.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::count::count;
use crate::{ParseUnitError, Units, print_in_units};

/// Events a second: packets, lookups, updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PerSecond(pub u64);

const PRINTED: &Units = &[("/s", 1), ("K/s", 1_000), ("M/s", 1_000_000), ("G/s", 1_000_000_000)];

/// A count, with or without a word for what is counted: `80Mpps`, `1.25M/s`, `20K`.
impl FromStr for PerSecond {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let number = text.strip_suffix("pps").or_else(|| text.strip_suffix("/s")).unwrap_or(text);
        let expected = "a rate such as 80Mpps, 20K or 1.25M/s, in events a second";
        count(number).map(Self).ok_or_else(|| ParseUnitError { expected, found: text.to_owned() })
    }
}

/// Writes four digits; with `{:#}` as many as it takes to read it back.
impl fmt::Display for PerSecond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_in_units(self.0, PRINTED, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_may_say_what_they_count() {
        let read = |text: &str| text.parse::<PerSecond>().map(|rate| rate.0);
        assert_eq!(
            ["80Mpps", "20K", "1.25M/s", "7", "500kpps", "0"].map(read),
            [Ok(80_000_000), Ok(20_000), Ok(1_250_000), Ok(7), Ok(500_000), Ok(0)]
        );
        for bad in ["", "pps", "80Mbps", "-1", "1.5", "1e99", "_"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rates_are_short() {
        let said = [0, 256, 999, 1_000, 20_000, 65_536, 1_250_000, 80_000_000, 2_000_000_000];
        let expected = ["0/s", "256/s", "999/s", "1K/s", "20K/s", "65.54K/s", "1.25M/s", "80M/s", "2G/s"];
        assert_eq!(said.map(|rate| PerSecond(rate).to_string()), expected);
        for rate in [65_536, 999_950, 1_000_000_000_001, u64::MAX] {
            assert_eq!(format!("{:#}", PerSecond(rate)).parse(), Ok(PerSecond(rate)));
        }
    }
}
