//! The files of a function's rules and backends.

use std::path::Path;
use std::{fs, io};

use trueplane_trace::without_code;

use crate::nf::{FunctionOptions, FunctionParameters};

impl FunctionParameters {
    /// The options that these make, with what the files say.
    ///
    /// # Errors
    ///
    /// A file cannot be read or says something else, in one line.
    pub fn read(&self) -> Result<FunctionOptions, String> {
        self.options(|file| fs::read_to_string(file).map_err(|error| refused(file, &error)))
    }

    /// The same while packets come, when nothing may be waited for: from regular files only.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read), or if a file is something that may have one wait.
    #[cfg(all(feature = "live", target_os = "linux"))]
    pub fn read_again(&self) -> Result<FunctionOptions, String> {
        self.options(regular)
    }
}

fn refused(file: &Path, error: &io::Error) -> String {
    format!("{}: {}", file.display(), without_code(error))
}

/// Contents of a regular file; opening a file of another kind may block for ever.
#[cfg(all(feature = "live", target_os = "linux"))]
fn regular(file: &Path) -> Result<String, String> {
    use std::io::Read as _;
    use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};

    let mut opened = fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(file)
        .map_err(|error| refused(file, &error))?;
    let kind = opened.metadata().map_err(|error| refused(file, &error))?.file_type();
    let found = match kind {
        _ if kind.is_file() => {
            let mut text = String::new();
            return match opened.read_to_string(&mut text) {
                Ok(_) => Ok(text),
                Err(error) => Err(refused(file, &error)),
            };
        }
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_dir() => "a folder",
        _ => "a device",
    };
    Err(format!("{}: expected a regular file, found {found}", file.display()))
}
