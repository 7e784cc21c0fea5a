//! A file of what happened to the controller's admission: a line of JSON for each step.

use std::env;
use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::sync::mpsc::channel;

use trueplane_fair::Nanos;
use trueplane_kubernetes::admission::{Record, Step};

use super::lines::{line, step};

/// Name of the variable with the name of the file.
pub(crate) const FILE: &str = "TRUEPLANE_RECORD";

/// Somebody who writes the file, if there is to be one, until nobody tells any more.
pub(crate) fn writer() -> Option<Record> {
    let mut file = BufWriter::new(File::create(env::var(FILE).ok()?).unwrap());
    let (record, told) = channel();
    std::thread::spawn(move || {
        for (at, step) in told {
            writeln!(file, "{}", line(at, &step)).unwrap();
            // The process may end at any time.
            if matches!(step, Step::Next(None)) {
                file.flush().unwrap();
            }
        }
    });
    Some(record)
}

/// Reads the file.
pub(crate) fn read(path: &Path) -> Vec<(Nanos, Step)> {
    let lines = BufReader::new(File::open(path).unwrap()).lines();
    lines.map(|line| step(&serde_json::from_str(&line.unwrap()).unwrap())).collect()
}
