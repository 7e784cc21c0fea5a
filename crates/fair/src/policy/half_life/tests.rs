use super::*;
use crate::{Demands, Policy, Scheduler};

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;

/// A task is what it needs of the only resource.
#[derive(Clone, Debug)]
struct Processors;

impl Demands for Processors {
    type Task = [u64; 1];

    fn of<'a>(&'a self, task: &'a [u64; 1]) -> &'a [u64] {
        task
    }
}

fn order(policy: &mut HalfLife, now: u64) -> Vec<u32> {
    let first = policy.first(Nanos(now));
    std::iter::successors(first, |&user| policy.after(user)).collect()
}

#[test]
fn kueue_charges_a_task_at_its_start_and_samples_at_the_end_of_periods() {
    let cluster = Cluster::new(vec![64, 1 << 20], vec![1, 2]).unwrap();
    let options = KueueOptions {
        half_life: Nanos(10),
        sampling: Nanos(10),
        units: vec![1.0, 0.25],
        resource_weights: vec![2.0, 1.0],
        ..KueueOptions::default()
    };
    let mut policy = HalfLife::kueue(&cluster, &options).unwrap();
    policy.wait(0, 0, Nanos(0));
    policy.wait(1, 1, Nanos(0));
    assert_eq!(order(&mut policy, 0), [0, 1]);
    // 2·8 + 16/4 = 20, of which A = 1/2 is charged.
    policy.hold(0, &[8, 16], Nanos(2));
    assert_eq!(policy.ledger().usage(0), 10.0);
    policy.hold(1, &[8, 16], Nanos(2));
    assert_eq!(order(&mut policy, 9), [1, 0], "the same over a weight of 2");
    // Half of it, and half of what is held.
    assert_eq!((order(&mut policy, 10), policy.ledger().usage(0)), (vec![1, 0], 15.0));
    // What ends is not charged, and no sample sees it any more.
    policy.hold(0, &[0, 0], Nanos(11));
    assert_eq!(policy.ledger().usage(0), 15.0);
    assert_eq!((order(&mut policy, 29), policy.ledger().usage(0)), (vec![0, 1], 7.5));
    assert_eq!((policy.ledger().usage(1), policy.events()), (17.5, Some(1)));

    let mut without = HalfLife::kueue(&cluster, &KueueOptions { entry_penalty: false, ..options }).unwrap();
    without.hold(0, &[8, 16], Nanos(2));
    assert_eq!(without.ledger().usage(0), 0.0);
    without.first(Nanos(10));
    assert_eq!(without.ledger().usage(0), 10.0);
}

#[test]
fn slurm_stands_still_between_two_periods() {
    let cluster = Cluster::new(vec![100, 100], vec![1, 1]).unwrap();
    let options = SlurmOptions {
        half_life: Nanos(300 * SECOND),
        period: Nanos(300 * SECOND),
        ..SlurmOptions::default()
    };
    let policy = HalfLife::slurm(&cluster, &options).unwrap();
    struct Two;
    impl Demands for Two {
        type Task = [u64; 2];
        fn of<'a>(&'a self, task: &'a [u64; 2]) -> &'a [u64] {
            task
        }
    }
    let mut scheduler = Scheduler::new(cluster, policy, Two, false);
    // One thousand tasks of user 0 come a moment before the only one of user 1.
    for _ in 0..1000 {
        scheduler.submit(0, [1, 100], Nanos(0));
    }
    scheduler.submit(1, [1, 0], Nanos(1));
    for round in 0..299 {
        let now = Nanos(round * SECOND + 1);
        assert_eq!(scheduler.start(now), Some((0, [1, 100])), "round {round}: nothing has been counted");
        assert_eq!(scheduler.start(now), None, "no memory is left");
        scheduler.finish(0, &[1, 100], Nanos((round + 1) * SECOND));
    }
    // One processor for 299 s: memory is not billed if nobody says so.
    assert_eq!(scheduler.start(Nanos(300 * SECOND)), Some((1, [1, 0])));
    let used = scheduler.policy().ledger().usage(0);
    assert!((used - 299.0).abs() < 1e-6, "{used}");
}

#[test]
fn the_classic_factor_is_a_whole_number() {
    // 64 users, of whom one has used three quarters and another a quarter of all.
    let cluster = Cluster::new(vec![8], vec![1; 64]).unwrap();
    let with = |priority_weight| {
        let options = SlurmOptions { priority_weight, ..SlurmOptions::default() };
        let mut policy = HalfLife::slurm(&cluster, &options).unwrap();
        for (ticket, user) in [0, 1, 2].into_iter().enumerate() {
            policy.wait(user, ticket as u64, Nanos(0));
        }
        policy.hold(0, &[6], Nanos(0));
        policy.hold(1, &[2], Nanos(0));
        policy.first(Nanos(300 * SECOND));
        policy
    };
    let mut classic = with(Some(10_000));
    let priorities: Vec<_> = (0..3).map(|user| classic.ledger().priority(user)).collect();
    // 10000·2^−48 and 10000·2^−16 are less than 1, which is the least: three times the usage, and the same priority.
    assert_eq!(priorities, [Some(1), Some(1), Some(10_000)]);
    assert_eq!(order(&mut classic, 301 * SECOND), [2, 0, 1]);
    let mut tree = with(None);
    assert_eq!((order(&mut tree, 301 * SECOND), tree.ledger().priority(0)), (vec![2, 1, 0], None));

    // Half of all usage with half of all shares is a factor of 1/2.
    let cluster = Cluster::new(vec![8], vec![1, 1]).unwrap();
    let options = SlurmOptions { priority_weight: Some(1000), ..SlurmOptions::default() };
    let mut policy = HalfLife::slurm(&cluster, &options).unwrap();
    policy.hold(0, &[3], Nanos(0));
    policy.hold(1, &[3], Nanos(0));
    policy.first(Nanos(300 * SECOND));
    assert_eq!((policy.ledger().priority(0), policy.ledger().priority(1)), (Some(500), Some(500)));
    policy.hold(0, &[1], Nanos(300 * SECOND));
    policy.hold(1, &[0], Nanos(300 * SECOND));
    policy.first(Nanos(600 * SECOND));
    // 900·D + 300 and 900·D of 1800·D + 300, with D = 2^(−1/2016): 2^−1.1429 and 2^−0.8571.
    assert_eq!((policy.ledger().priority(0), policy.ledger().priority(1)), (Some(452), Some(552)));
}

