//! Runs a log under every scheduler with every half-life.

use trueplane_study::{Error, Observer, cases};
use trueplane_units::{LongTime, Nanos};

use super::found::{Candidate, Found, Tenant, Tenants};
use super::options::Options;
use crate::Memory;
use crate::capacity::Capacity;
use crate::comparison::compare;
use crate::engine::Started;
use crate::facts::{LogFacts, ResourceFacts};
use crate::order::make;
use crate::outcome::{PolicyRun, change, summary};
use crate::policy::PolicyName;
use crate::setup::Setup;
use crate::span::Span;
use crate::tally::Sink;
use crate::weights::UserWeights;
use crate::workload::JobLog;

/// The part of waits that the second number of every user covers.
const P95: f64 = 0.95;

/// A scheduler to run.
type Case = (PolicyName, Option<Span>);

/// Runs `log` under drf, fifo, and every policy of `options` with every half-life, in parallel; then once more under drf and the best half-life of
/// every policy, to keep the waits of every user. Each run goes from the first submission to the end of the last task.
///
/// Deterministic, whatever the number of threads. Memory for every thread: 16 bytes for each task that waits or runs, and 8 for each task in the
/// second round.
///
/// # Errors
///
/// The log is empty or does not fit the capacity or the weights, a policy has no half-life, or the observer interrupts.
pub fn on_log(
    log: &JobLog,
    weights: &UserWeights,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Found, Error> {
    if let Some(policy) = options.policies.iter().find(|policy| !policy.properties().decaying) {
        let with: Vec<&str> = decaying().map(PolicyName::name).collect();
        let problem =
            format!("--policies: expected policies with a half-life ({}), got {policy}", with.join(", "));
        return Err(Error::Parameters(problem));
    }
    let capacity = Capacity::of(options.capacity.as_ref(), log);
    let unhindered = log.unhindered();
    let scenario = &options.scenario;
    let setup = Setup::new(log, &unhindered, &capacity, weights, scenario.horizon(), scenario.backfill)?;
    let mut half_lives = options.half_life.distinct();
    half_lives.sort_by_key(|half_life| half_life.get());
    let with_memory = options
        .policies
        .iter()
        .flat_map(|&policy| half_lives.iter().map(move |&half_life| (policy, Some(half_life))));
    let runs: Vec<Case> =
        [(PolicyName::Drf, None), (PolicyName::Fifo, None)].into_iter().chain(with_memory).collect();
    observer.stage("trying half-lives", log.tasks.len() as u64 * runs.len() as u64);
    let mut done = cases::over(&runs, observer, |&case| one_run(&setup, case, None, observer))?.into_iter();
    let Some(baseline) = done.next() else { return Err(Error::Interrupted) };
    let candidates = runs[1..].iter().zip(done).map(|(&(policy, half_life), run)| {
        let against = compare(&baseline, &run);
        let run = PolicyRun {
            wait_mean_change: change(baseline.wait_mean, run.wait_mean),
            users_wait_mean_change: change(baseline.users_wait_mean, run.users_wait_mean),
            ..run
        };
        Candidate { policy, half_life, run, against }
    });
    let mut found = Found {
        capacity,
        log: LogFacts::of(log, &unhindered),
        cluster: ResourceFacts::of(&setup),
        horizon: setup.span(),
        candidates: candidates.collect(),
        baseline,
        tenants: Vec::new(),
    };
    found.tenants = tenants(&setup, &found, observer)?;
    Ok(found)
}

/// The policies with a half-life.
fn decaying() -> impl Iterator<Item = PolicyName> {
    PolicyName::ALL.iter().copied().filter(|policy| policy.properties().decaying)
}

/// Runs one scheduler, and tells the tasks that start to `sink`.
fn one_run(
    setup: &Setup<'_>,
    (policy, half_life): Case,
    sink: Option<Sink<'_>>,
    observer: &dyn Observer,
) -> Result<PolicyRun, Error> {
    let memory = half_life.map(|half_life| Memory::half_life(half_life.get())).transpose();
    let memory = memory.map_err(|error| Error::Parameters(format!("--half-life: {error}")))?;
    let order = make(policy, &setup.cluster, &setup.pool.scale, memory.unwrap_or_default())?;
    Ok(summary(policy, setup, setup.run(order, sink, observer)?).0)
}

/// drf and the best half-life of every policy, user by user.
fn tenants(setup: &Setup<'_>, found: &Found, observer: &dyn Observer) -> Result<Vec<Tenants>, Error> {
    let best = found.best().into_iter();
    let shown: Vec<Case> =
        std::iter::once((PolicyName::Drf, None)).chain(best.map(|one| (one.policy, one.half_life))).collect();
    observer.stage("looking at every user", found.log.tasks * shown.len() as u64);
    let logged = logged_waits(setup.pool.log());
    cases::over(&shown, observer, |&case| {
        let mut waits = vec![Vec::new(); setup.cluster.users()];
        let keep = |task: &Started| {
            waits[task.user as usize].push(task.start.since(task.submitted).0);
            Ok(())
        };
        let run = one_run(setup, case, Some(Box::new(keep)), observer)?;
        let weights: f64 = run.users.iter().map(|user| f64::from(user.weight)).sum();
        let users = run.users.into_iter().zip(waits).zip(&found.baseline.users).enumerate();
        let users = users.map(|(index, ((user, mut waits), before))| Tenant {
            tasks: waits.len() as u64,
            entitlement: f64::from(user.weight) / weights,
            share: user.long_run_share * f64::from(user.weight),
            wait_mean_change: before
                .wait_mean
                .zip(user.wait_mean)
                .and_then(|(before, after)| change(before, after)),
            wait_mean: user.wait_mean,
            wait_p95: quantile(&mut waits, P95),
            logged_wait_mean: logged.get(index).copied().flatten(),
            user: user.user,
        });
        Ok(Tenants { policy: case.0, half_life: case.1, users: users.collect() })
    })
}

/// The wait that a part of all did not exceed: the smallest of which that is true.
fn quantile(waits: &mut [u64], part: f64) -> Option<Nanos> {
    let rank = (part * waits.len() as f64).ceil() as usize;
    let place = rank.checked_sub(1)?;
    Some(Nanos(*waits.select_nth_unstable(place).1))
}

/// The mean wait of every user that the log records; empty if it records none.
fn logged_waits(log: &JobLog) -> Vec<Option<LongTime>> {
    if log.started.is_empty() {
        return Vec::new();
    }
    let mut sums = vec![(0u128, 0u64); log.users.len()];
    for (task, &start) in log.tasks.iter().zip(&log.started) {
        let (sum, count) = &mut sums[task.user as usize];
        *sum += u128::from(start.since(task.submitted).0);
        *count += 1;
    }
    let mean = |(sum, count)| (count > 0).then(|| LongTime(trueplane_study::metrics::ratio(sum, count)));
    sums.into_iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_a_wait_that_so_many_do_not_exceed() {
        let of = |waits: &[u64]| quantile(&mut waits.to_vec(), P95);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7]), Some(Nanos(7)));
        let many: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(of(&many), Some(Nanos(95)));
        assert_eq!(of(&many[..20]), Some(Nanos(99)), "19 of 81 to 100");
    }
}
