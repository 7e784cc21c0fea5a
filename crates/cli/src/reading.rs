//! The flags that say how to read a trace, for every verb that reads one.

use clap::Args;
use trueplane_trace::{
    Columns, Format, Methods, PacketKey, SizeChange, Statuses, TimeUnit, TraceOptions, WebKey,
};

#[derive(Args)]
#[command(next_help_heading = "Reading the trace")]
pub(crate) struct ReadingArgs {
    /// Format: csv, oracleGeneral, twitter, lis, pcap, access-log, json-log or cloudfront [default: by name and content]
    #[arg(long)]
    format: Option<Format>,

    /// CSV columns by number from 1 or by header name, such as time=2,key=5,size=4,fetch=7
    #[arg(long)]
    columns: Option<Columns>,

    /// Unit of plain numbers in the time column: s, ms, us or ns [default: the column name's suffix, else s]
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<TimeUnit>,

    /// Unit of the fetch column: s, ms, us or ns [default: the column name's suffix, else the time unit]
    #[arg(long, value_name = "UNIT")]
    fetch_unit: Option<TimeUnit>,

    /// Byte between CSV cells: a character or "tab" [default: found in the first line]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// Whether the first CSV line names the columns [default: found out]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    header: Option<bool>,

    /// What of a packet is the key: src, dst or flow [default: flow]
    #[arg(long, value_name = "WHAT")]
    key: Option<PacketKey>,

    /// Methods that count in a web server's log, such as GET,HEAD,POST, or all; lines with others are left out [default:
    /// GET,HEAD]
    #[arg(long, value_name = "LIST")]
    methods: Option<Methods>,

    /// Statuses that count in a web server's log, such as 2xx,304, or cacheable, or all; lines with others are left out
    /// [default: cacheable, which is 200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414, 501]
    #[arg(long, value_name = "LIST")]
    statuses: Option<Statuses>,

    /// What of a web request is the key: uri, path (without the query string), host+uri or host+path [default: uri]
    #[arg(long, value_name = "WHAT")]
    web_key: Option<WebKey>,

    /// Size of an object whose requests tell different ones, or none (304): last, largest (reads the trace once more) or
    /// error [default: last in web servers' logs, elsewhere what each request tells]
    #[arg(long, value_name = "WHICH")]
    size_change: Option<SizeChange>,

    #[command(flatten)]
    order: OrderArgs,
}

/// The flags that say what of a trace is put right, for every verb that reads a trace or a capture.
#[derive(Args)]
pub(crate) struct OrderArgs {
    /// Accept timestamps that step back by more than 10ms: sort by time, in memory
    #[arg(long, help_heading = "Reading the trace")]
    sort: bool,

    #[command(flatten)]
    strict: StrictArgs,
}

/// The one of them for verbs that sort anyway.
#[derive(Args)]
pub(crate) struct StrictArgs {
    /// Refuse timestamps that step back by up to 10ms, instead of sorting them, and a capture whose last packet is cut off (as a
    /// killed tcpdump leaves it), instead of leaving that packet out
    #[arg(long, help_heading = "Reading the trace")]
    strict: bool,
}

impl OrderArgs {
    /// How to read a capture.
    pub(crate) fn capture(&self) -> TraceOptions {
        TraceOptions { sort: self.sort, ..self.strict.capture() }
    }
}

impl StrictArgs {
    /// The flag, if it was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        self.strict.then_some("--strict")
    }

    /// How to read a capture.
    pub(crate) fn capture(&self) -> TraceOptions {
        TraceOptions { format: Some(Format::Pcap), strict: self.strict, ..TraceOptions::default() }
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        b"tab" | b"\\t" => Ok(b'\t'),
        _ => Err("expected one ASCII character, or \"tab\"".to_owned()),
    }
}

impl ReadingArgs {
    /// How to read it.
    pub(crate) fn options(&self) -> TraceOptions {
        TraceOptions {
            format: self.format,
            columns: self.columns.clone(),
            time_unit: self.time_unit,
            fetch_unit: self.fetch_unit,
            delimiter: self.delimiter,
            header: self.header,
            packet_key: self.key,
            methods: self.methods.clone(),
            statuses: self.statuses.clone(),
            web_key: self.web_key,
            size_change: self.size_change,
            ..self.order.capture()
        }
    }
}
