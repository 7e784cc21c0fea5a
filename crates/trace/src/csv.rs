//! CSV and its kin: rows of cells with some delimiter between them.
//!
//! Quoting follows RFC 4180: a cell that starts with `"` ends with the next `"` that is not doubled, and may hold
//! delimiters and line breaks. White space around cells is dropped. Sizes and fetch times that are empty or `-` are 0.
//!
//! The rows are split here and not by the `csv` crate because that passes over empty lines, which are time steps to
//! us, and lets one open quote fill the memory. The tests hold the two against each other.

use memchr::{memchr, memchr_iter};
use trueplane_units::Nanos;

use crate::census::KeyCensus;
use crate::dialect::{Dialect, Opened, Sign, Start};
use crate::error::TraceError;
use crate::hash::Hashing;
use crate::layout::{Layout, delimiter_of};
use crate::lines::Lines;
use crate::options::TraceOptions;
use crate::text::{LineFormat, Parsed};
use crate::window::Window;
use crate::{Fields, Request, cell};

/// Rows of cells.
pub(super) struct Csv;

impl Dialect for Csv {
    fn sign(&self, start: &Start<'_>) -> Option<Sign> {
        start.named(&["csv", "tsv"])
    }

    fn open(&self, window: Window, options: &TraceOptions) -> Result<Opened, TraceError> {
        let layout = layout(window, options)?;
        let fields = Fields {
            time: layout.time.is_some(),
            size: layout.size.is_some(),
            fetch: layout.fetch.is_some(),
        };
        Ok(Opened {
            guesses_time_unit: fields.time && layout.guesses_time_unit,
            counts_steps: layout.step.is_some(),
            columns: layout.columns.clone(),
            ..Opened::lines(fields, move |hashing| Reader::new(layout.clone(), hashing))
        })
    }
}

/// The layout of the trace in `window`, from its first row.
fn layout(window: Window, options: &TraceOptions) -> Result<Layout, TraceError> {
    let mut lines = Lines::new(window)?;
    loop {
        if !lines.advance()? {
            return Err(lines.error_whole("no requests found"));
        }
        if !lines.is_blank() {
            break;
        }
    }
    let delimiter = options.delimiter.unwrap_or_else(|| delimiter_of(lines.text()));
    let mut record = Record::default();
    while !record.split(lines.text(), delimiter, usize::MAX).map_err(|problem| lines.error(problem))? {
        if !lines.extend()? {
            return Err(lines.error("a quoted cell never ends"));
        }
    }
    let cells: Vec<&[u8]> = (0..record.len()).map(|column| record.cell(lines.text(), column)).collect();
    Layout::of(&cells, delimiter, options).map_err(|problem| lines.error(problem))
}

/// Reads rows whose columns are laid out in a known way.
struct Reader {
    layout: Layout,
    hashing: Hashing,
    record: Record,
    /// The columns that matter lie before this one.
    width: usize,
    /// Cells are split up to this column.
    split_width: usize,
    header_ahead: bool,
}

impl Reader {
    /// Reads rows laid out as `layout`.
    fn new(layout: Layout, hashing: Hashing) -> Self {
        let last = [Some(layout.key), layout.time, layout.step, layout.size, layout.fetch]
            .into_iter()
            .flatten()
            .max();
        let width = last.unwrap_or(0) + 1;
        // With spaces between cells, that after the time may turn out to be the other half of it.
        let split_width = if layout.delimiter == b' ' { width + 1 } else { width };
        Self { split_width, header_ahead: layout.header, width, layout, hashing, record: Record::default() }
    }
}

impl LineFormat for Reader {
    fn parse(&mut self, line: &[u8], timed: bool) -> Result<Parsed, String> {
        if !self.record.split(line, self.layout.delimiter, self.split_width)? {
            return Ok(Parsed::Unfinished);
        }
        if self.header_ahead {
            self.header_ahead = false;
            return Ok(Parsed::Header);
        }
        if self.record.len() < self.width {
            return Err(format!("expected at least {} columns, found {}", self.width, self.record.len()));
        }
        let cell = |column| self.record.cell(line, column);
        if let (b' ', Some(column)) = (self.layout.delimiter, self.layout.time)
            && column + 1 < self.record.len()
            && cell::is_split_date_time(cell(column), cell(column + 1))
        {
            return Err(split_date_time(cell(column), cell(column + 1)));
        }
        let Layout { time_unit, fetch_unit, .. } = self.layout;
        let key = cell(self.layout.key);
        if key.is_empty() {
            return Ok(Parsed::Skip("rows with an empty key"));
        }
        let time = match self.layout.time.map(cell) {
            Some(text) if timed => cell::timestamp(text, time_unit)?,
            _ => Nanos(0),
        };
        let size = match self.layout.size.map(cell) {
            Some(text) => cell::size(text)?,
            None => 1,
        };
        let fetch = match self.layout.fetch.map(cell) {
            Some(text) => cell::fetch(text, fetch_unit)?,
            None => Nanos(0),
        };
        let request = Request { time, key: self.hashing.text(key), size, fetch };
        match self.layout.step.map(cell) {
            Some(text) if !timed => {
                let step = cell::unsigned(text)
                    .ok_or_else(|| cell::expected("the number of a step, a whole number", text))?;
                Ok(Parsed::Numbered { step, request })
            }
            _ => Ok(Parsed::Request(request)),
        }
    }

