//! The stretch of a trace's bytes that a reader is looking at.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;

use crate::error::{Place, TraceError};
use crate::source::{Changed, Compression, Position, Source, StartEnds, Stream, is};

/// Enough to keep system calls rare, little enough to stay in the second-level cache.
const INITIAL: usize = 1 << 18;

/// A stretch of decompressed bytes that grows at its end and is consumed from its start.
pub(super) struct Window {
    trace: Arc<str>,
    stream: Stream,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The number of bytes consumed.
    offset: u64,
}

impl Window {
    /// An empty window before the first byte of `source`.
    pub(super) fn open(trace: &Arc<str>, source: &Source) -> Result<Self, TraceError> {
        let stream = source.stream().map_err(|error| io_error(trace, error))?;
        Ok(Self { trace: Arc::clone(trace), stream, buffer: vec![0; INITIAL], start: 0, end: 0, offset: 0 })
    }

    /// The bytes in view.
    #[inline]
    pub(super) fn data(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Position up to which the compressed source has been read.
    pub(super) fn position(&self) -> Position {
        self.stream.position.clone()
    }

    /// The name of the trace.
    pub(super) fn trace_name(&self) -> Arc<str> {
        Arc::clone(&self.trace)
    }

    /// Moves past the first `length` bytes in view.
    pub(super) fn consume(&mut self, length: usize) {
        self.start += length;
        self.offset += length as u64;
        debug_assert!(self.start <= self.end);
    }

    /// Brings more bytes into view; `false` when there are none. Amortised O(1) per byte, however long the view gets.
    pub(super) fn fill(&mut self) -> Result<bool, TraceError> {
        if self.end == self.buffer.len() {
            if self.start < self.buffer.len() / 2 {
                self.buffer.resize(2 * self.buffer.len(), 0);
            }
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        loop {
            match self.stream.read(&mut self.buffer[self.end..]) {
                Ok(length) => {
                    self.end += length;
                    return Ok(length > 0);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.read_error(error)),
            }
        }
    }

    /// Brings at least `length` bytes into view; `false` when there are fewer left.
    pub(super) fn require(&mut self, length: usize) -> Result<bool, TraceError> {
        while self.data().len() < length {
            if !self.fill()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// `problem` at `place`.
    pub(super) fn error(&self, place: Place, problem: impl Into<String>) -> TraceError {
        TraceError::Input { trace: self.trace.to_string(), place, problem: problem.into() }
    }

    /// `problem` with the record that starts at the first byte in view.
    pub(super) fn error_here(&self, problem: impl Into<String>) -> TraceError {
        self.error(Place::Byte(self.offset), problem)
    }

    /// Makes an error of the operating system if that reported it; whatever else goes wrong, the decompressor found in the data.
    fn read_error(&self, error: io::Error) -> TraceError {
        let compression = self.stream.compression;
        if is::<Changed>(&error)
            || is::<StartEnds>(&error)
            || error.raw_os_error().is_some()
            || compression == Compression::None
        {
            return io_error(&self.trace, error);
        }
        let name = compression.name();
        let problem = if error.kind() == ErrorKind::UnexpectedEof {
            format!("{name} data cut short; {name} -dc unpacks what there is of it")
        } else {
            format!("{name} data damaged: {error}")
        };
        self.error(Place::Whole, problem)
    }
}

/// `error`, met while reading `trace`. That the trace has changed is for the user to mend.
fn io_error(trace: &str, error: io::Error) -> TraceError {
    let trace = trace.to_owned();
    if is::<Changed>(&error) {
        return TraceError::Input { trace, place: Place::Whole, problem: Changed.to_string() };
    }
    TraceError::Io { trace, source: error }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(bytes: Vec<u8>) -> Window {
        Window::open(&Arc::from("t"), &Source::Memory(bytes.into())).unwrap()
    }

    #[test]
    fn bytes_survive_growth_and_consumption() {
        let bytes: Vec<u8> = (0..3 * INITIAL).map(|index| (index % 251) as u8).collect();
        let mut window = window(bytes.clone());
        window.require(10).unwrap();
        window.consume(7);
        assert!(window.require(2 * INITIAL).unwrap());
        assert_eq!(window.data()[..2 * INITIAL], bytes[7..][..2 * INITIAL]);
        assert_eq!(window.offset, 7);
        assert!(!window.require(bytes.len() - 6).unwrap());
        assert_eq!(window.data(), &bytes[7..]);
    }

    #[test]
    fn damaged_compression_is_the_inputs_fault() {
        let mut packed = zstd::encode_all(&[7; 1000][..], 3).unwrap();
        packed.truncate(packed.len() - 3);
        let error = window(packed).require(1001).unwrap_err();
        assert_eq!(error.to_string(), "t: zstd data cut short; zstd -dc unpacks what there is of it");
        assert!(error.is_input());
    }
}
