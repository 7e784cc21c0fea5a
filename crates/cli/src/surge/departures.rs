//! The order of service as a file: `--departures FILE`.

use std::io::Write as _;
use std::path::Path;

use trueplane_study::Error;
use trueplane_surge::tally::Departure;
use trueplane_trace::TraceError;

use crate::failure::Failure;
use crate::written::Written;

/// A CSV file of departures, which is only there once it is whole.
pub(super) struct Departures {
    out: Written,
}

impl Departures {
    /// Begins the file.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let mut departures = Self { out: Written::begin("--departures", path)? };
        departures.line(format_args!("{}", Departure::COLUMNS))?;
        Ok(departures)
    }

    /// Adds a departure.
    pub(super) fn add(&mut self, departure: Departure) -> Result<(), Error> {
        self.line(format_args!("{departure}"))
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

    use trueplane_surge::tally::Class;
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
