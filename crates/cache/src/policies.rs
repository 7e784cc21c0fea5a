//! Several policies in one parameter.

use std::ops::Deref;

use trueplane_units::{Datum, Name, Shape, Value, choice};

use crate::policy::PolicyName;

/// Several policies with commas between them, none twice; `all` and `online` stand for some. With `NONE` the word `none` is allowed, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen<const NONE: bool>(pub Vec<PolicyName>);

/// One or more policies.
pub type Policies = Chosen<false>;

/// Policies, or none.
pub type PoliciesOrNone = Chosen<true>;

impl<const NONE: bool> Deref for Chosen<NONE> {
    type Target = [PolicyName];

    fn deref(&self) -> &[PolicyName] {
        &self.0
    }
}

impl<const NONE: bool> Value for Chosen<NONE> {
    const SHAPE: Shape = Shape { is_list: true, ..Shape::TEXT };

    fn expected() -> String {
        let none = if NONE { ", or none" } else { "" };
        format!(
            "{}, several with commas between them, online, or all{none}",
            choice::expected::<PolicyName>()
        )
    }

    fn names() -> Vec<Name> {
        PolicyName::names()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if NONE && text.eq_ignore_ascii_case("none") {
            return Ok(Self(Vec::new()));
        }
        let mut chosen = Vec::new();
        for name in text.split(',').map(str::trim) {
            let is = |word: &str| name.eq_ignore_ascii_case(word);
            let several = is("all") || is("online");
            let one = if several { None } else { Some(PolicyName::parse(name)?) };
            let meant = one.as_ref().map_or(PolicyName::USUAL, std::slice::from_ref);
            for policy in meant.iter().filter(|policy| !(is("online") && policy.properties().offline)) {
                if !chosen.contains(policy) {
                    chosen.push(*policy);
                }
            }
        }
        Ok(Self(chosen))
    }

    fn show(&self) -> String {
        match self.0.as_slice() {
            [] => "none".to_owned(),
            chosen => chosen.iter().map(|policy| policy.name()).collect::<Vec<_>>().join(","),
        }
    }

    fn datum(&self) -> Datum {
        Datum::List(self.0.iter().map(Value::datum).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_several() {
        let list = |text: &str| Policies::parse(text).map(|policies| policies.0);
        assert_eq!(list("LRU-MAD, lru,lru-mad"), Ok(vec![PolicyName::LruMad, PolicyName::Lru]));
        assert_eq!(list("all"), Ok(PolicyName::ALL.to_vec()));
        let online = list("online").unwrap();
        assert!(!online.contains(&PolicyName::Belady) && online.contains(&PolicyName::LhdMad));
        assert_eq!(list("belady,online").map(|list| list.len()), Ok(online.len() + 1));
        for bad in ["", "_", "-1", "lru,,", "lruu", "none"] {
            assert!(list(bad).unwrap_err().starts_with("expected one of lru, lfu, arc, "), "{bad}");
        }
        let none = PoliciesOrNone::parse("none").unwrap();
        assert_eq!((none.len(), none.show().as_str()), (0, "none"));
    }
}
