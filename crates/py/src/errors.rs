//! Errors of studies as exceptions, with the sentence that the command prints.

use pyo3::PyErr;
use pyo3::exceptions::PyKeyboardInterrupt;
use trueplane_studies::Error;
use trueplane_study::Error as StudyError;

/// The exceptions that `python/trueplane/_errors.py` declares.
mod python {
    use pyo3::import_exception;

    import_exception!(trueplane._errors, InternalError);
    import_exception!(trueplane._errors, ParameterError);
    import_exception!(trueplane._errors, TraceError);
    import_exception!(trueplane._errors, UnfinishedError);
}

/// The exception for an error, with this message.
pub(crate) fn exception(error: &Error, message: String) -> PyErr {
    match error {
        Error::Parameter(_) | Error::Study(StudyError::Parameters(_)) => {
            python::ParameterError::new_err(message)
        }
        Error::Study(StudyError::Trace(_)) => python::TraceError::new_err(message),
        Error::Study(StudyError::Internal(_)) => python::InternalError::new_err(message),
        Error::Study(StudyError::Unfinished(_)) => python::UnfinishedError::new_err(message),
        Error::Study(StudyError::Interrupted) => interrupted(),
    }
}

/// The exception for an error of a study.
pub(crate) fn study(error: StudyError) -> PyErr {
    let message = error.to_string();
    exception(&error.into(), message)
}

/// A parameter that only Python has is wrong.
pub(crate) fn parameter(message: String) -> PyErr {
    python::ParameterError::new_err(message)
}

/// Something is wrong with trueplane, or with the machine.
pub(crate) fn internal(message: String) -> PyErr {
    python::InternalError::new_err(message)
}

/// Somebody pressed Ctrl-C.
pub(crate) fn interrupted() -> PyErr {
    PyKeyboardInterrupt::new_err(())
}
