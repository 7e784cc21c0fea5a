//! What must come out of logs that are made for it.

use trueplane_fair::capacity::Capacity;
use trueplane_fair::policy::PolicyName;
use trueplane_fair::simulate::{Found, Options, run::on_log};
use trueplane_fair::weights::UserWeights;
use trueplane_fair::workload::{Cut, JobLog, Partial};
use trueplane_study::{Error, Observer};
use trueplane_units::{Choices, Nanos, Parameters as _};

use super::naive::Job;
use super::{all, identities, log, options, run, run_with, said, with_backfill, with_horizon};

const SECOND: u64 = 1_000_000_000;

fn simulate(log: &JobLog, options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    on_log(log, &UserWeights::default(), options, observer, Vec::new())
}

fn job(submitted: u64, duration: u64, user: usize, demand: &[u64]) -> Job {
    Job { submitted: submitted * SECOND, duration: duration * SECOND, user, demand: demand.to_vec() }
}

/// Figures 4.1 and 4.8: A never has enough; B comes with a burst of the same kind of tasks, and later C with one of another kind. In days,
/// as δ = 1 − 10⁻⁶ for a second remembers days.
fn example() -> Vec<Job> {
    const LENGTH: u64 = 10_000;
    let mut jobs: Vec<Job> = Vec::new();
    // Far more than the cluster can do before the others come, all of it there at the start.
    jobs.extend((0..4_000).map(|_| job(0, LENGTH, 0, &[4, 2])));
    jobs.extend((0..500).map(|_| job(40 * LENGTH, LENGTH, 1, &[4, 2])));
    jobs.extend((0..300).map(|_| job(80 * LENGTH, LENGTH, 2, &[2, 4])));
    jobs
}

#[test]
fn who_hardly_uses_the_cluster_is_done_earlier_with_a_memory() {
    let jobs = example();
    let log = log(&jobs, 3);
    let policies = [PolicyName::Drf, PolicyName::Sdrf];
    let mut options = Options { half_life: None, ..options(&[100, 100], &policies, 1) };
    options.set("delta", "1-1e-6").unwrap().unwrap();
    let (found, starts) = run(&log, &options);
    for (run, starts) in found.policies.iter().zip(&starts) {
        identities(&log, run, starts);
    }
    let last = |policy: usize, user: u32| {
        starts[policy].iter().filter(|task| task.user == user).map(|task| task.end).max().unwrap()
    };
    assert!(last(1, 1) < last(0, 1), "B: {} under sdrf, {} under drf", last(1, 1), last(0, 1));
    assert!(last(1, 2) <= last(0, 2), "C: {} under sdrf, {} under drf", last(1, 2), last(0, 2));
    // A, who has nearly all of the time, hardly notices.
    let a = |policy: usize| found.policies[policy].users[0].wait_mean.unwrap().0;
    assert!(a(1) >= a(0) && a(1) < a(0) * 1.05, "{} and {}", a(0), a(1));
    // While both of them wait they have the same under DRF, which is the belief; a memory gives B more.
    let share = |policy: usize, user: usize| {
        let points = &found.over_time[policy][user].points;
        let during = points.iter().filter(|(time, _)| (42e4..46e4).contains(&(time / 1e9)));
        during.clone().map(|(_, share)| share).sum::<f64>() / during.count() as f64
    };
    assert_eq!(found.over_time[0][1].user, "b");
    assert!((share(0, 0) / share(0, 1) - 1.0).abs() < 0.1, "{} and {}", share(0, 0), share(0, 1));
    assert!(share(1, 1) > 1.3 * share(1, 0), "{} and {}", share(1, 0), share(1, 1));
    let comparison = &found.comparisons[0];
    assert!(comparison.users_wait_less >= 1);
    assert_eq!(comparison.gains_most.as_ref().unwrap().user, "b");
    let said = said(&options, &found);
    assert!(said.iter().any(|sentence| sentence.contains("because drf forgets")), "{said:?}");
    let (now, long) =
        (|p: usize| found.policies[p].jain_now.unwrap(), |p: usize| found.policies[p].jain_long_run);
    assert!(now(0) > now(1), "shares of those who wait are more equal without a memory");
    assert!(long(0).is_some() && long(1).is_some());
}

