//! Strategyproofness in the repeated game (Prop. 3): where it does not hold, by hand and by search, and where it does.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use trueplane_fair::allocation::{Demand, Game, Mechanism};

use super::cases::{assert_near, wanted, weight, worth};

/// A game, stage by stage; user 0 may declare something else.
#[derive(Clone, Debug)]
struct Play {
    resources: usize,
    delta: f64,
    weights: Vec<f64>,
    stages: Vec<Vec<Demand>>,
    /// What it declares instead, in every stage.
    lies: Vec<Demand>,
}

impl Play {
    /// What user 0 has of its true demand in every stage.
    fn worths(&self, lying: bool) -> Vec<f64> {
        let mut game = Game::new(Mechanism::Sdrf, self.resources, self.weights.clone(), self.delta).unwrap();
        let mut worths = Vec::new();
        for (demands, lie) in self.stages.iter().zip(&self.lies) {
            let mut declared = demands.clone();
            if lying {
                declared[0] = lie.clone();
            }
            let found = game.play(&declared).unwrap();
            worths.push(worth(&demands[0], found.shares(0)));
        }
        worths
    }

    /// What the lies win it in every stage: in dominant share, or relative to its demand in that stage (eq. 4.1).
    fn gains(&self, relative: bool) -> Vec<f64> {
        let scale = |stage: usize| match wanted(&self.stages[stage][0]) {
            most if relative && most > 0.0 && most.is_finite() => most,
            _ => 1.0,
        };
        let (truth, lie) = (self.worths(false), self.worths(true));
        (0..truth.len()).map(|stage| (lie[stage] - truth[stage]) / scale(stage)).collect()
    }
}

fn total(amounts: &[f64]) -> Demand {
    Demand::Total(amounts.to_vec())
}

/// One resource: what everybody wants, stage by stage, and what user 0 says.
fn on_one(delta: f64, stages: &[&[f64]], lies: &[f64]) -> Play {
    let demands = |wanted: &[f64]| wanted.iter().map(|&amount| total(&[amount])).collect();
    Play {
        resources: 1,
        delta,
        weights: vec![1.0; stages[0].len()],
        stages: stages.iter().map(|wanted| demands(wanted)).collect(),
        lies: demands(lies),
    }
}

#[track_caller]
fn assert_worths(play: &Play, truth: &[f64], lie: &[f64]) {
    for (found, expected) in [(play.worths(false), truth), (play.worths(true), lie)] {
        assert_eq!(found.len(), expected.len());
        found.iter().zip(expected).for_each(|(found, expected)| assert_near(*found, *expected));
    }
}

fn discounted(gains: &[f64], patience: f64) -> f64 {
    gains.iter().rev().fold(0.0, |later, gain| gain + patience * later)
}

/// Utility is relative to what it wants in the stage: who wants eight clusters now and half of one next gives up little now.
#[test]
fn she_gains_on_the_scale_of_her_demand() {
    let play = on_one(0.5, &[&[8.0, 0.0], &[0.5, 1.0]], &[0.5, 0.5]);
    assert_worths(&play, &[1.0, 3.0 / 8.0], &[0.5, 0.5]);
    let gains = play.gains(true);
    assert_near(gains[0], -1.0 / 16.0);
    assert_near(gains[1], 1.0 / 4.0);
    assert_near(discounted(&gains, 0.5), 1.0 / 16.0);
    // In amounts it loses, as the theorem says.
    assert!(discounted(&play.gains(false), 0.5) < 0.0);
    // Nor is it the zero: the thesis wants demands to be positive.
    let positive = on_one(0.5, &[&[8.0, 0.001], &[0.5, 1.0]], &[0.5, 0.5]);
    assert!(discounted(&positive.gains(true), 0.5) > 0.06);
}

/// The same with nobody wanting more than the cluster, for a patient user among three.
#[test]
fn she_gains_on_the_scale_of_her_demand_within_the_cluster() {
    let play = on_one(0.5, &[&[1.0, 0.0, 0.0], &[1.0 / 6.0, 1.0, 1.0]], &[5.0 / 6.0, 1.0 / 6.0]);
    assert_worths(&play, &[1.0, 1.0 / 9.0], &[5.0 / 6.0, 1.0 / 6.0]);
    assert_near(discounted(&play.gains(true), 0.75), 1.0 / 12.0);
}

