//! A policy that is compiled: functions of C, as Numba, cffi and Cython make them.
//!
//! The only place of the package with unsafe code: it calls addresses that the user gives.

use std::ffi::c_void;

use pyo3::prelude::*;
use trueplane_cache::{Access, Object, Outcome, Policy, Room, Slot};
use trueplane_units::Nanos;

use super::foreign::Foreign;
use crate::callback::Callbacks;
use crate::errors;

/// `void event(void *state, uint64_t slot, uint64_t key, uint64_t size, uint64_t now)`.
type Event = unsafe extern "C" fn(*mut c_void, u64, u64, u64, u64);

/// `uint64_t victim(void *state, uint64_t now)`: the slot that is to go.
type Victim = unsafe extern "C" fn(*mut c_void, u64) -> u64;

/// The functions of a policy. One that is none is not called.
pub(super) struct Compiled {
    on_hit: Option<Event>,
    on_delayed_hit: Option<Event>,
    on_miss: Option<Event>,
    on_fetched: Option<Event>,
    victim: Victim,
    /// The address that all are given.
    state: usize,
    /// Keeps the memory of the functions and of their state.
    keep: Py<PyAny>,
    /// The slots for which there is state.
    slots: u64,
    /// The slots of the residents, which the policy chooses from, at their numbers.
    residents: Vec<Option<Slot>>,
    /// Whoever drives the cache raises the first mistake.
    callbacks: Callbacks,
    /// Whether there has been one: no function is called after it. Every request asks, so that it takes no lock.
    has_failed: bool,
}

impl Compiled {
    /// The functions whose addresses an object has as `_addresses`, with its `_state` and `_slots`. None if it has none.
    pub(super) fn from_python(policy: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let Ok(addresses) = policy.getattr("_addresses") else { return Ok(None) };
        let address = |name: &str| -> PyResult<Option<usize>> {
            let address: Option<usize> = addresses.get_item(name)?.extract()?;
            Ok(address.filter(|&address| address != 0))
        };
        let event = |name: &str| -> PyResult<Option<Event>> {
            // SAFETY: the user of the package promises that a function of this type is there. It is not null.
            Ok(address(name)?.map(|address| unsafe { std::mem::transmute::<usize, Event>(address) }))
        };
        let victim =
            address("victim")?.ok_or_else(|| errors::parameter("victim: expected a function".to_owned()))?;
        Ok(Some(Self {
            on_hit: event("on_hit")?,
            on_delayed_hit: event("on_delayed_hit")?,
            on_miss: event("on_miss")?,
            on_fetched: event("on_fetched")?,
            // SAFETY: as above.
            victim: unsafe { std::mem::transmute::<usize, Victim>(victim) },
            state: policy.getattr("_state")?.extract()?,
            keep: policy.getattr("_keep")?.unbind(),
            slots: policy.getattr("_slots")?.extract()?,
            residents: Vec::new(),
            callbacks: Callbacks::default(),
            has_failed: false,
        }))
    }

    fn tell(&mut self, event: Option<Event>, slot: Slot, object: Object, now: Nanos) {
        if let Some(event) = event.filter(|_| !self.has_failed) {
            // SAFETY: the user promises that the function takes these, and writes only what is its own for slots below `slots`.
            unsafe { event(self.state as *mut c_void, slot.index() as u64, object.key.0, object.size, now.0) }
        }
    }

    fn fail(&mut self, message: String) {
        self.has_failed = true;
        self.callbacks.raise(errors::parameter(message));
    }

    /// The slot of a resident that is to go.
    fn chosen(&mut self, now: Nanos, room: &Room<'_>) -> Option<Slot> {
        if !self.has_failed {
            // SAFETY: as in `tell`.
            let chosen = unsafe { (self.victim)(self.state as *mut c_void, now.0) };
            let place = usize::try_from(chosen).unwrap_or(usize::MAX);
            if let Some(&Some(slot)) = self.residents.get(place) {
                return Some(slot);
            }
            self.fail(format!("victim: expected the slot of an object in the cache, got {chosen}"));
        }
        // The cache keeps to its capacity until its driver sees the exception.
        room.residents().next()
    }
}

impl Policy for Compiled {
    fn request(&mut self, slot: Slot, object: Object, access: Access, outcome: Outcome) {
        if slot.index() as u64 >= self.slots {
            self.fail(format!(
                "slots: expected more than {}: so many objects are in the cache or being fetched",
                self.slots
            ));
        }
        let event = match outcome {
            Outcome::Hit => self.on_hit,
            Outcome::Delayed => self.on_delayed_hit,
            Outcome::Miss => self.on_miss,
        };
        self.tell(event, slot, object, access.now);
    }

    /// It was told of the requests as they came.
    fn touch(&mut self, _: Slot, _: Object, _: u64, _: Nanos) {}

    fn admit(&mut self, slot: Slot, _: Nanos, now: Nanos, room: &mut Room<'_>) {
        if slot.index() >= self.residents.len() {
            self.residents.resize(slot.index() + 1, None);
        }
        self.residents[slot.index()] = Some(slot);
        self.tell(self.on_fetched, slot, room.object(slot), now);
        self.make_room(now, room);
    }

    fn remove(&mut self, slot: Slot, _: Object, _: Nanos) {
        self.residents[slot.index()] = None;
    }

    fn make_room(&mut self, now: Nanos, room: &mut Room<'_>) {
        while room.lacking() {
            let Some(slot) = self.chosen(now, room) else { return };
            self.residents[slot.index()] = None;
            room.evict(slot);
        }
    }
}

impl Foreign for Compiled {
    fn callbacks(&self) -> &Callbacks {
        &self.callbacks
    }

    fn held(&self) -> Vec<&Py<PyAny>> {
        vec![&self.keep]
    }
}
