//! Numbers within bounds, names, and keys that stand only once.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, Visitor};

use crate::allocation::MOST_WEIGHT;

/// A number within bounds.
pub(super) struct Number {
    what: &'static str,
    least: f64,
    most: f64,
    /// Whether the least itself is too little.
    above: bool,
}

pub(super) const CAPACITY: Number =
    Number { what: "a capacity above zero", least: 0.0, most: f64::MAX, above: true };
pub(super) const AMOUNT: Number =
    Number { what: "an amount, zero or more", least: 0.0, most: f64::MAX, above: false };
pub(super) const TASKS: Number =
    Number { what: "a number of tasks, zero or more", least: 0.0, most: f64::MAX, above: false };
pub(super) const WEIGHT: Number = Number {
    what: "a weight above zero, up to 1e100",
    least: 1.0 / MOST_WEIGHT,
    most: MOST_WEIGHT,
    above: false,
};
pub(super) const SHARE: Number = Number { what: "a share from 0 to 1", least: 0.0, most: 1.0, above: false };

impl<'de> DeserializeSeed<'de> for &Number {
    type Value = f64;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<f64, D::Error> {
        from.deserialize_f64(self)
    }
}

impl<'de> Visitor<'de> for &Number {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<f64, E> {
        let fits = number.is_finite() && (self.least..=self.most).contains(&number);
        match fits && !(self.above && number == self.least) {
            true => Ok(number),
            false => Err(E::custom(format!("expected {}, found {}", self.what, shown(number)))),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<f64, E> {
        self.visit_f64(number as f64)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<f64, E> {
        self.visit_f64(number as f64)
    }
}

/// A number as people write it, in few digits.
pub(super) fn shown(number: f64) -> String {
    match number.abs() {
        size if size == 0.0 || (1e-6..1e15).contains(&size) => number.to_string(),
        _ => format!("{number:e}"),
    }
}

/// A key that may stand only once, and its value.
pub(super) fn once<'de, T, M: MapAccess<'de>>(
    slot: &mut Option<T>,
    key: &str,
    map: &mut M,
    seed: impl DeserializeSeed<'de, Value = T>,
) -> Result<(), M::Error> {
    if slot.is_some() {
        return Err(M::Error::custom(format!("{key:?} is said twice")));
    }
    *slot = Some(map.next_value_seed(seed)?);
    Ok(())
}

pub(super) fn unknown<E: serde::de::Error>(what: &str, found: &str, known: &[&str]) -> E {
    E::custom(format!("unknown {what} {found:?}; known: {}", known.join(", ")))
}

/// A name: some letters.
pub(super) struct Name(pub(super) &'static str);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the name of a {}", self.0)
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<String, E> {
        match name.trim().is_empty() || name.chars().any(char::is_control) {
            true => Err(E::custom(format!("expected the name of a {}, found {name:?}", self.0))),
            false => Ok(name.to_owned()),
        }
    }
}