/// What happens to three users of a hundred processors in four weeks: who starts first, of all whose tasks come at once at the end.
///
/// User 0 holds two processors all the time. User 1 has had ten for one day, three weeks ago. User 2 comes for the first time.
fn starts(thousandths: bool) -> (Vec<u32>, Vec<f64>) {
    let cluster = Cluster::new(vec![100], vec![1; 3]).unwrap();
    let options = KueueOptions { thousandths, ..KueueOptions::default() };
    let policy = HalfLife::kueue(&cluster, &options).unwrap();
    let mut scheduler = Scheduler::new(cluster, policy, Processors, false);
    scheduler.submit(0, [2], Nanos(0));
    assert_eq!(scheduler.start(Nanos(0)), Some((0, [2])));
    scheduler.submit(1, [10], Nanos(7 * DAY));
    assert_eq!(scheduler.start(Nanos(7 * DAY)), Some((1, [10])));
    scheduler.finish(1, &[10], Nanos(8 * DAY));

    let now = Nanos(28 * DAY);
    assert_eq!(scheduler.start(now), None, "nobody waits");
    let used = (0..3).map(|user| scheduler.policy().ledger().usage(user)).collect();
    for user in [0, 1, 2] {
        scheduler.submit(user, [20], now);
    }
    (std::iter::from_fn(|| scheduler.start(now)).map(|(user, _)| user).collect(), used)
}

#[test]
fn a_user_of_two_processors_for_ever_is_invisible_in_thousandths() {
    let (started, used) = starts(false);
    assert_eq!(started, [2, 1, 0], "who never came, who came once, who is always there");
    // A is charged at a start, and what was is halved every seven days.
    let week = |days: f64| 0.5f64.powf(days / 7.0);
    let lost = 1.0 - week(1.0 / 288.0);
    let expected = [
        2.0 * (1.0 - week(28.0)) + 2.0 * lost * week(28.0),
        (10.0 * (1.0 - week(1.0)) + 10.0 * lost * week(1.0)) * week(20.0),
        0.0,
    ];
    for (used, expected) in used.iter().zip(expected) {
        assert!((used - expected).abs() < 1e-9, "{used} {expected}");
    }

    // Cut to thousandths, who is always there counts as one who never came; and of the day of the other, which is 0.13 processors yet,
    // nothing is left. All are equal, so that the oldest task goes first: that of the one who has used most. Who has used nothing loses
    // its turn to both.
    let (started, used) = starts(true);
    assert_eq!((started, used), (vec![0, 1, 2], vec![0.0; 3]));
}

#[test]
fn two_processors_for_ever_win_against_ten_for_a_day() {
    // As soon as the day is over, before what is left of it has been cut to nothing: who has used 0.94 loses to who has used 1.87.
    let cluster = Cluster::new(vec![100], vec![1; 2]).unwrap();
    let first = |thousandths| {
        let options = KueueOptions { thousandths, ..KueueOptions::default() };
        let mut policy = HalfLife::kueue(&cluster, &options).unwrap();
        policy.hold(0, &[2], Nanos(0));
        policy.hold(1, &[10], Nanos(27 * DAY));
        policy.hold(1, &[0], Nanos(28 * DAY));
        policy.wait(1, 0, Nanos(28 * DAY));
        policy.wait(0, 1, Nanos(28 * DAY));
        policy.first(Nanos(28 * DAY))
    };
    assert_eq!((first(false), first(true)), (Some(1), Some(0)));
}

#[test]
fn what_is_no_option_is_refused() {
    let cluster = Cluster::new(vec![1, 1], vec![1]).unwrap();
    let kueue = KueueOptions::default();
    let refused = |options: KueueOptions| HalfLife::kueue(&cluster, &options).unwrap_err();
    assert_eq!(refused(KueueOptions { half_life: Nanos(0), ..kueue.clone() }), HalfLifeError::HalfLife);
    assert_eq!(refused(KueueOptions { sampling: Nanos(0), ..kueue.clone() }), HalfLifeError::Period);
    assert_eq!(
        refused(KueueOptions { units: vec![1.0], ..kueue.clone() }),
        HalfLifeError::Factors { resources: 2, found: 1 }
    );
    for found in [-1.0, 2e18, f64::INFINITY] {
        assert_eq!(
            refused(KueueOptions { resource_weights: vec![1.0, found], ..kueue.clone() }),
            HalfLifeError::Factor { resource: 1, found }
        );
    }
    let slurm = SlurmOptions { billing_weights: vec![1.0, f64::NAN], ..SlurmOptions::default() };
    assert!(matches!(HalfLife::slurm(&cluster, &slurm), Err(HalfLifeError::Factor { resource: 1, .. })));
}
