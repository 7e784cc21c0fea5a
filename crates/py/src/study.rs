//! Studies, as Python runs them.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use trueplane_studies::{Named, all, is_file, is_log};
use trueplane_study::Threads;
use trueplane_units::{Kind, Parameter};

use crate::report::Report;
use crate::{errors, watch};

/// A study of the command line.
#[pyclass(frozen, module = "trueplane._native")]
pub(crate) struct Study(Named);

#[pymethods]
impl Study {
    /// The name, `subsystem.verb`.
    #[getter]
    fn name(&self) -> &str {
        self.0.name
    }

    /// The paragraphs of the help text.
    #[getter]
    fn about(&self) -> Vec<String> {
        trueplane_units::parameter::paragraphs(self.0.about)
    }

    /// Whether the study runs on several threads.
    #[getter]
    fn has_threads(&self) -> bool {
        self.0.threads != Threads::One
    }

    /// The parameters, in the order of help texts, each as a dictionary.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        described(py, &self.0.parameters())
    }

    /// Runs the study with these parameters, whose values are written as on the command line.
    ///
    /// `names` are paths, each with the name that it has in the report and in errors.
    #[pyo3(signature = (given, threads=None, progress=None, names=vec![]))]
    fn run(
        &self,
        py: Python<'_>,
        given: Vec<(String, String)>,
        threads: Option<u16>,
        progress: Option<&Bound<'_, PyAny>>,
        names: Vec<(String, String)>,
    ) -> PyResult<Report> {
        if threads.is_some_and(|threads| !(1..=1024).contains(&threads)) {
            return Err(errors::parameter("threads: expected 1 to 1024".to_owned()));
        }
        let study = self.0;
        let threads = if self.has_threads() { threads } else { Some(1) };
        let found = watch::run(py, threads, progress, move |observer| {
            let given: Vec<(&str, &str)> =
                given.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
            study.run(&given, observer)
        })?;
        let renamed = renaming(names);
        match found {
            Ok(report) => Ok(Report::new(report, renamed)),
            Err(error) => Err(errors::exception(&error, renamed(&error.to_string()))),
        }
    }
}

/// Replaces the paths of temporary files by the names that the user knows them by.
pub(crate) fn renaming(names: Vec<(String, String)>) -> impl Fn(&str) -> String {
    move |text: &str| names.iter().fold(text.to_owned(), |text, (path, name)| text.replace(path, name))
}

/// Parameters as dictionaries.
pub(crate) fn described<'py>(py: Python<'py>, parameters: &[Parameter]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let described = parameters.iter().map(|parameter| {
        let about = PyDict::new(py);
        let (names, words) = ((parameter.names)(), (parameter.words)());
        let choices = names.iter().map(|name| name.name).chain(words.iter().map(|word| word.name));
        let kind = match parameter.shape.kind {
            Kind::Switch => "bool",
            Kind::Number => "float",
            Kind::Text => "str",
        };
        about.set_item("name", parameter.field)?;
        about.set_item("doc", parameter.paragraphs())?;
        about.set_item("kind", kind)?;
        about.set_item("is_list", parameter.shape.is_list)?;
        about.set_item("is_switch", parameter.is_switch)?;
        about.set_item("is_file", is_file(parameter))?;
        about.set_item("is_log", is_log(parameter))?;
        about.set_item("is_workload", parameter.value == "WORKLOAD")?;
        about.set_item("unit", parameter.unit)?;
        about.set_item("required", parameter.required)?;
        about.set_item("positional", parameter.positional)?;
        about.set_item("default", parameter.default)?;
        about.set_item("default_words", parameter.default_words)?;
        about.set_item("choices", choices.collect::<Vec<_>>())?;
        about.set_item("range", (parameter.range)())?;
        Ok(about)
    });
    described.collect()
}

/// All studies that run anywhere, in the order of their names.
#[pyfunction]
pub(crate) fn studies() -> Vec<Study> {
    // What measures this machine needs Linux and programs beside it.
    all().into_iter().filter(|study| !study.name.ends_with(".experiment")).map(Study).collect()
}
