//! Requests as columns: those of a log, and those of a generator.

use numpy::{IntoPyArray as _, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use trueplane_cache::generate::Generate;
use trueplane_cache::source::Source;
use trueplane_study::{Error, Observer};
use trueplane_trace::{Clock, Request, key_of_text};
use trueplane_units::{Parameter, Parameters as _, parameter};

use crate::{errors, study, watch};

/// Requests between two reports of progress.
const REPORT: usize = 1 << 14;

/// The columns of requests.
#[derive(Default)]
struct Columns {
    times: Vec<u64>,
    keys: Vec<u64>,
    sizes: Vec<u64>,
    fetches: Vec<u64>,
    has_sizes: bool,
    has_fetches: bool,
}

impl Columns {
    fn push(&mut self, request: &Request) {
        self.times.push(request.time.0);
        self.keys.push(request.key);
        if self.has_sizes {
            self.sizes.push(request.size);
        }
        if self.has_fetches {
            self.fetches.push(request.fetch.0);
        }
    }
}

/// A function that returns requests, with its parameters.
#[pyclass(frozen, module = "trueplane._native")]
#[derive(Clone, Copy)]
pub(crate) struct RequestSource {
    name: &'static str,
    about: &'static str,
    parameters: fn() -> Vec<Parameter>,
    run: Run,
}

/// Makes the columns, for parameters by the names of their fields.
type Run = fn(&[(&str, &str)], &dyn Observer) -> Result<Columns, Error>;

/// Arrays by the names of columns.
type Arrays<'py> = Vec<(&'static str, Bound<'py, PyArray1<u64>>)>;

#[pymethods]
impl RequestSource {
    /// The name, `subsystem.verb`.
    #[getter]
    fn name(&self) -> &str {
        self.name
    }

    /// The paragraphs of the help text.
    #[getter]
    fn about(&self) -> Vec<String> {
        parameter::paragraphs(self.about)
    }

    /// Whether it runs on several threads.
    #[getter]
    fn has_threads(&self) -> bool {
        false
    }

    /// The parameters, as those of a study.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        study::described(py, &(self.parameters)())
    }

    /// The requests: arrays by the names of columns. The parameters are those of a study.
    #[pyo3(signature = (given, threads=None, progress=None, names=vec![]))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        given: Vec<(String, String)>,
        threads: Option<u16>,
        progress: Option<&Bound<'py, PyAny>>,
        names: Vec<(String, String)>,
    ) -> PyResult<Arrays<'py>> {
        let run = self.run;
        let found = watch::run(py, Some(threads.unwrap_or(1)), progress, move |observer| {
            let given: Vec<(&str, &str)> =
                given.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            run(&given, observer)
        })?;
        let columns = found.map_err(|error| {
            let message = study::renaming(names)(&error.to_string());
            errors::exception(&error.into(), message)
        })?;
        let mut named = vec![("time_ns", columns.times), ("key", columns.keys)];
        named.extend(columns.has_sizes.then_some(("size", columns.sizes)));
        named.extend(columns.has_fetches.then_some(("fetch_ns", columns.fetches)));
        Ok(named.into_iter().map(|(name, column)| (name, column.into_pyarray(py))).collect())
    }
}

fn read(given: &[(&str, &str)], observer: &dyn Observer) -> Result<Columns, Error> {
    let source = Source::given(given).map_err(Error::Parameters)?;
    let trace = source.open()?;
    let mut columns =
        Columns { has_sizes: trace.fields().size, has_fetches: trace.fields().fetch, ..Columns::default() };
    let mut reader = trace.reader(Clock::Timestamps)?;
    observer.stage("reading the trace", trace.bytes());
    let (mut chunk, mut position) = (Vec::new(), 0);
    while reader.next_chunk(&mut chunk)? {
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        chunk.iter().for_each(|request| columns.push(request));
        observer.advance(reader.position() - position);
        position = reader.position();
    }
    Ok(columns)
}

fn generate(given: &[(&str, &str)], observer: &dyn Observer) -> Result<Columns, Error> {
    let generate = Generate::given(given).map_err(Error::Parameters)?;
    let mut columns = Columns { has_sizes: true, ..Columns::default() };
    observer.stage("generating", *generate.requests);
    for request in generate.generator()? {
        columns.push(&request);
        if columns.keys.len().is_multiple_of(REPORT) {
            observer.advance(REPORT as u64);
            if observer.interrupted() {
                return Err(Error::Interrupted);
            }
        }
    }
    Ok(columns)
}

/// The functions that return requests.
#[pyfunction]
pub(crate) fn request_sources() -> Vec<RequestSource> {
    vec![
        RequestSource {
            name: "cache.generate",
            about: "Make a synthetic request log with bursts: a table with the columns time_ns, key and size.\n\n\
                    The page docs/concepts/cache-profiles.md describes the model and the profiles. The same seed gives the same requests.",
            parameters: parameter::table::<Generate>,
            run: generate,
        },
        RequestSource {
            name: "cache.requests",
            about: "Read a request log of any format: a table with the columns time_ns and key, and with size and fetch_ns if the log has them.\n\n\
                    Keys are numbers below 2⁶⁴. A key that is another text is its hash, by SipHash-2-4 under the key zero. The table is in \
                    memory, with 8 bytes in each cell.",
            parameters: parameter::table::<Source>,
            run: read,
        },
    ]
}

/// The key that a text stands for in every log: the number that it writes, or its hash.
#[pyfunction]
pub(crate) fn key_of(text: &str) -> u64 {
    key_of_text(text.as_bytes())
}
