//! Examples by hand, and what is refused.

use trueplane_fair::allocation::End;
use trueplane_fair::allocation::{Allocation, AllocationError, Demand, Game, Mechanism, User, allocate};

use super::cases::assert_near;

fn user(weight: f64, demand: Demand, commitments: &[f64]) -> User {
    User { weight, demand, commitments: commitments.to_vec() }
}

fn plain(demand: Demand) -> User {
    let none = vec![0.0; demand.amounts().len()];
    User { weight: 1.0, demand, commitments: none }
}

fn total(amounts: &[f64]) -> Demand {
    Demand::Total(amounts.to_vec())
}

fn endless(amounts: &[f64]) -> Demand {
    Demand::Endless(amounts.to_vec())
}

#[track_caller]
fn assert_shares(found: &Allocation, expected: &[&[f64]]) {
    for (user, expected) in expected.iter().enumerate() {
        assert_eq!(found.shares(user).len(), expected.len());
        found.shares(user).iter().zip(*expected).for_each(|(found, expected)| assert_near(*found, *expected));
    }
}

/// 9 CPUs and 18 GB; tasks of A need ⟨1 CPU, 4 GB⟩, of B ⟨3 CPU, 1 GB⟩ (Ghodsi et al., figure 3): three tasks of A, two of B.
#[test]
fn the_example_of_drf() {
    let (a, b) = (endless(&[1.0 / 9.0, 4.0 / 18.0]), endless(&[3.0 / 9.0, 1.0 / 18.0]));
    let found = allocate(Mechanism::Drf, 2, &[plain(a.clone()), plain(b.clone())]).unwrap();
    assert_shares(&found, &[&[3.0 / 9.0, 12.0 / 18.0], &[6.0 / 9.0, 2.0 / 18.0]]);
    assert_eq!(found.outcomes[0].dominant, Some(1));
    assert_eq!(found.outcomes[1].dominant, Some(0));
    assert_eq!(found.bottlenecks.len(), 1);
    assert_eq!(found.bottlenecks[0].resource, 0);
    assert_near(found.bottlenecks[0].level, 2.0 / 3.0);
    assert_eq!([found.outcomes[0].end, found.outcomes[1].end], [End::Limited(0), End::Limited(0)]);
    assert_near(found.used[1], 14.0 / 18.0);

    // A has committed itself to 0.3 of the memory: CPU is full when (x − 0.3) / 2 + x = 1.
    let stateful = [user(1.0, a, &[0.1, 0.3]), plain(b)];
    let found = allocate(Mechanism::Sdrf, 2, &stateful).unwrap();
    let x = 2.3 / 3.0;
    assert_shares(&found, &[&[(x - 0.3) / 2.0, x - 0.3], &[x, x / 6.0]]);
    assert_near(found.outcomes[0].level, x);
}

/// "If the equal share for the resource is 3 CPUs and the user has a commitment of 1 CPU, then the user should have the right to receive
/// at least 2 CPUs" (§4.3.1): of 12, with four users.
#[test]
fn a_commitment_is_the_base_of_a_tank() {
    let all = |commitment| user(1.0, total(&[1.0]), &[commitment]);
    let users = [all(1.0 / 12.0), all(0.0), all(0.0), all(0.0)];
    let found = allocate(Mechanism::Smmf, 1, &users).unwrap();
    assert_shares(&found, &[&[2.25 / 12.0], &[3.25 / 12.0], &[3.25 / 12.0], &[3.25 / 12.0]]);
    // Those who want little leave the rest to the others; who is committed to more than the level gets nothing.
    let users = [all(0.75), user(1.0, total(&[0.25]), &[0.0]), all(0.25), user(2.0, total(&[2.0]), &[0.0])];
    let found = allocate(Mechanism::Smmf, 1, &users).unwrap();
    // 1/4 + (x − 1/4) + 2x = 1
    assert_near(found.bottlenecks[0].level, 1.0 / 3.0);
    assert_shares(&found, &[&[0.0], &[0.25], &[1.0 / 12.0], &[2.0 / 3.0]]);
    assert_eq!(found.outcomes[0].end, End::Limited(0));
    assert_eq!(found.outcomes[1].end, End::Satisfied);
}

/// What the epsilons of footnote 1 would leave idle: A and B fill the first resource, and C, who does not need it, goes on.
#[test]
fn who_needs_nothing_of_what_is_full_goes_on() {
    let users = [
        plain(endless(&[1.0, 0.25])),
        plain(endless(&[1.0, 0.0])),
        plain(endless(&[0.0, 1.0])),
        plain(total(&[0.0, 0.0])),
    ];
    let found = allocate(Mechanism::Drf, 2, &users).unwrap();
    // At x = 1/2 the first is full; C stops when the second is, at 1 − 1/8.
    assert_shares(&found, &[&[0.5, 0.125], &[0.5, 0.0], &[0.0, 0.875], &[0.0, 0.0]]);
    assert_eq!(found.rounds, 2);
    let bottlenecks: Vec<_> = found.bottlenecks.iter().map(|one| (one.resource, one.level)).collect();
    assert_eq!(bottlenecks, [(0, 0.5), (1, 0.875)]);
    assert_eq!(
        found.outcomes.iter().map(|one| one.end).collect::<Vec<_>>(),
        [End::Limited(0), End::Limited(0), End::Limited(1), End::Idle]
    );
}

