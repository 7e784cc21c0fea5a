//! Where the bytes of a trace lie, and how to read them again from the start, decompressed.

use std::error::Error;
use std::fs::{File, Metadata};
use std::io::{self, BufReader, Chain, Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use liblzma::stream::{CONCATENATED, Stream as XzStream};
use trueplane_units::Bytes;

use crate::error::{Place, TraceError};
use crate::gzip::Members;

/// Bytes that can be read more than once.
#[derive(Clone)]
pub(super) enum Source {
    /// The first `length` bytes of a file: of a regular one those that it had when it was opened, since the access log
    /// of a running server grows and is renamed under its readers, or all of a copy.
    File { file: Arc<File>, length: u64 },
    /// Bytes in memory.
    Memory(Arc<[u8]>),
    /// The first bytes of something longer; reading on is the error [`StartEnds`].
    Start(Arc<[u8]>),
}

/// So much of what can be read but once is looked at before the rest is copied. Longer than the longest line.
const START: u64 = 2 << 20;

/// The most that is copied of it, compressed as it comes.
const MOST_COPIED: u64 = 64 << 30;

impl Source {
    /// The file at `path`; `-` is standard input.
    ///
    /// Whatever can be read but once (standard input, a pipe) is read here and now, compressed as it comes, and if it is long
    /// copied to a temporary file in `$TMPDIR`. That has no name and vanishes with the last reader. Before, `check` is shown the
    /// start. At most [`MOST_COPIED`] bytes are copied, and no more than half of what is free on the disk.
    pub(super) fn open(
        path: &Path,
        check: impl FnOnce(&Source) -> Result<(), TraceError>,
    ) -> Result<Self, TraceError> {
        let name = name_of(path);
        if path == Path::new("-") {
            return Self::copy(&name, io::stdin().lock(), MOST_COPIED, check);
        }
        let error = |source| TraceError::Io { trace: name.clone(), source };
        let (file, metadata) = opened(path).map_err(error)?;
        // The files of /proc say that they are empty, and are not.
        if metadata.is_file() && metadata.len() > 0 {
            Ok(Source::File { length: metadata.len(), file: Arc::new(file) })
        } else {
            Self::copy(&name, file, MOST_COPIED, check)
        }
    }

    /// Copies the content of `from`, up to `most` bytes.
    fn copy(
        name: &str,
        mut from: impl Read,
        most: u64,
        check: impl FnOnce(&Source) -> Result<(), TraceError>,
    ) -> Result<Self, TraceError> {
        let unread = |source| TraceError::Io { trace: name.to_owned(), source };
        let mut start = Vec::new();
        from.by_ref().take(START).read_to_end(&mut start).map_err(unread)?;
        let is_all = (start.len() as u64) < START;
        let start: Arc<[u8]> = start.into();
        if is_all {
            return Ok(Source::Memory(start));
        }
        match check(&Source::Start(Arc::clone(&start))) {
            Err(error) if !is_start_end(&error) => return Err(error),
            _ => {}
        }
        let folder = std::env::temp_dir();
        let uncopied = |source| {
            let trace = format!("{name}: cannot be copied to {} (TMPDIR says where)", folder.display());
            TraceError::Io { trace, source }
        };
        let mut copy = tempfile::tempfile_in(&folder).map_err(uncopied)?;
        let most = most.min(free(&copy).map_err(uncopied)? / 2);
        copy.write_all(&start).map_err(uncopied)?;
        let left = most.saturating_sub(start.len() as u64);
        let length = start.len() as u64 + io::copy(&mut from.take(left + 1), &mut copy).map_err(uncopied)?;
        if length > most {
            let problem = format!(
                "more than {} come through a pipe, which is copied to {} up to {} and half of what is free there; give a file \
                 instead, or set TMPDIR to a folder with more room",
                Bytes(most),
                folder.display(),
                Bytes(MOST_COPIED)
            );
            return Err(TraceError::Input { trace: name.to_owned(), place: Place::Whole, problem });
        }
        Ok(Source::File { file: Arc::new(copy), length })
    }

    /// The number of bytes, compressed as they are.
    pub(super) fn len(&self) -> u64 {
        match self {
            Source::File { length, .. } => *length,
            Source::Memory(bytes) | Source::Start(bytes) => bytes.len() as u64,
        }
    }

    /// A stream of the decompressed bytes from the first on, and the compression that it undoes.
    pub(super) fn stream(&self) -> io::Result<Stream> {
        Stream::of(match self {
            Source::File { file, length } => {
                Box::new(SharedFile { file: Arc::clone(file), offset: 0, length: *length })
            }
            Source::Memory(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            Source::Start(bytes) => Box::new(Cursor::new(Arc::clone(bytes)).chain(End)),
        })
    }
}

/// The file at `path`, unless it is a folder.
fn opened(path: &Path) -> io::Result<(File, Metadata)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok((file, metadata)) }
}

