//! The linear programme against every schedule there is, and the rounding of its fractions.

use proptest::prelude::*;
use rand_distr::{Distribution, Zipf};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_cache::belatedly::{Arrival, Instance, Prices, Terms};
use trueplane_cache::bound::lp::{Flow, LpError, LpSolution, MOST_REQUESTS};
use trueplane_cache::bound::{Limits, lp, search};
use trueplane_cache::policy::PolicyName;
use trueplane_trace::Clock;

use super::cases::{Case, Sizes, TINY, case, number, prices, without_bypass};
use super::model::{LIMITS, assert_sound, fits};
use super::naive;
use super::policies::{total, undelayed};

/// What floating point may lack of a total.
fn tolerance(value: f64) -> f64 {
    1e-6 * value.max(1.0)
}

/// The optimum of the programme, whose prices prove just that.
pub(crate) fn solved(instance: &Instance) -> LpSolution {
    let optimum = lp::solve(instance, None).expect("there is a solution");
    let lower = optimum.prices.lower(instance) as f64;
    let (value, tolerance) = (optimum.value, tolerance(optimum.value));
    let proved = (value - tolerance).ceil()..=(value + tolerance).ceil();
    assert!(proved.contains(&lower), "the prices prove {lower}, and the optimum is {value}");
    optimum
}

fn is_integral(optimum: &LpSolution) -> bool {
    let whole = |flow: f64| !(1e-6..1.0 - 1e-6).contains(&flow);
    let edges = |flow: &Flow| [flow.hit_hold, flow.hit_drop, flow.miss_hold, flow.miss_drop];
    optimum.flows.iter().flat_map(edges).all(whole)
}

fn check(case: &Case) {
    let instance = case.instance();
    let best = naive::optimum(case);
    let optimum = solved(&instance);
    let (value, tolerance) = (optimum.value, tolerance(optimum.value));
    assert!(value <= best as f64 + tolerance, "{value} > {best}");
    let found = lp::search(&instance, &LIMITS, &()).expect("it was solved before");
    assert_sound(&instance, &found);
    assert!((found.lower..=found.upper).contains(&best), "{best}: {found:?}");
    if is_integral(&optimum) {
        assert!((value - best as f64).abs() <= tolerance, "{value} is not {best}");
        assert_eq!((found.lower, found.upper), (best, best));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_programme_is_below_all_schedules_and_if_whole_the_best(case in case(TINY)) {
        check(&case);
    }

    #[test]
    fn so_it_is_without_bypass(
        case in without_bypass(TINY),
    ) {
        check(&case);
    }
}

const MIDDLING: Sizes = Sizes { requests: 60, objects: 12, longest_fetch: 20, capacity: 9 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_prices_prove_more_than_the_programme(
        case in case(MIDDLING),
        (bits, gaps) in prices(MIDDLING.requests),
    ) {
        let instance = case.instance();
        let value = solved(&instance).value;
        let scale = f64::from(1u32 << bits);
        let bound = Prices { bits, gaps: gaps[..instance.requests()].to_vec() }.bound(&instance) as f64 / scale;
        prop_assert!(bound <= value + tolerance(value), "{bound} > {value}");
    }

    #[test]
    fn whatever_is_drawn_fits(case in case(MIDDLING), seed in any::<u64>()) {
        let instance = case.instance();
        let optimum = solved(&instance);
        let schedule = lp::round(&instance, &optimum, seed).expect("it can be left out");
        prop_assert!(fits(&instance, &schedule));
        let total = schedule.replay(&instance).0 as f64;
        prop_assert!(total >= optimum.value - tolerance(total), "{total} < {}", optimum.value);
    }
}

/// A request a step, every fourth for the object of the one before and the others for a few popular ones.
fn zipf(requests: u64, objects: f64, fetch: u64, size: impl Fn(u32) -> u64, terms: Terms) -> Instance {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(requests);
    let popular = Zipf::new(objects, 0.8).expect("the exponent is positive");
    let mut latest = 0;
    let names = (0..requests).map(|_| {
        if random.next_u32() % 4 != 0 {
            latest = popular.sample(&mut random) as u32;
        }
        latest
    });
    let arrival = |(time, object)| Arrival { time, object, size: size(object), fetch };
    let arrivals: Vec<Arrival> = (0..).zip(number(names)).map(arrival).collect();
    Instance::new(&arrivals, terms).expect("small cases fit the model")
}

#[test]
fn the_roundings_of_larger_traces_fit_and_are_good() {
    let terms = |capacity, bypass| Terms { capacity, hit_latency: 0, warmup: 100, bypass };
    let sizes = |object: u32| 1000 + u64::from(object) * 7919 % 9000;
    for instance in [
        zipf(1000, 200.0, 30, |_| 1, terms(20, true)),
        zipf(1001, 200.0, 30, |_| 1, terms(20, false)),
        zipf(2000, 500.0, 200, sizes, terms(200_000, true)),
        zipf(3000, 600.0, 100, |_| 1, terms(60, true)),
    ] {
        let optimum = solved(&instance);
        for seed in 0..5 {
            let schedule = lp::round(&instance, &optimum, seed).expect("one at a time fits");
            assert!(fits(&instance, &schedule));
            assert!(schedule.replay(&instance).0 as f64 >= optimum.value - tolerance(optimum.value));
        }
        let found = lp::search(&instance, &LIMITS, &()).expect("it was solved before");
        assert_sound(&instance, &found);
        assert!(found.gap() < 0.05, "{}..{}", found.lower, found.upper);
        // The search for prices ends up about where the programme does.
        let searched = search(&instance, &Limits { iterations: 3_000, ..LIMITS }, &());
        assert_sound(&instance, &searched);
        let lower = searched.lower as f64;
        assert!(lower <= optimum.value + 1.0 && lower >= 0.998 * optimum.value, "{lower}: {}", optimum.value);
        assert!(searched.gap() < 0.05, "{}..{}", searched.lower, searched.upper);
    }
}

#[test]
fn belady_is_the_optimum_of_longer_traces_too() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let popular = Zipf::new(200.0, 0.9).expect("the exponent is positive");
    let draws: Vec<(u64, u32)> = (0..2000)
        .map(|_| (u64::from(random.next_u32() % 3) + 1, popular.sample(&mut random) as u32 - 1))
        .collect();
    for capacity in [1, 10, 60] {
        let case = undelayed(&draws, capacity);
        let found = lp::search(&case.instance(), &LIMITS, &()).expect("there is a solution");
        let belady = total(&case, PolicyName::Belady, Clock::Steps);
        assert_eq!((found.lower, found.upper), (belady, belady));
    }
}

#[test]
fn what_is_too_large_is_refused() {
    let arrival = Arrival { time: 0, object: 0, size: 1, fetch: 1 };
    let terms = Terms { capacity: 1, hit_latency: 0, warmup: 0, bypass: true };
    let instance = Instance::new(&vec![arrival; MOST_REQUESTS + 1], terms).expect("it fits the model");
    assert_eq!(lp::solve(&instance, None).unwrap_err(), LpError::TooLong(MOST_REQUESTS + 1));
}
