//! Logs of web servers with a JSON object in every line: nginx (`escape=json`), Caddy, Envoy, and whoever names fields as
//! they do.
//!
//! ```text
//! {"msec":"1728568536.123","request_method":"GET","request_uri":"/a.gif","status":"200","body_bytes_sent":"2326"}
//! {"ts":1646861401.52,"request":{"method":"GET","host":"h","uri":"/a.gif"},"size":2326,"status":200}
//! {"start_time":"2016-04-15T20:17:00.310Z","method":"GET","path":"/a.gif","response_code":200,"bytes_sent":2326}
//! ```
//!
//! Of several times the finest is taken, and of several sizes that of the body. What counts as a request: `web`. The time of a fetch is
//! nginx's `upstream_response_time`, in seconds: the sum over all servers that were asked in turn (`0.002, 0.070`), and none where the
//! answer came from the cache (`-`). `trueplane cache serve` tells it of these, too, as `origin_time`.

use std::borrow::Cow;

use serde_json::{Map, Value};
use trueplane_units::Nanos;

use crate::census::KeyCensus;
use crate::dialect::{Dialect, Opened};
use crate::error::TraceError;
use crate::lines::Lines;
use crate::options::{TimeUnit, TraceOptions};
use crate::text::{LineFormat, Parsed};
use crate::web::{self, WebLine, WebLog};
use crate::web_time::Times;
use crate::window::Window;
use crate::{Fields, cell};

/// Names of the time of a request, the finest first.
const TIMES: [&str; 9] =
    ["msec", "ts", "start_time", "time_iso8601", "timestamp", "@timestamp", "time", "time_local", "datetime"];
/// Names of the request line (`GET /a HTTP/1.1`); Caddy calls an object by the first one, which has more fields in it.
const REQUEST: &str = "request";
const METHODS: [&str; 2] = ["request_method", "method"];
/// Names of the target, as it was sent first: nginx's `uri` has no query string.
const SENT_TARGETS: [&str; 1] = ["request_uri"];
const TARGETS: [&str; 3] = ["uri", "path", "url"];
const HOSTS: [&str; 5] = ["host", "authority", "http_host", "server_name", "vhost"];
const STATUSES: [&str; 2] = ["status", "response_code"];
/// Names of the size, that of the body first: nginx's `bytes_sent` counts the header, too.
const SIZES: [&str; 3] = ["body_bytes_sent", "size", "bytes_sent"];
/// Names of the time that servers behind this one took; that of `trueplane cache serve` first, which tells it of hits, too.
const FETCHES: [&str; 2] = ["origin_time", "upstream_response_time"];

/// Logs of web servers with a JSON object in every line.
pub(super) struct JsonLog;

impl Dialect for JsonLog {
    fn has_line(&self, _name: &str, _index: usize, line: &[u8]) -> bool {
        looks_like_json(line)
    }

    fn open(&self, window: Window, options: &TraceOptions) -> Result<Opened, TraceError> {
        let mut lines = Lines::new(window)?;
        let mut has_fetches = false;
        while lines.advance()? {
            if !lines.is_blank() {
                has_fetches = object(lines.text()).is_ok_and(|fields| text(&fields, &FETCHES).is_some());
                break;
            }
        }
        let fields = if has_fetches { Fields::ALL } else { Fields::TIME_AND_SIZE };
        Ok(web::open(options, fields, Reader::new))
    }
}

/// Reads JSON lines.
#[derive(Default)]
struct Reader {
    web: WebLog,
    times: Times,
}

impl Reader {
    /// Reads lines of which `web` makes requests.
    fn new(web: WebLog) -> Self {
        Self { web, ..Self::default() }
    }
}

