//! Prices for a unit of the cache in every gap, in integers: what a lower bound is proved by.

use super::path::Priced;
use super::{Instance, path::Costs};

/// A price for every gap of an instance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    /// Prices are in units of latency / 2^bits for a unit of the capacity; at most 48.
    pub bits: u32,
    /// The price of gap g at `gaps[g]`; that of gap 0, before the first request, is of no use.
    pub gaps: Vec<u64>,
}

impl Prices {
    /// The lower bound that these prices prove, in units of latency / 2^bits: the sum over the objects of the least cost
    /// of their paths, less capacity × the sum of all prices. Exact; O(n).
    pub fn bound(&self, instance: &Instance) -> i128 {
        let mut sum = 0;
        let prefix: Vec<i128> = (self.gaps.iter())
            .map(|&price| {
                sum += i128::from(price);
                sum
            })
            .collect();
        let mut costs = Vec::new();
        let objects = 0..instance.objects();
        let paths: i128 = objects
            .map(|object| {
                costs.resize(instance.visits(object).len() + 1, Costs::default());
                Priced::new(instance, object, &prefix, 1 << self.bits).least(&mut costs)
            })
            .sum();
        paths - i128::from(instance.terms.capacity) * sum
    }

    /// The lower bound in units of latency, rounded up: the total of a schedule is a whole number. Zero if the prices prove
    /// nothing.
    pub fn lower(&self, instance: &Instance) -> u64 {
        let scale = 1i128 << self.bits;
        let bound = self.bound(instance).max(0);
        u64::try_from((bound + scale - 1) / scale).unwrap_or(u64::MAX)
    }
}
