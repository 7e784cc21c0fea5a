use proptest::prelude::*;
use trueplane_units::Nanos;

use super::Sdrf;
use crate::cluster::WHOLE;
use crate::{Cluster, Memory, Policy};

/// At an instant that something is asked for.
fn commitment(sdrf: &mut Sdrf, user: u32, resource: usize, now: Nanos) -> f64 {
    sdrf.first(now);
    sdrf.commitment(user, resource)
}

const SECOND: u64 = 1_000_000_000;

fn cluster(users: usize) -> Cluster {
    Cluster::new(vec![100, 1000], vec![1; users]).unwrap()
}

#[test]
fn without_memory_the_least_dominant_share_is_first() {
    let mut drf = Sdrf::new(&cluster(3), None);
    for user in 0..3 {
        drf.wait(user, u64::from(user), Nanos(0));
    }
    assert_eq!(drf.first(Nanos(0)), Some(0));
    drf.hold(0, &[20, 10], Nanos(0));
    drf.hold(1, &[1, 300], Nanos(0));
    drf.hold(2, &[19, 250], Nanos(0));
    assert_eq!(drf.first(Nanos(SECOND)), Some(0));
    assert_eq!((drf.after(0), drf.after(2), drf.after(1)), (Some(2), Some(1), None));
    drf.hold(0, &[0, 250], Nanos(SECOND));
    assert_eq!(
        drf.first(Nanos(SECOND)),
        Some(0),
        "a quarter of one and a quarter of the other: who came first"
    );
    drf.rest(0, Nanos(SECOND));
    assert_eq!((drf.first(Nanos(SECOND)), drf.events()), (Some(2), None));
    assert_eq!(drf.commitment(1, 1), 0.0);
}

/// Two users, a half-life of one second. A holds 0.9 for a second, 0.4 above its half: its commitment is 0.4 · (1 − 1/2) = 0.2, and
/// 0.1 a second after it has let go.
#[test]
fn commitments_follow_equation_4_12() {
    let mut sdrf = Sdrf::counting(&cluster(2), Some(Memory::forgetting(0.5).unwrap()));
    sdrf.hold(0, &[90, 0], Nanos(0));
    assert!((commitment(&mut sdrf, 0, 0, Nanos(SECOND)) - 0.2).abs() < 1e-12);
    sdrf.hold(0, &[0, 0], Nanos(SECOND));
    assert!((commitment(&mut sdrf, 0, 0, Nanos(SECOND)) - 0.2).abs() < 1e-12);
    assert!((commitment(&mut sdrf, 0, 0, Nanos(2 * SECOND)) - 0.1).abs() < 1e-12);
    assert_eq!(commitment(&mut sdrf, 0, 1, Nanos(2 * SECOND)), 0.0);
    // Its commitment is less than what the other holds until it is not: 0.1 against a falling 0.2, and so on.
    sdrf.wait(0, 0, Nanos(2 * SECOND));
    sdrf.wait(1, 1, Nanos(2 * SECOND));
    assert_eq!(sdrf.first(Nanos(2 * SECOND)), Some(1));
    sdrf.hold(1, &[5, 0], Nanos(2 * SECOND));
    assert_eq!(sdrf.first(Nanos(2 * SECOND + SECOND * 99 / 100)), Some(1));
    assert_eq!(sdrf.first(Nanos(2 * SECOND + SECOND * 101 / 100)), Some(0));
    assert_eq!(sdrf.events(), Some(1));
}

#[test]
fn a_weight_divides_share_and_commitment() {
    let cluster = Cluster::new(vec![100], vec![3, 1]).unwrap();
    let mut sdrf = Sdrf::new(&cluster, Some(Memory::forgetting(0.5).unwrap()));
    sdrf.wait(0, 0, Nanos(0));
    sdrf.wait(1, 1, Nanos(0));
    sdrf.hold(0, &[60], Nanos(0));
    sdrf.hold(1, &[21], Nanos(0));
    assert_eq!(sdrf.first(Nanos(0)), Some(0));
    assert_eq!(commitment(&mut sdrf, 0, 0, Nanos(5 * SECOND)), 0.0, "three quarters are its own");
    sdrf.hold(0, &[95], Nanos(5 * SECOND));
    assert!((commitment(&mut sdrf, 0, 0, Nanos(6 * SECOND)) - 0.1).abs() < 1e-12);
}

