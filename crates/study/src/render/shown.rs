//! A table as people see it, on a terminal or on a page.
//!
//! Columns for programs are left out, and so is what is the same in every row: it is said once. The numbers of a column stand point below
//! point.

use super::cells;
use crate::column::column;
use crate::format::{DASH, for_people};
use crate::numbers::{self, CLASSICAL, MEASURED, REFINED};
use crate::report::{Cell, Table};

/// A table as people see it.
pub(super) struct Shown {
    /// The columns, left to right.
    pub(super) columns: Vec<Column>,
    /// Number of leading columns that tell rows apart.
    pub(super) labels: usize,
    /// What is the same in every row: the heading and the value.
    pub(super) same: Vec<(String, String)>,
    /// Words about single rows, such as that it is the best; as many as there are rows, or none.
    pub(super) marks: Vec<Option<&'static str>>,
}

/// A column as people see it.
pub(super) struct Column {
    /// The heading.
    pub(super) heading: String,
    /// The value of every row.
    pub(super) cells: Vec<String>,
    /// Whether it holds words, which stand left; numbers stand right.
    pub(super) words: bool,
}

impl Shown {
    /// The table of these rows and columns.
    pub(super) fn of(table: &Table) -> Self {
        let mut shown = Self { columns: Vec::new(), labels: 0, same: Vec::new(), marks: table.marks.clone() };
        let labels = cells::labels(table);
        let numbers = (table.id == numbers::TABLE).then(|| three_numbers(table));
        for (index, declared) in table.columns.iter().enumerate().filter(|(_, column)| !column.hidden) {
            let values: Vec<&Cell> =
                table.rows.iter().map(|row| row.get(index).unwrap_or(&Cell::Missing)).collect();
            let is_number_of_three = [CLASSICAL, REFINED, MEASURED].contains(&declared.name.as_str());
            let column = Column {
                heading: cells::heading(table, index),
                cells: match &numbers {
                    Some(numbers) if is_number_of_three => {
                        numbers.iter().map(|row| row.get(index).cloned().unwrap_or_default()).collect()
                    }
                    _ => column(&values),
                },
                words: cells::holds_words(table, index),
            };
            let is_same = values.windows(2).all(|pair| pair[0] == pair[1])
                || values.iter().all(|cell| for_people(cell) == DASH);
            match column
                .only_value()
                .filter(|_| is_same)
                .filter(|_| (index >= labels || labels > 1) && !is_number_of_three && !table.whole)
            {
                None => {
                    shown.labels += usize::from(index < labels);
                    shown.columns.push(column);
                }
                // Nothing is said of what nobody knows.
                Some(DASH) => {}
                Some(value) => shown.same.push((column.heading.clone(), value.to_owned())),
            }
        }
        shown
    }

    /// What is the same in every row, in words: `In every row: p99 100ms; p99.9 100ms.`; empty if there is nothing.
    pub(super) fn same_in_words(&self) -> String {
        let (ways, values): (Vec<_>, Vec<_>) =
            self.same.iter().partition(|(heading, _)| heading == numbers::TO_MEASURE);
        let values: Vec<String> =
            values.iter().map(|(heading, value)| format!("{heading} {value}")).collect();
        let values = (!values.is_empty()).then(|| format!("In every row: {}.", values.join("; ")));
        let ways = ways.iter().map(|(_, way)| match way.starts_with("trueplane ") {
            true => format!("To measure it: {way}"),
            false => format!("Not measured: that takes {way}."),
        });
        ways.chain(values).collect::<Vec<_>>().join(" ")
    }
}

/// The three numbers of every row as people see them: those of one kind in one unit, so that they can be compared.
pub(super) fn three_numbers(table: &Table) -> Vec<Vec<String>> {
    let name = table.columns.iter().position(|column| column.name == "name");
    let kind = |row: &[Cell]| name.and_then(|name| row.get(name)).cloned();
    let mut shown: Vec<Vec<String>> = table.rows.iter().map(|row| vec![String::new(); row.len()]).collect();
    for first in 0..table.rows.len() {
        let of_kind: Vec<usize> =
            (0..table.rows.len()).filter(|&row| kind(&table.rows[row]) == kind(&table.rows[first])).collect();
        if of_kind[0] < first {
            continue;
        }
        let places: Vec<(usize, usize)> = of_kind
            .iter()
            .flat_map(|&row| (0..table.rows[row].len()).map(move |index| (row, index)))
            .filter(|&(row, index)| !matches!(table.rows[row][index], Cell::Text(_)))
            .collect();
        let cells: Vec<&Cell> = places.iter().map(|&(row, index)| &table.rows[row][index]).collect();
        for (&(row, index), text) in places.iter().zip(column(&cells)) {
            shown[row][index] = text;
        }
    }
    shown
}

