//! A policy that is written in Python.

use std::collections::HashMap;

use pyo3::prelude::*;
use trueplane_cache::{Access, Object, Outcome, Policy, Room, Slot};
use trueplane_units::Nanos;

use super::foreign::Foreign;
use crate::callback::{Callbacks, unexpected};

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
    /// Whoever drives the cache raises the first exception.
    callbacks: Callbacks,
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
            callbacks: Callbacks::default(),
        })
    }

    fn tell(&self, method: &Py<PyAny>, object: Object, now: Nanos) {
        self.callbacks.call(|py| method.call1(py, (object.key.0, object.size, now.0)).map(drop));
    }

    /// The resident that Python says is to go.
    fn chosen(&mut self, now: Nanos) -> Option<Slot> {
        let key = self.callbacks.call(|py| {
            let answer = self.victim.call1(py, (now.0,))?;
            let key = answer.extract(py).ok().filter(|key| self.residents.contains_key(key));
            key.ok_or_else(|| {
                unexpected(
                    "policy: expected the key of an object in the cache from victim()",
                    answer.bind(py),
                )
            })
        })?;
        self.residents.remove(&key)
    }
}

impl Policy for Written {
    fn request(&mut self, _: Slot, object: Object, access: Access, outcome: Outcome) {
        let method = match outcome {
            Outcome::Hit => &self.on_hit,
            Outcome::Delayed => &self.on_delayed_hit,
            Outcome::Miss => &self.on_miss,
        };
        self.tell(method, object, access.now);
    }

    /// It was told of the requests as they came.
    fn touch(&mut self, _: Slot, _: Object, _: u64, _: Nanos) {}

    fn admit(&mut self, slot: Slot, _: Nanos, now: Nanos, room: &mut Room<'_>) {
        let object = room.object(slot);
        self.residents.insert(object.key.0, slot);
        self.tell(&self.on_fetched, object, now);
        self.make_room(now, room);
    }

    fn remove(&mut self, _: Slot, object: Object, _: Nanos) {
        self.residents.remove(&object.key.0);
    }

    fn make_room(&mut self, now: Nanos, room: &mut Room<'_>) {
        while room.lacking() {
            if let Some(slot) = self.chosen(now) {
                room.evict(slot);
                continue;
            }
            // The cache keeps to its capacity until its driver sees the exception.
            let Some(key) = self.residents.keys().next().copied() else { return };
            self.residents.remove(&key).into_iter().for_each(|slot| room.evict(slot));
        }
    }
}

impl Foreign for Written {
    fn callbacks(&self) -> &Callbacks {
        &self.callbacks
    }

    fn held(&self) -> Vec<&Py<PyAny>> {
        vec![&self.on_hit, &self.on_delayed_hit, &self.on_miss, &self.on_fetched, &self.victim]
    }
}