/// Its tank begins above the level at which what it needs is full.
#[test]
fn who_comes_when_all_is_gone_gets_nothing() {
    let users = [
        plain(endless(&[1.0, 0.0])),
        user(1.0, total(&[0.5, 0.1]), &[0.0, 1.0]),
        user(1.0, total(&[0.0, 0.1]), &[0.0, 1.0]),
    ];
    let found = allocate(Mechanism::Sdrf, 2, &users).unwrap();
    assert_shares(&found, &[&[1.0, 0.0], &[0.0, 0.0], &[0.0, 0.1]]);
    assert_eq!(found.outcomes[1].end, End::Limited(0));
    assert_eq!(found.outcomes[2].end, End::Satisfied);
}

#[test]
fn resources_that_are_full_together_are_one_round() {
    let users = [plain(endless(&[1.0, 0.3])), plain(endless(&[0.3, 1.0]))];
    let found = allocate(Mechanism::Drf, 2, &users).unwrap();
    assert_eq!((found.rounds, found.bottlenecks.len()), (1, 2));
    // Demands that add up to all there is satisfy everybody.
    let thirds = vec![plain(total(&[1.0 / 3.0])); 3];
    let found = allocate(Mechanism::Mmf, 1, &thirds).unwrap();
    assert!(found.bottlenecks.is_empty() && found.outcomes.iter().all(|one| one.end == End::Satisfied));
    // Nobody is an allocation too.
    assert_eq!(allocate(Mechanism::Drf, 2, &[]).unwrap().used, [0.0, 0.0]);
}

#[test]
fn what_is_not_a_number_of_its_kind_is_refused() {
    let refused = |users: &[User]| allocate(Mechanism::Sdrf, 1, users).unwrap_err();
    for bad in [-0.1, f64::NAN, f64::INFINITY] {
        let error = refused(&[plain(total(&[1.0])), plain(total(&[bad]))]);
        assert!(matches!(error, AllocationError::Demand { user: 1, resource: 0, .. }), "{error}");
        let error = refused(&[user(1.0, total(&[1.0]), &[bad])]);
        assert!(matches!(error, AllocationError::Commitment { user: 0, resource: 0, .. }), "{error}");
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-101] {
        let error = refused(&[user(bad, total(&[1.0]), &[0.0])]);
        assert!(matches!(error, AllocationError::Weight { user: 0, .. }), "{error}");
        assert!(Game::new(Mechanism::Sdrf, 1, vec![bad], 0.5).is_err());
    }
    assert!(matches!(refused(&[user(1.0, total(&[1.0]), &[1.5])]), AllocationError::Commitment { .. }));
    let lengths = [user(1.0, total(&[1.0, 1.0]), &[0.0]), user(1.0, total(&[1.0]), &[])];
    for wrong in lengths {
        assert!(matches!(refused(&[wrong]), AllocationError::Length { user: 0, expected: 1, .. }));
    }
    assert_eq!(allocate(Mechanism::Drf, 0, &[]), Err(AllocationError::NoResources));
    let two = AllocationError::OneResource { mechanism: Mechanism::Smmf, found: 2 };
    assert_eq!(allocate(Mechanism::Smmf, 2, &[]), Err(two));
    assert_eq!(two.to_string(), "smmf divides one resource, found 2");
    for bad in [-0.1, 1.0, f64::NAN] {
        assert!(matches!(Game::new(Mechanism::Sdrf, 1, vec![1.0], bad), Err(AllocationError::Delta(_))));
    }
}

#[test]
fn a_refused_stage_changes_nothing() {
    let mut game = Game::new(Mechanism::Sdrf, 1, vec![1.0, 1.0], 0.5).unwrap();
    game.play(&[total(&[1.0]), total(&[0.0])]).unwrap();
    let before = game.clone();
    assert!(matches!(game.play(&[total(&[1.0])]), Err(AllocationError::Users { expected: 2, found: 1 })));
    assert!(game.play(&[total(&[1.0]), total(&[-1.0])]).is_err());
    assert_eq!(game, before);
    assert!(game.clone().with_commitments(vec![vec![0.0]]).is_err());
    assert!(game.with_commitments(vec![vec![0.0], vec![2.0]]).is_err());
}
