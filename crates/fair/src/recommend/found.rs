//! The rows of `fair recommend`.

use trueplane_units::{LongTime, Nanos, Value as _};

use crate::capacity::Capacity;
use crate::comparison::{Comparison, WORTH};
use crate::facts::{LogFacts, ResourceFacts};
use crate::outcome::PolicyRun;
use crate::policy::PolicyName;
use crate::span::Span;

/// Findings on one log.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Log that was run.
    pub log: LogFacts,
    /// Size of the cluster as it was asked for, or by default.
    pub capacity: Capacity,
    /// Resources of the cluster.
    pub cluster: Vec<ResourceFacts>,
    /// Time after the first submission up to which shares and use are counted.
    pub horizon: Nanos,
    /// drf, which the others are compared with.
    pub baseline: PolicyRun,
    /// fifo, and every scheduler with every half-life.
    pub candidates: Vec<Candidate>,
    /// drf, and the best half-life of every scheduler, user by user.
    pub tenants: Vec<Tenants>,
}

/// A scheduler with a half-life, or without memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Policy that was run.
    pub policy: PolicyName,
    /// Half-life of what it remembers.
    pub half_life: Option<Span>,
    /// The run.
    pub run: PolicyRun,
    /// Gains and losses against drf.
    pub against: Comparison,
}

/// The users under one scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct Tenants {
    /// Policy that was run.
    pub policy: PolicyName,
    /// Half-life of what it remembers.
    pub half_life: Option<Span>,
    /// Users, in the order of the log.
    pub users: Vec<Tenant>,
}

/// A user under one scheduler.
#[derive(Clone, Debug, PartialEq)]
pub struct Tenant {
    /// Name of the user.
    pub user: String,
    /// Number of tasks that started.
    pub tasks: u64,
    /// Part of the cluster that the user is entitled to: weight over all weights.
    pub entitlement: f64,
    /// Mean dominant share of the cluster from the first submission to the horizon.
    pub share: f64,
    /// Mean wait of the tasks that started; none if none did.
    pub wait_mean: Option<LongTime>,
    /// Wait that 95% of them did not exceed.
    pub wait_p95: Option<Nanos>,
    /// Change of the mean wait against drf; none if the user did not wait there.
    pub wait_mean_change: Option<f64>,
    /// Mean wait that the log itself records, if it does.
    pub logged_wait_mean: Option<LongTime>,
}

impl Candidate {
    /// Part of the mean wait of users that it saves; below zero if they wait longer. None if nobody waits under drf.
    pub fn saved(&self) -> Option<f64> {
        self.run.users_wait_mean_change.map(|change| -change)
    }

    /// Whether it can be recommended: it saves a part that is worth it, no more users lose than gain, and all tasks together wait no longer.
    pub fn helps(&self) -> bool {
        self.saved().is_some_and(|saved| saved >= WORTH) && self.against.costs_no_more()
    }

    /// The name for people: `sdrf with a half-life of 7d`.
    pub fn name(&self) -> String {
        match self.half_life {
            Some(half_life) => format!("{} with a half-life of {}", self.policy, half_life.show()),
            None => self.policy.to_string(),
        }
    }
}

impl Found {
    /// The half-life of `policy` that saves most among those that help, or else among all; of equal ones the shortest.
    pub fn best_of(&self, policy: PolicyName) -> Option<&Candidate> {
        let of_policy =
            || self.candidates.iter().filter(move |one| one.policy == policy && one.half_life.is_some());
        best(of_policy().filter(|one| one.helps())).or_else(|| best(of_policy()))
    }

    /// The candidate to recommend: of those that help, the one that saves most.
    pub fn recommended(&self) -> Option<&Candidate> {
        best(self.candidates.iter().filter(|one| one.half_life.is_some() && one.helps()))
    }

    /// The best half-life of every scheduler, what saves most first.
    pub fn best(&self) -> Vec<&Candidate> {
        let mut found: Vec<&Candidate> =
            self.schedulers().into_iter().filter_map(|policy| self.best_of(policy)).collect();
        let saved = |one: &Candidate| one.saved().unwrap_or(f64::NEG_INFINITY);
        found.sort_by(|a, b| saved(b).total_cmp(&saved(a)));
        found
    }

    /// The mean over users of the mean wait that the log records, if it does.
    pub fn logged_wait_mean(&self) -> Option<LongTime> {
        let users = self.tenants.first()?.users.iter();
        let waits: Vec<f64> = users.filter_map(|user| Some(user.logged_wait_mean?.0)).collect();
        (!waits.is_empty()).then(|| LongTime(waits.iter().sum::<f64>() / waits.len() as f64))
    }

    /// The schedulers that were tried with half-lives.
    pub fn schedulers(&self) -> Vec<PolicyName> {
        let mut found = Vec::new();
        for one in self.candidates.iter().filter(|one| one.half_life.is_some()) {
            if !found.contains(&one.policy) {
                found.push(one.policy);
            }
        }
        found
    }

    /// The part of the resource that is used most which stays idle under `run`, up to the horizon.
    pub fn idle(run: &PolicyRun) -> f64 {
        1.0 - run.utilization.iter().copied().fold(0.0, f64::max)
    }
}

/// The candidate that saves most; of equal ones the first, whose half-life is the shortest.
fn best<'a>(candidates: impl Iterator<Item = &'a Candidate>) -> Option<&'a Candidate> {
    let known = candidates.filter_map(|one| Some((one, one.run.users_wait_mean_change?)));
    known.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(one, _)| one)
}
