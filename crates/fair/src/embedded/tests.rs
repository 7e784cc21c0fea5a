use proptest::prelude::*;
use trueplane_units::Nanos;

use super::{ScheduleError, SdrfScheduler, SnapshotError};
use crate::cluster::MOST_WEIGHT;
use crate::{ClusterError, Memory};

mod clock;
mod tickets;

const SECOND: u64 = 1_000_000_000;

fn scheduler() -> SdrfScheduler {
    let mut scheduler = SdrfScheduler::new(vec![10, 100], Some(Memory::forgetting(0.01).unwrap())).unwrap();
    for weight in [1, 1, 2] {
        scheduler.join(weight, Nanos(0)).unwrap();
    }
    scheduler
}

#[test]
fn mistakes_are_errors_and_change_nothing() {
    let mut scheduler = scheduler();
    scheduler.submit(0, 7, &[4, 10], Nanos(5)).unwrap();
    let before = scheduler.snapshot();
    let now = Nanos(6);
    assert_eq!(scheduler.submit(3, 8, &[1, 1], now), Err(ScheduleError::UnknownUser(3)));
    assert_eq!(scheduler.submit(0, 7, &[1, 1], now), Err(ScheduleError::NameTaken(7)));
    assert_eq!(scheduler.submit(0, 8, &[1], now), Err(ScheduleError::Resources { expected: 2, found: 1 }));
    let too_large = ScheduleError::TooLarge { resource: 1, capacity: 100, found: 101 };
    assert_eq!(scheduler.submit(0, 8, &[1, 101], now), Err(too_large));
    assert_eq!(scheduler.finish(7, now), Err(ScheduleError::NotRunning(7)));
    assert_eq!(scheduler.withdraw(8, now), Err(ScheduleError::NotWaiting(8)));
    assert_eq!(scheduler.next(Nanos(4)), Err(ScheduleError::Backwards { last: 5, found: 4 }));
    assert!(scheduler.join(0, now).is_err() && scheduler.join(70_000, now).is_err());
    assert_eq!(scheduler.set_weight(3, 1, now), Err(ScheduleError::UnknownUser(3)));
    assert_eq!(scheduler.set_weight(0, 0, now), Err(ClusterError::Weight(0).into()));
    assert_eq!(
        scheduler.set_weight(0, MOST_WEIGHT + 1, now),
        Err(ClusterError::Weight(MOST_WEIGHT + 1).into())
    );
    assert_eq!(scheduler.set_weight(0, 1, Nanos(4)), Err(ScheduleError::Backwards { last: 5, found: 4 }));
    assert_eq!(scheduler.commitments(3), Err(ScheduleError::UnknownUser(3)));
    assert_eq!(scheduler.snapshot(), before);
    assert_eq!(scheduler.next(now), Ok(Some((0, 7))));
    assert_eq!(scheduler.submit(1, 7, &[1, 1], now), Err(ScheduleError::NameTaken(7)));
    assert_eq!((scheduler.finish(7, now), scheduler.next(now)), (Ok(0), Ok(None)));
}

/// A weight that is refused leaves the clock of commitments where it is.
#[test]
fn a_refused_join_forgets_nothing() {
    let second = Nanos(SECOND);
    let mut scheduler = SdrfScheduler::new(vec![8], Some(Memory::half_life(second).unwrap())).unwrap();
    for _ in 0..2 {
        scheduler.join(1, Nanos(0)).unwrap();
    }
    scheduler.submit(0, 1, &[8], Nanos(0)).unwrap();
    assert_eq!(scheduler.next(Nanos(0)), Ok(Some((0, 1))));
    scheduler.finish(1, second).unwrap();
    scheduler.submit(0, 2, &[1], second).unwrap();
    scheduler.submit(1, 3, &[1], second).unwrap();
    assert_eq!(scheduler.commitments(0), Ok(vec![0.25]));
    let before = scheduler.snapshot();
    assert!(scheduler.join(0, Nanos(100 * SECOND)).is_err());
    assert_eq!((scheduler.commitments(0), scheduler.snapshot()), (Ok(vec![0.25]), before));
    assert_eq!(scheduler.next(second), Ok(Some((1, 3))));
}

