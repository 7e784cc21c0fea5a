//! A CSV file that is no log of requests: rows whose columns the header names.

use std::path::Path;
use std::sync::Arc;

use super::cell;
use super::csv::Record;
use super::error::TraceError;
use super::layout::delimiter_of;
use super::lines::Lines;
use super::source::{Position, Source};
use super::window::Window;

/// A column that a reader understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableColumn {
    /// Its name in the header, in lower case.
    pub(crate) name: &'static str,
    /// Whether every file must have it.
    pub(crate) required: bool,
}

/// The rows of a CSV file, one after the other.
///
/// Columns stand in any order. Delimiters, quotes and compression are as in [`super::csv`]; empty lines are passed over.
pub(crate) struct Table {
    lines: Lines,
    record: Record,
    delimiter: u8,
    /// Where each of the known columns stands, if it does.
    places: Vec<Option<usize>>,
    width: usize,
    bytes: u64,
    position: Position,
}

/// The problem with a file that is no text.
pub(crate) const NO_TEXT: &str = "expected a CSV file, found one that is no text";

impl Table {
    /// Opens the file at `path`, `-` being standard input, with `known` columns.
    ///
    /// # Errors
    ///
    /// There is no such file, it cannot be read, it has no header, or that names an unknown column or one twice, or not all that are
    /// required.
    pub(crate) fn open(path: &Path, known: &[TableColumn]) -> Result<Self, TraceError> {
        let name = if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() };
        let source = Source::open(path).map_err(|source| TraceError::Io { trace: name.clone(), source })?;
        Self::from_source(&name, &source, known)
    }

    /// The file that `bytes` hold, called `name` in errors.
    ///
    /// # Errors
    ///
    /// As [`Table::open`].
    pub(crate) fn from_bytes(name: &str, bytes: Vec<u8>, known: &[TableColumn]) -> Result<Self, TraceError> {
        Self::from_source(name, &Source::Memory(bytes.into()), known)
    }

    fn from_source(name: &str, source: &Source, known: &[TableColumn]) -> Result<Self, TraceError> {
        let window = Window::open(&Arc::from(name), source)?;
        let position = window.position();
        let mut table = Self {
            lines: Lines::new(window)?,
            record: Record::default(),
            delimiter: b',',
            places: Vec::new(),
            width: usize::MAX,
            bytes: source.len(),
            position,
        };
        if !table.find_line()? {
            let names: Vec<&str> = known.iter().map(|column| column.name).collect();
            return Err(table
                .lines
                .error_whole(format!("expected a header with {}, found no line", list(&names))));
        }
        let header = table.lines.text();
        if header.contains(&0) || std::str::from_utf8(header).is_err() {
            return Err(table.lines.error_whole(NO_TEXT));
        }
        table.delimiter = delimiter_of(table.lines.text());
        table.split()?;
        table.places = table.header(known).map_err(|problem| table.error(problem))?;
        table.width = table.record.len();
        Ok(table)
    }

    /// Where the known columns stand in the header, which has been split.
    fn header(&self, known: &[TableColumn]) -> Result<Vec<Option<usize>>, String> {
        let mut places = vec![None; known.len()];
        for place in 0..self.record.len() {
            let cell = self.record.cell(self.lines.text(), place);
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
                Err(cell::expected(&format!("a header with a column {}", column.name), self.lines.text()))
            }
            None => Ok(places),
        }
    }

    /// Moves to the next row; `false` when there is none.
    ///
    /// # Errors
    ///
    /// The row has not as many cells as the header, or the file cannot be read.
    pub(crate) fn next(&mut self) -> Result<bool, TraceError> {
        if !self.find_line()? {
            return Ok(false);
        }
        self.split()?;
        if self.record.len() == self.width {
            return Ok(true);
        }
        Err(self.error(format!(
            "expected {} columns as in the header, found {}",
            self.width,
            self.record.len()
        )))
    }

    fn find_line(&mut self) -> Result<bool, TraceError> {
        while self.lines.advance()? {
            if !self.lines.is_blank() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn split(&mut self) -> Result<(), TraceError> {
        // One cell more than there should be is enough to tell.
        let width = self.width.saturating_add(1);
        loop {
            match self.record.split(self.lines.text(), self.delimiter, width) {
                Ok(true) => return Ok(()),
                Ok(false) if self.lines.extend()? => {}
                Ok(false) => return Err(self.error("a quoted cell never ends")),
                Err(problem) => return Err(self.error(problem)),
            }
        }
    }

    /// Whether the file has known column number `column`.
    pub(crate) fn has(&self, column: usize) -> bool {
        self.places[column].is_some()
    }

    /// The cell of the row in known column number `column`; `None` if the file has no such column.
    pub(crate) fn cell(&self, column: usize) -> Option<&[u8]> {
        Some(self.record.cell(self.lines.text(), self.places[column]?))
    }

    /// The whole number in that cell, which may end with `.0` as those of pandas do; `None` if there is none below 2⁶⁴.
    pub(crate) fn whole(&self, column: usize) -> Option<u64> {
        let cell = self.cell(column).filter(|cell| !matches!(*cell, b"" | b"-"))?;
        cell::size(cell).ok()
    }

    /// The key in that cell: a canonical decimal below 2⁶⁴ is that number, all else is hashed; see [`super::Request::key`].
    pub(crate) fn key(&self, column: usize) -> Option<u64> {
        self.cell(column).filter(|cell| !cell.is_empty()).map(cell::key)
    }

    /// `expected …, got …` with the row and its cell in known column number `column`.
    pub(crate) fn expected(&self, what: &str, column: usize) -> TraceError {
        self.error(cell::expected(what, self.cell(column).unwrap_or_default()))
    }

    /// `problem` with the row.
    pub(crate) fn error(&self, problem: impl Into<String>) -> TraceError {
        self.lines.error(problem)
    }

    /// `problem` with the file as a whole.
    pub(crate) fn error_whole(&self, problem: impl Into<String>) -> TraceError {
        self.lines.error_whole(problem)
    }

    /// The length of the file in bytes, compressed as it is; for progress bars.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many bytes of it have been read.
    pub(crate) fn position(&self) -> u64 {
        self.position.bytes()
    }
}

/// `a, b and c`.
fn list(names: &[&str]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
