//! `trueplane fair generate`

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use trueplane_fair::workload::{Generate, write_csv};
use trueplane_study::compress::compressed;
use trueplane_trace::without_code;

use crate::failure::Failure;
use crate::watch::Watch;
use crate::written::Written;

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

    /// The file to write, compressed if its name ends in .gz, .zst or .xz; - is standard output, and the default
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
        let path = self.out.as_deref().filter(|path| *path != Path::new("-"));
        let file = path.map(|path| Written::begin("--out", path)).transpose()?;
        let watch = Watch::start()?;
        let log = generate.draw(&watch);
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
