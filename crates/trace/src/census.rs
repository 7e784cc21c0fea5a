//! How many keys a trace has, and how many of them a 64-bit hash cannot tell apart.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};

use crate::sip::second_hash;

/// Counts of a trace's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyCensus {
    /// Different keys. Those of which both [`super::Request::key`] and a second hash agree are taken for one.
    pub distinct: u64,
    /// Keys that share their [`super::Request::key`] with another, and so are taken for it.
    pub collided: u64,
    /// Both numbers come from one in so many hashes, times that: exact if it is 1, else estimates. A power of two.
    pub one_in: u64,
}

/// At most so many keys are remembered: about 40 MB.
const MOST: usize = 1 << 20;

/// Counts keys by two independent hashes of each.
///
/// Two keys with the same first hash and different second ones have collided. Memory is bounded by sampling: as soon as
/// more than 2²⁰ keys would be remembered, only those are whose mixed first hash is in the lower half of what it may
/// be, and so on; whatever shares its hash with a key that is looked at is so, too. O(1) for a key.
pub(super) struct Census {
    /// First hash → the second hash of the first key that had it.
    second: HashMap<u64, u64>,
    /// First and second hash of every other key.
    others: HashSet<(u64, u64)>,
    most: usize,
    /// Number of times that the space of hashes has been halved.
    halvings: u32,
}

impl Default for Census {
    fn default() -> Self {
        Self::remembering(MOST)
    }
}

impl Census {
    fn remembering(most: usize) -> Self {
        Self { second: HashMap::new(), others: HashSet::new(), most, halvings: 0 }
    }

    /// A request for a key of these bytes, the first hash of which is `first`.
    pub(super) fn count(&mut self, first: u64, bytes: &[u8]) {
        if !is_sampled(first, self.halvings) {
            return;
        }
        let second = second_hash(bytes);
        match self.second.entry(first) {
            Entry::Occupied(known) if *known.get() == second => return,
            Entry::Occupied(_) => drop(self.others.insert((first, second))),
            Entry::Vacant(vacant) => drop(vacant.insert(second)),
        }
        while self.second.len() + self.others.len() > self.most && self.halvings < u64::BITS - 1 {
            self.halvings += 1;
            self.second.retain(|&first, _| is_sampled(first, self.halvings));
            self.others.retain(|&(first, _)| is_sampled(first, self.halvings));
        }
    }

    /// Returns the counts so far. O(keys that collided).
    pub(super) fn result(&self) -> KeyCensus {
        let shared: HashSet<u64> = self.others.iter().map(|&(first, _)| first).collect();
        let estimate = |sampled: usize| (sampled as u64) << self.halvings;
        KeyCensus {
            distinct: estimate(self.second.len() + self.others.len()),
            collided: estimate(shared.len() + self.others.len()),
            one_in: 1 << self.halvings,
        }
    }
}

/// Whether keys of this hash are looked at: their share of all is 2^−`halvings`.
#[inline]
fn is_sampled(first: u64, halvings: u32) -> bool {
    // Keys that are numbers are no hashes: all bits of them have to reach the highest ones.
    let mixed = (first ^ (first >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed.leading_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sip::sip_hash;

    /// Counts `keys` keys, each of them twice.
    fn census(most: usize, keys: u32, first: fn(&[u8]) -> u64) -> KeyCensus {
        let mut census = Census::remembering(most);
        for key in (0..keys).chain(0..keys) {
            let text = format!("key{key}");
            census.count(first(text.as_bytes()), text.as_bytes());
        }
        census.result()
    }

    #[test]
    fn a_good_hash_tells_keys_apart() {
        let found = census(1 << 20, 10_000, sip_hash);
        assert_eq!(found, KeyCensus { distinct: 10_000, collided: 0, one_in: 1 });
    }

    #[test]
    fn a_weak_hash_is_found_out() {
        let weak = |text: &[u8]| sip_hash(text) & 0xfff;
        let mut counts = [0u64; 0x1000];
        (0..3_000).for_each(|key| counts[weak(format!("key{key}").as_bytes()) as usize] += 1);
        let collided = counts.iter().filter(|&&count| count > 1).sum();
        let found = census(1 << 20, 3_000, weak);
        assert_eq!(found, KeyCensus { distinct: 3_000, collided, one_in: 1 });
        assert!(collided > 1_000, "{collided}");
    }

    #[test]
    fn one_hash_for_all_ends_too() {
        assert_eq!(census(100, 1_000, |_| 7).distinct % 2, 0);
        assert_eq!(census(1 << 20, 1_000, |_| 7), KeyCensus { distinct: 1_000, collided: 1_000, one_in: 1 });
    }

    #[test]
    fn samples_tell_how_many_keys_there_are() {
        // Of 16 Bit, so that more than half of the keys collide: 65,536 × (1 − e^−(100,000/65,536)) hashes in use.
        let weak = |text: &[u8]| sip_hash(text) & 0xffff;
        let (all, sampled) = (census(1 << 20, 100_000, weak), census(4_096, 100_000, weak));
        assert!(sampled.one_in >= 32, "{sampled:?}");
        for (exact, estimate) in [(all.distinct, sampled.distinct), (all.collided, sampled.collided)] {
            // Of at least 2,048 in the sample; five standard deviations of what is drawn in clumps of a few.
            assert!(exact.abs_diff(estimate) < exact / 5, "{all:?} {sampled:?}");
        }
    }
}
