//! Single values, as people read them and as files store them.

use std::collections::HashSet;

use trueplane_units::{LongTime, Nanos, Percent};

use crate::report::{Cell, Table};

/// What stands where there is no value.
const DASH: &str = "–";

/// `cell` for people: `1,234,567`, `25.0 %`, `1.235ms`, `10Gbps`, `–`.
///
/// Steps are printed without their unit, which [`heading`] puts into the header once instead of into every row.
pub(crate) fn for_people(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => one_line(text),
        Cell::Count(count) => thousands(&count.to_string()),
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

/// `cell` for programs: a plain number in the unit that the column's name carries, in the fewest digits that read back
/// as the same number; empty where there is no value.
pub(crate) fn for_programs(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Count(count) => count.to_string(),
        Cell::Bytes(bytes) => bytes.0.to_string(),
        Cell::Rate(rate) => rate.0.to_string(),
        Cell::Ratio(number)
        | Cell::Change(number)
        | Cell::Nanos(number)
        | Cell::LongTime(number)
        | Cell::Steps(number)
        | Cell::Number(number)
        | Cell::Bound { value: number, .. }
            if number.is_finite() =>
        {
            number.to_string()
        }
        _ => String::new(),
    }
}

/// The title of column `index`, with the unit that its cells leave out.
pub(crate) fn heading(table: &Table, index: usize) -> String {
    let Some(column) = table.columns.get(index) else { return String::new() };
    let title = one_line(&column.title);
    let in_steps = table.rows.iter().any(|row| matches!(row.get(index), Some(Cell::Steps(_))));
    if in_steps && !title.contains("step") { format!("{title} (steps)") } else { title }
}

/// Words stand left, numbers right; so a column is left-aligned when it holds words.
pub(crate) fn holds_words(table: &Table, index: usize) -> bool {
    table.rows.iter().any(|row| matches!(row.get(index), Some(Cell::Text(_))))
}

/// How many of the leading columns say which row it is: the fewest that tell every row from every other, as latency,
/// capacity and policy do. One, where all columns but the last do not.
pub(crate) fn labels(table: &Table) -> usize {
    let tell_rows_apart = |count: usize| {
        let mut seen = HashSet::new();
        let key = |row| cells(table, row).take(count).map(for_programs).collect::<Vec<_>>();
        table.rows.iter().all(|row| seen.insert(key(row)))
    };
    (1..table.columns.len()).find(|count| tell_rows_apart(*count)).unwrap_or(1)
}

/// Exactly as many cells as the table has columns, whatever the length of `row`.
pub(crate) fn cells<'a>(table: &Table, row: &'a [Cell]) -> impl Iterator<Item = &'a Cell> {
    row.iter().chain(std::iter::repeat(&Cell::Missing)).take(table.columns.len())
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
    let decimals = usize::try_from(3 - size.log10().floor() as i32).unwrap_or(0);
    let fixed = format!("{number:.decimals$}");
    let trimmed =
        if fixed.contains('.') { fixed.trim_end_matches('0').trim_end_matches('.') } else { fixed.as_str() };
    thousands(trimmed)
}

