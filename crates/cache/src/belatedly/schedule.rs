//! A solution: for every request, whether the object is kept from there until it is asked for again.

use super::Instance;

/// One bit a visit, in the order of the instance's visits: whether the object stays after the hit, or after the fetch that
/// the miss began, until its next visit, which is then a hit. The bits of delayed hits mean nothing, nor do those of misses
/// whose object stays whatever happens ([`Instance::hits_next`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The bits.
    pub keep: Vec<bool>,
}

impl Schedule {
    /// The schedule that keeps nothing.
    pub fn empty(instance: &Instance) -> Self {
        Self { keep: vec![false; instance.requests()] }
    }

    /// Follows one object: calls `hold(from, to)` for the gaps, both inclusive, of every stay in the cache, and returns what
    /// its requests cost.
    pub fn follow(&self, instance: &Instance, object: usize, mut hold: impl FnMut(u32, u32)) -> u64 {
        let visits = instance.visits(object);
        let keep = &self.keep[instance.range(object)];
        let (mut index, mut hit, mut cost) = (0, false, 0);
        while let Some(visit) = visits.get(index) {
            let (from, next) = if hit {
                cost += instance.hit(visit.position);
                (visit.position + 1, index + 1)
            } else {
                cost += visit.delay;
                (visit.ready, visit.back as usize)
            };
            let kept = next < visits.len() && (keep[index] || !hit && instance.hits_next(object, visit));
            if kept {
                hold(from, visits[next].position);
            } else if !hit && instance.forced(object, visit) {
                hold(from, from);
            }
            (index, hit) = (next, kept);
        }
        cost
    }

    /// Total latency of all requests, and the size that is held at every gap.
    pub fn replay(&self, instance: &Instance) -> (u64, Vec<u64>) {
        let mut changes = vec![0i64; instance.requests() + 2];
        let mut cost = 0;
        for object in 0..instance.objects() {
            let size = instance.size(object) as i64;
            cost += self.follow(instance, object, |from, to| {
                changes[from as usize] += size;
                changes[to as usize + 1] -= size;
            });
        }
        let held = changes[..instance.requests()].iter().scan(0, |held, change| {
            *held += change;
            Some(*held as u64)
        });
        (cost, held.collect())
    }
}
