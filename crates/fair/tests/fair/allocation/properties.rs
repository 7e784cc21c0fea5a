//! What holds of every allocation in one stage (Props 1, 2, 4, and what is left of 6; Prop. 5 is in `lp.rs`).

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use trueplane_fair::allocation::End;
use trueplane_fair::allocation::{Allocation, Demand, Mechanism, User};

use super::cases::{Case, amount, case, demand, near, user, wanted, worth};

const BOTH: [Mechanism; 2] = [Mechanism::Drf, Mechanism::Sdrf];

fn check(case: &Case, found: &Allocation) -> Result<(), TestCaseError> {
    for resource in 0..case.resources {
        let used: f64 = (0..case.users.len()).map(|user| found.shares(user)[resource]).sum();
        prop_assert!(used <= 1.0 + 1e-9, "feasible: {found:?}");
        prop_assert!(near(used, found.used[resource]), "{found:?}");
    }
    prop_assert!(found.rounds <= case.resources && found.rounds <= found.bottlenecks.len());
    let mut full: Vec<usize> = found.bottlenecks.iter().map(|bottleneck| bottleneck.resource).collect();
    prop_assert!(full.iter().all(|&resource| found.used[resource] > 1.0 - 1e-9), "{found:?}");
    full.sort_unstable();
    full.dedup();
    prop_assert_eq!(full.len(), found.bottlenecks.len());
    for (index, user) in case.users.iter().enumerate() {
        check_user(case, found, index, user)?;
    }
    Ok(())
}

fn check_user(case: &Case, found: &Allocation, index: usize, user: &User) -> Result<(), TestCaseError> {
    let (outcome, shares) = (found.outcomes[index], found.shares(index));
    prop_assert!(shares.iter().all(|share| *share >= 0.0));
    prop_assert!(near(worth(&user.demand, shares), outcome.dominant_share));
    prop_assert!(near(user.demand.worth(shares), outcome.dominant_share));
    prop_assert_eq!(user.demand.wanted(), wanted(&user.demand));
    // Prop. 4: nothing of it could be taken away without a loss, and nothing is there that is not needed.
    for (resource, amount) in user.demand.amounts().iter().enumerate() {
        prop_assert_eq!(*amount > 0.0 && outcome.dominant_share > 0.0, shares[resource] > 0.0);
        if shares[resource] > 0.0 {
            let mut less = shares.to_vec();
            less[resource] *= 0.999;
            prop_assert!(worth(&user.demand, &less) < outcome.dominant_share);
        }
    }
    let level = user.weight * outcome.level - outcome.commitment;
    match outcome.end {
        End::Idle => prop_assert!(wanted(&user.demand) == 0.0 && outcome.dominant_share == 0.0),
        End::Satisfied => prop_assert!(near(outcome.dominant_share, wanted(&user.demand))),
        // Prop. 1, for everybody by itself.
        End::Limited(resource) => {
            prop_assert!(user.demand.amounts()[resource] > 0.0);
            let bottleneck = found.bottlenecks.iter().find(|bottleneck| bottleneck.resource == resource);
            prop_assert_eq!(bottleneck.map(|bottleneck| bottleneck.level), Some(outcome.level));
            prop_assert!(outcome.dominant_share < wanted(&user.demand));
            prop_assert!(near(outcome.dominant_share, level.max(0.0)));
        }
    }
    // Its part, less its commitment: below the level 1 / Σw nothing is full.
    let part = user.weight / case.total_weight() - outcome.commitment;
    prop_assert!(outcome.dominant_share >= part.min(wanted(&user.demand)) - 1e-9, "{found:?}");
    Ok(())
}

/// Sums over many users, with many who stop at once, are as exact.
#[test]
fn thousands_of_users_are_divided_as_exactly() {
    let mut runner = TestRunner::deterministic();
    for users in [100, 1_000, 10_000] {
        let users = proptest::collection::vec(user(3), users);
        let mut users = users.new_tree(&mut runner).unwrap().current();
        // Small enough that the water rises past most of them.
        for user in &mut users {
            let (Demand::Total(amounts) | Demand::Endless(amounts)) = &mut user.demand;
            amounts.iter_mut().for_each(|amount| *amount *= 0.004);
            user.commitments.iter_mut().for_each(|commitment| *commitment *= 0.01);
        }
        let case = Case { resources: 3, users };
        for mechanism in BOTH {
            check(&case, &case.allocate(mechanism)).unwrap();
        }
    }
}

