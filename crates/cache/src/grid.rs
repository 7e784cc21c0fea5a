//! Runs a grid of policies, capacities and latencies over one trace.
//!
//! The trace is read twice and never held: a first pass sums it up (and tells the oracle the future, if an offline policy
//! is asked for), a second one feeds all cells batch by batch, on all cores, while the next batch is being read. Who holds
//! it anyway, all or its start, hands it over as it is ([`run_held`]).

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use rayon::prelude::*;
use trueplane_study::{Error, Observer};
use trueplane_trace::{CHUNK, Clock, Request, Trace, TraceError};
use trueplane_units::{Bytes, Nanos, scale_share};

use crate::LARGEST_CAPACITY;
use crate::cell::{Batch, Cell, CellResult, ClassicalTally, Conditions, MakeCell, Tally};
use crate::engine::Shape;
use crate::latency::Latency;
use crate::oracle::{Oracle, OracleBuilder};
use crate::policy::{MadMemory, Params, PolicyName, Search, Window, with_policy};
use crate::scan::{Summary, scan};

/// How large a cache is, as people say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// So many objects.
    Objects(u64),
    /// So many millionths of the largest number of objects that are active at once.
    Share(u64),
    /// So many bytes.
    Bytes(Bytes),
}

/// Not a capacity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a capacity above zero, up to 1EiB, such as 5000 (objects), 5% or 0.05 (of the peak of active objects) or 256MiB (units: B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), got \"{0}\""
)]
pub struct ParseCapacityError(String);

/// Whether a cache can be as large as this.
fn possible(capacity: u64) -> bool {
    (1..=LARGEST_CAPACITY).contains(&capacity)
}

impl FromStr for Capacity {
    type Err = ParseCapacityError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = if let Some(share) = scale_share(text, 1_000_000) {
            possible(share).then_some(Capacity::Share(share))
        } else if let Ok(objects) = text.parse() {
            possible(objects).then_some(Capacity::Objects(objects))
        } else {
            text.parse().ok().filter(|&Bytes(bytes)| possible(bytes)).map(Capacity::Bytes)
        };
        parsed.ok_or_else(|| ParseCapacityError(text.to_owned()))
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Capacity::Objects(objects) => write!(f, "{objects}"),
            Capacity::Share(share) => write!(f, "{}%", *share as f64 / 10_000.0),
            Capacity::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

/// More sets than these would take gigabytes before the first request.
const MOST_SETS: usize = 1 << 22;

/// LHD keeps 12 KiB of what it has learnt for every set.
const FEWEST_WAYS_TO_LEARN_FROM: u64 = 16;

/// What to simulate.
#[derive(Clone, Debug)]
pub struct Options {
    /// The policies, in the order of the report.
    pub policies: Vec<PolicyName>,
    /// The latencies of the grid.
    pub latencies: Vec<Latency>,
    /// The capacities of the grid.
    pub capacities: Vec<Capacity>,
    /// What the time of a request means.
    pub clock: Clock,
    /// What a hit costs.
    pub hit_latency: Nanos,
    /// So many requests at the start are simulated but do not count.
    pub warmup: u64,
    /// Objects in a set; none: fully associative.
    pub ways: Option<u64>,
    /// For which objects MAD keeps its counters.
    pub mad_memory: MadMemory,
    /// How LHD finds its victim.
    pub search: Search,
    /// How large W-TinyLFU's window is.
    pub window: Window,
    /// Where draws begin.
    pub seed: u64,
    /// Objects larger than a cache pass it by instead of being an error.
    pub bypass_oversized: bool,
}

/// A capacity and what it came to on the trace at hand.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// As it was asked for.
    pub asked: Capacity,
    /// The cache that is simulated.
    pub shape: Shape,
}

/// What a grid came to.
pub struct Grid {
    /// The trace.
    pub summary: Summary,
    /// What of the trace were no requests, and how often.
    pub skipped: Vec<(String, u64)>,
    /// The capacities, in the order of the options.
    pub capacities: Vec<Resolved>,
    refined: Vec<Tally>,
    classical: Vec<ClassicalTally>,
    policies: Vec<PolicyName>,
    bases: Vec<PolicyName>,
    latencies: usize,
}

impl Grid {
    /// What happened to a policy at a capacity and a latency, all by index into the options.
    pub fn refined(&self, policy: usize, capacity: usize, latency: usize) -> &Tally {
        &self.refined[(capacity * self.latencies + latency) * self.policies.len() + policy]
    }

