//! A trace: opened once, read as often as a study needs.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::access_log::AccessLog;
use crate::capture::{Capture, Records};
use crate::cloudfront::CloudFront;
use crate::csv::{Csv, Record};
use crate::decode::Decode;
use crate::detect::detect;
use crate::error::{Place, TraceError};
use crate::hash::Hashing;
use crate::json_log::JsonLog;
use crate::layout::{Layout, delimiter_of};
use crate::lines::Lines;
use crate::lis::Lis;
use crate::oracle_general::OracleGeneral;
use crate::packets::PacketReader;
use crate::reader::RequestReader;
use crate::sizes::{SizeChange, SizeTable, Sizes, enter_largest};
use crate::source::{Source, name_of};
use crate::text::TextDecoder;
use crate::timeline::{Order, Timeline};
use crate::twitter::Twitter;
use crate::web::WebLog;
use crate::web_rules::WebRules;
use crate::window::Window;
use crate::{Clock, Fields, Format, PacketKey, TimeUnit, TraceOptions, cell};

/// A trace that can be read more than once, and knows what its requests will have before the first is read.
#[derive(Clone)]
pub struct Trace {
    name: Arc<str>,
    source: Source,
    bytes: u64,
    dialect: Dialect,
    order: Order,
    strict: bool,
    census: bool,
    size_change: Option<SizeChange>,
    /// The largest size of every object, once somebody had to know them.
    largest: Arc<OnceLock<Arc<SizeTable>>>,
}

/// A format with all that has to be known to read it.
#[derive(Clone)]
enum Dialect {
    Csv(Layout),
    OracleGeneral(TimeUnit),
    Twitter(TimeUnit),
    Lis,
    Capture(PacketKey),
    AccessLog(WebRules),
    JsonLog(WebRules),
    CloudFront(WebRules),
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

    fn from_source(name: &str, source: Source, options: &TraceOptions) -> Result<Self, TraceError> {
        let bytes = source.len();
        let name = Arc::from(name);
        let format = match options.format {
            Some(format) => format,
            None => detect(&name, Window::open(&name, &source)?)?,
        };
        if let Some(problem) = contradiction(format, options) {
            return Err(TraceError::Input { trace: name.to_string(), place: Place::Whole, problem });
        }
        let time_unit = options.time_unit.unwrap_or(TimeUnit::Seconds);
        let dialect = match format {
            Format::Csv => Dialect::Csv(layout(Window::open(&name, &source)?, options)?),
            Format::OracleGeneral => Dialect::OracleGeneral(time_unit),
            Format::Twitter => Dialect::Twitter(time_unit),
            Format::Lis => Dialect::Lis,
            Format::Pcap => Dialect::Capture(options.packet_key.unwrap_or(PacketKey::Flow)),
            Format::AccessLog => Dialect::AccessLog(web_rules(options)),
            Format::JsonLog => Dialect::JsonLog(web_rules(options)),
            Format::CloudFront => Dialect::CloudFront(web_rules(options)),
        };
        let order = match (options.sort, options.strict) {
            (true, _) => Order::Any,
            (false, true) => Order::Strict,
            (false, false) => Order::Near,
        };
        let size_change = options.size_change.or(format.is_web_log().then_some(SizeChange::Last));
        let trace = Self {
            name,
            source,
            bytes,
            dialect,
            order,
            strict: options.strict,
            census: options.census,
            size_change,
            largest: Arc::default(),
        };
        if options.size_change.is_some() && !trace.fields().size {
            let problem = "--size-change means nothing for a trace without sizes".to_owned();
            return Err(TraceError::Input { trace: trace.name.to_string(), place: Place::Whole, problem });
        }
        Ok(trace)
    }

    /// The path as it was given; `stdin` for standard input.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The format.
    pub fn format(&self) -> Format {
        match self.dialect {
            Dialect::Csv(_) => Format::Csv,
            Dialect::OracleGeneral(_) => Format::OracleGeneral,
            Dialect::Twitter(_) => Format::Twitter,
            Dialect::Lis => Format::Lis,
            Dialect::Capture(_) => Format::Pcap,
            Dialect::AccessLog(_) => Format::AccessLog,
            Dialect::JsonLog(_) => Format::JsonLog,
            Dialect::CloudFront(_) => Format::CloudFront,
        }
    }

    /// Fields that its requests have.
    pub fn fields(&self) -> Fields {
        match &self.dialect {
            Dialect::Csv(layout) => Fields {
                time: layout.time.is_some(),
                size: layout.size.is_some(),
                fetch: layout.fetch.is_some(),
            },
            Dialect::Lis => Fields::default(),
            Dialect::OracleGeneral(_)
            | Dialect::Twitter(_)
            | Dialect::Capture(_)
            | Dialect::AccessLog(_)
            | Dialect::JsonLog(_)
            | Dialect::CloudFront(_) => Fields { time: true, size: true, fetch: false },
        }
    }

    /// Whether its times are numbers that are taken for seconds because nobody said their unit.
    pub fn guesses_time_unit(&self) -> bool {
        matches!(&self.dialect, Dialect::Csv(layout) if layout.time.is_some() && layout.guesses_time_unit)
    }

