//! One object under prices: its cheapest path through hits and misses.
//!
//! An object that is asked for is either held, and the request is a hit, or it is not, and the request is a miss (the delayed
//! hits that follow belong to the miss). After a hit at visit k it can be held on until visit k + 1; after a miss, from
//! gap `ready` until visit `back`. To hold it from gap a to gap b costs its size × the sum of the prices of a..=b, a
//! difference of two prefix sums: a path costs O(1) a visit.

use std::ops::{Add, Mul, Sub};

use super::{Instance, Visit};

/// What prices and costs are counted in: `f64` to search, `i128` to be sure.
pub trait Money:
    Copy + Default + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// A whole number of the unit of latency, or of size.
    fn whole(amount: u64) -> Self;

    /// The smaller one.
    fn least(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Money for f64 {
    fn whole(amount: u64) -> Self {
        amount as f64
    }
}

impl Money for i128 {
    fn whole(amount: u64) -> Self {
        i128::from(amount)
    }
}

/// The least cost from a visit on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs<M> {
    /// If the visit is a hit.
    pub hit: M,
    /// If it is a miss.
    pub miss: M,
}

/// An object under prices.
#[derive(Clone, Copy)]
pub struct Priced<'a, M> {
    instance: &'a Instance,
    object: usize,
    visits: &'a [Visit],
    prefix: &'a [M],
    /// What one unit of latency is worth in the unit of the prices.
    unit: M,
    size: M,
    fits: bool,
}

impl<'a, M: Money> Priced<'a, M> {
    /// An object under prices whose sum over the gaps up to g is `prefix[g]`, and of which `unit` are worth a unit of
    /// latency.
    pub fn new(instance: &'a Instance, object: usize, prefix: &'a [M], unit: M) -> Self {
        let (visits, size) = (instance.visits(object), M::whole(instance.size(object)));
        Self { instance, object, visits, prefix, unit, size, fits: instance.fits(object) }
    }

    /// Finds the least costs from each visit on; `costs` has a place for every visit and one more. `choose` is handed the
    /// costs of holding the object, if it can be held, and of dropping it, for each visit backwards first if it is a hit and then if
    /// it is a miss. It returns what comes of it: the smaller one, or something smoother.
    pub fn solve(&self, costs: &mut [Costs<M>], mut choose: impl FnMut(usize, Branch, Option<M>, M) -> M) {
        costs[self.visits.len()] = Costs::default();
        for (index, visit) in self.visits.iter().enumerate().rev() {
            let (held, dropped) = self.after_hit(index, costs);
            let after_hit = choose(index, Branch::Hit, held, dropped);
            let (held, dropped) = self.after_miss(index, costs);
            let after_miss = choose(index, Branch::Miss, held, dropped);
            costs[index] = Costs {
                hit: M::whole(self.instance.hit(visit.position)) * self.unit + after_hit,
                miss: M::whole(visit.delay) * self.unit + after_miss,
            };
        }
    }

    /// The least cost of all its requests.
    pub fn least(&self, costs: &mut [Costs<M>]) -> M {
        self.solve(costs, |_, _, held, dropped| held.map_or(dropped, |held| held.least(dropped)));
        costs[0].miss
    }

    /// What comes after a hit if the object is held, if it can be, and if it is dropped.
    fn after_hit(&self, index: usize, costs: &[Costs<M>]) -> (Option<M>, M) {
        let Some(next) = self.visits.get(index + 1) else { return (None, M::default()) };
        let rent = self.prefix[next.position as usize] - self.prefix[self.visits[index].position as usize];
        (self.fits.then(|| self.size * rent + costs[index + 1].hit), costs[index + 1].miss)
    }

    /// What comes after a miss if the object is held, if it can be, and if it is dropped.
    fn after_miss(&self, index: usize, costs: &[Costs<M>]) -> (Option<M>, M) {
        let visit = &self.visits[index];
        let (ready, back) = (visit.ready as usize, visit.back as usize);
        let before = self.prefix[ready - 1];
        let forced = self.instance.forced(self.object, visit);
        let toll = if forced { self.size * (self.prefix[ready] - before) } else { M::default() };
        let Some(next) = self.visits.get(back) else { return (None, toll) };
        let rent = self.prefix[next.position as usize] - before;
        (self.fits.then(|| self.size * rent + costs[back].hit), toll + costs[back].miss)
    }
}

/// What a visit was, when it is to be decided whether the object stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// A hit.
    Hit,
    /// A miss.
    Miss,
}