    fn census(&self) -> Option<KeyCensus> {
        self.hashing.census()
    }
}

/// Joining the two would shift the columns that the user has counted, so it is left to the user.
#[cold]
fn split_date_time(time: &[u8], next: &[u8]) -> String {
    let (time, next) = (cell::excerpt(time), cell::excerpt(next));
    format!(
        "the time \"{time} {next}\" is two cells where spaces separate; quote it, or use another --delimiter"
    )
}

/// The cells of one row.
#[derive(Default)]
pub(super) struct Record {
    /// Start and end of each cell: in the row itself or, when it has quotes, in `unquoted`.
    cells: Vec<(usize, usize)>,
    unquoted: Vec<u8>,
    has_quotes: bool,
    /// Start in `unquoted` of a quoted cell that is still open at the end of the row.
    open: Option<usize>,
    /// Bytes of the row that have been split when a quoted cell is open.
    at: usize,
}

impl Record {
    /// Splits `row`, but for cells from number `width` on that need not be looked at; of these, only open quotes
    /// matter, since a line break may be within.
    ///
    /// `false` when a quoted cell is open at the end of `row`: split it then again with the next line appended. What
    /// has been split stays so, which keeps the cost linear however many lines follow.
    pub(super) fn split(&mut self, row: &[u8], delimiter: u8, width: usize) -> Result<bool, String> {
        if self.open.is_none() {
            self.cells.clear();
            self.unquoted.clear();
            self.at = 0;
            // Who separates by bars does not quote.
            self.has_quotes = delimiter != b'|' && memchr(b'"', row).is_some();
        }
        if self.has_quotes {
            return self.split_quoted(row, delimiter, width);
        }
        let mut start = 0;
        for end in memchr_iter(delimiter, row).chain([row.len()]) {
            if delimiter != b' ' || start < end {
                self.cells.push(trimmed(row, start, end));
                if self.cells.len() == width {
                    break;
                }
            }
            start = end + 1;
        }
        Ok(true)
    }

    fn split_quoted(&mut self, row: &[u8], delimiter: u8, width: usize) -> Result<bool, String> {
        loop {
            if self.open.is_none() {
                let start = after_space(row, self.at, delimiter);
                if row.get(start) == Some(&b'"') {
                    self.open = Some(self.unquoted.len());
                    self.at = start + 1;
                }
            }
            if let Some(start) = self.open {
                if !self.unquote(row) {
                    return Ok(false);
                }
                self.open = None;
                self.at = after_space(row, self.at, delimiter);
                if self.cells.len() < width {
                    self.cells.push((start, self.unquoted.len()));
                } else {
                    self.unquoted.truncate(start);
                    let rest = memchr(delimiter, &row[self.at..]);
                    self.at = rest.map_or(row.len(), |length| self.at + length);
                }
                match row.get(self.at) {
                    None => return Ok(true),
                    Some(byte) if *byte == delimiter => self.at += 1,
                    Some(_) => {
                        return Err(cell::expected("a delimiter after a quoted cell", &row[self.at..]));
                    }
                }
            } else {
                let end = memchr(delimiter, &row[self.at..]).map_or(row.len(), |length| self.at + length);
                if self.cells.len() < width && (delimiter != b' ' || self.at < end) {
                    let (start, stop) = trimmed(row, self.at, end);
                    let before = self.unquoted.len();
                    self.unquoted.extend_from_slice(&row[start..stop]);
                    self.cells.push((before, self.unquoted.len()));
                }
                if end == row.len() {
                    return Ok(true);
                }
                self.at = end + 1;
            }
        }
    }

    /// Copies the inside of a quoted cell, up to its closing quote and past it; `false` when there is none in `row`.
    fn unquote(&mut self, row: &[u8]) -> bool {
        while let Some(length) = memchr(b'"', &row[self.at..]) {
            let quote = self.at + length;
            self.unquoted.extend_from_slice(&row[self.at..quote]);
            self.at = quote + 1;
            if row.get(self.at) != Some(&b'"') {
                return true;
            }
            self.unquoted.push(b'"');
            self.at += 1;
        }
        self.unquoted.extend_from_slice(&row[self.at..]);
        self.at = row.len();
        false
    }

    /// The number of cells.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The cell in `column`, from 0, of the row that was split last.
    #[inline]
    pub(super) fn cell<'a>(&'a self, row: &'a [u8], column: usize) -> &'a [u8] {
        let (start, end) = self.cells[column];
        if self.has_quotes { &self.unquoted[start..end] } else { &row[start..end] }
    }
}

