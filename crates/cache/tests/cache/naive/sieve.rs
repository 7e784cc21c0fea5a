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

    fn evict(&mut self) {
        while self.queue[self.hand].1 {
            self.queue[self.hand].1 = false;
            self.hand = (self.hand + 1) % self.queue.len();
        }
        // What lay next toward the head moves down to the hand's index.
        self.queue.remove(self.hand);
        // The head itself was evicted: the hand wraps now, before the newcomer takes the head's place.
        if self.hand == self.queue.len() {
            self.hand = 0;
        }
    }
}

impl CachePolicy for Sieve {
    fn residents(&self) -> Vec<u64> {
        self.queue.iter().map(|(key, _)| *key).collect()
    }

    fn admit(&mut self, key: u64, _now: u64) {
        if self.queue.len() == self.capacity {
            self.evict();
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
}
