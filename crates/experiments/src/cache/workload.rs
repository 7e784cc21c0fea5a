//! The requests that are replayed, out of a trace.

use std::collections::HashMap;

use trueplane_cache::capacity::Capacity;
use trueplane_cache::scan::Scan;
use trueplane_study::{Error, Observer};
use trueplane_trace::{Clock, Request};
use trueplane_units::Nanos;

use super::options::Options;

/// The size of an object in a trace without sizes, in bytes.
const SIZELESS: u64 = 16 << 10;

/// An object of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) key: u64,
    /// Its largest size in the trace, in bytes.
    pub(super) size: u64,
    /// Bytes of the body that the origin sends.
    pub(super) body: u64,
}

/// A request that is to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    /// Time since the start of the replay.
    pub(super) at: Nanos,
    /// The object, by its index.
    pub(super) object: usize,
}

/// The requests that are replayed.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    pub(super) requests: Vec<Planned>,
    /// The objects, in the order of their first requests.
    pub(super) objects: Vec<Object>,
    /// The largest number of objects that are active at once.
    pub(super) peak_active: u64,
    /// Lines of the trace that were no requests, by reason, with their number.
    pub(super) skipped: Vec<(String, u64)>,
    /// Whether the trace has sizes.
    pub(super) has_sizes: bool,
    /// Time from the first request to the last one, in the trace; none if requests are spaced evenly.
    pub(super) span: Option<Nanos>,
}

impl Workload {
    /// Reads the start of the trace.
    pub(super) fn read(options: &Options, observer: &dyn Observer) -> Result<Self, Error> {
        let trace = options.source.open()?;
        let fields = trace.fields();
        let has_times = fields.time && !options.even;
        let clock = if has_times { Clock::Timestamps } else { Clock::Steps };
        let wanted = *options.requests;
        observer.stage("reading the trace", wanted);
        let mut reader = trace.reader(clock)?.first(wanted);
        let (mut all, mut chunk) = (Vec::new(), Vec::new());
        while reader.next_chunk(&mut chunk)? {
            observer.go_on()?;
            observer.advance(chunk.len() as u64);
            all.extend_from_slice(&chunk);
        }
        if all.len() < 2 {
            let found = all.len();
            let why = format!("{}: expected two requests or more, got {found}", trace.name());
            return Err(Error::Parameters(why));
        }
        let mut scan = Scan::new();
        scan.push(&all);
        let summary = scan.finish();
        let granularity = if has_times { summary.granularity } else { Nanos(1) };
        let times = scaled(&all, granularity, options.rate.0);
        let (requests, objects) = interned(&all, &times, fields.size, options.largest_body.0);
        Ok(Self {
            requests,
            objects,
            peak_active: summary.peak_active,
            skipped: reader.skipped().to_vec(),
            has_sizes: fields.size,
            span: has_times.then(|| summary.last.since(summary.first)),
        })
    }

    /// Mean size of an object in the trace, in bytes.
    pub(super) fn mean_size(&self) -> f64 {
        mean(self.objects.iter().map(|object| object.size))
    }

    /// Mean length of an object's body, in bytes.
    pub(super) fn mean_body(&self) -> f64 {
        mean(self.objects.iter().map(|object| object.body))
    }

    /// Objects whose bodies are cut.
    pub(super) fn cut(&self) -> usize {
        self.objects.iter().filter(|object| object.body < object.size).count()
    }

    /// The bytes of memory that a capacity comes to, where each object takes so many bytes besides its body.
    pub(super) fn memory(&self, capacity: Capacity, overhead: u64) -> Result<u64, Error> {
        let objects = match capacity {
            Capacity::Objects(objects) => objects,
            Capacity::Share(share) => {
                let objects = u128::from(self.peak_active) * u128::from(share) / 1_000_000;
                u64::try_from(objects).unwrap_or(u64::MAX).max(1)
            }
            Capacity::Bytes(bytes) => return self.checked(bytes.0, capacity, overhead),
        };
        // Half an object more: where all are of one size, a few bytes of a long field would cost a whole one.
        let memory = (objects as f64 + 0.5) * (self.mean_body() + overhead as f64);
        self.checked(memory as u64, capacity, overhead)
    }

    /// Refuses memory into which an object does not fit.
    fn checked(&self, memory: u64, capacity: Capacity, overhead: u64) -> Result<u64, Error> {
        let largest = self.objects.iter().map(|object| object.body + overhead).max().unwrap_or(0);
        if largest > memory {
            return Err(Error::Parameters(format!(
                "--capacity {capacity} is {memory} bytes, and an object takes {largest}; choose a larger --capacity or a smaller --largest-body"
            )));
        }
        Ok(memory)
    }

