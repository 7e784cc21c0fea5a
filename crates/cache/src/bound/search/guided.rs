//! A schedule from prices: served in the order of time, whoever is worth least leaves.
//!
//! An object in the cache is worth, at its next request, what a miss costs more than a hit (both with all that follows, under
//! the prices), less the price of holding it until then, for each unit of its size. What has already passed of that price is the same
//! for all, so that their order does not change with time and a heap will do.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::belatedly::path::{Costs, Priced};
use crate::belatedly::{Instance, Schedule};

/// No visit.
const NONE: u32 = u32::MAX;

/// The schedule that prices with these prefix sums lead to. O(n log n).
pub(super) fn guided(instance: &Instance, prefix: &[f64]) -> Schedule {
    let mut course = Course::new(instance, prefix);
    for position in 0..instance.requests() {
        course.complete(position);
        course.serve(position);
    }
    course.schedule
}

/// A cache in the course of time. Visits are known by their index among all.
struct Course<'a> {
    instance: &'a Instance,
    /// The object of each visit, and the visit at each position.
    object: Vec<u32>,
    visit: Vec<u32>,
    /// Worth of an object that is kept until a visit, by visit.
    worth: Vec<f64>,
    /// The visit of each object that will be a hit, and the one since which it is held: none while it is not there.
    next: Vec<u32>,
    since: Vec<u32>,
    /// The first visit of each object that is no delayed hit.
    awake: Vec<u32>,
    /// The fetches that end at each gap, as a list through `later`.
    ending: Vec<u32>,
    later: Vec<u32>,
    /// Objects in the cache; entries whose visit is no longer the next one of the object are dead.
    heap: BinaryHeap<Reverse<(Worth, u32, u32)>>,
    used: u64,
    schedule: Schedule,
}

impl<'a> Course<'a> {
    fn new(instance: &'a Instance, prefix: &[f64]) -> Self {
        let (requests, objects) = (instance.requests(), instance.objects());
        let mut course = Self {
            instance,
            object: vec![0; requests],
            visit: vec![0; requests],
            worth: vec![0.0; requests],
            next: vec![NONE; objects],
            since: vec![NONE; objects],
            awake: vec![0; objects],
            ending: vec![NONE; requests + 1],
            later: vec![NONE; requests],
            heap: BinaryHeap::new(),
            used: 0,
            schedule: Schedule::empty(instance),
        };
        let mut costs = Vec::new();
        for object in 0..objects {
            let visits = instance.visits(object);
            costs.resize(costs.len().max(visits.len() + 1), Costs::default());
            Priced::new(instance, object, prefix, 1.0).least(&mut costs);
            let size = instance.size(object) as f64;
            for (index, (visit, costs)) in instance.range(object).zip(visits.iter().zip(&costs)) {
                let position = visit.position as usize;
                course.object[index] = object as u32;
                course.visit[position] = index as u32;
                course.worth[index] = (costs.miss - costs.hit) / size - prefix[position];
            }
        }
        course
    }

    /// Lets in the objects whose fetches end before the request at `gap`.
    fn complete(&mut self, gap: usize) {
        let mut visit = std::mem::replace(&mut self.ending[gap], NONE);
        while visit != NONE {
            let object = self.object[visit as usize];
            let range = self.instance.range(object as usize);
            let back = range.start
                + self.instance.visits(object as usize)[visit as usize - range.start].back as usize;
            if self.instance.fits(object as usize) {
                if back < range.end {
                    self.used += self.instance.size(object as usize);
                    (self.since[object as usize], self.next[object as usize]) = (visit, back as u32);
                    self.heap.push(Reverse((Worth(self.worth[back]), object, back as u32)));
                    self.make_room(0, object);
                } else if !self.instance.terms.bypass {
                    // It stays for a moment, although nobody will ask for it.
                    self.make_room(self.instance.size(object as usize), object);
                }
            }
            visit = self.later[visit as usize];
        }
    }

    /// Sends objects away until `extra` fits in too; the newcomer only if it may pass the cache by.
    fn make_room(&mut self, extra: u64, newcomer: u32) {
        let mut spared = None;
        while self.used + extra > self.instance.terms.capacity {
            let Some(Reverse((worth, object, next))) = self.heap.pop() else { break };
            if self.next[object as usize] != next {
                continue;
            }
            if object == newcomer && !self.instance.terms.bypass {
                spared = Some(Reverse((worth, object, next)));
                continue;
            }
            self.next[object as usize] = NONE;
            self.used -= self.instance.size(object as usize);
        }
        self.heap.extend(spared);
    }

    fn serve(&mut self, position: usize) {
        let visit = self.visit[position];
        let object = self.object[visit as usize] as usize;
        if visit < self.awake[object] {
            return;
        }
        let range = self.instance.range(object);
        if self.next[object] == visit {
            self.schedule.keep[self.since[object] as usize] = true;
            self.since[object] = visit;
            if visit as usize + 1 < range.end {
                let next = visit + 1;
                self.next[object] = next;
                self.heap.push(Reverse((Worth(self.worth[next as usize]), object as u32, next)));
            } else {
                self.next[object] = NONE;
                self.used -= self.instance.size(object);
            }
        } else {
            let missed = self.instance.visits(object)[visit as usize - range.start];
            self.awake[object] = range.start as u32 + missed.back;
            let ending = &mut self.ending[missed.ready as usize];
            self.later[visit as usize] = std::mem::replace(ending, visit);
        }
    }
}

/// A number that can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Worth(f64);

impl Eq for Worth {}

impl PartialOrd for Worth {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Worth {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}
