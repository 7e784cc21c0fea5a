//! What header fields have in common: lists, numbers and dates.

use std::time::{Duration, SystemTime};

use http::{HeaderMap, HeaderName};
use trueplane_units::Nanos;

/// The largest number of seconds that a field can say: larger ones count as this. (RFC 9111 §1.2.2)
pub(crate) const MOST_SECONDS: u64 = 1 << 31;

/// The elements of a list, over all lines of its field, without spaces around them. A comma within quotes separates nothing, and empty elements
/// are left out. (RFC 9110 §5.6.1)
pub(crate) fn elements<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    headers.get_all(name).iter().flat_map(|value| split(value.as_bytes(), b','))
}

/// The parts of a text between separators that are not within quotes, without spaces around them and without empty ones.
pub(crate) fn split(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    split_all(text, separator).filter(|part| !part.is_empty())
}

/// The same with empty ones.
pub(crate) fn split_all(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let parts = text.split(move |&byte| {
        if is_escaped {
            is_escaped = false;
            return false;
        }
        match byte {
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ => return byte == separator && !is_quoted,
        }
        false
    });
    parts.map(<[u8]>::trim_ascii)
}

/// A number of seconds: digits and nothing else. (RFC 9111 §1.2.2)
pub(crate) fn seconds(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = text
        .iter()
        .try_fold(0u64, |number, digit| number.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    Some(number.unwrap_or(u64::MAX).min(MOST_SECONDS))
}

/// The date in a field, if there is one line of it and it is valid.
pub(crate) fn date(headers: &HeaderMap, name: &HeaderName) -> Option<Nanos> {
    parse_date(only(headers, name)?)
}

/// A date in any of the three formats of RFC 9110 §5.6.7, as time since 1970. Dates before that are 1970.
pub(crate) fn parse_date(text: &[u8]) -> Option<Nanos> {
    let text = std::str::from_utf8(text).ok()?;
    let date = httpdate::parse_http_date(text.trim()).ok()?;
    let since = date.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Some(Nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)))
}

/// A date as fields have it.
pub(crate) fn print_date(time: Nanos) -> String {
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + Duration::from_nanos(time.0))
}

/// The value of a field that has one line.
pub(crate) fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then(|| value.as_bytes().trim_ascii())
}

/// Fields of a message, for tests.
#[cfg(test)]
pub(crate) fn map(lines: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, value.parse().expect("a value of a field"));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_within_quotes_separate_nothing() {
        let parts = |text: &'static str| split(text.as_bytes(), b',').collect::<Vec<_>>();
        assert_eq!(parts(r#" a , "b, \"c,", , d"#), [&b"a"[..], br#""b, \"c,""#, b"d"]);
        assert_eq!(parts(""), Vec::<&[u8]>::new());
    }

    #[test]
    fn seconds_are_digits_alone() {
        assert_eq!(seconds(b"003600"), Some(3600));
        assert_eq!(seconds(b"99999999999999999999999"), Some(MOST_SECONDS));
        for text in ["", "-1", "1.0", "1s", " 1", "+1"] {
            assert_eq!(seconds(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn dates_have_three_formats() {
        let dates =
            ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"];
        for date in dates {
            assert_eq!(parse_date(date.as_bytes()), Some(Nanos::from_secs(784_111_777)), "{date}");
        }
        assert_eq!(parse_date(b"0"), None);
        assert_eq!(print_date(Nanos::from_secs(784_111_777)), dates[0]);
    }
}
