//! One pass over a trace that tells what a study must know before it runs.
//!
//! How much is there, how many objects are in use at a time (what `--capacity 5%` is a share of), how fast do
//! requests come (what turns a latency into the paper's Z), and do they come in bursts.
//!
//! # Burstiness
//!
//! B = (σ − μ) / (σ + μ), where μ and σ are the mean and the standard deviation of the times between events (Goh &
//! Barabási, *Burstiness and memory in complex systems*, EPL 81 (2008) 48002, eq. 1). −1: perfectly paced. 0:
//! Poisson, as good as random. Towards 1: trains with long silences between them. σ is that of the times seen
//! (divided by their number, not by one less).
//!
//! # Memory
//!
//! At most 80 B per distinct object, whatever the number of requests: 64 B of state, kept in blocks that never
//! move, and at most 11.5 B of index. [`Scan::finish`] gives up the index and takes 8 B per object to sort.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};
use trueplane_study::{Error, Observer};
use trueplane_trace::{Clock, Request, Trace};
use trueplane_units::Nanos;

/// Reads a trace once, in its order, and sums it up.
///
/// Cost: O(1) per request; [`Scan::finish`] O(objects log objects).
#[derive(Default)]
pub struct Scan {
    objects: Objects,
    requests: u64,
    bytes_requested: u128,
    first: Nanos,
    last: Nanos,
    /// Sum of squared deviations of the times between requests; see [`squared_deviation`].
    deviation: f64,
    granularity: Granularity,
    simultaneous: u64,
    sizeless: u64,
    fetchless: u64,
}

/// Facts of a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The number of requests.
    pub requests: u64,
    /// The number of distinct objects.
    pub objects: u64,
    /// The largest number of objects active at once. An object is active from its first request to its last, both
    /// included, in the order of the trace: requests at one instant still come one after the other.
    pub peak_active: u64,
    /// The time of the first request; 0 in an empty trace.
    pub first: Nanos,
    /// The time of the last request; 0 in an empty trace.
    pub last: Nanos,
    /// The coarsest of 1 s, 1 ms, 1 us and 1 ns that all times are multiples of.
    pub granularity: Nanos,
    /// The number of requests at the instant of the one before.
    pub simultaneous: u64,
    /// The number of requests without a size: of 0 B.
    pub sizeless: u64,
    /// Requests without a measured fetch time: what it would take is 0 for them.
    pub fetchless: u64,
    /// The sum of the sizes over all requests, in bytes.
    pub bytes_requested: u128,
    /// The sum over objects of their largest size, in bytes: the cache that would hold everything.
    pub footprint_bytes: u64,
    /// The largest size of a request, in bytes.
    pub largest: u64,
    /// The number of objects that were asked for exactly once.
    pub one_timers: u64,
    /// Burstiness of the arrivals of all requests; `None` with fewer than three requests, or all at one instant.
    pub burstiness_arrivals: Option<f64>,
    /// Mean burstiness of the requests for one object, weighted by the number of its requests, over the objects for
    /// which it is defined: at least three requests, not all at one instant. `None` when there are none.
    pub burstiness_objects: Option<f64>,
}

impl Summary {
    /// The mean time between two requests in ns; `None` with fewer than two requests.
    pub fn mean_interarrival(&self) -> Option<f64> {
        let gaps = self.requests.checked_sub(1).filter(|&gaps| gaps > 0)?;
        Some(self.last.since(self.first).0 as f64 / gaps as f64)
    }

    /// The paper's Z: the latency over the mean time between requests (Atre 2025, §2.1). While one object is fetched, so many requests arrive
    /// on average, whatever they are for, if the trace goes on like that.
    ///
    /// `None` where there is no mean time between requests, or it is zero.
    pub fn z_of(&self, latency: Nanos) -> Option<f64> {
        self.mean_interarrival().filter(|&mean| mean > 0.0).map(|mean| latency.0 as f64 / mean)
    }
}

/// The coarsest usual unit that all times so far are multiples of.
struct Granularity(Nanos);

impl Default for Granularity {
    fn default() -> Self {
        Self(Nanos(1_000_000_000))
    }
}

impl Granularity {
    fn see(&mut self, time: Nanos) {
        while !time.0.is_multiple_of(self.0.0) {
            self.0.0 /= 1_000;
        }
    }
}

