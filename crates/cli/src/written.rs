//! Files that a command writes besides its report: `--schedule`, `--departures`, `--out`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use trueplane_study::whole_file::{self, Begun};
use trueplane_trace::without_code;

use crate::failure::Failure;

/// A file on its way, which is there once it is whole ([`Written::finish`]); see [`whole_file`].
pub(crate) struct Written {
    /// Name of the output in errors: `--out jobs.csv`.
    name: String,
    out: BufWriter<File>,
    begun: Begun,
}

impl Written {
    /// Begins the file at `path`, which `flag` asks for.
    pub(crate) fn begin(flag: &str, path: &Path) -> Result<Self, Failure> {
        let name = format!("{flag} {}", path.display());
        let refuse = |problem: &str| Failure::input(format!("{name}: {problem}"));
        if path == Path::new("-") {
            return Err(refuse(
                "expected the name of a file (standard output is for the report; ./- is a file)",
            ));
        }
        let (file, begun) = whole_file::begin(path).map_err(|error| match error.kind() {
            io::ErrorKind::IsADirectory => refuse("it is a folder, and a file was expected"),
            _ => refuse(&without_code(&error)),
        })?;
        Ok(Self { out: BufWriter::new(file), name, begun })
    }

    /// Path of the regular file, with links resolved; none if it is not a regular file, and if its folder has gone.
    pub(crate) fn place(&self) -> Option<PathBuf> {
        self.begun.place()
    }

    /// Name of the output in errors.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A nameless file for what will come later in this one.
    pub(crate) fn scratch(&self) -> Result<File, Failure> {
        self.begun.scratch().map_err(|error| self.broken(&error))
    }

    /// Puts the file where it belongs.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        let Self { name, mut out, begun } = self;
        let whole = out.flush().and_then(|()| begun.finish());
        whole.map_err(|error| Failure::other(format!("{name}: {}", without_code(&error))))
    }

    /// Failure to write the output.
    pub(crate) fn broken(&self, error: &io::Error) -> Failure {
        Failure::other(format!("{}: {}", self.name, without_code(error)))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for path in [Path::new("-"), folder.path(), &folder.path().join("no/such")] {
            assert!(Written::begin("--out", path).is_err(), "{}", path.display());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
