//! The page of a study while it is filled: facts, the three numbers, tables and plots out of rows.

use std::fmt::Display;

use crate::numbers::{Measured, Numbers};
use crate::report::{Cell, Column, Plot, Report, Table};

/// Takes what a study shows. A column is one call: its heading, its machine name with unit, and its value.
#[derive(Debug, Default)]
pub struct Page {
    report: Report,
    facts: Vec<Fact>,
    numbers: Vec<Numbers>,
}

/// A circumstance of the results, such as the number of requests in the trace.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The name for people.
    pub title: String,
    /// The name for programs, with its unit.
    pub name: &'static str,
    /// The value.
    pub value: Cell,
}

/// The name of the table of what of an input was left out.
const LEFT_OUT: &str = "left-out";

impl Page {
    /// Adds a fact that the parameters do not tell. Ends the name for programs in its unit, as columns do.
    pub fn fact(&mut self, title: impl Into<String>, name: &'static str, value: impl Into<Cell>) {
        let (title, value) = (title.into(), value.into());
        debug_assert!(value.fits(name), "the fact {name} does not name the unit of {value:?}");
        debug_assert!(self.facts.iter().all(|fact| fact.name != name), "two facts are called {name}");
        self.facts.push(Fact { title, name, value });
    }

    /// Adds a sentence about what makes the results doubtful.
    pub fn warn(&mut self, sentence: impl Into<String>) {
        self.report.warnings.push(sentence.into());
    }

    /// Adds a quantity as the classical model predicts it, as the refined model does, and as it was measured: its name for people, its
    /// name for programs, which ends in its unit as that of a column does, and its values.
    pub fn numbers(
        &mut self,
        quantity: impl Into<String>,
        name: impl Into<String>,
        classical: impl Into<Cell>,
        refined: impl Into<Cell>,
        measured: Measured,
    ) {
        let (quantity, name) = (quantity.into(), name.into());
        let numbers =
            Numbers { quantity, name, classical: classical.into(), refined: refined.into(), measured };
        debug_assert!(numbers.fits(), "{} does not name the unit of {numbers:?}", numbers.name);
        self.numbers.push(numbers);
    }

    /// Adds a table of these rows; add its columns to what this returns.
    pub fn table<I: IntoIterator>(
        &mut self,
        id: impl Into<String>,
        title: impl Into<String>,
        rows: I,
    ) -> Columns<'_, I::Item> {
        let rows: Vec<I::Item> = rows.into_iter().collect();
        let table = Table {
            id: id.into(),
            title: title.into(),
            rows: rows.iter().map(|_| Vec::new()).collect(),
            ..Table::default()
        };
        debug_assert!(
            self.report.tables.iter().all(|other| other.id != table.id),
            "two tables are called {}",
            table.id
        );
        let index = self.report.tables.len();
        self.report.tables.push(table);
        Columns { table: &mut self.report.tables[index], rows }
    }

    /// Adds a table of what of an input, such as the `trace`, was left out: each kind with its number. There is none if nothing was.
    pub fn left_out<W: Display>(&mut self, input: &str, kinds: impl IntoIterator<Item = (W, u64)>) {
        self.counts(LEFT_OUT, format!("Left out of the {input}"), kinds);
    }

    /// Adds a table of kinds and how often each was found; none if there are no kinds.
    pub fn counts<W: Display>(
        &mut self,
        id: &str,
        title: impl Into<String>,
        kinds: impl IntoIterator<Item = (W, u64)>,
    ) {
        let kinds: Vec<(W, u64)> = kinds.into_iter().collect();
        if !kinds.is_empty() {
            self.table(id, title, kinds)
                .col("what", "what", |(what, _)| what.to_string())
                .col("how often", "count", |(_, count)| *count)
                .whole();
        }
    }

    /// Adds the picture that tells the first finding; the page shows it before everything else.
    pub fn lead(&mut self, plot: Plot) {
        self.report.plots.insert(0, plot);
        self.report.leads = true;
    }

    /// Adds a picture.
    pub fn plot(&mut self, plot: Plot) {
        self.report.plots.push(plot);
    }

    /// The facts and the report; the three numbers are its first table.
    pub(crate) fn into_parts(self) -> (Vec<Fact>, Report) {
        let Self { mut report, facts, numbers } = self;
        if !numbers.is_empty() {
            report.tables.insert(0, crate::numbers::table(&numbers));
        }
        // What was left out sums nothing up.
        if let Some(place) = report.tables.iter().position(|table| table.id == LEFT_OUT) {
            let left_out = report.tables.remove(place);
            report.tables.push(left_out);
        }
        let printed = facts.iter().map(|fact| (fact.title.clone(), fact.value.to_string()));
        report.facts = printed.collect();
        (facts, report)
    }
}

/// A table that gets its columns. Every row gets a value with every column, so that no row can be short.
#[derive(Debug)]
pub struct Columns<'p, R> {
    table: &'p mut Table,
    rows: Vec<R>,
}

