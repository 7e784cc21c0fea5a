//! `trueplane fair generate`

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use trueplane_fair::workload::{Generate, write_csv};
use trueplane_study::compress::compressed;
use trueplane_trace::without_code;

use crate::failure::Failure;
use crate::flags::Flags;
use crate::watch::Watch;
use crate::written::Written;

/// Write a synthetic log of jobs, as CSV with the columns submit, duration, user and one for every resource.
///
/// A few users are always active, and many are active now and then. The same seed gives the same log. trueplane fair simulate can generate the
/// same log itself: generate:users=600,tasks=1M.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    generate: Flags<Generate>,

    /// Write the log to this file; .gz, .zst or .xz compresses it [default: -, standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  trueplane fair generate --users 100 --tasks 100K --out jobs.csv
  trueplane fair generate --tasks 10K --span 1h --zipf 0.8 | trueplane fair simulate - --capacity 60%";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let path = self.out.as_deref().filter(|path| *path != Path::new("-"));
        let file = path.map(|path| Written::begin("--out", path)).transpose()?;
        let watch = Watch::start(false)?;
        let log = self.generate.0.draw(&watch);
        watch.finish();
        let log = log?;
        let Some((path, mut file)) = path.zip(file) else {
            return match write_csv(&log, io::stdout().lock()) {
                // Whoever reads our output has seen enough.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                Err(error) => Err(Failure::other(format!("stdout: {}", without_code(&error)))),
                Ok(()) => Ok(()),
            };
        };
        compressed(path, &mut file, |out| write_csv(&log, out)).map_err(|error| file.broken(&error))?;
        file.finish()
    }
}