#[test]
fn what_is_withdrawn_does_not_run() {
    let mut scheduler = scheduler();
    for (user, task) in [(0, 1), (0, 2), (0, 3), (1, 4)] {
        scheduler.submit(user, task, &[5, 0], Nanos(0)).unwrap();
    }
    assert_eq!(scheduler.withdraw(1, Nanos(0)), Ok(0));
    assert_eq!(scheduler.withdraw(4, Nanos(0)), Ok(1));
    assert_eq!(scheduler.next(Nanos(0)), Ok(Some((0, 2))));
    assert_eq!(scheduler.withdraw(2, Nanos(0)), Err(ScheduleError::NotWaiting(2)));
    assert_eq!((scheduler.waiting(), scheduler.running(), scheduler.held(0)), (1, 1, Ok(&[5, 0][..])));
}

#[test]
fn who_joins_takes_from_the_part_of_all() {
    let mut scheduler = SdrfScheduler::new(vec![100], Some(Memory::forgetting(0.5).unwrap())).unwrap();
    scheduler.join(1, Nanos(0)).unwrap();
    scheduler.submit(0, 1, &[100], Nanos(0)).unwrap();
    scheduler.next(Nanos(0)).unwrap();
    scheduler.join(1, Nanos(9 * SECOND)).unwrap();
    assert_eq!(scheduler.commitments(0).unwrap(), [0.0], "it was alone");
    scheduler.next(Nanos(10 * SECOND)).unwrap();
    assert!(
        (scheduler.commitments(0).unwrap()[0] - 0.25).abs() < 1e-12,
        "half of the half that is not its own"
    );
}

#[test]
fn who_leaves_gives_its_part_to_all_and_its_number_to_the_next() {
    let mut scheduler = SdrfScheduler::new(vec![100], Some(Memory::forgetting(0.5).unwrap())).unwrap();
    (0..2).for_each(|user| assert_eq!(scheduler.join(1, Nanos(0)), Ok(user)));
    scheduler.submit(0, 1, &[100], Nanos(0)).unwrap();
    scheduler.submit(0, 2, &[0], Nanos(0)).unwrap();
    assert_eq!(scheduler.leave(0, Nanos(0)), Err(ClusterError::HasTasks(0).into()));
    while scheduler.next(Nanos(0)).unwrap().is_some() {}
    assert_eq!(scheduler.finish(1, Nanos(SECOND)), Ok(0));
    // The other task needs nothing, but it runs.
    assert_eq!(scheduler.leave(0, Nanos(SECOND)), Err(ClusterError::HasTasks(0).into()));
    assert_eq!(scheduler.finish(2, Nanos(SECOND)), Ok(0));
    assert_eq!(scheduler.commitments(0), Ok(vec![0.25]));
    assert_eq!(scheduler.leave(0, Nanos(SECOND)), Ok(()));
    assert_eq!(scheduler.leave(0, Nanos(SECOND)), Err(ScheduleError::UnknownUser(0)));
    assert_eq!(scheduler.submit(0, 3, &[1], Nanos(SECOND)), Err(ScheduleError::UnknownUser(0)));
    assert_eq!(
        (scheduler.commitments(0), scheduler.held(0)),
        (Err(ScheduleError::UnknownUser(0)), Err(ScheduleError::UnknownUser(0)))
    );
    // The other one is alone, and all of the cluster is its part.
    scheduler.submit(1, 3, &[100], Nanos(SECOND)).unwrap();
    assert_eq!(scheduler.next(Nanos(SECOND)), Ok(Some((1, 3))));
    let mut restored = SdrfScheduler::restore(&scheduler.snapshot()).unwrap();
    assert_eq!(restored.snapshot(), scheduler.snapshot());
    for scheduler in [&mut scheduler, &mut restored] {
        assert_eq!(scheduler.join(1, Nanos(5 * SECOND)), Ok(0));
        assert_eq!((scheduler.commitments(0), scheduler.commitments(1)), (Ok(vec![0.0]), Ok(vec![0.0])));
    }
}

