//! Values as people write them on the command line.

use std::str::FromStr;

use trueplane_units::{Nanos, Value as _};

/// What has names that flags know it by.
pub(crate) trait Named: Copy + PartialEq + 'static {
    /// What it is, for errors.
    const WHAT: &'static str;
    /// Every one of them with its name.
    const NAMES: &'static [(&'static str, Self)];

    /// Those that `all` stands for.
    fn all() -> Vec<Self> {
        Self::NAMES.iter().map(|&(_, value)| value).collect()
    }
}

/// The one that is called `name`.
pub(crate) fn named<T: Named>(name: &str) -> Result<T, String> {
    let known = || T::NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = T::NAMES.iter().find(|(other, _)| *other == name).map(|&(_, value)| value);
    found.ok_or_else(|| format!("unknown {} \"{name}\"; known: {}", T::WHAT, known()))
}

/// Several of them with commas between, without repetitions; `all` stands for all.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NameList<T>(pub(crate) Vec<T>);

impl<T: Named> FromStr for NameList<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut values = Vec::new();
        for name in text.split(',').map(str::trim) {
            match name {
                "all" => values.extend(T::all()),
                name => values.push(named(name)?),
            }
        }
        Ok(Self(without_repetitions(&values)))
    }
}

/// The first of all equal items, in their order.
pub(crate) fn without_repetitions<T: Clone + PartialEq>(items: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::new();
    for item in items {
        if !kept.contains(item) {
            kept.push(item.clone());
        }
    }
    kept
}

/// A length of time above zero.
pub(crate) fn time(text: &str) -> Result<Nanos, String> {
    match text.parse::<Nanos>() {
        Ok(Nanos(0)) => Err(format!("expected a time above zero such as 100ms, got \"{text}\"")),
        Ok(time) => Ok(time),
        Err(error) => Err(error.to_string()),
    }
}

/// A count with an optional `K`, `M` or `G`, powers of ten, or `Ki`, `Mi` or `Gi`, powers of two.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    u64::parse(text)
}

/// A count of at least one.
pub(crate) fn above_zero(text: &str) -> Result<u64, String> {
    match count(text)? {
        0 => Err("expected a count above zero, got \"0\"".to_owned()),
        count => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Named for u8 {
        const WHAT: &'static str = "digit";
        const NAMES: &'static [(&'static str, Self)] = &[("zero", 0), ("one", 1), ("two", 2)];
    }

    #[test]
    fn names_make_lists() {
        let list = |text: &str| text.parse::<NameList<u8>>().map(|list| list.0);
        assert_eq!(list("two, zero,two"), Ok(vec![2, 0]));
        assert_eq!(list("all").map(|list| list.len()), Ok(3));
        assert_eq!(list("ten"), Err("unknown digit \"ten\"; known: zero, one, two".to_owned()));
        assert!(list("zero,").is_err());
    }

    #[test]
    fn counts_have_suffixes() {
        assert_eq!([count("200K"), count("1.5M"), count("7")], [Ok(200_000), Ok(1_500_000), Ok(7)]);
        assert_eq!(
            [count("64Ki"), count("1.5Mi"), count("64i")].map(Result::ok),
            [Some(65_536), Some(1_572_864), None]
        );
        assert!(["1.5", "0.4", "", "K", "-3", "1e6", "5Q"].iter().all(|bad| count(bad).is_err()));
    }
}