impl LineFormat for Reader {
    fn parse(&mut self, line: &[u8], timed: bool) -> Result<Parsed, String> {
        let fields = object(line)?;
        let nested = fields.get(REQUEST).and_then(Value::as_object);
        let within = |names: &[&str]| nested.and_then(|nested| text(nested, names));
        let (line_method, line_target) = match fields.get(REQUEST) {
            Some(Value::String(request)) => {
                let (method, target) = web::request_line(request.as_bytes());
                (method.map(Cow::Borrowed), Some(Cow::Borrowed(target)))
            }
            _ => (None, None),
        };
        let target = within(&TARGETS)
            .or_else(|| text(&fields, &SENT_TARGETS))
            .or(line_target)
            .or_else(|| text(&fields, &TARGETS));
        let Some(target) = target else {
            return Ok(Parsed::Skip(
                "lines without a request (a field request_uri, request, uri, path or url)",
            ));
        };
        let time = if timed { self.time(&fields)? } else { Nanos(0) };
        let method = within(&METHODS).or_else(|| text(&fields, &METHODS)).or(line_method);
        let host = within(&HOSTS).or_else(|| text(&fields, &HOSTS));
        let status = text(&fields, &STATUSES).map_or(Ok(None), |status| web::status(&status))?;
        let size = text(&fields, &SIZES).map_or(Ok(0), |size| cell::size(&size))?;
        let fetch = text(&fields, &FETCHES).map_or(Ok(Nanos(0)), |times| fetch(&times))?;
        let (method, host) = (method.as_deref(), host.as_deref());
        Ok(self.web.parsed(&WebLine { time, method, target: &target, host, status, size, fetch }))
    }

    fn census(&self) -> Option<KeyCensus> {
        self.web.census()
    }
}

impl Reader {
    fn time(&mut self, fields: &Map<String, Value>) -> Result<Nanos, String> {
        let time = text(fields, &TIMES);
        let time =
            time.ok_or_else(|| format!("expected a time in one of the fields {}", TIMES.join(", ")))?;
        self.times.read(&time)
    }
}

/// The sum of the times that servers took: after one that failed nginx asks the next (a comma), or another group (a colon).
fn fetch(times: &[u8]) -> Result<Nanos, String> {
    let times = times.split(|byte| matches!(byte, b',' | b':')).map(<[u8]>::trim_ascii);
    times
        .map(|time| cell::fetch(time, TimeUnit::Seconds))
        .try_fold(Nanos(0), |sum, time| Ok(sum.after(time?)))
}

/// The object in `line`.
fn object(line: &[u8]) -> Result<Map<String, Value>, String> {
    serde_json::from_slice(line).map_err(|error| {
        let problem = cell::expected("a JSON object", line);
        let column = error.column();
        // What nginx writes unless it is told otherwise, and JSON does not know.
        let hint = if memchr::memmem::find(line, b"\\x").is_some() {
            "; does the log_format say escape=json?"
        } else {
            ""
        };
        format!("{problem}, which is broken at column {column}{hint}")
    })
}

/// The first of `names` that has a value, as text.
fn text<'a>(fields: &'a Map<String, Value>, names: &[&str]) -> Option<Cow<'a, [u8]>> {
    names.iter().find_map(|name| match fields.get(*name)? {
        Value::String(text) => Some(Cow::Borrowed(text.as_bytes())),
        Value::Number(number) => Some(Cow::Owned(number.to_string().into_bytes())),
        _ => None,
    })
}

/// Whether a line begins like an object, whatever its fields: a log may begin with what is no request, and an object is no row
/// of CSV.
fn looks_like_json(line: &[u8]) -> bool {
    let inside = line.trim_ascii().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    inside.is_some_and(|inside| matches!(inside.first(), None | Some(b'"')))
}

#[cfg(test)]
mod tests {
    use super::super::hash::Hashing;
    use super::super::web_rules::{WebKey, WebRules};
    use super::*;

    /// Milliseconds, key and size of a line.
    fn parse(line: &str) -> Result<(u64, u64, u64), String> {
        let rules = WebRules { key: WebKey::HostUri, ..WebRules::default() };
        match Reader::new(WebLog::new(rules, Hashing::default())).parse(line.as_bytes(), true)? {
            Parsed::Request(request) => Ok((request.time.0 / 1_000_000, request.key, request.size)),
            Parsed::Skip(reason) => Err(reason.to_owned()),
            _ => Err("neither a request nor left out".to_owned()),
        }
    }

    #[test]
    fn nginx_names_fields_after_its_variables() {
        let line = r#"{"time_local":"10/Oct/2024:13:55:36 +0000","msec":"1728568536.123","host":"h","request":"GET /a.gif?b HTTP/1.1","uri":"/a.gif","status":"200","bytes_sent":"2570","body_bytes_sent":"2326"}"#;
        assert_eq!(parse(line), Ok((1_728_568_536_123, cell::key(b"h/a.gif?b"), 2326)));
        let line = r#"{"time_iso8601":"2024-10-10T13:55:36+00:00","request_method":"GET","request_uri":"/a","status":304,"body_bytes_sent":0}"#;
        assert_eq!(parse(line), Ok((1_728_568_536_000, cell::key(b"/a"), 0)));
        let post = r#"{"msec":1.0,"request_method":"POST","request_uri":"/a","status":200}"#;
        assert_eq!(parse(post), Err("POST requests, which --methods does not name".to_owned()));
        let none = r#"{"msec":1.0,"request":"","status":"400","request_method":""}"#;
        assert_eq!(parse(none), Err("lines without a request target".to_owned()));
    }

