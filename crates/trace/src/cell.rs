//! One cell of a text trace: keys, numbers, times, and how to quote a cell in an error.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use trueplane_units::{Nanos, scale_decimal};

use crate::options::TimeUnit;
use crate::sip::sip_hash;

/// The key that `cell` stands for; see [`super::Request::key`].
pub fn key(cell: &[u8]) -> u64 {
    let canonical = cell.len() == 1 || cell.first() != Some(&b'0');
    if canonical && let Some(number) = unsigned(cell) { number } else { sip_hash(cell) }
}

/// The number that `cell` writes with decimal digits only; `None` if it is anything else or 2⁶⁴ or more.
pub(super) fn unsigned(cell: &[u8]) -> Option<u64> {
    if cell.is_empty() {
        return None;
    }
    let mut number: u64 = 0;
    for byte in cell {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

/// Whether `cell` says that there is no value.
fn is_absent(cell: &[u8]) -> bool {
    matches!(cell, b"" | b"-")
}

/// The size that `cell` stands for: a whole number of bytes, which may end with `.0` as those of pandas do, and 0 where
/// the cell is empty or `-`.
#[inline]
pub(super) fn size(cell: &[u8]) -> Result<u64, String> {
    let whole = || {
        let point = cell.iter().rposition(|byte| *byte == b'.')?;
        let is_whole = cell.len() > point + 1 && cell[point + 1..].iter().all(|byte| *byte == b'0');
        if is_whole { unsigned(&cell[..point]) } else { None }
    };
    match unsigned(cell) {
        Some(number) => Ok(number),
        None if is_absent(cell) => Ok(0),
        None => whole().ok_or_else(|| expected("a whole number of bytes", cell)),
    }
}

/// The fetch time that `cell` stands for: a number of units, and 0 where the cell is empty or `-`.
#[inline]
pub(super) fn fetch(cell: &[u8], unit: TimeUnit) -> Result<Nanos, String> {
    match duration(cell, unit) {
        Some(nanos) => Ok(nanos),
        None if is_absent(cell) => Ok(Nanos(0)),
        None => Err(expected_time("a fetch time", cell, unit, "--fetch-unit")),
    }
}

/// The timestamp that `cell` stands for; see [`time`].
#[inline]
pub(super) fn timestamp(cell: &[u8], unit: TimeUnit) -> Result<Nanos, String> {
    time(cell, unit).ok_or_else(|| expected_time("a timestamp", cell, unit, "--time-unit"))
}

/// As [`expected`], and with the unit that `flag` sets if that is what makes a number too large.
#[cold]
pub(super) fn expected_time(what: &str, found: &[u8], unit: TimeUnit, flag: &str) -> String {
    let mut problem = expected(what, found);
    if found.is_empty() || !found.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return problem;
    }
    let names = ["seconds", "milliseconds", "microseconds", "nanoseconds"];
    let units = TimeUnit::ALL.iter().zip(names).skip_while(|(named, _)| **named != unit);
    if let Some((_, name)) = units.clone().next() {
        let finer = units.map(|(named, _)| named).find(|finer| duration(found, **finer).is_some());
        let _ = match finer {
            Some(finer) => write!(problem, ", too large for {name}; is it {flag} {finer}?"),
            None if unsigned(found).is_none() && found.iter().all(u8::is_ascii_digit) => {
                write!(problem, ", too large for any unit")
            }
            None => Ok(()),
        };
    }
    problem
}

/// Whether `time` and `next`, cells with spaces between them, are two parts of one date-time: `2024-11-15` and
/// `16:57:50`, or `2024-11-15T16:57:50` and `+0100`.
pub(super) fn is_split_date_time(time: &[u8], next: &[u8]) -> bool {
    let has_shape = |text: &[u8], shape: &[u8]| {
        text.len() >= shape.len()
            && text.iter().zip(shape).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                b'-' => matches!(byte, b'-' | b'/' | b'.'),
                b'+' => matches!(byte, b'+' | b'-'),
                _ => byte == shape,
            })
    };
    has_shape(time, b"0000-00-00")
        && if time.len() == 10 {
            has_shape(next, b"00:00")
        } else {
            (next.len() == 5 && has_shape(next, b"+0000")) || (next.len() == 6 && has_shape(next, b"+00:00"))
        }
}

/// The duration of `cell` units, which may have decimals.
pub(super) fn duration(cell: &[u8], unit: TimeUnit) -> Option<Nanos> {
    let nanos = match unsigned(cell) {
        Some(number) => number.checked_mul(unit.nanos())?,
        None => scale_decimal(str::from_utf8(cell).ok()?, unit.nanos())?,
    };
    Some(Nanos(nanos))
}

/// The instant that `cell` stands for: a number of units, or a date-time.
///
/// Date-times are ISO 8601 with a space or a `T` between date and time, an optional fraction and an optional offset
/// (RFC 3339), which a space may precede, and count from 1970; those without an offset are taken as UTC, but for those
/// that name a zone instead (`[Europe/Zurich]`), which are refused.
pub(super) fn time(cell: &[u8], unit: TimeUnit) -> Option<Nanos> {
    duration(cell, unit).or_else(|| date_time(str::from_utf8(cell).ok()?))
}

