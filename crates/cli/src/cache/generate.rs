//! `trueplane cache generate`

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use trueplane_cache::generate::{Generate, WriteError, save_csv, write_csv};
use trueplane_study::Observer;

use crate::failure::Failure;
use crate::flags::Flags;
use crate::watch::Watch;

/// Write a synthetic request log with bursts, as CSV with the columns time_ns, key and size.
///
/// The page docs/concepts/cache-profiles.md describes the model and the profiles. The same seed gives the same trace.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    generate: Flags<Generate>,

    /// Write the log to this file; .gz, .zst or .xz compresses it [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  trueplane cache generate --profile storage --requests 10M --out storage.csv.zst
  trueplane cache generate --profile zipf --alpha 0.8 | trueplane cache analyze -";

/// Requests between two reports of progress.
const REPORT: u64 = 1 << 14;

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let generate = &self.generate.0;
        let generator = generate.generator()?;
        let watch = Watch::start(false)?;
        watch.stage("generating", *generate.requests);
        let requests = (1..).zip(generator).map(|(count, request)| {
            if count % REPORT == 0 {
                watch.advance(REPORT);
            }
            request
        });
        let stop = watch.interrupted_flag();
        let written = match &self.out {
            Some(path) => save_csv(requests, path, stop),
            None => write_csv(requests, &mut io::stdout().lock(), stop),
        };
        watch.finish();
        match written {
            Ok(_) => Ok(()),
            // Whoever reads our output has seen enough.
            Err(WriteError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            Err(error @ WriteError::File { .. }) => Err(Failure::input(error.to_string())),
            Err(WriteError::Interrupted) => Err(Failure::interrupted()),
            Err(error) => Err(Failure::other(error.to_string())),
        }
    }
}
