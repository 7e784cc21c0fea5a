//! CSV and its kin: rows of cells with some delimiter between them.
//!
//! Quoting follows RFC 4180: a cell that starts with `"` ends with the next `"` that is not doubled, and may hold
//! delimiters and line breaks. White space around other cells is dropped.
//!
//! The rows are split here and not by the `csv` crate because that passes over empty lines, which are time steps to
//! us, and lets one open quote fill the memory. The tests hold the two against each other.

use memchr::{memchr, memchr_iter};
use trueplane_core::units::Nanos;

use super::Request;
use super::cell;
use super::layout::Layout;
use super::text::{LineFormat, Parsed};

/// Reads rows whose columns are laid out in a known way.
pub(super) struct Csv {
    layout: Layout,
    record: Record,
    /// The columns that matter lie before this one.
    width: usize,
    header_ahead: bool,
}

impl Csv {
    /// Reads rows laid out as `layout`.
    pub(super) fn new(layout: Layout) -> Self {
        let last = [Some(layout.key), layout.time, layout.size, layout.fetch].into_iter().flatten().max();
        let width = last.unwrap_or(0) + 1;
        Self { header_ahead: layout.header, width, layout, record: Record::default() }
    }
}

impl LineFormat for Csv {
    fn parse(&mut self, line: &[u8], timed: bool) -> Result<Parsed, String> {
        if !self.record.split(line, self.layout.delimiter, self.width)? {
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
        let Layout { time_unit, fetch_unit, .. } = self.layout;
        let key = cell(self.layout.key);
        if key.is_empty() {
            return Ok(Parsed::Skip("rows with an empty key"));
        }
        let time = match self.layout.time.map(cell) {
            Some(text) if timed => {
                cell::time(text, time_unit).ok_or_else(|| cell::expected("a timestamp", text))?
            }
            _ => Nanos(0),
        };
        let size = match self.layout.size.map(cell) {
            Some(text) => {
                cell::unsigned(text).ok_or_else(|| cell::expected("a whole number of bytes", text))?
            }
            None => 1,
        };
        let fetch = match self.layout.fetch.map(cell) {
            Some(text) => {
                cell::duration(text, fetch_unit).ok_or_else(|| cell::expected("a fetch time", text))?
            }
            None => Nanos(0),
        };
        Ok(Parsed::Request(Request { time, key: cell::key(key), size, fetch }))
    }
}

/// The cells of one row.
#[derive(Default)]
pub(super) struct Record {
    /// Where each cell starts and ends: in the row itself or, when it has quotes, in `unquoted`.
    cells: Vec<(usize, usize)>,
    unquoted: Vec<u8>,
    has_quotes: bool,
    /// Where in `unquoted` a quoted cell starts that is still open at the end of the row.
    open: Option<usize>,
    /// How much of the row has been split when a quoted cell is open.
    at: usize,
}

impl Record {
    /// Splits `row`, but for cells from number `width` on that need not be looked at.
    ///
    /// `false` when a quoted cell is open at the end of `row`: split it then again with the next line appended. What
    /// has been split stays so, which keeps the cost linear however many lines follow.
    pub(super) fn split(&mut self, row: &[u8], delimiter: u8, width: usize) -> Result<bool, String> {
        if self.open.is_none() {
            self.cells.clear();
            self.unquoted.clear();
            self.at = 0;
            self.has_quotes = memchr(b'"', row).is_some();
        }
        if self.has_quotes {
            return self.split_quoted(row, delimiter);
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

    fn split_quoted(&mut self, row: &[u8], delimiter: u8) -> Result<bool, String> {
        loop {
            if self.open.is_none() && row.get(self.at) == Some(&b'"') {
                self.open = Some(self.unquoted.len());
                self.at += 1;
            }
            if let Some(start) = self.open {
                if !self.unquote(row) {
                    return Ok(false);
                }
                self.open = None;
                self.cells.push((start, self.unquoted.len()));
                match row.get(self.at) {
                    None => return Ok(true),
                    Some(byte) if *byte == delimiter => self.at += 1,
                    Some(_) => {
                        return Err(cell::expected("a delimiter after a quoted cell", &row[self.at..]));
                    }
                }
            } else {
                let end = memchr(delimiter, &row[self.at..]).map_or(row.len(), |length| self.at + length);
                if delimiter != b' ' || self.at < end {
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