/// Commitments between events are those at the time told, without a task that starts.
#[test]
fn time_is_told_without_a_start() {
    let mut scheduler = SdrfScheduler::new(vec![8], Some(Memory::half_life(Nanos(SECOND)).unwrap())).unwrap();
    (0..2).for_each(|user| assert_eq!(scheduler.join(1, Nanos(0)), Ok(user)));
    for task in [1, 2] {
        scheduler.submit(0, task, &[8], Nanos(0)).unwrap();
    }
    assert_eq!(scheduler.next(Nanos(0)), Ok(Some((0, 1))));
    scheduler.finish(1, Nanos(SECOND)).unwrap();
    assert_eq!(scheduler.commitments(0), Ok(vec![0.25]));
    assert_eq!(scheduler.advance(Nanos(2 * SECOND)), Ok(()));
    assert_eq!((scheduler.commitments(0), scheduler.now()), (Ok(vec![0.125]), Nanos(2 * SECOND)));
    assert_eq!((scheduler.waiting(), scheduler.running()), (1, 0));
    let back = ScheduleError::Backwards { last: 2 * SECOND, found: SECOND };
    assert_eq!(scheduler.advance(Nanos(SECOND)), Err(back));
}

#[test]
fn small_tasks_pass_a_large_one_only_if_they_are_let() {
    let mut scheduler = scheduler();
    let now = Nanos(0);
    for (user, task, needs) in
        [(2, 1, [6, 0]), (0, 2, [8, 0]), (0, 3, [1, 0]), (1, 4, [3, 0]), (2, 5, [2, 0])]
    {
        scheduler.submit(user, task, &needs, now).unwrap();
    }
    assert_eq!(scheduler.next(now), Ok(Some((2, 1))));
    // User 0 is first, and its task does not fit in the four that are free.
    assert_eq!(scheduler.next(now), Ok(None));
    assert_eq!(scheduler.next_fitting(now), Ok(Some((1, 4))));
    // One is free. It would do for task 3, which waits behind task 2 of the same user.
    assert_eq!(scheduler.next_fitting(now), Ok(None));
    scheduler.finish(1, now).unwrap();
    assert_eq!(scheduler.next(now), Ok(None));
    assert_eq!(scheduler.next_fitting(now), Ok(Some((2, 5))));
    scheduler.finish(4, now).unwrap();
    assert_eq!(scheduler.next(now), Ok(Some((0, 2))));
}

#[test]
fn a_capacity_that_is_too_small_is_refused() {
    let mut scheduler = scheduler();
    let now = Nanos(SECOND);
    scheduler.submit(0, 1, &[4, 10], now).unwrap();
    scheduler.submit(1, 2, &[4, 10], now).unwrap();
    while scheduler.next(now).unwrap().is_some() {}
    scheduler.submit(2, 3, &[1, 60], now).unwrap();
    assert_eq!(scheduler.next(now), Ok(Some((2, 3))));
    scheduler.submit(2, 4, &[9, 0], now).unwrap();
    let before = scheduler.snapshot();
    let needed = |resource, needed, found| Err(ClusterError::Needed { resource, needed, found }.into());
    assert_eq!(scheduler.set_capacity(&[9, 79], now), needed(1, 80, 79));
    let waits = ScheduleError::NeededByWaiting { task: 4, resource: 0, needed: 9, found: 8 };
    assert_eq!(scheduler.set_capacity(&[8, 80], now), Err(waits));
    let resources = ClusterError::Resources { expected: 2, found: 1 };
    assert_eq!(scheduler.set_capacity(&[9], now), Err(resources.into()));
    let capacity = ClusterError::Capacity { resource: 1, found: u64::MAX };
    assert_eq!(scheduler.set_capacity(&[9, u64::MAX], now), Err(capacity.into()));
    assert_eq!(scheduler.snapshot(), before);
    assert_eq!(scheduler.set_capacity(&[9, 80], now), Ok(()));
    assert_eq!(scheduler.cluster().capacity(), [9, 80]);
    assert_eq!(scheduler.next(now), Ok(None));
    assert_eq!(scheduler.set_capacity(&[18, 80], now), Ok(()));
    assert_eq!(scheduler.next(now), Ok(Some((2, 4))));
}

/// What a user holds and its commitment, in floating point and step by step (eq. 4.12).
#[derive(Clone, Copy, Default)]
struct Naive {
    held: f64,
    commitment: f64,
}