/// Priorities by eq. 4.12 in floating point, and in the integers that the policy has.
struct Naive {
    half_life: f64,
    fair: f64,
    resources: usize,
    shares: Vec<f64>,
    commitments: Vec<f64>,
    since: Vec<u64>,
}

impl Naive {
    fn settle(&mut self, user: usize, now: u64) {
        let left = (-(now as f64 - self.since[user] as f64) / self.half_life).exp2();
        for cell in user * self.resources..(user + 1) * self.resources {
            let above = (self.shares[cell] - self.fair).max(0.0);
            self.commitments[cell] = above + (self.commitments[cell] - above) * left;
        }
        self.since[user] = now;
    }

    fn priority(&mut self, user: usize, now: u64) -> f64 {
        self.settle(user, now);
        let cells = user * self.resources..(user + 1) * self.resources;
        cells.map(|cell| self.shares[cell] + self.commitments[cell]).fold(0.0, f64::max)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Wait(u32),
    Rest(u32),
    Hold(u32, [u64; 3]),
    Pass(u64),
}

const USERS: u32 = 12;

fn step(pause: u64) -> impl Strategy<Value = Step> {
    // Few different amounts, so that many are equal.
    let amount = || prop_oneof![Just(0u64), Just(1), Just(30), Just(60), 0..=100u64];
    prop_oneof![
        2 => (0..USERS).prop_map(Step::Wait),
        1 => (0..USERS).prop_map(Step::Rest),
        4 => (0..USERS, amount(), amount(), amount()).prop_map(|(user, a, b, c)| Step::Hold(user, [a, b, c])),
        4 => prop_oneof![Just(0), Just(1), 0..pause, Just(pause / 2)].prop_map(Step::Pass),
    ]
}

/// At every instant: the order is the one that sorting gives, exactly; and the priorities are those of eq. 4.12, nearly.
///
/// That is so whether the whole order is kept from the start, never, or from the middle on.
fn is_exact(half_life: u64, steps: &[Step]) -> Result<(), TestCaseError> {
    for ordered_from in [0, usize::MAX, steps.len() / 2] {
        is_exact_if_ordered_from(ordered_from, half_life, steps.to_vec())?;
    }
    Ok(())
}

fn is_exact_if_ordered_from(
    ordered_from: usize,
    half_life: u64,
    steps: Vec<Step>,
) -> Result<(), TestCaseError> {
    let cluster = Cluster::new(vec![100, 200, 300], vec![1; USERS as usize]).unwrap();
    let memory = Some(Memory::half_life(Nanos(half_life)).unwrap());
    let mut sdrf =
        if ordered_from == 0 { Sdrf::counting(&cluster, memory) } else { Sdrf::new(&cluster, memory) };
    let cells = USERS as usize * 3;
    let mut naive = Naive {
        half_life: half_life as f64,
        fair: 1.0 / f64::from(USERS),
        resources: 3,
        shares: vec![0.0; cells],
        commitments: vec![0.0; cells],
        since: vec![0; USERS as usize],
    };
    let mut waiting = std::collections::BTreeSet::new();
    let mut now = 0;
    for (number, step) in steps.into_iter().enumerate() {
        if number == ordered_from {
            sdrf.keep_order(Nanos(now));
        }
        match step {
            Step::Wait(user) => {
                // The same ticket again for who waits: the higher the number, the earlier.
                sdrf.wait(user, u64::from(USERS - user), Nanos(now));
                waiting.insert(user);
            }
            Step::Rest(user) => {
                sdrf.rest(user, Nanos(now));
                waiting.remove(&user);
            }
            Step::Hold(user, held) => {
                sdrf.hold(user, &held, Nanos(now));
                naive.settle(user as usize, now);
                for (resource, &amount) in held.iter().enumerate() {
                    naive.shares[user as usize * 3 + resource] =
                        amount as f64 / (100.0 * (resource as f64 + 1.0));
                }
            }
            Step::Pass(span) => now += span,
        }
        let first = sdrf.first(Nanos(now));
        let instant = sdrf.instant(Nanos(now));
        let course = |user: u32| {
            let cell = |resource: usize| user as usize * 3 + resource;
            let line = |resource: usize| {
                let share = sdrf.shares[cell(resource)];
                i128::from(share + sdrf.overuse(share)) * instant as i128 + sdrf.offsets[cell(resource)]
            };
            (0..3).map(line).max().unwrap()
        };
        let mut sorted: Vec<u32> = waiting.iter().copied().collect();
        sorted.sort_by_key(|&user| (course(user), std::cmp::Reverse(user)));
        let order: Vec<u32> = std::iter::successors(first, |&user| sdrf.after(user)).collect();
        prop_assert_eq!(&order, &sorted);
        for user in 0..USERS {
            let exact = course(user) as f64 / instant as f64 / WHOLE as f64;
            let expected = naive.priority(user as usize, now);
            prop_assert!(
                (exact - expected).abs() < 1e-10,
                "user {} at {}: {} and {}",
                user,
                now,
                exact,
                expected
            );
        }
    }
    Ok(())
}

/// Shares, parts and times in powers of two: every commitment is a fraction that floating point has exactly, and so the order, ties
/// included, is that of eq. 4.12 and nothing else.
fn is_that_of_fractions(steps: Vec<Step>) -> Result<(), TestCaseError> {
    // Weights of 16 together.
    let weights = [1u32, 2, 4, 1, 2, 4, 1, 1];
    let cluster = Cluster::new(vec![64, 128, 256], weights.to_vec()).unwrap();
    let mut sdrf = Sdrf::new(&cluster, Some(Memory::half_life(Nanos(1000)).unwrap()));
    let mut naive = Naive {
        half_life: 1000.0,
        fair: 1.0 / 16.0,
        resources: 3,
        shares: vec![0.0; 24],
        commitments: vec![0.0; 24],
        since: vec![0; 8],
    };
    let (mut waiting, mut now) = (std::collections::BTreeMap::new(), 0);
    for (ticket, step) in (0..).zip(steps) {
        match step {
            Step::Wait(user) => {
                sdrf.wait(user % 8, ticket, Nanos(now));
                waiting.insert(user % 8, ticket);
            }
            Step::Rest(user) => {
                sdrf.rest(user % 8, Nanos(now));
                waiting.remove(&(user % 8));
            }
            Step::Hold(user, held) => {
                let (user, held) = (user % 8, held.map(|amount| amount % 65));
                sdrf.hold(user, &held, Nanos(now));
                naive.settle(user as usize, now);
                for (resource, capacity) in [64.0, 128.0, 256.0].into_iter().enumerate() {
                    let share = held[resource] as f64 / capacity / f64::from(weights[user as usize]);
                    naive.shares[user as usize * 3 + resource] = share;
                }
            }
            // Whole half-lives, and fewer than the clock starts anew after.
            Step::Pass(span) => now = (now + span % 4 * 1000).min(30_000),
        }
        let first = sdrf.first(Nanos(now));
        let order: Vec<u32> = std::iter::successors(first, |&user| sdrf.after(user)).collect();
        let mut sorted: Vec<u32> = waiting.keys().copied().collect();
        sorted.sort_by(|&one, &other| {
            let priorities = [one, other].map(|user| naive.priority(user as usize, now));
            priorities[0].total_cmp(&priorities[1]).then(waiting[&one].cmp(&waiting[&other]))
        });
        prop_assert_eq!(&order, &sorted);
    }
    Ok(())
}

/// Whatever may happen to a cluster whose users come and go.
#[derive(Clone, Debug)]
enum Turn {
    Join(u32),
    Leave(prop::sample::Index),
    Hold(prop::sample::Index, u64),
    Wait(prop::sample::Index),
    Pass(u64),
}

fn turn() -> impl Strategy<Value = Turn> {
    let user = any::<prop::sample::Index>;
    prop_oneof![
        2 => (1..4u32).prop_map(Turn::Join),
        1 => user().prop_map(Turn::Leave),
        4 => (user(), 0..=100u64).prop_map(|(user, held)| Turn::Hold(user, held)),
        2 => user().prop_map(Turn::Wait),
        4 => prop_oneof![Just(0), 0..3_000_000u64, 0..100_000_000u64].prop_map(Turn::Pass),
    ]
}

/// Users come and go: parts of the cluster change at once, commitments do not jump, and who leaves has none any more.
fn is_that_of_members(turns: Vec<Turn>) -> Result<(), TestCaseError> {
    let mut sdrf = Sdrf::new(
        &Cluster::new(vec![100], vec![]).unwrap(),
        Some(Memory::half_life(Nanos(1_000_000)).unwrap()),
    );
    let mut naive =
        Naive { half_life: 1e6, fair: 1.0, resources: 1, shares: vec![], commitments: vec![], since: vec![] };
    // Weights of members; none for those who left.
    let mut weights: Vec<Option<u32>> = Vec::new();
    let (mut waiting, mut now) = (std::collections::BTreeSet::new(), 0);
    for (ticket, turn) in (0..).zip(turns) {
        let members: Vec<usize> = (0..weights.len()).filter(|&user| weights[user].is_some()).collect();
        let pick =
            |index: prop::sample::Index| (!members.is_empty()).then(|| members[index.index(members.len())]);
        match turn {
            Turn::Pass(span) => now += span,
            Turn::Join(weight) => {
                (0..weights.len()).for_each(|user| naive.settle(user, now));
                sdrf.join(weight, Nanos(now)).unwrap();
                match weights.iter().position(Option::is_none) {
                    Some(vacant) => weights[vacant] = Some(weight),
                    None => {
                        weights.push(Some(weight));
                        naive.shares.push(0.0);
                        naive.commitments.push(0.0);
                        naive.since.push(now);
                    }
                }
            }
            Turn::Leave(index) => {
                let Some(user) = pick(index) else { continue };
                sdrf.hold(user as u32, &[0], Nanos(now));
                sdrf.rest(user as u32, Nanos(now));
                sdrf.leave(user as u32, Nanos(now)).unwrap();
                prop_assert!(sdrf.leave(user as u32, Nanos(now)).is_err());
                (0..weights.len()).for_each(|user| naive.settle(user, now));
                (weights[user], naive.shares[user], naive.commitments[user]) = (None, 0.0, 0.0);
                waiting.remove(&user);
            }
            Turn::Hold(index, held) => {
                let Some(user) = pick(index) else { continue };
                sdrf.hold(user as u32, &[held], Nanos(now));
                naive.settle(user, now);
                naive.shares[user] = held as f64 / 100.0 / f64::from(weights[user].unwrap());
            }
            Turn::Wait(index) => {
                let Some(user) = pick(index) else { continue };
                sdrf.wait(user as u32, ticket, Nanos(now));
                waiting.insert(user);
            }
        }
        naive.fair = 1.0 / f64::from(weights.iter().flatten().sum::<u32>().max(1));
        prop_assert!(sdrf.is_sound());
        let first = sdrf.first(Nanos(now));
        let order: Vec<usize> =
            std::iter::successors(first, |&user| sdrf.after(user)).map(|user| user as usize).collect();
        prop_assert_eq!(order.iter().copied().collect::<std::collections::BTreeSet<_>>(), waiting.clone());
        for pair in order.windows(2) {
            prop_assert!(naive.priority(pair[0], now) <= naive.priority(pair[1], now) + 1e-10);
        }
        for (user, weight) in weights.iter().enumerate() {
            naive.settle(user, now);
            let expected = naive.commitments[user] * f64::from(weight.unwrap_or(0));
            let found = sdrf.commitment(user as u32, 0);
            prop_assert!((found - expected).abs() < 1e-9, "user {user} at {now}: {found} and {expected}");
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn users_come_and_go(turns in prop::collection::vec(turn(), 1..150)) {
        is_that_of_members(turns)?;
    }

    #[test]
    fn the_order_is_that_of_fractions(steps in prop::collection::vec(step(1000), 1..150)) {
        is_that_of_fractions(steps)?;
    }

    #[test]
    fn the_order_is_exact_with_a_long_memory(steps in prop::collection::vec(step(1000), 1..150)) {
        is_exact(100_000_000, &steps)?;
    }

    #[test]
    fn the_order_is_exact_with_a_short_memory(steps in prop::collection::vec(step(100_000), 1..150)) {
        is_exact(3001, &steps)?;
    }

    #[test]
    fn the_order_is_exact_when_the_clock_starts_anew(steps in prop::collection::vec(step(u64::MAX >> 20), 1..150)) {
        is_exact(1 << 40, &steps)?;
    }
}
