//! Traces as CSV files, compressed by the ending of their name, written whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use trueplane_study::compress::compressed;
use trueplane_study::whole_file;
use trueplane_trace::{Request, without_code};

/// Reason why a trace was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The caller asked to stop, on Ctrl-C for instance. [`save_csv`] has left no file behind.
    #[error("interrupted")]
    Interrupted,
    /// A file could not be made or written.
    #[error("{}: {}", path.display(), without_code(source))]
    File {
        /// The file that was to be written.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The output given by the caller could not be written to.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// The first line of every file.
const HEADER: &[u8] = b"time_ns,key,size\n";

/// Rows are collected to this many bytes before they go out, and `stop` is looked at as often.
const CHUNK: usize = 64 << 10;

/// Writes `requests` as CSV with the columns `time_ns,key,size` and a header; returns how many there were.
///
/// Memory: one chunk of 64 KiB. To show progress, pass an iterator that counts.
///
/// # Errors
///
/// [`WriteError::Output`] when `out` fails; [`WriteError::Interrupted`] soon after `stop` becomes true, with part of
/// the trace written.
pub fn write_csv(
    requests: impl Iterator<Item = Request>,
    out: &mut impl Write,
    stop: &AtomicBool,
) -> Result<u64, WriteError> {
    let mut rows = 0;
    let mut chunk = Vec::with_capacity(CHUNK + 64);
    chunk.extend_from_slice(HEADER);
    for request in requests {
        push_decimal(&mut chunk, request.time.0, b',');
        push_decimal(&mut chunk, request.key, b',');
        push_decimal(&mut chunk, request.size, b'\n');
        rows += 1;
        if chunk.len() >= CHUNK {
            if stop.load(Ordering::Relaxed) {
                return Err(WriteError::Interrupted);
            }
            out.write_all(&chunk)?;
            chunk.clear();
        }
    }
    out.write_all(&chunk)?;
    out.flush()?;
    Ok(rows)
}

/// Writes `requests` to the file `path` as [`write_csv`] does, compressed when the name ends in `.gz`, `.zst` or
/// `.xz`; returns how many there were.
///
/// The file appears under its name only when it is complete; until then it lies beside it as a temporary file, which
/// is removed on every error. It has the mode of a file that it replaces, and a link is followed. What is no regular
/// file, a pipe or a device, is written to directly.
///
/// # Errors
///
/// [`WriteError::File`] when the file cannot be written; [`WriteError::Interrupted`] soon after `stop` becomes true.
pub fn save_csv(
    requests: impl Iterator<Item = Request>,
    path: &Path,
    stop: &AtomicBool,
) -> Result<u64, WriteError> {
    let failed = |source| WriteError::File { path: path.to_owned(), source };
    let (file, begun) = whole_file::begin(path).map_err(failed)?;
    let rows = compress_csv(requests, file, path, stop)?;
    begun.finish().map_err(failed)?;
    Ok(rows)
}

/// Writes the rows through the compressor that the ending of `name` asks for, and ends the compressed stream.
fn compress_csv(
    requests: impl Iterator<Item = Request>,
    file: File,
    name: &Path,
    stop: &AtomicBool,
) -> Result<u64, WriteError> {
    let out = BufWriter::with_capacity(CHUNK, file);
    compressed(name, out, |mut out| write_csv(requests, &mut out, stop)).map_err(|error| match error {
        WriteError::Output(source) => WriteError::File { path: name.to_owned(), source },
        other => other,
    })
}

/// Appends `value` in decimal and the separator after it; several times as fast as the formatting machinery.
fn push_decimal(line: &mut Vec<u8>, mut value: u64, separator: u8) {
    // 2^64 has 20 digits.
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    line.extend_from_slice(&digits[start..]);
    line.push(separator);
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;

    use trueplane_units::Nanos;

    use super::*;

    static GO_ON: AtomicBool = AtomicBool::new(false);

    fn requests(count: u64) -> impl Iterator<Item = Request> {
        (0..count).map(|i| Request { time: Nanos(i * 10), key: i % 7, size: 100 + i % 7, fetch: Nanos(0) })
    }

    fn csv(count: u64) -> Vec<u8> {
        let mut text = Vec::new();
        assert_eq!(write_csv(requests(count), &mut text, &GO_ON).unwrap(), count);
        text
    }

    #[test]
    fn rows_are_plain_decimal_numbers_under_a_header() {
        let row = Request { time: Nanos(0), key: u64::MAX, size: 10, fetch: Nanos(0) };
        let mut text = Vec::new();
        write_csv([row].into_iter(), &mut text, &GO_ON).unwrap();
        assert_eq!(text, b"time_ns,key,size\n0,18446744073709551615,10\n");
        assert_eq!(csv(0), HEADER);
    }

    #[test]
    fn the_ending_chooses_the_compression() {
        let folder = tempfile::tempdir().unwrap();
        let expected = csv(20_000);
        for name in ["a.csv", "a.csv.gz", "a.csv.zst", "a.csv.xz"] {
            let path = folder.path().join(name);
            assert_eq!(save_csv(requests(20_000), &path, &GO_ON).unwrap(), 20_000);
            let file = File::open(&path).unwrap();
            let mut text = Vec::new();
            match name {
                "a.csv.gz" => flate2::read::GzDecoder::new(file).read_to_end(&mut text),
                "a.csv.zst" => zstd::Decoder::new(file).unwrap().read_to_end(&mut text),
                "a.csv.xz" => liblzma::read::XzDecoder::new(file).read_to_end(&mut text),
                _ => { file }.read_to_end(&mut text),
            }
            .unwrap();
            assert!(text == expected, "{name}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn an_interrupted_file_leaves_nothing_behind_and_spares_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.csv.zst");
        fs::write(&path, "precious").unwrap();
        let stop = AtomicBool::new(false);
        let stopping = requests(1_000_000).inspect(|request| {
            if request.time.0 == 500_000 {
                stop.store(true, Ordering::Relaxed);
            }
        });
        assert!(matches!(save_csv(stopping, &path, &stop), Err(WriteError::Interrupted)));
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let error = save_csv(requests(1), Path::new("/no/such/folder/trace.csv"), &GO_ON).unwrap_err();
        assert!(error.to_string().starts_with("/no/such/folder/trace.csv: "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn special_files_are_written_to_and_links_followed() {
        let folder = tempfile::tempdir().unwrap();
        save_csv(requests(10), Path::new("/dev/null"), &GO_ON).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());

        let (real, link) = (folder.path().join("real.csv"), folder.path().join("link.csv"));
        fs::write(&real, "old").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        save_csv(requests(10), &link, &GO_ON).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&real).unwrap(), csv(10));
    }
}