impl Naive {
    fn pass(&mut self, seconds: f64, half_life: f64, capacity: f64, own: f64) {
        let overuse = (self.held / capacity - own).max(0.0);
        self.commitment = overuse + (self.commitment - overuse) * (-seconds / half_life).exp2();
    }
}

proptest! {
    /// Shares follow the capacity and the weights, and commitments do not jump with them; who is next is the user with the least of both.
    #[test]
    fn capacity_and_weights_that_change_are_as_in_the_naive_model(
        steps in prop::collection::vec((0..300u64, 100..400u64, 0..3usize, 1..40u64, any::<bool>(), 1..5u32), 1..60),
    ) {
        const HALF_LIFE: u64 = 100;
        let memory = Memory::half_life(Nanos(HALF_LIFE * SECOND)).unwrap();
        let mut scheduler = SdrfScheduler::new(vec![200], Some(memory)).unwrap();
        (0..3).for_each(|user| assert_eq!(scheduler.join(1, Nanos(0)), Ok(user)));
        let (mut naive, mut capacity, mut seconds) = ([Naive::default(); 3], 200u64, 0);
        let mut weights = [1.0; 3];
        for (task, (span, wanted, user, needs, ends, weight)) in (0..).zip(steps) {
            seconds += span;
            let now = Nanos(seconds * SECOND);
            let all: f64 = weights.iter().sum();
            for (user, weight) in naive.iter_mut().zip(weights) {
                user.pass(span as f64, HALF_LIFE as f64, capacity as f64, weight / all);
            }
            let held = naive.iter().map(|user| user.held).sum::<f64>() as u64;
            prop_assert_eq!(scheduler.set_capacity(&[wanted], now).is_ok(), wanted >= held);
            if wanted >= held {
                capacity = wanted;
            }
            // Twice, so that the second finds it in the middle of something.
            scheduler.set_weight(user as u32, 7, now).unwrap();
            scheduler.set_weight(user as u32, weight, now).unwrap();
            weights[user] = f64::from(weight);
            let running = scheduler.running_tasks().next().map(|(name, user, needs)| (name, user, needs[0]));
            if let (true, Some((name, user, needs))) = (ends, running) {
                scheduler.finish(name, now).unwrap();
                naive[user as usize].held -= needs as f64;
            }
            // All three want the same, and the first is the one with the least of share and commitment.
            let priority =
                |user: usize| (naive[user].held / capacity as f64 + naive[user].commitment) / weights[user];
            let free = capacity - naive.iter().map(|user| user.held).sum::<f64>() as u64;
            for other in 0..3 {
                let name = 3 * task + (user as u64 + other) % 3;
                scheduler.submit((name % 3) as u32, name, &[needs], now).unwrap();
            }
            let next = scheduler.next(now).unwrap();
            prop_assert_eq!(next.is_some(), needs <= free);
            if let Some((user, _)) = next {
                let least = (0..3).map(priority).fold(f64::INFINITY, f64::min);
                prop_assert!(priority(user as usize) <= least + 1e-9);
                naive[user as usize].held += needs as f64;
            }
            let waiting: Vec<u64> = scheduler.waiting_tasks().map(|(name, ..)| name).collect();
            waiting.into_iter().for_each(|name| assert!(scheduler.withdraw(name, now).is_ok()));
            for user in 0..3 {
                let commitment = scheduler.commitments(user).unwrap()[0];
                prop_assert!((commitment - naive[user as usize].commitment).abs() < 1e-9);
            }
        }
    }
}

#[test]
fn what_is_no_snapshot_is_refused() {
    let bytes = scheduler().snapshot();
    let refused = |bytes: &[u8]| SdrfScheduler::restore(bytes).unwrap_err();
    assert_eq!(refused(b"SDRF"), SnapshotError::NoSnapshot);
    assert_eq!(refused(b"something else"), SnapshotError::NoSnapshot);
    let mut other = bytes.clone();
    other[4] = 9;
    assert_eq!(refused(&other), SnapshotError::Version(9));
    for cut in 10..bytes.len() {
        assert!(matches!(refused(&bytes[..cut]), SnapshotError::Checksum { .. }));
    }
    for place in 6..bytes.len() {
        let mut other = bytes.clone();
        other[place] ^= 0x10;
        assert!(matches!(refused(&other), SnapshotError::Checksum { .. }));
    }
}

