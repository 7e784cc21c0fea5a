//! A study at many points: the rows of all of them in one long table.
//!
//! 1. [`Sweep`]: the study and its points, as a file says them.
//! 2. `store`: a folder that keeps the rows of every point, so that a sweep that was killed goes on from there.
//! 3. [`Swept`]: what has been found, as CSV.

mod file;
mod point;
mod store;
mod swept;

use std::path::Path;

use trueplane_study::report::Report;
use trueplane_study::{Error as StudyError, Observer, cases, render};

use crate::{Error, Named, is_file};

pub use file::InvalidSweep;
use point::{Given, Rows, internal};
use store::Store;
pub use swept::{Failed, Swept};

/// A study and the points at which it is to run.
#[derive(Clone, Debug)]
pub struct Sweep {
    study: Named,
    /// The table whose rows are collected; none: the one that sums the study up.
    table: Option<String>,
    /// Parameters that are the same at all points.
    fixed: Given,
    /// The parameters of each point; at least one.
    points: Vec<Given>,
}

impl Sweep {
    /// The study.
    pub fn study(&self) -> &Named {
        &self.study
    }

    /// The number of points.
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// Runs all points, each on one thread of the pool that this runs on. With a folder as `store`, the rows of points are kept there, and those
    /// that it has do not run again.
    ///
    /// Deterministic, whatever the number of threads. Equal points run once for each time that they are named, unless the store has them.
    ///
    /// # Errors
    /// That of the first point that fails, in their order; with `keep`, points that fail are among the results. The observer interrupts, or the
    /// store cannot be read or written.
    pub fn run(&self, store: Option<&Path>, keep: bool, observer: &dyn Observer) -> Result<Swept, Error> {
        let store = store.map(Store::open).transpose().map_err(internal)?;
        observer.stage("sweeping", self.points.len() as u64);
        let found = cases::over(&self.points, observer, |point| {
            let rows = self.point(point, store.as_ref(), &Quiet(observer));
            observer.advance(1);
            match rows {
                // The point is not to blame.
                Err(Error::Study(error @ (StudyError::Interrupted | StudyError::Internal(_)))) => Err(error),
                Err(error) if !keep => Err(StudyError::Parameters(format!("{}: {error}", shown(point)))),
                rows => Ok(rows),
            }
        })?;
        swept::collect(&self.points, found)
    }

    /// The rows of a point.
    fn point(&self, point: &Given, store: Option<&Store>, observer: &dyn Observer) -> Result<Rows, Error> {
        let given: Vec<(&str, &str)> =
            self.fixed.iter().chain(point).map(|(name, text)| (&**name, &**text)).collect();
        let files: Vec<&str> =
            (self.study.parameters().iter()).filter(|one| is_file(one)).map(|one| one.field).collect();
        let key = store.map(|store| store.key(self.study.name, self.table.as_deref(), &given, &files));
        let key = key.transpose().map_err(internal)?;
        if let (Some(store), Some(key)) = (store, &key)
            && let Some(rows) = store.read(key)
        {
            return Ok((rows, true));
        }
        let report = self.study.run(&given, observer)?;
        let rows = self.rows(&report)?;
        if let (Some(store), Some(key)) = (store, &key) {
            let now = store.key(self.study.name, self.table.as_deref(), &given, &files).map_err(internal)?;
            if now != *key {
                return Err(internal("a file has changed while the sweep ran"));
            }
            store.write(key, &rows).map_err(internal)?;
        }
        Ok((rows, false))
    }

    /// The rows of the table that is collected.
    fn rows(&self, report: &Report) -> Result<Vec<u8>, Error> {
        let ids = || report.tables.iter().map(|table| table.id.as_str()).collect::<Vec<_>>().join(", ");
        let table = match &self.table {
            Some(id) => report.tables.iter().find(|table| table.id == *id),
            None => report.tables.iter().find(|table| table.id != "numbers").or(report.tables.first()),
        };
        let table = table.ok_or_else(|| {
            let wanted = self.table.as_deref().unwrap_or_default();
            Error::Parameter(format!("table: expected one of {}, got \"{wanted}\"", ids()))
        })?;
        render::csv(table).map_err(internal)
    }
}

/// A point in the words of an error.
fn shown(point: &Given) -> String {
    let pairs: Vec<String> = point.iter().map(|(name, text)| format!("{name}={text}")).collect();
    format!("the point {}", pairs.join(" "))
}

/// Passes on that the work is to stop, and says nothing of a point's progress.
struct Quiet<'a>(&'a dyn Observer);

impl Observer for Quiet<'_> {
    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }

    fn elapsed(&self) -> Option<std::time::Duration> {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests;
