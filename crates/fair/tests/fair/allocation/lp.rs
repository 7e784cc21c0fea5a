//! Against linear programs: lexicographic max-min of (share + commitment) / weight, one program after another, and Pareto optimality.

use microlp::{ComparisonOp, OptimizationDirection, Problem, Variable};
use proptest::prelude::*;
use trueplane_fair::allocation::{Demand, Mechanism, User, dominant_commitment};

use super::cases::{Case, case, wanted};

/// What the solver leaves open; what a program leaves to those that rest on it, so that they can be solved; and the difference, above the
/// sum of these for all users, that tells who can rise from who cannot.
const FEASIBLE: f64 = 1e-10;
const SLACK: f64 = 1e-9;
const SAME: f64 = 2e-6;

/// A user in a program: its dominant share lies in a range, and on or above the water level if it still rises.
struct Bounds {
    least: f64,
    most: f64,
    rises: bool,
}

/// The optimum of a goal (a factor for every dominant share, and one for the level), or nothing if the solver failed.
fn optimum(
    case: &Case,
    bases: &[f64],
    bounds: &[Bounds],
    goal: &[f64],
    level: (f64, f64, f64),
) -> Option<f64> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let shares: Vec<Variable> = bounds
        .iter()
        .zip(goal)
        .map(|(bounds, factor)| problem.add_var(*factor, (bounds.least, bounds.most)))
        .collect();
    let (factor, least, most) = level;
    let level = problem.add_var(factor, (least, most));
    for resource in 0..case.resources {
        let row: Vec<(Variable, f64)> =
            case.users.iter().zip(&shares).map(|(user, share)| (*share, ratio(user, resource))).collect();
        problem.add_constraint(row, ComparisonOp::Le, 1.0);
    }
    for (index, user) in case.users.iter().enumerate().filter(|(index, _)| bounds[*index].rises) {
        problem.add_constraint(
            [(shares[index], 1.0), (level, -user.weight)],
            ComparisonOp::Ge,
            -bases[index],
        );
    }
    problem.solve().ok()?.into_solution().ok().map(|solution| solution.objective())
}

fn ratio(user: &User, resource: usize) -> f64 {
    user.demand.dominant().map_or(0.0, |(_, most)| user.demand.amounts()[resource] / most)
}

/// Dominant shares, as the largest in the order that compares the smallest levels first.
fn lexicographic(case: &Case, bases: &[f64]) -> Option<Vec<f64>> {
    // Nobody gets more than all there is of its dominant resource.
    let most: Vec<f64> = case.users.iter().map(|user| wanted(&user.demand).min(1.0)).collect();
    let mut bounds: Vec<Bounds> =
        most.iter().map(|&most| Bounds { least: 0.0, most, rises: most > 0.0 }).collect();
    let none = vec![0.0; most.len()];
    let highest = 1e3;
    while bounds.iter().any(|bounds| bounds.rises) {
        let level = optimum(case, bases, &bounds, &none, (1.0, 0.0, highest))?;
        // Whoever cannot be above this level in any solution stops there. One who only stands on a high base may.
        let mut stopped = Vec::new();
        for user in (0..most.len()).filter(|&user| bounds[user].rises) {
            let mut goal = none.clone();
            goal[user] = 1.0;
            let below = (level - SLACK).max(0.0);
            let best = optimum(case, bases, &bounds, &goal, (0.0, below, highest))?;
            let at_level = (case.users[user].weight * level - bases[user]).clamp(0.0, most[user]);
            if best <= at_level + SAME {
                stopped.push((user, at_level));
            }
        }
        if stopped.is_empty() {
            return None;
        }
        for (user, share) in stopped {
            bounds[user] = Bounds { least: (share - SLACK).max(0.0), most: share, rises: false };
        }
    }
    Some(bounds.iter().map(|bounds| bounds.most).collect())
}

/// Cases in which nobody needs a very small part of anything: what the solver leaves open of a resource would be much to it.
fn coarse() -> impl Strategy<Value = Case> {
    case().prop_map(|mut case| {
        for user in &mut case.users {
            let (Demand::Total(amounts) | Demand::Endless(amounts)) = &mut user.demand;
            amounts.iter_mut().filter(|amount| **amount > 0.0).for_each(|amount| *amount = amount.max(0.05));
        }
        case
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_allocation_is_the_lexicographic_optimum(case in coarse()) {
        for mechanism in [Mechanism::Drf, Mechanism::Sdrf] {
            let base = |user: &User| if mechanism.properties().stateful { dominant_commitment(&user.commitments) } else { 0.0 };
            let bases: Vec<f64> = case.users.iter().map(base).collect();
            let expected = lexicographic(&case, &bases);
            prop_assert!(expected.is_some(), "the solver failed");
            let found = case.allocate(mechanism);
            for (outcome, share) in found.outcomes.iter().zip(expected.iter().flatten()) {
                prop_assert!((outcome.dominant_share - share).abs() < 1e-4, "{found:?}\n{expected:?}");
            }
        }
    }

    /// Prop. 5: if nobody is to have less, nobody can have more, also with demands of zero.
    #[test]
    fn the_allocation_is_pareto_optimal(case in coarse()) {
        for mechanism in [Mechanism::Drf, Mechanism::Sdrf] {
            let found = case.allocate(mechanism);
            let bounds: Vec<Bounds> = case.users.iter().zip(&found.outcomes).map(|(user, outcome)| Bounds {
                // What rounding lacks of a full resource is nobody's.
                least: (outcome.dominant_share - FEASIBLE).max(0.0),
                most: wanted(&user.demand).min(1.0).max(outcome.dominant_share),
                rises: false,
            }).collect();
            let all = vec![1.0; bounds.len()];
            let best = optimum(&case, &all, &bounds, &all, (0.0, 0.0, 0.0));
            let sum: f64 = found.outcomes.iter().map(|outcome| outcome.dominant_share).sum();
            prop_assert!(best.is_some(), "the solver failed");
            prop_assert!(best.is_some_and(|best| best <= sum + SAME), "{best:?} > {sum}: {found:?}");
        }
    }
}
