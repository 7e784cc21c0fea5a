//! What a core remembers of flows for itself: as many as there is room for, and then who has been silent for long makes room.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use trueplane_units::Nanos;

use crate::FlowId;

/// Places that are looked at for one whose flow is silent, for each flow that finds none free.
const LOOKS: usize = 8;

/// Something for each of a bounded number of flows.
#[derive(Clone, Debug)]
pub(super) struct Followed<T> {
    places: Vec<Place<T>>,
    index: HashMap<FlowId, usize>,
    capacity: usize,
    idle: Nanos,
    /// Place at which the search for silent flows continues.
    hand: usize,
}

#[derive(Clone, Debug)]
struct Place<T> {
    flow: FlowId,
    seen: Nanos,
    what: T,
}

impl<T: Default> Followed<T> {
    /// For so many flows, one at least; one that was silent for longer than `idle` may have to go.
    pub(super) fn new(capacity: usize, idle: Nanos) -> Self {
        Self { places: Vec::new(), index: HashMap::new(), capacity: capacity.max(1), idle, hand: 0 }
    }

    /// The value kept for a flow, of which a packet came now; the default, if the flow is new. And the value that was removed to make
    /// room. `None`, if there is no room. O(1) expected.
    pub(super) fn see(&mut self, flow: &FlowId, now: Nanos) -> (Option<&mut T>, Option<T>) {
        // Looked for before the map is asked for the flow's own entry.
        let mut gone = None;
        if self.places.len() == self.capacity && !self.index.contains_key(flow) {
            let Some(at) = self.silent(now) else { return (None, None) };
            let place = &mut self.places[at];
            self.index.remove(&place.flow);
            self.index.insert(*flow, at);
            gone = Some(std::mem::take(&mut place.what));
            place.flow = *flow;
        }
        let at = match self.index.entry(*flow) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                self.places.push(Place { flow: *flow, seen: now, what: T::default() });
                *entry.insert(self.places.len() - 1)
            }
        };
        let place = &mut self.places[at];
        place.seen = now;
        (Some(&mut place.what), gone)
    }

    /// A place whose flow has been silent for long.
    fn silent(&mut self, now: Nanos) -> Option<usize> {
        for _ in 0..LOOKS.min(self.places.len()) {
            let at = self.hand;
            self.hand = if at + 1 == self.places.len() { 0 } else { at + 1 };
            if now.since(self.places[at].seen) > self.idle {
                return Some(at);
            }
        }
        None
    }

    /// All flows.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&FlowId, &T)> {
        self.places.iter().map(|place| (&place.flow, &place.what))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(number: u16) -> FlowId {
        FlowId::new(17, ([10, 0, 0, 1].into(), number), ([10, 0, 0, 2].into(), 53))
    }

    #[test]
    fn the_silent_make_room() {
        let mut followed = Followed::<u64>::new(3, Nanos(10));
        for number in 0..3 {
            *followed.see(&flow(number), Nanos(u64::from(number))).0.unwrap() = u64::from(number) + 100;
        }
        assert_eq!(followed.see(&flow(3), Nanos(5)), (None, None));
        assert_eq!(followed.see(&flow(0), Nanos(6)), (Some(&mut 100), None));
        // Of the others, the one that was first has been silent for more than ten.
        assert_eq!(followed.see(&flow(4), Nanos(12)), (Some(&mut 0), Some(101)));
        assert_eq!(followed.see(&flow(1), Nanos(12)), (None, None));
        assert_eq!(followed.iter().count(), 3);
        assert!(followed.see(&flow(1), Nanos(100)).1.is_some());
    }
}
