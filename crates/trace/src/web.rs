//! A line of a web server's log, whatever its format: what counts as a request, and what it asks for.
//!
//! Caches answer GET and HEAD, and keep only some of the answers, so the other lines are left out and counted by reason.
//! Not every line tells the size of what was asked for: a 304 has no body, the answer to HEAD none either, and a 206 has
//! only a part. Their size is 0 here; `sizes` then takes it from the other requests for the object.

use memchr::{memchr, memrchr};
use trueplane_units::Nanos;

use crate::census::KeyCensus;
use crate::dialect::Opened;
use crate::hash::Hashing;
use crate::options::TraceOptions;
use crate::text::{LineFormat, Parsed};
use crate::web_rules::{LARGEST_STATUS, WebRules};
use crate::{Fields, Request, cell};

/// Opens a web server's log that has these fields, and whose lines are read by what `make` makes.
pub(super) fn open<F: LineFormat + 'static>(
    options: &TraceOptions,
    fields: Fields,
    make: fn(WebLog) -> F,
) -> Opened {
    let rules = WebRules {
        methods: options.methods.clone().unwrap_or_default(),
        statuses: options.statuses.clone().unwrap_or_default(),
        key: options.web_key.unwrap_or_default(),
    };
    Opened::log(fields, move |hashing| make(WebLog::new(rules.clone(), hashing)))
}

/// Fields of one line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct WebLine<'a> {
    /// Time at which the request was logged.
    pub(super) time: Nanos,
    /// The method; none where the log does not say.
    pub(super) method: Option<&'a [u8]>,
    /// Target of the request: path and query string. Empty or `-` where the client never said.
    pub(super) target: &'a [u8],
    /// The host that was asked; none where the log does not say.
    pub(super) host: Option<&'a [u8]>,
    /// The status of the answer; none where the log does not say.
    pub(super) status: Option<u16>,
    /// The bytes that were sent; 0 where the log does not say.
    pub(super) size: u64,
    /// Measured time of the fetch; 0 where nothing was fetched or the log does not say.
    pub(super) fetch: Nanos,
}

/// Makes requests of lines.
#[derive(Default)]
pub(super) struct WebLog {
    rules: WebRules,
    hashing: Hashing,
    /// Buffer in which a key is put together.
    key: Vec<u8>,
}

impl WebLog {
    /// Makes a log whose requests count by `rules`, and whose keys are made by `hashing`.
    pub(super) fn new(rules: WebRules, hashing: Hashing) -> Self {
        Self { rules, hashing, key: Vec::new() }
    }

    /// The request of `line`, or why it is none.
    pub(super) fn parsed(&mut self, line: &WebLine<'_>) -> Parsed {
        if matches!(line.target, b"" | b"-") {
            return Parsed::Skip("lines without a request target");
        }
        if let Some(method) = line.method.filter(|method| !self.rules.methods.have(method)) {
            return Parsed::Skip(other_method(method));
        }
        if let Some(status) = line.status.filter(|&status| !self.rules.statuses.have(status)) {
            return Parsed::Skip(other_status(status));
        }
        let size = if is_whole(line) { line.size } else { 0 };
        Parsed::Request(Request { time: line.time, key: self.key(line), size, fetch: line.fetch })
    }

    fn key(&mut self, line: &WebLine<'_>) -> u64 {
        let key = self.rules.key;
        let end = if key.has_query() { None } else { memchr(b'?', line.target) };
        let target = &line.target[..end.unwrap_or(line.target.len())];
        match line.host.filter(|_| key.has_host()) {
            Some(host) => {
                self.key.clear();
                self.key.extend_from_slice(host);
                self.key.extend_from_slice(target);
                self.hashing.text(&self.key)
            }
            None => self.hashing.text(target),
        }
    }

    /// Counts of the keys so far, if they are counted.
    pub(super) fn census(&self) -> Option<KeyCensus> {
        self.hashing.census()
    }
}

/// Whether the bytes that were sent are all of the object.
fn is_whole(line: &WebLine<'_>) -> bool {
    let has_body = !line.method.is_some_and(|method| method.eq_ignore_ascii_case(b"HEAD"));
    has_body && !matches!(line.status, Some(206 | 304))
}

/// Why a request by `method` is left out. The names are literals, so that no log can fill the memory with methods.
fn other_method(method: &[u8]) -> &'static str {
    match method.to_ascii_uppercase().as_slice() {
        b"GET" => "GET requests, which --methods does not name",
        b"HEAD" => "HEAD requests, which --methods does not name",
        b"POST" => "POST requests, which --methods does not name",
        b"PUT" => "PUT requests, which --methods does not name",
        b"DELETE" => "DELETE requests, which --methods does not name",
        b"PATCH" => "PATCH requests, which --methods does not name",
        b"OPTIONS" => "OPTIONS requests, which --methods does not name",
        _ => "requests by other methods than --methods names",
    }
}

/// Why a request that was answered with `status` is left out.
fn other_status(status: u16) -> &'static str {
    match status / 100 {
        1 => "answers 1xx that --statuses does not name",
        2 => "answers 2xx that --statuses does not name",
        3 => "answers 3xx that --statuses does not name",
        4 => "answers 4xx that --statuses does not name",
        5 => "answers 5xx that --statuses does not name",
        _ => "answers with a status that HTTP does not have",
    }
}

