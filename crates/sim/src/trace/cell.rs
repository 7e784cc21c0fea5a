//! One cell of a text trace: keys, numbers, times, and how to quote a cell in an error.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use trueplane_core::units::{Nanos, scale_decimal};

use super::hash::sip_hash;
use super::options::TimeUnit;

/// The key that `cell` stands for; see [`super::Request::key`].
pub(super) fn key(cell: &[u8]) -> u64 {
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
/// (RFC 3339), and count from 1970; those without an offset are taken as UTC.
pub(super) fn time(cell: &[u8], unit: TimeUnit) -> Option<Nanos> {
    duration(cell, unit).or_else(|| date_time(str::from_utf8(cell).ok()?))
}

fn date_time(text: &str) -> Option<Nanos> {
    if text.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    // The date's own hyphens lie before byte 10.
    let has_offset = text.bytes().skip(10).any(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-'));
    let instant: Timestamp = if has_offset {
        text.parse().ok()?
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
        ];
        for text in bad {
            assert_eq!(seconds(text), None, "{text}");
        }
        assert_eq!(time(b"\xff\xfe", TimeUnit::Seconds), None);
        assert_eq!(time(b"7", TimeUnit::Micros), Some(Nanos(7_000)));
    }

    #[test]
    fn errors_quote_on_one_line() {
        assert_eq!(expected("a size", b"1\n2\x1b"), "expected a size, got \"1\\n2\\u{1b}\"");
        assert_eq!(excerpt(&[b'x'; 100]), format!("{}…", "x".repeat(60)));
        assert_eq!(excerpt(b"\xff"), "\u{fffd}");
    }
}
