//! Single values, as people read them.

use std::fmt;

use trueplane_units::{LongTime, Nanos, Percent, digits};

use crate::report::Cell;

/// Text where there is no value.
pub(crate) const DASH: &str = "–";

/// Writes the cell as people read it: `1,234,567`, `25.0%`, `1.235ms`, `10Gbps`, `–`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&for_people(self))
    }
}

/// `cell` for people: `1,234,567`, `25.0%`, `1.235ms`, `10Gbps`, `–`.
///
/// Steps are printed without their unit, which stands in the heading once instead of in every row.
pub(crate) fn for_people(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => one_line(text),
        Cell::Count(count) => grouped(&count.to_string()),
        Cell::Ratio(ratio) => finite(*ratio, |ratio| Percent(ratio).to_string()),
        Cell::Change(ratio) => finite(*ratio, |ratio| format!("{:+}", Percent(ratio))),
        Cell::Nanos(nanos) => finite(*nanos, time),
        Cell::LongTime(nanos) => finite(*nanos, |nanos| LongTime(nanos).to_string()),
        Cell::Steps(number) | Cell::Number(number) => finite(*number, significant),
        Cell::Bytes(bytes) => bytes.to_string(),
        Cell::Rate(rate) => rate.to_string(),
        Cell::Bound { printed, .. } => printed.clone(),
        Cell::Missing => DASH.to_owned(),
    }
}

/// `text` without control characters: a key of a trace must neither break a table nor steer a terminal.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn finite(number: f64, print: impl Fn(f64) -> String) -> String {
    if number.is_finite() { print(number) } else { DASH.to_owned() }
}

/// Four significant digits with unit; [`Nanos`] prints whole nanoseconds, so that means below 1 us are printed here.
fn time(nanos: f64) -> String {
    let size = nanos.abs();
    let digits =
        if size < 999.95 { format!("{}ns", significant(size)) } else { whole_nanos(size).to_string() };
    if nanos < 0.0 { format!("-{digits}") } else { digits }
}

/// The nearest whole nanosecond; `as` saturates, so that every finite number has one.
fn whole_nanos(nanos: f64) -> Nanos {
    Nanos(nanos.round() as u64)
}

/// Four significant digits without trailing zeros, every digit before the point: `0.0123`, `68`, `1,234,567`.
pub(crate) fn significant(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e15).contains(&size) {
        return format!("{number:.3e}");
    }
    grouped(&digits(number, 4))
}

/// Commas between the thousands of a decimal number.
pub(crate) fn grouped(number: &str) -> String {
    let (whole, fraction) = number.find('.').map_or((number, ""), |point| number.split_at(point));
    let mut grouped = String::with_capacity(number.len() + number.len() / 3);
    let digits = whole.trim_start_matches('-').len();
    for (place, c) in whole.chars().enumerate() {
        let left = whole.len() - place;
        if c != '-' && left < digits && left.is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(c);
    }
    grouped + fraction
}

#[cfg(test)]
mod tests {
    use trueplane_units::{BitsPerSec, Bytes};

    use super::*;

    #[test]
    fn people_read_units_and_few_digits() {
        let cases = [
            (Cell::text("lru-mad"), "lru-mad"),
            (Cell::text("a\u{1b}[31m\nb"), "a [31m b"),
            (Cell::Count(0), "0"),
            (Cell::Count(999), "999"),
            (Cell::Count(1_234_567), "1,234,567"),
            (Cell::Count(u64::MAX), "18,446,744,073,709,551,615"),
            (Cell::Ratio(0.25), "25.0%"),
            (Cell::Ratio(0.0), "0.0%"),
            (Cell::Ratio(1.0), "100.0%"),
            (Cell::Ratio(0.001_23), "0.12%"),
            (Cell::Ratio(0.009_99), "1.0%"),
            (Cell::Ratio(0.000_001), "<0.01%"),
            (Cell::Ratio(f64::NAN), "–"),
            (Cell::Change(0.25), "+25.0%"),
            (Cell::Change(-0.004), "-0.40%"),
            (Cell::Change(0.0), "0.0%"),
            (Cell::Change(-0.0), "0.0%"),
            (Cell::Ratio(-0.000_001), "≈0%"),
            (Cell::Change(-0.000_049_9), "≈0%"),
            (Cell::Change(-0.000_050_1), "-0.01%"),
            (Cell::Change(0.000_001), "≈0%"),
            (Cell::Change(-0.009_96), "-1.0%"),
            (Cell::Change(123.4), "+12340%"),
            (Cell::Nanos(1_234_567.4), "1.235ms"),
            (Cell::Nanos(123.456), "123.5ns"),
            (Cell::Nanos(999.96), "1µs"),
            (Cell::Nanos(-2_000_000.0), "-2ms"),
            (Cell::Nanos(f64::INFINITY), "–"),
            (Cell::LongTime(849_495e9), "9.83d"),
            (Cell::LongTime(f64::NAN), "–"),
            (Cell::Steps(1234.56), "1,235"),
            (Cell::Steps(0.5), "0.5"),
            (Cell::Number(0.987_654), "0.9877"),
            (Cell::Number(-1_234_567.8), "-1,234,568"),
            (Cell::Number(-123_456.0), "-123,456"),
            (Cell::Number(1e-9), "1.000e-9"),
            (Cell::Bytes(Bytes(256 << 20)), "256MiB"),
            (Cell::Rate(BitsPerSec(0)), "0bps"),
            (Cell::Rate(BitsPerSec(9_987_654_321)), "9.988Gbps"),
            (Cell::Missing, "–"),
        ];
        for (cell, expected) in cases {
            assert_eq!(for_people(&cell), expected, "{cell:?}");
        }
    }
}
