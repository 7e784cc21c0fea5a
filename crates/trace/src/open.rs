//! A trace: opened once, read as often as a study needs.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::capture::Records;
use crate::detect::detect;
use crate::dialect::{Input, Opened};
use crate::error::{Place, TraceError};
use crate::formats::dialect;
use crate::hash::Hashing;
use crate::in_memory::{self, RequestColumns};
use crate::packets::PacketReader;
use crate::reader::RequestReader;
use crate::sizes::{SizeChange, SizeTable, Sizes, enter_largest};
use crate::source::{Source, name_of};
use crate::timeline::{Order, Timeline};
use crate::window::Window;
use crate::{Clock, Fields, Format, TraceOptions, cell};

/// A trace that can be read more than once, and knows what its requests will have before the first is read.
#[derive(Clone)]
pub struct Trace {
    name: Arc<str>,
    source: Source,
    bytes: u64,
    format: Format,
    opened: Arc<Opened>,
    order: Order,
    strict: bool,
    census: bool,
    size_change: Option<SizeChange>,
    /// The largest size of every object, once somebody had to know them.
    largest: Arc<OnceLock<Arc<SizeTable>>>,
}

impl Trace {
    /// Opens the trace at `path`, `-` being standard input, and finds out what `options` leave open: format,
    /// delimiter, header and columns, from the name and the start. gzip, zstd and xz are told by their magic numbers.
    ///
    /// What can be read but once, standard input or a pipe, is copied to a temporary file first, compressed as it
    /// comes, if its start is right: at most 64 GiB, and half of what is free there. A file is read up to the length that it has now, so that every reader sees the same requests of a log
    /// that is still being written to; one that has become shorter since is an error of the reader that finds it so.
    ///
    /// # Errors
    ///
    /// There is no such trace, it cannot be read, its start is not what it should be, or `options` contradict it.
    pub fn open(path: &Path, options: &TraceOptions) -> Result<Self, TraceError> {
        let name = name_of(path);
        if let Some(columns) = in_memory::columns_at(path) {
            return Self::in_memory(&name, columns, options);
        }
        let source = Source::open(path, |start| {
            // Whatever else is wrong will be found later; here it is enough that there are requests.
            let start = Self::from_source(&name, start.clone(), options)?;
            start.reader(Clock::Steps)?.next_chunk(&mut Vec::new()).map(|_| ())
        })?;
        Self::from_source(&name, source, options)
    }

