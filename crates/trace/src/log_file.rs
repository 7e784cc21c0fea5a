//! A file that may hold rows or JSON, and its text for a parser of JSON.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use memchr::memchr_iter;

use crate::error::{Place, TraceError};
use crate::rows::Rows;
use crate::source::{Position, Source, name_of};
use crate::window::Window;

/// A file that may hold rows or JSON, whatever its compression.
pub struct LogFile {
    name: Arc<str>,
    source: Source,
}

impl LogFile {
    /// Opens the file at `path`, `-` being standard input.
    ///
    /// # Errors
    ///
    /// There is no such file, it cannot be read, or is no text.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let name: Arc<str> = Arc::from(name_of(path));
        let source = Source::open(path, |start| {
            let start = Self { name: Arc::clone(&name), source: start.clone() };
            if start.is_json()? { Ok(()) } else { start.rows().map(|_| ()) }
        })?;
        Ok(Self { name, source })
    }

    /// The file that `bytes` hold, called `name` in errors.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Self {
        Self { name: Arc::from(name), source: Source::Memory(bytes.into()) }
    }

    /// Whether it begins with a brace or a bracket, as JSON does.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn is_json(&self) -> Result<bool, TraceError> {
        let mut text = self.text()?;
        Ok(matches!(text.skip_space()?, Some(b'{' | b'[')))
    }

    /// Its rows.
    ///
    /// # Errors
    ///
    /// As [`Rows::open`].
    pub fn rows(&self) -> Result<Rows, TraceError> {
        Rows::from_source(&self.name, &self.source)
    }

    /// Its text from the start.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub fn text(&self) -> Result<LogText, TraceError> {
        let window = Window::open(&self.name, &self.source)?;
        let place = TextPlace { line: Rc::new(Cell::new(1)), position: window.position() };
        Ok(LogText { place, window, bytes: self.source.len(), failed: None })
    }
}

/// The text of a file, which knows its line.
pub struct LogText {
    window: Window,
    place: TextPlace,
    bytes: u64,
    failed: Option<TraceError>,
}

/// The place up to which a text has been read, for whoever does not have the text at hand.
#[derive(Clone)]
pub struct TextPlace {
    line: Rc<Cell<u64>>,
    position: Position,
}

impl TextPlace {
    /// The line of the next byte, from 1.
    pub fn line(&self) -> u64 {
        self.line.get()
    }

    /// Number of bytes of the file that have been read, compressed as it is.
    pub fn position(&self) -> u64 {
        self.position.bytes()
    }

    /// `text` has been read.
    fn pass(&self, text: &[u8]) {
        self.line.set(self.line.get() + memchr_iter(b'\n', text).count() as u64);
    }
}

impl LogText {
    /// The length of the file in bytes, compressed as it is.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The place up to which the text has been read, which goes on with it.
    pub fn place(&self) -> TextPlace {
        self.place.clone()
    }

    /// Moves past white space, and past a byte order mark at the start: the byte that follows, if there is one.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn skip_space(&mut self) -> Result<Option<u8>, TraceError> {
        if self.place.line() == 1
            && self.window.require(3)?
            && self.window.data().starts_with(b"\xef\xbb\xbf")
        {
            self.window.consume(3);
        }
        loop {
            let data = self.window.data();
            let space = data.iter().position(|byte| !byte.is_ascii_whitespace());
            let length = space.unwrap_or(data.len());
            self.place.pass(&data[..length]);
            let found = space.map(|place| data[place]);
            self.window.consume(length);
            if found.is_some() || !self.window.fill()? {
                return Ok(found);
            }
        }
    }

    /// `problem` in `line`.
    pub fn error(&self, line: u64, problem: impl Into<String>) -> TraceError {
        self.window.error(Place::Line(line), problem)
    }

    /// `problem` with the file as a whole.
    pub fn error_whole(&self, problem: impl Into<String>) -> TraceError {
        self.window.error(Place::Whole, problem)
    }

    /// The error that ended the last call of [`Read::read`], if one did.
    pub fn take_error(&mut self) -> Option<TraceError> {
        self.failed.take()
    }
}

impl Read for LogText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.window.data().is_empty() {
            match self.window.fill() {
                Ok(true) => {}
                Ok(false) => return Ok(0),
                Err(error) => {
                    self.failed = Some(error);
                    return Err(io::Error::other("the file cannot be read"));
                }
            }
        }
        let data = self.window.data();
        let length = data.len().min(buffer.len());
        buffer[..length].copy_from_slice(&data[..length]);
        self.place.pass(&data[..length]);
        self.window.consume(length);
        Ok(length)
    }
}
