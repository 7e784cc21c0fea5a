//! Progressive filling, as one would do it by hand: everybody rises at the pace of its weight, until something happens.

use proptest::prelude::*;
use trueplane_fair::allocation::{Mechanism, User};

use super::cases::{Case, case, wanted};

/// Dominant shares by small steps from one thing that happens to the next: somebody begins, is satisfied, or a resource is full.
/// Nothing is sorted and nothing is remembered between steps.
fn fill(resources: usize, users: &[User], stateful: bool) -> Vec<f64> {
    let ratios: Vec<Vec<f64>> = users
        .iter()
        .map(|user| {
            let most = user.demand.dominant().map_or(1.0, |(_, most)| most);
            user.demand.amounts().iter().map(|amount| amount / most).collect()
        })
        .collect();
    let bases: Vec<f64> = users
        .iter()
        .map(|user| if stateful { user.commitments.iter().copied().fold(0.0, f64::max) } else { 0.0 })
        .collect();
    let mut shares = vec![0.0; users.len()];
    let mut stopped: Vec<bool> = users.iter().map(|user| wanted(&user.demand) == 0.0).collect();
    let mut level = 0.0_f64;
    while stopped.contains(&false) {
        let rises = |user: usize| !stopped[user] && bases[user] / users[user].weight <= level + 1e-12;
        let begins = (0..users.len()).filter(|&user| !stopped[user] && !rises(user));
        let mut step =
            begins.map(|user| bases[user] / users[user].weight - level).fold(f64::INFINITY, f64::min);
        for user in (0..users.len()).filter(|&user| rises(user)) {
            step = step.min((wanted(&users[user].demand) - shares[user]) / users[user].weight);
        }
        let left = |resource: usize, shares: &[f64]| {
            1.0 - (0..users.len()).map(|user| shares[user] * ratios[user][resource]).sum::<f64>()
        };
        let paces = |resource: usize| -> f64 {
            (0..users.len())
                .filter(|&user| rises(user))
                .map(|user| users[user].weight * ratios[user][resource])
                .sum()
        };
        for resource in (0..resources).filter(|&resource| paces(resource) > 0.0) {
            step = step.min(left(resource, &shares).max(0.0) / paces(resource));
        }
        let rising: Vec<usize> = (0..users.len()).filter(|&user| rises(user)).collect();
        level += step;
        for &user in &rising {
            shares[user] += users[user].weight * step;
        }
        for user in 0..users.len() {
            let needs_full = (0..resources)
                .any(|resource| ratios[user][resource] > 0.0 && left(resource, &shares) < 1e-11);
            stopped[user] |= needs_full || wanted(&users[user].demand) - shares[user] < 1e-12;
        }
    }
    shares
}

fn agree(case: &Case, mechanism: Mechanism) -> Result<(), TestCaseError> {
    let expected = fill(case.resources, &case.users, mechanism.properties().stateful);
    let found = case.allocate(mechanism);
    for (outcome, share) in found.outcomes.iter().zip(&expected) {
        prop_assert!((outcome.dominant_share - share).abs() < 1e-8, "{found:?}\n{expected:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_sweep_is_progressive_filling(case in case()) {
        agree(&case, Mechanism::Drf)?;
        agree(&case, Mechanism::Sdrf)?;
        if case.resources == 1 {
            agree(&case, Mechanism::Mmf)?;
            agree(&case, Mechanism::Smmf)?;
        }
    }

    /// Without commitments a memory makes no difference, and one resource is max-min fairness.
    #[test]
    fn without_commitments_all_are_drf(mut case in case()) {
        case.users.iter_mut().for_each(|user| user.commitments.fill(0.0));
        let drf = case.allocate(Mechanism::Drf);
        prop_assert_eq!(&drf, &case.allocate(Mechanism::Sdrf));
        if case.resources == 1 {
            prop_assert_eq!(&drf, &case.allocate(Mechanism::Mmf));
            prop_assert_eq!(&drf, &case.allocate(Mechanism::Smmf));
        }
    }
}
