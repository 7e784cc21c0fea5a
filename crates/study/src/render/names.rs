//! The names of the files of a report.

use std::collections::HashSet;

use crate::report::Report;

/// The document that `--json` prints.
pub(super) const DOCUMENT: &str = "report.json";

/// The names of a report's CSV files, in the order of its tables and plots.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FileNames {
    pub(super) tables: Vec<String>,
    pub(super) plots: Vec<String>,
}

impl FileNames {
    /// Safe and distinct names, whatever the ids are, also where case does not count.
    pub(super) fn of(report: &Report) -> Self {
        let mut taken = HashSet::new();
        let mut name = |id: &str| {
            let stem = stem(id);
            let numbered = (2..).map(|n| format!("{stem}-{n}"));
            let mut free = std::iter::once(stem.clone()).chain(numbered);
            let stem = free.find(|name| taken.insert(name.to_lowercase())).unwrap_or(stem);
            format!("{stem}.csv")
        };
        let tables = report.tables.iter().map(|table| name(&table.id)).collect();
        let plots = report.plots.iter().map(|plot| name(&plot.id)).collect();
        Self { tables, plots }
    }
}

/// `id` without what a path, a shell or a URL could misread.
fn stem(id: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let stem: String = id.chars().map(safe).collect();
    // A leading dot hides a file, a leading dash looks like an option.
    let stem = stem.trim_start_matches(['.', '-']);
    if stem.is_empty() { "data".to_owned() } else { stem.to_owned() }
}
