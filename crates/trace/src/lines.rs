//! Lines of bounded length, with their numbers.

use memchr::memchr;

use crate::error::{Place, TraceError};
use crate::window::Window;

/// The longest line, or record that spans lines, in bytes. Whoever sends a longer one has sent no trace, and reading
/// on would fill the memory.
pub(super) const LONGEST: usize = 1 << 20;

/// The lines of a text trace.
pub(super) struct Lines {
    window: Window,
    /// The current line with its line break.
    taken: usize,
    /// The current line without.
    length: usize,
    /// The number of the current line's first line, from 1; 0 before the first.
    first: u64,
    /// The number of lines seen.
    seen: u64,
}

impl Lines {
    /// Before the first line; a byte order mark is passed over.
    pub(super) fn new(mut window: Window) -> Result<Self, TraceError> {
        if window.require(3)? && window.data().starts_with(b"\xef\xbb\xbf") {
            window.consume(3);
        }
        Ok(Self { window, taken: 0, length: 0, first: 0, seen: 0 })
    }

    /// Moves to the next line; `false` when there is none.
    pub(super) fn advance(&mut self) -> Result<bool, TraceError> {
        self.window.consume(self.taken);
        (self.taken, self.length) = (0, 0);
        self.first = self.seen + 1;
        self.extend()
    }

    /// Appends the next line to the current one, line break and all; `false` when there is none.
    pub(super) fn extend(&mut self) -> Result<bool, TraceError> {
        let mut searched = self.taken;
        loop {
            let data = self.window.data();
            if let Some(found) = memchr(b'\n', &data[searched..]) {
                self.taken = searched + found + 1;
                self.length = self.taken - 1;
                break;
            }
            searched = data.len();
            if searched <= LONGEST && self.window.fill()? {
                continue;
            }
            if searched == self.taken {
                return Ok(false);
            }
            (self.taken, self.length) = (searched, searched);
            break;
        }
        self.seen += 1;
        if self.length > LONGEST {
            return Err(self.error("line longer than 1 MiB; is this a text trace?"));
        }
        if self.text().last() == Some(&b'\r') {
            self.length -= 1;
        }
        Ok(true)
    }

    /// The current line without its line break, `\n` or `\r\n`.
    #[inline]
    pub(super) fn text(&self) -> &[u8] {
        &self.window.data()[..self.length]
    }

    /// Whether the file ends within the current line, which is not its first.
    pub(super) fn is_cut(&self) -> bool {
        self.first > 1 && self.window.data()[..self.taken].last() != Some(&b'\n')
    }

    /// Whether the current line has nothing but white space.
    #[inline]
    pub(super) fn is_blank(&self) -> bool {
        self.text().iter().all(u8::is_ascii_whitespace)
    }

    /// `problem` with the trace as a whole.
    pub(super) fn error_whole(&self, problem: impl Into<String>) -> TraceError {
        self.window.error(Place::Whole, problem)
    }

    /// `problem` with the current line.
    pub(super) fn error(&self, problem: impl Into<String>) -> TraceError {
        self.window.error(Place::Line(self.first), problem)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::source::Source;
    use super::*;

    fn lines(text: &[u8]) -> Lines {
        Lines::new(Window::open(&Arc::from("t"), &Source::Memory(text.into())).unwrap()).unwrap()
    }

    #[test]
    fn both_line_breaks_end_lines_and_the_last_needs_none() {
        let mut lines = lines(b"\xef\xbb\xbfone\r\n\ntwo\r\r\n \t\nlast");
        let mut found = Vec::new();
        while lines.advance().unwrap() {
            found.push((lines.first, String::from_utf8(lines.text().to_vec()).unwrap(), lines.is_blank()));
        }
        let expected =
            [(1, "one", false), (2, "", true), (3, "two\r", false), (4, " \t", true), (5, "last", false)];
        assert_eq!(found, expected.map(|(line, text, blank)| (line, text.to_owned(), blank)));
        assert!(!lines.advance().unwrap());
    }

    #[test]
    fn a_record_may_span_lines() {
        let mut lines = lines(b"a\r\nb\nc\n");
        assert!(lines.advance().unwrap() && lines.extend().unwrap());
        assert_eq!(lines.text(), b"a\r\nb");
        assert_eq!(lines.error("odd").to_string(), "t:1: odd");
        assert!(lines.advance().unwrap());
        assert_eq!(lines.text(), b"c");
        assert_eq!(lines.error("odd").to_string(), "t:3: odd");
        assert!(!lines.extend().unwrap());
    }

    #[test]
    fn endless_lines_are_refused() {
        let mut text = vec![b'x'; LONGEST];
        text.push(b'\n');
        assert!(lines(&text).advance().unwrap());
        text.insert(0, b'x');
        let error = lines(&text).advance().unwrap_err().to_string();
        assert_eq!(error, "t:1: line longer than 1 MiB; is this a text trace?");
        assert!(lines(&[b'x'; 5 * LONGEST]).advance().is_err());
    }
}
