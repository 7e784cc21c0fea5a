//! `fair recommend`: the same numbers as `fair simulate`, an example by hand, and what is said of it.

use trueplane_fair::capacity::Capacity;
use trueplane_fair::policy::PolicyName;
use trueplane_fair::recommend::{Found, Options, Recommend, run::on_log};
use trueplane_fair::simulate;
use trueplane_fair::span::Span;
use trueplane_fair::weights::UserWeights;
use trueplane_fair::workload::{JobLog, LogOptions, from_bytes};
use trueplane_study::study::report;
use trueplane_units::{Choices, List, Nanos, Value as _};

fn log(text: &str) -> JobLog {
    from_bytes("jobs.csv", text.as_bytes().to_vec(), &LogOptions::default(), &()).unwrap()
}

fn options(capacity: &str, half_lives: &str) -> Options {
    Options {
        capacity: Some(Capacity::parse(capacity).unwrap()),
        half_life: List::parse(half_lives).unwrap(),
        policies: Choices(vec![PolicyName::Sdrf, PolicyName::Kueue]),
        ..Options::default()
    }
}

fn recommend(log: &JobLog, options: &Options) -> Found {
    on_log(log, &UserWeights::default(), options, &()).unwrap()
}

/// A keeps a cluster of one unit busy for eight seconds; then A and B want to go on, two tasks each, of two seconds.
const HAND: &str = "submit,start,finish,user,cpu\n\
    0,0,8,a,1\n\
    1,8,10,a,1\n\
    2,10,12,a,1\n\
    3,12,14,b,1\n\
    4,14,16,b,1\n";

/// The table `one processor` of docs/guides/fair-to-small-users.md.
///
/// When the task of eight seconds ends, four tasks wait and nobody holds anything. drf forgets: of users who hold the same, it serves the one
/// whose task has waited longest, so that the order is a, a, b, b. sdrf knows that a had the whole cluster: b, b, a, a.
#[test]
fn a_memory_serves_first_who_had_nothing() {
    let log = log(HAND);
    let found = recommend(&log, &options("cpu=1", "1h"));
    let waits = |policy, half_life: Option<Span>| {
        let of = found.tenants.iter().find(|of| (of.policy, of.half_life) == (policy, half_life)).unwrap();
        of.users.iter().map(|user| user.wait_mean.unwrap().0 / 1e9).collect::<Vec<_>>()
    };
    // a: 0, 8 - 1, 10 - 2; b: 12 - 3, 14 - 4.
    assert_eq!(waits(PolicyName::Drf, None), [5.0, 9.5]);
    // b: 8 - 3, 10 - 4; a: 0, 12 - 1, 14 - 2.
    let hour = Span::parse("1h").ok();
    assert_eq!(waits(PolicyName::Sdrf, hour), [23.0 / 3.0, 5.5]);
    // The log has what drf does.
    let logged: Vec<_> =
        found.tenants[0].users.iter().map(|user| user.logged_wait_mean.unwrap().0 / 1e9).collect();
    assert_eq!(logged, [5.0, 9.5]);
    let users = &found.tenants[0].users;
    assert_eq!(users.iter().map(|user| user.entitlement).collect::<Vec<_>>(), [0.5, 0.5]);
    assert_eq!(
        users.iter().map(|user| user.wait_p95.unwrap()).collect::<Vec<_>>(),
        [8, 10].map(|s| Nanos(s * 1_000_000_000))
    );
}

#[test]
fn its_numbers_are_those_of_a_simulation() {
    let log = log(include_str!("../../../../examples/jobs.csv"));
    let options = options("60%", "10min,1h");
    let found = recommend(&log, &options);
    assert_eq!(found.candidates.len(), 5, "fifo, and two policies with two half-lives");
    for half_life in options.half_life.distinct() {
        let simulated = simulate::Options {
            capacity: options.capacity.clone(),
            policies: Choices(vec![PolicyName::Drf, PolicyName::Sdrf, PolicyName::Kueue]),
            half_life: Some(half_life),
            ..simulate::Options::default()
        };
        let simulated =
            simulate::run::on_log(&log, &UserWeights::default(), &simulated, &(), Vec::new()).unwrap();
        assert_eq!(simulated.policies[0].users, found.baseline.users);
        for run in &simulated.policies[1..] {
            let one = |one: &&trueplane_fair::recommend::found::Candidate| {
                (one.policy, one.half_life) == (run.policy, Some(half_life))
            };
            let found = found.candidates.iter().find(one).unwrap();
            assert_eq!(
                (found.run.wait_mean, found.run.users_wait_mean),
                (run.wait_mean, run.users_wait_mean)
            );
            assert_eq!(found.run.users_wait_mean_change, run.users_wait_mean_change);
            assert_eq!(found.run.utilization, run.utilization);
        }
    }
}

#[test]
fn what_is_recommended_is_the_least_wait_that_costs_no_others_more() {
    let log = log(include_str!("../../../../examples/jobs.csv"));
    let options = options("50%", "10min,1h");
    let found = recommend(&log, &options);
    let best = found.recommended().unwrap();
    assert!(best.helps() && best.half_life.is_some());
    for one in found.candidates.iter().filter(|one| one.helps() && one.half_life.is_some()) {
        assert!(one.saved() <= best.saved(), "{one:?}");
    }
    let shown = report::<Recommend>(&options, &found);
    assert!(shown.leads && shown.warnings.is_empty(), "{:?}", shown.warnings);
    let lines = shown.tables.iter().find(|table| table.id == "configuration").unwrap();
    let text = format!("{:?}", lines.rows);
    assert!(text.contains("usageHalfLifeTime: ") && text.contains("--policies sdrf --half-life "), "{text}");
    assert_eq!(best.policy, PolicyName::Kueue);
    assert!(shown.advice.contains("is best (usageHalfLifeTime: "), "{}", shown.advice);
}

#[test]
fn a_cluster_on_which_nobody_waits_needs_no_memory() {
    let log = log(HAND);
    let options = options("cpu=5", "1h");
    let found = recommend(&log, &options);
    let shown = report::<Recommend>(&options, &found);
    let expected = "No answer: only 0 of 5 tasks wait on this cluster under drf, though users' tasks waited 7.25s on average in the log. The order of users cannot matter then.";
    assert_eq!(shown.verdict, [expected]);
    assert!(shown.advice.starts_with("Give less --capacity, such as 70%"), "{}", shown.advice);
    assert_eq!(found.recommended(), None);
    // All that the log used at one time was one unit.
    let peak = Options { capacity: None, ..options };
    assert_eq!(recommend(&log, &peak).cluster[0].capacity, 1.0);
    let tiny = Options { capacity: Capacity::parse("cpu=0.5").ok(), ..peak };
    let shown = report::<Recommend>(&tiny, &recommend(&log, &tiny));
    assert_eq!(shown.verdict, ["Nothing ran: every task is larger than the cluster."]);
    assert_eq!((shown.advice.as_str(), shown.warnings.len()), ("Give more --capacity.", 1));
}

#[test]
fn policies_without_a_half_life_are_refused() {
    let wrong = Options { policies: Choices(vec![PolicyName::Karma]), ..options("50%", "1h") };
    let error = on_log(&log(HAND), &UserWeights::default(), &wrong, &()).unwrap_err().to_string();
    assert_eq!(
        error,
        "--policies: expected policies with a half-life (sdrf, kueue, kueue-milli, slurm), got karma"
    );
}
