//! ARC (Megiddo and Modha, FAST '03, figure 4), and ARC-MAD, which takes its victims by the aggregate delay.
//!
//! With delayed completions ARC still sees one plain sequence of requests: a hit when it arrives, a miss and the
//! requests that waited for it when the fetch completes. So what the paper proves of its lists holds here too, and is
//! asserted: there are ghosts only while the cache is full, so REPLACE never takes from a cache with room. The paper knows no removals
//! and no other capacity; after one of them a cache with room may have ghosts, and REPLACE does nothing then.

use super::delay::{Delays, Memory};
use super::{CachePolicy, touch};

/// All lists run from the least to the most recent.
pub(super) struct Arc {
    capacity: usize,
    /// The target size of `t1`: `p` in the paper, here an integer.
    target: usize,
    /// Residents requested once since they entered.
    t1: Vec<u64>,
    /// Residents requested at least twice, or back from a ghost list.
    t2: Vec<u64>,
    /// Ghosts of `t1`, in the order of eviction.
    b1: Vec<u64>,
    /// Ghosts of `t2`, in the order of eviction.
    b2: Vec<u64>,
    /// Kept by ARC-MAD only.
    delays: Option<Delays>,
    /// Whether something has happened that the paper does not know.
    disturbed: bool,
}

impl Arc {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            target: 0,
            t1: Vec::new(),
            t2: Vec::new(),
            b1: Vec::new(),
            b2: Vec::new(),
            delays: None,
            disturbed: false,
        }
    }

    /// Where ARC would evict the least recent of T1 or T2, takes the member of that list with the smallest
    /// (mean aggregate delay) / (now − last request + 1), of equal ones the least recently touched. All else is ARC.
    pub(super) fn mad(capacity: usize, z: u64, memory: Memory) -> Self {
        Self { delays: Some(Delays::new(z, memory)), ..Self::new(capacity) }
    }

    /// REPLACE of the paper: makes room for `key`, which is still in its ghost list if it was in one.
    fn replace(&mut self, key: u64, now: u64) {
        let room = self.capacity - self.t1.len() - self.t2.len();
        assert!(room == 0 || self.disturbed, "REPLACE in a cache with room");
        if room == 0 {
            self.take(self.b2.contains(&key), now);
        }
    }

    /// Sends the victim of REPLACE to the ghosts.
    fn take(&mut self, wanted_again: bool, now: u64) {
        let over_target = self.t1.len() > self.target || (wanted_again && self.t1.len() == self.target);
        // With removals T2 may be empty although T1 is not above its target.
        if !self.t1.is_empty() && (over_target || self.t2.is_empty()) {
            let victim = take_victim(&mut self.t1, self.delays.as_mut(), now);
            self.b1.push(victim);
        } else {
            let victim = take_victim(&mut self.t2, self.delays.as_mut(), now);
            self.b2.push(victim);
        }
    }
}

impl CachePolicy for Arc {
    fn residents(&self) -> Vec<u64> {
        [self.t1.as_slice(), self.t2.as_slice()].concat()
    }

    fn request(&mut self, key: u64, now: u64) {
        if let Some(delays) = &mut self.delays {
            delays.on_access(key, now);
        }
    }

    /// Case I.
    fn hit(&mut self, key: u64) {
        self.t1.retain(|other| *other != key);
        touch(&mut self.t2, key);
    }

    /// Cases II, III and IV.
    fn admit(&mut self, key: u64, now: u64) {
        if let Some(delays) = &mut self.delays {
            delays.on_fetch(key);
        }
        if self.b1.contains(&key) {
            let step = adaptation_step(self.b2.len(), self.b1.len());
            self.target = (self.target + step).min(self.capacity);
            self.replace(key, now);
            self.b1.retain(|other| *other != key);
            self.t2.push(key);
        } else if self.b2.contains(&key) {
            let step = adaptation_step(self.b1.len(), self.b2.len());
            self.target = self.target.saturating_sub(step);
            self.replace(key, now);
            self.b2.retain(|other| *other != key);
            self.t2.push(key);
        } else {
            let seen_once = self.t1.len() + self.b1.len();
            let total = seen_once + self.t2.len() + self.b2.len();
            if seen_once == self.capacity {
                // Case A.
                if self.t1.len() < self.capacity {
                    self.b1.remove(0);
                    self.replace(key, now);
                } else {
                    take_victim(&mut self.t1, self.delays.as_mut(), now);
                }
            } else if total >= self.capacity {
                // Case B.
                if total == 2 * self.capacity {
                    self.b2.remove(0);
                }
                self.replace(key, now);
            }
            self.t1.push(key);
        }
        assert!(self.t1.len() + self.b1.len() <= self.capacity, "L1 outgrew the capacity");
        assert!(
            self.t1.len() + self.t2.len() + self.b1.len() + self.b2.len() <= 2 * self.capacity,
            "too many ghosts"
        );
    }

    fn remove(&mut self, key: u64) {
        self.disturbed = true;
        self.t1.retain(|other| *other != key);
        self.t2.retain(|other| *other != key);
        self.abandon(key);
    }

    fn abandon(&mut self, key: u64) {
        if let Some(delays) = &mut self.delays {
            delays.on_leave(key);
        }
    }

    fn evict(&mut self, now: u64) {
        self.take(false, now);
    }

    fn set_capacity(&mut self, capacity: usize) {
        self.disturbed = true;
        self.capacity = capacity;
        self.target = self.target.min(capacity);
    }

    fn resize(&mut self, capacity: usize, now: u64) {
        self.set_capacity(capacity);
        while self.t1.len() + self.t2.len() > capacity {
            self.evict(now);
        }
        while self.t1.len() + self.b1.len() > capacity {
            self.b1.remove(0);
        }
        while self.t1.len() + self.t2.len() + self.b1.len() + self.b2.len() > 2 * capacity {
            self.b2.remove(0);
        }
    }
}

/// max(1, `other` / `own`), rounded half away from zero: by how much a hit in a ghost list of `own` members moves the
/// target when the opposite list has `other`. The hit's own ghost counts among `own`, so that is at least one.
pub(crate) fn adaptation_step(other: usize, own: usize) -> usize {
    ((2 * other + own) / (2 * own)).max(1)
}

/// Takes the victim out of `list`: the least recent, or for ARC-MAD the one with the lowest score.
fn take_victim(list: &mut Vec<u64>, delays: Option<&mut Delays>, now: u64) -> u64 {
    let Some(delays) = delays else {
        return list.remove(0);
    };
    let index = delays.smallest_mean_over_age(list, now).expect("ARC takes no victim from an empty list");
    let victim = list.remove(index);
    delays.on_leave(victim);
    victim
}