/// Another demand of somebody who wants `truth`: quite another, a multiple, or one entry changed.
fn lie(truth: Demand) -> impl Strategy<Value = Demand> {
    let resources = truth.amounts().len();
    let scaled = (Just(truth.clone()), 0.01..3.0_f64, any::<bool>()).prop_map(|(truth, factor, endless)| {
        let amounts = truth.amounts().iter().map(|amount| amount * factor).collect();
        if endless { Demand::Endless(amounts) } else { Demand::Total(amounts) }
    });
    let changed = (Just(truth), 0..resources, amount()).prop_map(|(mut truth, resource, amount)| {
        match &mut truth {
            Demand::Total(amounts) | Demand::Endless(amounts) => amounts[resource] = amount,
        }
        truth
    });
    prop_oneof![demand(resources), scaled, changed]
}

fn case_with_lies() -> impl Strategy<Value = (Case, usize, Vec<Demand>)> {
    let users = |case: Case| (0..case.users.len(), Just(case));
    let some = case().prop_filter("somebody has to lie", |case| !case.users.is_empty());
    some.prop_flat_map(users).prop_flat_map(|(liar, case)| {
        let lies = proptest::collection::vec(lie(case.users[liar].demand.clone()), 8);
        (Just(case), Just(liar), lies)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn allocations_are_feasible_and_waste_nothing(case in case()) {
        for mechanism in BOTH {
            check(&case, &case.allocate(mechanism))?;
        }
    }

    /// Prop. 2, also with demands of zero, with an end, without one, with weights and with commitments.
    #[test]
    fn nobody_gains_by_misreporting_in_one_stage((case, liar, lies) in case_with_lies()) {
        for mechanism in BOTH {
            let truth = case.allocate(mechanism);
            for lie in &lies {
                let mut lying = case.clone();
                lying.users[liar].demand = lie.clone();
                let gained = lying.allocate(mechanism);
                let worth = worth(&case.users[liar].demand, gained.shares(liar));
                prop_assert!(
                    worth <= truth.outcomes[liar].dominant_share + 1e-9,
                    "{worth} by {lie:?}\n{gained:?}\n{truth:?}"
                );
            }
        }
    }

    /// The order of users and of resources, and the scale of weights, change nothing.
    #[test]
    fn names_and_scales_do_not_matter(case in case(), factor in 0.01..100.0_f64) {
        let mut turned = case.clone();
        turned.users.reverse();
        for user in &mut turned.users {
            user.weight *= factor;
            user.commitments.reverse();
            match &mut user.demand {
                Demand::Total(amounts) | Demand::Endless(amounts) => amounts.reverse(),
            }
        }
        for mechanism in BOTH {
            let (found, turned) = (case.allocate(mechanism), turned.allocate(mechanism));
            for (one, other) in found.outcomes.iter().zip(turned.outcomes.iter().rev()) {
                prop_assert!(near(one.dominant_share, other.dominant_share));
            }
        }
    }

    /// Whatever is not refused has an answer that is made of numbers.
    #[test]
    fn no_numbers_are_too_strange(
        scales in proptest::collection::vec((-99_i32..=99, -300_i32..=300, 0.0..=1.0_f64), 1..6),
        endless in any::<bool>(),
    ) {
        let resources = 2;
        let users: Vec<User> = scales
            .iter()
            .map(|&(weight, demand, commitment)| {
                let amounts = vec![10_f64.powi(demand), 10_f64.powi(-demand)];
                let demand = if endless { Demand::Endless(amounts) } else { Demand::Total(amounts) };
                User { weight: 10_f64.powi(weight), demand, commitments: vec![commitment, 0.0] }
            })
            .collect();
        let found = Case { resources, users }.allocate(Mechanism::Sdrf);
        for outcome in &found.outcomes {
            prop_assert!(outcome.level.is_finite() && outcome.dominant_share.is_finite(), "{found:?}");
        }
        prop_assert!(found.used.iter().all(|used| (0.0..=1.0 + 1e-9).contains(used)), "{found:?}");
    }
}
