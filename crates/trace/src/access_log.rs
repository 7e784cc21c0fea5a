//! Access logs of web servers, in the Common Log Format or anything that starts like it (the Combined Log Format).
//!
//! ```text
//! 127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326
//! ```
//!
//! The time may also be one in ISO 8601 (nginx: `[$time_iso8601]`) or since 1970 (`[$msec]`). The key is the request
//! target (`/apache_pb.gif`), the size is the number of bytes sent (`-` is 0). What counts as a request: `web`.

use memchr::memchr_iter;
use trueplane_units::Nanos;

use crate::census::KeyCensus;
use crate::dialect::{Dialect, Opened};
use crate::error::TraceError;
use crate::layout::delimiter_of;
use crate::options::{TimeUnit, TraceOptions};
use crate::text::{LineFormat, Parsed};
use crate::web::{self, WebLine, WebLog};
use crate::web_time::{self, Times};
use crate::window::Window;
use crate::{Fields, cell};

/// Access logs of web servers.
pub(super) struct AccessLog;

impl Dialect for AccessLog {
    fn has_line(&self, _name: &str, _index: usize, line: &[u8]) -> bool {
        looks_like_access_log(line)
    }

    fn open(&self, _window: Window, options: &TraceOptions) -> Result<Opened, TraceError> {
        Ok(web::open(options, Fields::TIME_AND_SIZE, Reader::new))
    }
}

/// Reads access logs.
#[derive(Default)]
struct Reader {
    web: WebLog,
    times: Times,
    /// Whether a line was one of an access log.
    has_begun: bool,
}

impl LineFormat for Reader {
    fn parse(&mut self, line: &[u8], timed: bool) -> Result<Parsed, String> {
        let (time, rest) = time_of(line).ok_or_else(|| self.no_time(line))?;
        self.has_begun = true;
        let (request, rest) =
            request_of(rest).ok_or_else(|| cell::expected("a request in quotes after the time", rest))?;
        let time = if timed { self.times.read(time)? } else { Nanos(0) };
        let mut cells = rest.split(|byte| *byte == b' ').filter(|cell| !cell.is_empty());
        let (Some(status), Some(bytes)) = (cells.next(), cells.next()) else {
            return Err(cell::expected("a status and a size after the request", rest));
        };
        let status = web::status(status)?;
        let size = match bytes {
            b"-" => 0,
            _ => cell::unsigned(bytes).ok_or_else(|| cell::expected("a size in bytes", bytes))?,
        };
        let (method, target) = web::request_line(request);
        Ok(self.web.parsed(&WebLine { time, method, target, host: None, status, size, ..WebLine::default() }))
    }

    fn census(&self) -> Option<KeyCensus> {
        self.web.census()
    }
}

impl Reader {
    /// Reads lines of which `web` makes requests.
    fn new(web: WebLog) -> Self {
        Self { web, ..Self::default() }
    }

    /// That there is no time in `line`, and what else it may be if no line before had one either.
    #[cold]
    fn no_time(&self, line: &[u8]) -> String {
        let problem = cell::expected("a time such as [10/Oct/2000:13:55:36 -0700]", line);
        if !self.has_begun && has_columns(line) {
            format!("{problem}; if these are columns, say --format csv")
        } else {
            problem
        }
    }
}

/// Whether `line` reads like columns of which the first is the time.
fn has_columns(line: &[u8]) -> bool {
    let delimiter = delimiter_of(line);
    let mut cells = line.split(|byte| *byte == delimiter);
    let is_time = cells.next().is_some_and(|cell| cell::time(cell.trim_ascii(), TimeUnit::Nanos).is_some());
    is_time && cells.next().is_some()
}

/// Whether a line has the time of an access log.
fn looks_like_access_log(line: &[u8]) -> bool {
    time_of(line).is_some_and(|(time, _)| web_time::instant(time).is_some())
}

/// The first thing in `line` that has the shape of a time in brackets, and what comes after it.
fn time_of(line: &[u8]) -> Option<(&[u8], &[u8])> {
    /// Longer than any time.
    const LONGEST: usize = 64;
    memchr_iter(b'[', line).find_map(|bracket| {
        let rest = &line[bracket + 1..];
        let end = rest.iter().take(LONGEST).position(|byte| *byte == b']')?;
        web_time::has_time_shape(&rest[..end]).then(|| (&rest[..end], &rest[end + 1..]))
    })
}

