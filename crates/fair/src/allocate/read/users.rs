//! Users and what they want.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::super::demands::{Resource, UserDemands, Wants};
use super::scalar::{AMOUNT, Name, Number, SHARE, TASKS, WEIGHT, once, shown, unknown};
use crate::allocation::Demand;

/// The list of users.
pub(super) struct Users<'a> {
    pub(super) resources: &'a [Resource],
}

impl<'de> DeserializeSeed<'de> for Users<'_> {
    type Value = Vec<UserDemands>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<UserDemands>, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Users<'_> {
    type Value = Vec<UserDemands>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of users")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Vec<UserDemands>, S::Error> {
        let mut users: Vec<UserDemands> = Vec::new();
        let mut names = hashbrown::HashSet::new();
        while let Some(user) = list.next_element_seed(OneUser { resources: self.resources })? {
            if !names.insert(user.name.clone()) {
                return Err(S::Error::custom(format!("there are two users \"{}\"", user.name)));
            }
            users.push(user);
        }
        if users.is_empty() {
            return Err(S::Error::custom("expected at least one user"));
        }
        Ok(users)
    }
}

struct OneUser<'a> {
    resources: &'a [Resource],
}

impl<'de> DeserializeSeed<'de> for OneUser<'_> {
    type Value = UserDemands;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<UserDemands, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OneUser<'_> {
    type Value = UserDemands;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a user")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<UserDemands, M::Error> {
        let resources = self.resources;
        let (mut name, mut weight, mut commitments, mut stages) = (None, None, None, None);
        let mut wish = Wish::new(resources);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "name" => once(&mut name, &key, &mut map, Name("user"))?,
                "weight" => once(&mut weight, &key, &mut map, &WEIGHT)?,
                "commitment" => once(&mut commitments, &key, &mut map, Amounts { resources, each: &SHARE })?,
                "stages" => once(&mut stages, &key, &mut map, Stages { resources })?,
                _ if wish.take(&key, &mut map)? => {}
                _ => {
                    let known = ["name", "weight", "commitment", "demand", "task", "tasks", "stages"];
                    return Err(unknown("field", &key, &known));
                }
            }
        }
        let name = name.ok_or_else(|| M::Error::missing_field("name"))?;
        let wants = match (stages, wish.is_empty()) {
            (Some(stages), true) => Wants::Stages(stages),
            (None, false) => Wants::Always(wish.demand()?),
            (Some(_), false) => return Err(M::Error::custom("expected either stages or one demand")),
            (None, true) => return Err(M::Error::custom("expected one of demand, task or stages")),
        };
        let commitments = commitments.unwrap_or_else(|| vec![0.0; resources.len()]);
        Ok(UserDemands { name, weight: weight.unwrap_or(1.0), commitments, wants })
    }
}

/// `demand`, or `task` and perhaps `tasks`, as far as they are read.
struct Wish<'a> {
    resources: &'a [Resource],
    demand: Option<Vec<f64>>,
    task: Option<Vec<f64>>,
    tasks: Option<f64>,
}

impl<'a> Wish<'a> {
    fn new(resources: &'a [Resource]) -> Self {
        Self { resources, demand: None, task: None, tasks: None }
    }

    fn is_empty(&self) -> bool {
        self.demand.is_none() && self.task.is_none() && self.tasks.is_none()
    }

    /// Reads the value of a key, if it is one of these.
    fn take<'de, M: MapAccess<'de>>(&mut self, key: &str, map: &mut M) -> Result<bool, M::Error> {
        let amounts = Amounts { resources: self.resources, each: &AMOUNT };
        match key {
            "demand" => once(&mut self.demand, key, map, amounts)?,
            "task" => once(&mut self.task, key, map, amounts)?,
            "tasks" => once(&mut self.tasks, key, map, &TASKS)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The demand in shares of the cluster.
    fn demand<E: serde::de::Error>(self) -> Result<Demand, E> {
        let (amounts, times) = match (self.demand, self.task, self.tasks) {
            (Some(demand), None, None) => (demand, Some(1.0)),
            (None, Some(task), tasks) => (task, tasks),
            (None, None, None) => (vec![0.0; self.resources.len()], Some(1.0)),
            (Some(_), _, _) => return Err(E::custom("expected either a demand or a task")),
            (None, None, Some(_)) => return Err(E::custom("expected the task that tasks counts")),
        };
        let share = |(amount, resource): (&f64, &Resource)| amount / resource.capacity * times.unwrap_or(1.0);
        let shares: Vec<f64> = amounts.iter().zip(self.resources).map(share).collect();
        if let Some(place) = shares.iter().position(|share| !share.is_finite()) {
            let (name, capacity) = (&self.resources[place].name, shown(self.resources[place].capacity));
            return Err(E::custom(format!(
                "expected an amount of {name} that can be compared with {capacity}, found more"
            )));
        }
        Ok(if times.is_some() { Demand::Total(shares) } else { Demand::Endless(shares) })
    }
}

/// A list of stages.
struct Stages<'a> {
    resources: &'a [Resource],
}

impl<'de> DeserializeSeed<'de> for Stages<'_> {
    type Value = Vec<Demand>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<Demand>, D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Stages<'_> {
    type Value = Vec<Demand>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of what is wanted, stage by stage")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Vec<Demand>, S::Error> {
        let mut stages = Vec::new();
        while let Some(stage) = list.next_element_seed(OneStage { resources: self.resources })? {
            stages.push(stage);
        }
        Ok(stages)
    }
}

struct OneStage<'a> {
    resources: &'a [Resource],
}

impl<'de> DeserializeSeed<'de> for OneStage<'_> {
    type Value = Demand;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Demand, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OneStage<'_> {
    type Value = Demand;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a demand or a task, or {} for nothing")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Demand, M::Error> {
        let mut wish = Wish::new(self.resources);
        while let Some(key) = map.next_key::<String>()? {
            if !wish.take(&key, &mut map)? {
                return Err(unknown("field", &key, &["demand", "task", "tasks"]));
            }
        }
        wish.demand()
    }
}

/// Numbers by resource; zero for those that are not named.
struct Amounts<'a> {
    resources: &'a [Resource],
    each: &'a Number,
}

impl<'de> DeserializeSeed<'de> for Amounts<'_> {
    type Value = Vec<f64>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Vec<f64>, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Amounts<'_> {
    type Value = Vec<f64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with numbers by resource")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Vec<f64>, M::Error> {
        let mut amounts = vec![None; self.resources.len()];
        while let Some(key) = map.next_key::<String>()? {
            let Some(place) = self.resources.iter().position(|resource| resource.name == key) else {
                let known: Vec<&str> = self.resources.iter().map(|resource| resource.name.as_str()).collect();
                return Err(unknown("resource", &key, &known));
            };
            once(&mut amounts[place], &key, &mut map, self.each)?;
        }
        Ok(amounts.into_iter().map(Option::unwrap_or_default).collect())
    }
}
