//! The file of a capture, which is there once it is whole.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::simulator::Capture;

/// A capture on its way to a file.
///
/// A regular file is only there, or replaced, once the capture is [finished](CaptureFile::finish). What is no regular file, a pipe or a device, is
/// written to as it is.
#[derive(Debug)]
pub(super) struct CaptureFile {
    capture: Capture,
    /// A temporary file, and the one that it becomes.
    beside: Option<(TempPath, PathBuf)>,
}

impl CaptureFile {
    /// Begins the capture of a link.
    pub(super) fn begin(link: u32, path: &Path) -> io::Result<Self> {
        let target = match fs::metadata(path) {
            Ok(found) if !found.is_file() => {
                let file = File::create(path)?;
                return Ok(Self { capture: Capture::new(link, BufWriter::new(file)), beside: None });
            }
            Ok(_) => {
                // Whoever may not write to a file may not replace it either.
                OpenOptions::new().write(true).open(path)?;
                fs::canonicalize(path)?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
            Err(error) => return Err(error),
        };
        let folder =
            target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::metadata(folder)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".trueplane-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Less the umask, as for files that are not temporary.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        // The error names the temporary file, which means nothing to anybody.
        let file = builder.tempfile_in(folder).map_err(|error| io::Error::from(error.kind()))?;
        let (file, temporary) = file.into_parts();
        let capture = Capture::new(link, BufWriter::new(file));
        Ok(Self { capture, beside: Some((temporary, target)) })
    }

    /// The capture, for a network.
    pub(super) fn capture(&self) -> Capture {
        self.capture.clone()
    }

    /// Puts the file where it belongs.
    pub(super) fn finish(self) -> io::Result<()> {
        self.capture.finish()?;
        let Some((temporary, target)) = self.beside else { return Ok(()) };
        if let Ok(before) = fs::metadata(&target) {
            fs::set_permissions(&temporary, before.permissions())?;
        }
        temporary.persist(target).map_err(|error| error.error)
    }
}