#[test]
fn losses_come_first_if_there_are_more_of_them() {
    // Twenty users who hardly come make everybody's own part small. Four have had all of the cluster when a fifth comes, who gains what
    // each of the four loses.
    let mut jobs: Vec<Job> = (5..25).map(|user| job(0, 1, user, &[1])).collect();
    for submitted in [2, 2002] {
        jobs.extend((0..800).map(|index| job(submitted, 100, index % 4, &[1])));
    }
    jobs.extend((0..200).map(|_| job(2002, 100, 4, &[1])));
    let log = log(&jobs, 25);
    let policies = [PolicyName::Drf, PolicyName::Sdrf];
    let options = options(&[40], &policies, 2_000 * SECOND);
    let (found, _) = run(&log, &options);
    let of = &found.comparisons[0];
    assert_eq!((of.users_wait_more, of.users_wait_less), (4, 1), "{of:?}");
    assert_eq!(of.gains_most.as_ref().unwrap().user, "e");
    // Half of the users have a single task: that is said before all else.
    let said = said(&options, &found);
    assert!(said[0].starts_with("Half of the users have fewer than 5 tasks"), "{said:?}");
    assert!(said[1].starts_with("sdrf lets more users wait longer than less"), "{said:?}");
    assert!(said.iter().any(|said| said.starts_with("Most is lost by ")), "{said:?}");
}

#[test]
fn tasks_that_are_too_large_are_skipped_and_counted() {
    let jobs = [job(0, 5, 0, &[11]), job(1, 5, 0, &[10]), job(2, 5, 1, &[1]), job(3, 5, 1, &[99])];
    let log = log(&jobs, 2);
    let every = options(&[10], &all(), SECOND);
    let (found, starts) = run(&log, &every);
    for (run, starts) in found.policies.iter().zip(&starts) {
        identities(&log, run, starts);
        assert_eq!((run.skipped, run.completed), (2, 2), "{}", run.policy);
        assert_eq!(starts.iter().map(|task| task.task).collect::<Vec<_>>(), [1, 2]);
    }
    let sentences = said(&every, &found);
    assert!(sentences.iter().any(|sentence| sentence.contains("2 of 4 tasks")), "{sentences:?}");
    let nothing = [job(0, 5, 0, &[11])];
    let log = super::log(&nothing, 1);
    let both = options(&[10], &[PolicyName::Drf, PolicyName::Sdrf], SECOND);
    let (found, _) = run(&log, &both);
    // Nobody is said to wait as long as before.
    assert_eq!(
        said(&both, &found),
        [
            "All tasks, 1 of them, are larger than the cluster: nothing ran; expected more --capacity.",
            "Nothing ran: every task is larger than the cluster."
        ]
    );
    assert_eq!(found.policies[0].users[0].wait_mean, None);
    assert_eq!((found.policies[0].makespan, found.policies[0].jain_long_run), (Nanos(0), None));
}

#[test]
fn a_clock_that_would_overflow_is_refused() {
    // Each takes 36 years, and they cannot run beside each other.
    let jobs: Vec<Job> = (0..9).map(|index| job(index, 1 << 30, 0, &[10])).collect();
    let log = log(&jobs, 1);
    let error = simulate(&log, &options(&[10], &[PolicyName::Fifo], SECOND), &()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "drawn: tasks would wait for more than 146 years: expected more --capacity, or shorter tasks"
    );
    let (found, _) = run(&log, &options(&[30], &[PolicyName::Fifo], SECOND));
    assert_eq!(found.policies[0].completed, 9);
}

