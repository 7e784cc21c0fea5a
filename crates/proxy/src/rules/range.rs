//! Parts of a stored response. (RFC 9110 §14)

use http::{HeaderMap, header};

use super::conditional::strong_tag;
use super::fields::{only, parse_date, split};

/// What a request with `Range` gets of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// The bytes from the first to the last one, both included.
    Bytes {
        /// Place of the first byte.
        first: u64,
        /// Place of the last byte.
        last: u64,
    },
    /// It asks for what is not there.
    OutOfRange,
}

/// The part of a response with `length` bytes that a request asks for. Several parts at once are not made: such requests get all of it, so nobody
/// can have the same bytes sent many times over. (RFC 9110 §14.2 allows it, RFC 7233 §6.1 warns)
pub fn part(request: &HeaderMap, stored: &HeaderMap, length: u64) -> Part {
    let Some(range) = only(request, &header::RANGE) else { return Part::Whole };
    if !is_about(request, stored) {
        return Part::Whole;
    }
    let Some(set) = range.get(..6).filter(|unit| unit.eq_ignore_ascii_case(b"bytes=")).map(|_| &range[6..])
    else {
        return Part::Whole;
    };
    let mut specs = split(set, b',');
    let (Some(spec), None) = (specs.next(), specs.next()) else { return Part::Whole };
    let Some(dash) = spec.iter().position(|&byte| byte == b'-') else { return Part::Whole };
    let (Some(first), Some(last)) = (place(&spec[..dash]), place(&spec[dash + 1..])) else {
        return Part::Whole;
    };
    match (first, last) {
        (None, None) => Part::Whole,
        (Some(first), Some(last)) if last < first => Part::Whole,
        (None, Some(0)) => Part::OutOfRange,
        (None, Some(_)) if length == 0 => Part::OutOfRange,
        (None, Some(suffix)) => Part::Bytes { first: length.saturating_sub(suffix), last: length - 1 },
        (Some(first), _) if first >= length => Part::OutOfRange,
        (Some(first), last) => Part::Bytes { first, last: last.unwrap_or(u64::MAX).min(length - 1) },
    }
}

/// A place: digits, or nothing. None if it is anything else.
fn place(text: &[u8]) -> Option<Option<u64>> {
    if text.is_empty() {
        return Some(None);
    }
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = text
        .iter()
        .try_fold(0u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    Some(Some(number.unwrap_or(u64::MAX)))
}

/// Whether `If-Range`, if it is there, names what is stored: then a part fits what the client has. (RFC 9110 §13.1.5)
fn is_about(request: &HeaderMap, stored: &HeaderMap) -> bool {
    let Some(validator) = request.get(header::IF_RANGE) else { return true };
    let is_tag = strong_tag(stored).is_some_and(|tag| tag == validator);
    let date = parse_date(validator.as_bytes());
    let is_date = date.is_some() && stored.get(header::LAST_MODIFIED) == Some(validator);
    is_tag || is_date
}

/// The value of `Content-Range` of a part.
pub fn content_range(first: u64, last: u64, length: u64) -> String {
    format!("bytes {first}-{last}/{length}")
}

/// The first byte of the part that a response says it is, and the length of the whole.
pub fn first_of(response: &HeaderMap) -> Option<(u64, u64)> {
    let text = only(response, &header::CONTENT_RANGE)?;
    let range = text.strip_prefix(b"bytes ")?;
    let (dash, slash) =
        (range.iter().position(|&byte| byte == b'-')?, range.iter().position(|&byte| byte == b'/')?);
    Some((place(&range[..dash])??, place(&range[slash + 1..])??))
}

#[cfg(test)]
mod tests {
    use super::super::fields::map;
    use super::*;

    fn of(range: &str, length: u64) -> Part {
        part(&map(&[("range", range)]), &map(&[]), length)
    }

    #[test]
    fn parts_by_hand() {
        assert_eq!(of("bytes=0-4", 10), Part::Bytes { first: 0, last: 4 });
        assert_eq!(of("Bytes=5-", 10), Part::Bytes { first: 5, last: 9 });
        assert_eq!(of("bytes=-3", 10), Part::Bytes { first: 7, last: 9 });
        assert_eq!(of("bytes=-30", 10), Part::Bytes { first: 0, last: 9 });
        assert_eq!(of("bytes=8-99999999999999999999999", 10), Part::Bytes { first: 8, last: 9 });
    }

    #[test]
    fn what_is_not_there_and_what_is_no_range() {
        for range in ["bytes=10-", "bytes=-0", "bytes=99999999999999999999-"] {
            assert_eq!(of(range, 10), Part::OutOfRange, "{range}");
        }
        assert_eq!(of("bytes=0-", 0), Part::OutOfRange);
        for range in
            ["bytes=5-4", "bytes=-", "bytes=a-b", "items=0-1", "bytes=0-1,3-4", "bytes=", "bytes 0-1", "b"]
        {
            assert_eq!(of(range, 10), Part::Whole, "{range}");
        }
    }

    #[test]
    fn a_part_fits_what_the_client_has_or_it_gets_all() {
        let stored = map(&[("etag", "\"a\""), ("last-modified", "Sun, 06 Nov 1994 08:49:37 GMT")]);
        let of =
            |condition: &str| part(&map(&[("range", "bytes=0-0"), ("if-range", condition)]), &stored, 10);
        assert_eq!(of("\"a\""), Part::Bytes { first: 0, last: 0 });
        assert_eq!(of("Sun, 06 Nov 1994 08:49:37 GMT"), Part::Bytes { first: 0, last: 0 });
        assert_eq!(of("\"b\""), Part::Whole);
        assert_eq!(of("W/\"a\""), Part::Whole);
        assert_eq!(first_of(&map(&[("content-range", "bytes 5-9/10")])), Some((5, 10)));
        for text in ["bytes */10", "bytes 5-9/*", "bytes 5/10-9", "bytes 5", ""] {
            assert_eq!(first_of(&map(&[("content-range", text)])), None, "{text}");
        }
    }
}