impl<R> Columns<'_, R> {
    /// Adds a column: its heading for people, its name for programs, which ends in its unit (`wait_mean_ns`), and its value in every
    /// row.
    pub fn col<C: Into<Cell>>(
        self,
        title: impl Into<String>,
        name: impl Into<String>,
        cell: impl Fn(&R) -> C,
    ) -> Self {
        let name = name.into();
        let Self { table, rows } = self;
        for (cells, row) in table.rows.iter_mut().zip(&rows) {
            let cell = cell(row).into();
            debug_assert!(cell.fits(&name), "the column {name} does not name the unit of {cell:?}");
            cells.push(cell);
        }
        debug_assert!(
            table.columns.iter().all(|column| column.name != name),
            "two columns of {} are called {name}",
            table.id
        );
        table.columns.push(Column::new(title, name));
        Self { table, rows }
    }

    /// Adds a column if the condition holds.
    pub fn col_if<C: Into<Cell>>(
        self,
        wanted: bool,
        title: impl Into<String>,
        name: impl Into<String>,
        cell: impl Fn(&R) -> C,
    ) -> Self {
        if wanted { self.col(title, name, cell) } else { self }
    }

    /// Removes the last column if it has no value in any row.
    pub fn when_any(self) -> Self {
        let Self { table, rows } = self;
        let is_empty = table.rows.iter().all(|cells| matches!(cells.last(), None | Some(Cell::Missing)));
        if is_empty {
            table.columns.pop();
            for cells in &mut table.rows {
                cells.pop();
            }
        }
        Self { table, rows }
    }

    /// Says something about single rows, such as that one is the best: words for people only, in a few words.
    pub fn mark(self, words: impl Fn(&R) -> Option<&'static str>) -> Self {
        self.table.marks = self.rows.iter().map(words).collect();
        self
    }

    /// Shows the table whatever else is left out, and all of its columns: it says what the study did not do, or is read again and again.
    pub fn whole(self) -> Self {
        self.table.whole = true;
        self
    }

    /// Leaves the table out on the terminal and folds it on the page: it is long, and only some people look for it.
    pub fn detail(self) -> Self {
        self.table.detail = true;
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use trueplane_units::{BitsPerSec, Nanos};

    use super::*;

    #[test]
    fn columns_fill_every_row() {
        let mut page = Page::default();
        let rows = [("a", 3u64, None), ("b", 4, Some(BitsPerSec(8)))];
        page.table("waits", "Who waits", &rows)
            .col("user", "user", |row| row.0)
            .col("jobs", "jobs", |row| row.1)
            .col("rate", "rate_bps", |row| row.2)
            .when_any()
            .col("never", "never_ns", |_| None::<Nanos>)
            .when_any()
            .col_if(false, "hidden", "hidden", |row| row.1);
        let (_, report) = page.into_parts();
        let table = &report.tables[0];
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["user", "jobs", "rate_bps"]);
        assert_eq!(table.rows[0], [Cell::text("a"), Cell::Count(3), Cell::Missing]);
        assert_eq!(table.rows[1], [Cell::text("b"), Cell::Count(4), Cell::Rate(BitsPerSec(8))]);
    }

    #[test]
    fn what_is_left_out_is_a_table_if_there_is_any() {
        let mut page = Page::default();
        page.left_out::<&str>("trace", []);
        assert!(page.report.tables.is_empty());
        page.left_out("trace", [("comments", 3)]);
        let table = &page.report.tables[0];
        assert_eq!((table.id.as_str(), table.title.as_str()), ("left-out", "Left out of the trace"));
        assert_eq!(table.rows, [[Cell::text("comments"), Cell::Count(3)]]);
        page.table("policies", "Policies", [1_u64]).col("policy", "policy", |policy| *policy);
        let (_, report) = page.into_parts();
        assert_eq!(report.tables[0].id, "policies");
    }

    #[test]
    fn the_three_numbers_have_a_name_with_their_unit() {
        let mut page = Page::default();
        page.numbers("mean wait", "wait_mean_ns", Nanos(3), Nanos(4), Measured::Needs("a switch"));
        let (_, report) = page.into_parts();
        let numbers = json!([{
            "quantity": "mean wait", "name": "wait_mean_ns", "classical": 3, "refined": 4, "measured_by": "a switch",
        }]);
        assert_eq!(crate::document::rows(&report.tables[0]), numbers);
    }

    #[test]
    #[should_panic(expected = "wait_mean does not name the unit")]
    fn a_quantity_without_its_unit_is_found() {
        let measured = Measured::Needs("a switch");
        Page::default().numbers("mean wait", "wait_mean", Nanos(3), Nanos(4), measured);
    }

    #[test]
    #[should_panic(expected = "the column wait does not name the unit")]
    fn a_name_without_its_unit_is_found() {
        Page::default().table("waits", "Who waits", [1u64]).col("wait", "wait", |&wait| Nanos(wait));
    }
}
