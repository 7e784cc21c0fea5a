//! Requests that a program holds in memory as columns, such as a data frame, under a path that [`crate::Trace::open`] knows.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use trueplane_units::Nanos;

use crate::decode::{Decode, Skipped};
use crate::dialect::{Input, Opened};
use crate::error::{Place, TraceError};
use crate::hash::Hashing;
use crate::options::TraceOptions;
use crate::source::Position;
use crate::timeline::Timeline;
use crate::{Fields, Format, Request};

/// Columns of requests in memory.
pub trait RequestColumns: Send + Sync {
    /// The number of requests.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The columns beside the keys that the requests have.
    fn fields(&self) -> Fields;

    /// Whether nobody said the unit of the times, so that they are taken for seconds.
    fn guesses_time_unit(&self) -> bool;

    /// Appends the requests from number `first` on, up to `count` of them. A field that they do not have is as [`Request`] says.
    fn read(&self, first: u64, count: usize, out: &mut Vec<Request>);
}

type Shelf = BTreeMap<u64, Arc<dyn RequestColumns>>;

/// All columns that have a path now.
static SHELF: Mutex<Shelf> = Mutex::new(BTreeMap::new());

/// The number of the next path.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// What the paths start and end with.
const ENDS: (&str, &str) = ("trueplane-memory-", ".csv");

/// Bytes of a cell, for progress.
const CELL: u64 = 8;

/// Columns with a path, which they have until this is dropped. A [`crate::Trace`] that was opened keeps them for itself.
pub struct InMemory {
    number: u64,
}

impl InMemory {
    /// Gives the columns a path that nothing else has.
    pub fn new(columns: Arc<dyn RequestColumns>) -> Self {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        shelf(|shelf| shelf.insert(number, columns));
        Self { number }
    }

    /// The path, for [`crate::Trace::open`].
    pub fn path(&self) -> PathBuf {
        let (start, end) = ENDS;
        PathBuf::from(format!("{start}{}{end}", self.number))
    }
}

impl Drop for InMemory {
    fn drop(&mut self) {
        // Its columns may call foreign code when they go.
        let columns = shelf(|shelf| shelf.remove(&self.number));
        drop(columns);
    }
}

/// The columns with this path, if there are such.
pub(super) fn columns_at(path: &Path) -> Option<Arc<dyn RequestColumns>> {
    let (start, end) = ENDS;
    let number = path.to_str()?.strip_prefix(start)?.strip_suffix(end)?.parse().ok()?;
    shelf(|shelf| shelf.get(&number).cloned())
}

