//! The upper bound: the schedule, followed request by request in the order of the trace.
//!
//! Between two requests fetches end and objects come in; nothing leaves but right after a hit, or right when the next
//! request is served if an object had to come in that is not kept. So the cache is fullest right before each request, where
//! it is looked at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::format::Terms;
use super::workload::Workload;
use crate::check::refusal::{Refusal, too_large};

/// Outcomes of the requests under a schedule; totals leave out the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// The total latency, in ns or steps.
    pub total: u128,
    /// Requests for objects in the cache.
    pub hits: u64,
    /// Requests for objects on their way.
    pub delayed_hits: u64,
    /// Requests that began a fetch.
    pub misses: u64,
    /// The largest total size of what was in the cache at once, the warm-up included.
    pub fullest: u128,
}

impl Served {
    /// Holds the total against the claim.
    ///
    /// # Errors
    /// If they differ.
    pub fn confirm(&self, claimed: u64) -> Result<(), Refusal> {
        if self.total == u128::from(claimed) {
            return Ok(());
        }
        let message = format!("upper: expected the schedule's total of {}, got {claimed}", self.total);
        Err(Refusal::new(message))
    }
}

/// State of an object: not in the cache, being fetched, or resident.
#[derive(Clone, Copy)]
enum State {
    Away,
    Coming { at: u128, stays: bool },
    Here,
}

/// Follows a schedule, one bit a request. O(n log n).
///
/// # Errors
/// If the cache cannot hold what is kept, something is kept that is never asked for again, or a delayed hit keeps anything.
pub fn follow(workload: &Workload, terms: &Terms, keep: &[bool]) -> Result<Served, Refusal> {
    let mut cache = Cache {
        workload,
        terms,
        states: vec![State::Away; workload.sizes.len()],
        ends: BinaryHeap::new(),
        held: 0,
        passing: Vec::new(),
    };
    let mut served = Served::default();
    for (index, &stays) in keep.iter().enumerate() {
        let now = u128::from(workload.times[index]);
        cache.receive(now);
        let passing: u128 = cache.passing.iter().map(|&object| cache.size(object)).sum();
        let full = cache.held + passing;
        served.fullest = served.fullest.max(full);
        if full > u128::from(terms.capacity) {
            let message = format!(
                "schedule: {full} of the capacity of {} are taken before request {index}: it is not feasible",
                terms.capacity
            );
            return Err(Refusal::new(message));
        }
        let object = workload.objects[index];
        if cache.passing.contains(&object) {
            let message = format!(
                "schedule: request {index} is a hit, as its object had to come in right before it, and is taken for a miss"
            );
            return Err(Refusal::new(message));
        }
        cache.passing.clear();
        let (wait, outcome) = cache.serve(index, now, stays, &mut served)?;
        if index as u64 >= terms.warmup {
            *outcome += 1;
            served.total = served.total.checked_add(wait).ok_or_else(too_large)?;
        }
    }
    if cache.states.iter().any(|state| matches!(state, State::Here | State::Coming { stays: true, .. })) {
        return Err(Refusal::new("schedule: something is kept that is not asked for again"));
    }
    Ok(served)
}

struct Cache<'a> {
    workload: &'a Workload,
    terms: &'a Terms,
    states: Vec<State>,
    /// Ends of fetches, each with its object.
    ends: BinaryHeap<Reverse<(u128, u32)>>,
    /// The size of what is here to stay.
    held: u128,
    /// Objects that arrived since the last request and leave when the next one is served.
    passing: Vec<u32>,
}

impl Cache<'_> {
    fn size(&self, object: u32) -> u128 {
        u128::from(self.workload.sizes[object as usize])
    }

    /// Lets in what has come by `now`.
    fn receive(&mut self, now: u128) {
        while let Some(&Reverse((end, object))) = self.ends.peek()
            && end <= now
        {
            self.ends.pop();
            let size = self.workload.sizes[object as usize];
            let state = &mut self.states[object as usize];
            if matches!(state, State::Coming { stays: true, .. }) {
                *state = State::Here;
                self.held += u128::from(size);
            } else {
                *state = State::Away;
                if !self.terms.bypass && size <= self.terms.capacity {
                    self.passing.push(object);
                }
            }
        }
    }

    /// Serves a request: how long it waits, and the count that it belongs to.
    fn serve<'s>(
        &mut self,
        index: usize,
        now: u128,
        stays: bool,
        served: &'s mut Served,
    ) -> Result<(u128, &'s mut u64), Refusal> {
        let object = self.workload.objects[index];
        let state = &mut self.states[object as usize];
        match *state {
            State::Here => {
                if !stays {
                    *state = State::Away;
                    self.held -= u128::from(self.workload.sizes[object as usize]);
                }
                Ok((u128::from(self.terms.hit_latency), &mut served.hits))
            }
            State::Coming { .. } if stays => {
                let message = format!("schedule: request {index} is a delayed hit and decides nothing");
                Err(Refusal::new(message))
            }
            State::Coming { at, .. } => Ok((at - now, &mut served.delayed_hits)),
            State::Away => {
                let wait = u128::from(self.workload.fetches[index]);
                let at = now + wait;
                *state = State::Coming { at, stays };
                self.ends.push(Reverse((at, object)));
                Ok((wait, &mut served.misses))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use trueplane_trace::Clock;
    use trueplane_units::Nanos;

    use super::*;
    use crate::latency::Latency;

    /// Requests for a, b, a, a in steps, with a fetch time of 2 steps: the first fetch of a ends right before its second request.
    fn served(keep: [bool; 4], bypass: bool) -> Result<Served, String> {
        let workload = Workload {
            times: vec![0, 1, 2, 3],
            objects: vec![0, 1, 0, 0],
            fetches: vec![2; 4],
            sizes: vec![1; 2],
        };
        let terms = Terms {
            clock: Clock::Steps,
            latency: Latency::Constant(Nanos(2)),
            capacity: 1,
            by_bytes: false,
            hit_latency: 0,
            warmup: 0,
            bypass,
            bypass_oversized: false,
            prefix: None,
        };
        follow(&workload, &terms, &keep).map_err(|refusal| refusal.to_string())
    }

    #[test]
    fn without_bypass_what_came_in_serves_a_request_for_itself() {
        // Dropped after its fetch, it is fetched again at 2, and the request at 3 waits for what is left: 2 + 2 + 2 + 1.
        assert_eq!(served([false; 4], true).unwrap().total, 7);
        let refused = served([false; 4], false).unwrap_err();
        assert!(refused.contains("request 2 is a hit"), "{refused}");
        // It is a hit, and may leave then.
        let kept = served([true, false, false, false], false).unwrap();
        assert_eq!((kept.total, kept.hits, kept.misses), (6, 1, 3));
    }
}
