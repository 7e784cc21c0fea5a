//! No policy of the simulator is better than the bound.

use proptest::prelude::*;
use trueplane_cache::belatedly::{Arrival, Terms};
use trueplane_cache::bound::search;
use trueplane_cache::engine::{Engine, Shape};
use trueplane_cache::latency::Latency;
use trueplane_cache::oracle::{Oracle, OracleBuilder};
use trueplane_cache::policy::{Params, PolicyName, WithPolicy, with_policy};
use trueplane_cache::{Outcome, Policy};
use trueplane_trace::{Clock, Request};
use trueplane_units::Nanos;

use super::cases::{Case, Sizes, case, number};
use super::model::{LIMITS, assert_sound};
use super::naive;

const SMALL: Sizes = Sizes { requests: 120, objects: 24, longest_fetch: 40, capacity: 16 };

struct Play<'a> {
    case: &'a Case,
    requests: &'a [Request],
    oracle: &'a Oracle,
    clock: Clock,
}

impl WithPolicy for Play<'_> {
    type Output = u64;

    fn with<P: Policy + Send + 'static>(self, make: impl Fn(u64) -> P) -> u64 {
        let Terms { capacity, hit_latency, warmup, .. } = self.case.terms;
        let mut engine = Engine::new(make, &Shape { capacity, by_bytes: true, sets: 1 }, self.clock);
        let mut total = 0;
        for (index, request) in (0..).zip(self.requests) {
            let future = self.oracle.future(index, Some(0));
            let (outcome, wait) = engine.request(request, future, || request.fetch);
            if index >= warmup {
                total += if outcome == Outcome::Hit { hit_latency } else { wait.0 };
            }
        }
        total
    }
}

/// The total latency of a policy.
pub(crate) fn total(case: &Case, policy: PolicyName, clock: Clock) -> u64 {
    let request = |arrival: &Arrival| Request {
        time: Nanos(arrival.time),
        key: u64::from(arrival.object),
        size: arrival.size,
        fetch: Nanos(arrival.fetch),
    };
    let requests: Vec<Request> = case.arrivals.iter().map(request).collect();
    let mut builder = OracleBuilder::new(vec![Latency::Trace]);
    builder.push(&requests).expect("test traces are short");
    let oracle = builder.finish(&()).unwrap();
    let play = Play { case, requests: &requests, oracle: &oracle, clock };
    with_policy(policy, Params::objects(case.terms.capacity), play)
}

/// The best lower bound at hand: the linear programme's, where it is compiled in.
fn lower(case: &Case) -> u64 {
    let instance = case.instance();
    let found = search(&instance, &LIMITS, &());
    assert_sound(&instance, &found);
    #[cfg(feature = "lp")]
    let exact = super::lp::solved(&instance).prices.lower(&instance);
    #[cfg(not(feature = "lp"))]
    let exact = found.lower;
    assert!(found.lower <= exact + 1, "the search proves {} and the optimum is {exact}", found.lower);
    exact.max(found.lower)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_policy_beats_the_bound(case in case(SMALL), slotted in any::<bool>()) {
        let clock = if slotted { Clock::Steps } else { Clock::Timestamps };
        let lower = lower(&case);
        for &policy in PolicyName::ALL {
            let total = total(&case, policy, clock);
            prop_assert!(total >= lower, "{policy}: {total} < {lower}");
        }
    }

    /// Of those who admit everything not even what may be had without bypass.
    #[test]
    fn no_policy_that_admits_everything_beats_the_bound_without_bypass(mut case in case(SMALL)) {
        case.terms.bypass = false;
        for arrival in &mut case.arrivals {
            arrival.size = 1;
        }
        prop_assume!(!naive::is_crowded(&case));
        let lower = lower(&case);
        for policy in PolicyName::ALL.iter().copied().filter(|policy| !policy.properties().offline) {
            let total = total(&case, policy, Clock::Timestamps);
            prop_assert!(total >= lower, "{policy}: {total} < {lower}");
        }
    }

    /// Where what is missed is there at the next step, Bélády's algorithm is optimal.
    #[test]
    fn belady_is_the_optimum_if_nothing_is_delayed(
        objects in prop::collection::vec((1..4u64, 0..4u32), 1..=12),
        capacity in 1..4u64,
    ) {
        let case = undelayed(&objects, capacity);
        prop_assert_eq!(total(&case, PolicyName::Belady, Clock::Steps), naive::optimum(&case));
    }
}

/// A trace with a latency of one step, by the steps between the requests and their objects.
pub(crate) fn undelayed(draws: &[(u64, u32)], capacity: u64) -> Case {
    let mut time = 0;
    let objects = number(draws.iter().map(|&(_, object)| object));
    let arrivals = draws.iter().zip(objects).map(|(&(steps, _), object)| {
        time += steps;
        Arrival { time, object, size: 1, fetch: 1 }
    });
    let terms = Terms { capacity, hit_latency: 0, warmup: 0, bypass: true };
    Case { arrivals: arrivals.collect(), terms }
}
