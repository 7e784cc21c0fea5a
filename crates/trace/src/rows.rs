//! The rows of a CSV file of any columns, one after the other.

use std::path::Path;
use std::sync::Arc;

use trueplane_units::Nanos;

use crate::csv::Record;
use crate::error::TraceError;
use crate::layout::{Name, delimiter_of};
use crate::lines::Lines;
use crate::source::{Position, Source, name_of};
use crate::window::Window;
use crate::{TimeUnit, cell};

/// The problem with a file that is no text.
pub const NO_TEXT: &str = "expected a CSV file, found one that is no text";

/// The delimiter of what `sacct --parsable2` prints.
const BAR: u8 = b'|';

/// The problem with a log in JSON.
const NO_CSV: &str = "expected a CSV file, found one in JSON";

/// The rows of a CSV file, one after the other; the first, which most often names the columns, is there from the start.
///
/// Delimiters, quotes and compression are as in traces in CSV. Bars can be delimiters, too, and then there are no quotes. Empty lines are passed over. If the
/// first line begins with a semicolon, and the first one that does not has none, those that do are comments, and tabs or spaces are the delimiters.
pub struct Rows {
    lines: Lines,
    record: Record,
    delimiter: u8,
    /// Whether lines that begin with a semicolon are comments, as the first one is.
    has_comments: bool,
    /// Number of cells that each row has, once that is known.
    width: usize,
    /// Source of the number of cells, for messages, such as ` as in the header`.
    like: &'static str,
    bytes: u64,
    position: Position,
}

impl Rows {
    /// Opens the file at `path`, `-` being standard input.
    ///
    /// # Errors
    ///
    /// There is no such file, it cannot be read, or is no text. A file without any row is none: [`Rows::cells`] is 0.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let name = name_of(path);
        let source = Source::open(path, |start| Self::from_source(&name, start).map(|_| ()))?;
        Self::from_source(&name, &source)
    }

    /// The file that `bytes` hold, called `name` in errors.
    ///
    /// # Errors
    ///
    /// As [`Rows::open`].
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self, TraceError> {
        Self::from_source(name, &Source::Memory(bytes.into()))
    }

    pub(super) fn from_source(name: &str, source: &Source) -> Result<Self, TraceError> {
        let window = Window::open(&Arc::from(name), source)?;
        let position = window.position();
        let mut rows = Self {
            lines: Lines::new(window)?,
            record: Record::default(),
            delimiter: b',',
            has_comments: false,
            width: usize::MAX,
            like: "",
            bytes: source.len(),
            position,
        };
        if rows.find_line()? {
            let first = rows.lines.text();
            if first.contains(&0) || std::str::from_utf8(first).is_err() {
                return Err(rows.lines.error_whole(NO_TEXT));
            }
            if first.starts_with(b"{") {
                return Err(rows.lines.error_whole(NO_CSV));
            }
            if first.starts_with(b";") && has_comments(name, source)? {
                rows.has_comments = true;
                if !rows.find_line()? {
                    return Ok(rows);
                }
            }
            rows.delimiter = rows.found_delimiter();
            rows.split()?;
        }
        Ok(rows)
    }

    /// From now on rows have as many cells as the current one, which is `like` what they should be: ` as in the header`.
    pub fn keep_width(&mut self, like: &'static str) {
        self.width = self.record.len();
        self.like = like;
    }

    /// Whether lines that begin with a semicolon are comments.
    pub fn has_comments(&self) -> bool {
        self.has_comments
    }

    /// Whether bars separate the cells.
    pub fn has_bars(&self) -> bool {
        self.delimiter == BAR
    }

    /// Moves to the next row; `false` when there is none.
    ///
    /// # Errors
    ///
    /// The row has not as many cells as it should have, or the file cannot be read.
    pub fn advance(&mut self) -> Result<bool, TraceError> {
        if !self.find_line()? {
            return Ok(false);
        }
        self.split()?;
        if self.record.len() == self.width || self.width == usize::MAX {
            return Ok(true);
        }
        let found = self.record.len();
        Err(self.error(format!("expected {} columns{}, found {found}", self.width, self.like)))
    }

    fn find_line(&mut self) -> Result<bool, TraceError> {
        while self.lines.advance()? {
            let is_comment = self.has_comments && self.lines.text().starts_with(b";");
            if !self.lines.is_blank() && !is_comment {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The delimiter of the first row.
    fn found_delimiter(&self) -> u8 {
        let first = self.lines.text();
        match delimiter_of(first) {
            // The second may be what `sacct --parsable2` prints.
            b',' | b' ' if !first.contains(&b',') && first.contains(&b'|') => BAR,
            found if self.has_comments && found != b'\t' => b' ',
            found => found,
        }
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

    /// The number of cells in the row.
    pub fn cells(&self) -> usize {
        self.record.len()
    }

    /// `expected …, got …` with the row as a whole, a header that has something else.
    pub fn expected_in_row(&self, what: &str) -> TraceError {
        self.error(cell::expected(what, self.text()))
    }

    /// The row as it was written.
    pub fn text(&self) -> &[u8] {
        self.lines.text()
    }

    /// The cell at `place` of the row, from 0; there must be one.
    #[inline]
    pub fn cell(&self, place: usize) -> &[u8] {
        self.record.cell(self.lines.text(), place)
    }

    /// Name that the cell at `place` has as a header: in lower case with `_` between words, and the unit of time that the last of them
    /// says, which is then left out: `time` and milliseconds for `Time (ms)`.
    pub fn name(&self, place: usize) -> (String, Option<TimeUnit>) {
        column_name(self.cell(place))
    }

    /// The time in the cell at `place`: a number of units, or a date-time; `what` it is says an error.
    ///
    /// # Errors
    ///
    /// It is neither.
    pub fn time(&self, what: &str, place: usize, unit: TimeUnit) -> Result<Nanos, TraceError> {
        let cell = self.cell(place);
        cell::time(cell, unit).ok_or_else(|| self.error(cell::expected_time(what, cell, unit, "--time-unit")))
    }

    /// `expected …, got …` with the row and its cell at `place`.
    pub fn expected(&self, what: &str, place: usize) -> TraceError {
        self.error(cell::expected(what, self.cell(place)))
    }

    /// `problem` with the row.
    pub fn error(&self, problem: impl Into<String>) -> TraceError {
        self.lines.error(problem)
    }

    /// `problem` with the file as a whole.
    pub fn error_whole(&self, problem: impl Into<String>) -> TraceError {
        self.lines.error_whole(problem)
    }

    /// The length of the file in bytes, compressed as it is; for progress bars.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of bytes of the file that have been read.
    pub fn position(&self) -> u64 {
        self.position.bytes()
    }
}

/// Whether lines that begin with a semicolon, as the first one does, are comments: the first other line is no row that semicolons separate, or there is none.
fn has_comments(name: &str, source: &Source) -> Result<bool, TraceError> {
    let mut lines = Lines::new(Window::open(&Arc::from(name), source)?)?;
    while lines.advance()? {
        if !lines.is_blank() && !lines.text().starts_with(b";") {
            return Ok(!lines.text().contains(&b';'));
        }
    }
    Ok(true)
}

/// Name in a header's cell, with its unit of time; see [`Rows::name`].
pub fn column_name(cell: &[u8]) -> (String, Option<TimeUnit>) {
    Name::of(cell).without_unit()
}

/// `a, b and c`.
pub(super) fn list(names: &[&str]) -> String {
    match names {
        [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
