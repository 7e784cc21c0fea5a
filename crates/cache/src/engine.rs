//! The event engine: requests and the ends of fetches, in the order of time.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use trueplane_trace::{Clock, Request};
use trueplane_units::Nanos;

use crate::latency::spread;
use crate::{Access, Directory, Key, NextUse, Object, Outcome, Policy, Slot};

/// The shape of a simulated cache.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Objects, or bytes if `by_bytes`; of all sets together.
    pub capacity: u64,
    /// Objects count by their size instead of as 1.
    pub by_bytes: bool,
    /// The number of sets that the capacity is divided into; an object's set follows from a hash of its key
    /// ([`spread`]). One: fully associative.
    pub sets: usize,
}

/// A cache under some policy, its pending fetches and its clock.
///
/// Semantics, in continuous time: a fetch begun at t with latency L completes at t + L; completions come before arrivals
/// at the same instant; requests that arrive meanwhile wait for it. In slotted time: the arrival of a step comes before
/// its completion, and an object missed at step t with latency Z enters at the end of step t + Z − 1. Either way a
/// request at s, t < s < t + L, waits t + L − s, and completions at one instant take effect in the order of their misses.
pub struct Engine<P> {
    sets: Vec<Directory<P>>,
    /// End of the fetch into a slot, by set and slot; without meaning after that time, so that freed slots need no update.
    due: Vec<Vec<Nanos>>,
    pending: Pending,
    misses: u64,
    by_bytes: bool,
    slotted: bool,
}

impl<P: Policy> Engine<P> {
    /// An empty cache of this shape, the policy of its n-th set made by `policy(n)`.
    pub fn new(policy: impl Fn(u64) -> P, shape: &Shape, clock: Clock) -> Self {
        let capacity = shape.capacity / shape.sets as u64;
        Self {
            sets: (0..shape.sets as u64).map(|set| Directory::new(policy(set), capacity)).collect(),
            due: vec![Vec::new(); shape.sets],
            pending: Pending::default(),
            misses: 0,
            by_bytes: shape.by_bytes,
            slotted: clock == Clock::Steps,
        }
    }

    /// Serves a request, whose fetch takes `latency` if it misses; returns what it met and how long it waits.
    pub fn request(
        &mut self,
        request: &Request,
        future: NextUse,
        latency: impl FnOnce() -> Nanos,
    ) -> (Outcome, Nanos) {
        let now = request.time;
        while let Some(fetch) = self.pending.pop_due(now) {
            self.complete(&fetch);
        }
        let set = if self.sets.len() == 1 { 0 } else { spread(request.key, self.sets.len()) };
        let size = if self.by_bytes { request.size } else { 1 };
        let object = Object { key: Key(request.key), size };
        let (outcome, slot) = self.sets[set].request(object, Access { now, future });
        let wait = match outcome {
            Outcome::Hit => Nanos(0),
            Outcome::Delayed => self.due[set][slot.index()].since(now),
            Outcome::Miss => {
                let latency = latency();
                self.send_for(set, slot, now, latency);
                latency
            }
        };
        (outcome, wait)
    }

    /// The policies of the sets, for inspection.
    pub fn policies(&self) -> impl Iterator<Item = &P> {
        self.sets.iter().map(Directory::policy)
    }

    fn send_for(&mut self, set: usize, slot: Slot, now: Nanos, latency: Nanos) {
        let ends = now.after(latency);
        let due = &mut self.due[set];
        if slot.index() >= due.len() {
            due.resize(slot.index() + 1, Nanos(0));
        }
        due[slot.index()] = ends;
        self.misses += 1;
        let fetch = Fetch { ends, miss: self.misses, began: now, set: set as u32, slot };
        // Nothing that takes no time is ever on its way: it is there before the next arrival.
        if latency == Nanos(0) { self.complete(&fetch) } else { self.pending.push(fetch) }
    }

    fn complete(&mut self, fetch: &Fetch) {
        let took = fetch.ends.since(fetch.began);
        // Slotted fetches end with their last step, not with the one after.
        let now =
            if self.slotted { Nanos(fetch.ends.0.saturating_sub(1)).max(fetch.began) } else { fetch.ends };
        // Nothing is kept in slots but the end of a fetch, which the next one overwrites.
        let _ = self.sets[fetch.set as usize].fetched(fetch.slot, took, now);
    }
}

/// A fetch on its way; the earlier to end comes first, of those that end together the earlier miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fetch {
    ends: Nanos,
    /// Counts the misses.
    miss: u64,
    began: Nanos,
    set: u32,
    slot: Slot,
}

/// The fetches on their way.
///
/// With one latency for all they end in the order in which they began: those that do wait in a queue, O(1), and only
/// the others in a heap, O(log n).
#[derive(Debug, Default)]
struct Pending {
    in_order: VecDeque<Fetch>,
    others: BinaryHeap<Reverse<Fetch>>,
}

impl Pending {
    fn push(&mut self, fetch: Fetch) {
        if self.in_order.back().is_none_or(|last| last.ends <= fetch.ends) {
            self.in_order.push_back(fetch);
        } else {
            self.others.push(Reverse(fetch));
        }
    }

    /// Takes out the next fetch to end, if it ends by `now`.
    fn pop_due(&mut self, now: Nanos) -> Option<Fetch> {
        let queued = self.in_order.front();
        let other = self.others.peek().map(|Reverse(fetch)| fetch);
        let from_heap = other.is_some_and(|other| queued.is_none_or(|queued| other < queued));
        let next = if from_heap { other } else { queued };
        if next.is_none_or(|next| next.ends > now) {
            return None;
        }
        if from_heap { self.others.pop().map(|Reverse(fetch)| fetch) } else { self.in_order.pop_front() }
    }
}
