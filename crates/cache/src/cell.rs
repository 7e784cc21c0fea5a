//! One cell of a grid: a policy, a capacity and a latency, fed with one batch of requests after another.
//!
//! Cells are independent of each other, so that they run on any number of threads with the same result.

use std::sync::Arc;

use trueplane_study::metrics::Distribution;
use trueplane_trace::{Clock, Request};
use trueplane_units::Nanos;

use crate::engine::{Engine, Shape};
use crate::latency::Latency;
use crate::oracle::Oracle;
use crate::policy::WithPolicy;
use crate::{NextUse, Outcome, Policy};

/// Consecutive requests of the trace.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// The requests …
    pub requests: &'a [Request],
    /// … of which the first is the so-many-eth of the trace.
    pub first: u64,
    /// The future, for the policies that need it.
    pub oracle: Option<&'a Oracle>,
}

/// Conditions that the cells of a grid have in common.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// The latencies of the grid.
    pub latencies: Vec<Latency>,
    /// Latency of a hit.
    pub hit_latency: Nanos,
    /// Number of requests at the start of the trace that do not count.
    pub warmup: u64,
    /// Meaning of the times of requests.
    pub clock: Clock,
}

/// Counts and latencies under the delayed-hits model, of the requests that count.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Requests for resident objects.
    pub hits: u64,
    /// Requests for objects on their way.
    pub delayed_hits: u64,
    /// Requests that began a fetch.
    pub misses: u64,
    /// The latency of every request.
    pub latency: Distribution,
}

/// Counts under the classical model, in which objects are resident as soon as they are requested.
#[derive(Clone, Debug, Default)]
pub struct ClassicalTally {
    /// Requests for resident objects.
    pub hits: u64,
    /// hits × hit latency + the fetch times of the misses, under each latency of the grid.
    pub latency_totals: Vec<u128>,
}

/// A simulation in progress.
pub trait Cell: Send {
    /// Serves the next requests.
    fn serve(&mut self, batch: Batch<'_>);

    /// The tally of the simulation.
    fn result(self: Box<Self>) -> CellResult;
}

/// Result of a cell.
pub enum CellResult {
    /// Result under the delayed-hits model.
    Refined(Tally),
    /// Result under the classical model.
    Classical(ClassicalTally),
}

/// Makes a cell for a policy: under the delayed-hits model with the `latency`-th latency, or under the classical one.
pub struct MakeCell<'a> {
    /// The cache.
    pub shape: &'a Shape,
    /// The grid's common conditions.
    pub conditions: &'a Arc<Conditions>,
    /// Index of the latency; none: the classical model.
    pub latency: Option<usize>,
}

impl WithPolicy for MakeCell<'_> {
    type Output = Box<dyn Cell>;

    fn with<P: Policy + Send + 'static>(self, make: impl Fn(u64) -> P) -> Box<dyn Cell> {
        let conditions = self.conditions.clone();
        let engine = Engine::new(make, self.shape, conditions.clock);
        match self.latency {
            Some(latency) => Box::new(Refined { engine, conditions, latency, tally: Tally::default() }),
            None => {
                let latency_totals = vec![0; conditions.latencies.len()];
                let tally = ClassicalTally { latency_totals, ..ClassicalTally::default() };
                Box::new(Classical { engine, conditions, tally })
            }
        }
    }
}

struct Refined<P> {
    engine: Engine<P>,
    conditions: Arc<Conditions>,
    latency: usize,
    tally: Tally,
}

impl<P: Policy + Send> Cell for Refined<P> {
    fn serve(&mut self, batch: Batch<'_>) {
        let Conditions { latencies, hit_latency, warmup, .. } = &*self.conditions;
        let latency = &latencies[self.latency];
        let tally = &mut self.tally;
        for (index, request) in (batch.first..).zip(batch.requests) {
            let future =
                batch.oracle.map_or(NextUse::UNKNOWN, |oracle| oracle.future(index, Some(self.latency)));
            let (outcome, wait) = self.engine.request(request, future, || latency.of(request, index));
            if index < *warmup {
                continue;
            }
            let (count, wait) = match outcome {
                Outcome::Hit => (&mut tally.hits, *hit_latency),
                Outcome::Delayed => (&mut tally.delayed_hits, wait),
                Outcome::Miss => (&mut tally.misses, wait),
            };
            *count += 1;
            tally.latency.record(wait.0);
        }
    }

    fn result(self: Box<Self>) -> CellResult {
        CellResult::Refined(self.tally)
    }
}

struct Classical<P> {
    engine: Engine<P>,
    conditions: Arc<Conditions>,
    tally: ClassicalTally,
}

impl<P: Policy + Send> Cell for Classical<P> {
    fn serve(&mut self, batch: Batch<'_>) {
        let Conditions { latencies, hit_latency, warmup, .. } = &*self.conditions;
        let ClassicalTally { hits, latency_totals } = &mut self.tally;
        for (index, request) in (batch.first..).zip(batch.requests) {
            let future = batch.oracle.map_or(NextUse::UNKNOWN, |oracle| oracle.future(index, None));
            let (outcome, _) = self.engine.request(request, future, || Nanos(0));
            if index < *warmup {
                continue;
            }
            let hit = outcome == Outcome::Hit;
            *hits += u64::from(hit);
            for (total, latency) in latency_totals.iter_mut().zip(latencies) {
                *total += u128::from(if hit { *hit_latency } else { latency.of(request, index) }.0);
            }
        }
    }

    fn result(self: Box<Self>) -> CellResult {
        CellResult::Classical(self.tally)
    }
}
