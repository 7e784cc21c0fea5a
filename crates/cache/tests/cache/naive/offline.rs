//! The policies that know the trace: Bélády and Bélády-AggregateDelay (Atre 2025, §2.5.1).
//!
//! Both choose among the residents and the newcomer; choosing the newcomer means that it is not admitted. Of equal
//! candidates a resident goes before the newcomer, and of the residents the least recently touched.

use std::cmp::Reverse;

use super::delay::Ratio;
use super::{CachePolicy, touch};

/// Evicts the object whose next request is farthest away.
pub(super) struct Belady<'a> {
    capacity: usize,
    trace: &'a [Option<u64>],
    /// The residents, least recently touched first.
    order: Vec<u64>,
}

impl<'a> Belady<'a> {
    pub(super) fn new(capacity: usize, trace: &'a [Option<u64>]) -> Self {
        Self { capacity, trace, order: Vec::new() }
    }
}

impl CachePolicy for Belady<'_> {
    fn residents(&self) -> Vec<u64> {
        self.order.clone()
    }

    fn admit(&mut self, key: u64, now: u64) {
        touch(&mut self.order, key);
        if self.order.len() > self.capacity {
            self.evict(now);
        }
    }

    fn hit(&mut self, key: u64) {
        touch(&mut self.order, key);
    }

    fn remove(&mut self, key: u64) {
        self.order.retain(|other| *other != key);
    }

    fn evict(&mut self, now: u64) {
        let farthest =
            |i: &usize| Reverse(next_request(self.trace, self.order[*i], now).unwrap_or(usize::MAX));
        let index = (0..self.order.len()).min_by_key(farthest).expect("the newcomer at least is there");
        self.order.remove(index);
    }

    fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }
}

/// Evicts the smallest (aggregate delay of the next request) / (steps until then).
pub(super) struct BeladyAd<'a> {
    capacity: usize,
    trace: &'a [Option<u64>],
    z: u64,
    /// The residents, least recently touched first.
    order: Vec<u64>,
}

impl<'a> BeladyAd<'a> {
    pub(super) fn new(capacity: usize, trace: &'a [Option<u64>], z: u64) -> Self {
        Self { capacity, trace, z, order: Vec::new() }
    }

    /// Eq. 2.45; 0 for an object that is never requested again.
    fn rank(&self, key: u64, now: u64) -> Ratio {
        let Some(next) = next_request(self.trace, key, now) else {
            return Ratio { numerator: 0, denominator: 1 };
        };
        // Eq. 2.13, as if the next request were a miss: it pays z and one t < z steps later pays z - t.
        let delay = (0..self.z)
            .zip(&self.trace[next..])
            .filter(|(_, arrival)| **arrival == Some(key))
            .map(|(t, _)| u128::from(self.z - t))
            .sum();
        Ratio { numerator: delay, denominator: next as u128 - u128::from(now) }
    }
}

impl CachePolicy for BeladyAd<'_> {
    fn residents(&self) -> Vec<u64> {
        self.order.clone()
    }

    fn admit(&mut self, key: u64, now: u64) {
        touch(&mut self.order, key);
        if self.order.len() > self.capacity {
            self.evict(now);
        }
    }

    fn hit(&mut self, key: u64) {
        touch(&mut self.order, key);
    }

    fn remove(&mut self, key: u64) {
        self.order.retain(|other| *other != key);
    }

    fn evict(&mut self, now: u64) {
        let index = (0..self.order.len())
            .min_by(|a, b| self.rank(self.order[*a], now).compare(self.rank(self.order[*b], now)))
            .expect("the newcomer at least is there");
        self.order.remove(index);
    }

    fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }
}

/// The step of the first request for `key` strictly after step `now`.
fn next_request(trace: &[Option<u64>], key: u64, now: u64) -> Option<usize> {
    (0..trace.len()).find(|step| *step as u128 > u128::from(now) && trace[*step] == Some(key))
}
