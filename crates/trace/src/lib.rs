//! Requests from files and standard input, whatever their format.
//!
//! A [`Trace`] is opened once and can then be read as often as a study needs, each time from its start and each time
//! in constant memory:
//!
//! ```
//! use trueplane_trace::{Clock, Trace, TraceOptions};
//!
//! let text = b"time_ms,key,size\n0,17,512\n1.5,photo.jpg,4096\n".to_vec();
//! let trace = Trace::from_bytes("example.csv", text, &TraceOptions::default())?;
//! let mut reader = trace.reader(Clock::Timestamps)?;
//! let mut requests = Vec::new();
//! while reader.next_chunk(&mut requests)? {
//!     for request in &requests {
//!         println!("{} asks for {:x}", request.time, request.key);
//!     }
//! }
//! # Ok::<(), trueplane_trace::TraceError>(())
//! ```
//!
//! From the bytes up:
//!
//! 1. `source`: where the bytes lie (a file, standard input, memory), and gzip, zstd and xz undone; `gzip` has the first of
//!    them.
//! 2. `window`: the stretch of the bytes that a reader is looking at; everything below reads through it.
//! 3. `lines`, `text`: lines, idle steps and quoted records for the text formats; `cell` and `hash` (over `sip`) read one cell;
//!    `census` counts keys; `decode`: what every reader has to do.
//! 4. `dialect`: what every format says of itself. `formats` has all formats, each in a file of its own: `csv`, `twitter`, `lis`,
//!    `access_log`, `json_log`, `cloudfront`, `oracle_general`, `capture`. What logs of web servers share is in `web`, with `web_rules`
//!    (which lines count) and `web_time`.
//! 5. `detect`, `layout`: which format a trace has, and which of its columns is what; `sizes`: what size an object has.
//! 6. `timeline`: what time a request gets, and how far back time may step.
//! 7. `open`, `reader`: the two types that everyone else uses; `packets`, `held`: a capture by those who want packets, not requests;
//!    `rows`, `table`: other CSV files, of any columns and of known ones; `log_file`: files of rows or of JSON; `in_memory`: requests that need no reading.
#![forbid(unsafe_code)]

mod access_log;
mod capture;
mod cell;
mod census;
mod cloudfront;
mod columns;
mod csv;
mod decode;
mod detect;
mod dialect;
mod error;
mod formats;
mod gzip;
mod hash;
mod held;
mod in_memory;
mod json_log;
mod layout;
mod lines;
mod lis;
mod log_file;
mod open;
mod options;
mod oracle_general;
mod packet;
mod packets;
mod reader;
mod reading;
mod rows;
mod sip;
mod sizes;
mod source;
mod table;
mod text;
mod timeline;
mod twitter;
mod web;
mod web_rules;
mod web_time;
mod window;

use trueplane_units::Nanos;

pub use self::cell::{date_time, key as key_of_text};
pub use self::census::KeyCensus;
pub use self::columns::{Column, Columns, ParseColumnsError};
pub use self::error::{Place, TraceError, without_code};
pub use self::in_memory::{InMemory, RequestColumns};
pub use self::log_file::{LogFile, LogText, TextPlace};
pub use self::open::Trace;
pub use self::packet::Layers;
pub use self::packets::{Packet, PacketReader};
pub use self::reader::RequestReader;
pub use self::reading::{Delimiter, Order, Reading, Strictness};
pub use self::sizes::SizeChange;
pub use self::source::decompressed;
pub use self::table::{Table, TableColumn};
pub use self::web_rules::{Methods, ParseRulesError, Statuses, WebKey};
pub use crate::options::{Format, FormatProperties, PacketKey, TimeUnit, TraceOptions};
pub use crate::rows::{NO_TEXT, Rows, column_name};
pub use crate::source::name_of;

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it arrives: nanoseconds since the trace's own zero, or the index of its time step; see [`Clock`].
    pub time: Nanos,
    /// Key of the object that is requested.
    ///
    /// A key that is written as a canonical decimal (`17`, but not `017` or `+17`) below 2⁶⁴ is that number. Any
    /// other text, and every packet's, is hashed to 64 bits with SipHash-2-4 under the all-zero key, the same on
    /// every run and machine. Among n distinct hashed keys some two collide with a probability of about n²/2⁶⁵:
    /// for a hundred million of them, 0.03%. [`RequestReader::census`] counts those that do.
    pub key: u64,
    /// Its size in bytes; 1 when the trace has none, 0 where the trace has sizes and none for this request: an empty cell or
    /// `-`, or an answer without a body. [`SizeChange`] can take it from the other requests for the object.
    pub size: u64,
    /// The measured time of fetching the object from the backing store; 0 when the trace has none, or none for this
    /// request: an empty cell or `-`.
    pub fetch: Nanos,
}

/// Meaning of [`Request::time`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// The trace's own timestamps, in nanoseconds. They must not go backwards by more than a little (see
    /// [`TraceOptions::sort`] and [`TraceOptions::strict`]).
    Timestamps,
    /// The index of the time step, from 0. Every line, record or packet of the trace is one step whatever its
    /// timestamp, which then need not exist. An empty line, and one that holds no request, is an idle step: time
    /// passes and nothing arrives. A header is no step; a `.lis` line is as many steps as pages.
    Steps,
}

/// Fields of a request that a trace has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Timestamps; without them only [`Clock::Steps`] can be asked for.
    pub time: bool,
    /// Sizes; without them every size is 1.
    pub size: bool,
    /// Measured fetch times; without them every fetch time is 0.
    pub fetch: bool,
}

impl Fields {
    /// Timestamps, sizes and measured fetch times.
    const ALL: Self = Self { time: true, size: true, fetch: true };

    /// Timestamps and sizes.
    const TIME_AND_SIZE: Self = Self { time: true, size: true, fetch: false };
}

/// The most requests that [`RequestReader::next_chunk`] hands over at once.
pub const CHUNK: usize = 65_536;