    /// Time of the last request.
    pub(super) fn duration(&self) -> Nanos {
        self.requests.last().map_or(Nanos(0), |last| last.at)
    }
}

fn mean(values: impl ExactSizeIterator<Item = u64>) -> f64 {
    let count = values.len().max(1);
    values.map(|value| value as f64).sum::<f64>() / count as f64
}

/// Names objects by small numbers.
fn interned(all: &[Request], times: &[Nanos], has_sizes: bool, most: u64) -> (Vec<Planned>, Vec<Object>) {
    let mut indices: HashMap<u64, usize> = HashMap::new();
    let mut objects: Vec<Object> = Vec::new();
    let mut requests = Vec::with_capacity(all.len());
    for (request, &at) in all.iter().zip(times) {
        let object = *indices.entry(request.key).or_insert_with(|| {
            objects.push(Object { key: request.key, size: 1, body: 1 });
            objects.len() - 1
        });
        let size = if has_sizes { request.size } else { SIZELESS };
        let known = &mut objects[object];
        known.size = known.size.max(size);
        known.body = known.size.min(most);
        requests.push(Planned { at, object });
    }
    (requests, objects)
}

/// The times of requests from 0 on, scaled to so many a second.
///
/// Those of one instant are spread evenly until the next one, or for as long as the trace's clock ticks: in truth they were not all at once.
fn scaled(all: &[Request], granularity: Nanos, rate: u64) -> Vec<Nanos> {
    let first = all.first().map_or(Nanos(0), |request| request.time);
    let mut times: Vec<f64> = Vec::with_capacity(all.len());
    for instant in all.chunk_by(|one, other| one.time == other.time) {
        let time = instant[0].time;
        let next = all.get(times.len() + instant.len()).map(|request| request.time.since(time));
        let spread = next.unwrap_or(granularity).min(granularity).0 as f64 / instant.len() as f64;
        times.extend((0..instant.len()).map(|place| time.since(first).0 as f64 + place as f64 * spread));
    }
    let span = times.last().copied().unwrap_or(0.0);
    let wanted = (all.len() as f64 - 1.0) * 1e9 / rate as f64;
    if span > 0.0 {
        times.iter().map(|time| Nanos((time * wanted / span) as u64)).collect()
    } else {
        (0..all.len()).map(|place| Nanos((place as f64 * 1e9 / rate as f64) as u64)).collect()
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::Bytes;

    use super::*;

    fn request(time: u64, key: u64, size: u64) -> Request {
        Request { time: Nanos(time), key, size, fetch: Nanos(0) }
    }

    #[test]
    fn times_are_scaled_and_those_of_one_instant_spread() {
        let all = [request(50, 1, 1), request(60, 1, 1), request(60, 2, 1), request(70, 1, 1)];
        // 50, 60, 65, 70 from 50 on: 0, 10, 15, 20, stretched to 3 gaps of a millisecond.
        let expected = [0, 1_500_000, 2_250_000, 3_000_000].map(Nanos);
        assert_eq!(scaled(&all, Nanos(10), 1000), expected);
        // The clock ticks faster than that: what came at one instant came within a tick.
        let times = scaled(&all, Nanos(2), 1000);
        assert_eq!(times[2], Nanos(1_650_000));
        let at_once = [request(5, 1, 1), request(5, 2, 1), request(5, 3, 1)];
        assert_eq!(scaled(&at_once, Nanos(0), 1000), [0, 1_000_000, 2_000_000].map(Nanos));
    }

    #[test]
    fn objects_have_their_largest_size_and_a_body_that_is_cut() {
        let all = [request(0, 9, 100), request(1, 5, 3000), request(2, 9, 700)];
        let (requests, objects) = interned(&all, &[Nanos(0); 3], true, 1000);
        assert_eq!(requests.iter().map(|request| request.object).collect::<Vec<_>>(), [0, 1, 0]);
        let expected = [Object { key: 9, size: 700, body: 700 }, Object { key: 5, size: 3000, body: 1000 }];
        assert_eq!(objects, expected);
        let workload = Workload { requests, objects, peak_active: 2, ..Workload::default() };
        assert_eq!((workload.mean_size(), workload.mean_body(), workload.cut()), (1850.0, 850.0, 1));
        assert_eq!(workload.memory(Capacity::Objects(2), 150).unwrap(), 2500);
        assert_eq!(workload.memory(Capacity::Share(1_000_000), 650).unwrap(), 3750);
        let message = workload.memory(Capacity::Bytes(Bytes(1000)), 150).unwrap_err().to_string();
        assert!(message.contains("--capacity 1kB is 1000 bytes, and an object takes 1150"), "{message}");
    }
}
