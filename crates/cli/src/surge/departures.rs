//! The order of service as a file: `--departures FILE`.

use std::fs;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use trueplane_sim::Error;
use trueplane_sim::error::without_code;
use trueplane_sim::surge::options::Options;
use trueplane_sim::surge::tally::{Class, Departure};
use trueplane_sim::trace::TraceError;

use crate::failure::Failure;

/// Refuses more than one run under attack, as far as that can be told without the workload.
pub(super) fn check(options: &Options) -> Result<(), Failure> {
    let sweeps = options.attack_rates.iter().any(|sweep| sweep.from != sweep.to);
    let several = [
        ("policies", options.policies.len() > 1),
        ("rates of users", options.innocent.len() > 1),
        ("attack rates", options.attack_rates.len() > 1 || sweeps),
        ("seeds", options.seeds.is_some_and(|seeds| seeds > 1)),
    ];
    match several.into_iter().find(|(_, several)| *several) {
        Some((what, _)) => Err(Failure::input(format!(
            "--departures is for one policy, one rate of users, one attack rate and one seed: there are several {what}"
        ))),
        None => Ok(()),
    }
}

/// A CSV file of departures, which is only there once it is whole.
pub(super) struct Departures {
    path: PathBuf,
    out: BufWriter<NamedTempFile>,
}

impl Departures {
    /// Begins the file, beside where it will be.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let refuse = |problem: &str| Failure::input(format!("--departures {}: {problem}", path.display()));
        if path.is_dir() {
            return Err(refuse("it is a folder, and a file was expected"));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        fs::metadata(folder).map_err(|error| refuse(&without_code(&error)))?;
        // The error of what comes second names the temporary file.
        let file = NamedTempFile::new_in(folder)
            .map_err(|error| refuse(&without_code(&io::Error::from(error.kind()))))?;
        let mut departures = Self { path: path.to_owned(), out: BufWriter::new(file) };
        departures.line(format_args!("index,class,start_ns,end_ns"))?;
        Ok(departures)
    }

    /// Adds a departure.
    pub(super) fn add(&mut self, departure: Departure) -> Result<(), Error> {
        let Departure { number, class, start, end } = departure;
        let class = if class == Class::Innocent { 'I' } else { 'A' };
        self.line(format_args!("{number},{class},{},{}", start.0, end.0))
    }

    /// Puts the file where it belongs.
    pub(super) fn finish(self) -> Result<(), Failure> {
        let broken = |error: &io::Error| {
            Failure::other(format!("--departures {}: {}", self.path.display(), without_code(error)))
        };
        let file = self.out.into_inner().map_err(|error| broken(error.error()))?;
        file.persist(&self.path).map_err(|error| broken(&error.error))?;
        Ok(())
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) -> Result<(), Error> {
        writeln!(self.out, "{line}").map_err(|source| {
            let trace = format!("--departures {}", self.path.display());
            TraceError::Io { trace, source }.into()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trueplane_core::units::Nanos;

    #[test]
    fn the_file_is_there_once_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("served.csv");
        let mut departures = Departures::create(&path).unwrap();
        let departure = Departure { number: 7, class: Class::Attack, start: Nanos(10), end: Nanos(12) };
        departures.add(departure).unwrap();
        assert!(!path.exists());
        departures.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "index,class,start_ns,end_ns\n7,A,10,12\n");
        drop(Departures::create(&folder.path().join("never.csv")).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "what was begun is gone");
        assert!(Departures::create(folder.path()).is_err());
        assert!(Departures::create(&folder.path().join("no/such.csv")).is_err());
    }
}
