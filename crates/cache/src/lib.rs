#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! From the bottom up:
//!
//! 1. This file: what a [`Policy`] is told and what it decides.
//! 2. [`directory`]: [`Directory`], which knows what is resident and what is on its way, and asks the policy who leaves.
//! 3. [`cost`]: what an eviction will cost, the part that [MAD](policy::mad) replaces in any policy.
//! 4. [`policy`]: one algorithm a file.
//! 5. [`list`], [`ghost`], [`dense`], a frequency sketch and a hill climber: what policies are made of.
//! 6. `concurrent`: the [`Cache`] that threads and tasks share.
//! 7. [`belatedly`]: the least latency that any of them could reach.
//!
//! Time is in the driver's unit: nanoseconds, or steps where time is slotted.
//!
//! With the feature `study`, where the requests come from, what they look like, and what becomes of them:
//!
//! 1. `generate`: synthetic request traces with bursts.
//! 2. `source`: the trace of a study; `scan`: what a study must know of it before it runs; `trace_facts` tells it; `beware`: what makes
//!    results doubtful.
//! 3. `capacity`, `fetch_time`, `policies`: values as people write them; `service`: what they come to on a trace; `latency`: how long the
//!    backing store takes.
//! 4. `engine`: requests and the ends of fetches in the order of time, around the [`Directory`].
//! 5. `oracle`: the future, for the offline policies.
//! 6. `cell`: one policy at one capacity and latency; `grid`: all of them.
//! 7. `bounds`: two numbers with the optimum between them; `units`: latencies in words and cells.
//!
//! And the studies: `analyze`, what a trace is like; `compare`, policies side by side with the classical model, and who is fooled by it;
//! `bound`, the least latency that any of them could have had; `check`, which verifies its certificates.
#![forbid(unsafe_code)]

pub mod belatedly;
mod climber;
mod concurrent;
pub mod cost;
pub mod dense;
pub mod directory;
pub mod ghost;
pub mod list;
mod marks;
pub mod policy;
mod sketch;

#[cfg(feature = "study")]
pub mod analyze;
#[cfg(feature = "study")]
mod beware;
#[cfg(feature = "study")]
pub mod bound;
#[cfg(feature = "study")]
pub mod bounds;
#[cfg(feature = "study")]
pub mod capacity;
#[cfg(feature = "study")]
pub mod cell;
#[cfg(feature = "study")]
pub mod check;
#[cfg(feature = "study")]
pub mod compare;
#[cfg(feature = "study")]
pub mod engine;
#[cfg(feature = "study")]
pub mod fetch_time;
#[cfg(feature = "study")]
pub mod generate;
#[cfg(feature = "study")]
pub mod grid;
#[cfg(feature = "study")]
pub mod latency;
#[cfg(feature = "study")]
pub mod oracle;
#[cfg(feature = "study")]
pub mod scan;
#[cfg(feature = "study")]
pub mod service;
#[cfg(feature = "study")]
pub mod source;
#[cfg(feature = "study")]
mod start;
#[cfg(feature = "study")]
pub mod trace_facts;
#[cfg(feature = "study")]
mod units;

pub use concurrent::{Advice, Builder, Cache, Cause, FetchError, Forecast, Parts, Reader, Sink, Stats};
pub use directory::{Directory, FetchId, LARGEST_CAPACITY, Removed, Room};
pub use policy::PolicyName;

pub use trueplane_units::Nanos;

/// The formula for the mean latency in the classical model.
#[cfg(feature = "study")]
pub const BELIEF: &str = "mean latency = hit rate × hit latency + miss rate × miss latency, as if a fetched object were there at once";

/// The name of an object: a number, or a 64-bit hash of whatever the application calls it.
///
/// Use a keyed hash (such as SipHash with a secret key) where strangers choose names: two names with the same `Key` are one object here, and
/// a stranger can look for such pairs of an unkeyed hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u64);

/// Place of an object that is resident or being fetched.
///
/// Slots are small integers that are given out again after the object has left, so that a policy can keep its state in
/// plain arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub(crate) u32);

impl Slot {
    /// The slot as an index into an array.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// An object and how much of the capacity it takes: its bytes, or 1 where the capacity is a number of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// The object's name.
    pub key: Key,
    /// Its share of the capacity, at least 1: 0 counts as 1.
    pub size: u64,
}

/// A request as a policy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// Instant at which the request arrives.
    pub now: Nanos,
    /// Knowledge of what follows; only offline policies may look.
    pub future: NextUse,
}

impl Access {
    /// A request at `now` whose future nobody knows, as every live driver makes it.
    pub fn at(now: Nanos) -> Self {
        Self { now, future: NextUse::UNKNOWN }
    }
}

/// What follows one of an object's requests, as an offline policy knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextUse {
    /// The instant of the next request for it; [`Nanos::MAX`] if there is none.
    pub next: Nanos,
    /// The aggregate delay that the next request would start if it missed: its own fetch time and what is left of it
    /// for every request that arrives meanwhile (thesis eq. 2.13).
    pub delay: u64,
}

impl NextUse {
    /// No knowledge, or no further request.
    pub const UNKNOWN: NextUse = NextUse { next: Nanos::MAX, delay: 0 };
}

/// Outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The object is resident.
    Hit,
    /// The object is on its way: the request waits for the fetch that an earlier miss began.
    Delayed,
    /// The object is neither resident nor on its way: the request begins a fetch.
    Miss,
}

