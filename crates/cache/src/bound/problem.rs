//! A trace as an instance of BELATEDLY.

use hashbrown::HashMap;
use trueplane_study::{Error, Observer};
use trueplane_trace::{CHUNK, Clock, Request, Trace};
use trueplane_units::{Nanos, Warmup};

use crate::belatedly::{Arrival, Instance, InstanceError, Terms};
use crate::capacity::Capacity;
use crate::grid::{Held, amount};
use crate::latency::Latency;
use crate::scan::{Scan, Summary};
use crate::start::Start;

/// A cache and the requests that it serves: what is to be bounded.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Fetch times.
    pub latency: Latency,
    /// Capacity of the cache.
    pub capacity: Capacity,
    /// Meaning of the times of requests.
    pub clock: Clock,
    /// Latency of a hit.
    pub hit_latency: Nanos,
    /// Requests at the start that are served but not counted.
    pub warmup: Warmup,
    /// A fetched object may pass the cache by.
    pub bypass: bool,
    /// Objects larger than the cache pass it by instead of being an error.
    pub bypass_oversized: bool,
    /// Number of requests at the start of the trace that are used; none: the whole trace.
    pub requests: Option<u64>,
}

/// A trace and its instance.
#[derive(Debug)]
pub struct Problem {
    /// The trace.
    pub summary: Summary,
    /// Lines that were no requests, by reason, with their number, as far as the trace was read.
    pub skipped: Vec<(String, u64)>,
    /// The requests, in the order of the trace.
    pub requests: Vec<Request>,
    /// The key of each of the instance's objects.
    pub keys: Vec<u64>,
    /// Instance that is to be solved.
    pub instance: Instance,
    /// Sizes and the capacity are in bytes; otherwise every object counts as 1.
    pub by_bytes: bool,
}

impl Problem {
    /// Reads a trace into memory: about 100 B a request and 50 B an object.
    ///
    /// # Errors
    /// If the trace cannot be read, has no requests, or does not fit the scenario or the model.
    pub fn read(trace: &Trace, scenario: &Scenario, observer: &dyn Observer) -> Result<Self, Error> {
        Self::pose(trace, read(trace, scenario.clock, scenario.requests, observer)?, scenario, observer)
    }

    /// The problem that requests of `trace` pose that are in memory.
    ///
    /// # Errors
    /// If they do not fit the scenario or the model; if the observer interrupts.
    pub(crate) fn pose(
        trace: &Trace,
        read: ReadTrace,
        scenario: &Scenario,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let warmup = read.warmup(scenario.warmup);
        let ReadTrace { requests, summary, skipped } = read;
        let (capacity, by_bytes) = amount(scenario.capacity, trace, &summary, scenario.bypass_oversized)?;
        let terms = Terms { capacity, hit_latency: scenario.hit_latency.0, warmup, bypass: scenario.bypass };
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut keys = Vec::new();
        let mut arrivals = Vec::with_capacity(requests.len());
        for (index, request) in (0..).zip(&requests) {
            if index % CHUNK as u64 == 0 && observer.interrupted() {
                return Err(Error::Interrupted);
            }
            arrivals.push(Arrival {
                time: request.time.0,
                object: *numbers.entry(request.key).or_insert_with(|| {
                    keys.push(request.key);
                    keys.len() as u32 - 1
                }),
                size: if by_bytes { request.size.max(1) } else { 1 },
                fetch: scenario.latency.of(request, index).0,
            });
        }
        let instance = Instance::new(&arrivals, terms).map_err(|error| refuse(trace, &keys, &error))?;
        Ok(Self { summary, skipped, requests, keys, instance, by_bytes })
    }

    /// Hands back the requests of the trace and their summary.
    pub(crate) fn into_read(self) -> ReadTrace {
        ReadTrace { requests: self.requests, summary: self.summary, skipped: self.skipped }
    }

    /// The requests for a simulation.
    pub fn held(&self) -> Held<'_> {
        Held { requests: &self.requests, summary: &self.summary, skipped: &self.skipped }
    }
}

/// A trace in memory.
pub(crate) struct ReadTrace {
    /// The requests, in the order of the trace.
    pub(crate) requests: Vec<Request>,
    /// Size, span and burstiness of the trace.
    pub(crate) summary: Summary,
    /// Lines that were no requests, by reason, with their number.
    pub(crate) skipped: Vec<(String, u64)>,
}

impl ReadTrace {
    /// The number of requests at the start that do not count.
    pub(crate) fn warmup(&self, warmup: Warmup) -> u64 {
        Start::of(warmup, &self.requests, &self.summary)
    }
}

/// The requests of a trace, or the first `most` of them if that is given: what lies behind is not read, and may be damaged.
pub(crate) fn read(
    trace: &Trace,
    clock: Clock,
    most: Option<u64>,
    observer: &dyn Observer,
) -> Result<ReadTrace, Error> {
    observer.stage("reading", trace.bytes());
    let mut reader = trace.reader(clock)?.first(most.unwrap_or(u64::MAX));
    let (mut requests, mut chunk, mut position) = (Vec::new(), Vec::new(), 0);
    let mut scan = Scan::new();
    while reader.next_chunk(&mut chunk)? {
        scan.push(&chunk);
        requests.extend_from_slice(&chunk);
        observer.advance(reader.position() - position);
        position = reader.position();
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
    }
    Ok(ReadTrace { requests, summary: scan.finish(), skipped: reader.skipped().to_vec() })
}

fn refuse(trace: &Trace, keys: &[u64], error: &InstanceError) -> Error {
    let message = match *error {
        InstanceError::Resized { object, first, later } => format!(
            "{} is asked for with {first} and with {later} bytes, and a bound takes one size for each object; say --size-change largest, or give --capacity in objects",
            trace.key_name(keys[object as usize])
        ),
        InstanceError::Crowded(..) => format!("{error}; leave out --no-bypass"),
        InstanceError::TooLong | InstanceError::TooLarge => error.to_string(),
    };
    Error::Parameters(format!("{}: {message}", trace.name()))
}
