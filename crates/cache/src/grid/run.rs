//! Runs a plan over a trace: all cells, batch by batch.

use std::sync::Arc;

use rayon::prelude::*;
use trueplane_study::{Error, Observer};
use trueplane_trace::{CHUNK, Request, Trace, TraceError};

use super::plan::{Plan, base};
use super::resolve::{Resolved, capacities};
use crate::cell::{Batch, Cell, CellResult, ClassicalTally, Conditions, MakeCell, Tally};
use crate::oracle::{Oracle, OracleBuilder};
use crate::policy::{Params, PolicyName, with_policy};
use crate::scan::{Summary, scan};
use crate::start::Start;

/// The tallies of all cells.
pub(super) struct Tallies {
    /// The trace.
    pub(super) summary: Summary,
    /// Lines of the trace that were no requests, by reason, with their number.
    pub(super) skipped: Vec<(String, u64)>,
    /// The capacities, in the order of the plan.
    pub(super) capacities: Vec<Resolved>,
    refined: Vec<Tally>,
    classical: Vec<ClassicalTally>,
    policies: Vec<PolicyName>,
    bases: Vec<PolicyName>,
    latencies: usize,
}

impl Tallies {
    /// Result of a policy at a capacity and a latency under the delayed-hits model, all by index into the plan.
    pub(super) fn refined(&self, policy: usize, capacity: usize, latency: usize) -> &Tally {
        &self.refined[(capacity * self.latencies + latency) * self.policies.len() + policy]
    }

    /// Result of a policy at a capacity under the classical model, by index into the plan.
    pub(super) fn classical(&self, policy: usize, capacity: usize) -> &ClassicalTally {
        let base = base(self.policies[policy]);
        let index =
            self.bases.iter().position(|other| *other == base).expect("the base of every policy was run");
        &self.classical[capacity * self.bases.len() + index]
    }
}

/// A trace, or its start, in memory.
#[derive(Clone, Copy)]
pub struct Held<'a> {
    /// The requests, in the order of the trace.
    pub requests: &'a [Request],
    /// Size, span and burstiness of the trace.
    pub summary: &'a Summary,
    /// Lines of the trace that were no requests, by reason, with their number.
    pub skipped: &'a [(String, u64)],
}

/// Simulates everything that the plan asks for.
///
/// Deterministic, whatever the number of threads. Memory: proportional to the objects of the trace, and to its requests
/// only if there is an offline policy.
///
/// # Errors
/// If the trace cannot be read, has no requests, or does not fit the plan; if the observer interrupts.
pub(super) fn run(trace: &Trace, plan: &Plan, observer: &dyn Observer) -> Result<Tallies, Error> {
    let survey = survey(trace, plan, observer)?;
    let mut reader = trace.reader(plan.clock)?;
    simulate(trace, plan, survey, |requests| reader.next_chunk(requests), observer)
}

/// Like [`run`], over requests of `trace` that are in memory.
///
/// # Errors
/// If the trace does not fit the plan; if the observer interrupts.
pub(super) fn run_held(
    trace: &Trace,
    held: Held<'_>,
    plan: &Plan,
    observer: &dyn Observer,
) -> Result<Tallies, Error> {
    let mut oracle = foresight(plan);
    for chunk in held.requests.chunks(CHUNK) {
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        foresee(&mut oracle, chunk)?;
    }
    let survey = Survey {
        summary: held.summary.clone(),
        skipped: held.skipped.to_vec(),
        warmup: Start::of(plan.warmup, held.requests, held.summary),
        oracle: oracle.map(|oracle| oracle.finish(observer)).transpose()?,
    };
    let mut chunks = held.requests.chunks(CHUNK);
    let next = |requests: &mut Vec<Request>| {
        requests.clear();
        let chunk = chunks.next();
        requests.extend_from_slice(chunk.unwrap_or_default());
        Ok(chunk.is_some())
    };
    simulate(trace, plan, survey, next, observer)
}

/// Simulates what the plan asks for on what `next` hands over, chunk by chunk until there is no more.
fn simulate(
    trace: &Trace,
    plan: &Plan,
    survey: Survey,
    next: impl FnMut(&mut Vec<Request>) -> Result<bool, TraceError> + Send,
    observer: &dyn Observer,
) -> Result<Tallies, Error> {
    let capacities = capacities(trace, &survey.summary, plan, survey.warmup)?;
    let mut cells = cells(plan, &capacities, &survey);
    observer.stage("simulating", survey.summary.requests * cells.len() as u64);
    feed(trace, next, &survey, &mut cells, observer)?;

    let (mut refined, mut classical) = (Vec::new(), Vec::new());
    for cell in cells {
        match cell.result() {
            CellResult::Refined(tally) => refined.push(tally),
            CellResult::Classical(tally) => classical.push(tally),
        }
    }
    Ok(Tallies {
        summary: survey.summary,
        skipped: survey.skipped,
        capacities,
        refined,
        classical,
        policies: plan.policies.clone(),
        bases: plan.bases(),
        latencies: plan.latencies.len(),
    })
}