/// Reads a whole trace once, hands every batch to `also` besides, and returns what the trace is like and what of it
/// were no requests, with how often.
///
/// # Errors
/// If the trace cannot be read, if `also` fails, or if the observer interrupts.
pub fn scan(
    trace: &Trace,
    clock: Clock,
    observer: &dyn Observer,
    mut also: impl FnMut(&[Request]) -> Result<(), Error>,
) -> Result<(Summary, Vec<(String, u64)>), Error> {
    observer.stage("reading", trace.bytes());
    let mut scan = Scan::new();
    let mut reader = trace.reader(clock)?;
    let mut requests = Vec::new();
    let mut position = 0;
    while reader.next_chunk(&mut requests)? {
        scan.push(&requests);
        also(&requests)?;
        observer.advance(reader.position() - position);
        position = reader.position();
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
    }
    Ok((scan.finish(), reader.skipped().to_vec()))
}

impl Scan {
    /// A scan that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next requests of the trace. Time never runs backwards: an earlier time than that of the request
    /// before counts as the same.
    ///
    /// # Panics
    ///
    /// With more than 2^32 distinct objects, which take 300 GB.
    pub fn push(&mut self, requests: &[Request]) {
        for request in requests {
            if self.requests == 0 {
                self.first = request.time;
                self.last = request.time;
            }
            let now = request.time.max(self.last);
            self.deviation += squared_deviation(self.first, self.last, now, self.requests);
            self.objects.touch(request, now, self.requests);
            self.simultaneous += u64::from(self.requests > 0 && now == self.last);
            self.sizeless += u64::from(request.size == 0);
            self.fetchless += u64::from(request.fetch.0 == 0);
            self.last = now;
            self.granularity.see(now);
            self.requests += 1;
            self.bytes_requested += u128::from(request.size);
        }
    }

    /// The sum of all that was seen.
    pub fn finish(self) -> Summary {
        let mut summary = Summary {
            requests: self.requests,
            objects: self.objects.len,
            peak_active: 0,
            first: self.first,
            last: self.last,
            granularity: self.granularity.0,
            simultaneous: self.simultaneous,
            sizeless: self.sizeless,
            fetchless: self.fetchless,
            bytes_requested: self.bytes_requested,
            footprint_bytes: 0,
            largest: 0,
            one_timers: 0,
            burstiness_arrivals: burstiness(self.first, self.last, self.requests, self.deviation),
            burstiness_objects: None,
        };
        let blocks = self.objects.into_blocks();
        let (mut weighted, mut weight) = (0.0, 0.0);
        for object in blocks.iter().flatten() {
            summary.footprint_bytes = summary.footprint_bytes.saturating_add(object.largest);
            summary.largest = summary.largest.max(object.largest);
            summary.one_timers += u64::from(object.requests == 1);
            if let Some(score) = object.burstiness() {
                weighted += object.requests as f64 * score;
                weight += object.requests as f64;
            }
        }
        summary.burstiness_objects = (weight > 0.0).then(|| weighted / weight);
        summary.peak_active = peak_active(&blocks);
        summary
    }
}

/// State kept for one object: one cache line.
struct Object {
    key: u64,
    requests: u64,
    /// The positions in the trace of its first and last request.
    first_index: u64,
    last_index: u64,
    first: Nanos,
    last: Nanos,
    /// Sum of squared deviations of the times between the object's requests; see [`squared_deviation`].
    deviation: f64,
    largest: u64,
}

impl Object {
    fn burstiness(&self) -> Option<f64> {
        burstiness(self.first, self.last, self.requests, self.deviation)
    }
}

/// Objects per block. Blocks are filled one after the other and never move, so there is no moment of twice the
/// memory.
const BLOCK: usize = 4096;

/// Parts of the index. They grow one at a time, so that only one of them is ever there twice.
const PARTS: usize = 32;

/// The objects seen, in the order of their first requests, with an index by key.
#[derive(Default)]
struct Objects {
    blocks: Vec<Vec<Object>>,
    len: u64,
    /// Key → position in the order.
    index: [HashTable<u32>; PARTS],
    hasher: DefaultHashBuilder,
}

