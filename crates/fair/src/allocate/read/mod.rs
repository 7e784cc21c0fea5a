//! Reads the demands document, and tells what is wrong with its line and column.
//!
//! The visitors check while they read, so that the reader knows where it is.

mod scalar;
mod users;

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use trueplane_study::{Error, json};

use super::demands::{Demands, Resource};
use scalar::{CAPACITY, Name, once, unknown};
use users::Users;

impl Demands {
    /// Reads a document that is called `name`.
    ///
    /// # Errors
    ///
    /// It is not such a document: one line with name, line, column, what was expected and what was found.
    pub fn read(name: &str, text: &str) -> Result<Self, Error> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = Whole { name }.deserialize(&mut reader).and_then(|demands| reader.end().map(|()| demands));
        read.map_err(|error| {
            let what = json::problem(&error);
            Error::Parameters(format!("{name}:{}:{}: {what}", error.line(), error.column()))
        })
    }
}

/// The document.
struct Whole<'a> {
    name: &'a str,
}

impl<'de> DeserializeSeed<'de> for Whole<'_> {
    type Value = Demands;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Demands, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Whole<'_> {
    type Value = Demands;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with resources and users")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Demands, M::Error> {
        let mut resources: Option<Vec<Resource>> = None;
        let mut users = None;
        while let Some(key) = map.next_key::<String>()? {
            match (key.as_str(), &resources) {
                ("resources", _) => once(&mut resources, &key, &mut map, Resources)?,
                ("users", Some(resources)) => once(&mut users, &key, &mut map, Users { resources })?,
                ("users", None) => return Err(M::Error::custom("expected \"resources\" before \"users\"")),
                _ => return Err(unknown("field", &key, &["resources", "users"])),
            }
        }
        let resources = resources.ok_or_else(|| M::Error::missing_field("resources"))?;
        let users = users.ok_or_else(|| M::Error::missing_field("users"))?;
        Ok(Demands { name: self.name.to_owned(), resources, users })
    }
}

/// The list of resources.
struct Resources;

impl<'de> DeserializeSeed<'de> for Resources {
    type Value = Vec<Resource>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<Resource>, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Resources {
    type Value = Vec<Resource>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of resources")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Vec<Resource>, S::Error> {
        let mut resources = Vec::new();
        while let Some(resource) = list.next_element_seed(OneResource { before: &resources })? {
            resources.push(resource);
        }
        if resources.is_empty() {
            return Err(S::Error::custom("expected at least one resource"));
        }
        Ok(resources)
    }
}

struct OneResource<'a> {
    before: &'a [Resource],
}

impl<'de> DeserializeSeed<'de> for OneResource<'_> {
    type Value = Resource;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Resource, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OneResource<'_> {
    type Value = Resource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a resource with name and capacity")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Resource, M::Error> {
        let (mut name, mut capacity) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => once(&mut name, &key, &mut map, Name("resource"))?,
                "capacity" => once(&mut capacity, &key, &mut map, &CAPACITY)?,
                _ => return Err(unknown("field", &key, &["name", "capacity"])),
            }
        }
        let name = name.ok_or_else(|| M::Error::missing_field("name"))?;
        let capacity = capacity.ok_or_else(|| M::Error::missing_field("capacity"))?;
        if self.before.iter().any(|other| other.name == name) {
            return Err(M::Error::custom(format!("there are two resources \"{name}\"")));
        }
        Ok(Resource { name, capacity })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use trueplane_study::study::report;
    use trueplane_units::Choices;

    use super::super::{Allocate, Options, run::divide};
    use super::*;
    use crate::allocation::{Demand, Mechanism};
    use crate::delta::Delta;

    const DOCUMENT: &str = r#"{ "resources": [{ "name": "cpu", "capacity": 9 }, { "name": "gb", "capacity": 1.8e1 }],
  "users": [
    { "name": "a", "task": { "cpu": 1, "gb": 4 }, "weight": 2, "commitment": { "gb": 0.25 } },
    { "name": "b", "task": { "cpu": 3 }, "tasks": 1.5 },
    { "name": "c", "stages": [{ "demand": { "cpu": 4 } }, {}, { "task": { "cpu": 1 }, "tasks": 3 }] } ] }"#;

    #[test]
    fn amounts_become_shares() {
        let demands = Demands::read("x", DOCUMENT).unwrap();
        assert_eq!((demands.resources.len(), demands.stages(), demands.has_stages()), (2, 3, true));
        assert_eq!(demands.weights(), [2.0, 1.0, 1.0]);
        assert_eq!(demands.users[0].commitments, [0.0, 0.25]);
        let nothing = Demand::Total(vec![0.0, 0.0]);
        assert_eq!(demands.in_stage(0)[0], Demand::Endless(vec![1.0 / 9.0, 4.0 / 18.0]));
        assert_eq!(demands.in_stage(1)[1], Demand::Total(vec![3.0 / 9.0 * 1.5, 0.0]));
        assert_eq!(demands.in_stage(1)[2], nothing);
        assert_eq!(demands.in_stage(2)[2], Demand::Total(vec![1.0 / 9.0 * 3.0, 0.0]));
        assert_eq!(demands.in_stage(9)[2], nothing);
    }

    #[test]
    fn an_error_says_line_and_column() {
        let wrong = DOCUMENT.replace("1.5", "-1e300");
        let error = Demands::read("x.json", &wrong).unwrap_err().to_string();
        assert_eq!(error, "x.json:4:56: expected a number of tasks, zero or more, found -1e300");
        let wrong = DOCUMENT.replace("1.5", "1.5, \"a\\nb\": 1");
        let error = Demands::read("x.json", &wrong).unwrap_err().to_string();
        assert!(error.starts_with("x.json:4:6") && error.contains(r#"unknown field "a\nb""#), "{error}");
        let wrong = DOCUMENT.replace("1.8e1", "1e-300").replace("\"gb\": 4", "\"gb\": 1e300");
        let error = Demands::read("x.json", &wrong).unwrap_err().to_string();
        assert!(
            error.starts_with("x.json:3:")
                && error.contains("an amount of gb that can be compared with 1e-300,"),
            "{error}"
        );
    }

    proptest! {
        /// Whatever comes is refused in one line, or divided.
        #[test]
        fn nothing_makes_it_fall(changes in proptest::collection::vec((0..DOCUMENT.len(), "[ -~\n]{0,3}", 0_usize..4), 0..4)) {
            let mut text = DOCUMENT.to_owned();
            for (place, insert, cut) in changes {
                let place = place.min(text.len());
                let end = (place + cut).min(text.len());
                text.replace_range(place..end, &insert);
            }
            let policies = Choices(Mechanism::ALL.to_vec());
            let options = Options { policies, delta: Delta::new(0.5), ..Options::default() };
            match Demands::read("x", &text).and_then(|demands| divide(&demands, &options, &())) {
                Ok(found) => prop_assert!(!report::<Allocate>(&options, &found).tables.is_empty()),
                Err(error) => prop_assert!(!error.to_string().contains('\n') && error.to_string().starts_with("x:"), "{error}"),
            }
        }
    }
}
