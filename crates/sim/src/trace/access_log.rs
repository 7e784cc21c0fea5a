//! Access logs of web servers, in the Common Log Format or anything that starts like it (the Combined Log Format).
//!
//! ```text
//! 127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326
//! ```
//!
//! The key is the request target (`/apache_pb.gif`), the size is the number of bytes sent (`-` is 0). Lines whose
//! request has no target (`"-"`, of clients that never sent one) are counted, not requested.

use jiff::civil::Date;
use jiff::tz::Offset;
use memchr::{memchr, memchr_iter, memrchr};
use trueplane_core::units::Nanos;

use super::Request;
use super::cell;
use super::census::KeyCensus;
use super::hash::Hashing;
use super::text::{LineFormat, Parsed};

/// Reads access logs.
#[derive(Default)]
pub(super) struct AccessLog {
    hashing: Hashing,
    /// The time of the line before and what it means: many requests arrive within one second.
    last: Option<([u8; TIME_LENGTH], Nanos)>,
}

/// The length of `10/Oct/2000:13:55:36 -0700`.
const TIME_LENGTH: usize = 26;

impl LineFormat for AccessLog {
    fn parse(&mut self, line: &[u8], timed: bool) -> Result<Parsed, String> {
        let (time, rest) = time_of(line)
            .ok_or_else(|| cell::expected("a time such as [10/Oct/2000:13:55:36 -0700]", line))?;
        let (request, rest) =
            request_of(rest).ok_or_else(|| cell::expected("a request in quotes after the time", rest))?;
        let time = if timed { self.instant(time)? } else { Nanos(0) };
        let mut cells = rest.split(|byte| *byte == b' ').filter(|cell| !cell.is_empty());
        let (Some(_status), Some(bytes)) = (cells.next(), cells.next()) else {
            return Err(cell::expected("a status and a size after the request", rest));
        };
        let size = match bytes {
            b"-" => 0,
            _ => cell::unsigned(bytes).ok_or_else(|| cell::expected("a size in bytes", bytes))?,
        };
        match target_of(request) {
            b"" | b"-" => Ok(Parsed::Skip("lines without a request target")),
            target => {
                let key = self.hashing.text(target);
                Ok(Parsed::Request(Request { time, key, size, fetch: Nanos(0) }))
            }
        }
    }

    fn census(&self) -> Option<KeyCensus> {
        self.hashing.census()
    }
}

impl AccessLog {
    /// Reads lines whose targets become keys by `hashing`.
    pub(super) fn new(hashing: Hashing) -> Self {
        Self { hashing, last: None }
    }

    fn instant(&mut self, text: [u8; TIME_LENGTH]) -> Result<Nanos, String> {
        if let Some((before, instant)) = self.last
            && before == text
        {
            return Ok(instant);
        }
        let instant = instant(&text).ok_or_else(|| cell::expected("a time that exists", &text))?;
        self.last = Some((text, instant));
        Ok(instant)
    }
}

/// Whether a line has the time of an access log.
pub(super) fn looks_like_access_log(line: &[u8]) -> bool {
    time_of(line).is_some_and(|(time, _)| instant(&time).is_some())
}

/// The first thing in `line` that has the shape of a time in brackets, and what comes after it.
fn time_of(line: &[u8]) -> Option<([u8; TIME_LENGTH], &[u8])> {
    memchr_iter(b'[', line).find_map(|bracket| {
        let (time, rest) = line[bracket + 1..].split_first_chunk()?;
        (has_time_shape(time) && rest.first() == Some(&b']')).then(|| (*time, &rest[1..]))
    })
}

fn has_time_shape(text: &[u8; TIME_LENGTH]) -> bool {
    const SHAPE: &[u8; TIME_LENGTH] = b"00/Aaa/0000:00:00:00 +0000";
    text.iter().zip(SHAPE).all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'A' | b'a' => byte.is_ascii_alphabetic(),
        b'+' => matches!(byte, b'+' | b'-'),
        _ => byte == shape,
    })
}