/// The first place from `at` on that is no white space, or is the delimiter.
fn after_space(row: &[u8], mut at: usize, delimiter: u8) -> usize {
    while row.get(at).is_some_and(|byte| *byte != delimiter && byte.is_ascii_whitespace()) {
        at += 1;
    }
    at
}

/// `start..end` of `row` without the white space on either side.
#[inline]
fn trimmed(row: &[u8], mut start: usize, mut end: usize) -> (usize, usize) {
    while start < end && row[start].is_ascii_whitespace() {
        start += 1;
    }
    while start < end && row[end - 1].is_ascii_whitespace() {
        end -= 1;
    }
    (start, end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The cells of `rows`, each of which is the continuation of the one before.
    fn cells(rows: &[&str], delimiter: u8) -> Result<Vec<String>, String> {
        let mut record = Record::default();
        let mut text = String::new();
        for (index, row) in rows.iter().enumerate() {
            text = if index == 0 { (*row).to_owned() } else { format!("{text}\n{row}") };
            let is_whole = record.split(text.as_bytes(), delimiter, usize::MAX)?;
            assert_eq!(is_whole, index + 1 == rows.len(), "{text:?}");
        }
        let cell = |column| String::from_utf8(record.cell(text.as_bytes(), column).to_vec()).unwrap();
        Ok((0..record.len()).map(cell).collect())
    }

    #[test]
    fn rows_are_split() {
        assert_eq!(cells(&["a, b ,,c,"], b',').unwrap(), ["a", "b", "", "c", ""]);
        assert_eq!(cells(&["  a   b c "], b' ').unwrap(), ["a", "b", "c"]);
        assert_eq!(cells(&["a \"b c\" d "], b' ').unwrap(), ["a", "b c", "d"]);
        assert_eq!(cells(&["1;\"a;\"\"b\"\"\";2"], b';').unwrap(), ["1", "a;\"b\"", "2"]);
        assert_eq!(cells(&["1,a\"b"], b',').unwrap(), ["1", "a\"b"]);
        assert_eq!(cells(&["1,\"a", "\"\"", "b\",2"], b',').unwrap(), ["1", "a\n\"\nb", "2"]);
        assert_eq!(
            cells(&["\"a\"b"], b',').unwrap_err(),
            "expected a delimiter after a quoted cell, got \"b\""
        );
    }

    #[test]
    fn cells_that_do_not_matter_are_not_split() {
        let mut record = Record::default();
        assert_eq!(record.split(b"a,b,c,d", b',', 2), Ok(true));
        assert_eq!(record.len(), 2);
        // Quotes there may be wrong, but a line break within them is still none.
        assert_eq!(record.split(b"\"a\",b,\"c\"x,d", b',', 2), Ok(true));
        assert_eq!((record.len(), record.cell(b"", 0), record.cell(b"", 1)), (2, &b"a"[..], &b"b"[..]));
        assert_eq!(record.split(b"a,b,\"c", b',', 2), Ok(false));
        assert_eq!(record.split(b"a,b,\"c\nd\",e", b',', 2), Ok(true));
        assert_eq!((record.len(), record.cell(b"", 0), record.cell(b"", 1)), (2, &b"a"[..], &b"b"[..]));
    }

    #[test]
    fn spaces_around_quotes_are_dropped() {
        assert_eq!(cells(&["1, \"a, b\" ,2"], b',').unwrap(), ["1", "a, b", "2"]);
        assert_eq!(cells(&["\t\"a;b\"\t;2"], b';').unwrap(), ["a;b", "2"]);
        assert_eq!(cells(&["1\t \"a\tb\"\t2"], b'\t').unwrap(), ["1", "a\tb", "2"]);
    }

    proptest! {
        /// Whatever the `csv` crate writes is read as it was meant.
        #[test]
        fn agrees_with_the_csv_crate(
            row in prop::collection::vec("[a\",;\n\r ]{0,5}", 1..5),
            delimiter in prop::sample::select(vec![b',', b';', b'\t']),
        ) {
            let mut writer = ::csv::WriterBuilder::new()
                .delimiter(delimiter)
                .quote_style(::csv::QuoteStyle::Always)
                .from_writer(Vec::new());
            writer.write_record(&row).unwrap();
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let lines: Vec<&str> = text.strip_suffix('\n').unwrap().split('\n').collect();
            let mut record = Record::default();
            let mut joined = String::new();
            for (index, line) in lines.iter().enumerate() {
                joined = if index == 0 { (*line).to_owned() } else { format!("{joined}\n{line}") };
                let is_whole = record.split(joined.as_bytes(), delimiter, usize::MAX);
                prop_assert_eq!(is_whole, Ok(index + 1 == lines.len()));
            }
            prop_assert_eq!(record.len(), row.len());
            for (column, cell) in row.iter().enumerate() {
                prop_assert_eq!(record.cell(joined.as_bytes(), column), cell.as_bytes());
            }
        }
    }
}
