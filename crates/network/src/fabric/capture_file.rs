//! The file of a capture, which is there once it is whole.

use std::io::{self, BufWriter};
use std::path::Path;

use trueplane_study::whole_file::{self, Begun};

use crate::simulator::Capture;

/// A capture on its way to a file; see [`whole_file`].
#[derive(Debug)]
pub(super) struct CaptureFile {
    capture: Capture,
    begun: Begun,
}

impl CaptureFile {
    /// Begins the capture of a link.
    pub(super) fn begin(link: u32, path: &Path) -> io::Result<Self> {
        let (file, begun) = whole_file::begin(path)?;
        Ok(Self { capture: Capture::new(link, BufWriter::new(file)), begun })
    }

    /// The capture, for a network.
    pub(super) fn capture(&self) -> Capture {
        self.capture.clone()
    }

    /// Puts the file where it belongs.
    pub(super) fn finish(self) -> io::Result<()> {
        self.capture.finish()?;
        self.begun.finish()
    }
}
