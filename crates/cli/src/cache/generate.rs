//! `trueplane cache generate`

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use trueplane_cache::generate::{Catalogue, Generator, Objects, Profile, WriteError, save_csv, write_csv};
use trueplane_study::Observer;
use trueplane_units::Nanos;

use crate::failure::Failure;
use crate::values::count;
use crate::watch::Watch;

/// Write a synthetic request log with bursts, as CSV with the columns time_ns, key and size.
///
/// The model and the profiles are documented in docs/concepts/cache-profiles.md. The same seed gives the same trace.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What kind of load
    #[arg(long, default_value = "cdn", value_parser = PossibleValuesParser::new(Profile::NAMES))]
    profile: String,

    /// How many requests: 200000, 200K, 1.5M
    #[arg(long, value_name = "N", default_value = "1M", value_parser = count)]
    requests: u64,

    /// Where random draws begin
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// The file to write, compressed if its name ends in .gz, .zst or .xz [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Mean time between requests, instead of the profile's
    #[arg(long, value_name = "TIME")]
    irt: Option<Nanos>,

    /// Objects that can be asked for at a time, instead of the profile's
    #[arg(long, value_name = "N", value_parser = count)]
    objects: Option<u64>,

    /// Zipf exponent of their popularity, instead of the profile's
    #[arg(long, allow_negative_numbers = true)]
    alpha: Option<f64>,
}

/// More requests than these would take a year to write.
const MOST_REQUESTS: u64 = 100_000_000_000_000;
const EXAMPLES: &str = "\
Examples:
  trueplane cache generate --profile storage --requests 10M --out storage.csv.zst
  trueplane cache generate --profile zipf --alpha 0.8 | trueplane cache analyze -";

/// Requests between two reports of progress.
const REPORT: u64 = 1 << 14;

impl Args {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let profile = self.profile()?;
        let generator = Generator::new(&profile, self.requests, self.seed)
            .map_err(|error| Failure::input(error.to_string()))?;
        let watch = Watch::start()?;
        watch.stage("generating", self.requests);
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

    fn profile(&self) -> Result<Profile, Failure> {
        if !(1..=MOST_REQUESTS).contains(&self.requests) {
            return Err(Failure::input(format!(
                "--requests: expected 1 to {MOST_REQUESTS}, got {}",
                self.requests
            )));
        }
        let mut profile = Profile::named(&self.profile)
            .ok_or_else(|| Failure::input(format!("unknown profile \"{}\"", self.profile)))?;
        profile.irt = self.irt.unwrap_or(profile.irt);
        match &mut profile.catalogue {
            Some(Catalogue { objects, alpha, .. }) => {
                *objects = self.objects.map_or(*objects, Objects::Count);
                *alpha = self.alpha.unwrap_or(*alpha);
            }
            None if self.objects.is_some() || self.alpha.is_some() => {
                let message =
                    format!("--objects and --alpha do not apply to {}: its flows never return", self.profile);
                return Err(Failure::input(message));
            }
            None => {}
        }
        Ok(profile)
    }
}