/// Two resources: what it gives up of one lets the other's dominant share, and so the other's commitment, grow eight times as much.
#[test]
fn she_gains_by_what_the_other_commits_himself_to() {
    let stages = vec![vec![total(&[1.0, 0.0]), total(&[0.125, 1.0])], vec![total(&[1.0, 1.0]); 2]];
    let lies = vec![total(&[0.875, 0.0]), total(&[1.0, 1.0])];
    let play = Play { resources: 2, delta: 0.5, weights: vec![1.0; 2], stages, lies };
    assert_worths(&play, &[8.0 / 9.0, 1.0 / 2.0], &[7.0 / 8.0, 17.0 / 32.0]);
    for relative in [false, true] {
        let gains = play.gains(relative);
        assert_near(gains[0], -1.0 / 72.0);
        assert_near(gains[1], 1.0 / 32.0);
        assert_near(discounted(&gains, 0.5), 1.0 / 576.0);
    }
    // Nor is it the zero.
    let mut positive = play;
    (positive.stages[0][0], positive.lies[0]) = (total(&[1.0, 0.001]), total(&[0.875, 0.000_875]));
    assert!(discounted(&positive.gains(true), 0.5) > 0.001);
}

/// A short memory on one resource: what it takes without needing it keeps B from a commitment, B then has more, and a larger
/// commitment when it comes.
#[test]
fn she_gains_by_declaring_more_if_the_memory_is_short() {
    let (third, sixth) = (1.0 / 3.0, 1.0 / 6.0);
    let stages: [&[f64]; 3] = [&[sixth, 1.0, third], &[0.0, 1.0, 1.0], &[1.0, 1.0, 0.0]];
    let play = on_one(0.0, &stages, &[third, 0.0, 1.0]);
    assert_worths(&play, &[sixth, 0.0, 13.0 / 24.0], &[sixth, 0.0, 14.0 / 24.0]);
    // A gain for every patience and on every scale, as nothing is given up for it.
    assert_near(discounted(&play.gains(true), 0.01), 1e-4 / 24.0);
    // A memory that is long enough: none.
    assert!(discounted(&Play { delta: 0.5, ..play }.gains(true), 1.0) <= 1e-12);
}

/// What is searched: games on so many resources with δ in a range.
fn play(resources: usize, delta: std::ops::Range<f64>) -> impl Strategy<Value = Play> {
    let amount =
        || prop_oneof![2 => Just(0.0), 3 => (1_u8..=8).prop_map(|n| f64::from(n) / 8.0), 2 => 0.01..4.0_f64];
    let demand = move || vec(amount(), resources).prop_map(Demand::Total);
    let low = delta.start;
    let delta = prop_oneof![Just(low), delta];
    (delta, 2_usize..=4, 2_usize..=6).prop_flat_map(move |(delta, users, stages)| {
        let weights = prop_oneof![Just(vec![1.0; users]), vec(weight(), users)];
        let lies = (vec(vec(demand(), users), stages), vec((0_u8..3, 0.3..1.5_f64, demand()), stages));
        (weights, lies).prop_map(move |(weights, (stages, lies))| {
            let lies = stages.iter().zip(lies).map(|(demands, lie)| told(&demands[0], lie)).collect();
            Play { resources, delta, weights, stages, lies }
        })
    })
}

/// The truth, a multiple of it, or something else.
fn told(truth: &Demand, (kind, factor, other): (u8, f64, Demand)) -> Demand {
    match kind {
        0 => truth.clone(),
        1 => total(&truth.amounts().iter().map(|amount| amount * factor).collect::<Vec<_>>()),
        _ => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6000))]

    /// The theorem at the head of `game.rs`: after no number of stages is it ahead, however patient.
    #[test]
    fn she_does_not_gain_on_one_resource_with_a_long_memory(play in play(1, 0.5..1.0), patience in 0.0..=1.0_f64) {
        let gains = play.gains(false);
        for stages in 1..=gains.len() {
            prop_assert!(discounted(&gains[..stages], 1.0) <= 1e-9, "{gains:?}");
            prop_assert!(discounted(&gains[..stages], patience) <= 1e-9, "{gains:?}");
        }
    }
}

/// The largest gain in so many random games.
fn search(games: impl Strategy<Value = Play>, tries: usize, relative: bool) -> f64 {
    let mut runner = TestRunner::deterministic();
    let gain = |_| {
        let play = games.new_tree(&mut runner).unwrap().current();
        discounted(&play.gains(relative), 0.9)
    };
    (0..tries).map(gain).fold(0.0, f64::max)
}

/// The search that finds nothing above does find what there is to find elsewhere.
#[test]
fn the_search_finds_gains_where_there_are_any() {
    let tries = 20_000;
    let gains = [
        ("relative to the demand", search(play(1, 0.5..1.0), tries, true)),
        ("two resources", search(play(2, 0.5..1.0), tries, false)),
        ("a short memory", search(play(1, 0.0..0.4), tries, false)),
    ];
    for (where_from, gain) in gains {
        assert!(gain > 1e-3, "{where_from}: {gain}");
    }
    assert!(search(play(1, 0.5..1.0), tries, false) <= 1e-9);
}
