//! The classes file.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use trueplane_limit::classes::Classes;
use trueplane_trace::without_code;

use crate::failure::Failure;

/// What the most classes take at 256 bytes each, twice what they mostly do. Reading takes up to a hundred times as much memory.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Reads a classes file; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<Classes, Failure> {
    let name = if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() };
    let wrong = |what: String| Failure::input(format!("{name}: {what}"));
    let mut text = Vec::new();
    let read =
        |source: &mut dyn io::Read, text: &mut Vec<u8>| source.take(MAX_FILE_BYTES + 1).read_to_end(text);
    match path == Path::new("-") {
        true => read(&mut io::stdin().lock(), &mut text),
        false => File::open(path).and_then(|mut file| read(&mut file, &mut text)),
    }
    .map_err(|error| wrong(without_code(&error)))?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(wrong("expected a classes file, got more than 16 MiB".to_owned()));
    }
    let text = String::from_utf8(text).map_err(|_| wrong("expected text in UTF-8".to_owned()))?;
    Classes::parse(&name, &text).map_err(|error| Failure::input(error.to_string()))
}