/// The instant that a text of the right shape means; `None` when there is none such since 1970.
fn instant(text: &[u8; TIME_LENGTH]) -> Option<Nanos> {
    const MONTHS: [&[u8; 3]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let number = |from: usize, length: usize| cell::unsigned(&text[from..from + length]);
    let small = |from: usize| number(from, 2).and_then(|number| i8::try_from(number).ok());
    let month = MONTHS.iter().position(|month| text[3..6].eq_ignore_ascii_case(*month))?;
    let date =
        Date::new(i16::try_from(number(7, 4)?).ok()?, i8::try_from(month).ok()? + 1, small(0)?).ok()?;
    // A leap second is the second before it, as elsewhere.
    let second = small(18).map(|second| if second == 60 { 59 } else { second })?;
    let time = jiff::civil::Time::new(small(12)?, small(15)?, second, 0).ok()?;
    let offset_minutes = small(24).filter(|minutes| *minutes < 60)?;
    let offset = i32::from(small(22)?) * 3600 + i32::from(offset_minutes) * 60;
    let offset = Offset::from_seconds(if text[21] == b'-' { -offset } else { offset }).ok()?;
    cell::since_1970(offset.to_timestamp(date.to_datetime(time)).ok()?)
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

/// The target of a request such as `GET /a HTTP/1.1`; of a request that is no HTTP, all of it.
fn target_of(request: &[u8]) -> &[u8] {
    let Some(space) = memchr(b' ', request) else { return request };
    let target = &request[space + 1..];
    match memrchr(b' ', target) {
        Some(space) if target[space + 1..].starts_with(b"HTTP/") => &target[..space],
        _ => target,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<(u64, u64, u64), String> {
        match AccessLog::default().parse(line.as_bytes(), true)? {
            Parsed::Request(request) => Ok((request.time.0 / 1_000_000_000, request.key, request.size)),
            _ => Err("skipped".to_owned()),
        }
    }

    #[test]
    fn lines_are_requests() {
        let common =
            r#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#;
        assert_eq!(parse(common), Ok((971_211_336, cell::key(b"/apache_pb.gif"), 2326)));
        let combined =
            r#"::1 - a[b] [01/Jan/1970:00:00:00 +0000] "GET /a b\"c HTTP/2" 304 - "-" "curl/8 [x]""#;
        assert_eq!(parse(combined), Ok((0, cell::key(br#"/a b\"c"#), 0)));
        let odd = r#"h - - [01/Jan/1970:01:00:01 +0100] "\x16\x03" 400 150"#;
        assert_eq!(parse(odd), Ok((1, cell::key(br"\x16\x03"), 150)));
        for empty in ["", "-", "GET "] {
            let line = format!("h - - [01/Jan/1970:00:00:00 +0000] \"{empty}\" 408 0");
            assert_eq!(parse(&line), Err("skipped".to_owned()), "{empty}");
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
        let start = "expected a time such as [10/Oct/2000:13:55:36 -0700], got \"x\"";
        assert_eq!(parse("x"), Err(start.to_owned()));
        let day = "h [31/Feb/2000:00:00:00 +0000] \"GET /\" 200 1";
        assert_eq!(
            parse(day),
            Err("expected a time that exists, got \"31/Feb/2000:00:00:00 +0000\"".to_owned())
        );
    }

    #[test]
    fn only_a_leap_second_comes_after_the_59th() {
        let seconds = |time: &[u8; TIME_LENGTH]| instant(time).map(|nanos| nanos.0 / 1_000_000_000);
        assert_eq!(seconds(b"01/Jan/1970:00:00:59 +0000"), Some(59));
        assert_eq!(seconds(b"01/Jan/1970:00:00:60 +0000"), Some(59));
        assert_eq!(seconds(b"01/Jan/1970:00:00:61 +0000"), None);
        assert_eq!(seconds(b"01/Jan/1970:00:00:99 +0000"), None);
        assert_eq!(seconds(b"01/Jan/1970:00:00:00 -0059"), Some(59 * 60));
        assert_eq!(seconds(b"01/Jan/1970:00:00:00 -0060"), None);
    }
}