/// The request in quotes at the start of `rest`, and what comes after it. A backslash escapes a quote.
fn request_of(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let rest = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', &rest[at..])?;
        if rest[at] == b'"' {
            return Some((&rest[..at], &rest[at + 1..]));
        }
        at = (at + 2).min(rest.len());
    }
}

#[cfg(test)]
mod tests {
    use super::super::hash::Hashing;
    use super::super::web_rules::WebRules;
    use super::*;

    fn parse(line: &str) -> Result<(u64, u64, u64), String> {
        let rules = WebRules {
            methods: "all".parse().unwrap(),
            statuses: "all".parse().unwrap(),
            ..WebRules::default()
        };
        let web = WebLog::new(rules, Hashing::default());
        match Reader::new(web).parse(line.as_bytes(), true)? {
            Parsed::Request(request) => Ok((request.time.0 / 1_000_000, request.key, request.size)),
            Parsed::Skip(reason) => Err(reason.to_owned()),
            _ => Err("neither a request nor left out".to_owned()),
        }
    }

    #[test]
    fn lines_are_requests() {
        let common =
            r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#;
        assert_eq!(parse(common), Ok((971_211_336_000, cell::key(b"/apache_pb.gif"), 2326)));
        let combined =
            r#"::1 - a[b] [01/Jan/1970:00:00:00 +0000] "GET /a b\"c HTTP/2" 200 - "-" "curl/8 [x]""#;
        assert_eq!(parse(combined), Ok((0, cell::key(br#"/a b\"c"#), 0)));
        let odd = r#"h - - [01/Jan/1970:01:00:01 +0100] "\x16\x03" 400 150"#;
        assert_eq!(parse(odd), Ok((1_000, cell::key(br"\x16\x03"), 150)));
        for empty in ["", "-", "GET "] {
            let line = format!("h - - [01/Jan/1970:00:00:00 +0000] \"{empty}\" 408 0");
            assert_eq!(parse(&line), Err("lines without a request target".to_owned()), "{empty}");
        }
    }

    #[test]
    fn the_time_may_be_finer_than_a_second() {
        for (time, millis) in [
            ("1728568536.123", 1_728_568_536_123),
            ("1728568536123", 1_728_568_536_123),
            ("2024-10-10T13:55:36+00:00", 1_728_568_536_000),
            ("2024-10-10T13:55:36.123Z", 1_728_568_536_123),
        ] {
            let line = format!("h - a[7] [{time}] \"GET /a HTTP/1.1\" 200 5");
            assert_eq!(parse(&line), Ok((millis, cell::key(b"/a"), 5)), "{time}");
            assert!(looks_like_access_log(line.as_bytes()), "{time}");
        }
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        let problem = |rest: &str| parse(&format!("h - - [01/Jan/1970:00:00:00 +0000]{rest}")).unwrap_err();
        assert_eq!(problem(" GET /"), "expected a request in quotes after the time, got \" GET /\"");
        assert_eq!(
            problem(" \"GET /\\"),
            "expected a request in quotes after the time, got \" \\\"GET /\\\\\""
        );
        assert_eq!(problem(" \"GET /\" 200"), "expected a status and a size after the request, got \" 200\"");
        assert_eq!(problem(" \"GET /\" 200 x"), "expected a size in bytes, got \"x\"");
        assert_eq!(problem(" \"GET /\" 2xx 1"), "expected a status such as 200, got \"2xx\"");
        let start = "expected a time such as [10/Oct/2000:13:55:36 -0700], got \"x\"";
        assert_eq!(parse("x"), Err(start.to_owned()));
        let day = "h [31/Feb/2000:00:00:00 +0000] \"GET /\" 200 1";
        assert_eq!(
            parse(day),
            Err("expected a time that exists, got \"31/Feb/2000:00:00:00 +0000\"".to_owned())
        );
    }

    #[test]
    fn columns_are_told_how_they_are_read() {
        let mut log = Reader::default();
        let mut problem = |line: &str| log.parse(line.as_bytes(), true).err().unwrap_or_default();
        let hint = "; if these are columns, say --format csv";
        for line in ["1728568536.123 /a 5", "0;47752", "2024-11-15 16:57:50,a"] {
            assert!(problem(line).ends_with(hint), "{line}");
        }
        for line in ["nonsense", "17", "a,b"] {
            assert!(!problem(line).ends_with(hint), "{line}");
        }
        assert_eq!(problem("h [1728568536.123] \"GET /a\" 200 5"), "");
        assert!(!problem("1728568536.123 /a 5").ends_with(hint), "what came before was an access log");
    }
}
