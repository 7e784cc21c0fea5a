//! What a user may say about a trace that the trace does not say itself.

use std::fmt;
use std::str::FromStr;

use crate::columns::Columns;
use crate::names::{ParseNameError, name_of, parse_name};
use crate::sizes::SizeChange;
use crate::web_rules::{Methods, Statuses, WebKey};

/// How to read a trace; whatever is `None` is found out from its name and its start.
#[derive(Clone, Debug, Default)]
pub struct TraceOptions {
    /// The format. Say it for `.lis` and oracleGeneral traces that come through a pipe: only their names tell them.
    pub format: Option<Format>,
    /// CSV only: which column holds what. Columns that it does not mention are not read. Without it the columns are
    /// found by their names or places, those of sizes and fetch times too; in these two an empty cell or `-` is 0.
    pub columns: Option<Columns>,
    /// CSV, Twitter and oracleGeneral: the unit of plain numbers in the time column. Default: the suffix of the
    /// column's name (`time_ms`), else seconds.
    pub time_unit: Option<TimeUnit>,
    /// CSV only: the unit of the fetch column. Default: the suffix of the column's name, else the unit of time.
    pub fetch_unit: Option<TimeUnit>,
    /// CSV only: the byte between cells. Spaces, unlike all others, separate by runs, so that a time that has one
    /// (`2024-11-15 16:57:50`) must be in quotes.
    pub delimiter: Option<u8>,
    /// CSV only: whether the first line names the columns.
    pub header: Option<bool>,
    /// Captures only: what of a packet is the key. Default: its flow.
    pub packet_key: Option<PacketKey>,
    /// Logs of web servers only: the methods that count. Default: GET and HEAD.
    pub methods: Option<Methods>,
    /// Logs of web servers only: the statuses of answers that count. Default: those that a cache may store, and 304.
    pub statuses: Option<Statuses>,
    /// Logs of web servers only: what of a request is the key. Default: the request target.
    pub web_key: Option<WebKey>,
    /// What the size of an object is when its requests tell different ones, or none. Default: the one told last in logs of
    /// web servers, elsewhere what each request tells.
    pub size_change: Option<SizeChange>,
    /// Accept timestamps that go backwards: requests are then sorted by time, those of one instant staying in
    /// order. This holds the whole trace in memory, 32 bytes per request. Without effect on [`super::Clock::Steps`].
    pub sort: bool,
    /// Refuse what is otherwise put right: a capture whose last record is cut off, which is left out and counted; and, unless
    /// `sort` is set, timestamps that step back at all. Without it those that lie at most 10 ms behind the latest are sorted,
    /// in a memory of at most 32,768 requests or packets that may still change places.
    pub strict: bool,
    /// Count the keys while they are hashed, and those that share their hash with another: see
    /// [`super::RequestReader::census`].
    pub census: bool,
}

/// The formats that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Rows of cells with commas, semicolons, tabs or spaces between them.
    Csv,
    /// libCacheSim's `oracleGeneral`: packed little-endian records of 24 bytes.
    OracleGeneral,
    /// Twitter's cache trace: timestamp (s), key, key size, value size, client, operation, TTL; no header.
    Twitter,
    /// The ARC paper's `.lis`: lines of `start count ignore number`.
    Lis,
    /// pcap and pcapng.
    Pcap,
    /// Common and Combined access logs of web servers.
    AccessLog,
    /// Logs of web servers with a JSON object in every line: nginx (`escape=json`), Caddy, Envoy.
    JsonLog,
    /// Standard logs of CloudFront, and others in the extended format of the W3C.
    CloudFront,
}

impl Format {
    /// Whether it is one of web servers' logs, whose lines have methods and statuses.
    pub fn is_web_log(self) -> bool {
        matches!(self, Format::AccessLog | Format::JsonLog | Format::CloudFront)
    }

    /// Every format with the name that flags and reports use.
    pub const NAMES: [(&'static str, Format); 8] = [
        ("csv", Format::Csv),
        ("oracleGeneral", Format::OracleGeneral),
        ("twitter", Format::Twitter),
        ("lis", Format::Lis),
        ("pcap", Format::Pcap),
        ("access-log", Format::AccessLog),
        ("json-log", Format::JsonLog),
        ("cloudfront", Format::CloudFront),
    ];
}

/// What of a packet is the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PacketKey {
    /// The source address.
    Source,
    /// The destination address.
    Destination,
    /// The 5-tuple of addresses, protocol and ports, each direction a flow of its own. Packets without ports (ICMP,
    /// every fragment but the first) have the 3-tuple of addresses and protocol instead.
    #[default]
    Flow,
}

impl PacketKey {
    /// Every choice with the name that flags and reports use.
    pub const NAMES: [(&'static str, PacketKey); 3] =
        [("src", PacketKey::Source), ("dst", PacketKey::Destination), ("flow", PacketKey::Flow)];
}

/// The unit of a plain number that means a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl TimeUnit {
    /// Every unit with the name that flags and reports use.
    pub const NAMES: [(&'static str, TimeUnit); 4] = [
        ("s", TimeUnit::Seconds),
        ("ms", TimeUnit::Millis),
        ("us", TimeUnit::Micros),
        ("ns", TimeUnit::Nanos),
    ];

    /// One unit in nanoseconds.
    pub fn nanos(self) -> u64 {
        match self {
            TimeUnit::Seconds => 1_000_000_000,
            TimeUnit::Millis => 1_000_000,
            TimeUnit::Micros => 1_000,
            TimeUnit::Nanos => 1,
        }
    }
}

impl FromStr for Format {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_name(text, "format", &Format::NAMES)
    }
}

impl FromStr for WebKey {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_name(text, "web key", &WebKey::NAMES)
    }
}

impl FromStr for PacketKey {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_name(text, "packet key", &PacketKey::NAMES)
    }
}

impl FromStr for TimeUnit {
    type Err = ParseNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_name(text, "time unit", &TimeUnit::NAMES)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(name_of(self, &Format::NAMES))
    }
}

impl fmt::Display for PacketKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(name_of(self, &PacketKey::NAMES))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(name_of(self, &TimeUnit::NAMES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_printed() {
        for (name, format) in Format::NAMES {
            assert_eq!(name.parse(), Ok(format));
            assert_eq!(format.to_string(), name);
        }
        assert_eq!("oraclegeneral".parse(), Ok(Format::OracleGeneral));
        assert_eq!("src".parse(), Ok(PacketKey::Source));
        assert_eq!("us".parse(), Ok(TimeUnit::Micros));
        assert_eq!(
            "vscsi".parse::<Format>().unwrap_err().to_string(),
            "unknown format \"vscsi\"; known are csv, oracleGeneral, twitter, lis, pcap, access-log, json-log, cloudfront"
        );
    }
}
