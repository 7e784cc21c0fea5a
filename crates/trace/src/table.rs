//! A CSV file that is no log of requests: rows whose columns the header names.

use std::path::Path;

use crate::cell;
use crate::error::TraceError;
use crate::rows::{Rows, list};

/// A column that a reader understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// Its name in the header, in lower case.
    pub name: &'static str,
    /// Whether every file must have it.
    pub required: bool,
}

/// The rows of a CSV file, one after the other.
///
/// Columns stand in any order. Delimiters, quotes and compression are as in traces in CSV; empty lines are passed over.
pub struct Table {
    rows: Rows,
    /// Index of each of the known columns in the rows, if it is there.
    places: Vec<Option<usize>>,
}

impl Table {
    /// Opens the file at `path`, `-` being standard input, with `known` columns.
    ///
    /// # Errors
    ///
    /// There is no such file, it cannot be read, it has no header, or that names an unknown column or one twice, or not all that are
    /// required.
    pub fn open(path: &Path, known: &[TableColumn]) -> Result<Self, TraceError> {
        Self::of(Rows::open(path)?, known)
    }

    /// The file that `bytes` hold, called `name` in errors.
    ///
    /// # Errors
    ///
    /// As [`Table::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>, known: &[TableColumn]) -> Result<Self, TraceError> {
        Self::of(Rows::from_bytes(name, bytes)?, known)
    }

    fn of(rows: Rows, known: &[TableColumn]) -> Result<Self, TraceError> {
        let mut table = Self { rows, places: Vec::new() };
        if table.rows.cells() == 0 {
            let names: Vec<&str> = known.iter().map(|column| column.name).collect();
            return Err(table.error_whole(format!("expected a header with {}, found no line", list(&names))));
        }
        table.places = table.header(known).map_err(|problem| table.error(problem))?;
        table.rows.keep_width(" as in the header");
        Ok(table)
    }

    /// Finds the known columns in the header, which has been split.
    fn header(&self, known: &[TableColumn]) -> Result<Vec<Option<usize>>, String> {
        let mut places = vec![None; known.len()];
        for place in 0..self.rows.cells() {
            let cell = self.rows.cell(place);
            let Some(column) =
                known.iter().position(|column| cell.eq_ignore_ascii_case(column.name.as_bytes()))
            else {
                let names: Vec<&str> = known.iter().map(|column| column.name).collect();
                return Err(cell::expected(&format!("a header with columns of {}", list(&names)), cell));
            };
            if places[column].replace(place).is_some() {
                return Err(format!("expected one column {}, found two", known[column].name));
            }
        }
        match known.iter().zip(&places).find(|(column, place)| column.required && place.is_none()) {
            Some((column, _)) => {
                Err(cell::expected(&format!("a header with a column {}", column.name), self.rows.text()))
            }
            None => Ok(places),
        }
    }

    /// Moves to the next row; `false` when there is none.
    ///
    /// # Errors
    ///
    /// The row has not as many cells as the header, or the file cannot be read.
    pub fn advance(&mut self) -> Result<bool, TraceError> {
        self.rows.advance()
    }

    /// Whether the file has known column number `column`.
    pub fn has(&self, column: usize) -> bool {
        self.places[column].is_some()
    }

    /// The cell of the row in known column number `column`; `None` if the file has no such column.
    pub fn cell(&self, column: usize) -> Option<&[u8]> {
        Some(self.rows.cell(self.places[column]?))
    }

    /// The whole number in that cell, which may end with `.0` as those of pandas do; `None` if there is none below 2⁶⁴.
    pub fn whole(&self, column: usize) -> Option<u64> {
        let cell = self.cell(column).filter(|cell| !matches!(*cell, b"" | b"-"))?;
        cell::size(cell).ok()
    }

    /// The key in that cell: a canonical decimal below 2⁶⁴ is that number, all else is hashed; see [`super::Request::key`].
    pub fn key(&self, column: usize) -> Option<u64> {
        self.cell(column).filter(|cell| !cell.is_empty()).map(cell::key)
    }

    /// `expected …, got …` with the row and its cell in known column number `column`.
    pub fn expected(&self, what: &str, column: usize) -> TraceError {
        self.error(cell::expected(what, self.cell(column).unwrap_or_default()))
    }

    /// `problem` with the row.
    pub fn error(&self, problem: impl Into<String>) -> TraceError {
        self.rows.error(problem)
    }

    /// `problem` with the file as a whole.
    pub fn error_whole(&self, problem: impl Into<String>) -> TraceError {
        self.rows.error_whole(problem)
    }

    /// The length of the file in bytes, compressed as it is; for progress bars.
    pub fn bytes(&self) -> u64 {
        self.rows.bytes()
    }

    /// Number of bytes of the file that have been read.
    pub fn position(&self) -> u64 {
        self.rows.position()
    }
}
