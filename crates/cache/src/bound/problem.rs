//! A trace as an instance of BELATEDLY.

use hashbrown::HashMap;
use trueplane_study::{Error, Observer};
use trueplane_trace::{CHUNK, Clock, Request, Trace};
use trueplane_units::Nanos;

use crate::belatedly::{Arrival, Instance, InstanceError, Terms};
use crate::grid;
use crate::grid::{Capacity, Held};
use crate::latency::Latency;
use crate::scan::{Scan, Summary};

/// What is to be bounded.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long fetches take.
    pub latency: Latency,
    /// How large the cache is.
    pub capacity: Capacity,
    /// What the time of a request means.
    pub clock: Clock,
    /// What a hit takes.
    pub hit_latency: Nanos,
    /// So many requests at the start are served but not counted.
    pub warmup: u64,
    /// Whether a fetched object may pass the cache by.
    pub bypass: bool,
    /// Objects larger than the cache pass it by instead of being an error.
    pub bypass_oversized: bool,
    /// So many requests at the start of the trace are all there is; none: the whole trace.
    pub requests: Option<u64>,
}

/// A trace and its instance.
#[derive(Debug)]
pub struct Problem {
    /// The trace.
    pub summary: Summary,
    /// What in the trace was no request, and how often, as far as the trace was read.
    pub skipped: Vec<(String, u64)>,
    /// The requests, in the order of the trace.
    pub requests: Vec<Request>,
    /// The key of each of the instance's objects.
    pub keys: Vec<u64>,
    /// What is to be solved.
    pub instance: Instance,
    /// Whether sizes and the capacity are in bytes; otherwise every object counts as 1.
    pub by_bytes: bool,
}

impl Problem {
    /// Reads a trace into memory: about 100 B a request and 50 B an object.
    ///
    /// # Errors
    /// If the trace cannot be read, has no requests, or does not fit the options or the model.
    pub fn read(trace: &Trace, options: &Options, observer: &dyn Observer) -> Result<Self, Error> {
        Self::pose(trace, read(trace, options.clock, options.requests, observer)?, options, observer)
    }

    /// The problem that requests of `trace` pose that are in memory.
    ///
    /// # Errors
    /// If they do not fit the options or the model; if the observer interrupts.
    pub(super) fn pose(
        trace: &Trace,
        read: Read,
        options: &Options,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let (requests, summary, skipped) = read;
        let (capacity, by_bytes) = grid::amount(options.capacity, trace, &summary, options.bypass_oversized)?;
        let terms = Terms {
            capacity,
            hit_latency: options.hit_latency.0,
            warmup: options.warmup,
            bypass: options.bypass,
        };
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
                fetch: options.latency.of(request, index).0,
            });
        }
        let instance = Instance::new(&arrivals, terms).map_err(|error| refuse(trace, &keys, &error))?;
        Ok(Self { summary, skipped, requests, keys, instance, by_bytes })
    }

    /// What was read.
    pub(super) fn into_read(self) -> Read {
        (self.requests, self.summary, self.skipped)
    }

    /// The requests for a simulation.
    pub fn held(&self) -> Held<'_> {
        Held { requests: &self.requests, summary: &self.summary, skipped: &self.skipped }
    }
}

/// What was read: the requests, what they are like, and what of the trace were none.
pub(super) type Read = (Vec<Request>, Summary, Vec<(String, u64)>);

/// The requests of a trace, or the first `most` of them if that is given: what lies behind is not read, and may be damaged.
pub(super) fn read(
    trace: &Trace,
    clock: Clock,
    most: Option<u64>,
    observer: &dyn Observer,
) -> Result<Read, Error> {
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
    Ok((requests, scan.finish(), reader.skipped().to_vec()))
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
