//! Every statistic of a run, computed anew from the list of its starts.

use trueplane_fair::capacity::Capacity;
use trueplane_fair::engine::Started;
use trueplane_fair::outcome::PolicyRun;
use trueplane_fair::policy::PolicyName;
use trueplane_fair::simulate::{Found, Options};
use trueplane_fair::workload::JobLog;
use trueplane_units::LongTime;

const SECOND: f64 = 1e9;

fn seconds(time: LongTime) -> f64 {
    time.0 / SECOND
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= 1e-6 * expected.abs() + 1e-9, "{what}: {found}, expected {expected}");
}

fn same(found: Option<f64>, expected: Option<f64>, what: &str) {
    assert_eq!(found.is_some(), expected.is_some(), "{what}: {found:?}, expected {expected:?}");
    close(found.unwrap_or(0.0), expected.unwrap_or(0.0), what);
}

/// Of sorted `waits`, the smallest that the part `q` does not exceed.
fn quantile(waits: &[u64], q: f64) -> f64 {
    let rank = (q * waits.len() as f64).ceil().max(1.0) as usize;
    waits.get(rank - 1).copied().unwrap_or(0) as f64 / SECOND
}

fn mean(of: &[u64]) -> Option<f64> {
    (!of.is_empty()).then(|| of.iter().sum::<u64>() as f64 / of.len() as f64 / SECOND)
}

