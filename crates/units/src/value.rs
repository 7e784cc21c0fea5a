//! Values as people write them in flags: parsed with a one-line error, printed so that they read back, and plain for programs.

use std::fmt::Display;
use std::ops::Deref;
use std::path::PathBuf;

use serde::Serialize;

use crate::choice::{self, Choice};
use crate::count::count;
use crate::{BitsPerSec, Bytes, Nanos, PerSecond};

/// A value that people write as text: the type of a parameter.
pub trait Value: Sized {
    /// The unit that ends machine names, such as `ns`; empty if there is none.
    const UNIT: &'static str = "";

    /// Whether the parameter is a switch, which takes no value on the command line.
    const IS_SWITCH: bool = false;

    /// What is expected, as errors and reference pages say it: `1 to 64`, `a time such as 100ms`.
    fn expected() -> String;

    /// The names that can be chosen, each with what it means, where there are such.
    fn names() -> Vec<Name> {
        Vec::new()
    }

    /// The range in words, where there is one: `1 to 64`.
    fn range() -> Option<String> {
        None
    }

    /// Reads the value.
    ///
    /// # Errors
    /// In one line, what was expected and what was found.
    fn parse(text: &str) -> Result<Self, String>;

    /// The value as people write it, in as many digits as it takes to read it back.
    fn show(&self) -> String;

    /// The value for programs, in the unit that [`UNIT`](Value::UNIT) names.
    fn datum(&self) -> Datum;

    /// The value of a parameter that is not given and has no default; `None` if there is no such value.
    fn absent() -> Option<Self> {
        None
    }
}

/// A name that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name.
    pub name: &'static str,
    /// The sentences that say what it means.
    pub about: &'static str,
    /// Whether the word `all` stands for it, too.
    pub in_all: bool,
}

fn names<T: Choice>() -> Vec<Name> {
    let name =
        |&value: &T| Name { name: value.name(), about: value.about(), in_all: T::USUAL.contains(&value) };
    T::ALL.iter().map(name).collect()
}

/// A value for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Datum {
    /// There is no value.
    Nothing,
    /// A switch.
    Switch(bool),
    /// A whole number.
    Integer(u64),
    /// A number that may lie between two whole ones.
    Real(f64),
    /// A name or a text.
    Text(String),
    /// Several values.
    List(Vec<Datum>),
}

/// `expected …, got "…"`, the one wording of errors about values.
pub fn unexpected(expected: impl Display, got: impl Display) -> String {
    format!("expected {expected}, got \"{got}\"")
}

/// Implements [`Value`] for a type that parses from text, prints and is a text for programs, too.
///
/// `text_value!(Format, "one of csv, lis")` needs `FromStr` and `Display`. An error of `FromStr` has to be one line that says what was
/// expected.
#[macro_export]
macro_rules! text_value {
    ($type:ty, $expected:expr) => {
        impl $crate::Value for $type {
            fn expected() -> String {
                String::from($expected)
            }

            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error| ToString::to_string(&error))
            }

            fn show(&self) -> String {
                self.to_string()
            }

            fn datum(&self) -> $crate::Datum {
                $crate::Datum::Text(self.to_string())
            }
        }
    };
}

impl<T: Choice> Value for T {
    fn expected() -> String {
        choice::expected::<T>()
    }

    fn names() -> Vec<Name> {
        names::<T>()
    }

    fn parse(text: &str) -> Result<Self, String> {
        T::from_name(text).map_err(|error| error.to_string())
    }

    fn show(&self) -> String {
        self.name().to_owned()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.name().to_owned())
    }
}

