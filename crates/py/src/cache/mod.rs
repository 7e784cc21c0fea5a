//! A simulated cache that Python drives, request by request or in batches, under a policy of trueplane or one of the user's.

mod columns;
mod compiled;
mod foreign;
mod requests;
mod written;

use std::borrow::Cow;

use numpy::{IntoPyArray as _, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::{PyTraverseError, PyVisit};
use trueplane_cache::capacity::Capacity;
use trueplane_cache::engine::{Engine, Shape};
use trueplane_cache::fetch_time::FetchTime;
use trueplane_cache::latency::Latency;
use trueplane_cache::policy::{MadMemory, Params, Search, Window, WithPolicy, with_policy};
use trueplane_cache::{NextUse, Policy, PolicyName};
use trueplane_trace::{Clock, Request};
use trueplane_units::{Nanos, Value as _};

use crate::arrays::{at, check_length, check_times};
use crate::errors;

pub(crate) use columns::RequestTable;
use compiled::Compiled;
use foreign::Foreign;
pub(crate) use requests::{RequestSource, key_of, request_sources};
use written::Written;

/// Requests between two looks at Ctrl-C and at the exceptions of a policy.
const CHUNK: usize = 1 << 13;

/// The size of an object where nobody says how many a cache of bytes holds.
const USUAL_BYTES: u64 = 1 << 14;

/// Policies make tables for so many objects at most.
const MOST_EXPECTED: u64 = 1 << 24;

/// Requests in the order of time. Sizes and fetch times have a value for each request, or one for all.
struct Batch<'a> {
    keys: &'a [u64],
    times: &'a [u64],
    sizes: &'a [u64],
    /// None if the cache's own latency says it.
    fetches: Option<&'a [u64]>,
    /// The number of the first request, for latencies that are drawn.
    first: u64,
}

impl Batch<'_> {
    /// The end of the chunk that begins at `start`.
    fn end(&self, start: usize) -> usize {
        self.keys.len().min(start + CHUNK)
    }
}

/// What requests met, and how long they waited.
#[derive(Default)]
struct Outcomes {
    /// 0 for a hit, 1 for a delayed hit, 2 for a miss.
    outcomes: Vec<u8>,
    /// Waits, in nanoseconds.
    waits: Vec<u64>,
}

/// A cache whose policy is known only at run time.
trait Simulated: Send + Sync {
    /// Serves the chunk of a batch that begins at `start`.
    fn serve(&mut self, batch: &Batch<'_>, start: usize, latency: &Latency, to: &mut Outcomes);

    /// Raises what the policy has raised.
    fn check(&self) -> PyResult<()> {
        Ok(())
    }

    /// The objects of Python that the policy holds.
    fn held(&self) -> Vec<&Py<PyAny>> {
        Vec::new()
    }
}

fn serve<P: Policy>(
    engine: &mut Engine<P>,
    batch: &Batch<'_>,
    start: usize,
    latency: &Latency,
    to: &mut Outcomes,
) {
    for index in start..batch.end(start) {
        let fetch = batch.fetches.map(|fetches| Nanos(at(fetches, index)));
        let request = Request {
            time: Nanos(batch.times[index]),
            key: batch.keys[index],
            size: at(batch.sizes, index),
            fetch: fetch.unwrap_or(Nanos(0)),
        };
        let number = batch.first + index as u64;
        let (outcome, wait) = engine
            .request(&request, NextUse::UNKNOWN, || fetch.unwrap_or_else(|| latency.of(&request, number)));
        to.outcomes.push(outcome as u8);
        to.waits.push(wait.0);
    }
}

/// Under a policy of trueplane.
struct Own<P>(Engine<P>);

impl<P: Policy + Send + Sync> Simulated for Own<P> {
    fn serve(&mut self, batch: &Batch<'_>, start: usize, latency: &Latency, to: &mut Outcomes) {
        serve(&mut self.0, batch, start, latency, to);
    }
}

/// Under a policy of the user's.
struct Users<P>(Engine<P>);

impl<P: Foreign> Users<P> {
    fn policy(&self) -> Option<&P> {
        self.0.policies().next()
    }
}

impl<P: Foreign> Simulated for Users<P> {
    fn serve(&mut self, batch: &Batch<'_>, start: usize, latency: &Latency, to: &mut Outcomes) {
        serve(&mut self.0, batch, start, latency, to);
    }

