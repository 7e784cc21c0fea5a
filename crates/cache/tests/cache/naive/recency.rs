//! LRU, and LRU-MAD, which weighs recency with the aggregate delay.

use super::delay::{Delays, Memory};
use super::{CachePolicy, touch};

/// Evicts the least recently touched; hits and admissions touch.
pub(super) struct Lru {
    capacity: usize,
    /// The residents, least recently touched first.
    order: Vec<u64>,
}

impl Lru {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, order: Vec::new() }
    }
}

impl CachePolicy for Lru {
    fn residents(&self) -> Vec<u64> {
        self.order.clone()
    }

    fn admit(&mut self, key: u64, now: u64) {
        if self.order.len() == self.capacity {
            self.evict(now);
        }
        touch(&mut self.order, key);
    }

    fn hit(&mut self, key: u64) {
        touch(&mut self.order, key);
    }

    fn remove(&mut self, key: u64) {
        self.order.retain(|other| *other != key);
    }

    fn evict(&mut self, _now: u64) {
        self.order.remove(0);
    }

    fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }
}

/// Evicts the smallest (mean aggregate delay) / (now − last request + 1); of equal ones the least recently touched.
///
/// The object that is being admitted is no candidate.
pub(super) struct LruMad {
    capacity: usize,
    /// The residents, least recently touched first.
    order: Vec<u64>,
    delays: Delays,
}

impl LruMad {
    pub(super) fn new(capacity: usize, z: u64, memory: Memory) -> Self {
        Self { capacity, order: Vec::new(), delays: Delays::new(z, memory) }
    }
}

impl CachePolicy for LruMad {
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
        touch(&mut self.order, key);
    }

    fn hit(&mut self, key: u64) {
        touch(&mut self.order, key);
    }

    fn remove(&mut self, key: u64) {
        self.order.retain(|other| *other != key);
        self.delays.on_leave(key);
    }

    fn abandon(&mut self, key: u64) {
        self.delays.on_leave(key);
    }

    fn evict(&mut self, now: u64) {
        let index = self.delays.smallest_mean_over_age(&self.order, now).expect("a full cache is not empty");
        let victim = self.order.remove(index);
        self.delays.on_leave(victim);
    }

    fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }
}