impl Objects {
    fn touch(&mut self, request: &Request, now: Nanos, index: u64) {
        let hash = self.hasher.hash_one(request.key);
        // The table itself uses the lowest and the highest bits.
        let part = &mut self.index[(hash >> 40) as usize % PARTS];
        let is_it = |&place: &u32| object(&self.blocks, place).key == request.key;
        if let Some(&place) = part.find(hash, is_it) {
            let object = &mut self.blocks[place as usize / BLOCK][place as usize % BLOCK];
            object.deviation += squared_deviation(object.first, object.last, now, object.requests);
            object.last = now;
            object.last_index = index;
            object.largest = object.largest.max(request.size);
            object.requests += 1;
            return;
        }
        let place = u32::try_from(self.len).expect("a trace of 2^32 objects takes 300 GB to scan");
        part.insert_unique(hash, place, |&place| self.hasher.hash_one(object(&self.blocks, place).key));
        if self.len.is_multiple_of(BLOCK as u64) {
            self.blocks.push(Vec::with_capacity(BLOCK));
        }
        let block = &mut self.blocks[place as usize / BLOCK];
        block.push(Object {
            key: request.key,
            requests: 1,
            first_index: index,
            last_index: index,
            first: now,
            last: now,
            deviation: 0.0,
            largest: request.size,
        });
        self.len += 1;
    }

    /// The objects in the order of their first requests; the index is given up.
    fn into_blocks(self) -> Vec<Vec<Object>> {
        self.blocks
    }
}

fn object(blocks: &[Vec<Object>], place: u32) -> &Object {
    &blocks[place as usize / BLOCK][place as usize % BLOCK]
}

/// The most objects between their first and last request at once, by position in the trace.
///
/// The number is largest right after some object's first request. `blocks` are in the order of the first requests, so
/// only the last ones have to be sorted.
fn peak_active(blocks: &[Vec<Object>]) -> u64 {
    let mut ends: Vec<u64> = Vec::with_capacity(blocks.iter().map(Vec::len).sum());
    ends.extend(blocks.iter().flatten().map(|object| object.last_index));
    ends.sort_unstable();
    let (mut ended, mut peak) = (0, 0);
    for (begun, object) in (1..).zip(blocks.iter().flatten()) {
        // Those that ended before have gone, and every one of them had begun.
        while ends[ended] < object.first_index {
            ended += 1;
        }
        peak = peak.max(begun - ended as u64);
    }
    peak
}

/// Amount that the event at `now` adds to the sum of squared deviations of the times between events from their mean.
///
/// `events` came before, from `first` to `last`. Welford's recurrence (Technometrics 4 (1962) 419): with a mean m
/// before and m′ after, the time g adds (g − m)(g − m′). The times add up to the span, so neither mean has to be
/// kept, nor do they gather error: perfectly paced events give exactly 0.
fn squared_deviation(first: Nanos, last: Nanos, now: Nanos, events: u64) -> f64 {
    if events < 2 {
        return 0.0;
    }
    let mean = last.since(first).0 as f64 / (events - 1) as f64;
    let mean_now = now.since(first).0 as f64 / events as f64;
    let gap = now.since(last).0 as f64;
    (gap - mean) * (gap - mean_now)
}

/// B of events at these times, which do not run backwards; `None` with fewer than three, or all at one instant.
pub(super) fn burstiness_of(times: impl IntoIterator<Item = Nanos>) -> Option<f64> {
    let (mut first, mut last, mut events, mut deviation) = (Nanos(0), Nanos(0), 0, 0.0);
    for now in times {
        if events == 0 {
            (first, last) = (now, now);
        }
        deviation += squared_deviation(first, last, now, events);
        last = now;
        events += 1;
    }
    burstiness(first, last, events, deviation)
}

/// B of `events` events from `first` to `last`; `None` with fewer than two times between them, or all of them zero.
fn burstiness(first: Nanos, last: Nanos, events: u64, deviation: f64) -> Option<f64> {
    if events < 3 || first == last {
        return None;
    }
    let gaps = (events - 1) as f64;
    let mean = last.since(first).0 as f64 / gaps;
    // Rounding can leave the sum a hair below zero.
    let sigma = (deviation.max(0.0) / gaps).sqrt();
    Some((sigma - mean) / (sigma + mean))
}

#[cfg(test)]
mod tests;
