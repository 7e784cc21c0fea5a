//! Where the bytes of a trace lie, and how to read them again from the start, decompressed.

use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use liblzma::stream::{CONCATENATED, Stream as XzStream};

use super::gzip::Members;

/// Bytes that can be read more than once.
#[derive(Clone)]
pub(super) enum Source {
    /// The first `length` bytes of a file: of a regular one those that it had when it was opened, since the access log
    /// of a running server grows and is renamed under its readers, or all of a spool.
    File { file: Arc<File>, length: u64 },
    /// Bytes in memory.
    Memory(Arc<[u8]>),
}

impl Source {
    /// The file at `path`; `-` is standard input.
    ///
    /// Whatever can be read but once (standard input, a pipe) is copied to a temporary file (in `$TMPDIR`) here and
    /// now, compressed as it comes. The temporary file has no name and vanishes with the last reader.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        if path == Path::new("-") {
            return Self::spool(io::stdin().lock());
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        // The files of /proc say that they are empty, and are not.
        if metadata.is_file() && metadata.len() > 0 {
            Ok(Source::File { length: metadata.len(), file: Arc::new(file) })
        } else {
            Self::spool(file)
        }
    }

    fn spool(mut from: impl Read) -> io::Result<Self> {
        let mut spool = tempfile::tempfile()?;
        let length = io::copy(&mut from, &mut spool)?;
        Ok(Source::File { file: Arc::new(spool), length })
    }

    /// The number of bytes, compressed as they are.
    pub(super) fn len(&self) -> u64 {
        match self {
            Source::File { length, .. } => *length,
            Source::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// A stream of the decompressed bytes from the first on, and the compression that it undoes.
    pub(super) fn stream(&self) -> io::Result<Stream> {
        let bytes: Box<dyn Read + Send> = match self {
            Source::File { file, length } => {
                Box::new(SharedFile { file: Arc::clone(file), offset: 0, length: *length })
            }
            Source::Memory(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
        };
        let position = Position::default();
        let mut bytes = Counted { bytes, position: position.clone() };
        let mut magic = Vec::new();
        bytes.by_ref().take(MAGIC_LENGTH).read_to_end(&mut magic)?;
        let compression = Compression::of(&magic);
        let bytes = Cursor::new(magic).chain(bytes);
        Ok(Stream { bytes: compression.undo(bytes)?, compression, position })
    }
}

/// The bytes of the file at `path`, whatever it holds, decompressed; `-` is standard input.
pub(crate) fn decompressed(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(Source::open(path)?.stream()?.bytes)
}

/// The bytes of a trace, decompressed.
pub(super) struct Stream {
    bytes: Box<dyn Read + Send>,
    /// What is undone on the way.
    pub(super) compression: Compression,
    /// How far the compressed bytes have been read.
    pub(super) position: Position,
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}

/// How many bytes a stream has read from its source, as seen from outside the stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Position(Arc<AtomicU64>);

impl Position {
    /// The number of bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// How the bytes of a source are compressed.
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
        self.position.0.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}

/// A file that several readers share, each at an offset of its own and none past `length`.
struct SharedFile {
    file: Arc<File>,
    offset: u64,
    length: u64,
}

/// A file became shorter than it was when it was opened.
#[derive(Debug, thiserror::Error)]
#[error("the trace changed while it was read")]
pub(super) struct Changed;

impl Read for SharedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.length - self.offset).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let length = self.file.read_at(&mut buffer[..wanted], self.offset)?;
        if length == 0 && wanted > 0 {
            return Err(io::Error::other(Changed));
        }
        self.offset += length as u64;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn text_of(source: &Source) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        source.stream()?.read_to_end(&mut text)?;
        Ok(text)
    }

    #[test]
    fn what_came_through_a_pipe_can_be_read_by_several_at_once() {
        let source = Source::spool(&b"one and two"[..]).unwrap();
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
        let source = Source::open(file.path()).unwrap();
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
        assert_eq!(Source::open(Path::new("/")).err().unwrap().kind(), io::ErrorKind::IsADirectory);
    }
}
