//! `trueplane fair generate`

use std::fs;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use trueplane_sim::error::without_code;
use trueplane_sim::fair::workload::{Generate, JobLog, write_csv};

use crate::failure::Failure;
use crate::watch::Watch;

/// Write a synthetic log of jobs, as CSV with the columns submit, duration, user and one for every resource.
///
/// A few users are always there and many now and then; the same seed gives the same log. trueplane fair simulate can draw the same log
/// by itself: generate:users=600,tasks=1M.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// How many users submit tasks [default: 600]
    #[arg(long, value_name = "N")]
    users: Option<String>,

    /// How many tasks: 200000, 200K, 1M [default: 1M]
    #[arg(long, value_name = "N")]
    tasks: Option<String>,

    /// How many resources they need [default: 2]
    #[arg(long, value_name = "N")]
    resources: Option<String>,

    /// The exponent of Zipf's law of the users; 0: all alike [default: 1.1]
    #[arg(long, value_name = "NUMBER")]
    zipf: Option<String>,

    /// How long users submit tasks [default: 24h]
    #[arg(long, value_name = "TIME")]
    span: Option<String>,

    /// How many a user submits in a session, on average [default: 50]
    #[arg(long, value_name = "N")]
    burst: Option<String>,

    /// The mean time between two of them [default: 1s]
    #[arg(long, value_name = "TIME")]
    gap: Option<String>,

    /// The median time that tasks run [default: 5min]
    #[arg(long, value_name = "TIME")]
    duration: Option<String>,

    /// The standard deviation of its logarithm [default: 1.5]
    #[arg(long, value_name = "NUMBER")]
    spread: Option<String>,

    /// How much what is needed of one resource tells about another, 0 to 1 [default: 0.5]
    #[arg(long, value_name = "NUMBER")]
    correlation: Option<String>,

    /// Where random draws begin [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<String>,

    /// The file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  trueplane fair generate --users 100 --tasks 100K --out jobs.csv
  trueplane fair generate --tasks 10K --span 1h --zipf 0.8 | trueplane fair simulate - --capacity 60%";

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let generate = self.generate()?;
        let file = self.out.as_deref().map(begin).transpose()?;
        let watch = Watch::start()?;
        let log = generate.draw(&watch);
        watch.finish();
        let log = log?;
        match (file, self.out) {
            (Some(file), Some(path)) => save(&log, file, &path),
            _ => match write(&log, io::stdout().lock()) {
                // Whoever reads our output has seen enough.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
                Err(error) => Err(Failure::other(format!("stdout: {}", without_code(&error)))),
                Ok(()) => Ok(()),
            },
        }
    }

    /// What is drawn; every flag is the key of the same name after `generate:`.
    fn generate(&self) -> Result<Generate, Failure> {
        let flags = [
            ("users", &self.users),
            ("tasks", &self.tasks),
            ("resources", &self.resources),
            ("zipf", &self.zipf),
            ("span", &self.span),
            ("burst", &self.burst),
            ("gap", &self.gap),
            ("duration", &self.duration),
            ("spread", &self.spread),
            ("correlation", &self.correlation),
            ("seed", &self.seed),
        ];
        let mut keys = Vec::new();
        for (key, value) in flags {
            let Some(value) = value else { continue };
            let pair = format!("{key}={value}");
            // One by one, so that no value is taken for another key.
            let refused = value.contains(',').then(|| format!("expected one value, got \"{value}\""));
            match refused.map_or_else(|| pair.parse::<Generate>().map(drop), Err) {
                Ok(()) => keys.push(pair),
                Err(problem) => return Err(Failure::input(format!("--{key}: {problem}"))),
            }
        }
        keys.join(",").parse().map_err(Failure::input)
    }
}

/// Begins a file beside where it will be.
fn begin(path: &Path) -> Result<NamedTempFile, Failure> {
    let refuse = |problem: &str| Failure::input(format!("--out {}: {problem}", path.display()));
    if path.is_dir() {
        return Err(refuse("it is a folder, and a file was expected"));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    fs::metadata(folder).map_err(|error| refuse(&without_code(&error)))?;
    // The error of what comes second names the temporary file.
    NamedTempFile::new_in(folder).map_err(|error| refuse(&without_code(&io::Error::from(error.kind()))))
}

fn write(log: &JobLog, out: impl Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    write_csv(log, &mut out)?;
    out.flush()
}

/// Writes the log to `file`, and puts that where it belongs once it is whole.
fn save(log: &JobLog, file: NamedTempFile, path: &Path) -> Result<(), Failure> {
    let broken =
        |error: &io::Error| Failure::other(format!("--out {}: {}", path.display(), without_code(error)));
    write(log, file.as_file()).map_err(|error| broken(&error))?;
    file.persist(path).map_err(|error| broken(&error.error))?;
    Ok(())
}
