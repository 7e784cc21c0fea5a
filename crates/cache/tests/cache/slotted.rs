//! The slotted engine and the policies against an independent, deliberately naive model.

use proptest::prelude::*;
use trueplane_cache::engine::{Engine, Shape};
use trueplane_cache::latency::Latency;
use trueplane_cache::oracle::{Oracle, OracleBuilder};
use trueplane_cache::policy::{MadMemory, Params, PolicyName, WithPolicy, with_policy};
use trueplane_cache::{Outcome, Policy};
use trueplane_trace::{Clock, Request};
use trueplane_units::Nanos;

use crate::naive;
use crate::twin::twin;

/// One request as both models tell it: outcome and latency.
pub(crate) type Answer = (naive::Outcome, u64);

/// An outcome in the words of the naive model.
pub(crate) fn told(outcome: Outcome) -> naive::Outcome {
    match outcome {
        Outcome::Hit => naive::Outcome::Hit,
        Outcome::Delayed => naive::Outcome::DelayedHit,
        Outcome::Miss => naive::Outcome::Miss,
    }
}

struct Play<'a> {
    requests: &'a [Request],
    oracle: &'a Oracle,
    z: u64,
    capacity: u64,
}

impl WithPolicy for Play<'_> {
    type Output = Vec<Answer>;

    fn with<P: Policy + Send + 'static>(self, make: impl Fn(u64) -> P) -> Vec<Answer> {
        let shape = Shape { capacity: self.capacity, by_bytes: false, sets: 1 };
        let mut engine = Engine::new(make, &shape, Clock::Steps);
        let answer = |(index, request)| {
            let future = self.oracle.future(index, Some(0));
            let (outcome, latency) = engine.request(request, future, || Nanos(self.z));
            (told(outcome), latency.0)
        };
        (0..).zip(self.requests).map(answer).collect()
    }
}

/// The requests of a trace, whose fetches take `z` steps, and what the offline policies know of them.
pub(crate) fn requests(trace: &[Option<u64>], z: u64) -> (Vec<Request>, Oracle) {
    let requests: Vec<Request> = (0..)
        .zip(trace)
        .filter_map(|(step, key)| Some(Request { time: Nanos(step), key: (*key)?, size: 1, fetch: Nanos(0) }))
        .collect();
    let mut builder = OracleBuilder::new(vec![Latency::Constant(Nanos(z))]);
    builder.push(&requests).expect("test traces are short");
    let oracle = builder.finish(&()).unwrap();
    (requests, oracle)
}

fn ours(
    policy: PolicyName,
    mad_memory: MadMemory,
    trace: &[Option<u64>],
    z: u64,
    capacity: usize,
) -> Vec<Answer> {
    let (requests, oracle) = requests(trace, z);
    let params = Params { mad_memory, ..Params::objects(capacity as u64) };
    with_policy(policy, params, Play { requests: &requests, oracle: &oracle, z, capacity: capacity as u64 })
}

fn theirs(policy: naive::Policy, trace: &[Option<u64>], z: u64, capacity: usize) -> Vec<Answer> {
    naive::serve(policy, trace, z, capacity).iter().map(|served| (served.outcome, served.latency)).collect()
}

/// The policies that both sides have.
pub(crate) fn shared() -> impl Iterator<Item = (PolicyName, MadMemory, naive::Policy)> {
    let both = |&name: &PolicyName| MadMemory::ALL.iter().map(move |&memory| (name, memory));
    let all = PolicyName::ALL.iter().flat_map(both);
    all.filter_map(|(name, memory)| Some((name, memory, twin(name, memory)?)))
}

#[test]
fn every_naive_policy_is_the_twin_of_one() {
    let mut naive: Vec<_> = shared().map(|(.., naive)| format!("{naive:?}")).collect();
    let mut all: Vec<_> = naive::Policy::ALL.iter().map(|naive| format!("{naive:?}")).collect();
    naive.sort();
    all.sort();
    assert_eq!(naive, all);
}

/// Short traces over few objects with idle steps, skewed so that some come in bursts.
fn trace() -> impl Strategy<Value = Vec<Option<u64>>> {
    let step = prop_oneof![
        1 => Just(None),
        4 => (0..4u64).prop_map(Some),
        4 => (0..12u64).prop_map(Some),
        2 => (0..40u64).prop_map(Some),
    ];
    prop::collection::vec(step, 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_request_fares_as_in_the_naive_model(trace in trace(), z in 1..60u64, capacity in 1..20usize) {
        for (policy, memory, naive) in shared() {
            prop_assert_eq!(
                ours(policy, memory, &trace, z, capacity),
                theirs(naive, &trace, z, capacity),
                "{} {:?}", policy, memory
            );
        }
    }
}

#[test]
fn a_long_trace_fares_as_in_the_naive_model() {
    // Deterministic and longer than proptest's: ghosts fill up, MAD's windows open and close many times.
    let mut state = 1u64;
    let trace: Vec<Option<u64>> = (0..6_000)
        .map(|step| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let draw = state >> 33;
            let key = if draw.is_multiple_of(3) { draw / 3 % 400 } else { (step / 50 * 7 + draw % 9) % 400 };
            (!draw.is_multiple_of(11)).then_some(key)
        })
        .collect();
    for (policy, memory, naive) in shared() {
        for (z, capacity) in [(1, 50), (30, 20), (200, 60), (1000, 5)] {
            assert_eq!(
                ours(policy, memory, &trace, z, capacity),
                theirs(naive, &trace, z, capacity),
                "{policy} {memory:?} at Z = {z}, C = {capacity}"
            );
        }
    }
}