fn jain(shares: &[f64]) -> Option<f64> {
    let (sum, squares) = (shares.iter().sum::<f64>(), shares.iter().map(|share| share * share).sum::<f64>());
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// What lies between two instants at which something starts, ends or is submitted.
struct Span {
    length: f64,
    /// User by user.
    shares: Vec<f64>,
    waits: Vec<bool>,
}

/// All spans from the first submission on, cut at `horizon` too, whether they begin before it.
fn spans(
    log: &JobLog,
    run: &PolicyRun,
    capacity: &[f64],
    starts: &[Started],
    horizon: u64,
) -> Vec<(bool, Span)> {
    let mut instants: Vec<u64> = starts
        .iter()
        .flat_map(|task| [task.submitted.0, task.start.0, task.end.0])
        .chain([log.tasks[0].submitted.0, horizon])
        .collect();
    instants.sort_unstable();
    instants.dedup();
    let span = |pair: &[u64]| {
        let (from, until) = (pair[0], pair[1]);
        let users = 0..log.users.len();
        let held = |user: usize, resource: usize| -> f64 {
            starts
                .iter()
                .filter(|task| task.user as usize == user && task.start.0 <= from && from < task.end.0)
                .map(|task| log.demands[log.tasks[task.task as usize].demand as usize][resource] as f64)
                .sum()
        };
        let share = |user: usize| {
            let parts = (0..capacity.len()).map(|resource| held(user, resource) / capacity[resource]);
            parts.fold(0.0, f64::max) / f64::from(run.users[user].weight)
        };
        let waits = |user: usize| {
            starts
                .iter()
                .any(|task| task.user as usize == user && task.submitted.0 <= from && from < task.start.0)
        };
        let length = (until - from) as f64;
        let (shares, waits) = (users.clone().map(share).collect(), users.map(waits).collect());
        (from < horizon, Span { length, shares, waits })
    };
    instants.windows(2).map(span).collect()
}

/// Whether `run`, one of those that were `found`, has the statistics of its `starts`.
pub(crate) fn check(log: &JobLog, options: &Options, found: &Found, run: &PolicyRun, starts: &[Started]) {
    let Some(Capacity::Absolute(capacity)) = &options.capacity else { panic!("said in amounts") };
    let capacity: Vec<f64> = capacity.iter().map(|(_, amount)| *amount as f64).collect();
    let first = log.tasks[0].submitted.0;
    let horizon = first + options.scenario.horizon().map_or(log.end().0 - first, |horizon| horizon.0).max(1);

    let wait = |task: &Started| task.start.0 - task.submitted.0;
    let mut waits: Vec<u64> = starts.iter().map(wait).collect();
    waits.sort_unstable();
    // A histogram's value is the true one or up to a thousandth above.
    for (found, q) in [(run.wait_median.0 as f64 / SECOND, 0.5), (run.wait_p99.0 as f64 / SECOND, 0.99)] {
        let exact = quantile(&waits, q);
        assert!(found >= exact - 1e-9 && found <= exact * 1.001 + 1e-9, "{q}: {found}, expected {exact}");
    }
    close(run.wait_max.0 as f64 / SECOND, quantile(&waits, 1.0), "longest");
    let all: u64 = waits.iter().sum();
    let at_first: u64 = starts.iter().filter(|task| task.submitted.0 == first).map(wait).sum();
    close(run.first_instant_part, if all > 0 { at_first as f64 / all as f64 } else { 0.0 }, "of the first");

    let of_user = |user: usize| -> Vec<u64> {
        starts.iter().filter(|task| task.user as usize == user).map(wait).collect()
    };
    let means: Vec<Option<f64>> = (0..log.users.len()).map(|user| mean(&of_user(user))).collect();
    for (user, expected) in run.users.iter().zip(&means) {
        same(user.wait_mean.map(seconds), *expected, "mean wait of a user");
        assert_eq!(user.completion_ratio.is_some(), user.submitted > user.censored);
    }
    let active: Vec<f64> = means.iter().copied().flatten().collect();
    close(
        seconds(run.users_wait_mean),
        active.iter().sum::<f64>() / active.len().max(1) as f64,
        "mean of users",
    );

    let spans = spans(log, run, &capacity, starts, horizon);
    let contended = |span: &Span| span.waits.iter().filter(|waits| **waits).count() >= 2;
    let time = |before: bool| -> f64 {
        let counted = spans.iter().filter(|(early, span)| (*early || !before) && contended(span));
        counted.map(|(_, span)| span.length).sum()
    };
    close(run.contended.0 as f64 / SECOND, time(true) / SECOND, "contended");
    close(run.contended_to_end.0 as f64 / SECOND, time(false) / SECOND, "contended to the end");
    let early = || spans.iter().filter(|(early, _)| *early).map(|(_, span)| span);
    let now: f64 = early()
        .filter(|span| contended(span))
        .map(|span| {
            let shares: Vec<f64> = span
                .shares
                .iter()
                .zip(&span.waits)
                .filter(|(_, waits)| **waits)
                .map(|(share, _)| *share)
                .collect();
            // Who has nothing, among others who have nothing, is their equal.
            jain(&shares).unwrap_or(1.0) * span.length
        })
        .sum();
    same(run.jain_now, (time(true) > 0.0).then(|| now / time(true)), "Jain's index now");
    let held = |user: usize| early().map(|span| span.shares[user] * span.length).sum::<f64>();
    let held: Vec<f64> = (0..log.users.len()).map(|user| held(user) / (horizon - first) as f64).collect();
    for (user, expected) in run.users.iter().zip(&held) {
        close(user.long_run_share, *expected, "long-run share");
    }
    let started: Vec<f64> =
        held.iter().zip(&means).filter(|(_, mean)| mean.is_some()).map(|(held, _)| *held).collect();
    same(run.jain_long_run, jain(&started), "Jain's index in the long run");
    reductions(found, run);
}

/// What is saved, against the baseline.
fn reductions(found: &Found, run: &PolicyRun) {
    let base = found.policies.iter().find(|base| base.policy == PolicyName::Drf).unwrap();
    let change = |before: LongTime, after: LongTime| {
        (run.policy != base.policy && before.0 > 0.0).then(|| after.0 / before.0 - 1.0)
    };
    same(run.wait_mean_change, change(base.wait_mean, run.wait_mean), "change");
    same(run.users_wait_mean_change, change(base.users_wait_mean, run.users_wait_mean), "change of users");
    for (before, after) in base.users.iter().zip(&run.users) {
        let wait = |wait: Option<LongTime>| wait.unwrap_or(LongTime(0.0));
        same(
            after.wait_mean_change,
            change(wait(before.wait_mean), wait(after.wait_mean)),
            "change of a user",
        );
    }
}
