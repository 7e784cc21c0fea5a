//! Decimal numbers of text, exactly.

use std::fmt::Write as _;

use super::BILLION;

/// Digits that are kept of a number; what a digit after them is worth is lost in rounding anyway.
const DIGITS: i64 = 36;

/// `text` · 10^`places`, rounded to the nearest whole number (a half upwards); `None` if it is no number of zero or more that fits.
///
/// Numbers are written as `12`, `0.5`, `.5`, `5.` or `1.25e-3`, without signs but in the exponent. O(length).
pub(super) fn parse(text: &[u8], places: u32) -> Option<u128> {
    // Most are short, and have no exponent.
    let mut mantissa: u64 = 0;
    let mut point = None;
    for (at, &byte) in text.iter().enumerate() {
        match byte {
            b'0'..=b'9' => mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte - b'0')),
            b'.' if point.is_none() => point = Some(at),
            _ => return parse_any(text, places),
        }
    }
    let digits = text.len() - usize::from(point.is_some());
    let decimals = point.map_or(0, |point| text.len() - point - 1) as u32;
    if digits == 0 || digits > 19 || decimals > places || places - decimals > 18 {
        return parse_any(text, places);
    }
    Some(u128::from(mantissa) * u128::from(10u64.pow(places - decimals)))
}

/// The number in `text` in billionths, rounded to the nearest (a half upwards), as the cells of a log have it, with an optional `K`, `M`,
/// `G` or `T` at its end, powers of ten: `12`, `0.5`, `1e3`, `1.5K`. `None` if it is no number of zero or more below 10²⁹ units. O(length).
pub fn billionths(text: &str) -> Option<u128> {
    let suffixes = [("K", 3), ("k", 3), ("M", 6), ("G", 9), ("T", 12)];
    let (number, places) = suffixes
        .into_iter()
        .find_map(|(name, places)| Some((text.strip_suffix(name)?, places)))
        .unwrap_or((text, 0));
    parse(number.as_bytes(), 9 + places)
}

#[cold]
fn parse_any(text: &[u8], places: u32) -> Option<u128> {
    let exponent_at = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (number, exponent) = match exponent_at {
        Some(at) => (&text[..at], exponent(&text[at + 1..])?),
        None => (text, 0),
    };
    let (mut mantissa, mut kept, mut shift) = (0u128, 0, 0i64);
    let (mut has_digits, mut is_fraction) = (false, false);
    for &byte in number {
        match byte {
            b'.' if !is_fraction => is_fraction = true,
            b'0'..=b'9' => {
                has_digits = true;
                shift -= i64::from(is_fraction);
                if kept < DIGITS {
                    mantissa = mantissa * 10 + u128::from(byte - b'0');
                    kept += i64::from(mantissa > 0);
                } else {
                    shift += 1;
                }
            }
            _ => return None,
        }
    }
    if !has_digits {
        return None;
    }
    scale(mantissa, shift + exponent + i64::from(places))
}

/// `mantissa` · 10^`shift`, rounded.
fn scale(mantissa: u128, shift: i64) -> Option<u128> {
    if mantissa == 0 {
        return Some(0);
    }
    let power = 10u128.checked_pow(u32::try_from(shift.unsigned_abs()).unwrap_or(u32::MAX));
    match (shift >= 0, power) {
        (true, power) => mantissa.checked_mul(power?),
        (false, Some(power)) => Some((mantissa + power / 2) / power),
        (false, None) => Some(0),
    }
}

/// The number after an `e`, cut to where it makes every number zero or too large.
fn exponent(text: &[u8]) -> Option<i64> {
    let (sign, digits) = match text.split_first()? {
        (b'-', digits) => (-1, digits),
        (b'+', digits) => (1, digits),
        _ => (1, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let cut = digits.iter().fold(0, |number: i64, byte| (number * 10 + i64::from(byte - b'0')).min(1 << 40));
    Some(sign * cut)
}

/// Appends `billionths` as a decimal of units, which [`parse`] reads as the same.
pub(super) fn write(out: &mut String, billionths: u128) {
    // What is appended to a string is never refused.
    let _ = write!(out, "{}", billionths / BILLION);
    let rest = billionths % BILLION;
    if rest > 0 {
        let _ = write!(out, ".{rest:09}");
        out.truncate(out.trim_end_matches('0').len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_are_exact() {
        for (text, billionths) in [
            ("0", 0),
            ("12", 12_000_000_000),
            ("0.000000001", 1),
            ("0.1", 100_000_000),
            (".5", 500_000_000),
            ("5.", 5_000_000_000),
            ("475.00000000000006", 475_000_000_000),
            ("0.0000000004999999999999999999999999999999999999999999", 0),
            ("0.0000000005", 1),
            ("1e3", 1_000_000_000_000),
            ("1.25E-3", 1_250_000),
            ("0000000000000000000000000000000000000000000000000007e+0", 7_000_000_000),
            ("0.00000000000000000000000000000000000000000000000000012e50", 12_000_000),
            ("1e-999999999999999999999999", 0),
            ("0e999999999999999999999999", 0),
            ("18446744073709551615", 18_446_744_073_709_551_615_000_000_000),
            ("1234567890123456789.123456789", 1_234_567_890_123_456_789_123_456_789),
        ] {
            assert_eq!(parse(text.as_bytes(), 9), Some(billionths), "{text}");
        }
        for text in
            ["", ".", "-1", "+1", "1e", "e3", "1e1.5", "1.2.3", "1_000", "nan", "inf", "0x10", "1 ", "1e40"]
        {
            assert_eq!(parse(text.as_bytes(), 9), None, "{text}");
        }
        assert_eq!(parse(b"12345", 6), Some(12_345_000_000));
        assert_eq!(parse(b"0.5", 0), Some(1));
    }

    #[test]
    fn suffixes_are_powers_of_ten() {
        let read = ["96", "1.5K", "1e3", "1e3k", ".25", "2T", "0.0000000004G"].map(billionths);
        let units =
            [96_000_000_000, 1_500_000_000_000, 1_000_000_000_000, 1_000_000_000_000_000, 250_000_000];
        assert_eq!(read[..5], units.map(Some));
        assert_eq!(read[5..], [Some(2_000_000_000_000_000_000_000), Some(400_000_000)]);
        assert!(
            ["", "K", "1KK", "1 K", "-1", "1E", "nan", "1e40"].iter().all(|text| billionths(text).is_none())
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(billionths in 0..=10u128.pow(27)) {
            let mut text = String::new();
            write(&mut text, billionths);
            prop_assert_eq!(parse(text.as_bytes(), 9), Some(billionths));
        }

        /// All ways to read a number agree.
        #[test]
        fn short_numbers_are_no_exception(text in "[0-9]{0,12}\\.?[0-9]{0,12}", places in 0..12u32) {
            prop_assert_eq!(parse(text.as_bytes(), places), parse_any(text.as_bytes(), places));
        }
    }
}
