//! `fair simulate`: against a naive simulator, the example of figures 4.1 and 4.8 of the thesis, and what has to add up.

mod naive;
mod shapes;
mod statistics;

use std::sync::Mutex;

use proptest::prelude::*;
use trueplane_fair::capacity::Capacity;
use trueplane_fair::engine::Started;
use trueplane_fair::outcome::{PolicyRun, UserRun};
use trueplane_fair::policy::PolicyName;
use trueplane_fair::simulate::{Found, Options, Simulate, run::on_log};
use trueplane_fair::span::Span;
use trueplane_fair::tally::Sink;
use trueplane_fair::weights::UserWeights;
use trueplane_fair::workload::{BILLION, JobLog, Task};
use trueplane_study::report::Report;
use trueplane_study::study::report;
use trueplane_units::{Choices, Nanos};

use naive::{Job, Order};

/// A log of `jobs`, which are in order of submission, of users `a`, `b`, ….
fn log(jobs: &[Job], users: usize) -> JobLog {
    let resources = jobs.first().map_or(1, |job| job.demand.len());
    JobLog {
        name: "drawn".to_owned(),
        resources: (0..resources).map(|resource| format!("r{resource}")).collect(),
        users: (0..users).map(|user| char::from(b'a' + user as u8).to_string()).collect(),
        demands: jobs
            .iter()
            .map(|job| job.demand.iter().map(|&amount| u128::from(amount) * BILLION).collect())
            .collect(),
        tasks: (0..)
            .zip(jobs)
            .map(|(index, job)| Task {
                submitted: Nanos(job.submitted),
                duration: Nanos(job.duration),
                user: job.user as u32,
                demand: index,
            })
            .collect(),
        ..JobLog::default()
    }
}

fn options(capacity: &[u64], policies: &[PolicyName], half_life: u64) -> Options {
    let named = |(resource, &amount)| (format!("r{resource}"), u128::from(amount) * BILLION);
    Options {
        capacity: Some(Capacity::Absolute(capacity.iter().enumerate().map(named).collect())),
        policies: Choices(policies.to_vec()),
        half_life: Span::new(Nanos(half_life)),
        ..Options::default()
    }
}

fn with_horizon(mut options: Options, horizon: Option<Nanos>) -> Options {
    options.scenario.horizon = horizon.and_then(Span::new);
    options
}

fn with_backfill(mut options: Options, backfill: bool) -> Options {
    options.scenario.backfill = backfill;
    options
}

/// What people read: warnings and verdict.
fn said(options: &Options, found: &Found) -> Vec<String> {
    let Report { warnings, verdict, .. } = report::<Simulate>(options, found);
    [warnings, verdict].concat()
}

/// Runs a log without weights, and has every policy's starts as well.
fn run(log: &JobLog, options: &Options) -> (Found, Vec<Vec<Started>>) {
    run_with(log, &UserWeights::default(), options)
}

/// Runs a log, and has every policy's starts as well.
fn run_with(log: &JobLog, weights: &UserWeights, options: &Options) -> (Found, Vec<Vec<Started>>) {
    let starts: Vec<Mutex<Vec<Started>>> = options.policies.iter().map(|_| Mutex::default()).collect();
    let sinks: Vec<Sink<'_>> = starts
        .iter()
        .map(|starts| {
            let sink: Sink<'_> = Box::new(|started| {
                starts.lock().unwrap().push(*started);
                Ok(())
            });
            sink
        })
        .collect();
    let found = on_log(log, weights, options, &(), sinks).unwrap();
    (found, starts.into_iter().map(|starts| starts.into_inner().unwrap()).collect())
}

fn all() -> Vec<PolicyName> {
    PolicyName::ALL.to_vec()
}

/// What must add up in every run.
fn identities(log: &JobLog, run: &PolicyRun, starts: &[Started]) {
    let sum = |of: fn(&UserRun) -> u64| run.users.iter().map(of).sum::<u64>();
    assert_eq!(run.tasks, log.tasks.len() as u64, "{}", run.policy);
    assert_eq!(run.tasks, run.completed + run.skipped, "nobody waits for ever under {}", run.policy);
    assert_eq!(run.completed, starts.len() as u64);
    assert_eq!(
        [run.tasks, run.completed, run.skipped, run.completed_by_horizon],
        [sum(|u| u.submitted), sum(|u| u.completed), sum(|u| u.skipped), sum(|u| u.completed_by_horizon)]
    );
    let waits: Vec<u64> = starts.iter().map(|task| task.start.since(task.submitted).0).collect();
    assert_eq!(run.waited, waits.iter().filter(|&&wait| wait > 0).count() as u64);
    let total = waits.iter().map(|&wait| u128::from(wait)).sum::<u128>() as f64;
    assert!((run.wait_mean.0 * waits.len().max(1) as f64 - total).abs() <= 1e-6 * total.max(1.0));
    let of_users: f64 =
        run.users.iter().map(|user| user.wait_mean.map_or(0.0, |wait| wait.0) * user.completed as f64).sum();
    assert!((of_users - total).abs() <= 1e-6 * total.max(1.0));
    assert!(run.wait_median <= run.wait_p99 && run.wait_p99 <= run.wait_max);
    let first = log.tasks[0].submitted;
    let makespan = starts.iter().map(|task| task.end.since(first).0).max().unwrap_or(0);
    assert_eq!(run.makespan, Nanos(makespan));
    assert!(starts.windows(2).all(|pair| pair[0].start <= pair[1].start), "in the order of starting");
    for task in starts {
        let of_log = log.tasks[task.task as usize];
        assert_eq!((task.submitted, task.user), (of_log.submitted, of_log.user));
        assert_eq!(task.end, task.start.after(of_log.duration));
    }
    for share in run.users.iter().map(|user| user.long_run_share).chain(run.utilization.iter().copied()) {
        assert!((0.0..=1.000_001).contains(&share), "{share} under {}", run.policy);
    }
    for index in [run.jain_now, run.jain_long_run].into_iter().flatten() {
        assert!(index > 0.0 && index <= 1.000_001, "{index} under {}", run.policy);
    }
}

