//! Random users, and what an allocation is worth to them.

use proptest::collection::vec;
use proptest::prelude::*;
use trueplane_fair::allocation::{Allocation, Demand, Mechanism, User, allocate};

/// Users of so many resources.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) resources: usize,
    pub(crate) users: Vec<User>,
}

impl Case {
    pub(crate) fn allocate(&self, mechanism: Mechanism) -> Allocation {
        allocate(mechanism, self.resources, &self.users).unwrap()
    }

    pub(crate) fn total_weight(&self) -> f64 {
        self.users.iter().map(|user| user.weight).sum()
    }
}

/// An amount: often nothing, often of a few that lead to ties, up to more than there is.
pub(crate) fn amount() -> impl Strategy<Value = f64> {
    prop_oneof![2 => Just(0.0), 4 => (1_u8..=16).prop_map(|n| f64::from(n) / 8.0), 4 => 1e-3..1.5_f64]
}

pub(crate) fn weight() -> impl Strategy<Value = f64> {
    prop_oneof![4 => Just(1.0), 2 => (1_u8..=4).prop_map(f64::from), 2 => 0.1..5.0_f64]
}

pub(crate) fn demand(resources: usize) -> impl Strategy<Value = Demand> {
    let amounts = || vec(amount(), resources);
    prop_oneof![2 => amounts().prop_map(Demand::Total), 1 => amounts().prop_map(Demand::Endless)]
}

fn commitments(resources: usize) -> impl Strategy<Value = Vec<f64>> {
    let one =
        prop_oneof![2 => Just(0.0), 2 => (0_u8..=8).prop_map(|n| f64::from(n) / 8.0), 2 => 0.0..0.7_f64];
    prop_oneof![1 => Just(vec![0.0; resources]), 3 => vec(one, resources)]
}

pub(crate) fn user(resources: usize) -> impl Strategy<Value = User> {
    (weight(), demand(resources), commitments(resources)).prop_map(|(weight, demand, commitments)| User {
        weight,
        demand,
        commitments,
    })
}

/// Up to seven users of up to four resources.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    (1_usize..=4).prop_flat_map(|resources| {
        vec(user(resources), 0..=7).prop_map(move |users| Case { resources, users })
    })
}

/// What `shares` are worth to who wants `demand`: the dominant share of it that they hold, eq. 4.1 times the dominant demand, where
/// only what is needed counts.
pub(crate) fn worth(demand: &Demand, shares: &[f64]) -> f64 {
    let Some((_, most)) = demand.dominant() else { return 0.0 };
    let needed = demand.amounts().iter().zip(shares).filter(|(amount, _)| **amount > 0.0);
    let held = needed.map(|(amount, share)| share * most / amount).fold(f64::INFINITY, f64::min);
    held.min(wanted(demand))
}

/// The dominant demand, without end for tasks without end.
pub(crate) fn wanted(demand: &Demand) -> f64 {
    match (demand, demand.dominant()) {
        (_, None) => 0.0,
        (Demand::Total(_), Some((_, most))) => most,
        (Demand::Endless(_), Some(_)) => f64::INFINITY,
    }
}

pub(crate) fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9
}

#[track_caller]
pub(crate) fn assert_near(found: f64, expected: f64) {
    assert!(near(found, expected), "{found}, expected {expected}");
}
