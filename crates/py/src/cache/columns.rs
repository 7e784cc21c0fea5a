//! Columns of NumPy as the requests of a study, without a copy.

use std::sync::Arc;

use numpy::{PyArray1, PyArrayMethods as _};
use pyo3::prelude::*;
use trueplane_trace::{Fields, InMemory, Request, RequestColumns};
use trueplane_units::Nanos;

use crate::arrays::check_length;

/// A column, whose array Python keeps.
type Column = Py<PyArray1<u64>>;

/// A piece of the rows: times, keys, sizes and fetch times, all of one length.
type Piece = (Option<Column>, Column, Option<Column>, Option<Column>);

/// A table of requests that studies can read by a path.
#[pyclass(frozen, module = "trueplane._native")]
pub(crate) struct RequestTable(InMemory);

#[pymethods]
impl RequestTable {
    /// The pieces all have the same columns. Units are in nanoseconds; no time of a row is 2⁶⁴ ns or later.
    #[new]
    fn new(
        py: Python<'_>,
        pieces: Vec<Piece>,
        time_unit: u64,
        fetch_unit: u64,
        guesses_time_unit: bool,
    ) -> PyResult<Self> {
        let mut rows = 0;
        let mut starts = Vec::new();
        for (times, keys, sizes, fetches) in &pieces {
            let length = keys.bind(py).len()?;
            for column in [times, sizes, fetches].into_iter().flatten() {
                check_length("columns", column.bind(py).len()?, length, false)?;
            }
            starts.push(rows);
            rows += length as u64;
        }
        let fields = pieces.first().map_or(Fields::default(), |(times, _, sizes, fetches)| Fields {
            time: times.is_some(),
            size: sizes.is_some(),
            fetch: fetches.is_some(),
        });
        let columns =
            Pieces { pieces, starts, length: rows, fields, time_unit, fetch_unit, guesses_time_unit };
        Ok(Self(InMemory::new(Arc::new(columns))))
    }

    /// The path that stands for the table as long as it lives.
    #[getter]
    fn path(&self) -> String {
        self.0.path().display().to_string()
    }
}

/// The rows, piece by piece.
struct Pieces {
    pieces: Vec<Piece>,
    /// Rows before each piece.
    starts: Vec<u64>,
    length: u64,
    fields: Fields,
    time_unit: u64,
    fetch_unit: u64,
    guesses_time_unit: bool,
}

impl RequestColumns for Pieces {
    fn len(&self) -> u64 {
        self.length
    }

    fn fields(&self) -> Fields {
        self.fields
    }

    fn guesses_time_unit(&self) -> bool {
        self.guesses_time_unit
    }

    fn read(&self, first: u64, count: usize, out: &mut Vec<Request>) {
        // Python may write to an array, so that one is read only while this thread has the interpreter.
        Python::attach(|py| {
            let Some(mut at) = self.starts.partition_point(|start| *start <= first).checked_sub(1) else {
                return;
            };
            let mut skip = first - self.starts[at];
            let mut left = count;
            while left > 0 && at < self.pieces.len() {
                let before = out.len();
                self.read_piece(py, &self.pieces[at], skip as usize, left, out);
                left -= out.len() - before;
                (at, skip) = (at + 1, 0);
            }
        });
    }
}

impl Pieces {
    fn read_piece(&self, py: Python<'_>, piece: &Piece, skip: usize, count: usize, out: &mut Vec<Request>) {
        let (times, keys, sizes, fetches) = piece;
        let keys = keys.bind(py).readonly();
        let [times, sizes, fetches] =
            [times, sizes, fetches].map(|column| column.as_ref().map(|column| column.bind(py).readonly()));
        let [times, sizes, fetches] =
            [&times, &sizes, &fetches].map(|column| column.as_ref().map(|column| column.as_array()));
        let rows = keys.as_array().into_iter().copied().enumerate().skip(skip).take(count);
        out.extend(rows.map(|(row, key)| Request {
            time: Nanos(times.map_or(0, |times| times[row].wrapping_mul(self.time_unit))),
            key,
            size: sizes.map_or(1, |sizes| sizes[row]),
            fetch: Nanos(fetches.map_or(0, |fetches| fetches[row].wrapping_mul(self.fetch_unit))),
        }));
    }
}
