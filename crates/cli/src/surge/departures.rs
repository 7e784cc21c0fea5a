//! The order of service as a file: `--departures FILE`.

use std::io::Write as _;
use std::path::Path;

use trueplane_study::Error;
use trueplane_surge::options::Options;
use trueplane_surge::tally::{Class, Departure};
use trueplane_trace::TraceError;

use crate::failure::Failure;
use crate::written::Written;

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
    out: Written,
}

impl Departures {
    /// Begins the file.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let mut departures = Self { out: Written::begin("--departures", path)? };
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
        self.out.finish()
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) -> Result<(), Error> {
        writeln!(self.out, "{line}")
            .map_err(|source| TraceError::Io { trace: self.out.name().to_owned(), source }.into())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use trueplane_units::Nanos;

    use super::*;

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
