//! Files that a command writes besides its report: `--schedule`, `--departures`, `--out`.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use trueplane_trace::without_code;

use crate::failure::Failure;

/// Links that are followed from one to the next.
const MOST_LINKS: usize = 40;

/// A file on its way.
///
/// A regular file is only there, or replaced, once it is whole ([`Written::finish`]); it is readable by those who could read any new file,
/// or the one that it replaces. A link is followed, and what is no regular file, a pipe or a device, is written to as it is.
pub(crate) struct Written {
    /// Name of the output in errors: `--out jobs.csv`.
    name: String,
    out: BufWriter<Sink>,
}

/// Destination of the bytes.
enum Sink {
    /// An existing file that is not regular, such as a pipe: bytes are written to it directly.
    There(File),
    /// A temporary file in the folder of the target, which it replaces at the end.
    Beside { file: NamedTempFile, target: PathBuf, permissions: Option<Permissions> },
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
        let sink = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(refuse("it is a folder, and a file was expected")),
            Ok(found) => existing(path, found.permissions(), found.is_file()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                target_of(path).and_then(|target| beside(target, None))
            }
            Err(error) => Err(error),
        };
        let sink = sink.map_err(|error| refuse(&without_code(&error)))?;
        Ok(Self { out: BufWriter::new(sink), name })
    }

    /// Path of the regular file, with links resolved; none if it is not a regular file, and if its folder has gone.
    pub(crate) fn place(&self) -> Option<PathBuf> {
        match self.out.get_ref() {
            Sink::There(_) => None,
            Sink::Beside { target, .. } => {
                Some(fs::canonicalize(folder_of(target)).ok()?.join(target.file_name()?))
            }
        }
    }

    /// Name of the output in errors.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// A nameless file for what will come later in this one.
    pub(crate) fn scratch(&self) -> Result<File, Failure> {
        let made = match self.out.get_ref() {
            Sink::There(_) => tempfile::tempfile(),
            Sink::Beside { target, .. } => tempfile::tempfile_in(folder_of(target)),
        };
        made.map_err(|error| self.broken(&error.kind().into()))
    }

    /// Puts the file where it belongs.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        let flushed = self.out.flush();
        let Self { name, out } = self;
        let broken = |error: &io::Error| Failure::other(format!("{name}: {}", without_code(error)));
        flushed.map_err(|error| broken(&error))?;
        // Nothing is left in the buffer.
        match out.into_inner().map_err(|error| broken(error.error()))? {
            Sink::There(_) => Ok(()),
            Sink::Beside { file, target, permissions } => {
                let allowed =
                    permissions.map_or(Ok(()), |as_before| file.as_file().set_permissions(as_before));
                allowed.map_err(|error| broken(&error))?;
                file.persist(target).map(drop).map_err(|error| broken(&error.error))
            }
        }
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

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::There(file) => file.write(bytes),
            Sink::Beside { file, .. } => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::There(file) => file.flush(),
            Sink::Beside { file, .. } => file.flush(),
        }
    }
}

/// Sink for an existing file: replaced at the end if it is regular, written to directly if not.
fn existing(path: &Path, permissions: Permissions, is_file: bool) -> io::Result<Sink> {
    // Whoever may not write to a file may not replace it either.
    let file = OpenOptions::new().write(true).open(path)?;
    if is_file { beside(fs::canonicalize(path)?, Some(permissions)) } else { Ok(Sink::There(file)) }
}

/// A temporary file in the folder of `target`.
fn beside(target: PathBuf, permissions: Option<Permissions>) -> io::Result<Sink> {
    let folder = folder_of(&target);
    fs::metadata(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".trueplane-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Less the umask, as for files that are not temporary.
        builder.permissions(Permissions::from_mode(0o666));
    }
    // The error names the temporary file, which means nothing to anybody.
    let file = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
    Ok(Sink::Beside { file, target, permissions })
}

fn folder_of(target: &Path) -> &Path {
    target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Path of a file that does not exist yet: `path`, or the target of its links.
fn target_of(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = folder_of(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    use super::*;

    fn write(path: &Path, text: &str) -> Result<(), Failure> {
        let mut file = Written::begin("--out", path)?;
        file.write_all(text.as_bytes()).map_err(|error| file.broken(&error))?;
        file.finish()
    }

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_is_there_once_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let mut begun = Written::begin("--out", &path).unwrap();
        begun.write_all(b"text").unwrap();
        assert!(!path.exists());
        begun.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        drop(Written::begin("--out", &folder.path().join("never")).unwrap());
        assert_eq!(count(folder.path()), 1, "what was begun is gone");
    }

    #[test]
    fn modes_are_those_of_any_file_and_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (path, plain) = (folder.path().join("new"), folder.path().join("plain"));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        File::create(&plain).unwrap();
        write(&path, "a").unwrap();
        assert_eq!(mode(&path), mode(&plain));
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        write(&path, "b").unwrap();
        assert_eq!((mode(&path), fs::read_to_string(&path).unwrap().as_str()), (0o640, "b"));
    }

    #[test]
    fn links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        symlink("sub/target", at("link")).unwrap();
        symlink("link", at("second")).unwrap();
        for text in ["nothing there", "a file there"] {
            write(&at("second"), text).unwrap();
            assert!(at("second").is_symlink() && at("link").is_symlink());
            assert_eq!(fs::read_to_string(at("sub/target")).unwrap(), text);
        }
        assert_eq!((count(folder.path()), count(&at("sub"))), (3, 1));
        symlink("round", at("round")).unwrap();
        assert!(write(&at("round"), "x").is_err() && at("round").is_symlink());
    }

    #[test]
    fn a_device_stays_one() {
        let null = Path::new("/dev/null");
        write(null, "nobody reads this").unwrap();
        assert!(fs::metadata(null).unwrap().file_type().is_char_device());
        let full = Path::new("/dev/full");
        if full.exists() {
            assert!(write(full, "does not fit").is_err());
            assert!(fs::metadata(full).unwrap().file_type().is_char_device());
        }
    }

    #[test]
    fn what_cannot_be_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for path in [Path::new("-"), folder.path(), &folder.path().join("no/such")] {
            assert!(Written::begin("--out", path).is_err(), "{}", path.display());
        }
        assert_eq!(count(folder.path()), 0);
    }
}