/// Half-lives pass in which things happen, but not to the order of those who wait.
#[test]
fn a_snapshot_is_never_behind_its_clock() {
    let mut scheduler = SdrfScheduler::new(vec![10], Some(Memory::forgetting(0.1).unwrap())).unwrap();
    scheduler.join(1, Nanos(0)).unwrap();
    scheduler.submit(0, 1, &[10], Nanos(0)).unwrap();
    scheduler.submit(0, 2, &[10], Nanos(300 * SECOND)).unwrap();
    assert_eq!(SdrfScheduler::restore(&scheduler.snapshot()).unwrap().now(), Nanos(300 * SECOND));
    scheduler.withdraw(2, Nanos(900 * SECOND)).unwrap();
    let restored = SdrfScheduler::restore(&scheduler.snapshot()).unwrap();
    assert_eq!(restored.waiting_tasks().collect::<Vec<_>>(), [(1, 0, &[10][..])]);
    assert_eq!(restored.running_tasks().count(), 0);
}

#[derive(Clone, Debug)]
enum Step {
    Join(u32),
    Leave(u32),
    Submit(u32, u64, u64),
    Finish(usize),
    Requeue(usize),
    Capacity(u64, u64),
    Weight(u32, u32),
    Rebase(u64),
    Pass(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        1 => (1..4u32).prop_map(Step::Join),
        1 => (0..5u32).prop_map(Step::Leave),
        6 => (0..5u32, 0..=10u64, 0..=60u64).prop_map(|(user, a, b)| Step::Submit(user, a, b)),
        4 => (0..20usize).prop_map(Step::Finish),
        2 => (0..20usize).prop_map(Step::Requeue),
        1 => (0..100_000 * SECOND).prop_map(Step::Rebase),
        1 => (1..15u64, 50..150u64).prop_map(|(a, b)| Step::Capacity(a, b)),
        1 => (0..5u32, 0..9u32).prop_map(|(user, weight)| Step::Weight(user, weight)),
        4 => (0..200 * SECOND).prop_map(Step::Pass),
    ]
}

proptest! {
    /// Whoever is stopped and restored at any moment starts the same tasks as if nothing had happened.
    #[test]
    fn a_restart_forgets_nothing(steps in prop::collection::vec(step(), 1..120), stop in 0..120usize, asked in 1..5usize) {
        let mut going = scheduler();
        let mut stopped = scheduler();
        let mut now = 0;
        for (number, step) in steps.into_iter().enumerate() {
            if number == stop {
                let bytes = stopped.snapshot();
                stopped = SdrfScheduler::restore(&bytes).unwrap();
                prop_assert_eq!(stopped.snapshot(), bytes);
            }
            for scheduler in [&mut going, &mut stopped] {
                let now = Nanos(now);
                match step {
                    Step::Join(weight) => drop(scheduler.join(weight, now)),
                    Step::Leave(user) => drop(scheduler.leave(user, now)),
                    Step::Submit(user, a, b) => drop(scheduler.submit(user, number as u64, &[a, b], now)),
                    Step::Finish(which) => {
                        let task = scheduler.running.keys().copied().nth(which);
                        task.map(|task| scheduler.finish(task, now));
                    }
                    Step::Capacity(a, b) => drop(scheduler.set_capacity(&[a, b], now)),
                    Step::Weight(user, weight) => drop(scheduler.set_weight(user, weight, now)),
                    Step::Requeue(which) => {
                        let task = scheduler.running.keys().copied().nth(which);
                        task.map(|task| scheduler.requeue(task, now));
                    }
                    Step::Rebase(now) => scheduler.rebase(Nanos(now)),
                    Step::Pass(_) => {}
                }
            }
            now = match step {
                Step::Pass(span) => now + span,
                Step::Rebase(now) => now,
                _ => now,
            };
            // Not after every step, so that many things happen between two questions.
            if number % asked != 0 {
                continue;
            }
            loop {
                let next = going.next(Nanos(now));
                prop_assert_eq!(next, stopped.next(Nanos(now)));
                if next == Ok(None) {
                    break;
                }
            }
        }
    }
}

