//! The requests of a trace, chunk by chunk.

use std::sync::Arc;
use std::vec;

use trueplane_units::Nanos;

use crate::census::KeyCensus;
use crate::decode::Decode;
use crate::error::{Place, TraceError};
use crate::sizes::{Resized, Sizes};
use crate::source::Position;
use crate::{CHUNK, Request};

/// Reads a trace once, from its start; made by [`super::Trace::reader`].
pub struct RequestReader {
    /// The name of the trace.
    name: Arc<str>,
    /// Names of keys, for messages.
    key_name: KeyName,
    decoder: Box<dyn Decode>,
    position: Position,
    order: Order,
    /// Requests that an earlier one may still come before, sorted by time.
    held: Vec<Request>,
    sizes: Sizes,
    /// Number of requests that are still to be read.
    wanted: u64,
    has_requests: bool,
    has_ended: bool,
}

/// Function that returns the trace's name of a key, for messages: its text, if it has one.
pub(super) type KeyName = Box<dyn Fn(u64) -> String + Send>;

/// Order in which requests are handed over.
enum Order {
    /// Order of the trace, but for small steps back.
    Trace,
    /// Order of time, once all have been read.
    Unsorted,
    /// Order of time: these are still to be handed over.
    Sorted(vec::IntoIter<Request>),
}

impl RequestReader {
    /// Reads the trace `name` by `decoder`, whose bytes are counted by `position`.
    pub(super) fn new(
        name: Arc<str>,
        key_name: KeyName,
        decoder: Box<dyn Decode>,
        position: Position,
        sort: bool,
        sizes: Sizes,
    ) -> Self {
        let order = if sort { Order::Unsorted } else { Order::Trace };
        Self {
            name,
            key_name,
            decoder,
            position,
            order,
            held: Vec::new(),
            sizes,
            wanted: u64::MAX,
            has_requests: false,
            has_ended: false,
        }
    }

    /// Ends after the first so many requests, at least one. What lies behind them in the trace is not read, and may be damaged, unless
    /// the trace has to be sorted: then it is read whole, and the earliest requests are the first.
    #[must_use]
    pub fn first(self, requests: u64) -> Self {
        Self { wanted: requests, ..self }
    }

    /// Replaces the contents of `out` by the next requests, up to [`CHUNK`] of them. `false`, with `out` empty, when there
    /// are none left.
    ///
    /// # Errors
    ///
    /// The trace is not what it should be (see [`TraceError::Input`]), which includes a trace without any request, or
    /// it cannot be read. Requests before the fault in the same chunk are lost, and the reader is at its end.
    pub fn next_chunk(&mut self, out: &mut Vec<Request>) -> Result<bool, TraceError> {
        out.clear();
        let result = self.fill(out).and_then(|is_more| {
            self.sizes.settle(out).map_err(|resized| self.resized(&resized))?;
            Ok(is_more)
        });
        if result.is_err() {
            out.clear();
            self.has_ended = true;
            self.order = Order::Trace;
            self.held.clear();
        }
        result
    }

    /// Number of bytes of the trace that have been read, compressed as they are; for progress bars against [`super::Trace::bytes`].
    pub fn position(&self) -> u64 {
        self.position.bytes()
    }

    /// Things in the trace so far that are no requests, such as `packets that are not IP`, with their counts.
    pub fn skipped(&self) -> &[(String, u64)] {
        self.decoder.skipped().counts()
    }

    /// Counts of the keys read so far; `None` unless [`super::TraceOptions::census`] asks for it, and for formats whose keys are numbers
    /// (`.lis`, oracleGeneral).
    pub fn census(&self) -> Option<KeyCensus> {
        self.decoder.census()
    }

    fn fill(&mut self, out: &mut Vec<Request>) -> Result<bool, TraceError> {
        if let Order::Unsorted = self.order {
            let wanted = std::mem::replace(&mut self.wanted, u64::MAX);
            let mut all = Vec::new();
            let mut chunk = Vec::new();
            while self.decode(&mut chunk)? {
                all.append(&mut chunk);
            }
            all.sort_by_key(|request| request.time);
            all.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
            self.order = Order::Sorted(all.into_iter());
        }
        match &mut self.order {
            Order::Sorted(requests) => {
                out.extend(requests.take(CHUNK));
                Ok(!out.is_empty())
            }
            _ => self.decode(out),
        }
    }

    /// Fills `out`, which is empty, in the order of the trace, but for small steps back.
    fn decode(&mut self, out: &mut Vec<Request>) -> Result<bool, TraceError> {
        if self.has_ended {
            return Ok(false);
        }
        out.reserve(CHUNK);
        while out.is_empty() && !self.has_ended {
            out.append(&mut self.held);
            let before = out.len();
            let most =
                usize::try_from(self.wanted).map_or(CHUNK, |wanted| wanted.saturating_add(before).min(CHUNK));
            let is_more = self.decoder.decode(out, most)?;
            self.wanted -= (out.len() - before) as u64;
            self.has_ended = !is_more || self.wanted == 0;
            self.has_requests |= !out.is_empty();
            self.hold_back(out);
        }
        if self.has_requests { Ok(!out.is_empty()) } else { Err(self.no_requests()) }
    }

    /// Sorts `out` and takes from its end what an earlier request may still come before.
    ///
    /// That is at most twice [`super::timeline::PERIOD`], half a chunk: the rest of `out` is never long in coming.
    fn hold_back(&mut self, out: &mut Vec<Request>) {
        if matches!(self.order, Order::Trace) && !out.is_sorted_by_key(|request| request.time) {
            out.sort_by_key(|request| request.time);
        }
        let settled = if self.has_ended { Nanos(u64::MAX) } else { self.decoder.settled() };
        let ready = out.partition_point(|request| request.time <= settled);
        self.held.extend(out.drain(ready..));
    }

    fn no_requests(&self) -> TraceError {
        self.error(self.decoder.skipped().explain("no requests found"))
    }

    #[cold]
    fn resized(&self, &Resized { key, first, later }: &Resized) -> TraceError {
        let name = (self.key_name)(key);
        self.error(format!(
            "{name} has {first} bytes and later {later}; take one of them with --size-change largest or last"
        ))
    }

    fn error(&self, problem: String) -> TraceError {
        TraceError::Input { trace: self.name.to_string(), place: Place::Whole, problem }
    }
}
