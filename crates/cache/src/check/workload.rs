//! The requests that were certified.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use trueplane_study::{Error, Observer};
use trueplane_trace::{Request, Trace};
use trueplane_units::{Bytes, Nanos};

use super::format::{Digest, Header, Terms};
use crate::check::refusal::Refusal;
use crate::latency::Latency;

/// Requests in the order of the trace, each with all that a bound depends on.
#[derive(Clone, Debug, Default)]
pub struct Workload {
    /// Arrival time of each request, in ns or steps; never before that of the request before it.
    pub times: Vec<u64>,
    /// Object of each request: objects are numbered in the order of their first requests.
    pub objects: Vec<u32>,
    /// Latency of the fetch that each request would begin if it missed.
    pub fetches: Vec<u64>,
    /// The size of every object, in the unit of the capacity.
    pub sizes: Vec<u64>,
}

impl Workload {
    /// Reads as many requests of the trace as the certificate, called `name`, is about.
    ///
    /// # Errors
    /// If the trace cannot be read, or its requests are not those that were certified; if the observer interrupts.
    pub fn read(
        name: &str,
        trace: &Trace,
        header: &Header,
        terms: &Terms,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let refuse = |message: String| refuse(trace, &message);
        columns(trace, terms).map_err(refuse)?;
        let (workload, digest) = Reading::of(trace, header, terms, observer)?;
        let (claimed, found) = (header.trace.requests, workload.len() as u64);
        if found != claimed {
            let found = if found > claimed { "more".to_owned() } else { found.to_string() };
            return Err(refuse(format!("expected the {claimed} requests of {name}, got {found}")));
        }
        if digest != header.trace.digest {
            let hint = "another trace, or read by other flags";
            let certified = &header.trace.digest;
            return Err(refuse(format!(
                "expected the requests of {name} (digest {certified}), got others ({digest}): {hint}"
            )));
        }
        let objects = workload.sizes.len() as u64;
        if objects != header.trace.objects {
            let message = format!("objects: expected {objects}, got {}", header.trace.objects);
            return Err(Error::Parameters(Refusal::new(format!("{name}: {message}")).to_string()));
        }
        Ok(workload)
    }

    /// The number of requests.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The size of the object that request `index` asks for.
    pub fn size_at(&self, index: usize) -> u64 {
        self.sizes[self.objects[index] as usize]
    }
}

/// A refusal of the trace, which may be what is wrong as well as the certificate.
fn refuse(trace: &Trace, message: &str) -> Error {
    Error::Parameters(Refusal::new(format!("{}: {message}", trace.name())).to_string())
}

/// Whether the trace has the columns that the terms take.
fn columns(trace: &Trace, terms: &Terms) -> Result<(), String> {
    if terms.latency == Latency::Trace && !trace.fields().fetch {
        return Err(lacks(
            trace,
            "the certificate takes fetch times from the trace, which has none",
            "fetch",
        ));
    }
    if terms.by_bytes && !trace.fields().size {
        return Err(lacks(
            trace,
            "the certificate's capacity is in bytes, and the trace has no sizes",
            "size",
        ));
    }
    Ok(())
}

fn lacks(trace: &Trace, what: &str, role: &str) -> String {
    trace.column_remedy(role).map_or_else(|| what.to_owned(), |remedy| format!("{what}; {remedy}"))
}

#[derive(Default)]
struct Reading {
    workload: Workload,
    numbers: HashMap<u64, u32>,
}

impl Reading {
    /// Requests of the trace, as many as the header claims, and one more if there are more; and their digest.
    fn of(
        trace: &Trace,
        header: &Header,
        terms: &Terms,
        observer: &dyn Observer,
    ) -> Result<(Workload, String), Error> {
        // One more tells that there are more.
        let most = terms.prefix.unwrap_or(u64::MAX).min(header.trace.requests.saturating_add(1));
        let (mut read, mut digest) = (Self::default(), Digest::default());
        observer.stage("reading", trace.bytes());
        let mut reader = trace.reader(terms.clock)?;
        let (mut chunk, mut position) = (Vec::new(), 0);
        while (read.workload.len() as u64) < most && reader.next_chunk(&mut chunk)? {
            for request in &chunk {
                let index = read.workload.len() as u64;
                if index == most {
                    break;
                }
                let Nanos(fetch) = terms.latency.of(request, index);
                digest.push(request.time.0, request.key, request.size, fetch);
                read.push(trace, request, fetch, terms).map_err(|message| refuse(trace, &message))?;
            }
            observer.advance(reader.position() - position);
            position = reader.position();
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
        }
        Ok((read.workload, digest.finish()))
    }

    fn push(&mut self, trace: &Trace, request: &Request, fetch: u64, terms: &Terms) -> Result<(), String> {
        let Workload { times, objects, fetches, sizes } = &mut self.workload;
        if times.len() >= u32::MAX as usize - 1 {
            return Err("a bound takes at most 4294967294 requests".to_owned());
        }
        if times.last().is_some_and(|&last| last > request.time.0) {
            return Err(format!("time goes backwards at request {}", times.len()));
        }
        let size = if terms.by_bytes { request.size.max(1) } else { 1 };
        if size > terms.capacity && !terms.bypass_oversized {
            let (object, cache) = (Bytes(size), Bytes(terms.capacity));
            return Err(format!("an object of {object:#} is larger than the certified cache of {cache:#}"));
        }
        let object = match self.numbers.entry(request.key) {
            Entry::Occupied(number) => *number.get(),
            Entry::Vacant(place) => {
                sizes.push(size);
                *place.insert(sizes.len() as u32 - 1)
            }
        };
        let first = sizes[object as usize];
        if first != size {
            let name = trace.key_name(request.key);
            return Err(format!("{name} has sizes {first} and {size}, and a bound needs one for each"));
        }
        times.push(request.time.0);
        objects.push(object);
        fetches.push(fetch);
        Ok(())
    }
}
