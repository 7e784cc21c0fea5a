//! The trace that a verb of `trueplane cache` studies.

use std::path::{Path, PathBuf};

use clap::Args;
use trueplane_study::Error;
use trueplane_trace::Trace;

use crate::failure::Failure;
use crate::reading::ReadingArgs;

#[derive(Args)]
pub(crate) struct TraceArgs {
    /// The request log: CSV, oracleGeneral, Twitter, ARC .lis, pcap or a web server's log (common, JSON
    /// lines, CloudFront), plain or as gzip, zstd or xz; - is
    /// standard input
    #[arg(value_name = "TRACE", help_heading = None)]
    path: PathBuf,

    #[command(flatten)]
    reading: ReadingArgs,
}

impl TraceArgs {
    /// Whether the trace is standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Where the trace is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn open(&self) -> Result<Trace, Failure> {
        Ok(Trace::open(&self.path, &self.reading.options()).map_err(Error::from)?)
    }
}
