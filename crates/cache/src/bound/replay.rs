//! A schedule followed by the simulator, which must find the total that the model has.

use trueplane_study::Error;
use trueplane_units::Nanos;

use super::problem::{Problem, Scenario};
use super::search::Solution;
use crate::belatedly::{Instance, Schedule};
use crate::engine::{Engine, Shape};
use crate::policy::Replay;
use crate::{NextUse, Outcome};

/// Service of a request under a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServedRequest {
    /// Its index in the trace.
    pub position: usize,
    /// Outcome of the request.
    pub outcome: Outcome,
    /// Its latency, counted or not, in the clock's unit.
    pub wait: Nanos,
    /// The object stays until it is asked for again.
    pub kept: bool,
}

/// Results of the simulator for a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// The total latency of the requests that count, in the clock's unit.
    pub total: u128,
    /// Requests that count and found their object.
    pub hits: u64,
    /// Those that found it on its way.
    pub delayed_hits: u64,
    /// Those that began a fetch.
    pub misses: u64,
    /// All that the schedule keeps found room.
    pub fits: bool,
}

/// The decisions of a schedule in the order of the trace, in their one form: what has no effect (a delayed hit's, and an object's that is
/// never asked for again) keeps nothing, and what must be there keeps its object. O(n).
pub fn decisions(instance: &Instance, schedule: &Schedule) -> Vec<bool> {
    let mut keep = vec![false; instance.requests()];
    for object in 0..instance.objects() {
        let visits = instance.visits(object);
        let bits = &schedule.keep[instance.range(object)];
        let (mut index, mut hit) = (0, false);
        while let Some(visit) = visits.get(index) {
            let next = if hit { index + 1 } else { visit.back as usize };
            hit = next < visits.len() && (bits[index] || !hit && instance.hits_next(object, visit));
            keep[visit.position as usize] = hit;
            index = next;
        }
    }
    keep
}

/// Follows a schedule through the simulator; `scenario` is the one that posed the problem.
pub fn replay(problem: &Problem, scenario: &Scenario, schedule: &Schedule) -> Replayed {
    follow(problem, scenario, &decisions(&problem.instance, schedule), |_| ())
}

/// Follows a schedule whose total is known.
///
/// # Errors
/// If the simulator finds another total, or that the schedule does not fit: then one of the two is wrong, and no bound of theirs should be
/// believed.
pub fn confirm(
    problem: &Problem,
    scenario: &Scenario,
    schedule: &Schedule,
    total: u64,
) -> Result<Replayed, Mismatch> {
    let replayed = replay(problem, scenario, schedule);
    if replayed.fits && replayed.total == u128::from(total) {
        Ok(replayed)
    } else {
        Err(Mismatch { expected: total, found: replayed.total, fits: replayed.fits })
    }
}

/// Results of the simulator for a solution, which confirm it.
///
/// # Errors
/// If the simulator does not find the total that the schedule is said to have, or the lower bound is above it.
pub(crate) fn verified(
    problem: &Problem,
    scenario: &Scenario,
    solution: &Solution,
) -> Result<Replayed, Error> {
    let Solution { lower, upper, ref schedule, .. } = *solution;
    if lower > upper {
        let message = format!("internal error: the lower bound {lower} is above the upper bound {upper}");
        return Err(Error::Internal(message));
    }
    confirm(problem, scenario, schedule, upper).map_err(|mismatch| Error::Internal(mismatch.to_string()))
}

/// The simulator contradicts the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "internal error: the schedule's total latency is {expected}, and the simulator found {found}{}",
    if *fits { "" } else { " and too little room" }
)]
pub struct Mismatch {
    /// The total by the model.
    pub expected: u64,
    /// The total by the simulator.
    pub found: u128,
    /// The simulator had room for all that is kept.
    pub fits: bool,
}

/// Follows decisions, one for each request, and tells of every request.
pub(super) fn follow(
    problem: &Problem,
    scenario: &Scenario,
    keep: &[bool],
    mut tell: impl FnMut(&ServedRequest),
) -> Replayed {
    let terms = &problem.instance.terms;
    let shape = Shape { capacity: terms.capacity, by_bytes: problem.by_bytes, sets: 1 };
    let mut engine = Engine::new(|_| Replay::new(keep, terms.bypass), &shape, scenario.clock);
    let mut replayed = Replayed { fits: true, ..Replayed::default() };
    for (position, request) in problem.requests.iter().enumerate() {
        let index = position as u64;
        let (outcome, wait) =
            engine.request(request, NextUse::UNKNOWN, || scenario.latency.of(request, index));
        let (count, wait) = match outcome {
            Outcome::Hit => (&mut replayed.hits, Nanos(terms.hit_latency)),
            Outcome::Delayed => (&mut replayed.delayed_hits, wait),
            Outcome::Miss => (&mut replayed.misses, wait),
        };
        if index >= terms.warmup {
            *count += 1;
            replayed.total += u128::from(wait.0);
        }
        // What is larger than the cache passes it by, whatever the policy says.
        let oversized = problem.by_bytes && request.size > terms.capacity;
        replayed.fits &= !(keep[position] && oversized);
        tell(&ServedRequest { position, outcome, wait, kept: keep[position] });
    }
    replayed.fits &= engine.policies().all(Replay::fits);
    replayed
}