#[test]
fn tasks_that_outlast_the_log_are_no_part_of_what_is_completed() {
    let jobs = [job(0, 10, 0, &[10]), job(0, 20, 1, &[10]), job(1, 29, 0, &[10]), job(2, 5, 0, &[99])];
    let mut log = log(&jobs, 2);
    log.censored = vec![1, 2];
    log.cut = vec![Cut { what: Partial::Start, count: 2 }];
    let options = options(&[10], &[PolicyName::Drf], SECOND);
    let (found, _) = run(&log, &options);
    let run = &found.policies[0];
    assert_eq!((found.log.censored, run.completed, run.completed_by_horizon), (2, 3, 1));
    let of_users: Vec<(u64, Option<f64>)> =
        run.users.iter().map(|user| (user.censored, user.completion_ratio)).collect();
    // Of its tasks that end one was completed, and one is too large; of the other's nothing is known.
    assert_eq!(of_users, [(1, Some(0.5)), (1, None)]);
    let sentences = said(&options, &found);
    let said = |part: &str| sentences.iter().any(|sentence| sentence.contains(part));
    assert!(said("2 of 4 tasks outlast the log"), "{sentences:?}");
    // b waits 10 s, and a's second 29 s.
    assert!(said("2 of 4 tasks (50.0%) began before the log"), "{sentences:?}");
    assert!(said("tasks submitted then have 25.6% of all waiting"), "{sentences:?}");
}

#[test]
fn the_largest_losses_of_single_users_are_named() {
    // a fills the cluster; b and c come later, b with a single task.
    let mut jobs: Vec<Job> = (0..60).map(|_| job(0, 10, 0, &[5])).collect();
    jobs.extend([job(1, 10, 1, &[5])]);
    jobs.extend((0..10).map(|_| job(2, 10, 2, &[5])));
    let log = log(&jobs, 3);
    let options = options(&[10], &[PolicyName::Drf, PolicyName::Fifo], SECOND);
    let (found, _) = run(&log, &options);
    let of = &found.comparisons[0];
    let mean = |policy: usize, user: usize| found.policies[policy].users[user].wait_mean.unwrap().0;
    assert_eq!((of.users_wait_more, of.users_wait_only_here), (2, 0), "{of:?}");
    assert!(mean(1, 1) / mean(0, 1) > mean(1, 2) / mean(0, 2), "b, who has but one task, is hit hardest");
    assert_eq!(of.loses_most.as_ref().unwrap().user, "c");
    assert_eq!(of.loses_largest_part.as_ref().unwrap().user, "b");
    let said = said(&options, &found);
    assert!(said.iter().any(|said| said.starts_with("Most is lost by c: ")), "{said:?}");
    // fifo forgets as much as drf does.
    assert!(!said.iter().any(|said| said.contains("forgets")), "{said:?}");
}

#[test]
fn a_wait_where_there_was_none_is_told_apart() {
    let jobs = [
        job(0, 10, 0, &[5]),
        job(1, 10, 0, &[5]),
        job(2, 10, 0, &[10]),
        job(3, 10, 1, &[5]),
        job(3, 1, 1, &[1]),
    ];
    let jobs: Vec<Job> = jobs.into_iter().chain([job(30, 10, 1, &[5])]).collect();
    let log = log(&jobs, 2);
    // Alone under drf, behind a's large task under fifo.
    let (found, _) = run(&log, &options(&[16], &[PolicyName::Drf, PolicyName::Fifo], SECOND));
    let of = &found.comparisons[0];
    assert_eq!((of.users_wait_only_here, of.users_wait_more), (1, 1), "{of:?}");
    assert_eq!(of.waits_only_here.as_ref().unwrap().user, "b");
}

