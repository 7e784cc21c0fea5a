//! W-TinyLFU: let a newcomer in only if it is asked for more often than the one it would push out.

use super::super::list::List;
use super::super::sketch::FrequencySketch;
use super::super::{Access, Object, Outcome, Policy, Room, Slot, grow};
use crate::units::Nanos;

/// The window takes 1/100 of the capacity (§4.1) …
const WINDOW_SHARE: u64 = 100;
/// … and the protected segment 4/5 of the rest.
const PROTECTED_FIFTHS: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment {
    Window,
    Probation,
    Protected,
}

/// A small LRU window in front of a segmented LRU main cache; a sketch of recent frequencies decides which of the
/// window's oldest enter the main cache at the expense of its oldest on probation.
///
/// O(1) a request. With objects of unequal size the candidate must be more frequent than all the victims that it needs
/// together, O(victims), and one larger than the window competes at once, so that it may be refused. Every request counts
/// in the sketch as it arrives, the delayed hits too.
///
/// Source: G. Einziger, R. Friedman, B. Manes, *TinyLFU: a highly efficient cache admission policy*, ACM ToS 2017.
/// Departures: a fixed window of 1 %, no doorkeeper; on equal frequencies the candidate goes.
pub struct WTinyLfu {
    window: Queue,
    probation: Queue,
    protected: Queue,
    segments: Vec<Segment>,
    sketch: FrequencySketch,
}

#[derive(Default)]
struct Queue {
    order: List,
    size: u64,
}

impl Queue {
    fn push(&mut self, slot: u32, size: u64) {
        self.order.push(slot);
        self.size += size;
    }

    fn remove(&mut self, slot: u32, size: u64) {
        self.order.remove(slot);
        self.size -= size;
    }
}

impl WTinyLfu {
    /// W-TinyLFU for a cache that holds about `objects` objects.
    pub fn new(objects: u64) -> Self {
        Self {
            window: Queue::default(),
            probation: Queue::default(),
            protected: Queue::default(),
            segments: Vec::new(),
            sketch: FrequencySketch::new(objects),
        }
    }

    fn queue(&mut self, segment: Segment) -> &mut Queue {
        match segment {
            Segment::Window => &mut self.window,
            Segment::Probation => &mut self.probation,
            Segment::Protected => &mut self.protected,
        }
    }

    fn enter(&mut self, segment: Segment, slot: u32, size: u64) {
        self.segments[slot as usize] = segment;
        self.queue(segment).push(slot, size);
    }

    fn leave(&mut self, slot: u32, size: u64) {
        let segment = self.segments[slot as usize];
        self.queue(segment).remove(slot, size);
    }

    /// The main cache's victims that `candidate` must beat to enter, oldest on probation first.
    fn victims(&self, room: &Room<'_>, mut lacking: u64) -> Vec<u32> {
        let mut victims = Vec::new();
        for queue in [&self.probation.order, &self.protected.order] {
            let mut next = queue.oldest();
            while let (Some(slot), true) = (next, lacking > 0) {
                lacking = lacking.saturating_sub(room.object(Slot(slot)).size);
                victims.push(slot);
                next = queue.newer_than(slot);
            }
        }
        victims
    }

    /// Moves the window's oldest into the main cache, or out.
    fn compete(&mut self, candidate: u32, room: &mut Room<'_>) {
        let object = room.object(Slot(candidate));
        self.leave(candidate, object.size);
        let main = room.capacity().saturating_sub(window_size(room));
        let taken = self.probation.size + self.protected.size + object.size;
        let victims = self.victims(room, taken.saturating_sub(main));
        let frequency = |slot: u32| u32::from(self.sketch.estimate(room.object(Slot(slot)).key));
        let defended: u32 = victims.iter().map(|&slot| frequency(slot)).sum();
        if object.size > main || (!victims.is_empty() && frequency(candidate) <= defended) {
            room.evict(Slot(candidate));
            return;
        }
        for victim in victims {
            self.leave(victim, room.object(Slot(victim)).size);
            room.evict(Slot(victim));
        }
        self.enter(Segment::Probation, candidate, object.size);
    }
}

fn window_size(room: &Room<'_>) -> u64 {
    (room.capacity() / WINDOW_SHARE).max(1)
}

impl Policy for WTinyLfu {
    fn request(&mut self, _slot: Slot, object: Object, _access: Access, _outcome: Outcome) {
        self.sketch.add(object.key);
    }

    fn touch(&mut self, slot: Slot, object: Object, _times: u64, _now: Nanos) {
        let segment = self.segments[slot.index()];
        if segment != Segment::Probation {
            self.queue(segment).order.renew(slot.0);
            return;
        }
        self.leave(slot.0, object.size);
        self.enter(Segment::Protected, slot.0, object.size);
    }

    fn admit(&mut self, slot: Slot, _fetch: Nanos, _now: Nanos, room: &mut Room<'_>) {
        // What hits have promoted beyond its share goes back on probation before anybody competes.
        let protected_size = (room.capacity() - window_size(room)) / 5 * PROTECTED_FIFTHS;
        while self.protected.size > protected_size {
            let demoted = self.protected.order.oldest().expect("a list of some size has a member");
            let size = room.object(Slot(demoted)).size;
            self.leave(demoted, size);
            self.enter(Segment::Probation, demoted, size);
        }
        let size = room.newcomer().size;
        grow(&mut self.segments, slot, Segment::Window);
        self.enter(Segment::Window, slot.0, size);
        if size > window_size(room) {
            return self.compete(slot.0, room);
        }
        while self.window.size > window_size(room) {
            let candidate = self.window.order.oldest().expect("a list of some size has a member");
            self.compete(candidate, room);
        }
    }
}