/// Results of the first pass over the trace.
struct Survey {
    summary: Summary,
    skipped: Vec<(String, u64)>,
    /// Requests at the start that do not count.
    warmup: u64,
    oracle: Option<Oracle>,
}

fn survey(trace: &Trace, plan: &Plan, observer: &dyn Observer) -> Result<Survey, Error> {
    let mut oracle = foresight(plan);
    let mut start = Start::new(plan.warmup);
    let tell = |requests: &[Request]| {
        start.push(requests);
        foresee(&mut oracle, requests)
    };
    let (summary, skipped) = scan(trace, plan.clock, observer, tell)?;
    let warmup = start.requests(&summary);
    Ok(Survey { summary, skipped, warmup, oracle: oracle.map(|oracle| oracle.finish(observer)).transpose()? })
}

/// An oracle to be, if a policy needs one.
fn foresight(plan: &Plan) -> Option<OracleBuilder> {
    let needed = plan.policies.iter().any(|policy| policy.properties().offline);
    needed.then(|| OracleBuilder::new(plan.latencies.clone()))
}

/// Tells the oracle, if there is one, the trace's next requests.
fn foresee(oracle: &mut Option<OracleBuilder>, requests: &[Request]) -> Result<(), Error> {
    match oracle {
        Some(oracle) => oracle.push(requests).map_err(|error| Error::Parameters(error.to_string())),
        None => Ok(()),
    }
}

/// All cells of the grid: for every capacity the classical model, then every latency, each with every policy.
fn cells(plan: &Plan, capacities: &[Resolved], survey: &Survey) -> Vec<Box<dyn Cell>> {
    let summary = &survey.summary;
    let conditions = Arc::new(Conditions {
        latencies: plan.latencies.clone(),
        hit_latency: plan.hit_latency,
        warmup: survey.warmup,
        clock: plan.clock,
    });
    let mut cells = Vec::new();
    for Resolved { shape, .. } in capacities {
        let capacity = shape.capacity / shape.sets as u64;
        let mean_size =
            if shape.by_bytes { (summary.footprint_bytes / summary.objects.max(1)).max(1) } else { 1 };
        let params = Params {
            objects: (capacity / mean_size).clamp(1, summary.objects.max(1)),
            mad_memory: plan.mad_memory,
            search: plan.search,
            window: plan.window,
            seed: plan.seed,
        };
        let mut push = |policies: &[PolicyName], latency| {
            let make = || MakeCell { shape, conditions: &conditions, latency };
            cells.extend(policies.iter().map(|&policy| with_policy(policy, params, make())));
        };
        push(&plan.bases(), None);
        (0..plan.latencies.len()).for_each(|latency| push(&plan.policies, Some(latency)));
    }
    cells
}

/// Serves all cells what `next` hands over, while it gets the following chunk.
fn feed(
    trace: &Trace,
    mut next: impl FnMut(&mut Vec<Request>) -> Result<bool, TraceError> + Send,
    survey: &Survey,
    cells: &mut [Box<dyn Cell>],
    observer: &dyn Observer,
) -> Result<(), Error> {
    let (mut current, mut following) = (Vec::new(), Vec::new());
    let mut first = 0;
    let mut more = next(&mut current)?;
    while more {
        let served = first + current.len() as u64;
        if served > survey.summary.requests {
            return Err(changed(trace));
        }
        let batch = Batch { requests: &current, first, oracle: survey.oracle.as_ref() };
        let serve = |cell: &mut Box<dyn Cell>| {
            if !observer.interrupted() {
                cell.serve(batch);
                observer.advance(batch.requests.len() as u64);
            }
        };
        let (read, ()) = rayon::join(|| next(&mut following), || cells.par_iter_mut().for_each(serve));
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        more = read?;
        first = served;
        std::mem::swap(&mut current, &mut following);
    }
    if first == survey.summary.requests { Ok(()) } else { Err(changed(trace)) }
}

fn changed(trace: &Trace) -> Error {
    Error::Parameters(format!("{}: the trace changed while it was read; study a copy of it", trace.name()))
}
