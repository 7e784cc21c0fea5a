//! Where a report comes from: the command line, the date and the files, so that its reader can make it again.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use trueplane_study::prose::command_line;

/// Flags of files that a command writes: they are no input.
const WRITTEN: [&str; 6] = ["--output", "--report", "--out", "--certificate", "--schedule", "--departures"];

/// The command line, the date, and every file that it names with its hash.
pub(crate) fn origin() -> Vec<(String, String)> {
    let mut words: Vec<String> =
        std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(first) = words.first_mut() {
        "trueplane".clone_into(first);
    }
    let mut origin = vec![("command".to_owned(), command_line(&words)), ("date".to_owned(), date())];
    let hashed = inputs(&words)
        .into_iter()
        .filter_map(|path| Some((format!("SHA-256 of {path}"), sha256(Path::new(path)).ok()?)));
    origin.extend(hashed);
    origin
}

/// The files that the words of a command line name, but for those that the command writes.
fn inputs(words: &[String]) -> Vec<&str> {
    let is_written = |word: &str| WRITTEN.contains(&word.split('=').next().unwrap_or(word));
    let pairs = words.windows(2).filter(|pair| !is_written(&pair[0]) && !is_written(&pair[1]));
    pairs.filter_map(|pair| file(&pair[1])).collect()
}

/// The time, or `SOURCE_DATE_EPOCH` (<https://reproducible-builds.org/specs/source-date-epoch/>), in whole seconds.
fn date() -> String {
    let fixed = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    let fixed = fixed.and_then(|seconds| Timestamp::from_second(seconds).ok());
    let now = fixed.unwrap_or_else(Timestamp::now);
    now.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()
}

/// The regular file that a word names, also behind what says how to read it: `trace:FILE`.
fn file(word: &str) -> Option<&str> {
    let after = word.split_once([':', '=']).map(|(_, after)| after);
    [Some(word), after].into_iter().flatten().find(|path| Path::new(path).is_file())
}

fn sha256(path: &Path) -> io::Result<String> {
    let (mut hash, mut file, mut bytes) = (Sha256::new(), File::open(path)?, vec![0; 1 << 20]);
    loop {
        match file.read(&mut bytes)? {
            0 => break,
            count => hash.update(&bytes[..count]),
        }
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_and_hashed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.csv");
        std::fs::write(&path, "abc").unwrap();
        let name = path.to_str().unwrap();
        for word in [name.to_owned(), format!("trace:{name}"), format!("--trace={name}")] {
            assert_eq!(file(&word), Some(name));
        }
        assert_eq!(file("100ms"), None);
        let words = |words: &[&str]| -> Vec<String> { words.iter().map(ToString::to_string).collect() };
        let (written, glued) = (format!("--output={name}"), format!("--csv={name}"));
        assert_eq!(inputs(&words(&["trueplane", "cache", name, "--latency", "1ms"])), [name]);
        assert_eq!(inputs(&words(&["trueplane", "--certificate", name, &written])), [] as [&str; 0]);
        assert_eq!(inputs(&words(&["trueplane", &glued])), [name]);
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&path).unwrap(), expected);
    }
}