/// A value that is a whole number of some unit.
pub trait Integer: Value + Copy {
    /// What it is, in words: `a rate`.
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

macro_rules! quantity_value {
    ($($type:ident, $unit:literal, $noun:literal, $examples:literal;)+) => {$(
        impl Value for $type {
            const UNIT: &'static str = $unit;

            fn expected() -> String {
                concat!($noun, " such as ", $examples).to_owned()
            }

            fn parse(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error: crate::ParseUnitError| error.to_string())
            }

            fn show(&self) -> String {
                format!("{self:#}")
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
    Nanos, "ns", "a time", "100ms or 1.5s";
    Bytes, "bytes", "a size", "256MiB or 10GB";
    BitsPerSec, "bps", "a rate", "10Gbps or 64kbit/s";
    PerSecond, "per_s", "a rate", "80Mpps or 20K";
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

impl Value for bool {
    const IS_SWITCH: bool = true;

    fn expected() -> String {
        "true or false".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| unexpected(Self::expected(), text))
    }

    fn show(&self) -> String {
        self.to_string()
    }

    fn datum(&self) -> Datum {
        Datum::Switch(*self)
    }

    fn absent() -> Option<Self> {
        Some(false)
    }
}

impl<T: Value> Value for Option<T> {
    const UNIT: &'static str = T::UNIT;
    const IS_SWITCH: bool = T::IS_SWITCH;

    fn expected() -> String {
        T::expected()
    }

    fn names() -> Vec<Name> {
        T::names()
    }

    fn range() -> Option<String> {
        T::range()
    }

    fn parse(text: &str) -> Result<Self, String> {
        T::parse(text).map(Some)
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(String::new, Value::show)
    }

    fn datum(&self) -> Datum {
        self.as_ref().map_or(Datum::Nothing, Value::datum)
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

/// A file or a folder. One that is not given has an empty path.
impl Value for PathBuf {
    fn expected() -> String {
        "a path".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() { Err(unexpected(Self::expected(), text)) } else { Ok(text.into()) }
    }

    fn show(&self) -> String {
        self.display().to_string()
    }

    fn datum(&self) -> Datum {
        Datum::Text(self.show())
    }

    fn absent() -> Option<Self> {
        Some(Self::new())
    }
}

/// Several values with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

impl<T> Deref for List<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Value> Value for List<T> {
    const UNIT: &'static str = T::UNIT;

    fn expected() -> String {
        format!("{}, or several with commas between them", T::expected())
    }

    fn range() -> Option<String> {
        T::range()
    }

    fn parse(text: &str) -> Result<Self, String> {
        text.split(',').map(|part| T::parse(part.trim())).collect::<Result<_, _>>().map(Self)
    }

    fn show(&self) -> String {
        self.0.iter().map(Value::show).collect::<Vec<_>>().join(",")
    }

    fn datum(&self) -> Datum {
        Datum::List(self.0.iter().map(Value::datum).collect())
    }
}

/// Several choices with commas between them, none twice. The word `all` stands for the [usual](Choice::USUAL) ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices<T>(pub Vec<T>);

impl<T> Deref for Choices<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Choice> Value for Choices<T> {
    fn expected() -> String {
        format!("{}, several with commas between them, or all", choice::expected::<T>())
    }

    fn names() -> Vec<Name> {
        names::<T>()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut chosen: Vec<T> = Vec::new();
        for name in text.split(',').map(str::trim) {
            let one = if name == "all" { None } else { Some(T::parse(name)?) };
            for value in one.as_ref().map_or(T::USUAL, std::slice::from_ref) {
                if !chosen.contains(value) {
                    chosen.push(*value);
                }
            }
        }
        Ok(Self(chosen))
    }

    fn show(&self) -> String {
        self.0.iter().map(|value| value.name()).collect::<Vec<_>>().join(",")
    }

    fn datum(&self) -> Datum {
        Datum::List(self.0.iter().map(Value::datum).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices;

    choices! {
        /// A source.
        enum Source {
            /// Packets at equal distances.
            Cbr = "cbr",
            /// Packets at random.
            Poisson = "poisson",
        }
        not in all {
            /// Packets in bursts.
            Bursty = "bursty",
        }
    }

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

    #[test]
    fn choices_make_lists_without_repetitions() {
        let list = |text: &str| Choices::<Source>::parse(text).map(|list| list.0);
        assert_eq!(list("bursty, cbr,bursty"), Ok(vec![Source::Bursty, Source::Cbr]));
        assert_eq!(list("all"), Ok(vec![Source::Cbr, Source::Poisson]));
        for bad in ["udp", "cbr,", ""] {
            assert!(
                list(bad).unwrap_err().starts_with("expected one of cbr, poisson, bursty, got \""),
                "{bad}"
            );
        }
        assert_eq!(Choices(vec![Source::Bursty, Source::Cbr]).show(), "bursty,cbr");
        assert_eq!(Source::Cbr.about(), "Packets at equal distances.");
    }

    #[test]
    fn lists_and_what_is_absent() {
        assert_eq!(List::<u64>::parse("1, 2K").map(|list| list.0), Ok(vec![1, 2_000]));
        assert!(List::<u64>::parse("1,,2").is_err());
        assert_eq!(Option::<u64>::absent(), Some(None));
        assert_eq!(u64::absent(), None);
        assert_eq!(List(vec![Nanos(1_500)]).datum(), Datum::List(vec![Datum::Integer(1_500)]));
    }
}