/// Sign before what is said of a row.
pub(super) const MARK: char = '←';

impl Column {
    /// The column of what is said of rows; none if nothing is.
    pub(super) fn of_marks(marks: &[Option<&str>]) -> Option<Self> {
        let words = |mark: &Option<&str>| mark.map_or_else(String::new, |words| format!("{MARK} {words}"));
        let cells = marks.iter().map(words).collect();
        marks.iter().any(Option::is_some).then(|| Self { heading: String::new(), cells, words: true })
    }

    /// The value of all rows, if there are several and it is the same in each.
    fn only_value(&self) -> Option<&str> {
        let (first, others) = self.cells.split_first()?;
        (!others.is_empty() && others.iter().all(|other| other == first)).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Column as Declared;

    fn table(columns: &[&str], rows: Vec<Vec<Cell>>) -> Table {
        let columns = columns.iter().map(|name| Declared::new(*name, *name)).collect();
        Table { columns, rows, ..Table::default() }
    }

    fn headings(shown: &Shown) -> Vec<&str> {
        shown.columns.iter().map(|column| column.heading.as_str()).collect()
    }

    #[test]
    fn what_is_the_same_in_every_row_is_said_once() {
        let row = |policy: &str, mean: f64| {
            vec![Cell::text(policy), Cell::Nanos(mean), Cell::Nanos(1e8), Cell::Missing]
        };
        let shown =
            Shown::of(&table(&["policy", "mean", "p99", "never"], vec![row("lru", 1e6), row("arc", 2e6)]));
        assert_eq!(headings(&shown), ["policy", "mean"]);
        assert_eq!(shown.same_in_words(), "In every row: p99 100ms.");
        assert_eq!(shown.labels, 1);
        let at = |latency: f64, policy: &str| vec![Cell::Nanos(latency), Cell::text(policy), Cell::Count(7)];
        let of = |latencies: [f64; 2]| {
            let rows = vec![at(latencies[0], "lru"), at(latencies[1], "arc"), at(latencies[0], "lfu")];
            Shown::of(&table(&["latency", "policy", "hits"], rows))
        };
        let (one, two) = (of([1e6, 1e6]), of([1e6, 1e7]));
        assert_eq!((headings(&one), one.labels), (vec!["policy"], 1));
        assert_eq!((headings(&two), two.labels), (vec!["latency", "policy"], 2));
        let alone = Shown::of(&table(&["policy", "mean"], vec![vec![Cell::text("lru"), Cell::Nanos(1e6)]]));
        assert_eq!((headings(&alone), alone.same_in_words().as_str()), (vec!["policy", "mean"], ""));
    }

    #[test]
    fn the_three_numbers_are_always_there() {
        let row = |quantity: &str| vec![Cell::text(quantity), Cell::Ratio(1.0), Cell::Ratio(1.0)];
        let shown = Shown::of(&table(&["", CLASSICAL, REFINED], vec![row("share of a"), row("share of b")]));
        assert_eq!(headings(&shown), ["", CLASSICAL, REFINED]);
    }

    #[test]
    fn columns_for_programs_are_not_shown_and_short_rows_are_filled() {
        let mut table =
            table(&["a", "name", "b"], vec![vec![Cell::Count(1)], vec![const { Cell::Count(2) }; 4]]);
        table.columns[1].hidden = true;
        let shown = Shown::of(&table);
        assert_eq!(headings(&shown), ["a", "b"]);
        assert_eq!(shown.columns[1].cells, ["–", "2"]);
        assert!(Shown::of(&Table::default()).columns.is_empty());
    }
}
