//! `trueplane cache check`

use std::path::{Path, PathBuf};

use trueplane_cache::check::check;

use super::trace::TraceArgs;
use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::watch::Watch;

/// Verify a certificate of trueplane cache bound: both bounds anew from the trace, in integers, by none of the solver's code.
///
/// The certificate says what cache it is about; the trace, and the flags by which it is read, are those given to cache bound, and other
/// requests are refused. Exit status 0: both bounds are true. 2: the certificate is refused, in one line that says why.
#[derive(clap::Args)]
#[command(
    override_usage = "trueplane cache check <FILE> <TRACE> [OPTIONS]",
    after_help = EXAMPLES
)]
pub(crate) struct Args {
    /// The certificate, plain or as gzip, zstd or xz; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    output: OutputArgs,
}

const EXAMPLES: &str = "\
The certificate says what cache it is about; give the flags by which the trace is read as to cache bound.
Exit status 0: both bounds are true. 2: the certificate is refused, in one line that says why.

Examples:
  trueplane cache bound trace.csv --latency 100ms --capacity 5000 --certificate proof.json.zst
  trueplane cache check proof.json.zst trace.csv
  trueplane cache check proof.json trace.csv --columns time=2,key=5 --time-unit ms --json";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        self.output.check()?;
        if self.file == Path::new("-") && self.trace.is_stdin() {
            return Err(Failure::input("the certificate and the trace cannot both be standard input"));
        }
        let trace = self.trace.open()?;
        let watch = Watch::start()?;
        let checked = check(&self.file, &trace, &watch);
        watch.finish();
        self.output.emit(&checked?.report())
    }
}
