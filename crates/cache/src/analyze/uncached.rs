//! Requests without a cache: the most of them that can be delayed hits.
//!
//! A request opens a fetch of its object, or waits for one that is under way. These fetches are the fewest of their length that cover all
//! requests for the object. A cache covers them as well: each is a miss, which opens a fetch, or waits for one, or is a hit. So its misses
//! and hits together are no fewer than the fetches here, and its delayed hits are no more than the requests that wait here.

use hashbrown::HashMap;
use trueplane_trace::Request;
use trueplane_units::Nanos;

/// Counts the requests that wait, for each of some latencies.
///
/// Cost: O(latencies) per request; 8 B per object and latency, and about 25 B per object.
pub(super) struct Uncached {
    latencies: Vec<Nanos>,
    /// Place of an object's latest fetches in `ends`.
    places: HashMap<u64, usize>,
    /// Ends of the latest fetches, those of an object side by side.
    ends: Vec<Nanos>,
    waiting: Vec<u64>,
    now: Nanos,
}

impl Uncached {
    pub(super) fn new(latencies: Vec<Nanos>) -> Self {
        let waiting = vec![0; latencies.len()];
        Self { latencies, places: HashMap::new(), ends: Vec::new(), waiting, now: Nanos(0) }
    }

    /// Takes the next requests of the trace. An earlier time than that of the request before counts as the same.
    pub(super) fn push(&mut self, requests: &[Request]) {
        if self.latencies.is_empty() {
            return;
        }
        for request in requests {
            self.now = self.now.max(request.time);
            let end = self.ends.len();
            let place = *self.places.entry(request.key).or_insert(end);
            self.ends.resize(end.max(place + self.latencies.len()), Nanos(0));
            let ends = &mut self.ends[place..][..self.latencies.len()];
            for ((end, latency), waiting) in ends.iter_mut().zip(&self.latencies).zip(&mut self.waiting) {
                if self.now < *end {
                    *waiting += 1;
                } else {
                    *end = self.now.after(*latency);
                }
            }
        }
    }

    /// Each latency with the number of requests that wait.
    pub(super) fn finish(self) -> impl Iterator<Item = (Nanos, u64)> {
        self.latencies.into_iter().zip(self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trueplane_trace::Clock;

    use super::*;
    use crate::NextUse;
    use crate::Outcome;
    use crate::engine::{Engine, Shape};
    use crate::policy::Lru;

    fn request(time: u64, key: u64) -> Request {
        Request { time: Nanos(time), key, size: 1, fetch: Nanos(0) }
    }

    fn waiting(requests: &[Request], latencies: &[u64]) -> Vec<u64> {
        let mut uncached = Uncached::new(latencies.iter().copied().map(Nanos).collect());
        let (start, rest) = requests.split_at(requests.len() / 2);
        uncached.push(start);
        uncached.push(rest);
        uncached.finish().map(|(_, waiting)| waiting).collect()
    }

    #[test]
    fn a_trace_worked_by_hand() {
        let trace = [(0, 1), (3, 1), (5, 2), (10, 1), (12, 1), (15, 2), (15, 2), (19, 1), (21, 1)];
        let trace = trace.map(|(time, key)| request(time, key));
        // Fetches of 10. Object 1: from 0 to 10 with 3; from 10 to 20 with 12 and 19; from 21. Object 2: from 5 to 15; from 15 to 25 with
        // the other request at 15. Fetches of 4: 3; 12; and the one at 15; 21, as that from 19 ends at 23. A fetch of a thousand has all
        // but the first request for either object; one that takes no time has none.
        assert_eq!(waiting(&trace, &[10, 4, 1000, 0]), [4, 4, 7, 0]);
        assert_eq!(waiting(&[], &[10]), [0]);
        assert_eq!(waiting(&trace, &[]), [0; 0]);
    }

    proptest! {
        #[test]
        fn no_cache_has_more_delayed_hits(
            steps in prop::collection::vec((0..4u64, 0..6u64), 1..200),
            latency in 1..30u64,
            capacity in 1..6u64,
        ) {
            let mut now = 0;
            let requests: Vec<Request> = steps.iter().map(|&(gap, key)| { now += gap; request(now, key) }).collect();
            let shape = Shape { capacity, by_bytes: false, sets: 1 };
            let mut engine = Engine::new(|_| <Lru>::default(), &shape, Clock::Timestamps);
            let delayed = requests.iter().filter(|request| {
                engine.request(request, NextUse::UNKNOWN, || Nanos(latency)).0 == Outcome::Delayed
            });
            prop_assert!(delayed.count() as u64 <= waiting(&requests, &[latency])[0]);
        }
    }
}