fn shelf<T>(work: impl FnOnce(&mut Shelf) -> T) -> T {
    work(&mut SHELF.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The length in bytes, for progress bars.
pub(super) fn bytes_of(columns: &dyn RequestColumns) -> u64 {
    columns.len() * bytes_of_request(columns.fields())
}

fn bytes_of_request(Fields { time, size, fetch }: Fields) -> u64 {
    (1 + u64::from(time) + u64::from(size) + u64::from(fetch)) * CELL
}

/// The first option that says how to read text, which columns are not.
pub(super) fn foreign(options: &TraceOptions) -> Option<&'static str> {
    let given = [
        ("--format", options.format.is_some_and(|format| format != Format::Csv)),
        ("--columns", options.columns.is_some()),
        ("--time-unit", options.time_unit.is_some()),
        ("--fetch-unit", options.fetch_unit.is_some()),
        ("--delimiter", options.delimiter.is_some()),
        ("--header", options.header.is_some()),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
}

/// Opens columns.
pub(super) fn open(columns: Arc<dyn RequestColumns>) -> Opened {
    let fields = columns.fields();
    let guesses_time_unit = fields.time && columns.guesses_time_unit();
    let read = move |Input { window, timeline, hashing, .. }: Input| {
        let columns = Arc::clone(&columns);
        Ok(Reader {
            columns,
            at: 0,
            position: window.position(),
            name: window.trace_name(),
            timeline,
            hashing,
            skipped: Skipped::default(),
        })
    };
    Opened { guesses_time_unit, ..Opened::new(fields, read) }
}

/// Reads columns.
struct Reader {
    columns: Arc<dyn RequestColumns>,
    /// Requests before the next one.
    at: u64,
    position: Position,
    name: Arc<str>,
    timeline: Timeline,
    hashing: Hashing,
    skipped: Skipped,
}

impl Decode for Reader {
    fn decode(&mut self, out: &mut Vec<Request>, most: usize) -> Result<bool, TraceError> {
        let before = out.len();
        let left = self.columns.len() - self.at;
        let count = usize::try_from(left).unwrap_or(usize::MAX).min(most.saturating_sub(before));
        self.columns.read(self.at, count, out);
        for (index, request) in (self.at..).zip(&mut out[before..]) {
            request.time = self.timeline.stamp(request.time).map_err(|problem| TraceError::Input {
                trace: self.name.to_string(),
                // As if they were lines below a header.
                place: Place::Line(index + 2),
                problem,
            })?;
            request.key = self.hashing.number(request.key);
        }
        self.at += count as u64;
        self.position.advance(count as u64 * bytes_of_request(self.columns.fields()));
        Ok(self.at < self.columns.len())
    }

    fn settled(&self) -> Nanos {
        self.timeline.settled()
    }

    fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    fn census(&self) -> Option<crate::KeyCensus> {
        self.hashing.census()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Clock, Trace};

    /// Requests for the keys 1, 2, 3 and so on, at these times.
    struct Times(Vec<u64>);

    impl RequestColumns for Times {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }

        fn fields(&self) -> Fields {
            Fields { time: true, ..Fields::default() }
        }

        fn guesses_time_unit(&self) -> bool {
            false
        }

        fn read(&self, first: u64, count: usize, out: &mut Vec<Request>) {
            let made = |index: usize| Request {
                time: Nanos(self.0[index]),
                key: index as u64 + 1,
                size: 1,
                fetch: Nanos(0),
            };
            out.extend((first as usize..first as usize + count).map(made));
        }
    }

    fn read(trace: &Trace) -> Result<Vec<Request>, TraceError> {
        let mut reader = trace.reader(Clock::Timestamps)?;
        let (mut all, mut chunk) = (Vec::new(), Vec::new());
        while reader.next_chunk(&mut chunk)? {
            all.append(&mut chunk);
        }
        assert_eq!(reader.position(), trace.bytes());
        Ok(all)
    }

    #[test]
    fn columns_are_a_trace_as_long_as_they_are_held() {
        let times: Vec<u64> = (0..3 * crate::CHUNK as u64 + 1).collect();
        let held = InMemory::new(Arc::new(Times(times.clone())));
        let trace = Trace::open(&held.path(), &TraceOptions::default()).unwrap();
        let requests = read(&trace).unwrap();
        assert!(requests.iter().map(|request| request.time.0).eq(times));
        assert_eq!(requests.last().unwrap().key, requests.len() as u64);
        assert_eq!(trace.key_name(17), "key 17");
        let path = held.path();
        drop(held);
        assert_eq!(read(&trace).unwrap(), requests);
        let error = Trace::open(&path, &TraceOptions::default()).err().unwrap().to_string();
        assert!(error.ends_with("No such file or directory"), "{error}");
    }

    #[test]
    fn their_order_is_checked_and_what_is_for_text_is_refused() {
        let held = InMemory::new(Arc::new(Times(vec![0, 50_000_000, 20_000_000])));
        let error = |options| {
            let trace = Trace::open(&held.path(), &options);
            trace.and_then(|trace| read(&trace)).err().unwrap().to_string()
        };
        let backwards = error(TraceOptions::default());
        assert!(backwards.contains(".csv:4: time goes backwards, from 0.05s to 0.02s"), "{backwards}");
        let header = error(TraceOptions { header: Some(true), ..TraceOptions::default() });
        assert!(header.ends_with(": --header means nothing for columns in memory"), "{header}");
        let sorted = TraceOptions { sort: true, ..TraceOptions::default() };
        let requests = read(&Trace::open(&held.path(), &sorted).unwrap()).unwrap();
        assert_eq!(requests.iter().map(|request| request.key).collect::<Vec<_>>(), [1, 3, 2]);
    }
}