    /// The trace that `bytes` hold, called `name` in errors; `name` also helps to tell the format, as a path does.
    ///
    /// # Errors
    ///
    /// As [`Trace::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>, options: &TraceOptions) -> Result<Self, TraceError> {
        Self::from_source(name, Source::Memory(bytes.into()), options)
    }

    /// The trace of columns that are in memory already.
    fn in_memory(
        name: &str,
        columns: Arc<dyn RequestColumns>,
        options: &TraceOptions,
    ) -> Result<Self, TraceError> {
        let name = Arc::from(name);
        check_options(&name, Format::Csv, options)?;
        if let Some(flag) = in_memory::foreign(options) {
            return Err(wrong(&name, format!("{flag} means nothing for columns in memory")));
        }
        let bytes = in_memory::bytes_of(&*columns);
        let opened = in_memory::open(columns);
        Self::of(name, Source::Memory(Arc::default()), bytes, Format::Csv, opened, options)
    }

    fn from_source(name: &str, source: Source, options: &TraceOptions) -> Result<Self, TraceError> {
        let bytes = source.len();
        let name = Arc::from(name);
        let format = match options.format {
            Some(format) => format,
            None => detect(&name, Window::open(&name, &source)?)?,
        };
        check_options(&name, format, options)?;
        let opened = dialect(format).open(Window::open(&name, &source)?, options)?;
        Self::of(name, source, bytes, format, opened, options)
    }

    fn of(
        name: Arc<str>,
        source: Source,
        bytes: u64,
        format: Format,
        opened: Opened,
        options: &TraceOptions,
    ) -> Result<Self, TraceError> {
        if options.size_change.is_some() && !opened.fields.size {
            return Err(wrong(&name, "--size-change means nothing for a trace without sizes".to_owned()));
        }
        let order = match (options.sort, options.strict) {
            (true, _) => Order::Any,
            (false, true) => Order::Strict,
            (false, false) => Order::Near,
        };
        let by_default = format.properties().is_web_log.then_some(SizeChange::Last);
        Ok(Self {
            name,
            source,
            bytes,
            format,
            opened: Arc::new(opened),
            order,
            strict: options.strict,
            census: options.census,
            size_change: options.size_change.or(by_default),
            largest: Arc::default(),
        })
    }

    /// The path as it was given; `stdin` for standard input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Fields that its requests have.
    pub fn fields(&self) -> Fields {
        self.opened.fields
    }

    /// Whether its times are numbers that are taken for seconds because nobody said their unit.
    pub fn guesses_time_unit(&self) -> bool {
        self.opened.guesses_time_unit
    }

    /// Whether it has no timestamps, but a column that counts steps.
    pub fn counts_steps(&self) -> bool {
        self.opened.counts_steps
    }

    /// What to do if the trace lacks a role (`time`, `key`, `size` or `fetch`), for the end of an error: `name the column with --columns
    /// key=1,time=N`. `None` if it has no column that is nothing yet.
    pub fn column_remedy(&self, role: &str) -> Option<String> {
        let columns = self.opened.columns.as_ref()?;
        Some(format!("name the column with {}", columns.with(role)))
    }

    /// Whether its requests are to be sorted by time, which only a reader with timestamps does.
    pub fn is_to_be_sorted(&self) -> bool {
        self.order == Order::Any
    }

    /// Its length in bytes, compressed as it is; for progress bars.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the trace from its start. Several readers may be at work at once.
    ///
    /// # Errors
    ///
    /// The trace cannot be opened, or `clock` asks for timestamps that it does not have.
    pub fn reader(&self, clock: Clock) -> Result<RequestReader, TraceError> {
        if clock == Clock::Timestamps && !self.fields().time {
            let slotted = "use --time slotted and latencies such as 1000steps";
            let remedy = match self.column_remedy("time") {
                _ if self.counts_steps() => {
                    format!(
                        "a column counts steps, which are no time; {slotted}, or say with --time-unit how long a step is"
                    )
                }
                Some(remedy) => format!("{slotted}, or {remedy}"),
                None => slotted.to_owned(),
            };
            let problem = format!("the trace has no timestamps; {remedy}");
            return Err(TraceError::Input { trace: self.name.to_string(), place: Place::Whole, problem });
        }
        let sizes = match self.size_change {
            None => Sizes::AsRead,
            Some(SizeChange::Last) => Sizes::Last(SizeTable::new()),
            Some(SizeChange::Error) => Sizes::Same(SizeTable::new()),
            Some(SizeChange::Largest) => Sizes::Largest(self.largest()?),
        };
        self.reader_by(clock, Hashing::new(self.census), sizes)
    }

    /// The largest size of every object; read at first and then known.
    fn largest(&self) -> Result<Arc<SizeTable>, TraceError> {
        if let Some(known) = self.largest.get() {
            return Ok(Arc::clone(known));
        }
        let mut reader = self.reader_by(Clock::Steps, Hashing::default(), Sizes::AsRead)?;
        let (mut table, mut chunk) = (SizeTable::new(), Vec::new());
        while reader.next_chunk(&mut chunk)? {
            enter_largest(&mut table, &chunk);
        }
        Ok(Arc::clone(self.largest.get_or_init(|| Arc::new(table))))
    }

    /// Name of `key` in an error: `"/a.gif"`, or `key 17` where the trace has numbers or no text for it. Reads the trace up to the first
    /// request for it.
    pub fn key_name(&self, key: u64) -> String {
        let text = if self.opened.has_key_text { self.key_text(key) } else { None };
        match text {
            Some(text) if cell::unsigned(&text).is_none() => format!("\"{}\"", cell::excerpt(&text)),
            _ => format!("key {key}"),
        }
    }

    fn key_text(&self, key: u64) -> Option<Vec<u8>> {
        let found: Arc<OnceLock<Vec<u8>>> = Arc::default();
        let hashing = Hashing::Finding(key, Arc::clone(&found));
        let mut reader = self.reader_by(Clock::Steps, hashing, Sizes::AsRead).ok()?;
        let mut chunk = Vec::new();
        while found.get().is_none() && reader.next_chunk(&mut chunk).ok()? {}
        found.get().cloned()
    }

    fn reader_by(&self, clock: Clock, hashing: Hashing, sizes: Sizes) -> Result<RequestReader, TraceError> {
        let sort = self.order == Order::Any && clock == Clock::Timestamps;
        let timeline = Timeline::new(clock, self.order);
        let window = Window::open(&self.name, &self.source)?;
        let position = window.position();
        let decoder = (self.opened.read)(Input { window, timeline, hashing, strict: self.strict })?;
        let trace = self.clone();
        let key_name = Box::new(move |key| trace.key_name(key));
        Ok(RequestReader::new(self.name.clone(), key_name, decoder, position, sort, sizes))
    }

    /// Reads the packets of a capture from its start, whatever they are.
    ///
    /// # Errors
    ///
    /// The trace is no capture, or cannot be opened.
    pub fn packets(&self) -> Result<PacketReader, TraceError> {
        if !self.format.properties().has_packets {
            let problem = format!("expected a capture, pcap or pcapng, found the format {}", self.format);
            return Err(TraceError::Input { trace: self.name.to_string(), place: Place::Whole, problem });
        }
        let window = Window::open(&self.name, &self.source)?;
        let position = window.position();
        let timeline = Timeline::new(Clock::Timestamps, self.order);
        Ok(PacketReader::new(&self.name, Records::new(window, self.strict), position, timeline))
    }
}

/// Refuses options that mean nothing for the format.
fn check_options(name: &str, format: Format, options: &TraceOptions) -> Result<(), TraceError> {
    match options.foreign_to(format) {
        Some(flag) => Err(wrong(name, format!("{flag} means nothing for the format {format}"))),
        None => Ok(()),
    }
}

fn wrong(name: &str, problem: String) -> TraceError {
    TraceError::Input { trace: name.to_owned(), place: Place::Whole, problem }
}