/// Any call of a scheduler that may be refused, with arguments that are right or wrong.
#[derive(Clone, Debug)]
enum Call {
    Join(u32),
    Leave(u32),
    Submit(u32, u64, Vec<u64>),
    Next,
    NextFitting,
    Advance,
    Capacity(Vec<u64>),
    Finish(u64),
    Withdraw(u64),
    Requeue(u64),
    Commitments(u32),
}

fn call() -> impl Strategy<Value = Call> {
    let weight = prop_oneof![Just(0), 1..4u32, Just(MOST_WEIGHT + 1)];
    // Of two resources, 10 and 100: one or two amounts too many or too large now and then.
    let needs = prop_oneof![
        6 => (0..=10u64, 0..=60u64).prop_map(|(a, b)| vec![a, b]),
        1 => prop::collection::vec(0..200u64, 0..4),
    ];
    prop_oneof![
        2 => weight.prop_map(Call::Join),
        2 => (0..5u32).prop_map(Call::Leave),
        6 => (0..5u32, 0..12u64, needs).prop_map(|(user, task, needs)| Call::Submit(user, task, needs)),
        6 => Just(Call::Next),
        2 => Just(Call::NextFitting),
        1 => Just(Call::Advance),
        2 => prop_oneof![
            3 => (0..15u64, 50..150u64).prop_map(|(a, b)| vec![a, b]),
            1 => prop::collection::vec(0..200u64, 0..4),
        ].prop_map(Call::Capacity),
        3 => (0..12u64).prop_map(Call::Finish),
        2 => (0..12u64).prop_map(Call::Withdraw),
        2 => (0..12u64).prop_map(Call::Requeue),
        1 => (0..5u32).prop_map(Call::Commitments),
    ]
}

impl Call {
    /// What comes of it, in words.
    fn make(&self, scheduler: &mut SdrfScheduler, now: Nanos) -> Result<String, ScheduleError> {
        Ok(match self {
            Self::Join(weight) => format!("{:?}", scheduler.join(*weight, now)?),
            Self::Leave(user) => format!("{:?}", scheduler.leave(*user, now)?),
            Self::Submit(user, task, needs) => format!("{:?}", scheduler.submit(*user, *task, needs, now)?),
            Self::Next => format!("{:?}", scheduler.next(now)?),
            Self::NextFitting => format!("{:?}", scheduler.next_fitting(now)?),
            Self::Advance => format!("{:?}", scheduler.advance(now)?),
            Self::Capacity(capacity) => format!("{:?}", scheduler.set_capacity(capacity, now)?),
            Self::Finish(task) => format!("{:?}", scheduler.finish(*task, now)?),
            Self::Withdraw(task) => format!("{:?}", scheduler.withdraw(*task, now)?),
            Self::Requeue(task) => format!("{:?}", scheduler.requeue(*task, now)?),
            Self::Commitments(user) => format!("{:?}", scheduler.commitments(*user)?),
        })
    }
}

/// Nanoseconds before or after the last time that counted: a half-life is 69 s, and the clock starts anew after 31 of them.
fn span() -> impl Strategy<Value = i64> {
    prop_oneof![
        2 => Just(0),
        4 => 0..200 * SECOND as i64,
        1 => 0..10_000 * SECOND as i64,
        1 => -100..0i64,
    ]
}

proptest! {
    /// Who makes calls that are refused, of any kind, has the same scheduler as who makes only the others: all that it remembers, all that
    /// it writes down, and all that it does later.
    #[test]
    fn a_refused_call_changes_nothing(calls in prop::collection::vec((call(), span()), 1..150)) {
        let mut tried = scheduler();
        let mut spared = scheduler();
        for (call, span) in calls {
            let now = Nanos(tried.now().0.saturating_add_signed(span));
            match call.make(&mut tried, now) {
                Ok(said) => prop_assert_eq!(call.make(&mut spared, now), Ok(said)),
                Err(_) => {
                    prop_assert_eq!(format!("{tried:?}"), format!("{spared:?}"), "{:?} at {:?}", call, now);
                    prop_assert_eq!(tried.snapshot(), spared.snapshot());
                }
            }
        }
        for user in 0..tried.cluster().users() as u32 {
            prop_assert_eq!(tried.commitments(user), spared.commitments(user));
        }
    }
}
