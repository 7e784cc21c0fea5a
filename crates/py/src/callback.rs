//! Functions of Python that simulations call.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use trueplane_study::Observer;

use crate::errors;

/// Calls Python, and keeps the first exception: nothing is called after it, and the simulation stops as soon as it can.
#[derive(Default)]
pub(crate) struct Callbacks {
    raised: Mutex<Option<PyErr>>,
}

impl Callbacks {
    /// What `work` returns; none if it raises, or something has raised before.
    pub(crate) fn call<T>(&self, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Option<T> {
        if self.has_raised() {
            return None;
        }
        match Python::attach(work) {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.raise(error);
                None
            }
        }
    }

    /// The whole number that a function returns. `name` says in the error whose answer it is.
    pub(crate) fn number(
        &self,
        name: &str,
        work: impl FnOnce(Python<'_>) -> PyResult<Py<PyAny>>,
    ) -> Option<u64> {
        self.call(|py| {
            let answer = work(py)?;
            answer.extract(py).map_err(|_| {
                unexpected(&format!("{name}: expected a whole number from 0 to 2**64 - 1"), answer.bind(py))
            })
        })
    }

    /// Stops the simulation by an exception, unless there has been one.
    pub(crate) fn raise(&self, error: PyErr) {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Whether there has been an exception.
    pub(crate) fn has_raised(&self) -> bool {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Raises the first exception, if there has been one.
    pub(crate) fn check(&self, py: Python<'_>) -> PyResult<()> {
        let raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        raised.as_ref().map_or(Ok(()), |error| Err(error.clone_ref(py)))
    }
}

/// Ctrl-C and exceptions end the work.
impl Observer for Callbacks {
    fn interrupted(&self) -> bool {
        let ask = |py: Python<'_>| -> PyResult<()> {
            py.check_signals()?;
            Ok(())
        };
        self.call(ask).is_none()
    }
}

/// The exception for an answer that is not what was expected.
pub(crate) fn unexpected(expected: &str, answer: &Bound<'_, PyAny>) -> PyErr {
    match answer.repr() {
        Ok(found) => errors::parameter(format!("{expected}, got {found}")),
        Err(error) => error,
    }
}
