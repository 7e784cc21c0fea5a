//! Several values in one parameter, with commas between them.

use std::ops::Deref;

use crate::choice::Choice;
use crate::value::{Datum, Name, Shape, Value, names, unexpected};

/// Several values with commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T>(pub Vec<T>);

impl<T: Clone + PartialEq> List<T> {
    /// The first of all equal values, in their order.
    pub fn distinct(&self) -> Vec<T> {
        distinct(self.0.iter().cloned())
    }
}

/// The first of all equal items, in their order.
pub fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for item in items {
        if !kept.contains(&item) {
            kept.push(item);
        }
    }
    kept
}

impl<T> Deref for List<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Value> Value for List<T> {
    const UNIT: &'static str = T::UNIT;
    const SHAPE: Shape = Shape { is_list: true, ..T::SHAPE };

    fn expected() -> String {
        format!("{}, or several with commas between them", T::expected())
    }

    fn names() -> Vec<Name> {
        T::names()
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
    const SHAPE: Shape = Shape { is_list: true, ..Shape::TEXT };

    fn expected() -> String {
        let names: Vec<&str> = T::ALL.iter().map(|value| value.name()).collect();
        format!("one or several of {}, or all", names.join(", "))
    }

    fn names() -> Vec<Name> {
        names::<T>()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut chosen: Vec<T> = Vec::new();
        for name in text.split(',').map(str::trim) {
            if name.eq_ignore_ascii_case("all") {
                chosen.extend(T::USUAL);
            } else {
                chosen.push(T::from_name(name).map_err(|_| unexpected(Self::expected(), name))?);
            }
        }
        Ok(Self(distinct(chosen)))
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
    use crate::{Nanos, choices};

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

    #[test]
    fn choices_make_lists_without_repetitions() {
        let list = |text: &str| Choices::<Source>::parse(text).map(|list| list.0);
        assert_eq!(list("bursty, cbr,bursty"), Ok(vec![Source::Bursty, Source::Cbr]));
        assert_eq!(list("ALL"), Ok(vec![Source::Cbr, Source::Poisson]));
        for bad in ["udp", "cbr,", ""] {
            assert!(
                list(bad)
                    .unwrap_err()
                    .starts_with("expected one or several of cbr, poisson, bursty, or all, got \""),
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
        assert_eq!(List(vec![3, 1, 3]).distinct(), [3, 1]);
        assert_eq!(Option::<u64>::absent(), Some(None));
        assert_eq!(u64::absent(), None);
        assert_eq!(List(vec![Nanos(1_500)]).datum(), Datum::List(vec![Datum::Integer(1_500)]));
    }
}
