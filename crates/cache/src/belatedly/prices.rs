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

#[cfg(test)]
mod tests {
    use super::super::{Arrival, Schedule, Terms};
    use super::*;

    /// The example of docs/concepts/cache.md: Z = 3 and room for two.
    fn example() -> Instance {
        let arrivals = [(0, 0), (1, 1), (4, 2), (7, 2), (8, 1), (9, 0), (10, 0), (11, 0)]
            .map(|(time, object)| Arrival { time, object, size: 1, fetch: 3 });
        Instance::new(&arrivals, Terms { capacity: 2, hit_latency: 0, warmup: 0, bypass: true }).unwrap()
    }

    #[test]
    fn a_single_price_proves_the_optimum_of_the_example() {
        let instance = example();
        let mut prices = Prices { bits: 0, gaps: vec![0; 8] };
        assert_eq!(prices.lower(&instance), 9, "without prices all but the first misses are hits");
        // Before the request of step 7 all three objects should be there, and only two can.
        prices.gaps[3] = 3;
        assert_eq!(prices.lower(&instance), 9 + 3 + 3 + 3 - 2 * 3);
        prices.gaps[3] = 4;
        assert_eq!(prices.lower(&instance), 9 + 4 + 3 + 3 - 2 * 4);
    }

    #[test]
    fn keeping_the_burst_has_the_optimum_of_the_example() {
        let instance = example();
        let mut schedule = Schedule::empty(&instance);
        let keep = |object: usize, visits: &[usize], schedule: &mut Schedule| {
            visits.iter().for_each(|visit| schedule.keep[instance.range(object).start + visit] = true);
        };
        keep(0, &[0, 1, 2], &mut schedule);
        keep(2, &[0], &mut schedule);
        let (cost, held) = schedule.replay(&instance);
        assert_eq!((cost, held.iter().max()), (12, Some(&2)));
        keep(1, &[0], &mut schedule);
        let (cost, held) = schedule.replay(&instance);
        assert_eq!((cost, held.iter().max()), (9, Some(&3)), "it would cost less, and not fit");
    }

    #[test]
    fn fractions_of_a_unit_round_up() {
        let instance = example();
        let mut prices = Prices { bits: 2, gaps: vec![0; 8] };
        // 2.75: 9 + 3 × 2.75 − 2 × 2.75 = 11.75, and a total is a whole number.
        prices.gaps[3] = 11;
        assert_eq!(prices.bound(&instance), 47);
        assert_eq!(prices.lower(&instance), 12);
    }
}