/// Free space on the disk of `file`, in bytes; no limit where nobody tells.
fn free(file: &File) -> io::Result<u64> {
    #[cfg(not(target_os = "wasi"))]
    {
        let disk = rustix::fs::fstatvfs(file)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
    #[cfg(target_os = "wasi")]
    {
        let _ = file;
        Ok(u64::MAX)
    }
}

/// The bytes of the file at `path`, whatever it holds, decompressed, once; `-` is standard input.
pub fn decompressed(path: &Path) -> io::Result<impl Read + Send> {
    let bytes: Box<dyn Read + Send> =
        if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(opened(path)?.0) };
    Stream::of(bytes)
}

/// The bytes of a trace, decompressed.
pub(super) struct Stream {
    bytes: Box<dyn Read + Send>,
    /// Compression that is undone on the way.
    pub(super) compression: Compression,
    /// Position up to which the compressed bytes have been read.
    pub(super) position: Position,
}

impl Stream {
    /// Undoes whatever compression `bytes` begin with.
    fn of(bytes: Box<dyn Read + Send>) -> io::Result<Self> {
        let position = Position::default();
        let mut bytes = Counted { bytes, position: position.clone() };
        let mut magic = Vec::new();
        bytes.by_ref().take(MAGIC_LENGTH).read_to_end(&mut magic)?;
        let compression = Compression::of(&magic);
        let bytes = Cursor::new(magic).chain(bytes);
        Ok(Self { bytes: compression.undo(bytes)?, compression, position })
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}

/// Number of bytes that a stream has read from its source, as seen from outside the stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Position(Arc<AtomicU64>);

impl Position {
    /// The number of bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// So many more have been read.
    pub(super) fn advance(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }
}

/// Compression of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Zstd,
    Xz,
}

/// The longest magic number among those that [`Compression::of`] knows.
const MAGIC_LENGTH: u64 = 6;

/// More than any preset of `xz` asks for (`-9` takes 65 MiB), less than a hostile header can.
const XZ_MEMORY: u64 = 512 << 20;

impl Compression {
    /// The compression that a stream with this start has.
    fn of(start: &[u8]) -> Self {
        match start {
            // RFC 1952 §2.3.1, with the only compression method that there is.
            [0x1f, 0x8b, 8, ..] => Compression::Gzip,
            // RFC 8878 §3.1.1, and §3.1.2: skippable frames, with which parallel compressors start.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Compression::Xz,
            _ => Compression::None,
        }
    }

    /// The name, for errors.
    pub(super) fn name(self) -> &'static str {
        match self {
            Compression::None => "uncompressed",
            Compression::Gzip => "gzip",
            Compression::Zstd => "zstd",
            Compression::Xz => "xz",
        }
    }

    /// Decompresses `bytes`, all members or frames of them, in memory that does not grow with their number.
    fn undo(self, bytes: Chain<Cursor<Vec<u8>>, Counted>) -> io::Result<Box<dyn Read + Send>> {
        Ok(match self {
            Compression::None => Box::new(bytes),
            Compression::Gzip => Box::new(Members::new(buffered(bytes))),
            Compression::Zstd => Box::new(zstd::Decoder::with_buffer(buffered(bytes))?),
            Compression::Xz => {
                let stream = XzStream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
                Box::new(liblzma::bufread::XzDecoder::new_stream(buffered(bytes), stream))
            }
        })
    }
}

fn buffered<R: Read>(bytes: R) -> BufReader<R> {
    BufReader::with_capacity(1 << 16, bytes)
}

/// Reads and keeps count.
struct Counted {
    bytes: Box<dyn Read + Send>,
    position: Position,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.bytes.read(buffer)?;
        self.position.advance(length as u64);
        Ok(length)
    }
}

/// A file that several readers share, each at an offset of its own and none past `length`.
struct SharedFile {
    file: Arc<File>,
    offset: u64,
    length: u64,
}

/// The end of a start.
struct End;

/// Somebody read past the start of something longer.
#[derive(Debug, thiserror::Error)]
#[error("the start that is looked at ends here")]
pub(super) struct StartEnds;

impl Read for End {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other(StartEnds))
    }
}

/// Whether `error` only says that somebody read past a start.
fn is_start_end(error: &TraceError) -> bool {
    matches!(error, TraceError::Io { source, .. } if is::<StartEnds>(source))
}

