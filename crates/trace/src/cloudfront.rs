//! The standard logs of CloudFront, and others in the extended format of the W3C (IIS): a line `#Fields:` names columns.
//!
//! ```text
//! #Version: 1.0
//! #Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status
//! 2019-12-04  21:02:31  LAX1  392  192.0.2.100  GET  d111.cloudfront.net  /index.html  200
//! ```
//!
//! Columns are separated by tabs or, in lines without any, by spaces. The size is `sc-bytes`, which counts the header of
//! the answer, too. What counts as a request: `web`.
//!
//! Source: Hallam-Baker, Behlendorf, Extended Log File Format, W3C Working Draft WD-logfile-960323.

use memchr::memchr;
use trueplane_units::Nanos;

use crate::census::KeyCensus;
use crate::dialect::{Dialect, Opened};
use crate::error::TraceError;
use crate::options::TraceOptions;
use crate::text::{LineFormat, Parsed};
use crate::web::{self, WebLine, WebLog};
use crate::web_time::Times;
use crate::window::Window;
use crate::{Fields, cell};

/// Standard logs of CloudFront, and others in the extended format of the W3C.
pub(super) struct CloudFront;

impl Dialect for CloudFront {
    fn has_line(&self, _name: &str, _index: usize, line: &[u8]) -> bool {
        looks_like_cloudfront(line)
    }

    fn open(&self, _window: Window, options: &TraceOptions) -> Result<Opened, TraceError> {
        Ok(web::open(options, Fields::TIME_AND_SIZE, Reader::new))
    }
}

/// Reads extended logs.
#[derive(Default)]
struct Reader {
    web: WebLog,
    times: Times,
    columns: Option<Columns>,
    /// Buffer in which date and time, and stem and query string, are put together.
    joined: Vec<u8>,
}

/// Columns of a log by their meaning, counted from 0.
struct Columns {
    time: Option<Time>,
    method: Option<usize>,
    stem: usize,
    query: Option<usize>,
    host: Option<usize>,
    status: Option<usize>,
    bytes: Option<usize>,
    /// All that matter lie before this one.
    width: usize,
}

/// Columns of the time.
enum Time {
    /// One column with date and time.
    Whole(usize),
    /// Two columns, of the date and of the time.
    DateAndTime(usize, usize),
}

impl Columns {
    /// Finds the columns by the names after `#Fields:`.
    fn of(names: &[u8]) -> Result<Self, String> {
        let names: Vec<&[u8]> =
            names.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty()).collect();
        let place = |known: &[&str]| {
            known
                .iter()
                .find_map(|known| names.iter().position(|name| name.eq_ignore_ascii_case(known.as_bytes())))
        };
        let stem = place(&["cs-uri-stem", "cs-uri"])
            .ok_or_else(|| cell::expected("a column cs-uri-stem", &names.join(&b' ')))?;
        let time = match (place(&["timestamp(ms)", "timestamp"]), place(&["date"]), place(&["time"])) {
            (Some(whole), ..) => Some(Time::Whole(whole)),
            (None, Some(date), Some(time)) => Some(Time::DateAndTime(date, time)),
            _ => None,
        };
        Ok(Self {
            time,
            method: place(&["cs-method"]),
            stem,
            query: place(&["cs-uri-query"]),
            host: place(&["x-host-header", "cs(host)", "cs-host"]),
            status: place(&["sc-status"]),
            bytes: place(&["sc-bytes"]),
            width: names.len(),
        })
    }
}

impl Reader {
    /// Reads lines of which `web` makes requests.
    fn new(web: WebLog) -> Self {
        Self { web, ..Self::default() }
    }
}

impl LineFormat for Reader {
    fn parse(&mut self, line: &[u8], timed: bool) -> Result<Parsed, String> {
        if let Some(directive) = line.strip_prefix(b"#") {
            if let Some(names) = directive.strip_prefix(b"Fields:") {
                self.columns = Some(Columns::of(names)?);
            }
            return Ok(Parsed::Header);
        }
        let columns = self.columns.as_ref();
        let columns =
            columns.ok_or_else(|| cell::expected("a line #Fields: before the first request", line))?;
        let delimiter = if memchr(b'\t', line).is_some() { b'\t' } else { b' ' };
        let cells: Vec<&[u8]> = line.split(|byte| *byte == delimiter).collect();
        if cells.len() < columns.width {
            return Err(format!(
                "expected the {} columns that #Fields: names, found {}",
                columns.width,
                cells.len()
            ));
        }
        let time = match columns.time {
            _ if !timed => Nanos(0),
            Some(Time::Whole(whole)) => self.times.read(cells[whole])?,
            Some(Time::DateAndTime(date, time)) => {
                join(&mut self.joined, cells[date], b'T', cells[time]);
                self.times.read(&self.joined)?
            }
            None => return Err("expected columns date and time in the line #Fields:".to_owned()),
        };
        let optional = |column: Option<usize>| {
            column.map(|column| cells[column]).filter(|cell| !matches!(*cell, b"" | b"-"))
        };
        let target = match optional(columns.query) {
            Some(query) => {
                join(&mut self.joined, cells[columns.stem], b'?', query);
                &self.joined
            }
            None => cells[columns.stem],
        };
        let status = optional(columns.status).map_or(Ok(None), web::status)?;
        let size = optional(columns.bytes).map_or(Ok(0), cell::size)?;
        let (method, host) = (optional(columns.method), optional(columns.host));
        Ok(self.web.parsed(&WebLine { time, method, target, host, status, size, ..WebLine::default() }))
    }

