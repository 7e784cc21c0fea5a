//! What an eviction costs: the half of a rank that a policy can be given from outside.
//!
//! A policy guesses when an object will be wanted again; the classical model says that every miss then costs the same
//! ([`Unit`]). MAD ([`AggregateDelay`](super::policy::AggregateDelay)) says what it will really cost. The policies are
//! generic over this choice, so `mad(X)` is X itself with another cost: `Lru<AggregateDelay>`.

use std::fmt::Debug;

use trueplane_units::Nanos;

use crate::list::List;
use crate::{Access, Object, Outcome, Slot};

/// Cost of evicting an object: the delay that its next miss is expected to cause, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stake {
    /// The sum of delays …
    pub delay: u64,
    /// … over so many misses, real or supposed; at least 1.
    pub windows: u64,
    /// Instant of the latest request for the object.
    pub last: Nanos,
}

/// Estimates what evicting an object costs.
pub trait Cost: Clone + Debug + Default {
    /// The order of objects when their time to the next access is guessed from the last.
    type Recency: VictimOrder;

    /// A request for the object in `slot` arrives; see [`Policy::request`](super::Policy::request).
    fn request(&mut self, slot: Slot, object: Object, access: Access, outcome: Outcome);

    /// The object in `slot` has come; its fetch took `fetch`.
    fn fetched(&mut self, slot: Slot, fetch: Nanos);

    /// The object leaves `slot`: it was evicted or removed, or never came.
    fn evicted(&mut self, slot: Slot, object: Object);

    /// Cost of evicting the object in `slot` now.
    fn stake(&self, slot: Slot) -> Stake;
}

/// The order in which resident objects become victims.
pub trait VictimOrder: Clone + Debug + Default {
    /// Adds a slot, as the one used most recently.
    fn insert(&mut self, slot: Slot, stake: Stake, now: Nanos);

    /// A member has been used.
    fn renew(&mut self, slot: Slot, stake: Stake, now: Nanos);

    /// Takes a member out.
    fn remove(&mut self, slot: Slot, now: Nanos);

    /// The member to evict first at `now`. `stake` says what is at stake for a member, as when it was inserted or renewed last.
    fn victim(&mut self, now: Nanos, stake: impl Fn(Slot) -> Stake) -> Option<Slot>;
}

/// The classical model: every miss costs the same, so that the least recently used goes first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unit;

impl Cost for Unit {
    type Recency = List;

    fn request(&mut self, _: Slot, _: Object, _: Access, _: Outcome) {}
    fn fetched(&mut self, _: Slot, _: Nanos) {}
    fn evicted(&mut self, _: Slot, _: Object) {}

    fn stake(&self, _: Slot) -> Stake {
        Stake { delay: 1, windows: 1, last: Nanos(0) }
    }
}

impl VictimOrder for List {
    fn insert(&mut self, slot: Slot, _: Stake, _: Nanos) {
        self.push(slot.0);
    }

    fn renew(&mut self, slot: Slot, _: Stake, _: Nanos) {
        List::renew(self, slot.0);
    }

    fn remove(&mut self, slot: Slot, _: Nanos) {
        List::remove(self, slot.0);
    }

    fn victim(&mut self, _: Nanos, _: impl Fn(Slot) -> Stake) -> Option<Slot> {
        self.oldest().map(Slot)
    }
}
