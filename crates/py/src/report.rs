//! What a study found.

use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyKeyError, PyOSError};
use pyo3::prelude::*;
use trueplane_study::render::{self, Look};
use trueplane_study::report::{self, Cell};

/// A column of a table: its name for programs, its title for people, the type of its values, and the values.
type Column = (String, String, &'static str, Vec<Value>);

/// A value of a table.
#[derive(Clone, Debug, IntoPyObject)]
pub(crate) enum Value {
    /// A cell of words.
    Text(String),
    /// A number of things.
    Count(u64),
    /// Any other number.
    Number(f64),
    /// There is none.
    Missing(Option<bool>),
}

/// A report.
#[pyclass(frozen, module = "trueplane._native")]
pub(crate) struct Report(report::Report);

impl Report {
    /// The report, with all of its sentences and settings `renamed`.
    pub(crate) fn new(mut report: report::Report, renamed: impl Fn(&str) -> String) -> Self {
        let lists = [&mut report.warnings, &mut report.verdict].into_iter().flatten();
        let facts = report.facts.iter_mut().map(|(_, value)| value);
        let parameters = report.parameters.iter_mut().map(|given| &mut given.value);
        for text in lists.chain(facts).chain(parameters).chain([&mut report.title, &mut report.advice]) {
            *text = renamed(text);
        }
        rename(&mut report.document, &renamed);
        Self(report)
    }
}

#[pymethods]
impl Report {
    /// The document that `--json` prints, byte for byte.
    fn json(&self) -> String {
        format!("{:#}\n", self.0.document)
    }

    /// The text that the command prints: the answer alone, or everything.
    #[pyo3(signature = (width=None, details=false))]
    fn text(&self, width: Option<usize>, details: bool) -> String {
        render::text(&self.0, Look { width, color: false, details })
    }

    /// Identifiers of the tables, in the order of the report.
    fn tables(&self) -> Vec<&str> {
        self.0.tables.iter().map(|table| table.id.as_str()).collect()
    }

    /// The columns of the table `id`.
    fn columns(&self, id: &str) -> PyResult<Vec<Column>> {
        let table = self.0.tables.iter().find(|table| table.id == id);
        let table = table.ok_or_else(|| {
            PyKeyError::new_err(format!(
                "expected one of the tables {}, got \"{id}\"",
                self.tables().join(", ")
            ))
        })?;
        let columns = table.columns.iter().enumerate().map(|(place, column)| {
            let cells: Vec<&Cell> = table.rows.iter().map(|row| &row[place]).collect();
            let (kind, values) = typed(&cells);
            (column.name.clone(), column.title.clone(), kind, values)
        });
        Ok(columns.collect())
    }

    /// The whole report as one page of HTML, which links to no other file.
    fn page(&self) -> String {
        render::page(&self.0)
    }

    /// The pictures: the identifier, the title and the drawing of each, as HTML that stands on its own.
    fn pictures(&self) -> Vec<(String, String, String)> {
        let picture = |plot: &report::Plot| (plot.id.clone(), plot.title.clone(), render::figure(plot));
        self.0.plots.iter().map(picture).collect()
    }

    /// Writes the page, its pictures and its data into a folder, and returns the path of the page.
    fn write(&self, folder: &str) -> PyResult<PathBuf> {
        render::write_report(&self.0, Path::new(folder))
            .map_err(|error| PyOSError::new_err(error.to_string()))
    }
}

/// Renames every text in a document.
fn rename(value: &mut serde_json::Value, renamed: &impl Fn(&str) -> String) {
    match value {
        serde_json::Value::String(text) => *text = renamed(text),
        serde_json::Value::Array(values) => values.iter_mut().for_each(|value| rename(value, renamed)),
        serde_json::Value::Object(values) => values.values_mut().for_each(|value| rename(value, renamed)),
        _ => {}
    }
}

/// The type of a column, and its values.
fn typed(cells: &[&Cell]) -> (&'static str, Vec<Value>) {
    let is_text = cells.iter().any(|cell| matches!(cell, Cell::Text(_)));
    let is_count = cells
        .iter()
        .all(|cell| matches!(cell, Cell::Count(_) | Cell::Bytes(_) | Cell::Rate(_) | Cell::Missing));
    let value = |cell: &&Cell| match cell {
        Cell::Missing => Value::Missing(None),
        Cell::Text(text) => Value::Text(text.clone()),
        Cell::Count(count) if is_count => Value::Count(*count),
        Cell::Bytes(bytes) if is_count => Value::Count(bytes.0),
        Cell::Rate(rate) if is_count => Value::Count(rate.0),
        Cell::Count(count) => Value::Number(*count as f64),
        Cell::Bytes(bytes) => Value::Number(bytes.0 as f64),
        Cell::Rate(rate) => Value::Number(rate.0 as f64),
        Cell::Ratio(number)
        | Cell::Change(number)
        | Cell::Nanos(number)
        | Cell::LongTime(number)
        | Cell::Steps(number)
        | Cell::Number(number)
        | Cell::Bound { value: number, .. } => Value::Number(*number),
    };
    let kind = match (is_text, is_count) {
        (true, _) => "str",
        (false, true) => "int",
        (false, false) => "float",
    };
    (kind, cells.iter().map(value).collect())
}
