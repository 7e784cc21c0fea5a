//! Several values in one parameter, with commas between them.

use std::ops::Deref;

use crate::choice::{Choice, Word};
use crate::value::{Datum, Name, Shape, Value, unexpected};

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

/// A value that has a name, and of which a list can have several.
pub trait Listed: Value + Clone + PartialEq {
    /// The values that the word `all` stands for.
    fn usual() -> Vec<Self>;

    /// Words that stand for several values, each with these.
    fn several() -> Vec<(Word, Vec<Self>)> {
        vec![(Word { name: "all", about: "All of these." }, Self::usual())]
    }
}

impl<T: Choice> Listed for T {
    fn usual() -> Vec<Self> {
        T::USUAL.to_vec()
    }

    fn several() -> Vec<(Word, Vec<Self>)> {
        let about = if T::USUAL.len() == T::ALL.len() { "All of these." } else { "All that are not marked." };
        let all = (Word { name: "all", about }, T::USUAL.to_vec());
        let others = T::WORDS
            .iter()
            .map(|&(word, holds)| (word, T::USUAL.iter().copied().filter(|&value| holds(value)).collect()));
        std::iter::once(all).chain(others).collect()
    }
}

/// Several names with commas between them, none twice. Some words stand for several names; with `NONE` the word `none` stands for an
/// empty list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices<T, const NONE: bool = false>(pub Vec<T>);

/// The word for an empty list.
const NONE_OF_THEM: Word = Word { name: "none", about: "None of these." };

impl<T, const NONE: bool> Deref for Choices<T, NONE> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Listed, const NONE: bool> Value for Choices<T, NONE> {
    const SHAPE: Shape = Shape { is_list: true, ..Shape::TEXT };

    fn expected() -> String {
        let names: Vec<&str> = T::names().iter().map(|name| name.name).collect();
        format!("one or several of {}, or {}", names.join(", "), Word::any_of(&Self::words()))
    }

    fn names() -> Vec<Name> {
        T::names()
    }

    fn words() -> Vec<Word> {
        let words = T::several().into_iter().map(|(word, _)| word);
        words.chain(NONE.then_some(NONE_OF_THEM)).collect()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if NONE && text.trim().eq_ignore_ascii_case(NONE_OF_THEM.name) {
            return Ok(Self(Vec::new()));
        }
        let mut chosen: Vec<T> = Vec::new();
        for name in text.split(',').map(str::trim) {
            match T::several().into_iter().find(|(word, _)| word.name.eq_ignore_ascii_case(name)) {
                Some((_, values)) => chosen.extend(values),
                None => chosen.push(T::parse(name).map_err(|_| unexpected(Self::expected(), name))?),
            }
        }
        Ok(Self(distinct(chosen)))
    }

    fn show(&self) -> String {
        match self.0.as_slice() {
            [] if NONE => NONE_OF_THEM.name.to_owned(),
            values => values.iter().map(Value::show).collect::<Vec<_>>().join(","),
        }
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
        words {
            /// All that draw nothing.
            "steady" = |source| source != Source::Poisson,
        }
    }

    #[test]
    fn choices_make_lists_without_repetitions() {
        let list = |text: &str| <Choices<Source>>::parse(text).map(|list| list.0);
        assert_eq!(list("bursty, cbr,bursty"), Ok(vec![Source::Bursty, Source::Cbr]));
        assert_eq!(list("ALL"), Ok(vec![Source::Cbr, Source::Poisson]));
        assert_eq!(list("poisson, Steady"), Ok(vec![Source::Poisson, Source::Cbr]));
        let expected = "expected one or several of cbr, poisson, bursty, or all or steady, got \"";
        for bad in ["udp", "cbr,", "", "none"] {
            assert!(list(bad).unwrap_err().starts_with(expected), "{bad}");
        }
        assert_eq!(<Choices<Source>>::parse("bursty,cbr").unwrap().show(), "bursty,cbr");
        let none = Choices::<Source, true>::parse("None").unwrap();
        assert_eq!((none.len(), none.show().as_str()), (0, "none"));
        assert!(Choices::<Source, true>::expected().ends_with("bursty, or all, steady or none"));
        assert!(Choices::<Source, true>::parse("cbr,none").is_err());
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
