//! The parameters of `cache check`.

use std::path::{Path, PathBuf};

use trueplane_study::Error;
use trueplane_trace::name_of;
use trueplane_units::parameters;

use crate::source::Source;

parameters! {
    /// Parameters of `cache check`.
    #[derive(Clone, Debug)]
    pub struct Options {
        /// Certificate that trueplane cache bound --certificate wrote. It is plain or compressed with gzip, zstd or xz. A dash (-) is standard
        /// input.
        pub certificate: PathBuf => { value: "FILE", required: true, positional: true },
    }
    including {
        /// The trace.
        pub source: Source,
    }
}

impl Options {
    /// The certificate as people call it.
    pub(super) fn name(&self) -> String {
        name_of(&self.certificate)
    }

    /// Refuses parameters that do not fit each other.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.certificate == Path::new("-") && self.source.is_stdin() {
            let message = "the certificate and the trace cannot both be standard input";
            return Err(Error::Parameters(message.to_owned()));
        }
        Ok(())
    }
}
