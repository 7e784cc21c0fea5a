//! A schedule out of fractions: randomised rounding with flow balance (thesis §2.4.3).
//!
//! Every object takes one path through its network. Where the optimum splits its flow, it is evicted with the probability
//! of the part that the optimum evicts, so that the cache is as full as in the optimum on average. Where it gets too full,
//! whoever is the farthest above the part that the optimum has of it leaves.
//!
//! Departures: the part evicted is taken of what flows through the same node, as a hit or a miss, because the other node's
//! flow does not pass there; a path that was led off the optimum's by an eviction goes by the part of the object that the
//! optimum holds at the object's next visit; among equally unbalanced objects the one that is asked for last leaves.

use std::collections::BTreeSet;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::LpSolution;
use super::network::edges;
use crate::belatedly::path::Branch;
use crate::belatedly::{Instance, Schedule};

/// Largest flow of the solver that counts as zero.
const NOTHING: f64 = 1e-9;

/// A schedule that keeps within the capacity, drawn from an optimum's fractions; nothing if there is none without bypass
/// because objects that must be there at once are larger together than the cache. Deterministic; O(n log n).
pub fn round(instance: &Instance, optimum: &LpSolution, seed: u64) -> Option<Schedule> {
    let mut arrivals: Vec<Vec<(u32, u32)>> = vec![Vec::new(); instance.requests() + 1];
    let mut requests = vec![(0, 0); instance.requests()];
    for object in 0..instance.objects() {
        for (index, visit) in (0..).zip(instance.visits(object)) {
            arrivals[visit.ready as usize].push((object as u32, index));
            requests[visit.position as usize] = (object, index as usize);
        }
    }
    let mut cache = Cache::new(instance, optimum, seed);
    for (gap, &(object, index)) in requests.iter().enumerate() {
        let mut newcomers = Vec::new();
        for &(object, index) in &arrivals[gap] {
            newcomers.extend(cache.fetched(object as usize, index as usize));
        }
        cache.fit()?;
        cache.settle(&newcomers);
        cache.request(object, index);
    }
    Some(cache.schedule)
}

/// Position of an object on its path.
#[derive(Clone, Copy, Debug, Default)]
enum Place {
    /// Neither here nor on its way.
    #[default]
    Away,
    /// Sent for at this visit.
    Coming(usize),
    /// Held since this visit until that one.
    Held(usize, usize),
}

/// Order of eviction: the smallest part in the optimum, in 2^-32; then the object that is requested last.
type Rank = (u64, u32, u32);

struct Cache<'a> {
    instance: &'a Instance,
    optimum: &'a LpSolution,
    random: Xoshiro256PlusPlus,
    schedule: Schedule,
    places: Vec<Place>,
    /// The part of each object that the optimum holds now.
    parts: Vec<f64>,
    /// Each object's rank, if it is held and may leave.
    ranks: Vec<Option<Rank>>,
    held: BTreeSet<Rank>,
    used: u64,
}

/// An object that was fetched, by which visit, and must be there for the next request; and the visit that it then stays for.
type Newcomer = (usize, usize, Option<usize>);

impl<'a> Cache<'a> {
    fn new(instance: &'a Instance, optimum: &'a LpSolution, seed: u64) -> Self {
        let objects = instance.objects();
        Self {
            instance,
            optimum,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            schedule: Schedule::empty(instance),
            places: vec![Place::Away; objects],
            parts: vec![0.0; objects],
            ranks: vec![None; objects],
            held: BTreeSet::new(),
            used: 0,
        }
    }

    /// The fetch that began at a visit is over, or in part over in the optimum; returns the object if it must be there.
    fn fetched(&mut self, object: usize, index: usize) -> Option<Newcomer> {
        self.parts[object] += self.optimum.flows[self.visit(object, index)].miss_hold;
        if !matches!(self.places[object], Place::Coming(since) if since == index) {
            self.reweigh(object);
            return None;
        }
        self.places[object] = Place::Away;
        let stays = self.choose(object, index, Branch::Miss);
        if self.instance.forced(object, &self.instance.visits(object)[index]) {
            self.used += self.instance.size(object);
            return Some((object, index, stays));
        }
        if let Some(next) = stays {
            self.used += self.instance.size(object);
            self.hold(object, index, next);
        }
        None
    }

    /// The request that newcomers had to be there for is here: they may leave from now on.
    fn settle(&mut self, newcomers: &[Newcomer]) {
        for &(object, index, stays) in newcomers {
            match stays {
                Some(next) => self.hold(object, index, next),
                None => self.used -= self.instance.size(object),
            }
        }
    }

    fn request(&mut self, object: usize, index: usize) {
        self.parts[object] = self.optimum.flows[self.visit(object, index)].hit_hold;
        match self.places[object] {
            Place::Away => self.places[object] = Place::Coming(index),
            Place::Coming(_) => {}
            Place::Held(..) => {
                self.release(object);
                if let Some(next) = self.choose(object, index, Branch::Hit) {
                    self.used += self.instance.size(object);
                    self.hold(object, index, next);
                }
            }
        }
    }

    /// Sends objects away until what is left fits, if it does.
    fn fit(&mut self) -> Option<()> {
        while self.used > self.instance.terms.capacity {
            let &(_, _, object) = self.held.first()?;
            let object = object as usize;
            if let Place::Held(since, _) = self.places[object] {
                let visit = self.visit(object, since);
                self.schedule.keep[visit] = false;
            }
            self.release(object);
        }
        Some(())
    }

    /// Whether an object is held after a visit, at random, and until which.
    fn choose(&mut self, object: usize, index: usize, node: Branch) -> Option<usize> {
        let edges = edges(self.instance, object, index, node);
        let hold = edges.hold?;
        if edges.drop.is_none() {
            return Some(hold.next);
        }
        let flow = self.optimum.flows[self.visit(object, index)];
        let (held, dropped) = match node {
            Branch::Hit => (flow.hit_hold, flow.hit_drop),
            Branch::Miss => (flow.miss_hold, flow.miss_drop),
        };
        let chance = if held + dropped > NOTHING {
            held / (held + dropped)
        } else {
            let next = self.optimum.flows[self.visit(object, hold.next)];
            next.hit_hold + next.hit_drop
        };
        let draw = (self.random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (draw < chance).then_some(hold.next)
    }

    /// An object, which counts already, is held from a visit on until the next.
    fn hold(&mut self, object: usize, index: usize, next: usize) {
        let visit = self.visit(object, index);
        self.schedule.keep[visit] = true;
        self.places[object] = Place::Held(index, next);
        self.reweigh(object);
    }

    /// An object leaves.
    fn release(&mut self, object: usize) {
        self.used -= self.instance.size(object);
        self.places[object] = Place::Away;
        self.reweigh(object);
    }

    /// Puts an object where it belongs among those that may leave.
    fn reweigh(&mut self, object: usize) {
        if let Some(rank) = self.ranks[object].take() {
            self.held.remove(&rank);
        }
        let Place::Held(_, next) = self.places[object] else { return };
        let last = self.instance.visits(object)[next].position;
        let part = (self.parts[object].clamp(0.0, 1.0) * (1u64 << 32) as f64).round() as u64;
        let rank = (part, u32::MAX - last, object as u32);
        self.ranks[object] = Some(rank);
        self.held.insert(rank);
    }

    fn visit(&self, object: usize, index: usize) -> usize {
        self.instance.range(object).start + index
    }
}
