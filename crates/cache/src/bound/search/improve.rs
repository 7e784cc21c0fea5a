//! A schedule that gets better: one object after the other takes the best path that the others leave it.
//!
//! What an object saves it should also leave to others: costs and, in part, prices decide. A series of sweeps over all objects
//! begins with the full prices, which moves objects out of each other's way at some loss, and ends with none, when every
//! sweep can only gain.

use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use super::occupancy::Occupancy;
use crate::belatedly::path::{Branch, Costs, Priced, Ways};
use crate::belatedly::{Instance, Schedule};

/// The part of the prices that counts in each sweep of a series.
const SERIES: [f64; 8] = [1.0, 0.9, 0.75, 0.6, 0.4, 0.2, 0.0, 0.0];

/// More than any schedule costs, so that what is not allowed is never chosen.
const FORBIDDEN: f64 = 1e30;

/// The best schedule so far, and one that may become better.
pub(super) struct Improver<'a> {
    instance: &'a Instance,
    /// Objects that are asked for more than once, or cannot pass the cache by.
    objects: Vec<u32>,
    schedule: Schedule,
    held: Occupancy,
    best: Schedule,
    upper: u64,
    draw: Xoshiro256PlusPlus,
    sweeps: usize,
    scratch: Scratch,
}

#[derive(Default)]
struct Scratch {
    costs: Vec<Costs<f64>>,
    /// Whether the object stays after each visit, if that is a hit and if it is a miss.
    stays: Vec<[bool; 2]>,
    prefix: Vec<f64>,
}

impl<'a> Improver<'a> {
    /// Begins with a schedule that fits.
    pub(super) fn new(instance: &'a Instance, schedule: Schedule, seed: u64) -> Self {
        let moves = |&object: &usize| instance.visits(object).len() > 1 || !instance.terms.bypass;
        let objects = (0..instance.objects()).filter(moves).map(|object| object as u32).collect();
        let mut improver = Self {
            instance,
            objects,
            held: Occupancy::new(0),
            best: schedule.clone(),
            schedule,
            upper: u64::MAX,
            draw: Xoshiro256PlusPlus::seed_from_u64(seed),
            sweeps: 0,
            scratch: Scratch::default(),
        };
        improver.restart();
        improver
    }

    /// The best schedule so far and its total latency.
    pub(super) fn best(&self) -> (&Schedule, u64) {
        (&self.best, self.upper)
    }

    /// Goes on from another schedule that fits, if it is better than the best.
    pub(super) fn offer(&mut self, schedule: &Schedule) {
        if self.cost(schedule) < self.upper {
            self.schedule = schedule.clone();
            self.restart();
        }
    }

    /// Takes stock of the schedule.
    fn restart(&mut self) {
        self.held = Occupancy::new(self.instance.requests());
        let total = (0..self.instance.objects()).map(|object| self.place(object, 1)).sum();
        self.note(total);
        self.sweeps = 0;
    }

    /// Total latency of all requests under a schedule.
    fn cost(&self, schedule: &Schedule) -> u64 {
        let objects = 0..self.instance.objects();
        objects.map(|object| schedule.follow(self.instance, object, |_, _| {})).sum()
    }

    fn note(&mut self, total: u64) {
        if total < self.upper {
            self.upper = total;
            self.best.keep.copy_from_slice(&self.schedule.keep);
        }
    }

    /// Puts an object where the schedule has it, or takes it out (`times` −1); returns what it costs.
    fn place(&mut self, object: usize, times: i64) -> u64 {
        let amount = times * self.instance.size(object) as i64;
        let held = &mut self.held;
        self.schedule.follow(self.instance, object, |first, last| held.add(first, last, amount))
    }

    /// Sweeps once over all objects, guided by prices with these prefix sums. O(n log n).
    pub(super) fn sweep(&mut self, prefix: &[f64]) {
        let share = SERIES[self.sweeps % SERIES.len()];
        if self.sweeps.is_multiple_of(SERIES.len()) && self.schedule != self.best {
            self.schedule = self.best.clone();
            self.restart();
        }
        self.sweeps += 1;
        self.scratch.prefix.clear();
        self.scratch.prefix.extend(prefix.iter().map(|sum| sum * share));
        let mut objects = std::mem::take(&mut self.objects);
        objects.shuffle(&mut self.draw);
        for &object in &objects {
            self.place(object as usize, -1);
            self.respond(object as usize);
            self.place(object as usize, 1);
        }
        self.objects = objects;
        self.note(self.cost(&self.schedule));
    }

    /// Gives an object that is not there the best path through what is free.
    fn respond(&mut self, object: usize) {
        let (instance, held) = (self.instance, &self.held);
        let Scratch { costs, stays, prefix } = &mut self.scratch;
        let visits = instance.visits(object);
        costs.resize(costs.len().max(visits.len() + 1), Costs::default());
        stays.clear();
        stays.resize(visits.len(), [false; 2]);
        let most = instance.terms.capacity as i64 - instance.size(object) as i64;
        Priced::new(instance, object, prefix, 1.0).solve(costs, |index, branch, ways| {
            let visit = &visits[index];
            let (first, next) = match branch {
                Branch::Hit => (visit.position + 1, index + 1),
                Branch::Miss => (visit.ready, visit.back as usize),
            };
            let stuck = branch == Branch::Miss
                && instance.forced(object, visit)
                && held.most(visit.ready, visit.ready) > most;
            let fits = || held.most(first, visits[next].position) <= most;
            let (stay, cost) = match ways {
                Ways::Either { held, dropped } => {
                    let dropped = if stuck { FORBIDDEN } else { dropped };
                    let stay = held < dropped && fits();
                    (stay, if stay { held } else { dropped })
                }
                Ways::Held(cost) => (true, if fits() { cost } else { FORBIDDEN }),
                Ways::Dropped(cost) => (false, if stuck { FORBIDDEN } else { cost }),
            };
            stays[index][branch as usize] = stay;
            cost
        });
        let range = instance.range(object);
        let (mut index, mut branch) = (0, Branch::Miss);
        while index < visits.len() {
            let stay = stays[index][branch as usize];
            self.schedule.keep[range.start + index] = stay;
            index = if branch == Branch::Hit { index + 1 } else { visits[index].back as usize };
            branch = if stay { Branch::Hit } else { Branch::Miss };
        }
    }
}
