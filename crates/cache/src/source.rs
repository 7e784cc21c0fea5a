//! The trace that a verb of `trueplane cache` reads, and how.

use std::path::{Path, PathBuf};

use trueplane_study::Error;
use trueplane_trace::{Reading, Trace, name_of};
use trueplane_units::parameters;

parameters! {
    /// The trace of a study.
    #[derive(Clone, Debug)]
    pub struct Source {
        /// Request log, plain or compressed with gzip, zstd or xz. A dash (-) is standard input. See --format for the formats.
        pub trace: PathBuf => { value: "TRACE", required: true, positional: true },
    }
    including {
        /// The way to read it.
        pub reading: Reading,
    }
}

impl Source {
    /// The trace as people call it.
    pub fn name(&self) -> String {
        name_of(&self.trace)
    }

    /// Whether the trace is standard input.
    pub fn is_stdin(&self) -> bool {
        self.trace == Path::new("-")
    }

    /// Opens the trace.
    ///
    /// # Errors
    /// If it cannot be read as it was asked for.
    pub fn open(&self) -> Result<Trace, Error> {
        Ok(Trace::open(&self.trace, &self.reading.options())?)
    }
}