/// The status that `cell` says; none where it is `-` or empty.
pub(super) fn status(cell: &[u8]) -> Result<Option<u16>, String> {
    if matches!(cell, b"" | b"-") {
        return Ok(None);
    }
    let number = cell::unsigned(cell).and_then(|number| u16::try_from(number).ok());
    let number = number.filter(|&number| number <= LARGEST_STATUS);
    number.map(Some).ok_or_else(|| cell::expected("a status such as 200", cell))
}

/// Method and target of a request such as `GET /a HTTP/1.1`.
///
/// What has no space is a target alone if it begins like one, and otherwise no HTTP (`\x16\x03`, of who speaks TLS to a
/// port that does not): then it is both.
pub(super) fn request_line(request: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let Some(space) = memchr(b' ', request) else {
        let is_target = matches!(request.first(), None | Some(b'/' | b'-'));
        return ((!is_target).then_some(request), request);
    };
    let target = &request[space + 1..];
    let target = match memrchr(b' ', target) {
        Some(last) if target[last + 1..].starts_with(b"HTTP/") => &target[..last],
        _ => target,
    };
    (Some(&request[..space]), target)
}

#[cfg(test)]
mod tests {
    use super::super::web_rules::WebKey;
    use super::*;

    fn parsed(rules: WebRules, line: &WebLine<'_>) -> Result<(u64, u64), &'static str> {
        match WebLog::new(rules, Hashing::default()).parsed(line) {
            Parsed::Request(request) => Ok((request.key, request.size)),
            Parsed::Skip(reason) => Err(reason),
            _ => panic!("a line is a request or none"),
        }
    }

    fn line<'a>(method: &'a str, status: u16) -> WebLine<'a> {
        let method = Some(method.as_bytes());
        WebLine {
            method,
            target: b"/a?b=1",
            host: Some(b"h"),
            status: Some(status),
            size: 17,
            ..WebLine::default()
        }
    }

    #[test]
    fn what_a_cache_does_not_answer_is_left_out_with_its_reason() {
        let usual = |method, status| parsed(WebRules::default(), &line(method, status)).map(|(_, size)| size);
        assert_eq!(usual("GET", 200), Ok(17));
        assert_eq!(usual("get", 404), Ok(17));
        assert_eq!(usual("POST", 200), Err("POST requests, which --methods does not name"));
        assert_eq!(usual("PROPFIND", 207), Err("requests by other methods than --methods names"));
        assert_eq!(usual("GET", 302), Err("answers 3xx that --statuses does not name"));
        assert_eq!(usual("GET", 503), Err("answers 5xx that --statuses does not name"));
        assert_eq!(usual("GET", 0), Err("answers with a status that HTTP does not have"));
        let rules = WebRules {
            methods: "all".parse().unwrap(),
            statuses: "5xx".parse().unwrap(),
            ..WebRules::default()
        };
        assert_eq!(parsed(rules.clone(), &line("POST", 500)).map(|(_, size)| size), Ok(17));
        assert!(parsed(rules, &line("POST", 200)).is_err());
        let bare = WebLine { target: b"/a", size: 3, ..WebLine::default() };
        assert_eq!(parsed(WebRules::default(), &bare), Ok((cell::key(b"/a"), 3)));
        for target in [&b""[..], b"-"] {
            let none = WebLine { target, ..line("POST", 408) };
            assert_eq!(parsed(WebRules::default(), &none), Err("lines without a request target"));
        }
    }

    #[test]
    fn what_was_sent_is_not_always_the_object() {
        let size = |method, status| parsed(WebRules::default(), &line(method, status)).unwrap().1;
        assert_eq!((size("GET", 304), size("GET", 206), size("HEAD", 200)), (0, 0, 0));
    }

    #[test]
    fn the_key_may_have_the_host_and_need_not_have_the_query() {
        for (key, expected) in [
            (WebKey::Uri, &b"/a?b=1"[..]),
            (WebKey::Path, b"/a"),
            (WebKey::HostUri, b"h/a?b=1"),
            (WebKey::HostPath, b"h/a"),
        ] {
            let rules = WebRules { key, ..WebRules::default() };
            assert_eq!(parsed(rules.clone(), &line("GET", 200)), Ok((cell::key(expected), 17)), "{key:?}");
            let nowhere = WebLine { host: None, target: b"/a", ..line("GET", 200) };
            assert_eq!(parsed(rules, &nowhere), Ok((cell::key(b"/a"), 17)), "{key:?}");
        }
    }

    #[test]
    fn requests_are_split() {
        let split = |request: &'static str| {
            let (method, target) = request_line(request.as_bytes());
            (method.map(|method| str::from_utf8(method).unwrap()), str::from_utf8(target).unwrap())
        };
        assert_eq!(split("GET /a b HTTP/2"), (Some("GET"), "/a b"));
        assert_eq!(split("GET /a"), (Some("GET"), "/a"));
        assert_eq!(split("GET "), (Some("GET"), ""));
        assert_eq!(split("/a"), (None, "/a"));
        assert_eq!(split("-"), (None, "-"));
        assert_eq!(split(""), (None, ""));
        assert_eq!(split("\\x16\\x03"), (Some("\\x16\\x03"), "\\x16\\x03"));
    }

    #[test]
    fn statuses_have_three_digits() {
        assert_eq!((status(b"304"), status(b"000"), status(b"-")), (Ok(Some(304)), Ok(Some(0)), Ok(None)));
        for bad in ["1000", "2xx", "-1", "70000"] {
            assert_eq!(status(bad.as_bytes()), Err(format!("expected a status such as 200, got \"{bad}\"")));
        }
    }
}