    /// Whether it has no timestamps, but a column that counts steps.
    pub fn counts_steps(&self) -> bool {
        matches!(&self.dialect, Dialect::Csv(layout) if layout.step.is_some())
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
            let remedy = match self.dialect {
                Dialect::Csv(_) if self.counts_steps() => {
                    "a column counts steps, which are no time; use --time slotted and latencies such as 1000steps, or say with --time-unit how long a step is"
                }
                Dialect::Csv(_) => "use --time slotted or --columns time=N",
                _ => "use --time slotted",
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
        let text = match self.dialect {
            Dialect::Lis | Dialect::OracleGeneral(_) | Dialect::Capture(_) => None,
            _ => self.key_text(key),
        };
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
        let decoder: Box<dyn Decode> = match &self.dialect {
            Dialect::Csv(layout) => {
                Box::new(TextDecoder::new(Lines::new(window)?, Csv::new(layout.clone(), hashing), timeline))
            }
            Dialect::Twitter(unit) => {
                Box::new(TextDecoder::new(Lines::new(window)?, Twitter { unit: *unit, hashing }, timeline))
            }
            Dialect::Lis => Box::new(TextDecoder::new(Lines::new(window)?, Lis, timeline)),
            Dialect::AccessLog(rules) => {
                let web = WebLog::new(rules.clone(), hashing);
                Box::new(TextDecoder::new(Lines::new(window)?, AccessLog::new(web), timeline))
            }
            Dialect::JsonLog(rules) => {
                let web = WebLog::new(rules.clone(), hashing);
                Box::new(TextDecoder::new(Lines::new(window)?, JsonLog::new(web), timeline))
            }
            Dialect::CloudFront(rules) => {
                let web = WebLog::new(rules.clone(), hashing);
                Box::new(TextDecoder::new(Lines::new(window)?, CloudFront::new(web), timeline))
            }
            Dialect::OracleGeneral(unit) => Box::new(OracleGeneral::new(window, timeline, *unit)),
            Dialect::Capture(key) => {
                Box::new(Capture::new(Records::new(window, self.strict), timeline, *key, hashing))
            }
        };
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
        if !matches!(self.dialect, Dialect::Capture(_)) {
            let problem = format!("expected a capture, pcap or pcapng, found the format {}", self.format());
            return Err(TraceError::Input { trace: self.name.to_string(), place: Place::Whole, problem });
        }
        let window = Window::open(&self.name, &self.source)?;
        let position = window.position();
        let timeline = Timeline::new(Clock::Timestamps, self.order);
        Ok(PacketReader::new(&self.name, Records::new(window, self.strict), position, timeline))
    }
}

/// Rules for the requests of a web server's log that count.
fn web_rules(options: &TraceOptions) -> WebRules {
    WebRules {
        methods: options.methods.clone().unwrap_or_default(),
        statuses: options.statuses.clone().unwrap_or_default(),
        key: options.web_key.unwrap_or_default(),
    }
}

/// Options that mean nothing for `format`: better refused than silently ignored.
fn contradiction(format: Format, options: &TraceOptions) -> Option<String> {
    let is_csv = format == Format::Csv;
    let has_plain_times = matches!(format, Format::Csv | Format::OracleGeneral | Format::Twitter);
    let flags = [
        ("--columns", options.columns.is_some() && !is_csv),
        ("--fetch-unit", options.fetch_unit.is_some() && !is_csv),
        ("--delimiter", options.delimiter.is_some() && !is_csv),
        ("--header", options.header.is_some() && !is_csv),
        ("--time-unit", options.time_unit.is_some() && !has_plain_times),
        ("--key", options.packet_key.is_some() && format != Format::Pcap),
        ("--methods", options.methods.is_some() && !format.is_web_log()),
        ("--statuses", options.statuses.is_some() && !format.is_web_log()),
        ("--web-key", options.web_key.is_some() && !format.is_web_log()),
    ];
    let (flag, _) = flags.into_iter().find(|&(_, is_wrong)| is_wrong)?;
    Some(format!("{flag} means nothing for the format {format}"))
}

/// The layout of the CSV trace in `window`, from its first row.
fn layout(window: Window, options: &TraceOptions) -> Result<Layout, TraceError> {
    let mut lines = Lines::new(window)?;
    loop {
        if !lines.advance()? {
            return Err(lines.error_whole("no requests found"));
        }
        if !lines.is_blank() {
            break;
        }
    }
    let delimiter = options.delimiter.unwrap_or_else(|| delimiter_of(lines.text()));
    let mut record = Record::default();
    while !record.split(lines.text(), delimiter, usize::MAX).map_err(|problem| lines.error(problem))? {
        if !lines.extend()? {
            return Err(lines.error("a quoted cell never ends"));
        }
    }
    let cells: Vec<&[u8]> = (0..record.len()).map(|column| record.cell(lines.text(), column)).collect();
    Layout::of(&cells, delimiter, options).map_err(|problem| lines.error(problem))
}