/// What a user of weight 1 holds in the mean of `resource`, from the starts.
fn used(log: &JobLog, starts: &[Started], resource: usize, until: u64) -> f64 {
    let first = log.tasks[0].submitted.0;
    let of = |task: &Started| {
        let amount = log.demands[log.tasks[task.task as usize].demand as usize][resource] as f64;
        amount / BILLION as f64 * task.end.0.min(until).saturating_sub(task.start.0) as f64
    };
    starts.iter().map(of).sum::<f64>() / (until - first) as f64
}

prop_compose! {
    /// Few instants, so that much happens at one; capacities are powers of two, so that shares are exact in floating point too.
    fn jobs(users: usize)(
        raw in prop::collection::vec((0u64..60, 0u64..12, 0..users, 0u64..=9, 0u64..=20), 1..60),
    ) -> Vec<Job> {
        let mut raw = raw;
        raw.sort_by_key(|&(submitted, ..)| submitted);
        raw.into_iter()
            .map(|(submitted, duration, user, cpu, memory)| Job {
                submitted: submitted * 1_000,
                duration: duration * 1_000,
                user,
                demand: vec![cpu, memory],
            })
            .collect()
    }
}

const CAPACITY: [u64; 2] = [8, 16];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn tasks_start_as_in_the_naive_simulator(
        jobs in jobs(4),
        weights in prop::collection::vec(prop::sample::select(vec![1u64, 2, 4]), 4),
        // Of a memory that is much shorter than the run nothing is left that floating point could tell apart.
        half_life in prop::sample::select(vec![20_000u64, 100_000, 1_000_000]),
        backfill in any::<bool>(),
        horizon in prop::option::of(1u64..80_000),
    ) {
        let log = log(&jobs, 4);
        let policies = [PolicyName::Fifo, PolicyName::Drf, PolicyName::Sdrf];
        let named = (0..4).map(|user| (log.users[user].clone(), weights[user] as u32)).collect();
        let options = options(&CAPACITY, &policies, half_life);
        let options = with_backfill(with_horizon(options, horizon.map(Nanos)), backfill);
        let (found, starts) = run_with(&log, &UserWeights(named), &options);
        let tau = half_life as f64 / std::f64::consts::LN_2;
        for ((order, run), starts) in
            [Order::Fifo, Order::Drf, Order::Sdrf(tau)].into_iter().zip(&found.policies).zip(&starts)
        {
            let expected = naive::simulate(&jobs, &CAPACITY, &weights, order, backfill);
            let started: Vec<(usize, u64)> =
                starts.iter().map(|task| (task.task as usize, task.start.0)).collect();
            prop_assert_eq!(&started, &expected, "{:?}", order);
            identities(&log, run, starts);
            statistics::check(&log, &options, &found, run, starts);
            let until = jobs[0].submitted + horizon.unwrap_or(log.end().0 - jobs[0].submitted).max(1);
            for (resource, &capacity) in CAPACITY.iter().enumerate() {
                let expected = used(&log, starts, resource, until) / capacity as f64;
                prop_assert!((run.utilization[resource] - expected).abs() < 1e-9);
            }
            let ended = starts.iter().filter(|task| task.end.0 <= until).count() as u64;
            prop_assert_eq!(run.completed_by_horizon, ended);
            prop_assert!(backfill || run.backfilled == 0);
        }
    }

    #[test]
    fn everything_adds_up_under_every_policy(jobs in jobs(5), backfill in any::<bool>()) {
        let log = log(&jobs, 5);
        let options = with_backfill(options(&CAPACITY, &all(), 5_000), backfill);
        let (found, starts) = run(&log, &options);
        for (run, starts) in found.policies.iter().zip(&starts) {
            identities(&log, run, starts);
            statistics::check(&log, &options, &found, run, starts);
        }
        let too_large = jobs.iter().filter(|job| job.demand[0] > 8 || job.demand[1] > 16).count() as u64;
        prop_assert!(found.policies.iter().all(|run| run.skipped == too_large));
        let verdict = report::<Simulate>(&options, &found).verdict;
        let words: usize = verdict.iter().map(|sentence| sentence.split_whitespace().count()).sum();
        prop_assert!((1..=5).contains(&verdict.len()) && words <= 120, "{words} words: {verdict:?}");
    }
}
