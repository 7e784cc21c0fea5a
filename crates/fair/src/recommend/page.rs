//! What people see of `fair recommend`: facts and tables.

use trueplane_study::report::Cell;
use trueplane_study::{Measured, Page};
use trueplane_units::{LongTime, Percent};

use super::configuration::lines;
use super::found::{Candidate, Found, Tenant, Tenants};
use crate::facts::ResourceFacts;
use crate::outcome::PolicyRun;
use crate::policy::PolicyName;
use crate::span::Span;
use crate::words::{change, long};

pub(super) fn present(found: &Found, page: &mut Page) {
    found.log.present(page);
    page.fact("cluster", "cluster_size", found.capacity.in_words());
    page.fact("horizon", "horizon_ns", long(found.horizon));
    page.fact("tasks larger than the cluster", "skipped", found.baseline.skipped);
    page.fact("compared with", "baseline", Cell::name(PolicyName::Drf));
    let best = found.recommended();
    page.fact("recommended", "recommended", best.map(|one| Cell::name(one.policy)));
    page.fact(
        "half-life",
        "recommended_half_life_ns",
        best.and_then(|one| one.half_life).map(|of| long(of.get())),
    );
    page.numbers(
        "mean wait of users",
        "users_wait_mean_ns",
        found.baseline.users_wait_mean,
        best.map(|one| one.run.users_wait_mean),
        found.logged_wait_mean().map_or(Measured::Needs("a log that records when tasks started"), |wait| {
            Measured::Is(wait.into())
        }),
    );
    candidates(found, page);
    extremes(found, page);
    configuration(found, page);
    gains(found, page);
    tenants(found, page);
    ResourceFacts::present(&found.cluster, page);
    found.log.present_odd_tasks(page);
}

fn half_life(span: Option<Span>) -> Option<LongTime> {
    span.map(|span| long(span.get()))
}

/// A scheduler in the table of candidates.
struct Row<'a> {
    policy: PolicyName,
    half_life: Option<Span>,
    run: &'a PolicyRun,
    candidate: Option<&'a Candidate>,
}

fn candidates(found: &Found, page: &mut Page) {
    let drf = Row { policy: PolicyName::Drf, half_life: None, run: &found.baseline, candidate: None };
    let others = found.candidates.iter().map(|one| Row {
        policy: one.policy,
        half_life: one.half_life,
        run: &one.run,
        candidate: Some(one),
    });
    let rows: Vec<Row<'_>> = std::iter::once(drf).chain(others).collect();
    let best = found.recommended();
    let is_best =
        |row: &Row<'_>| best.is_some_and(|best| (best.policy, best.half_life) == (row.policy, row.half_life));
    page.table("half-lives", "Schedulers and half-lives; changes against drf", rows)
        .col("scheduler", "policy", |row| row.policy.name())
        .col("half-life", "half_life_ns", |row| half_life(row.half_life))
        .col("mean wait of users", "users_wait_mean_ns", |row| row.run.users_wait_mean)
        .col("change", "users_wait_mean_change", |row| change(row.run.users_wait_mean_change))
        .col("wait less", "users_wait_less", |row| row.candidate.map(|one| one.against.users_wait_less))
        .col("longer", "users_wait_more", |row| row.candidate.map(|one| one.against.users_wait_more))
        .col("of all tasks", "wait_mean_ns", |row| row.run.wait_mean)
        .col("p99", "wait_p99_ns", |row| long(row.run.wait_p99))
        .col("Jain's index now", "jain_now", |row| row.run.jain_now)
        .col("in the long run", "jain_long_run", |row| row.run.jain_long_run)
        .col("idle", "idle", |row| Percent(Found::idle(row.run)))
        .mark(|row| is_best(row).then_some("recommended"));
}

/// The users under one scheduler, if that was run a second time.
fn under(found: &Found, policy: PolicyName, half_life: Option<Span>) -> Option<&Tenants> {
    found.tenants.iter().find(|of| (of.policy, of.half_life) == (policy, half_life))
}

/// The candidate that users are shown under: the one to recommend, or else the one that saves most.
fn shown(found: &Found) -> Option<&Candidate> {
    found.recommended().or_else(|| found.best().first().copied())
}

/// Users in the order of how much shorter their mean wait is under the candidate that is shown than under drf.
fn by_gain(found: &Found) -> Vec<usize> {
    let mut order: Vec<usize> = (0..found.log.users as usize).collect();
    let by = shown(found).and_then(|one| under(found, one.policy, one.half_life));
    if let (Some(drf), Some(by)) = (under(found, PolicyName::Drf, None), by) {
        let wait = |of: &Tenants, index: usize| of.users[index].wait_mean.map_or(0.0, |wait| wait.0);
        let longer = |index: &usize| wait(by, *index) - wait(drf, *index);
        order.sort_by(|a, b| longer(a).total_cmp(&longer(b)));
    }
    order
}

