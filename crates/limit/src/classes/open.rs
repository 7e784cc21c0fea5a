//! From a file to its text.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use trueplane_study::Error;
use trueplane_trace::without_code;

use super::Classes;

/// Largest classes file: the most classes at 256 bytes each, twice what they mostly take. Reading takes up to a hundred times as much
/// memory.
const MAX_FILE_BYTES: u64 = 16 << 20;

impl Classes {
    /// Reads a classes file; `-` is standard input.
    ///
    /// # Errors
    /// If the file cannot be read or is no classes file, in one line.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let is_stdin = path == Path::new("-");
        let name = if is_stdin { "<stdin>".to_owned() } else { path.display().to_string() };
        let wrong = |what: String| Error::Parameters(format!("{name}: {what}"));
        let mut text = Vec::new();
        let read =
            |source: &mut dyn io::Read, text: &mut Vec<u8>| source.take(MAX_FILE_BYTES + 1).read_to_end(text);
        match is_stdin {
            true => read(&mut io::stdin().lock(), &mut text),
            false => File::open(path).and_then(|mut file| read(&mut file, &mut text)),
        }
        .map_err(|error| wrong(without_code(&error)))?;
        if text.len() as u64 > MAX_FILE_BYTES {
            return Err(wrong("expected a classes file, got more than 16 MiB".to_owned()));
        }
        let text = String::from_utf8(text).map_err(|_| wrong("expected text in UTF-8".to_owned()))?;
        Self::parse(&name, &text).map_err(|error| Error::Parameters(error.to_string()))
    }
}
