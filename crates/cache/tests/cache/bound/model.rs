//! The model against every schedule there is.

use proptest::prelude::*;
use trueplane_cache::belatedly::{Arrival, Instance, Prices, Schedule, Terms};
use trueplane_cache::bound::{Limits, Solution, search};

use super::cases::{Case, TINY, case, prices, without_bypass};
use super::naive;

pub(crate) const LIMITS: Limits = Limits { gap: 0.0, time: None, iterations: 100 };

pub(crate) fn fits(instance: &Instance, schedule: &Schedule) -> bool {
    schedule.replay(instance).1.iter().all(|&held| held <= instance.terms.capacity)
}

/// The least total latency of the schedules of the model.
fn best_schedule(instance: &Instance) -> Option<u64> {
    let all = 0..1u32 << instance.requests();
    let schedules = all.map(|bits| Schedule {
        keep: (0..instance.requests()).map(|visit| bits >> visit & 1 == 1).collect(),
    });
    let feasible = schedules.filter(|schedule| fits(instance, schedule));
    feasible.map(|schedule| schedule.replay(instance).0).min()
}

/// What is said of a solution is so.
pub(crate) fn assert_sound(instance: &Instance, found: &Solution) {
    assert!(found.lower <= found.upper, "{found:?}");
    assert_eq!(found.prices.lower(instance), found.lower, "{found:?}");
    assert_eq!(found.schedule.replay(instance).0, found.upper, "{found:?}");
    assert!(fits(instance, &found.schedule), "{found:?}");
}

fn check(case: &Case) {
    let instance = case.instance();
    let optimum = naive::optimum(case);
    assert_eq!(best_schedule(&instance), Some(optimum));
    let found = search(&instance, &LIMITS, &());
    assert_sound(&instance, &found);
    assert!((found.lower..=found.upper).contains(&optimum), "{optimum}: {found:?}");
}

/// A schedule that let an object go right before a request for itself waited 20 steps; no cache without bypass does.
#[test]
fn without_bypass_a_fetched_object_serves_the_next_request() {
    let arrivals = (0..).zip("babbabbcaaaa".bytes());
    let arrivals =
        arrivals.map(|(time, name)| Arrival { time, object: u32::from(name - b'a'), size: 1, fetch: 3 });
    let terms = Terms { capacity: 1, hit_latency: 0, warmup: 0, bypass: false };
    let case = Case { arrivals: arrivals.collect(), terms };
    assert_eq!(naive::optimum(&case), 21);
    check(&case);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_best_schedule_is_the_optimum_and_lies_between_the_bounds(case in case(TINY)) {
        check(&case);
    }

    #[test]
    fn so_it_does_without_bypass(
        case in without_bypass(TINY),
    ) {
        check(&case);
    }

    #[test]
    fn a_schedule_costs_and_takes_what_it_does_in_the_cache(
        case in prop_oneof![case(TINY), without_bypass(TINY)],
        keep in prop::collection::vec(any::<bool>(), TINY.requests),
    ) {
        let instance = case.instance();
        let schedule = Schedule { keep: keep[..instance.requests()].to_vec() };
        prop_assert_eq!(schedule.replay(&instance), naive::replay(&case, &case.by_request(&schedule.keep)));
    }

    #[test]
    fn any_prices_prove_a_bound(
        case in case(TINY),
        (bits, gaps) in prices(TINY.requests),
    ) {
        let gaps = gaps[..case.arrivals.len()].to_vec();
        let lower = Prices { bits, gaps }.lower(&case.instance());
        prop_assert!(lower <= naive::optimum(&case));
    }

    #[test]
    fn any_prices_prove_one_without_bypass(
        case in without_bypass(TINY),
        (bits, gaps) in prices(TINY.requests),
    ) {
        let gaps = gaps[..case.arrivals.len()].to_vec();
        let lower = Prices { bits, gaps }.lower(&case.instance());
        prop_assert!(lower <= naive::optimum(&case));
    }
}