/// A caching algorithm: it decides who leaves when an object comes in.
///
/// It holds no objects, reads no clock and knows no trace, so that the same value serves a simulator and a live cache.
/// `now` never decreases from call to call. A policy may keep state for every slot that it was told of and must forget
/// a slot when it evicts it or is told that the object leaves, for the cache gives it to another object.
pub trait Policy {
    /// A request arrives for the object in `slot`. Told of every request at its arrival, before [`touch`](Self::touch).
    ///
    /// With [`Outcome::Miss`] the slot is new, and the object is being fetched into it from now on.
    fn request(&mut self, slot: Slot, object: Object, access: Access, outcome: Outcome) {
        let _ = (slot, object, access, outcome);
    }

    /// `times` ≥ 1 hits of a resident object take effect.
    ///
    /// A hit takes effect as it arrives. The delayed hits of an object take effect together, right after its admission.
    fn touch(&mut self, slot: Slot, object: Object, times: u64, now: Nanos);

    /// A hit arrives and takes effect: [`request`](Self::request) and [`touch`](Self::touch) in one.
    #[inline]
    fn hit(&mut self, slot: Slot, object: Object, access: Access) {
        self.request(slot, object, access, Outcome::Hit);
        self.touch(slot, object, 1, access.now);
    }

    /// Whether a hit does no more than [`mark`](Self::mark) its slot, so that hits of many threads can take effect at once.
    fn hits_only_mark(&self) -> bool {
        false
    }

    /// Does what `times` ≥ 1 calls of [`hit`](Self::hit) do, by shared access. Called only for a policy whose [hits only
    /// mark](Self::hits_only_mark).
    #[inline]
    fn mark(&self, slot: Slot, times: u64) {
        let _ = (slot, times);
    }

    /// The object in `slot` has been fetched, which took `fetch`. Evicts from `room` until the capacity holds.
    ///
    /// The newcomer itself may go only if the policy is offline or finds it large.
    fn admit(&mut self, slot: Slot, fetch: Nanos, now: Nanos, room: &mut Room<'_>);

    /// The resident object in `slot` was fetched again, which took `fetch`. Nothing to do for a policy that does not weigh fetches.
    fn renewed(&mut self, slot: Slot, fetch: Nanos) {
        let _ = (slot, fetch);
    }

    /// The resident object in `slot` leaves because the driver has removed it. It is no eviction, and whoever learns from evictions
    /// learns nothing from it.
    fn remove(&mut self, slot: Slot, object: Object, now: Nanos);

    /// The object on its way into `slot` will never be resident: its fetch has failed, the driver has removed it, or it is larger
    /// than the cache. Nothing to do for a policy that keeps no state of objects that it has not admitted.
    fn abandon(&mut self, slot: Slot, object: Object) {
        let _ = (slot, object);
    }

    /// The capacity has changed. Evicts from `room` until the new one holds.
    fn make_room(&mut self, now: Nanos, room: &mut Room<'_>);

    /// A resident object that leaves although nobody needs its room. Asked before a request is looked up and again after
    /// a hit has taken effect, each time until there is none; a slot that holds no resident object is passed over.
    ///
    /// Only a policy with a plan ([`Replay`](policy::Replay)) has such objects; others are spared the question.
    #[inline]
    fn departs(&mut self) -> Option<Slot> {
        None
    }
}

/// For a policy that is chosen while the program runs: `Directory<Box<dyn Policy>>`. Every call costs an indirect jump.
impl<P: Policy + ?Sized> Policy for Box<P> {
    fn request(&mut self, slot: Slot, object: Object, access: Access, outcome: Outcome) {
        (**self).request(slot, object, access, outcome);
    }

    fn touch(&mut self, slot: Slot, object: Object, times: u64, now: Nanos) {
        (**self).touch(slot, object, times, now);
    }

    fn hit(&mut self, slot: Slot, object: Object, access: Access) {
        (**self).hit(slot, object, access);
    }

    fn hits_only_mark(&self) -> bool {
        (**self).hits_only_mark()
    }

    fn mark(&self, slot: Slot, times: u64) {
        (**self).mark(slot, times);
    }

    fn admit(&mut self, slot: Slot, fetch: Nanos, now: Nanos, room: &mut Room<'_>) {
        (**self).admit(slot, fetch, now, room);
    }

    fn renewed(&mut self, slot: Slot, fetch: Nanos) {
        (**self).renewed(slot, fetch);
    }

    fn remove(&mut self, slot: Slot, object: Object, now: Nanos) {
        (**self).remove(slot, object, now);
    }

    fn abandon(&mut self, slot: Slot, object: Object) {
        (**self).abandon(slot, object);
    }

    fn make_room(&mut self, now: Nanos, room: &mut Room<'_>) {
        (**self).make_room(now, room);
    }

    fn departs(&mut self) -> Option<Slot> {
        (**self).departs()
    }
}

/// Makes `items[slot]` exist.
pub(crate) fn grow<T: Clone>(items: &mut Vec<T>, slot: Slot, empty: T) {
    if slot.index() >= items.len() {
        reserve(items, slot.index() + 1);
        items.resize(slot.index() + 1, empty);
    }
}

/// Makes room for `len` items and an eighth more: a vector that doubles would leave as much memory unused as it uses.
pub(crate) fn reserve<T>(items: &mut Vec<T>, len: usize) {
    if len > items.capacity() {
        items.reserve_exact(len + (len / 8).max(16) - items.len());
    }
}
