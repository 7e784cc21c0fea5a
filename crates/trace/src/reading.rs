//! The parameters that say how to read a trace, for every study and command that reads one.

use std::fmt;
use std::str::FromStr;

use trueplane_units::{parameters, text_value};

use crate::columns::Columns;
use crate::options::{Format, PacketKey, TimeUnit, TraceOptions};
use crate::sizes::SizeChange;
use crate::web_rules::{Methods, Statuses, WebKey};

const HEADING: &str = "Reading the trace";

parameters! {
    /// Options for reading a trace.
    #[derive(Clone, Debug)]
    pub struct Reading {
        /// Format of the trace.
        pub format: Option<Format> =>
            { value: "FORMAT", default_words: "detected by name and content", heading: HEADING },
        /// Columns of a CSV trace by number or name, such as time=2,key=5,size=4,fetch=7. Numbers start at 1. Names are those of the header
        /// line. Columns that you leave out are not read. Without this flag, the columns are found by their names or places.
        pub columns: Option<Columns> => { value: "COLUMNS", heading: HEADING },
        /// Unit of plain numbers in the time column. For csv, oracleGeneral and twitter only. A column's name can end in its unit, as time_ms
        /// does.
        pub time_unit: Option<TimeUnit> => {
            value: "UNIT", default_words: "the column name's suffix, else s", heading: HEADING,
        },
        /// Unit of plain numbers in the fetch column. For csv only.
        pub fetch_unit: Option<TimeUnit> => {
            value: "UNIT", default_words: "the column name's suffix, else the time unit", heading: HEADING,
        },
        /// Separator of CSV cells: one ASCII character, or "tab".
        pub delimiter: Option<Delimiter> =>
            { value: "CHAR", default_words: "detected in the first line", heading: HEADING },
        /// Whether the first line of a CSV trace is a header: true or false. The flag without a value means true.
        pub header: Option<bool> => {
            value: "BOOL", bare: "true", is_switch: false, default_words: "detected", heading: HEADING,
        },
        /// Part of each packet that is used as the key. For captures only.
        pub key: Option<PacketKey> =>
            { value: "PART", default_words: "flow", heading: HEADING },
        /// HTTP methods to count in a web server's log, such as GET,HEAD,POST, or all. Lines with other methods are left out.
        pub methods: Option<Methods> =>
            { value: "LIST", default_words: "GET,HEAD", heading: HEADING },
        /// HTTP statuses to count in a web server's log, such as 2xx,304, cacheable or all. Lines with other statuses are left out.
        ///
        /// The word cacheable stands for 200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414 and 501.
        pub statuses: Option<Statuses> =>
            { value: "LIST", default_words: "cacheable", heading: HEADING },
        /// Part of each web request that is used as the key. For logs of web servers only.
        pub web_key: Option<WebKey> =>
            { value: "PART", default_words: "uri", heading: HEADING },
        /// Size of an object whose requests give different sizes, or none (status 304).
        pub size_change: Option<SizeChange> => {
            value: "WHICH", default_words: "last for logs of web servers; otherwise, each request has the size that it gives",
            heading: HEADING,
        },
    }
    including {
        /// Options for a trace that is out of order.
        pub order: Order,
    }
}

parameters! {
    /// Options for a trace or a capture that is out of order.
    #[derive(Clone, Debug)]
    pub struct Order {
        /// Sort a trace whose timestamps step back by more than 10ms. The whole trace is then held in memory. Without this flag, such a trace is
        /// refused. Smaller steps are always sorted, unless you give --strict.
        pub sort: bool => { heading: HEADING },
    }
    including {
        /// Options for what is refused instead of being put right.
        pub strictness: Strictness,
    }
}

parameters! {
    /// Options for what is refused instead of being put right, for commands that sort anyway.
    #[derive(Clone, Debug)]
    pub struct Strictness {
        /// Refuse a trace with small faults instead of repairing them. These faults are timestamps that step back by up to 10ms, which are
        /// otherwise sorted, and a last packet or line that is cut off (as by a killed tcpdump), which is otherwise left out.
        pub strict: bool => { heading: HEADING },
    }
}

impl Reading {
    /// Options for reading the trace.
    pub fn options(&self) -> TraceOptions {
        TraceOptions {
            format: self.format,
            columns: self.columns.clone(),
            time_unit: self.time_unit,
            fetch_unit: self.fetch_unit,
            delimiter: self.delimiter.map(|Delimiter(byte)| byte),
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

impl Order {
    /// Options for reading a capture.
    pub fn capture(&self) -> TraceOptions {
        TraceOptions { sort: self.sort, ..self.strictness.capture() }
    }
}

impl Strictness {
    /// Options for reading a capture.
    pub fn capture(&self) -> TraceOptions {
        TraceOptions { format: Some(Format::Pcap), strict: self.strict, ..TraceOptions::default() }
    }
}

/// The byte between the cells of a CSV file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delimiter(pub u8);

const DELIMITER: &str = "one ASCII character, or \"tab\"";

impl FromStr for Delimiter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.as_bytes() {
            [byte] => Ok(Self(*byte)),
            b"tab" | b"\\t" => Ok(Self(b'\t')),
            _ => Err(trueplane_units::unexpected(DELIMITER, text)),
        }
    }
}

impl fmt::Display for Delimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&if self.0 == b'\t' { "tab".to_owned() } else { char::from(self.0).to_string() })
    }
}

text_value!(Delimiter, DELIMITER);

#[cfg(test)]
mod tests {
    use trueplane_units::Parameters;

    use super::*;

    #[test]
    fn what_is_given_says_how_to_read() {
        let given = [
            ("columns", "key=2,time=1"),
            ("delimiter", "tab"),
            ("header", "false"),
            ("statuses", "200, 304"),
        ];
        let reading = Reading::given(&given).unwrap();
        let options = reading.options();
        assert_eq!((options.delimiter, options.header), (Some(b'\t'), Some(false)));
        assert_eq!(reading.columns.as_ref().unwrap().to_string(), "time=1,key=2");
        assert_eq!(reading.statuses.as_ref().unwrap().to_string(), "200,304");
        assert_eq!(reading.first_given().as_deref(), Some("--columns"));
        assert_eq!(Reading::default().first_given(), None);
        assert_eq!(Order::given(&[("strict", "true")]).unwrap().first_given().as_deref(), Some("--strict"));
        assert_eq!(
            Reading::given(&[("delimiter", "ab")]).unwrap_err(),
            "delimiter: expected one ASCII character, or \"tab\", got \"ab\""
        );
    }
}
