//! `trueplane sweep`

use std::io::Write as _;
use std::path::PathBuf;

use trueplane_studies::Error;
use trueplane_studies::sweep::{Failed, Sweep};

use crate::failure::Failure;
use crate::output::print;
use crate::threads;
use crate::watch::Watch;
use crate::written::Written;

/// Run a study at many points that a file lists, and write the rows of all of them as one CSV table.
///
/// The file is in TOML. It names the study, such as study = "cache.compare", and has the values that are the same at all points in a table parameters.
/// The points are in one of three tables. The table grid has a list of values for each parameter, and all combinations run. The table zip has lists of
/// the same length. The tables points have one point each. Parameters have the names of the flags, with underscores. With table = "NAME" the rows of
/// another table are collected: --csv of the study lists them.
///
/// The first columns are the parameters of the point, and the others are those of the study's table. Points run on all cores, each on one. The same file
/// gives the same table for any number of threads.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  trueplane sweep examples/sweep.toml")]
pub(crate) struct Args {
    /// File that lists the points, in TOML
    #[arg(value_name = "SWEEP")]
    file: PathBuf,

    /// Folder for the rows of every point. A sweep that was stopped goes on from there, and a wider one runs only what is new. A point runs again if its
    /// parameters, the content of its log, or the version of trueplane change
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    store: Option<PathBuf>,

    /// Go on after a point that fails, and leave out its rows. Without this flag, the first error ends the sweep
    #[arg(long, help_heading = "Output")]
    keep_going: bool,

    /// Write the table to this file [default: standard output]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,

    /// Threads to run on, 1 to 1024 [default: all cores]
    #[arg(long, value_name = "N", value_parser = threads::parse, help_heading = "Output")]
    threads: Option<u16>,
}

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let name = self.file.display();
        let text = std::fs::read_to_string(&self.file)
            .map_err(|error| Failure::input(format!("{name}: {}", trueplane_trace::without_code(&error))))?;
        let sweep = Sweep::parse(&text).map_err(|error| Failure::input(format!("{name}: {error}")))?;
        if let Some(out) =
            self.out.as_ref().filter(|out| out.canonicalize().ok() == self.file.canonicalize().ok())
        {
            return Err(Failure::input(format!("--out {}: it is the sweep itself", out.display())));
        }
        let out = self.out.as_ref().map(|path| Written::begin("--out", path)).transpose()?;
        let pool = threads::pool(self.threads)?;
        let watch = Watch::start(false)?;
        let swept = pool.install(|| sweep.run(self.store.as_deref(), self.keep_going, &watch));
        watch.finish();
        let swept = swept.map_err(|error| match error {
            Error::Parameter(message) => Failure::input(format!("{name}: {message}")),
            Error::Study(error) => error.into(),
        })?;
        match out {
            Some(mut out) => {
                out.write_all(&swept.csv).map_err(|error| out.broken(&error))?;
                out.finish()?;
            }
            None => print(&String::from_utf8_lossy(&swept.csv))?,
        }
        let failed = swept.failed.len();
        match swept.failed.first() {
            None => Ok(()),
            Some(Failed { point, error }) => {
                let point: Vec<String> = point.iter().map(|(name, text)| format!("{name}={text}")).collect();
                let points = sweep.points();
                Err(Failure::other(format!(
                    "{failed} of {points} points failed; the first is {}: {error}",
                    point.join(" ")
                )))
            }
        }
    }
}
