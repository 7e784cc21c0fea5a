//! Replay: no algorithm, but the decisions of a schedule that is known beforehand, one after the other.

use trueplane_units::Nanos;

use crate::{Access, Object, Outcome, Policy, Room, Slot, grow};

/// Follows a schedule to the letter: the n-th request that it is told of says whether its object stays.
///
/// If that request is a hit, the object stays after it or is gone at once; if it is a miss, the object stays after the
/// fetch that it began, or passes the cache by. What a delayed hit says means nothing. Nothing leaves for any other
/// reason, not even when room is needed: a hit that the schedule does not have could change what later misses
/// cost, and the totals with it. So the schedule must fit, and [`Replay::fits`] says whether it did.
///
/// Without bypass an object that does not stay after its fetch still takes its room until the next request, of any
/// object, and leaves before that is looked up. If that request is for the object itself, it misses; a schedule of
/// [`belatedly`](super::super::belatedly) keeps the object then.
///
/// O(1) a request. Memory: one byte a slot, besides the schedule. It makes a schedule of [`belatedly`](super::super::belatedly)
/// happen in a cache, so that its total can be held against the model's.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    /// For each request, whether its object stays; past the end nothing does.
    keep: &'a [bool],
    bypass: bool,
    /// Requests seen.
    requests: usize,
    /// Whether the object in a slot stays, by its latest request that says so.
    stays: Vec<bool>,
    /// Slots of the objects that leave at the next opportunity.
    departing: Vec<Slot>,
    crowded: bool,
}

impl<'a> Replay<'a> {
    /// Replays `keep`, which has a decision for every request in the order of the trace, with or without `bypass`.
    pub fn new(keep: &'a [bool], bypass: bool) -> Self {
        Self { keep, bypass, requests: 0, stays: Vec::new(), departing: Vec::new(), crowded: false }
    }

    /// Whether there was room so far for everything that the schedule held. If not, the newcomer was sent away instead.
    pub fn fits(&self) -> bool {
        !self.crowded
    }
}

