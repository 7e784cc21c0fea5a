//! Users in the order in which a static priority serves them.

use super::Innocents;

/// Packets of users by a key, least first: how much work and how many bits there are up to each.
///
/// In overload a static priority serves the least keys and nothing else. An attack with key z has to leave to users what has a
/// smaller key, and takes what it brings of the rest: for an attack whose work is `slope` × z users keep the larger of
/// W(z), the load of the smaller keys, and 1 − slope × z. The first grows with z and the second falls; where they meet is the best z. W
/// is a staircase, so that the place is found exactly, by bisection.
#[derive(Clone, Debug, PartialEq)]
pub struct Staircase {
    /// Every key once, ascending.
    keys: Vec<f64>,
    /// Load of all keys before each, and of all.
    load: Vec<f64>,
    /// Bits per nanosecond of all keys before each, and of all.
    bits: Vec<f64>,
}

/// Unit that is served or not by one key: a packet, or a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Key that it is served by; the least goes first.
    pub key: f64,
    /// Number of its packets.
    pub packets: u64,
    /// Bits of all of them.
    pub bits: u64,
    /// True work of all of them, in nanoseconds.
    pub work: u128,
}

/// Result of an attack on a static priority.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimum {
    /// The key of the attack: it goes before users of this very key.
    pub key: f64,
    /// The load that users keep.
    pub load: f64,
}

impl Staircase {
    /// All `units` of users that send `rate` bits per nanosecond together. O(n log n).
    pub fn new(innocents: &Innocents, rate: f64, units: &[Unit]) -> Self {
        let mut units = units.to_vec();
        units.sort_unstable_by(|a, b| a.key.total_cmp(&b.key));
        // What is counted in whole nanoseconds and bits is exact; a nanosecond brings this much of it.
        let scale = rate / innocents.bits as f64;
        let (mut keys, mut load, mut bits) = (Vec::new(), Vec::new(), Vec::new());
        let (mut work_before, mut bits_before) = (0u128, 0u64);
        for unit in units {
            if keys.last() != Some(&unit.key) {
                keys.push(unit.key);
                load.push(work_before as f64 * scale);
                bits.push(bits_before as f64 * scale);
            }
            work_before += unit.work;
            bits_before += unit.bits;
        }
        load.push(work_before as f64 * scale);
        bits.push(bits_before as f64 * scale);
        Self { keys, load, bits }
    }

    /// Load of all users.
    pub fn total(&self) -> f64 {
        self.load.last().copied().unwrap_or_default()
    }

    /// Every key once, ascending.
    pub fn keys(&self) -> &[f64] {
        &self.keys
    }

    /// Bits per nanosecond of the keys up to `key`. O(log n).
    pub fn bits_up_to(&self, key: f64) -> f64 {
        self.bits[self.keys.partition_point(|other| *other <= key)]
    }

    /// Load of the keys below `key`. O(log n).
    pub fn below(&self, key: f64) -> f64 {
        self.load[self.keys.partition_point(|other| *other < key)]
    }

    /// Bits per nanosecond that users get for `load`, spent on the least keys first. O(log n).
    pub fn goodput(&self, load: f64) -> f64 {
        let step = self.load.partition_point(|before| *before <= load);
        let (Some(from), Some(to)) = (step.checked_sub(1), self.load.get(step)) else {
            return if step == 0 { 0.0 } else { self.bits.last().copied().unwrap_or_default() };
        };
        let part = (load - self.load[from]) / (to - self.load[from]);
        self.bits[from] + part * (self.bits[step] - self.bits[from])
    }

    /// The best key up to `most` for an attack whose load is `slope` times its key. O(log n).
    pub fn worst(&self, slope: f64, most: f64) -> Optimum {
        // Before a key that leaves the server room for more than the keys below it, the attack can do better with a larger one.
        let roomy = |step: usize| 1.0 - slope * self.keys[step] >= self.load[step];
        let step = partition(self.keys.len(), |step| self.keys[step] <= most && roomy(step));
        // Between the last such key and the next one, `step` keys are before the attack.
        let meets = (1.0 - self.load[step]) / slope;
        let last = step.checked_sub(1).map_or(0.0, |step| self.keys[step]);
        let key = meets.clamp(last, most.max(last));
        // On the last key itself, users of that key come after the attack.
        let before = if key > last { self.load[step] } else { self.below(key) };
        Optimum { key, load: before.max(1.0 - slope * key).max(0.0) }
    }

    /// Load of users that is served under an attack with a key and a load of its own, which goes before users of that very key. O(log n).
    pub fn under(&self, key: f64, load: f64) -> f64 {
        self.below(key).max(1.0 - load).max(0.0)
    }

    /// The same, but that users of that very key and the attack are served first come, first served. O(log n).
    pub fn beside(&self, key: f64, load: f64) -> f64 {
        let step = self.keys.partition_point(|other| *other < key);
        if self.keys.get(step) != Some(&key) {
            return self.under(key, load);
        }
        let (before, equals) = (self.load[step], self.load[step + 1] - self.load[step]);
        let share = ((1.0 - before).max(0.0) / (equals + load)).min(1.0);
        (before + share * equals).max(1.0 - load)
    }
}

/// The first number below `count` for which `holds` is false, if it is true up to there and false from there on.
fn partition(count: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