    fn check(&self) -> PyResult<()> {
        self.policy().map_or(Ok(()), |policy| policy.callbacks().check())
    }

    fn held(&self) -> Vec<&Py<PyAny>> {
        self.policy().map_or_else(Vec::new, Foreign::held)
    }
}

/// Makes a cache under a policy of trueplane.
struct Make(Shape);

impl WithPolicy for Make {
    type Output = Box<dyn Simulated>;

    fn with<P: Policy + Send + Sync + 'static>(self, make: impl Fn(u64) -> P) -> Self::Output {
        Box::new(Own(Engine::new(make, &self.0, Clock::Timestamps)))
    }
}

/// Makes a cache under a policy that exists already. A fully associative cache has one policy.
fn under<P: Foreign + 'static>(policy: P, shape: &Shape) -> Box<dyn Simulated> {
    let only = std::cell::Cell::new(Some(policy));
    let make = |_| only.take().expect("a cache with one set has one policy");
    Box::new(Users(Engine::new(make, shape, Clock::Timestamps)))
}

/// What requests met, as bytes, and how long they waited.
type Served<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u64>>);

/// A simulated cache.
#[pyclass(module = "trueplane._native")]
pub(crate) struct SimulatedCache {
    /// None once the collector of garbage has broken a cycle.
    cache: Option<Box<dyn Simulated>>,
    latency: Latency,
    last: u64,
    served: u64,
    /// Whether the policy needs the interpreter's lock for every request.
    needs_lock: bool,
}

impl SimulatedCache {
    fn checked(&self, batch: &Batch<'_>) -> PyResult<()> {
        check_length("times", batch.times.len(), batch.keys.len(), false)?;
        check_length("sizes", batch.sizes.len(), batch.keys.len(), true)?;
        if let Some(fetches) = batch.fetches {
            check_length("latencies", fetches.len(), batch.keys.len(), true)?;
        } else if self.latency == Latency::Trace {
            return Err(errors::parameter(
                "latencies: expected a time for each request, as the cache's latency is trace".to_owned(),
            ));
        }
        check_times(batch.times, self.last, "request")
    }

    /// Serves a batch. If it is refused nothing has changed.
    fn serve(&mut self, py: Python<'_>, batch: &Batch<'_>) -> PyResult<Outcomes> {
        self.checked(batch)?;
        let cache = self.cache.as_mut().ok_or_else(|| errors::internal("the cache is gone".to_owned()))?;
        cache.check()?;
        let latency = &self.latency;
        let mut to = Outcomes::default();
        to.outcomes.reserve(batch.keys.len());
        to.waits.reserve(batch.keys.len());
        for start in (0..batch.keys.len()).step_by(CHUNK) {
            // A policy in Python has the interpreter all the time; others leave it to other threads.
            let mut work = || cache.serve(batch, start, latency, &mut to);
            if self.needs_lock {
                work();
            } else {
                py.detach(work);
            }
            cache.check()?;
            let end = batch.end(start);
            self.last = batch.times[end - 1];
            self.served += (end - start) as u64;
            py.check_signals()?;
        }
        Ok(to)
    }
}

