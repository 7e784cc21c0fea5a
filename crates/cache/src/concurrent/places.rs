//! A [`Directory`] under any policy, behind one type.

use trueplane_units::Nanos;

use crate::policy::{Params, PolicyName, WithPolicy, with_policy};
use crate::{Access, Directory, FetchId, Key, Object, Outcome, Policy, Removed, Slot};

/// What a shard asks of its directory: one indirect jump for each, whatever the policy.
pub(super) trait Places: Send {
    /// What a request would meet, and where.
    fn look_up(&self, key: Key) -> (Outcome, Option<Slot>);

    /// A request for what is in a slot.
    fn request_at(&mut self, slot: Slot, now: Nanos);

    /// A request for what is not there: its slot, and the name of its fetch.
    fn miss(&mut self, object: Object, now: Nanos) -> (Slot, FetchId);

    /// A fetch has ended. The slot of what has come, and then those that are free from now on, into `freed`; `None` if nobody waits for
    /// the fetch.
    fn fetched(
        &mut self,
        fetch: FetchId,
        weight: u64,
        took: Nanos,
        now: Nanos,
        freed: &mut Vec<Slot>,
    ) -> Option<Slot>;

    /// What is in a slot was fetched again, which took so long.
    fn renewed(&mut self, slot: Slot, took: Nanos);

    /// A fetch has failed.
    fn failed(&mut self, fetch: FetchId) -> bool;

    /// An object is to go.
    fn remove(&mut self, key: Key, now: Nanos) -> Removed;

    /// All are to go; those that were resident, into `freed`.
    fn clear(&mut self, now: Nanos, freed: &mut Vec<Slot>);

    /// The capacity changes; who has to leave, into `freed`.
    fn resize(&mut self, capacity: u64, now: Nanos, freed: &mut Vec<Slot>);

    /// What the object in a slot weighs.
    fn weight(&self, slot: Slot) -> u64;

    /// The key of the object in a slot, if there is one.
    fn key(&self, slot: Slot) -> Option<Key>;

    /// The weight of all resident objects.
    fn used(&self) -> u64;

    /// Number of resident objects.
    fn len(&self) -> usize;
}

impl<P: Policy + Send> Places for Directory<P> {
    #[inline]
    fn look_up(&self, key: Key) -> (Outcome, Option<Slot>) {
        self.look_up(key)
    }

    #[inline]
    fn request_at(&mut self, slot: Slot, now: Nanos) {
        self.request_at(slot, Access::at(now));
    }

    fn miss(&mut self, object: Object, now: Nanos) -> (Slot, FetchId) {
        let (_, slot) = self.request(object, Access::at(now));
        (slot, self.fetch_id(slot).expect("a miss has begun a fetch"))
    }

    fn fetched(
        &mut self,
        fetch: FetchId,
        weight: u64,
        took: Nanos,
        now: Nanos,
        freed: &mut Vec<Slot>,
    ) -> Option<Slot> {
        let (slot, leaving) = self.fetched_by(fetch, weight, took, now)?;
        freed.extend_from_slice(leaving);
        Some(slot)
    }

    fn renewed(&mut self, slot: Slot, took: Nanos) {
        self.renewed(slot, took);
    }

    fn failed(&mut self, fetch: FetchId) -> bool {
        self.failed_by(fetch)
    }

    fn remove(&mut self, key: Key, now: Nanos) -> Removed {
        self.remove(key, now)
    }

    fn clear(&mut self, now: Nanos, freed: &mut Vec<Slot>) {
        freed.extend_from_slice(self.clear(now));
    }

    fn resize(&mut self, capacity: u64, now: Nanos, freed: &mut Vec<Slot>) {
        freed.extend_from_slice(self.resize(capacity, now));
    }

    fn weight(&self, slot: Slot) -> u64 {
        self.object(slot).map_or(0, |object| object.size)
    }

    fn key(&self, slot: Slot) -> Option<Key> {
        self.object(slot).map(|object| object.key)
    }

    fn used(&self) -> u64 {
        self.used()
    }

    fn len(&self) -> usize {
        self.len()
    }
}

/// Directories of these capacities under the policy called `name`; the n-th draws by the n-th seed.
pub(super) fn places(name: PolicyName, params: Params, capacities: &[u64]) -> Vec<Box<dyn Places>> {
    with_policy(name, params, Make(capacities))
}

struct Make<'a>(&'a [u64]);

impl WithPolicy for Make<'_> {
    type Output = Vec<Box<dyn Places>>;

    fn with<P: Policy + Send + 'static>(self, make: impl Fn(u64) -> P) -> Self::Output {
        let directory = |(number, &capacity): (u64, &u64)| -> Box<dyn Places> {
            Box::new(Directory::new(make(number), capacity))
        };
        (0..).zip(self.0).map(directory).collect()
    }
}
