//! Sharing incentives (Prop. 6): not in every stage, but in the long run.

use proptest::collection::vec;
use proptest::prelude::*;
use trueplane_fair::allocation::{Demand, Game, Mechanism, User, allocate};

use super::cases::{assert_near, demand, wanted, weight};

/// The proof in the thesis is of users who never want more than their part. Who did has less of it for a while.
#[test]
fn in_one_stage_a_commitment_costs_more_than_the_part() {
    let user =
        |commitment| User { weight: 1.0, demand: Demand::Total(vec![1.0]), commitments: vec![commitment] };
    let found = allocate(Mechanism::Smmf, 1, &[user(0.5), user(0.0)]).unwrap();
    assert_eq!([found.shares(0)[0], found.shares(1)[0], found.bottlenecks[0].level], [0.25, 0.75, 0.75]);
}

/// And in the long run it has it back: what it had before was more.
#[test]
fn who_had_all_alone_pays_no_more_than_she_had() {
    let mut game = Game::new(Mechanism::Sdrf, 1, vec![1.0, 1.0], 0.5).unwrap();
    let all = || Demand::Total(vec![1.0]);
    let none = || Demand::Total(vec![0.0]);
    let mut ahead = 0.0;
    for stage in 0..60 {
        let alone = stage == 0;
        let found = game.play(&[all(), if alone { none() } else { all() }]).unwrap();
        ahead += found.shares(0)[0] - 0.5;
        assert!(ahead > -1e-12, "stage {stage}: {ahead}");
    }
    // 1/2 more in the first stage. Then both want all, and each stage takes half of the difference of their commitments.
    assert!(ahead < 0.5 && game.dominant_commitment(0) < 1e-9, "{ahead}");
}

/// On the scale of eq. 4.1, relative to what is wanted in a stage, the long run can be worse than a part of one's own.
#[test]
fn utility_relative_to_demand_may_be_less_than_the_part() {
    let mut game = Game::new(Mechanism::Sdrf, 1, vec![1.0, 1.0], 0.5).unwrap();
    let wants = |amount| Demand::Total(vec![amount]);
    let (mut utility, mut apart) = (0.0, 0.0);
    for (mine, other) in [(8.0, 0.0), (0.5, 1.0)] {
        let found = game.play(&[wants(mine), wants(other)]).unwrap();
        utility += found.shares(0)[0] / mine;
        apart += 0.5_f64.min(mine) / mine;
    }
    assert_eq!((utility, apart), (7.0 / 8.0, 17.0 / 16.0));
}

#[derive(Clone, Debug)]
struct Play {
    resources: usize,
    weights: Vec<f64>,
    delta: f64,
    commitments: Vec<Vec<f64>>,
    stages: Vec<Vec<Demand>>,
}

fn play() -> impl Strategy<Value = Play> {
    let delta = prop_oneof![(0_u8..8).prop_map(|n| f64::from(n) / 8.0), 0.0..1.0_f64, Just(1.0 - 1e-6)];
    (1_usize..=3, 1_usize..=5, 1_usize..=12).prop_flat_map(move |(resources, users, stages)| {
        let committed = prop_oneof![Just(0.0), 0.0..=1.0_f64];
        (
            vec(weight(), users),
            delta.clone(),
            vec(vec(committed, resources), users),
            vec(vec(demand(resources), users), stages),
        )
            .prop_map(move |(weights, delta, commitments, stages)| Play {
                resources,
                weights,
                delta,
                commitments,
                stages,
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// The theorem at the head of `game.rs`, for every user and every number of stages: with a past it is behind by no more than
    /// C / (1 − δ), and without one by nothing.
    #[test]
    fn nobody_is_behind_her_part_in_the_long_run(play in play()) {
        for mechanism in [Mechanism::Drf, Mechanism::Sdrf] {
            let new = || Game::new(mechanism, play.resources, play.weights.clone(), play.delta).unwrap();
            let old = || new().with_commitments(play.commitments.clone()).unwrap();
            for mut game in [new(), old()] {
                let users = 0..play.weights.len();
                let debt = |user| game.dominant_commitment(user) / (1.0 - play.delta);
                let mut ahead: Vec<f64> = users.clone().map(debt).collect();
                for demands in &play.stages {
                    let found = game.play(demands).unwrap();
                    for user in users.clone() {
                        let part = game.part(user).min(wanted(&demands[user]));
                        ahead[user] += found.outcomes[user].dominant_share - part;
                        let rounding = 1e-9 * ahead[user].abs().max(1.0);
                        prop_assert!(ahead[user] >= -rounding, "{user}: {}", ahead[user]);
                    }
                }
            }
        }
    }

    /// A commitment is a moving average of what is below 1, whatever happens.
    #[test]
    fn commitments_stay_below_one(play in play()) {
        let mut game = Game::new(Mechanism::Sdrf, play.resources, play.weights.clone(), play.delta).unwrap();
        for demands in &play.stages {
            let found = game.play(demands).unwrap();
            for user in 0..play.weights.len() {
                let most = found.outcomes[user].commitment.max(found.outcomes[user].dominant_share - game.part(user));
                prop_assert!((0.0..=most.max(0.0) + 1e-12).contains(&game.dominant_commitment(user)));
            }
        }
    }
}

/// eq. 4.11 by hand.
#[test]
fn commitments_are_moving_averages() {
    let mut game = Game::new(Mechanism::Sdrf, 2, vec![1.0, 3.0], 0.75).unwrap();
    let idle = || Demand::Total(vec![0.0, 0.0]);
    assert_eq!([game.part(0), game.part(1)], [0.25, 0.75]);
    game.play(&[Demand::Endless(vec![1.0, 0.5]), idle()]).unwrap();
    assert_eq!(game.commitments(0), [0.25 * 0.75, 0.25 * 0.25]);
    game.play(&[idle(), idle()]).unwrap();
    assert_eq!(game.commitments(0), [0.75 * 0.25 * 0.75, 0.75 * 0.25 * 0.25]);
    assert_near(game.dominant_commitment(0), 0.140_625);
    assert_eq!(game.commitments(1), [0.0, 0.0]);
}