#[test]
fn a_short_horizon_does_not_hide_those_who_wait_later() {
    let jobs = [job(0, 1, 0, &[1]), job(10, 10, 0, &[10]), job(11, 10, 0, &[10]), job(12, 10, 1, &[10])];
    let log = log(&jobs, 2);
    let policies = [PolicyName::Drf, PolicyName::Sdrf];
    let options = with_horizon(options(&[10], &policies, SECOND), Some(Nanos(5 * SECOND)));
    let (found, _) = run(&log, &options);
    let run = &found.policies[0];
    assert_eq!((run.contended, run.contended_to_end), (Nanos(0), Nanos(8 * SECOND)));
    let said = said(&options, &found);
    assert!(!said[0].starts_with("At no time do two users wait"), "{said:?}");
}

#[test]
fn changes_of_order_are_counted_where_they_cost_nothing() {
    let jobs = example();
    let log = log(&jobs, 3);
    let (found, _) = run(&log, &options(&[100, 100], &all(), 3_600 * SECOND));
    let of = |policy: PolicyName| found.policies.iter().find(|run| run.policy == policy).unwrap();
    let counted = of(PolicyName::Kueue).changes_of_order;
    assert!(counted.is_some_and(|changes| changes > 0), "a user passes another when a period ends");
    // fair sweep counts them.
    assert_eq!(of(PolicyName::Sdrf).changes_of_order, None);
}

#[test]
fn backfill_lets_small_tasks_pass_and_says_so() {
    let jobs = [job(0, 10, 0, &[6]), job(1, 10, 0, &[8]), job(2, 3, 1, &[4]), job(3, 3, 1, &[4])];
    let log = log(&jobs, 2);
    let strict = options(&[10], &[PolicyName::Fifo], SECOND);
    let order = |options: &Options| {
        let (found, starts) = run(&log, options);
        let order: Vec<(u32, u64, bool)> =
            starts[0].iter().map(|task| (task.task, task.start.0 / SECOND, task.passed)).collect();
        (order, found)
    };
    let (strictly, found) = order(&strict);
    assert_eq!(strictly, [(0, 0, false), (1, 10, false), (2, 20, false), (3, 20, false)]);
    let has = |options: &Options, found: &Found, part: &str| {
        said(options, found).iter().any(|sentence| sentence.contains(part))
    };
    assert!(found.policies[0].backfilled == 0 && !has(&strict, &found, "passed"));
    let lenient = with_backfill(strict, true);
    let (passing, found) = order(&lenient);
    assert_eq!(passing, [(0, 0, false), (2, 2, true), (3, 5, true), (1, 10, false)]);
    assert_eq!(found.policies[0].backfilled, 2);
    assert!(has(&lenient, &found, "2 under fifo"));
}

#[test]
fn tasks_that_take_no_time_make_room_at_once() {
    let jobs = [job(5, 0, 0, &[10]), job(5, 0, 0, &[10]), job(5, 2, 1, &[10]), job(5, 0, 0, &[10])];
    let log = log(&jobs, 2);
    let (found, starts) = run(&log, &options(&[10], &[PolicyName::Fifo], SECOND));
    let order: Vec<(u32, u64)> = starts[0].iter().map(|task| (task.task, task.start.0 / SECOND)).collect();
    assert_eq!(order, [(0, 5), (1, 5), (2, 5), (3, 7)]);
    assert_eq!(found.policies[0].makespan, Nanos(2 * SECOND));
}