/// So many users who gain most are shown on the terminal, and as many who lose most.
const MOST: usize = 8;

fn extremes(found: &Found, page: &mut Page) {
    let (Some(one), Some(drf)) = (shown(found), under(found, PolicyName::Drf, None)) else { return };
    let Some(users) = under(found, one.policy, one.half_life) else { return };
    let order = by_gain(found);
    let count = order.len();
    let rows = order.into_iter().enumerate().filter(|(rank, _)| *rank < MOST || rank + MOST >= count);
    let rows = rows.map(|(_, index)| (&drf.users[index], &users.users[index]));
    let name = one.name();
    let title = if count > 2 * MOST {
        format!("Who gains and who loses most under {name}, {MOST} users each")
    } else {
        format!("Users under drf and under {name}")
    };
    type Pair<'a> = (&'a Tenant, &'a Tenant);
    page.table("winners-and-losers", title, rows)
        .col("user", "user", |(_, user): &Pair<'_>| user.user.as_str())
        .col("tasks", "tasks", |(_, user)| user.tasks)
        .col("entitled to", "entitlement", |(_, user)| Percent(user.entitlement))
        .col("had", "long_run_share", |(_, user)| Percent(user.share))
        .col("mean wait under drf", "drf_wait_mean_ns", |(drf, _)| drf.wait_mean)
        .col("p95", "drf_wait_p95_ns", |(drf, _)| drf.wait_p95.map(long))
        .col("mean wait", "wait_mean_ns", |(_, user)| user.wait_mean)
        .col("p95", "wait_p95_ns", |(_, user)| user.wait_p95.map(long))
        .col("change", "wait_mean_change", |(_, user)| change(user.wait_mean_change))
        .col("in the log", "logged_wait_mean_ns", |(_, user)| user.logged_wait_mean)
        .when_any()
        .whole();
}

fn tenants(found: &Found, page: &mut Page) {
    let rows = by_gain(found)
        .into_iter()
        .flat_map(|index| found.tenants.iter().map(move |of| (of, &of.users[index])));
    type Shown<'a> = (&'a Tenants, &'a Tenant);
    page.table("tenants", "All users under drf and under the best half-life of every scheduler", rows)
        .col("user", "user", |(_, user): &Shown<'_>| user.user.as_str())
        .col("scheduler", "policy", |(of, _)| of.policy.name())
        .col("half-life", "half_life_ns", |(of, _)| half_life(of.half_life))
        .col("tasks", "tasks", |(_, user)| user.tasks)
        .col("entitled to", "entitlement", |(_, user)| Percent(user.entitlement))
        .col("had", "long_run_share", |(_, user)| Percent(user.share))
        .col("mean wait", "wait_mean_ns", |(_, user)| user.wait_mean)
        .col("change", "wait_mean_change", |(of, user)| match of.policy {
            PolicyName::Drf => Cell::Missing,
            _ => change(user.wait_mean_change),
        })
        .col("p95", "wait_p95_ns", |(_, user)| user.wait_p95.map(long))
        .col("in the log", "logged_wait_mean_ns", |(_, user)| user.logged_wait_mean)
        .when_any()
        .detail();
}

fn gains(found: &Found, page: &mut Page) {
    page.table("gains", "Users who wait less than under drf, and users who wait longer", found.best())
        .col("scheduler", "policy", |one| one.policy.name())
        .col("half-life", "half_life_ns", |one| half_life(one.half_life))
        .col("wait less", "users_wait_less", |one| one.against.users_wait_less)
        .col("wait", "gainers_wait_mean_ns", |one| one.against.gainers.wait_mean)
        .col("instead of", "gainers_baseline_wait_mean_ns", |one| one.against.gainers.baseline_wait_mean)
        .col("most", "gains_most", |one| one.against.gains_most.as_ref().map(|of| of.user.clone()))
        .col("wait longer", "users_wait_more", |one| one.against.users_wait_more)
        .col("wait", "losers_wait_mean_ns", |one| one.against.losers.wait_mean)
        .col("instead of", "losers_baseline_wait_mean_ns", |one| one.against.losers.baseline_wait_mean)
        .col("most", "loses_most", |one| one.against.loses_most.as_ref().map(|of| of.user.clone()));
}

fn configuration(found: &Found, page: &mut Page) {
    let lines = lines(found);
    if !lines.is_empty() {
        page.table("configuration", "Lines to configure", lines)
            .col("system", "system", |line| line.system)
            .col("where", "place", |line| line.place)
            .col("line", "line", |line| line.line.clone())
            .whole();
    }
}
