//! A policy that is written in Python.

use std::collections::HashMap;

use pyo3::prelude::*;
use trueplane_cache::{Access, Object, Outcome, Policy, Room, Slot};
use trueplane_units::Nanos;

use super::Foreign;
use crate::errors;

/// The methods of an object of Python, `on_hit`, `on_delayed_hit`, `on_miss` and `on_fetched`, which are told the key, the size and the
/// time, and `victim`, which is told the time and returns a key.
pub(super) struct Written {
    on_hit: Py<PyAny>,
    on_delayed_hit: Py<PyAny>,
    on_miss: Py<PyAny>,
    on_fetched: Py<PyAny>,
    victim: Py<PyAny>,
    /// The slots of the residents, by their keys.
    residents: HashMap<u64, Slot>,
    /// The first exception. Python is told nothing after it, and whoever drives the cache raises it.
    error: Option<PyErr>,
}

impl Written {
    pub(super) fn new(policy: &Bound<'_, PyAny>) -> PyResult<Self> {
        let method = |name: &str| policy.getattr(name).map(Bound::unbind);
        Ok(Self {
            on_hit: method("on_hit")?,
            on_delayed_hit: method("on_delayed_hit")?,
            on_miss: method("on_miss")?,
            on_fetched: method("on_fetched")?,
            victim: method("victim")?,
            residents: HashMap::new(),
            error: None,
        })
    }

    fn tell(&mut self, method: fn(&Self) -> &Py<PyAny>, object: Object, now: Nanos) {
        if self.error.is_none() {
            let told = Python::attach(|py| method(self).call1(py, (object.key.0, object.size, now.0)).map(drop));
            self.error = told.err();
        }
    }

    /// The resident that Python says is to go.
    fn chosen(&mut self, now: Nanos) -> PyResult<Slot> {
        let key = Python::attach(|py| {
            let answer = self.victim.call1(py, (now.0,))?;
            answer.extract::<u64>(py).map_err(|_| answer.bind(py).repr().map_or_else(|error| error, |said| unknown(&said.to_string())))
        })?;
        self.residents.remove(&key).ok_or_else(|| unknown(&key.to_string()))
    }
}

/// Python said something that is no key of a resident.
fn unknown(said: &str) -> PyErr {
    errors::parameter(format!("policy: expected the key of an object in the cache from victim(), got {said}"))
}

impl Policy for Written {
    fn request(&mut self, _: Slot, object: Object, access: Access, outcome: Outcome) {
        let method: fn(&Self) -> &Py<PyAny> = match outcome {
            Outcome::Hit => |policy| &policy.on_hit,
            Outcome::Delayed => |policy| &policy.on_delayed_hit,
            Outcome::Miss => |policy| &policy.on_miss,
        };
        self.tell(method, object, access.now);
    }

    /// It was told of the requests as they came.
    fn touch(&mut self, _: Slot, _: Object, _: u64, _: Nanos) {}

    fn admit(&mut self, slot: Slot, _: Nanos, now: Nanos, room: &mut Room<'_>) {
        let object = room.object(slot);
        self.residents.insert(object.key.0, slot);
        self.tell(|policy| &policy.on_fetched, object, now);
        self.make_room(now, room);
    }

    fn remove(&mut self, _: Slot, object: Object, _: Nanos) {
        self.residents.remove(&object.key.0);
    }

    fn make_room(&mut self, now: Nanos, room: &mut Room<'_>) {
        while room.lacking() {
            if self.error.is_none() {
                match self.chosen(now) {
                    Ok(slot) => {
                        room.evict(slot);
                        continue;
                    }
                    Err(error) => self.error = Some(error),
                }
            }
            // The cache keeps to its capacity until its driver sees the exception.
            let Some(key) = self.residents.keys().next().copied() else { return };
            self.residents.remove(&key).into_iter().for_each(|slot| room.evict(slot));
        }
    }
}

impl Foreign for Written {
    fn error(&self) -> Option<&PyErr> {
        self.error.as_ref()
    }

    fn held(&self) -> Vec<&Py<PyAny>> {
        vec![&self.on_hit, &self.on_delayed_hit, &self.on_miss, &self.on_fetched, &self.victim]
    }
}