#[test]
fn the_horizon_counts_from_the_first_submission() {
    let jobs = [job(100, 10, 0, &[10]), job(100, 10, 1, &[10]), job(100, 10, 0, &[10])];
    let log = log(&jobs, 2);
    let by = |horizon: Option<u64>| {
        let options = options(&[10], &[PolicyName::Drf], SECOND);
        run(&log, &with_horizon(options, horizon.map(|horizon| Nanos(horizon * SECOND)))).0
    };
    // If nobody waited, all would end at 110 s.
    assert_eq!((by(None).horizon, by(None).policies[0].completed_by_horizon), (Nanos(10 * SECOND), 1));
    for (horizon, completed, used) in [(19, 1, 1.0), (20, 2, 1.0), (30, 3, 1.0), (60, 3, 0.5)] {
        let found = by(Some(horizon));
        let run = &found.policies[0];
        assert_eq!((run.completed_by_horizon, run.completed), (completed, 3), "{horizon}");
        assert!((run.utilization[0] - used).abs() < 1e-12, "{horizon}");
    }
    // One runs at a time, the other waits for the first 20 s, with a task or without.
    let found = by(Some(60));
    assert_eq!(found.policies[0].users[1].completion_ratio, Some(1.0));
    assert!((found.policies[0].users[1].long_run_share - 10.0 / 60.0).abs() < 1e-9);
}

#[test]
fn weights_are_divided_by() {
    let jobs: Vec<Job> = (0..400).map(|index| job(0, 10, index % 2, &[1])).collect();
    let log = log(&jobs, 2);
    let options = with_horizon(options(&[8], &[PolicyName::Drf], SECOND), Some(Nanos(300 * SECOND)));
    let (found, _) = run_with(&log, &UserWeights(vec![("b".to_owned(), 3)]), &options);
    let share = |user: usize| found.policies[0].users[user].long_run_share;
    assert!((share(0) / share(1) - 1.0).abs() < 0.01, "a quarter by 1, three quarters by 3");
    assert!((share(0) - 0.25).abs() < 0.01);
    assert!(found.policies[0].jain_now.unwrap() > 0.999);
}

#[test]
fn a_cluster_that_is_large_enough_tells_nothing() {
    let jobs: Vec<Job> = (0..40).map(|index| job(index, 5, index as usize % 3, &[1])).collect();
    let log = log(&jobs, 3);
    let policies = [PolicyName::Drf, PolicyName::Sdrf];
    let options = options(&[1_000], &policies, SECOND);
    let (found, _) = run(&log, &options);
    let said = said(&options, &found);
    assert!(said[0].starts_with("At no time do two users wait"), "{said:?}");
    assert_eq!((found.policies[0].waited, found.policies[0].jain_now), (0, None));
    assert_eq!(found.policies[1].wait_mean_change, None);
    let comparison = &found.comparisons[0];
    assert_eq!((comparison.users_wait_less, comparison.users_wait_more), (0, 0));
}

#[test]
fn the_answer_does_not_depend_on_the_number_of_threads() {
    let jobs = example();
    let log = log(&jobs, 3);
    let options = options(&[100, 100], &all(), 3_600 * SECOND);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| simulate(&log, &options, &())).unwrap()
    };
    assert_eq!(on(1), on(5));
}

#[test]
fn a_simulation_can_be_stopped() {
    struct Impatient;
    impl Observer for Impatient {
        fn interrupted(&self) -> bool {
            true
        }
    }
    let jobs: Vec<Job> = (0..20_000).map(|index| job(index, 1, 0, &[1])).collect();
    let log = log(&jobs, 1);
    let options = options(&[10], &[PolicyName::Fifo], SECOND);
    assert!(matches!(simulate(&log, &options, &Impatient), Err(Error::Interrupted)));
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let log = log(&[job(0, 1, 0, &[1])], 1);
    let refused = |options: &Options| simulate(&log, options, &()).unwrap_err().to_string();
    let good = options(&[10], &[PolicyName::Fifo], SECOND);
    assert!(
        refused(&Options { policies: Choices(Vec::new()), ..good.clone() }).contains("at least one policy")
    );
    let none = super::log(&[], 0);
    let error = simulate(&none, &good, &()).unwrap_err().to_string();
    assert!(error.contains("drawn: expected at least one task"), "{error}");
    let other = Options { capacity: Some(Capacity::Absolute(vec![("gpu".to_owned(), 1)])), ..good };
    assert!(refused(&other).contains("has no resource \"gpu\""));
}
