//! Whole numbers of some unit as values, and their ranges as types.

use std::fmt::Display;
use std::ops::Deref;

use crate::count::count;
use crate::value::{Datum, Shape, Value, unexpected};
use crate::{BitsPerSec, Bytes, Nanos, PerSecond};

/// A value that is a whole number of some unit.
pub trait Integer: Value + Copy {
    /// Noun for the value: `a rate`.
    const NOUN: &'static str;
    /// Values that people may write: `10Gbps or 64kbit/s`.
    const EXAMPLES: &'static str;
    /// The largest number that fits.
    const MOST: u64 = u64::MAX;

    /// The value of so many units; the caller keeps to [`MOST`](Integer::MOST).
    fn from_units(units: u64) -> Self;

    /// The number of units.
    fn units(self) -> u64;
}

macro_rules! count_value {
    ($($type:ty),+) => {$(
        impl Value for $type {
            const SHAPE: Shape = Shape::NUMBER;

            fn expected() -> String {
                format!("{} such as {}", <$type>::NOUN, <$type>::EXAMPLES)
            }

            fn parse(text: &str) -> Result<Self, String> {
                let number = count(text).ok_or_else(|| unexpected(Self::expected(), text))?;
                <$type>::try_from(number).map_err(|_| unexpected(format!("at most {}", <$type>::MAX), text))
            }

            fn show(&self) -> String {
                self.to_string()
            }

            fn datum(&self) -> Datum {
                Datum::Integer(self.units())
            }
        }

        impl Integer for $type {
            const NOUN: &'static str = "a count";
            const EXAMPLES: &'static str = "200000, 200K or 1.5M";
            const MOST: u64 = <$type>::MAX as u64;

            fn from_units(units: u64) -> Self {
                units as $type
            }

            fn units(self) -> u64 {
                self as u64
            }
        }
    )+};
}

count_value!(u16, u32, u64, usize);

/// Writes as many digits as it takes to read the quantity back.
fn exact(quantity: impl Display) -> String {
    format!("{quantity:#}")
}

macro_rules! quantity_value {
    ($($type:ident, $unit:literal, $noun:literal, $examples:literal, $show:expr;)+) => {$(
        impl Value for $type {
            const UNIT: &'static str = $unit;
            const SHAPE: Shape = Shape::NUMBER;

            fn expected() -> String {
                concat!($noun, " such as ", $examples).to_owned()
            }

            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: crate::ParseUnitError| error.to_string())
            }

            fn show(&self) -> String {
                $show(*self)
            }

            fn datum(&self) -> Datum {
                Datum::Integer(self.0)
            }
        }

        impl Integer for $type {
            const NOUN: &'static str = $noun;
            const EXAMPLES: &'static str = $examples;

            fn from_units(units: u64) -> Self {
                Self(units)
            }

            fn units(self) -> u64 {
                self.0
            }
        }
    )+};
}

quantity_value! {
    Nanos, "ns", "a time", "100ms or 1.5s", exact;
    Bytes, "bytes", "a size", "256MiB or 10GB", Bytes::shortest;
    BitsPerSec, "bps", "a rate", "10Gbps or 64kbit/s", exact;
    PerSecond, "per_s", "a rate", "80Mpps or 20K", exact;
}

/// A whole number of some unit from `MIN` to `MAX`: the range of a parameter is part of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Within<T, const MIN: u64, const MAX: u64>(T);

/// A whole number of some unit above zero.
pub type Positive<T> = Within<T, 1, { u64::MAX }>;

impl<T: Integer, const MIN: u64, const MAX: u64> Within<T, MIN, MAX> {
    /// The number, if it is in the range.
    pub fn new(value: T) -> Option<Self> {
        (MIN..=MAX).contains(&value.units()).then_some(Self(value))
    }

    /// The number.
    pub fn get(self) -> T {
        self.0
    }

    /// The smallest and the largest number of units.
    pub fn bounds() -> (u64, u64) {
        (MIN, MAX.min(T::MOST))
    }
}

impl<T, const MIN: u64, const MAX: u64> Deref for Within<T, MIN, MAX> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Integer, const MIN: u64, const MAX: u64> Value for Within<T, MIN, MAX> {
    const UNIT: &'static str = T::UNIT;
    const SHAPE: Shape = T::SHAPE;

    fn expected() -> String {
        let (least, most) = Self::bounds();
        let least = T::from_units(least).show();
        match most {
            most if most < T::MOST => format!("{least} to {}", T::from_units(most).show()),
            _ if MIN == 1 => format!("{} above zero such as {}", T::NOUN, T::EXAMPLES),
            _ => format!("at least {least}"),
        }
    }

    fn range() -> Option<String> {
        let (least, most) = Self::bounds();
        (least > 1 || most < T::MOST).then(Self::expected)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let value = T::parse(text)?;
        Self::new(value).ok_or_else(|| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        self.0.show()
    }

    fn datum(&self) -> Datum {
        self.0.datum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal<T: Value>(text: &str) -> String {
        T::parse(text).err().unwrap_or_else(|| panic!("{text} is refused"))
    }

    #[test]
    fn counts_have_suffixes() {
        assert_eq!([count("200K"), count("1.5M"), count("7")], [Some(200_000), Some(1_500_000), Some(7)]);
        assert_eq!([count("64Ki"), count("1.5Mi"), count("64i")], [Some(65_536), Some(1_572_864), None]);
        for bad in ["1.5", "0.4", "", "K", "-3", "1e6", "5Q", "_"] {
            assert_eq!(refusal::<u32>(bad), unexpected("a count such as 200000, 200K or 1.5M", bad));
        }
        assert_eq!(refusal::<u16>("70K"), "expected at most 65535, got \"70K\"");
    }

    #[test]
    fn ranges_are_part_of_the_type() {
        type Queues = Within<u32, 1, 64>;
        assert_eq!(Queues::parse("64").map(Within::get), Ok(64));
        assert_eq!(refusal::<Queues>("65"), "expected 1 to 64, got \"65\"");
        assert_eq!(
            refusal::<Within<Nanos, 20, { u64::MAX }>>("19ns"),
            "expected at least 20ns, got \"19ns\""
        );
        assert_eq!(
            refusal::<Positive<BitsPerSec>>("0bps"),
            "expected a rate above zero such as 10Gbps or 64kbit/s, got \"0bps\""
        );
        assert_eq!(Within::<u16, 0, { u64::MAX }>::bounds(), (0, 65_535));
    }
}