impl Policy for Replay<'_> {
    fn request(&mut self, slot: Slot, _object: Object, _access: Access, outcome: Outcome) {
        let stays = self.keep.get(self.requests).is_some_and(|&keep| keep);
        self.requests += 1;
        if outcome != Outcome::Delayed {
            grow(&mut self.stays, slot, false);
            self.stays[slot.index()] = stays;
        }
    }

    fn touch(&mut self, slot: Slot, _object: Object, _times: u64, _now: Nanos) {
        // The delayed hits of a newcomer come here too, right after it was admitted and listed.
        if !self.stays[slot.index()] && self.departing.last() != Some(&slot) {
            self.departing.push(slot);
        }
    }

    fn admit(&mut self, slot: Slot, _fetch: Nanos, _now: Nanos, room: &mut Room<'_>) {
        let stays = self.stays[slot.index()];
        let crowded = room.lacking() && (stays || !self.bypass);
        self.crowded |= crowded;
        if crowded || (!stays && self.bypass) {
            room.evict(slot);
        } else if !stays {
            self.departing.push(slot);
        }
    }

    fn remove(&mut self, slot: Slot, _object: Object, _now: Nanos) {
        // The slot may have another object by the time at which it would be asked.
        self.departing.retain(|&other| other != slot);
    }

    /// No schedule knows of another capacity: objects leave slot by slot, and [`Replay::fits`] says so.
    fn make_room(&mut self, _now: Nanos, room: &mut Room<'_>) {
        self.crowded |= room.lacking();
        let residents: Vec<Slot> = room.residents().collect();
        for victim in residents {
            if !room.lacking() {
                break;
            }
            self.departing.retain(|&other| other != victim);
            room.evict(victim);
        }
    }

    fn departs(&mut self) -> Option<Slot> {
        self.departing.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Directory, Key};
    use super::*;

    /// Asks for an object of size 1, and has it at once if it misses.
    fn ask(cache: &mut Directory<Replay<'_>>, key: u64, gone: &mut Vec<Slot>) -> Outcome {
        let object = Object { key: Key(key), size: 1 };
        let (outcome, slot) = cache.request_releasing(object, Access::at(Nanos(0)), |slot| gone.push(slot));
        if outcome == Outcome::Miss {
            let _ = cache.fetched(slot, Nanos(0), Nanos(0));
        }
        outcome
    }

    #[test]
    fn what_is_dropped_after_a_hit_is_gone_at_once() {
        let keep = [true, false, false, true];
        let mut cache = Directory::new(Replay::new(&keep, true), 1);
        let mut gone = Vec::new();
        assert_eq!(ask(&mut cache, 7, &mut gone), Outcome::Miss);
        assert!(cache.contains(Key(7)) && gone.is_empty());
        assert_eq!(ask(&mut cache, 7, &mut gone), Outcome::Hit);
        assert!(!cache.contains(Key(7)) && cache.used() == 0 && gone.len() == 1, "the driver is told");
        assert_eq!(ask(&mut cache, 7, &mut gone), Outcome::Miss);
        assert!(!cache.contains(Key(7)), "it passes the cache by");
        assert_eq!(ask(&mut cache, 8, &mut gone), Outcome::Miss);
        assert!(cache.contains(Key(8)) && cache.policy().fits() && gone.len() == 1);
    }

    #[test]
    fn without_bypass_it_takes_its_room_until_the_next_request() {
        let keep = [false, false, true];
        let mut cache = Directory::new(Replay::new(&keep, false), 1);
        let mut gone = Vec::new();
        assert_eq!(ask(&mut cache, 7, &mut gone), Outcome::Miss);
        assert_eq!(cache.used(), 1);
        // The schedule has no hit here, although the object was there a moment ago.
        assert_eq!(ask(&mut cache, 7, &mut gone), Outcome::Miss);
        assert_eq!((cache.used(), gone.len()), (1, 1));
        assert_eq!(ask(&mut cache, 8, &mut gone), Outcome::Miss);
        assert!(cache.contains(Key(8)) && !cache.contains(Key(7)) && cache.policy().fits());
        // Nothing is sent away for what does not fit.
        assert_eq!(ask(&mut cache, 9, &mut gone), Outcome::Miss);
        assert!(cache.contains(Key(8)) && !cache.contains(Key(9)) && !cache.policy().fits());
    }

    #[test]
    fn what_is_removed_does_not_take_its_successor_along() {
        let keep = [false, true, true];
        let mut cache = Directory::new(Replay::new(&keep, false), 2);
        let mut gone = Vec::new();
        // The first object would leave before the next request; it is removed, and its slot goes to the second.
        ask(&mut cache, 7, &mut gone);
        assert!(matches!(cache.remove(Key(7), Nanos(0)), crate::Removed::Resident(_)));
        ask(&mut cache, 8, &mut gone);
        ask(&mut cache, 9, &mut gone);
        assert!(cache.contains(Key(8)) && cache.contains(Key(9)) && gone.is_empty() && cache.policy().fits());
        assert_eq!(cache.resize(1, Nanos(0)).len(), 1);
        assert!(cache.len() == 1 && !cache.policy().fits(), "no schedule knows of it");
    }

    #[test]
    fn delayed_hits_decide_nothing() {
        let keep = [true, false, true];
        let mut cache = Directory::new(Replay::new(&keep, true), 1);
        let page = Object { key: Key(7), size: 1 };
        let (_, slot) = cache.request(page, Access::at(Nanos(0)));
        assert_eq!(cache.request(page, Access::at(Nanos(1))).0, Outcome::Delayed);
        let _ = cache.fetched(slot, Nanos(2), Nanos(2));
        assert_eq!(cache.request(page, Access::at(Nanos(3))).0, Outcome::Hit);
        assert!(cache.contains(Key(7)));
    }
}
