//! What readers of job logs share: their progress, what they leave out, and which resources they read.

use trueplane_study::{Error, Observer};
use trueplane_trace::{Rows, TraceError};

use super::LogOptions;

/// Rows between two reports of progress, and two questions whether to stop.
const REPORT: u64 = 1 << 16;

/// Tells an observer how far the bytes of files have been read.
pub(super) struct Progress<'a> {
    observer: &'a dyn Observer,
    rows: u64,
    /// Bytes of the file that have been reported.
    at: u64,
}

impl<'a> Progress<'a> {
    /// Before the first of `bytes` in all.
    pub(super) fn new(observer: &'a dyn Observer, bytes: u64) -> Self {
        observer.stage("reading", bytes);
        Self { observer, rows: 0, at: 0 }
    }

    /// Rows that have been read, after the header if there is one.
    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Another row has been read, up to `position` in its file.
    pub(super) fn row(&mut self, position: impl Fn() -> u64) -> Result<(), Error> {
        self.rows += 1;
        if self.rows.is_multiple_of(REPORT) { self.to(position()) } else { Ok(()) }
    }

    /// The file has been read up to `position`.
    pub(super) fn to(&mut self, position: u64) -> Result<(), Error> {
        self.observer.advance(position - self.at);
        self.at = position;
        if self.observer.interrupted() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// The next file begins.
    pub(super) fn next_file(&mut self) {
        self.at = 0;
    }
}

/// The numbers of those of `known` resources that `options` choose, or else of the `usual` first ones.
pub(super) fn chosen(known: &[&str], usual: usize, options: &LogOptions) -> Result<Vec<usize>, String> {
    let Some(names) = &options.resources else { return Ok((0..usual).collect()) };
    let number = |name: &String| {
        let found = known.iter().position(|known| known == name);
        found.ok_or_else(|| {
            format!("expected resources among {}, got \"{}\"", known.join(", "), name.escape_debug())
        })
    };
    names.iter().map(number).collect()
}

/// That the task of the row is one too many.
pub(super) fn too_many(rows: &Rows) -> TraceError {
    rows.error("expected fewer than 2^32 tasks, found more")
}

/// Tasks that need nothing of anything.
pub(super) const NEED_NOTHING: &str = "tasks that need nothing";

/// Tasks of which nobody says when they started.
pub(super) const NEVER_RAN: &str = "tasks that never ran";