    #[test]
    fn caddy_has_the_request_in_an_object() {
        let line = r#"{"level":"info","ts":1646861401.5241024,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"127.0.0.1","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/a?b","headers":{"Accept":["*/*"]}},"bytes_read":0,"duration":0.000929675,"size":10900,"status":200,"resp_headers":{"Server":["Caddy"]}}"#;
        assert_eq!(parse(line), Ok((1_646_861_401_524, cell::key(b"localhost/a?b"), 10_900)));
        let other = r#"{"level":"info","ts":1646861401.5,"logger":"admin","msg":"stopped"}"#;
        assert!(parse(other).unwrap_err().starts_with("lines without a request"));
        assert!(looks_like_json(other.as_bytes()));
    }

    #[test]
    fn envoy_has_a_path_and_an_authority() {
        let line = r#"{"start_time":"2016-04-15T20:17:00.310Z","method":"GET","path":"/a","protocol":"HTTP/2","response_code":200,"bytes_received":154,"bytes_sent":7,"authority":"h","x_forwarded_for":null}"#;
        assert_eq!(parse(line), Ok((1_460_751_420_310, cell::key(b"h/a"), 7)));
        let gone = r#"{"start_time":"2016-04-15T20:17:00.310Z","method":null,"path":null,"response_code":0}"#;
        assert!(parse(gone).unwrap_err().starts_with("lines without a request"));
    }

    #[test]
    fn a_fetch_is_the_time_of_all_servers_that_were_asked() {
        for (times, millis) in
            [("0.071", 71), ("0.002, 0.070", 72), ("0.002 : 0.070, -", 72), ("-", 0), ("", 0)]
        {
            assert_eq!(fetch(times.as_bytes()), Ok(Nanos(millis * 1_000_000)), "{times}");
        }
        assert!(fetch(b"fast").unwrap_err().starts_with("expected a fetch time"));
        let has_fetches = |log: &str| {
            let trace = crate::Trace::from_bytes("a.json", log.into(), &TraceOptions::default()).unwrap();
            trace.fields().fetch
        };
        let line = r#"{"msec":1.0,"request_uri":"/a","status":200}"#;
        let timed = r#"{"msec":1.0,"request_uri":"/a","status":200,"upstream_response_time":"0.5"}"#;
        let told = r#"{"msec":1.0,"request_uri":"/a","status":200,"upstream_response_time":"-","origin_time":"0.5"}"#;
        assert_eq!((has_fetches(line), has_fetches(timed), has_fetches(told)), (false, true, true));
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        let problem = |line: &str| parse(line).unwrap_err();
        assert_eq!(
            problem("{\"a\""),
            "expected a JSON object, got \"{\\\"a\\\"\", which is broken at column 4"
        );
        assert!(problem(r#"{"request":"\x16"}"#).ends_with("; does the log_format say escape=json?"));
        assert!(problem("[1]").starts_with("expected a JSON object, got \"[1]\""));
        assert!(
            problem(r#"{"uri":"/"}"#)
                .starts_with("expected a time in one of the fields msec, ts, start_time")
        );
        assert_eq!(problem(r#"{"uri":"/","ts":"x"}"#), "expected a time that exists, got \"x\"");
        assert_eq!(
            problem(r#"{"uri":"/","ts":1,"status":"ok"}"#),
            "expected a status such as 200, got \"ok\""
        );
        assert_eq!(
            problem(r#"{"uri":"/","ts":1,"size":1.5}"#),
            "expected a whole number of bytes, got \"1.5\""
        );
    }

    #[test]
    fn what_begins_like_an_object_is_taken_for_a_log() {
        for line in ["{\"ts\":1}", " { \"a\": 1", "{"] {
            assert!(looks_like_json(line.as_bytes()), "{line}");
        }
        for line in ["{}", "[]", "1", "{a},1", "a,{\"b\"}"] {
            assert!(!looks_like_json(line.as_bytes()), "{line}");
        }
    }
}
