//! Twitter's cache traces: `timestamp,key,key size,value size,client,operation,TTL`, without a header.
//!
//! Every operation is a request, writes included. The size is that of key and value together. Keys are anonymised
//! text in which commas do occur, so the cells after the key are told from the right.
//!
//! Source: Yang, Yue, Rashmi, A large scale analysis of hundreds of in-memory cache clusters at Twitter, OSDI 2020.

use memchr::{memchr, memrchr};
use trueplane_units::Nanos;

use crate::census::KeyCensus;
use crate::dialect::{Dialect, Opened};
use crate::error::TraceError;
use crate::hash::Hashing;
use crate::options::{TimeUnit, TraceOptions};
use crate::text::{LineFormat, Parsed};
use crate::window::Window;
use crate::{Fields, Request, cell};

/// Twitter's cache traces.
pub(super) struct Twitter;

impl Dialect for Twitter {
    /// The traces are published as `cluster1` to `cluster54`, whole (`cluster52.sort`) or in parts (`cluster1.000`).
    fn has_line(&self, name: &str, index: usize, line: &[u8]) -> bool {
        let number = name.strip_prefix("cluster");
        let is_name =
            number.is_some_and(|rest| rest.starts_with(|character: char| character.is_ascii_digit()));
        is_name && index == 0 && looks_like_twitter(line)
    }

    fn open(&self, _window: Window, options: &TraceOptions) -> Result<Opened, TraceError> {
        let unit = options.plain_time_unit();
        Ok(Opened::lines(Fields::TIME_AND_SIZE, move |hashing| Reader { unit, hashing }))
    }
}

/// Reads Twitter's cache traces.
struct Reader {
    /// The unit of the timestamps; seconds in the published traces.
    unit: TimeUnit,
    hashing: Hashing,
}

impl LineFormat for Reader {
    fn parse(&mut self, line: &[u8], timed: bool) -> Result<Parsed, String> {
        let cells =
            Cells::of(line).ok_or_else(|| cell::expected("7 cells with commas between them", line))?;
        let time = if timed { cell::timestamp(cells.time, self.unit)? } else { Nanos(0) };
        if cells.key.is_empty() {
            return Ok(Parsed::Skip("rows with an empty key"));
        }
        let bytes =
            |cell| cell::unsigned(cell).ok_or_else(|| cell::expected("a whole number of bytes", cell));
        let size = bytes(cells.key_size)?
            .checked_add(bytes(cells.value_size)?)
            .ok_or("key and value together are larger than 2^64 bytes")?;
        Ok(Parsed::Request(Request { time, key: self.hashing.text(cells.key), size, fetch: Nanos(0) }))
    }

    fn census(&self) -> Option<KeyCensus> {
        self.hashing.census()
    }
}

/// The cells of a line that we use.
struct Cells<'a> {
    time: &'a [u8],
    key: &'a [u8],
    key_size: &'a [u8],
    value_size: &'a [u8],
}

impl<'a> Cells<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let comma = memchr(b',', line)?;
        let time = &line[..comma];
        let mut rest = &line[comma + 1..];
        let mut last = || {
            let comma = memrchr(b',', rest)?;
            let cell = &rest[comma + 1..];
            rest = &rest[..comma];
            Some(cell)
        };
        let [_ttl, _operation, _client] = [last()?, last()?, last()?];
        let [value_size, key_size] = [last()?, last()?];
        Some(Self { time, key: rest, key_size, value_size })
    }
}

/// Whether a line looks like one of Twitter's: digits wherever they should be.
fn looks_like_twitter(line: &[u8]) -> bool {
    let is_number = |cell: &[u8]| cell::unsigned(cell).is_some();
    Cells::of(line).is_some_and(|cells| {
        is_number(cells.time) && is_number(cells.key_size) && is_number(cells.value_size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<(u64, u64, u64), String> {
        match (Reader { unit: TimeUnit::Seconds, hashing: Hashing::default() })
            .parse(line.as_bytes(), true)?
        {
            Parsed::Request(request) => Ok((request.time.0, request.key, request.size)),
            _ => Err("skipped".to_owned()),
        }
    }

    #[test]
    fn lines_are_requests() {
        let key = cell::key(b"q:q:1:8WTfjZU14ee");
        assert_eq!(parse("3,q:q:1:8WTfjZU14ee,17,213,4,get,0"), Ok((3_000_000_000, key, 230)));
        assert_eq!(parse("0,a,b,3,5,1,set,60"), Ok((0, cell::key(b"a,b"), 8)));
    }

    #[test]
    fn bad_lines_say_what_is_wrong() {
        let problem = |line| parse(line).unwrap_err();
        assert_eq!(
            problem("1,a,1,1,get,0"),
            "expected 7 cells with commas between them, got \"1,a,1,1,get,0\""
        );
        assert_eq!(problem("x,a,1,1,0,get,0"), "expected a timestamp, got \"x\"");
        assert_eq!(problem("1,a,x,1,0,get,0"), "expected a whole number of bytes, got \"x\"");
        assert_eq!(problem("1,,0,1,0,get,0"), "skipped");
        let huge = problem("1,a,18446744073709551615,1,0,get,0");
        assert_eq!(huge, "key and value together are larger than 2^64 bytes");
    }
}
