//! Files that are there, or replaced, once they are whole.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// Links that are followed from one to the next.
const MOST_LINKS: usize = 40;

/// A file that has been begun. Without [`finish`](Self::finish) nothing is left of it.
#[derive(Debug)]
pub struct Begun {
    /// None if the file is no regular one.
    beside: Option<Beside>,
}

/// A temporary file in the folder of the target, which it replaces at the end.
#[derive(Debug)]
struct Beside {
    temporary: TempPath,
    target: PathBuf,
    /// Those of the file that is replaced.
    permissions: Option<Permissions>,
}

/// Begins the file at `path`: what is to be written to, and what puts it where it belongs. Flush your own buffers before you finish the file.
///
/// A regular file is readable by those who could read any new file, or the one that it replaces. A link is followed. What is no regular file, a pipe or
/// a device, is written to as it is.
///
/// # Errors
///
/// Those of the operating system: for instance [`IsADirectory`](io::ErrorKind::IsADirectory), or that the folder is not there, or that the file may not
/// be written. None of them names the temporary file.
pub fn begin(path: &Path) -> io::Result<(File, Begun)> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) => {
            // Whoever may not write to a file may not replace it either.
            let file = OpenOptions::new().write(true).open(path)?;
            if found.is_file() {
                beside(fs::canonicalize(path)?, Some(found.permissions()))
            } else {
                Ok((file, Begun { beside: None }))
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => beside(target_of(path)?, None),
        Err(error) => Err(error),
    }
}

impl Begun {
    /// Path of the regular file, with links resolved; none if it is not a regular file, and if its folder has gone.
    #[must_use]
    pub fn place(&self) -> Option<PathBuf> {
        let target = &self.beside.as_ref()?.target;
        Some(fs::canonicalize(folder_of(target)).ok()?.join(target.file_name()?))
    }

    /// A nameless file on the same file system, for what comes later in this one; elsewhere if this is no regular file.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn scratch(&self) -> io::Result<File> {
        let made = match &self.beside {
            None => tempfile::tempfile(),
            Some(beside) => tempfile::tempfile_in(folder_of(&beside.target)),
        };
        made.map_err(|error| error.kind().into())
    }

    /// Puts the file where it belongs.
    ///
    /// # Errors
    ///
    /// If the file cannot be replaced. It is then as it was.
    pub fn finish(self) -> io::Result<()> {
        let Some(Beside { temporary, target, permissions }) = self.beside else { return Ok(()) };
        if let Some(as_before) = permissions {
            fs::set_permissions(&temporary, as_before)?;
        }
        temporary.persist(target).map_err(|error| error.error)
    }
}

/// A temporary file in the folder of `target`.
fn beside(target: PathBuf, permissions: Option<Permissions>) -> io::Result<(File, Begun)> {
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
    let (file, temporary) = file.into_parts();
    Ok((file, Begun { beside: Some(Beside { temporary, target, permissions }) }))
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
    use std::io::Write;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        let (mut file, begun) = begin(path)?;
        file.write_all(text.as_bytes())?;
        begun.finish()
    }

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_is_there_once_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new");
        let (mut file, begun) = begin(&path).unwrap();
        file.write_all(b"text").unwrap();
        assert!(!path.exists());
        assert_eq!(begun.place(), Some(fs::canonicalize(folder.path()).unwrap().join("new")));
        begun.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        drop(begin(&folder.path().join("never")).unwrap());
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
        assert!(begin(null).unwrap().1.place().is_none());
        let full = Path::new("/dev/full");
        if full.exists() {
            assert!(write(full, "does not fit").is_err());
            assert!(fs::metadata(full).unwrap().file_type().is_char_device());
        }
    }

    #[test]
    fn what_cannot_be_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no/such");
        assert_eq!(begin(folder.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
        assert_eq!(begin(&missing).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(count(folder.path()), 0);
    }
}