#[pymethods]
impl SimulatedCache {
    /// A cache of this capacity under the policy of this name, under an object with the methods of a policy, or under functions
    /// of C: their addresses by name, with `state` and `slots`. `tuning` has parameters of `cache.compare` that only some policies need.
    #[new]
    #[pyo3(signature = (policy, capacity, latency, seed, objects=None, tuning=vec![]))]
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
    fn new(
        policy: &Bound<'_, PyAny>,
        capacity: &str,
        latency: &str,
        seed: u64,
        objects: Option<u64>,
        tuning: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let wrong = |name: &str, message: String| errors::parameter(format!("{name}: {message}"));
        let size: Capacity = capacity.parse().map_err(|message| wrong("capacity", message))?;
        let (capacity, by_bytes) = match size {
            Capacity::Objects(objects) => (objects, false),
            Capacity::Bytes(bytes) => (bytes.0, true),
            Capacity::Share(_) => {
                let message = format!(
                    "expected a number of objects or bytes, such as 5000 or 256MiB, got {capacity:?}; a share needs a trace"
                );
                return Err(wrong("capacity", message));
            }
        };
        const EXPECTED: &str =
            "expected a number of nanoseconds, a time such as 100ms, lognormal:100ms,0.3 or trace";
        let refuse = || wrong("latency", format!("{EXPECTED}, got \"{latency}\""));
        let latency = match latency.parse().map_err(|_: String| refuse())? {
            FetchTime::Time(time) => Latency::Constant(time),
            FetchTime::LogNormal(median, sigma) => Latency::LogNormal { median, sigma, seed },
            FetchTime::Trace => Latency::Trace,
            FetchTime::Steps(_) => return Err(refuse()),
        };
        let shape = Shape { capacity, by_bytes, sets: 1 };
        let mut needs_lock = false;
        let cache = if let Ok(name) = policy.extract::<String>() {
            let name = PolicyName::parse(&name).map_err(|message| wrong("policy", message))?;
            if name.properties().offline {
                return Err(wrong(
                    "policy",
                    format!("{} must know the future; use cache.compare", name.name()),
                ));
            }
            let usual = if by_bytes { capacity / USUAL_BYTES } else { capacity };
            let mut params =
                Params { seed, ..Params::objects(objects.unwrap_or(usual).clamp(1, MOST_EXPECTED)) };
            for (name, text) in &tuning {
                let set = match name.as_str() {
                    "memory" => MadMemory::parse(text).map(|value| params.mad_memory = value),
                    "eviction" => Search::parse(text).map(|value| params.search = value),
                    "window" => Window::parse(text).map(|value| params.window = value),
                    _ => Err("expected the name of a parameter".to_owned()),
                };
                set.map_err(|message| wrong(name, message))?;
            }
            with_policy(name, params, Make(shape))
        } else if let Some(compiled) = Compiled::from_python(policy)? {
            under(compiled, &shape)
        } else {
            needs_lock = true;
            under(Written::new(policy)?, &shape)
        };
        Ok(Self { cache: Some(cache), latency, last: 0, served: 0, needs_lock })
    }

    /// Serves a request at `now`, whose fetch takes `latency` if it misses: what it meets, and how long it waits.
    #[pyo3(signature = (key, now, size, latency=None))]
    fn access(
        &mut self,
        py: Python<'_>,
        key: u64,
        now: u64,
        size: u64,
        latency: Option<u64>,
    ) -> PyResult<(u8, u64)> {
        let fetch = latency.map(|latency| [latency]);
        let batch = Batch {
            keys: &[key],
            times: &[now],
            sizes: &[size],
            fetches: fetch.as_ref().map(|fetch| &fetch[..]),
            first: self.served,
        };
        let served = self.serve(py, &batch)?;
        Ok((served.outcomes[0], served.waits[0]))
    }

    /// Serves many requests.
    #[pyo3(signature = (keys, times, sizes, latencies=None))]
    #[expect(clippy::needless_pass_by_value, reason = "arguments of Python come by value")]
    fn access_many<'py>(
        &mut self,
        py: Python<'py>,
        keys: PyReadonlyArray1<'py, u64>,
        times: PyReadonlyArray1<'py, u64>,
        sizes: PyReadonlyArray1<'py, u64>,
        latencies: Option<PyReadonlyArray1<'py, u64>>,
    ) -> PyResult<Served<'py>> {
        let fetches = latencies.as_ref().map(PyReadonlyArray1::as_slice).transpose()?;
        // A policy in Python could change the arrays meanwhile.
        let copied = |values| {
            if self.needs_lock { Cow::Owned(<[u64]>::to_vec(values)) } else { Cow::Borrowed(values) }
        };
        let (keys, times, sizes) =
            (copied(keys.as_slice()?), copied(times.as_slice()?), copied(sizes.as_slice()?));
        let fetches = fetches.map(copied);
        let batch = Batch {
            keys: &keys,
            times: &times,
            sizes: &sizes,
            fetches: fetches.as_deref(),
            first: self.served,
        };
        let served = self.serve(py, &batch)?;
        Ok((served.outcomes.into_pyarray(py), served.waits.into_pyarray(py)))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.cache.iter().flat_map(|cache| cache.held()).try_for_each(|object| visit.call(object))
    }

    fn __clear__(&mut self) {
        self.cache = None;
    }
}
