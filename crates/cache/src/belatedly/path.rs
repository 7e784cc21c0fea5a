//! One object under prices: its cheapest path through hits and misses.
//!
//! An object that is asked for is either held, and the request is a hit, or it is not, and the request is a miss (the delayed
//! hits that follow belong to the miss). After a hit at visit k it can be held on until visit k + 1; after a miss, from
//! gap `ready` until visit `back`. To hold it from gap a to gap b costs its size × the sum of the prices of a..=b, a
//! difference of two prefix sums: a path costs O(1) a visit.

use std::ops::{Add, Mul, Sub};

use super::{Instance, Visit};

/// Number type of prices and costs: `f64` to search, `i128` to be exact.
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
    /// Price of one unit of latency.
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
    /// ways on from each visit, from the last to the first: those after a hit, then those after a miss. It returns what
    /// comes of them: the smaller cost, or something smoother.
    pub fn solve(&self, costs: &mut [Costs<M>], mut choose: impl FnMut(usize, Branch, Ways<M>) -> M) {
        costs[self.visits.len()] = Costs::default();
        for (index, visit) in self.visits.iter().enumerate().rev() {
            let after_hit = choose(index, Branch::Hit, self.after_hit(index, costs));
            let after_miss = choose(index, Branch::Miss, self.after_miss(index, costs));
            costs[index] = Costs {
                hit: M::whole(self.instance.hit(visit.position)) * self.unit + after_hit,
                miss: M::whole(visit.delay) * self.unit + after_miss,
            };
        }
    }

    /// The least cost of all its requests.
    pub fn least(&self, costs: &mut [Costs<M>]) -> M {
        self.solve(costs, |_, _, ways| match ways {
            Ways::Either { held, dropped } => held.least(dropped),
            Ways::Held(cost) | Ways::Dropped(cost) => cost,
        });
        costs[0].miss
    }

    /// The ways on after a hit.
    fn after_hit(&self, index: usize, costs: &[Costs<M>]) -> Ways<M> {
        let Some(next) = self.visits.get(index + 1) else { return Ways::Dropped(M::default()) };
        let dropped = costs[index + 1].miss;
        if !self.fits {
            return Ways::Dropped(dropped);
        }
        let rent = self.prefix[next.position as usize] - self.prefix[self.visits[index].position as usize];
        Ways::Either { held: self.size * rent + costs[index + 1].hit, dropped }
    }

    /// The ways on after a miss.
    fn after_miss(&self, index: usize, costs: &[Costs<M>]) -> Ways<M> {
        let visit = &self.visits[index];
        let (ready, back) = (visit.ready as usize, visit.back as usize);
        let before = self.prefix[ready - 1];
        let forced = self.instance.forced(self.object, visit);
        let toll = if forced { self.size * (self.prefix[ready] - before) } else { M::default() };
        let Some(next) = self.visits.get(back) else { return Ways::Dropped(toll) };
        let dropped = toll + costs[back].miss;
        if !self.fits {
            return Ways::Dropped(dropped);
        }
        let rent = self.prefix[next.position as usize] - before;
        let held = self.size * rent + costs[back].hit;
        if self.instance.hits_next(self.object, visit) {
            return Ways::Held(held);
        }
        Ways::Either { held, dropped }
    }
}

/// Ways that an object can take after a visit, and the least cost of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Ways<M> {
    /// It can be held or dropped.
    Either {
        /// The cost of holding it until its next visit.
        held: M,
        /// The cost of dropping it.
        dropped: M,
    },
    /// It is there at its next visit whatever happens.
    Held(M),
    /// It does not fit, or nobody asks for it again.
    Dropped(M),
}

/// Outcome of a visit after which it is decided whether the object stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// A hit.
    Hit,
    /// A miss.
    Miss,
}
