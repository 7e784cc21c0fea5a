//! LFU, and LFU-MAD, which weighs frequency with the aggregate delay.

use std::collections::BTreeMap;

use super::delay::{Delays, Memory, Ratio};
use super::{CachePolicy, touch};

/// Evicts the object with the fewest requests since it entered; of equal ones the least recently touched.
///
/// The miss counts as one, and so does each delayed hit that waited for it. An evicted object's count is forgotten.
pub(super) struct Lfu {
    capacity: usize,
    /// The residents, least recently touched first.
    order: Vec<u64>,
    counts: BTreeMap<u64, u64>,
}

impl Lfu {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, order: Vec::new(), counts: BTreeMap::new() }
    }
}

impl CachePolicy for Lfu {
    fn residents(&self) -> Vec<u64> {
        self.order.clone()
    }

    fn admit(&mut self, key: u64, now: u64) {
        if self.order.len() == self.capacity {
            self.evict(now);
        }
        self.counts.insert(key, 1);
        touch(&mut self.order, key);
    }

    fn hit(&mut self, key: u64) {
        *self.counts.entry(key).or_default() += 1;
        touch(&mut self.order, key);
    }

    fn remove(&mut self, key: u64) {
        self.order.retain(|other| *other != key);
        self.counts.remove(&key);
    }

    fn evict(&mut self, _now: u64) {
        let index = (0..self.order.len())
            .min_by_key(|i| self.counts[&self.order[*i]])
            .expect("a full cache is not empty");
        self.remove(self.order[index]);
    }

    fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }
}

/// Evicts the smallest count × mean aggregate delay; of equal ones the least recently touched.
///
/// The count is that of [`Lfu`], whatever the memory of the aggregate delay.
pub(super) struct LfuMad {
    capacity: usize,
    /// The residents, least recently touched first.
    order: Vec<u64>,
    counts: BTreeMap<u64, u64>,
    delays: Delays,
}

impl LfuMad {
    pub(super) fn new(capacity: usize, z: u64, memory: Memory) -> Self {
        Self { capacity, order: Vec::new(), counts: BTreeMap::new(), delays: Delays::new(z, memory) }
    }

    fn score(&self, key: u64) -> Ratio {
        let mean = self.delays.mean(key);
        Ratio { numerator: u128::from(self.counts[&key]) * mean.numerator, denominator: mean.denominator }
    }
}

impl CachePolicy for LfuMad {
    fn residents(&self) -> Vec<u64> {
        self.order.clone()
    }

    fn request(&mut self, key: u64, now: u64) {
        self.delays.on_access(key, now);
    }

    fn admit(&mut self, key: u64, now: u64) {
        self.delays.on_fetch(key);
        if self.order.len() == self.capacity {
            self.evict(now);
        }
        self.counts.insert(key, 1);
        touch(&mut self.order, key);
    }

    fn hit(&mut self, key: u64) {
        *self.counts.entry(key).or_default() += 1;
        touch(&mut self.order, key);
    }

    fn remove(&mut self, key: u64) {
        self.order.retain(|other| *other != key);
        self.counts.remove(&key);
        self.delays.on_leave(key);
    }

    fn abandon(&mut self, key: u64) {
        self.delays.on_leave(key);
    }

    fn evict(&mut self, _now: u64) {
        let index = (0..self.order.len())
            .min_by(|a, b| self.score(self.order[*a]).compare(self.score(self.order[*b])))
            .expect("a full cache is not empty");
        self.remove(self.order[index]);
    }

    fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }
}
