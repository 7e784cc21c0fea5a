//! SIEVE (Zhang et al., NSDI '24).

use super::CachePolicy;

/// A queue in the order of admission and a hand that sweeps it from the tail (the oldest) to the head.
///
/// A hit marks the object as visited and moves nothing. The hand clears the marks it passes and evicts the first
/// unmarked object; past the head it starts again from the tail. It stays where it stopped until the next eviction.
pub(super) struct Sieve {
    capacity: usize,
    /// Keys with their visited bit, from the tail to the head.
    queue: Vec<(u64, bool)>,
    /// Where in `queue` the next sweep starts.
    hand: usize,
}

impl Sieve {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, queue: Vec::new(), hand: 0 }
    }

    fn take(&mut self, index: usize) {
        // What lay next toward the head moves down to the index.
        self.queue.remove(index);
        if index < self.hand {
            self.hand -= 1;
        }
        // The hand was at the head, which has left: it wraps now, before a newcomer takes the head's place.
        if self.hand == self.queue.len() {
            self.hand = 0;
        }
    }
}

impl CachePolicy for Sieve {
    fn residents(&self) -> Vec<u64> {
        self.queue.iter().map(|(key, _)| *key).collect()
    }

    fn admit(&mut self, key: u64, now: u64) {
        if self.queue.len() == self.capacity {
            self.evict(now);
        }
        self.queue.push((key, false));
    }

    fn hit(&mut self, key: u64) {
        for (other, visited) in &mut self.queue {
            if *other == key {
                *visited = true;
            }
        }
    }

    fn remove(&mut self, key: u64) {
        let index = self.queue.iter().position(|(other, _)| *other == key).expect("it is in the cache");
        self.take(index);
    }

    fn evict(&mut self, _now: u64) {
        while self.queue[self.hand].1 {
            self.queue[self.hand].1 = false;
            self.hand = (self.hand + 1) % self.queue.len();
        }
        self.take(self.hand);
    }

    fn set_capacity(&mut self, capacity: usize) {
        self.capacity = capacity;
    }
}
