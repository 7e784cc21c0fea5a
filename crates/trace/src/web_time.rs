//! Times as web servers write them.

use jiff::civil::Date;
use jiff::tz::Offset;
use trueplane_units::{Nanos, scale_decimal};

use crate::cell;
use crate::options::TimeUnit;

/// Reads times, and remembers the last one: many requests arrive within one second.
#[derive(Default)]
pub(super) struct Times {
    last: Vec<u8>,
    instant: Option<Nanos>,
}

impl Times {
    /// Reads the time in `text` by [`instant`].
    pub(super) fn read(&mut self, text: &[u8]) -> Result<Nanos, String> {
        if self.instant.is_none() || self.last != text {
            self.instant = instant(text);
            self.last.clear();
            self.last.extend_from_slice(text);
        }
        self.instant.ok_or_else(|| cell::expected("a time that exists", text))
    }
}

/// The instant that `text` means; `None` when it is no time, or there was none such since 1970.
///
/// Known are `10/Oct/2000:13:55:36 -0700`, ISO 8601 (`2000-10-10T13:55:36-07:00`, with a fraction or without; UTC where
/// there is no offset) and the time since 1970 as a number, in seconds, milliseconds, microseconds or nanoseconds.
pub(super) fn instant(text: &[u8]) -> Option<Nanos> {
    match text.split_first_chunk() {
        Some((common, [])) if has_common_shape(common) => of_common(common),
        _ if text.get(4) == Some(&b'-') => cell::time(text, TimeUnit::Seconds),
        _ => since_1970(text),
    }
}

/// Whether `text` looks like a time that [`instant`] knows, whether it exists or not. Numbers are times only if they
/// are long enough to be in this century.
pub(super) fn has_time_shape(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match text.split_first_chunk() {
        Some((common, [])) if has_common_shape(common) => true,
        _ if digits == 4 => {
            text.len() >= 19 && [text[4], text[7]] == *b"--" && matches!(text[10], b'T' | b't' | b' ')
        }
        _ => digits >= 9 && is_decimal(text),
    }
}

/// The length of `10/Oct/2000:13:55:36 -0700`.
const COMMON_LENGTH: usize = 26;

fn has_common_shape(text: &[u8; COMMON_LENGTH]) -> bool {
    const SHAPE: &[u8; COMMON_LENGTH] = b"00/Aaa/0000:00:00:00 +0000";
    text.iter().zip(SHAPE).all(|(byte, shape)| match shape {
        b'0' => byte.is_ascii_digit(),
        b'A' | b'a' => byte.is_ascii_alphabetic(),
        b'+' => matches!(byte, b'+' | b'-'),
        _ => byte == shape,
    })
}

/// The instant that a text of the common shape means; `None` when there is none such since 1970.
fn of_common(text: &[u8; COMMON_LENGTH]) -> Option<Nanos> {
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

/// A time since 1970, which tells its unit by its length: seconds have ten digits until 2286, milliseconds thirteen.
fn since_1970(text: &[u8]) -> Option<Nanos> {
    if !is_decimal(text) {
        return None;
    }
    let unit = match text.iter().position(|byte| *byte == b'.').unwrap_or(text.len()) {
        0..=11 => TimeUnit::Seconds,
        12..=14 => TimeUnit::Millis,
        15..=17 => TimeUnit::Micros,
        _ => TimeUnit::Nanos,
    };
    scale_decimal(str::from_utf8(text).ok()?, unit.nanos()).map(Nanos)
}

/// Whether `text` is digits, and perhaps a point and more of them.
fn is_decimal(text: &[u8]) -> bool {
    let mut parts = text.splitn(2, |byte| *byte == b'.');
    parts.all(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str) -> Option<u64> {
        instant(text.as_bytes()).map(|nanos| nanos.0)
    }

    #[test]
    fn web_servers_write_times_in_many_ways() {
        const SECOND: u64 = 1_000_000_000;
        for text in [
            "10/Oct/2000:13:55:36 -0700",
            "2000-10-10T13:55:36-07:00",
            "2000-10-10T20:55:36Z",
            "2000-10-10 20:55:36",
            "971211336",
            "971211336.000",
            "0971211336000",
            "0971211336000000",
            "0971211336000000000",
        ] {
            assert_eq!(nanos(text), Some(971_211_336 * SECOND), "{text}");
            assert!(has_time_shape(text.as_bytes()), "{text}");
        }
        assert_eq!(nanos("1728568536.123"), Some(1_728_568_536_123_000_000));
        assert_eq!(nanos("1728568536123.5"), Some(1_728_568_536_123_500_000));
        assert_eq!(nanos("2016-04-15T20:17:00.310Z"), Some(1_460_751_420_310_000_000));
        for text in
            ["", "x", ".5", "5.", "-1", "1e9", "1_0", "31/Feb/2000:00:00:00 +0000", "1969-12-31T00:00:00Z"]
        {
            assert_eq!(nanos(text), None, "{text}");
        }
    }

    #[test]
    fn what_a_user_may_be_called_has_no_time_shape() {
        for text in ["", "b", "17", "1.5", "12345678", "2000-10-10", "123456789x", "2000x10-10T20:55:36"] {
            assert!(!has_time_shape(text.as_bytes()), "{text}");
        }
        assert!(has_time_shape(b"31/Feb/2000:00:00:00 +0000"));
    }

    #[test]
    fn only_a_leap_second_comes_after_the_59th() {
        let seconds = |text: &str| nanos(text).map(|nanos| nanos / 1_000_000_000);
        assert_eq!(seconds("01/Jan/1970:00:00:59 +0000"), Some(59));
        assert_eq!(seconds("01/Jan/1970:00:00:60 +0000"), Some(59));
        assert_eq!(seconds("01/Jan/1970:00:00:61 +0000"), None);
        assert_eq!(seconds("01/Jan/1970:00:00:99 +0000"), None);
        assert_eq!(seconds("01/Jan/1970:00:00:00 -0059"), Some(59 * 60));
        assert_eq!(seconds("01/Jan/1970:00:00:00 -0060"), None);
    }

    #[test]
    fn the_last_time_is_not_read_again() {
        let mut times = Times::default();
        assert_eq!(times.read(b"971211336.5"), Ok(Nanos(971_211_336_500_000_000)));
        assert_eq!(times.read(b"971211336.5"), Ok(Nanos(971_211_336_500_000_000)));
        assert_eq!(times.read(b"x"), Err("expected a time that exists, got \"x\"".to_owned()));
        assert_eq!(times.read(b"971211337"), Ok(Nanos(971_211_337_000_000_000)));
    }
}
