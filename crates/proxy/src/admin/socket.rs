//! A Unix socket that only its owner may use.

use std::fs::{self, DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use tokio::net::UnixListener;

use crate::config::ConfigError;
use crate::reason::reason;

/// A socket, whose file is removed when this is dropped.
pub(super) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// Device and number of the file, by which another one in its place is told from it.
    file: Option<(u64, u64)>,
}

impl Socket {
    /// Opens a socket. The file of one whose process has died is replaced.
    ///
    /// # Errors
    ///
    /// A process serves it, there is another file, or none can be made; in one line.
    pub(super) fn open(path: &Path) -> Result<Self, ConfigError> {
        let wrong = |reason| ConfigError::Unreadable { path: path.to_owned(), reason };
        let failed = |error: std::io::Error| wrong(format!("cannot make the socket: {}", reason(&error)));
        match fs::symlink_metadata(path) {
            Ok(file) if !file.file_type().is_socket() => {
                return Err(wrong("a file that is no socket is there".to_owned()));
            }
            Ok(_) => match UnixStream::connect(path) {
                Ok(_) => return Err(wrong("another process serves this socket".to_owned())),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(failed(error)),
            },
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        // Nobody can reach it before its mode is set: it comes into a folder of its own, and then into its place.
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = parent.join(format!(".{}", std::process::id()));
        let inner = folder.join("s");
        let made = DirBuilder::new().mode(0o700).create(&folder).or_else(|error| {
            if error.kind() != ErrorKind::AlreadyExists {
                return Err(error);
            }
            // A process with the same number has left it that ended in the middle of this: in a container all have the same one.
            let _ = fs::remove_file(&inner);
            fs::remove_dir(&folder)?;
            DirBuilder::new().mode(0o700).create(&folder)
        });
        made.map_err(failed)?;
        let opened = UnixListener::bind(&inner).and_then(|listener| {
            fs::set_permissions(&inner, Permissions::from_mode(0o600))?;
            fs::rename(&inner, path)?;
            Ok(listener)
        });
        // If it failed, the file may be there, or not.
        let _ = fs::remove_file(&inner);
        fs::remove_dir(&folder).map_err(failed)?;
        let listener = opened.map_err(failed)?;
        Ok(Self { listener, path: path.to_owned(), file: number(path) })
    }

    pub(super) fn listener(&mut self) -> &mut UnixListener {
        &mut self.listener
    }
}

fn number(path: &Path) -> Option<(u64, u64)> {
    fs::symlink_metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

impl Drop for Socket {
    fn drop(&mut self) {
        if number(&self.path) == self.file {
            // It may have been removed meanwhile.
            let _ = fs::remove_file(&self.path);
        }
    }
}
