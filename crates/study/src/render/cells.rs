//! The cells of a table, as files store them, and what columns and rows they make.

use std::collections::HashSet;

use crate::format::one_line;
use crate::report::{Cell, Table};

/// `cell` for programs: a plain number in the unit that the column's name carries, in the fewest digits that read back
/// as the same number; empty where there is no value.
pub(super) fn for_programs(cell: &Cell) -> String {
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
pub(super) fn heading(table: &Table, index: usize) -> String {
    let Some(column) = table.columns.get(index) else { return String::new() };
    let title = one_line(&column.title);
    let in_steps = table.rows.iter().any(|row| matches!(row.get(index), Some(Cell::Steps(_))));
    if in_steps && !title.contains("step") { format!("{title} (steps)") } else { title }
}

/// Words stand left, numbers right; so a column is left-aligned when it holds words.
pub(super) fn holds_words(table: &Table, index: usize) -> bool {
    table.rows.iter().any(|row| matches!(row.get(index), Some(Cell::Text(_))))
}

/// Number of leading columns that identify a row: the fewest that tell every row from every other, as latency, capacity and policy do. One,
/// where all columns but the last do not.
pub(super) fn labels(table: &Table) -> usize {
    let tell_rows_apart = |count: usize| {
        let mut seen = HashSet::new();
        let key = |row| cells(table, row).take(count).map(for_programs).collect::<Vec<_>>();
        table.rows.iter().all(|row| seen.insert(key(row)))
    };
    (1..table.columns.len()).find(|count| tell_rows_apart(*count)).unwrap_or(1)
}

/// Exactly as many cells as the table has columns, whatever the length of `row`.
pub(super) fn cells<'a>(table: &Table, row: &'a [Cell]) -> impl Iterator<Item = &'a Cell> {
    row.iter().chain(std::iter::repeat(&Cell::Missing)).take(table.columns.len())
}

#[cfg(test)]
mod tests {
    use trueplane_units::{BitsPerSec, Bytes};

    use super::*;
    use crate::report::Column;

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
