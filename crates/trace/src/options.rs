//! What a user may say about a trace that the trace does not say itself.

use trueplane_units::choices;

use crate::columns::Columns;
use crate::sizes::SizeChange;
use crate::web_rules::{Methods, Statuses, WebKey};

/// Options for reading a trace; whatever is `None` is found out from its name and its start.
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
    /// Size of an object whose requests tell different ones, or none. Default: the one told last in logs of
    /// web servers, elsewhere what each request tells.
    pub size_change: Option<SizeChange>,
    /// Accept timestamps that go backwards: requests are then sorted by time, those of one instant staying in
    /// order. This holds the whole trace in memory, 32 bytes per request. Without effect on [`super::Clock::Steps`].
    pub sort: bool,
    /// Refuse what is otherwise put right: a last record or line that is cut off, which is left out and counted; and, unless
    /// `sort` is set, timestamps that step back at all. Without it those that lie at most 10 ms behind the latest are sorted,
    /// in a memory of at most 32,768 requests or packets that may still change places.
    pub strict: bool,
    /// Count the keys while they are hashed, and those that share their hash with another: see
    /// [`super::RequestReader::census`].
    pub census: bool,
}

/// Properties of a format that are known without opening a trace: which options mean something for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatProperties {
    /// Whether it has columns, which need not always be the same.
    pub has_columns: bool,
    /// Whether its times are plain numbers.
    pub has_plain_times: bool,
    /// Whether it has packets.
    pub has_packets: bool,
    /// Whether it is one of web servers' logs, whose lines have methods and statuses.
    pub is_web_log: bool,
}

impl FormatProperties {
    const NONE: Self =
        Self { has_columns: false, has_plain_times: false, has_packets: false, is_web_log: false };
    const PLAIN: Self = Self { has_plain_times: true, ..Self::NONE };
    const WEB_LOG: Self = Self { is_web_log: true, ..Self::NONE };
}

choices! {
    /// A format that can be read.
    pub enum Format: FormatProperties {
        /// Rows of cells with commas, semicolons, tabs or spaces between them.
        Csv = "csv" { has_columns: true, ..FormatProperties::PLAIN },
        /// Packed little-endian records of 24 bytes, libCacheSim's `oracleGeneral`.
        OracleGeneral = "oracleGeneral" { ..FormatProperties::PLAIN },
        /// Twitter's cache trace: timestamp (s), key, key size, value size, client, operation, TTL; no header.
        Twitter = "twitter" { ..FormatProperties::PLAIN },
        /// The ARC paper's `.lis`: lines of `start count ignore number`.
        Lis = "lis" { ..FormatProperties::NONE },
        /// Captures in pcap and pcapng.
        Pcap = "pcap" { has_packets: true, ..FormatProperties::NONE },
        /// Common and Combined access logs of web servers.
        AccessLog = "access-log" { ..FormatProperties::WEB_LOG },
        /// Logs of web servers with a JSON object in every line: nginx (`escape=json`), Caddy, Envoy.
        JsonLog = "json-log" { ..FormatProperties::WEB_LOG },
        /// Standard logs of CloudFront, and others in the extended format of the W3C.
        CloudFront = "cloudfront" { ..FormatProperties::WEB_LOG },
    }
}

impl TraceOptions {
    /// The unit of times that are plain numbers, where the trace does not say it.
    pub(super) fn plain_time_unit(&self) -> TimeUnit {
        self.time_unit.unwrap_or(TimeUnit::Seconds)
    }

    /// The flag of an option that is given and means nothing for `format`: better refused than silently ignored.
    pub(super) fn foreign_to(&self, format: Format) -> Option<&'static str> {
        let FormatProperties { has_columns, has_plain_times, has_packets, is_web_log } = format.properties();
        let flags = [
            ("--columns", self.columns.is_some(), has_columns),
            ("--fetch-unit", self.fetch_unit.is_some(), has_columns),
            ("--delimiter", self.delimiter.is_some(), has_columns),
            ("--header", self.header.is_some(), has_columns),
            ("--time-unit", self.time_unit.is_some(), has_plain_times),
            ("--key", self.packet_key.is_some(), has_packets),
            ("--methods", self.methods.is_some(), is_web_log),
            ("--statuses", self.statuses.is_some(), is_web_log),
            ("--web-key", self.web_key.is_some(), is_web_log),
        ];
        let foreign = flags.into_iter().find(|&(_, is_given, has_meaning)| is_given && !has_meaning);
        foreign.map(|(flag, ..)| flag)
    }
}

choices! {
    /// The part of a packet that is its key.
    pub enum PacketKey {
        /// The source address.
        Source = "src",
        /// The destination address.
        Destination = "dst",
        /// The 5-tuple of addresses, protocol and ports; each direction is a flow of its own. Packets without ports (ICMP, and all fragments but
        /// the first) have the 3-tuple of addresses and protocol instead.
        Flow = "flow",
    }
}

#[expect(clippy::derivable_impls, reason = "rows of choices! take no attributes")]
impl Default for PacketKey {
    fn default() -> Self {
        PacketKey::Flow
    }
}

choices! {
    /// The unit of a plain number that means a time.
    pub enum TimeUnit {
        /// Time in seconds.
        Seconds = "s",
        /// Time in milliseconds.
        Millis = "ms",
        /// Time in microseconds.
        Micros = "us",
        /// Time in nanoseconds.
        Nanos = "ns",
    }
}

impl TimeUnit {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_printed() {
        for &format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        assert_eq!("oraclegeneral".parse(), Ok(Format::OracleGeneral));
        assert_eq!("src".parse(), Ok(PacketKey::Source));
        assert_eq!("us".parse(), Ok(TimeUnit::Micros));
        assert_eq!(
            "vscsi".parse::<Format>().unwrap_err().to_string(),
            "expected one of csv, oracleGeneral, twitter, lis, pcap, access-log, json-log, cloudfront, got \"vscsi\""
        );
    }
}
