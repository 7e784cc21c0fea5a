//! Values as people write them in flags: parsed with a one-line error, printed so that they read back, and plain for programs.

use std::fmt::Display;
use std::path::PathBuf;

use crate::choice::{self, Choice, Word};

/// A value that people write as text: the type of a parameter.
pub trait Value: Sized {
    /// The unit that ends machine names, such as `ns`; empty if there is none.
    const UNIT: &'static str = "";

    /// The shape of [`datum`](Value::datum).
    const SHAPE: Shape = Shape::TEXT;

    /// Values that are expected, as errors and reference pages say it: `1 to 64`, `a time such as 100ms`.
    fn expected() -> String;

    /// The names that can be chosen, each with what it means, where there are such.
    fn names() -> Vec<Name> {
        Vec::new()
    }

    /// Words that stand for several of the names in a list.
    fn words() -> Vec<Word> {
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

/// The shape of a value for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The kind of a single value.
    pub kind: Kind,
    /// Whether there can be several.
    pub is_list: bool,
    /// Whether there can be none.
    pub is_optional: bool,
}

/// The kind of a single value for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// True or false.
    Switch,
    /// A number in the unit that the machine name ends in.
    Number,
    /// A name or a text.
    Text,
}

impl Shape {
    /// A text.
    pub const TEXT: Self = Self { kind: Kind::Text, is_list: false, is_optional: false };
    /// A number.
    pub const NUMBER: Self = Self { kind: Kind::Number, ..Self::TEXT };

    /// Whether a value has this shape, as schemas promise.
    pub fn fits(self, datum: &Datum) -> bool {
        match datum {
            Datum::Nothing => self.is_optional,
            Datum::List(list) => {
                let one = Self { is_list: false, ..self };
                self.is_list && list.iter().all(|datum| one.fits(datum))
            }
            _ if self.is_list => false,
            Datum::Switch(_) => self.kind == Kind::Switch,
            Datum::Integer(_) | Datum::Real(_) => self.kind == Kind::Number,
            Datum::Text(_) => self.kind == Kind::Text,
        }
    }
}

/// A value for programs.
#[derive(Clone, Debug, PartialEq)]
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
        choice::one_of(T::ALL.iter().map(|value| value.name()))
    }

    fn names() -> Vec<Name> {
        let name =
            |&value: &T| Name { name: value.name(), about: value.about(), in_all: T::USUAL.contains(&value) };
        T::ALL.iter().map(name).collect()
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

impl Value for bool {
    const SHAPE: Shape = Shape { kind: Kind::Switch, ..Shape::TEXT };

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
    const SHAPE: Shape = Shape { is_optional: true, ..T::SHAPE };

    fn expected() -> String {
        T::expected()
    }

    fn names() -> Vec<Name> {
        T::names()
    }

    fn words() -> Vec<Word> {
        T::words()
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
