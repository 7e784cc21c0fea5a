#![doc = include_str!("../README.md")]
//!
//! # Map of the modules
//!
//! 1. [`Nanos`], [`Bytes`], [`BitsPerSec`], [`PerSecond`], [`Rank`]: quantities; [`Factor`], [`Decimal`], [`Gap`], [`Share`]: numbers.
//! 2. [`choices!`] declares values that people choose by name, such as policies.
//! 3. [`parameters!`] declares what a command or a study can be asked for, each parameter once; [`program`] reads them for benchmarks.
#![forbid(unsafe_code)]

mod address;
pub mod choice;
mod count;
mod decimal;
mod factor;
mod gap;
mod list;
mod long_time;
mod nanos;
mod number;
pub mod parameter;
mod per_second;
mod percent;
pub mod program;
mod share;
mod value;
mod warmup;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use address::Address;
pub use choice::{Choice, UnknownName, Word};
pub use decimal::Decimal;
pub use factor::Factor;
pub use gap::Gap;
pub use list::{Choices, List, Listed, distinct};
pub use long_time::LongTime;
pub use nanos::Nanos;
pub use number::{Integer, Positive, Within};
pub use parameter::{Parameter, Parameters, Setting};
pub use per_second::PerSecond;
pub use percent::Percent;
pub use share::{PERCENT, Share};
pub use value::{Datum, Kind, Name, Shape, Value, unexpected};
pub use warmup::Warmup;

#[doc(hidden)]
pub use serde;

/// An amount of data in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// In as many digits as it takes to read it back; in bytes, powers of two or of ten, whichever is shortest: `1500B`,
    /// `64KiB`, `150kB`.
    pub(crate) fn shortest(self) -> String {
        let two = exactly_in_units(self.0, &BYTE_UNITS_OF_TWO);
        let texts = [format!("{}B", self.0), two, exactly_in_units(self.0, &BYTE_UNITS_OF_TEN)];
        // The first of those that are equally short.
        texts.into_iter().min_by_key(String::len).unwrap_or_default()
    }

    /// The units in which people would write this amount, the smallest first: powers of ten for what is round in these and not in powers of
    /// two (`150kB`), or else powers of two.
    pub fn units(self) -> &'static [(&'static str, u64); 5] {
        let [two, ten] = [&BYTE_UNITS_OF_TWO, &BYTE_UNITS_OF_TEN];
        let in_ten = exactly_in_units(self.0, ten);
        let is_round = in_ten == in_units(self.0, ten, DIGITS);
        if is_round && in_ten.len() < exactly_in_units(self.0, two).len() { ten } else { two }
    }
}

/// A rate of data in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BitsPerSec(pub u64);