/// The time that a text in ISO 8601 such as `2026-01-31T12:00:00Z` stands for, since 1970; without a zone it is taken for UTC.
pub fn date_time(text: &str) -> Option<Nanos> {
    if text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    let plain = text.split_once('[').map_or(text, |(plain, _zone)| plain);
    // The date's own hyphens lie before byte 10.
    let has_offset = plain.bytes().skip(10).any(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-'));
    let instant: Timestamp = if has_offset {
        match text.rsplit_once(' ') {
            Some((local, offset)) if local.len() > 10 && offset.starts_with(['+', '-']) => {
                format!("{local}{offset}").parse().ok()?
            }
            _ => text.parse().ok()?,
        }
    } else if plain.len() < text.len() {
        return None;
    } else {
        Offset::UTC.to_timestamp(text.parse::<DateTime>().ok()?).ok()?
    };
    since_1970(instant)
}

/// Nanoseconds from 1970 to `instant`; `None` when it is earlier or after 2554.
pub(super) fn since_1970(instant: Timestamp) -> Option<Nanos> {
    u64::try_from(instant.as_nanosecond()).ok().map(Nanos)
}

/// `expected a timestamp, got "abc"`.
pub(super) fn expected(what: &str, found: &[u8]) -> String {
    format!("expected {what}, got \"{}\"", excerpt(found))
}

/// The start of `cell` as text that fits on the line of an error.
pub(super) fn excerpt(cell: &[u8]) -> String {
    const LONGEST: usize = 60;
    let text = String::from_utf8_lossy(&cell[..cell.len().min(4 * LONGEST)]);
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().count() > LONGEST {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_numbers_are_their_own_keys() {
        assert_eq!(key(b"0"), 0);
        assert_eq!(key(b"18446744073709551615"), u64::MAX);
        for text in ["00", "017", "+17", "-1", "1.0", "18446744073709551616", "a"] {
            assert_eq!(key(text.as_bytes()), sip_hash(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn times_are_numbers_or_date_times() {
        let seconds = |text: &str| time(text.as_bytes(), TimeUnit::Seconds).map(|nanos| nanos.0);
        assert_eq!(seconds("12"), Some(12_000_000_000));
        assert_eq!(seconds("0.000000001"), Some(1));
        assert_eq!(seconds("1970-01-01 00:00:01"), Some(1_000_000_000));
        assert_eq!(seconds("1970-01-01 00:00:01.5"), Some(1_500_000_000));
        assert_eq!(seconds("1970-01-01T01:00:00+01:00"), Some(0));
        assert_eq!(seconds("1970-01-01T00:00:02Z"), Some(2_000_000_000));
        assert_eq!(seconds("2024-11-15 16:57:50"), Some(1_731_689_870_000_000_000));
        let bad = [
            "",
            "abc",
            "-1",
            "nan",
            "inf",
            "1e3",
            "1969-12-31 23:59:59",
            "2024-13-01",
            "99999999999999",
            "12-",
            "2024-11-15T16:57:50[Europe/Zurich]",
            "2024-11-15T16:57:50[Europe/Zaporozhye]",
            "2024-11-15 16:57:50 Z+01",
        ];
        for text in bad {
            assert_eq!(seconds(text), None, "{text}");
        }
        for offset in ["+0100", " +0100", "+01:00", " +01:00", "+01:00[Europe/Zurich]"] {
            let text = format!("2024-11-15 17:57:50{offset}");
            assert_eq!(seconds(&text), Some(1_731_689_870_000_000_000), "{text}");
        }
        assert_eq!(time(b"\xff\xfe", TimeUnit::Seconds), None);
        assert_eq!(time(b"7", TimeUnit::Micros), Some(Nanos(7_000)));
    }

    #[test]
    fn a_number_too_large_for_its_unit_says_so() {
        let problem = |text: &str, unit| timestamp(text.as_bytes(), unit).unwrap_err();
        assert_eq!(
            problem("1731689870000", TimeUnit::Seconds),
            "expected a timestamp, got \"1731689870000\", too large for seconds; is it --time-unit ms?"
        );
        assert!(problem("1731689870000000.5", TimeUnit::Seconds).ends_with("--time-unit us?"));
        let nanos = problem("1731689870000000000", TimeUnit::Millis);
        assert!(nanos.ends_with("too large for milliseconds; is it --time-unit ns?"), "{nanos}");
        let huge = problem("99999999999999999999", TimeUnit::Nanos);
        assert!(huge.ends_with(", too large for any unit"), "{huge}");
        assert_eq!(problem("1.2.3", TimeUnit::Seconds), "expected a timestamp, got \"1.2.3\"");
        let fetch = fetch(b"1731689870000", TimeUnit::Seconds).unwrap_err();
        assert!(fetch.ends_with("is it --fetch-unit ms?"), "{fetch}");
    }

    #[test]
    fn sizes_and_fetch_times_may_be_absent() {
        for (text, bytes) in [("", 0), ("-", 0), ("3", 3), ("3.0", 3), ("3.00", 3)] {
            assert_eq!(size(text.as_bytes()), Ok(bytes), "{text}");
        }
        for text in ["3.5", "3.", ".0", "-1", "3.0.0", "x", "18446744073709551616.0"] {
            let expected = format!("expected a whole number of bytes, got \"{text}\"");
            assert_eq!(size(text.as_bytes()), Err(expected));
        }
        for (text, nanos) in [("", 0), ("-", 0), ("2.5", 2_500_000)] {
            assert_eq!(fetch(text.as_bytes(), TimeUnit::Millis), Ok(Nanos(nanos)), "{text}");
        }
        fetch(b"-1", TimeUnit::Millis).unwrap_err();
    }

    #[test]
    fn errors_quote_on_one_line() {
        assert_eq!(expected("a size", b"1\n2\x1b"), "expected a size, got \"1\\n2\\u{1b}\"");
        assert_eq!(excerpt(&[b'x'; 100]), format!("{}…", "x".repeat(60)));
        assert_eq!(excerpt(b"\xff"), "\u{fffd}");
    }
}