/// Whether `error` was made from an `E`.
pub(super) fn is<E: Error + 'static>(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<E>)
}

/// A file became shorter than it was when it was opened.
#[derive(Debug, thiserror::Error)]
#[error("the trace changed while it was read")]
pub(super) struct Changed;

impl Read for SharedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length - self.offset).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let length = rustix::io::pread(&self.file, &mut buffer[..wanted], self.offset)?;
        if length == 0 && wanted > 0 {
            return Err(io::Error::other(Changed));
        }
        self.offset += length as u64;
        Ok(length)
    }
}

/// Name of a file in errors.
pub fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "stdin".to_owned() } else { path.display().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(source: &Source) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        source.stream()?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn what_came_through_a_pipe_can_be_read_by_several_at_once() {
        let source = Source::copy("pipe", &b"one and two"[..], 11, |_| unreachable!()).unwrap();
        let (mut first, mut second) = (source.stream().unwrap(), source.stream().unwrap());
        let mut start = [0; 3];
        first.read_exact(&mut start).unwrap();
        let mut all = String::new();
        second.read_to_string(&mut all).unwrap();
        let mut rest = String::new();
        first.read_to_string(&mut rest).unwrap();
        assert_eq!((&start, rest.as_str(), all.as_str()), (b"one", " and two", "one and two"));
        assert_eq!(source.len(), 11);
        assert_eq!(first.position.bytes(), 11);
    }

    #[test]
    fn what_is_long_is_copied_after_its_start_was_checked() {
        let long = vec![b'x'; START as usize + 5];
        let mut seen = 0;
        let source = Source::copy("pipe", &long[..], START + 5, |start| {
            seen = start.len();
            let mut text = Vec::new();
            let error = start.stream().unwrap().read_to_end(&mut text).unwrap_err();
            assert_eq!(text.len() as u64, START);
            Err(TraceError::Io { trace: "pipe".to_owned(), source: error })
        })
        .unwrap();
        assert_eq!((seen, text_of(&source).unwrap()), (START, long));
    }

    #[test]
    fn nothing_is_copied_of_what_starts_wrong() {
        let wrong =
            || TraceError::Input { trace: "pipe".to_owned(), place: Place::Whole, problem: "odd".to_owned() };
        let error = Source::copy("pipe", io::repeat(0), u64::MAX, |_| Err(wrong())).err().unwrap();
        assert_eq!(error.to_string(), "pipe: odd");
    }

    #[test]
    fn endless_input_is_not_copied_for_ever() {
        let most = START + 5;
        let error = Source::copy("pipe", io::repeat(b'x'), most, |_| Ok(())).err().unwrap();
        assert!(error.is_input());
        let expected = format!("pipe: more than {} come through a pipe, which is copied to ", Bytes(most));
        assert!(error.to_string().starts_with(&expected), "{error}");
    }

    #[test]
    fn every_member_is_decompressed() {
        let gzip = |text: &[u8]| {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        let zstd = |text: &[u8]| zstd::encode_all(text, 3).unwrap();
        let xz = |text: &[u8]| {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 1);
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        for compress in [&gzip as &dyn Fn(&[u8]) -> Vec<u8>, &zstd, &xz] {
            let both = [compress(b"one\n"), compress(b"two\n")].concat();
            assert_eq!(text_of(&Source::Memory(both.clone().into())).unwrap(), b"one\ntwo\n");
            let cut = &both[..both.len() - 5];
            text_of(&Source::Memory(cut.into())).unwrap_err();
        }
        assert_eq!(text_of(&Source::Memory(b"\x1f\x8b".as_slice().into())).unwrap(), b"\x1f\x8b");
    }

    #[test]
    fn a_file_is_what_it_was_when_it_was_opened() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"one").unwrap();
        let source = Source::open(file.path(), |_| unreachable!()).unwrap();
        file.write_all(b" more").unwrap();
        assert_eq!(text_of(&source).unwrap(), b"one");
        assert_eq!(source.len(), 3);
        file.as_file().set_len(2).unwrap();
        assert_eq!(text_of(&source).unwrap_err().to_string(), "the trace changed while it was read");
        // Rotated away: the name now means another file.
        file.as_file().set_len(3).unwrap();
        std::fs::remove_file(file.path()).unwrap();
        std::fs::write(file.path(), "two").unwrap();
        assert_eq!(text_of(&source).unwrap(), b"on\0");
    }

    #[test]
    fn a_directory_is_no_trace() {
        let error = Source::open(Path::new("/"), |_| unreachable!()).err().unwrap();
        assert_eq!(error.to_string(), "/: is a directory");
    }
}
