//! What the two models predict of our cache: the classical one, in which a fetched object is there at once, and the refined one, in which
//! its fetch takes time. Both replay the requests that are sent, at the times at which they are sent.

use trueplane_cache::engine::{Engine, Shape};
use trueplane_cache::policy::{Params, WithPolicy, with_policy};
use trueplane_cache::{NextUse, Outcome, Policy, PolicyName};
use trueplane_study::metrics::Distribution;
use trueplane_trace::{Clock, Request};
use trueplane_units::Nanos;

use super::workload::Workload;

/// What a request takes besides the origin's latency, and an object besides its body, as measured of our cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Time that a hit takes, and every other answer as well.
    pub hit: Nanos,
    /// Time that a fetch takes besides the origin's latency.
    pub fetch: Nanos,
    /// Bytes that an object takes besides its body.
    pub object: u64,
}

/// The prediction of a model.
#[derive(Clone, Debug, Default)]
pub struct Predicted {
    /// How long requests take, in ns.
    pub waits: Distribution,
    /// Requests for what is there.
    pub hits: u64,
    /// Requests for what is on its way.
    pub delayed_hits: u64,
    /// Requests that go to the origin.
    pub misses: u64,
}

/// A cache in front of an origin.
#[derive(Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) workload: &'a Workload,
    /// The origin's latency for each object.
    pub(super) latencies: &'a [Nanos],
    pub(super) overhead: Overhead,
    /// The cache's memory in bytes.
    pub(super) memory: u64,
    pub(super) seed: u64,
}

impl Setting<'_> {
    /// The prediction by hit rate. MAD changes nothing where fetches take no time: it is its base.
    pub(super) fn classical(self, policy: PolicyName) -> Predicted {
        self.run(policy.properties().base.unwrap_or(policy), true)
    }

    /// The prediction by simulation.
    pub(super) fn refined(self, policy: PolicyName) -> Predicted {
        self.run(policy, false)
    }

    /// The mean time of a request by the classical model, if each object goes to the origin so often, in ns.
    pub(super) fn classical_mean(self, asked: &[u64]) -> f64 {
        let fetch = |(object, &times): (usize, &u64)| times as f64 * self.fetch(object).0 as f64;
        let fetches: f64 = asked.iter().enumerate().map(fetch).sum();
        fetches / self.workload.requests.len().max(1) as f64 + self.overhead.hit.0 as f64
    }

    /// Time from a miss until the object is there.
    fn fetch(self, object: usize) -> Nanos {
        self.latencies.get(object).map_or(Nanos(0), |latency| latency.after(self.overhead.fetch))
    }

    fn run(self, policy: PolicyName, is_classical: bool) -> Predicted {
        let weight = self.workload.mean_body() as u64 + self.overhead.object;
        let objects = (self.memory / weight.max(1)).max(1);
        let params = Params { seed: self.seed, ..Params::objects(objects) };
        with_policy(policy, params, Simulate { setting: self, is_classical })
    }
}

/// A simulation under one of the models.
struct Simulate<'a> {
    setting: Setting<'a>,
    is_classical: bool,
}

impl WithPolicy for Simulate<'_> {
    type Output = Predicted;

    fn with<P: Policy + Send + Sync + 'static>(self, make: impl Fn(u64) -> P) -> Predicted {
        let Self { setting, is_classical } = self;
        let Setting { workload, overhead, memory, .. } = setting;
        let shape = Shape { capacity: memory, by_bytes: true, sets: 1 };
        let mut engine = Engine::new(make, &shape, Clock::Timestamps);
        let mut predicted = Predicted::default();
        for planned in &workload.requests {
            let fetch = setting.fetch(planned.object);
            let request = Request {
                time: planned.at,
                key: planned.object as u64,
                size: workload.objects[planned.object].body + overhead.object,
                fetch,
            };
            let there = if is_classical { Nanos(0) } else { fetch };
            let (outcome, wait) = engine.request(&request, NextUse::UNKNOWN, || there);
            let (count, wait) = match outcome {
                Outcome::Hit => (&mut predicted.hits, Nanos(0)),
                Outcome::Delayed => (&mut predicted.delayed_hits, wait),
                Outcome::Miss => (&mut predicted.misses, fetch),
            };
            *count += 1;
            predicted.waits.record(wait.after(overhead.hit).0);
        }
        predicted
    }
}

#[cfg(test)]
mod tests {
    use super::super::workload::{Object, Planned};
    use super::*;

    fn at(requests: &[(u64, usize)]) -> Workload {
        let planned = |&(at, object): &(u64, usize)| Planned { at: Nanos(at), object };
        Workload {
            requests: requests.iter().map(planned).collect(),
            objects: [1, 2, 3].map(|key| Object { key, size: 90, body: 90 }).to_vec(),
            ..Workload::default()
        }
    }

    #[test]
    fn a_sequence_is_served_as_worked_by_hand() {
        // Room for one object, whose fetch takes 100 + 7; every answer takes 2 more.
        let workload = at(&[(0, 0), (60, 0), (107, 0), (200, 1), (250, 0), (307, 0)]);
        let overhead = Overhead { hit: Nanos(2), fetch: Nanos(7), object: 10 };
        let latencies = [Nanos(100), Nanos(100), Nanos(100)];
        let setting = Setting { workload: &workload, latencies: &latencies, overhead, memory: 100, seed: 1 };
        let refined = setting.refined(PolicyName::Lru);
        // A miss, a delayed hit that waits for 47 more, a hit; a miss; a hit, as the other is not there yet; at 307 it is.
        assert_eq!((refined.misses, refined.delayed_hits, refined.hits), (3, 1, 2));
        assert_eq!(refined.waits.sum(), 109 + 49 + 2 + 109 + 2 + 109);
        let classical = setting.classical(PolicyName::LruMad);
        // Objects are there at once, so that the fifth request finds the other one.
        assert_eq!((classical.misses, classical.delayed_hits, classical.hits), (3, 0, 3));
        assert_eq!(classical.waits.sum(), 109 + 2 + 2 + 109 + 109 + 2);
        // Two fetches of the first object and one of the second.
        let expected = (3.0 * 107.0) / 6.0 + 2.0;
        assert!((setting.classical_mean(&[2, 1, 0]) - expected).abs() < 1e-9);
    }

    #[test]
    fn with_room_for_all_each_object_is_fetched_once() {
        let workload = at(&[(0, 0), (1, 1), (2, 2), (1000, 0), (1001, 1), (1002, 2)]);
        let latencies = [Nanos(100), Nanos(200), Nanos(300)];
        let setting = Setting {
            workload: &workload,
            latencies: &latencies,
            overhead: Overhead::default(),
            memory: 270,
            seed: 1,
        };
        for policy in [PolicyName::Lru, PolicyName::S3Fifo, PolicyName::LruMad] {
            let refined = setting.refined(policy);
            assert_eq!((refined.misses, refined.hits, refined.waits.sum()), (3, 3, 600), "{policy}");
        }
    }
}