/// Commas between the thousands of a decimal number.
fn thousands(number: &str) -> String {
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
    use crate::report::Column;

    #[test]
    fn people_read_units_and_few_digits() {
        let cases = [
            (Cell::text("lru-mad"), "lru-mad"),
            (Cell::text("a\u{1b}[31m\nb"), "a [31m b"),
            (Cell::Count(0), "0"),
            (Cell::Count(999), "999"),
            (Cell::Count(1_234_567), "1,234,567"),
            (Cell::Count(u64::MAX), "18,446,744,073,709,551,615"),
            (Cell::Ratio(0.25), "25.0 %"),
            (Cell::Ratio(0.0), "0.0 %"),
            (Cell::Ratio(1.0), "100.0 %"),
            (Cell::Ratio(0.001_23), "0.12 %"),
            (Cell::Ratio(0.009_99), "1.0 %"),
            (Cell::Ratio(0.000_001), "<0.01 %"),
            (Cell::Ratio(f64::NAN), "–"),
            (Cell::Change(0.25), "+25.0 %"),
            (Cell::Change(-0.004), "-0.40 %"),
            (Cell::Change(0.0), "0.0 %"),
            (Cell::Change(-0.0), "0.0 %"),
            (Cell::Ratio(-0.000_001), ">-0.01 %"),
            (Cell::Change(-0.000_049_9), ">-0.01 %"),
            (Cell::Change(-0.000_050_1), "-0.01 %"),
            (Cell::Change(0.000_001), "<+0.01 %"),
            (Cell::Change(-0.009_96), "-1.0 %"),
            (Cell::Change(123.4), "+12340 %"),
            (Cell::Nanos(1_234_567.4), "1.235ms"),
            (Cell::Nanos(123.456), "123.5ns"),
            (Cell::Nanos(999.96), "1us"),
            (Cell::Nanos(-2_000_000.0), "-2ms"),
            (Cell::Nanos(f64::INFINITY), "–"),
            (Cell::LongTime(849_495e9), "9.83 d"),
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

    #[test]
    fn programs_read_the_number_back() {
        for number in [0.1 + 0.2, 1e-9, 123_456_789.012_345, -0.0, f64::MIN_POSITIVE] {
            assert_eq!(for_programs(&Cell::Nanos(number)).parse(), Ok(number));
        }
        assert_eq!(for_programs(&Cell::Count(1_234_567)), "1234567");
        assert_eq!(for_programs(&Cell::LongTime(849_495.5e9)), "849495500000000");
        assert_eq!(for_programs(&Cell::Bytes(Bytes(1 << 20))), "1048576");
        assert_eq!(for_programs(&Cell::Rate(BitsPerSec(9_987_654_321))), "9987654321");
        assert_eq!(for_programs(&Cell::Ratio(f64::NAN)), "");
        assert_eq!(for_programs(&Cell::Missing), "");
    }

    #[test]
    fn the_unit_of_steps_stands_in_the_header_once() {
        let mut table = Table {
            columns: vec![Column::new("mean", "mean_steps"), Column::new("worst (steps)", "worst_steps")],
            rows: vec![vec![Cell::Steps(2.5), Cell::Steps(9.0)]],
            ..Table::default()
        };
        assert_eq!(heading(&table, 0), "mean (steps)");
        assert_eq!(heading(&table, 1), "worst (steps)");
        table.rows[0][0] = Cell::Nanos(2.5);
        assert_eq!(heading(&table, 0), "mean");
        assert_eq!(heading(&table, 7), "");
    }

    #[test]
    fn labels_are_the_leading_columns_that_tell_rows_apart() {
        let table = |rows: &[[u64; 3]]| Table {
            columns: ["latency", "capacity", "hits"].map(|title| Column::new(title, title)).into(),
            rows: rows.iter().map(|row| row.map(Cell::Count).into()).collect(),
            ..Table::default()
        };
        assert_eq!(labels(&table(&[[1, 5, 9], [2, 5, 9]])), 1);
        assert_eq!(labels(&table(&[[1, 5, 9], [1, 6, 9], [2, 5, 9]])), 2);
        assert_eq!(labels(&table(&[[1, 5, 8], [1, 5, 9]])), 1);
        assert_eq!(labels(&table(&[])), 1);
        assert_eq!(labels(&Table::default()), 1);
    }

    #[test]
    fn a_row_has_as_many_cells_as_the_table_has_columns() {
        let table = Table { columns: vec![Column::new("a", "a"), Column::new("b", "b")], ..Table::default() };
        let count = |row: &[Cell]| cells(&table, row).count();
        assert_eq!([count(&[]), count(&[Cell::Missing]), count(&[const { Cell::Missing }; 3])], [2, 2, 2]);
    }
}