impl BitsPerSec {
    /// The rate at which `bytes` pass in `span`, zero for no time at all.
    pub fn of(bytes: Bytes, span: Nanos) -> Self {
        let bits = u128::from(bytes.0) * 8 * 1_000_000_000;
        let rate = bits.checked_div(u128::from(span.0)).unwrap_or(0);
        Self(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}

/// The place of a packet in the order of service: the smallest rank goes first.
///
/// What a rank counts is its policy's business; ranks that are times or virtual times grow without end, hence 64 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rank(pub u64);

/// Error of a text that is no quantity: what was expected, and what was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}, got \"{found}\"")]
pub struct ParseUnitError {
    expected: &'static str,
    found: String,
}

/// Names of units, each with how many of the smallest it is. Several names may mean the same.
type Units = [(&'static str, u64)];

const TIME_UNITS: &Units = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
    // The names of iproute2.
    ("nsec", 1),
    ("usec", 1_000),
    ("msec", 1_000_000),
    ("sec", 1_000_000_000),
];

/// No `K`, `M` or `G` alone: for some people they are powers of ten, for others powers of two.
const BYTE_UNITS: &Units = &[
    ("B", 1),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

const RATE_UNITS: &Units = &[
    ("bps", 1),
    ("kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Tbit/s", 1_000_000_000_000),
    // The names of iproute2; and powers of ten alone, which mean nothing else in a rate.
    ("bit", 1),
    ("kbit", 1_000),
    ("Mbit", 1_000_000),
    ("Gbit", 1_000_000_000),
    ("Tbit", 1_000_000_000_000),
    ("mbit", 1_000_000),
    ("gbit", 1_000_000_000),
    ("tbit", 1_000_000_000_000),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
];

/// Units of times as people read them, the smallest first, in nanoseconds.
pub const TIME_UNITS_PRINTED: [(&str, u64); 4] =
    [("ns", 1), ("µs", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
/// The same as people type them.
const TIME_UNITS_TYPED: [(&str, u64); 4] =
    [("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
/// Units of sizes in powers of two, the smallest first, in bytes.
pub const BYTE_UNITS_OF_TWO: [(&str, u64); 5] =
    [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];
/// Units of sizes in powers of ten, the smallest first, in bytes.
pub const BYTE_UNITS_OF_TEN: [(&str, u64); 5] =
    [("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000)];
/// Units of rates, the smallest first, in bits per second.
pub const RATE_UNITS_PRINTED: [(&str, u64); 5] =
    [("bps", 1), ("kbps", 1_000), ("Mbps", 1_000_000), ("Gbps", 1_000_000_000), ("Tbps", 1_000_000_000_000)];

/// Splits `"1.5ms"` into `("1.5", "ms")`.
fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    (&text[..end], text[end..].trim())
}

/// `number × scale`, exactly, rounding a fraction of one unit to the nearest; `None` when it is no number or too large. Before the
/// point, `_` may stand between two digits.
///
/// Shared by every reader of decimal quantities so that `0.1s` is 100,000,000 ns and not one less.
pub fn scale_decimal(number: &str, scale: u64) -> Option<u64> {
    let number = number.trim();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let parted = |digits: &str| digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    if whole.is_empty() && fraction.is_empty() || parted(whole) {
        return None;
    }
    let mut total: u128 = 0;
    for byte in whole.bytes().filter(|&byte| byte != b'_') {
        let digit = (byte as char).to_digit(10)?;
        total = total.checked_mul(10)?.checked_add(u128::from(digit))?;
    }
    total = total.checked_mul(u128::from(scale))?;
    // 18 digits resolve one unit of the largest scale in use; the rest only has to be digits.
    let mut numerator: u128 = 0;
    let mut denominator: u128 = 1;
    for (place, byte) in fraction.bytes().enumerate() {
        let digit = (byte as char).to_digit(10)?;
        if place < 18 {
            numerator = numerator * 10 + u128::from(digit);
            denominator *= 10;
        }
    }
    total = total.checked_add((numerator * u128::from(scale) + denominator / 2) / denominator)?;
    u64::try_from(total).ok()
}

/// A share of a whole, `5%` or `0.05`, as how many of the `whole` parts it is; `None` when it is neither, or too large.
///
/// A number without a point is none, as it may be a count.
pub fn scale_share(text: &str, whole: u64) -> Option<u64> {
    let text = text.trim();
    match text.strip_suffix('%') {
        Some(percent) => scale_decimal(percent, whole / 100),
        None => text.contains('.').then(|| scale_decimal(text, whole))?,
    }
}

fn parse_scaled(text: &str, units: &Units, expected: &'static str) -> Result<u64, ParseUnitError> {
    let (number, unit) = split_unit(text.trim());
    units
        .iter()
        .find(|(name, _)| *name == unit)
        .and_then(|(_, scale)| scale_decimal(number, *scale))
        .ok_or_else(|| ParseUnitError { expected, found: text.to_owned() })
}

impl FromStr for Nanos {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_scaled(text, TIME_UNITS, "a time such as 100ms or 1.5s (units: ns, us, ms, s, min, h)")
            .map(Nanos)
    }
}

impl FromStr for Bytes {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_scaled(
            text,
            BYTE_UNITS,
            "a size such as 256MiB or 10GB (units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB)",
        )
        .map(Bytes)
    }
}

impl FromStr for BitsPerSec {
    type Err = ParseUnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_scaled(
            text,
            RATE_UNITS,
            "a rate such as 10Gbps or 64kbit/s (units: bps, kbps, Mbps, Gbps, Tbps, in bits)",
        )
        .map(BitsPerSec)
    }
}

/// Significant digits of a quantity where nobody asks for more.
const DIGITS: i32 = 4;

/// The number in so many significant digits, without zeros at the end: `3.27`, `12.5`, `240`, `0.0123`.
///
/// ```
/// # use trueplane_units::digits;
/// assert_eq!([digits(3.2749, 3), digits(240.2, 2), digits(0.012_345, 3), digits(-7.0, 3)], ["3.27", "240", "0.0123", "-7"]);
/// ```
pub fn digits(number: f64, count: i32) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let before_point = number.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(count - before_point).unwrap_or(0);
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// `value` in the largest unit of which it is at least one once it is rounded: never `1000us`. The units rise.
fn in_units(value: u64, units: &[(&str, u64)], count: i32) -> String {
    let mut printed = String::new();
    for (index, (name, scale)) in units.iter().enumerate() {
        let text = digits(value as f64 / *scale as f64, count);
        let rounded: f64 = text.parse().unwrap_or(f64::INFINITY);
        printed = format!("{text}{name}");
        if units.get(index + 1).is_none_or(|(_, next)| rounded * (*scale as f64) < *next as f64) {
            break;
        }
    }
    printed
}

/// `value` in as few digits, four or more, as it takes to read it back: different values never print the same.
fn exactly_in_units(value: u64, units: &Units) -> String {
    // A double holds 15 decimal digits of any number; the smallest unit is a whole number, so that it needs no point.
    let texts = (DIGITS..=15).map(|digits| in_units(value, units, digits));
    let mut texts = texts.chain(units.first().map(|(name, _)| format!("{value}{name}")));
    texts.find(|text| parse_scaled(text, units, "").is_ok_and(|read| read == value)).unwrap_or_default()
}

/// Writes a quantity for `{}` and `{:#}`.
fn print_in_units(value: u64, units: &Units, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.pad(&if f.alternate() { exactly_in_units(value, units) } else { in_units(value, units, DIGITS) })
}

/// In four digits; with `{:#}` in as many as it takes to read it back, so that an error about a limit can tell what is just beyond it.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_in_units(self.0, if f.alternate() { &TIME_UNITS_TYPED } else { &TIME_UNITS_PRINTED }, f)
    }
}

/// In four digits; with `{:#}` in as many as it takes to read it back, so that an error about a limit can tell what is just beyond it.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_in_units(self.0, if f.alternate() { &BYTE_UNITS_OF_TWO } else { self.units() }, f)
    }
}

/// In four digits; with `{:#}` in as many as it takes to read it back, so that an error about a limit can tell what is just beyond it.
impl fmt::Display for BitsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_in_units(self.0, &RATE_UNITS_PRINTED, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_exactly() {
        let parsed = |text: &str| text.parse::<Nanos>().map(|nanos| nanos.0);
        assert_eq!(parsed("100ms"), Ok(100_000_000));
        assert_eq!(parsed("0.1s"), Ok(100_000_000));
        assert_eq!(parsed("1.5us"), Ok(1_500));
        assert_eq!(parsed("2 h"), Ok(7_200_000_000_000));
        assert_eq!(parsed("3µs"), Ok(3_000));
        assert_eq!(
            [parsed("1min"), parsed("5 msec"), parsed("1_000us")],
            [Ok(60_000_000_000), Ok(5_000_000), Ok(1_000_000)]
        );
        for bad in [
            "",
            "ms",
            "_ms",
            "_1ms",
            "1_ms",
            "1__0ms",
            "1m",
            "10",
            "-1ms",
            "1e3ms",
            "nan",
            "1.2.3s",
            "99999999999h",
        ] {
            assert!(parsed(bad).is_err(), "{bad}");
        }
        assert_eq!(
            parsed("abc").unwrap_err().to_string(),
            "expected a time such as 100ms or 1.5s (units: ns, us, ms, s, min, h), got \"abc\""
        );
    }

    #[test]
    fn sizes_are_read_in_powers_of_ten_and_two() {
        assert_eq!("256MiB".parse(), Ok(Bytes(256 << 20)));
        assert_eq!("10GB".parse(), Ok(Bytes(10_000_000_000)));
        // 10 GB or 10 GiB?
        for bad in ["10", "10G", "10gb"] {
            assert!(bad.parse::<Bytes>().is_err(), "{bad}");
        }
    }

    #[test]
    fn rates_are_read_and_printed_in_bits_per_second() {
        assert_eq!("10Gbps".parse(), Ok(BitsPerSec(10_000_000_000)));
        assert_eq!("2.5 Mbit/s".parse(), Ok(BitsPerSec(2_500_000)));
        assert_eq!(
            ["10G", "64kbit"].map(str::parse),
            [Ok(BitsPerSec(10_000_000_000)), Ok(BitsPerSec(64_000))]
        );
        for bad in ["10", "10GB", "10gbps", "-1kbps"] {
            assert!(bad.parse::<BitsPerSec>().is_err(), "{bad}");
        }
        assert_eq!(BitsPerSec(2_500_000).to_string(), "2.5Mbps");
        assert_eq!(BitsPerSec::of(Bytes(125), Nanos(1_000)), BitsPerSec(1_000_000_000));
        assert_eq!(BitsPerSec::of(Bytes(125), Nanos(0)), BitsPerSec(0));
    }

    /// Numbers of every size, printed by `{:#}`, are read as they were.
    fn is_read_back<T: fmt::Display + FromStr + PartialEq>(of: fn(u64) -> T) -> bool {
        let numbers =
            (0..64).flat_map(|shift| [u64::MAX >> shift, (1 << shift) + 1, 0x9e37_79b9_7f4a_7c15 >> shift]);
        let reads_back = |number| format!("{:#}", of(number)).parse().is_ok_and(|read: T| read == of(number));
        numbers.into_iter().all(reads_back)
    }

    #[test]
    fn what_differs_prints_differently_where_that_matters() {
        let rates = [400_000_000_000, 400_000_000_001, 399_999_999_999, 2_500_000, 999, 0, u64::MAX];
        let expected = [
            "400Gbps",
            "400.000000001Gbps",
            "399.999999999Gbps",
            "2.5Mbps",
            "999bps",
            "0bps",
            "18446744073709551615bps",
        ];
        assert_eq!(rates.map(|rate| format!("{:#}", BitsPerSec(rate))), expected);
        let sizes = [1 << 30, (1 << 30) + 1, 1_500, 0].map(|size| format!("{:#}", Bytes(size)));
        assert_eq!(sizes, ["1GiB", "1.000000001GiB", "1.465KiB", "0B"]);
        let times = [60_000_000_000, 60_000_000_001, 1_500, 0].map(|time| format!("{:#}", Nanos(time)));
        assert_eq!(times, ["60s", "60.000000001s", "1.5us", "0ns"]);
        assert!(is_read_back(BitsPerSec) && is_read_back(Bytes) && is_read_back(Nanos));
    }

    #[test]
    fn sizes_are_shown_as_they_were_written() {
        let sizes = ["150kB", "64KiB", "1500B", "1MB", "1GiB", "0B"];
        assert_eq!(sizes.map(|size| size.parse::<Bytes>().unwrap().shortest()), sizes.map(str::to_owned));
    }

    #[test]
    fn shares_have_a_point_or_a_percent_sign() {
        let shares = ["5%", "0.05", " 0.5%", ".5", "100%", "1.0"].map(|text| scale_share(text, 1_000_000));
        assert_eq!(shares, [50_000, 50_000, 5_000, 500_000, 1_000_000, 1_000_000].map(Some));
        assert_eq!(
            ["5", "1", "%", ".", "x%", "-5%", "_%"].map(|text| scale_share(text, 1_000_000)),
            [None; 7]
        );
    }

    #[test]
    fn what_is_rounded_up_is_printed_in_the_next_unit() {
        assert_eq!([999_999, 999_949, 999_999_999].map(|ns| Nanos(ns).to_string()), ["1ms", "999.9µs", "1s"]);
        assert_eq!(Bytes((1 << 20) - 1).to_string(), "1MiB");
        assert_eq!(BitsPerSec(999_999_999).to_string(), "1Gbps");
    }

    #[test]
    fn quantities_print_as_people_write_them() {
        assert_eq!(Nanos(100_000_000).to_string(), "100ms");
        assert_eq!(Nanos(1_234_567).to_string(), "1.235ms");
        assert_eq!(Nanos(0).to_string(), "0ns");
        assert_eq!(Nanos(90_000_000_000).to_string(), "90s");
        let sizes = [256 << 20, 10_000_000_000, 620_213, 1_536, 512, 0].map(|bytes| Bytes(bytes).to_string());
        assert_eq!(sizes, ["256MiB", "10GB", "605.7KiB", "1.5KiB", "512B", "0B"]);
        assert_eq!(Nanos(1_500).to_string(), "1.5µs");
    }
}
