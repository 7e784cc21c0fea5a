//! W-TinyLFU: let a newcomer in only if it is asked for more often than the one it would push out.

use trueplane_units::{Nanos, choices};

use crate::climber::{HillClimber, WHOLE};
use crate::list::List;
use crate::sketch::FrequencySketch;
use crate::{Access, Object, Outcome, Policy, Room, Slot, grow};

/// The window takes 1/100 of the capacity at first (ToS 2017 §4.1) …
const WINDOW: u64 = WHOLE / 100;
/// … and the protected segment 4/5 of the rest. What the window gains the protected segment loses, so that probation keeps
/// its share.
const WINDOW_AND_PROTECTED: u64 = WINDOW + (WHOLE - WINDOW) / 5 * 4;

choices! {
    /// The size of W-TinyLFU's window.
    pub enum Window {
        /// Starts at 1% of the capacity; a hill climber then looks for the share with the most hits.
        Adaptive = "adaptive",
        /// 1% of the capacity.
        Fixed = "fixed",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Segment {
    Window,
    Probation,
    Protected,
}

/// An LRU window in front of a segmented LRU main cache; a sketch of recent frequencies decides which of the window's
/// oldest enter the main cache at the expense of its oldest on probation.
///
/// The window takes 1% of the capacity. With [`Window::Adaptive`] that is where it begins, and a hill climber changes it
/// whenever ten times as many requests have come as the cache holds objects: a loop wants a small window, objects that are
/// soon asked for again want a large one. The climber counts a request as a hit if it finds its object in the cache; a
/// delayed hit does not count.
///
/// O(1) a request, amortised over a step of the climber, which moves 1/16 of the objects at most. With objects of unequal
/// size the candidate must be more frequent than all the victims that it needs together, O(victims), and one larger than
/// the window competes at once, so that it may be refused. Every request counts in the sketch as it arrives, the delayed
/// hits too.
///
/// Source: G. Einziger, R. Friedman, B. Manes, *TinyLFU: a highly efficient cache admission policy*, ACM ToS 2017; for the
/// window, G. Einziger, O. Eytan, R. Friedman, B. Manes, *Adaptive Software Cache Management*, Middleware 2018.
/// Departures: no doorkeeper; on equal frequencies the candidate goes.
#[derive(Clone, Debug)]
pub struct WTinyLfu {
    window: Queue,
    probation: Queue,
    protected: Queue,
    segments: Vec<Segment>,
    sketch: FrequencySketch,
    climber: Option<HillClimber>,
}

#[derive(Clone, Debug, Default)]
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
    pub fn new(objects: u64, window: Window) -> Self {
        let climber = || HillClimber::new(WINDOW, WINDOW_AND_PROTECTED, objects.saturating_mul(10));
        Self {
            window: Queue::default(),
            probation: Queue::default(),
            protected: Queue::default(),
            segments: Vec::new(),
            sketch: FrequencySketch::new(objects),
            climber: (window == Window::Adaptive).then(climber),
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
        let main = self.main_size(room);
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

    /// Moves what the main cache holds beyond its share into the window: the oldest on probation first.
    fn shrink_main(&mut self, room: &Room<'_>) {
        while self.probation.size + self.protected.size > self.main_size(room) {
            let oldest = self.probation.order.oldest().or_else(|| self.protected.order.oldest());
            let moved = oldest.expect("a main cache of some size has a member");
            self.transfer(moved, Segment::Window, room);
        }
    }

    /// Demotes and moves what is beyond the shares of the main cache's segments.
    fn settle_main(&mut self, room: &Room<'_>) {
        while self.protected.size > self.protected_size(room) {
            let demoted = self.protected.order.oldest().expect("a list of some size has a member");
            self.transfer(demoted, Segment::Probation, room);
        }
        self.shrink_main(room);
    }

    /// Lets the window's oldest compete until the rest fits it.
    fn shrink_window(&mut self, room: &mut Room<'_>) {
        while self.window.size > self.window_size(room) {
            let candidate = self.window.order.oldest().expect("a list of some size has a member");
            self.compete(candidate, room);
        }
    }

    /// Makes `slot` the newest of another segment.
    fn transfer(&mut self, slot: u32, to: Segment, room: &Room<'_>) {
        let size = room.object(Slot(slot)).size;
        self.leave(slot, size);
        self.enter(to, slot, size);
    }

    /// The window's share of the capacity in millionths.
    fn window_share(&self) -> u64 {
        self.climber.as_ref().map_or(WINDOW, HillClimber::share)
    }

    fn window_size(&self, room: &Room<'_>) -> u64 {
        // A cache without room has no window either.
        share_of(room.capacity(), self.window_share()).max(1).min(room.capacity())
    }

    fn main_size(&self, room: &Room<'_>) -> u64 {
        room.capacity().saturating_sub(self.window_size(room))
    }

    fn protected_size(&self, room: &Room<'_>) -> u64 {
        share_of(room.capacity(), WINDOW_AND_PROTECTED - self.window_share())
    }
}

fn share_of(capacity: u64, millionths: u64) -> u64 {
    let share = u128::from(capacity) * u128::from(millionths) / u128::from(WHOLE);
    u64::try_from(share).expect("a share is no larger than the whole")
}

impl Policy for WTinyLfu {
    fn request(&mut self, _slot: Slot, object: Object, _access: Access, outcome: Outcome) {
        self.sketch.add(object.key);
        if let Some(climber) = &mut self.climber {
            climber.count(outcome == Outcome::Hit);
        }
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
        self.settle_main(room);
        let size = room.object(slot).size;
        grow(&mut self.segments, slot, Segment::Window);
        self.enter(Segment::Window, slot.0, size);
        if size > self.window_size(room) {
            self.compete(slot.0, room);
        }
        self.shrink_window(room);
    }

    fn remove(&mut self, slot: Slot, object: Object, _now: Nanos) {
        self.leave(slot.0, object.size);
    }

    fn make_room(&mut self, _now: Nanos, room: &mut Room<'_>) {
        self.settle_main(room);
        self.shrink_window(room);
    }
}