    /// What the classical model says of a policy at a capacity.
    pub fn classical(&self, policy: usize, capacity: usize) -> &ClassicalTally {
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
    /// What they are like.
    pub summary: &'a Summary,
    /// What of the trace were no requests, and how often.
    pub skipped: &'a [(String, u64)],
}

/// Simulates everything that the options ask for.
///
/// Deterministic, whatever the number of threads. Memory: proportional to the objects of the trace, and to its requests
/// only if there is an offline policy.
///
/// # Errors
/// If the trace cannot be read, has no requests, or does not fit the options; if the observer interrupts.
pub fn run(trace: &Trace, options: &Options, observer: &dyn Observer) -> Result<Grid, Error> {
    let survey = survey(trace, options, observer)?;
    let mut reader = trace.reader(options.clock)?;
    simulate(trace, options, survey, |requests| reader.next_chunk(requests), observer)
}

/// As [`run`], over requests of `trace` that are in memory.
///
/// # Errors
/// If the trace does not fit the options; if the observer interrupts.
pub fn run_held(
    trace: &Trace,
    held: Held<'_>,
    options: &Options,
    observer: &dyn Observer,
) -> Result<Grid, Error> {
    let mut oracle = foresight(options);
    for chunk in held.requests.chunks(CHUNK) {
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        foresee(&mut oracle, chunk)?;
    }
    let survey = Survey {
        summary: held.summary.clone(),
        skipped: held.skipped.to_vec(),
        oracle: oracle.map(|oracle| oracle.finish(observer)).transpose()?,
    };
    let mut chunks = held.requests.chunks(CHUNK);
    let next = |requests: &mut Vec<Request>| {
        requests.clear();
        let chunk = chunks.next();
        requests.extend_from_slice(chunk.unwrap_or_default());
        Ok(chunk.is_some())
    };
    simulate(trace, options, survey, next, observer)
}

/// Simulates what the options ask for on what `next` hands over, chunk by chunk until there is no more.
fn simulate(
    trace: &Trace,
    options: &Options,
    survey: Survey,
    next: impl FnMut(&mut Vec<Request>) -> Result<bool, TraceError> + Send,
    observer: &dyn Observer,
) -> Result<Grid, Error> {
    let capacities = capacities(trace, &survey.summary, options)?;
    let mut cells = cells(options, &capacities, &survey.summary);
    observer.stage("simulating", survey.summary.requests * cells.len() as u64);
    feed(trace, next, &survey, &mut cells, observer)?;

    let (mut refined, mut classical) = (Vec::new(), Vec::new());
    for cell in cells {
        match cell.result() {
            CellResult::Refined(tally) => refined.push(tally),
            CellResult::Classical(tally) => classical.push(tally),
        }
    }
    Ok(Grid {
        summary: survey.summary,
        skipped: survey.skipped,
        capacities,
        refined,
        classical,
        policies: options.policies.clone(),
        bases: bases(&options.policies),
        latencies: options.latencies.len(),
    })
}

/// What the capacities come to on a trace.
///
/// # Errors
/// If one of them, or the warm-up, does not fit it.
pub(super) fn capacities(
    trace: &Trace,
    summary: &Summary,
    options: &Options,
) -> Result<Vec<Resolved>, Error> {
    let capacities = options
        .capacities
        .iter()
        .map(|&asked| resolve(asked, trace, summary, options))
        .collect::<Result<Vec<_>, _>>()?;
    if options.warmup >= summary.requests {
        let message = format!(
            "{}: --warmup {} leaves none of the trace's {} requests to count",
            trace.name(),
            options.warmup,
            summary.requests
        );
        return Err(Error::Parameters(message));
    }
    Ok(capacities)
}

/// The policy that a policy is in the classical model: where nothing is delayed, MAD is its base.
fn base(policy: PolicyName) -> PolicyName {
    policy.properties().base.unwrap_or(policy)
}

/// The policies that the classical model tells apart.
fn bases(policies: &[PolicyName]) -> Vec<PolicyName> {
    let mut bases = Vec::new();
    for base in policies.iter().copied().map(base) {
        if !bases.contains(&base) {
            bases.push(base);
        }
    }
    bases
}

/// What the first pass tells.
struct Survey {
    summary: Summary,
    skipped: Vec<(String, u64)>,
    oracle: Option<Oracle>,
}

fn survey(trace: &Trace, options: &Options, observer: &dyn Observer) -> Result<Survey, Error> {
    let mut oracle = foresight(options);
    let tell = |requests: &[Request]| foresee(&mut oracle, requests);
    let (summary, skipped) = scan(trace, options.clock, observer, tell)?;
    Ok(Survey { summary, skipped, oracle: oracle.map(|oracle| oracle.finish(observer)).transpose()? })
}

/// An oracle to be, if a policy needs one.
fn foresight(options: &Options) -> Option<OracleBuilder> {
    let needed = options.policies.iter().any(|policy| policy.properties().offline);
    needed.then(|| OracleBuilder::new(options.latencies.clone()))
}

/// Tells the oracle, if there is one, the trace's next requests.
fn foresee(oracle: &mut Option<OracleBuilder>, requests: &[Request]) -> Result<(), Error> {
    match oracle {
        Some(oracle) => oracle.push(requests).map_err(|error| Error::Parameters(error.to_string())),
        None => Ok(()),
    }
}

/// What a capacity comes to on a trace, and whether it is in bytes.
///
/// # Errors
/// If it is in bytes and the trace has no sizes, or objects larger than it while they may not be `oversized`.
pub(super) fn amount(
    asked: Capacity,
    trace: &Trace,
    summary: &Summary,
    oversized: bool,
) -> Result<(u64, bool), Error> {
    let refuse = |message: String| Err(Error::Parameters(format!("{}: {message}", trace.name())));
    let (capacity, by_bytes) = match asked {
        Capacity::Objects(objects) => (objects, false),
        Capacity::Share(share) => {
            let objects = u128::from(summary.peak_active) * u128::from(share) / 1_000_000;
            (u64::try_from(objects).unwrap_or(u64::MAX).max(1), false)
        }
        Capacity::Bytes(bytes) => (bytes.0, true),
    };
    if by_bytes && !trace.fields().size {
        return refuse(format!(
            "--capacity {asked} is in bytes, but the trace has no sizes; name their column with --columns size=N"
        ));
    }
    if by_bytes && summary.largest > capacity && !oversized {
        return refuse(format!(
            "an object of {:#} is larger than the cache of {asked:#}; choose a larger --capacity, or --bypass-oversized to let such objects pass the cache by",
            Bytes(summary.largest)
        ));
    }
    Ok((capacity, by_bytes))
}

fn resolve(asked: Capacity, trace: &Trace, summary: &Summary, options: &Options) -> Result<Resolved, Error> {
    let refuse = |message: String| Error::Parameters(format!("{}: {message}", trace.name()));
    let (capacity, by_bytes) = amount(asked, trace, summary, options.bypass_oversized)?;
    match options.ways {
        None => Ok(Resolved { asked, shape: Shape { capacity, by_bytes, sets: 1 } }),
        Some(_) if by_bytes => {
            Err(refuse(format!("--ways counts objects, so --capacity must too, not {asked}")))
        }
        Some(ways) => {
            let sets = sets(capacity, ways, &options.policies).map_err(refuse)?;
            Ok(Resolved { asked, shape: Shape { capacity: sets as u64 * ways, by_bytes, sets } })
        }
    }
}

/// The number of whole sets of `ways` objects in a capacity, or what is wrong with that.
fn sets(capacity: u64, ways: u64, policies: &[PolicyName]) -> Result<usize, String> {
    let sets = capacity / ways;
    if sets == 0 {
        return Err(format!("a capacity of {capacity} objects does not fill one set of --ways {ways}"));
    }
    let learns = |policy: &&PolicyName| matches!(policy, PolicyName::Lhd | PolicyName::LhdMad);
    if let Some(policy) = policies.iter().find(learns).filter(|_| ways < FEWEST_WAYS_TO_LEARN_FROM) {
        return Err(format!(
            "{policy} learns in every set for itself: give --ways {FEWEST_WAYS_TO_LEARN_FROM} or more, or leave it out of --policies"
        ));
    }
    usize::try_from(sets).ok().filter(|&sets| sets <= MOST_SETS).ok_or_else(|| {
        format!(
            "{capacity} objects in sets of --ways {ways} are {sets} sets; at most {MOST_SETS} are simulated"
        )
    })
}

/// All cells of the grid: for every capacity the classical model, then every latency, each with every policy.
fn cells(options: &Options, capacities: &[Resolved], summary: &Summary) -> Vec<Box<dyn Cell>> {
    let conditions = Arc::new(Conditions {
        latencies: options.latencies.clone(),
        hit_latency: options.hit_latency,
        warmup: options.warmup,
        clock: options.clock,
    });
    let mut cells = Vec::new();
    for Resolved { shape, .. } in capacities {
        let capacity = shape.capacity / shape.sets as u64;
        let mean_size =
            if shape.by_bytes { (summary.footprint_bytes / summary.objects.max(1)).max(1) } else { 1 };
        let params = Params {
            objects: (capacity / mean_size).clamp(1, summary.objects.max(1)),
            mad_memory: options.mad_memory,
            search: options.search,
            window: options.window,
            seed: options.seed,
        };
        let mut push = |policies: &[PolicyName], latency| {
            let make = || MakeCell { shape, conditions: &conditions, latency };
            cells.extend(policies.iter().map(|&policy| with_policy(policy, params, make())));
        };
        push(&bases(&options.policies), None);
        (0..options.latencies.len()).for_each(|latency| push(&options.policies, Some(latency)));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_read_as_people_write_them() {
        assert_eq!("5%".parse(), Ok(Capacity::Share(50_000)));
        assert_eq!("0.5%".parse(), Ok(Capacity::Share(5_000)));
        assert_eq!("249".parse(), Ok(Capacity::Objects(249)));
        assert_eq!("256MiB".parse(), Ok(Capacity::Bytes(Bytes(256 << 20))));
        for bad in [
            "",
            "0",
            "0%",
            "0MiB",
            "-5",
            "nan",
            "NaN%",
            "5 apples",
            "%",
            "16000000TiB",
            "18446744073709551615",
        ] {
            assert!(bad.parse::<Capacity>().is_err(), "{bad}");
        }
        assert_eq!(Capacity::Share(5_000).to_string(), "0.5%");
    }
}