    fn census(&self) -> Option<KeyCensus> {
        self.web.census()
    }
}

/// Fills `joined` with `first` and `second`, and `between` between them.
fn join(joined: &mut Vec<u8>, first: &[u8], between: u8, second: &[u8]) {
    joined.clear();
    joined.extend_from_slice(first);
    joined.push(between);
    joined.extend_from_slice(second);
}

/// Whether a line is one of those before the first request.
fn looks_like_cloudfront(line: &[u8]) -> bool {
    [&b"#Version:"[..], b"#Fields:", b"#Software:"].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::super::hash::Hashing;
    use super::super::web_rules::{WebKey, WebRules};
    use super::*;

    const FIELDS: &str = "#Fields: date time sc-bytes cs-method cs(Host) cs-uri-stem sc-status cs-uri-query";

    fn parse_all(lines: &[&str]) -> Result<Vec<(u64, u64, u64)>, String> {
        let rules = WebRules { key: WebKey::HostUri, ..WebRules::default() };
        let mut log = Reader::new(WebLog::new(rules, Hashing::default()));
        let mut found = Vec::new();
        for line in lines {
            match log.parse(line.as_bytes(), true)? {
                Parsed::Request(request) => {
                    found.push((request.time.0 / 1_000_000, request.key, request.size));
                }
                Parsed::Skip(reason) => return Err(reason.to_owned()),
                _ => {}
            }
        }
        Ok(found)
    }

    #[test]
    fn the_line_of_fields_says_what_is_where() {
        let lines = [
            "#Version: 1.0",
            FIELDS,
            "2019-12-04\t21:02:31\t392\tGET\td111.cloudfront.net\t/index.html\t200\t-",
            "2019-12-04\t21:02:32\t100\tGET\td111.cloudfront.net\t/a b\t304\tq=1",
            "#Fields: timestamp(ms) cs-uri-stem x-host-header",
            "1575493353500 /a h",
        ];
        let expected = [
            (1_575_493_351_000, cell::key(b"d111.cloudfront.net/index.html"), 392),
            (1_575_493_352_000, cell::key(b"d111.cloudfront.net/a b?q=1"), 0),
            (1_575_493_353_500, cell::key(b"h/a"), 0),
        ];
        assert_eq!(parse_all(&lines), Ok(expected.to_vec()));
        assert!(looks_like_cloudfront(lines[0].as_bytes()) && !looks_like_cloudfront(lines[2].as_bytes()));
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        let problem = |lines: &[&str]| parse_all(lines).unwrap_err();
        assert_eq!(problem(&["a\tb"]), "expected a line #Fields: before the first request, got \"a\\tb\"");
        assert_eq!(problem(&["#Fields: date time"]), "expected a column cs-uri-stem, got \"date time\"");
        assert_eq!(
            problem(&[FIELDS, "2019-12-04\t21:02:31"]),
            "expected the 8 columns that #Fields: names, found 2"
        );
        assert_eq!(
            problem(&["#Fields: date cs-uri-stem", "2019-12-04 /"]),
            "expected columns date and time in the line #Fields:"
        );
        let row = |time, bytes, status| format!("2019-12-04\t{time}\t{bytes}\tGET\th\t/\t{status}\t-");
        assert_eq!(
            problem(&[FIELDS, &row("25:00:00", "1", "200")]),
            "expected a time that exists, got \"2019-12-04T25:00:00\""
        );
        assert_eq!(
            problem(&[FIELDS, &row("21:02:31", "x", "200")]),
            "expected a whole number of bytes, got \"x\""
        );
        assert_eq!(
            problem(&[FIELDS, &row("21:02:31", "1", "x")]),
            "expected a status such as 200, got \"x\""
        );
    }
}
