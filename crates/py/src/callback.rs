//! Functions of Python that simulations call.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use trueplane_study::Observer;

use crate::errors;

/// Calls Python, and keeps the first exception: nothing is called after it, and the simulation stops as soon as it can.
#[derive(Default)]
pub(crate) struct Callbacks(Mutex<State>);

/// Whether something has been raised.
#[derive(Default)]
enum State {
    #[default]
    Sound,
    /// Nobody has seen it yet.
    Raised(PyErr),
    /// It has been seen. It is not kept, as it holds on to what was running.
    Failed,
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
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Sound) {
            *state = State::Raised(error);
        }
    }

    /// Whether there has been an exception.
    pub(crate) fn has_raised(&self) -> bool {
        !matches!(*self.0.lock().unwrap_or_else(PoisonError::into_inner), State::Sound)
    }

    /// Raises the first exception, once.
    pub(crate) fn check(&self) -> PyResult<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Sound) {
            return Ok(());
        }
        match std::mem::replace(&mut *state, State::Failed) {
            State::Raised(error) => Err(error),
            _ => Err(errors::parameter(
                "the cache has failed, as its policy raised an exception before: make a new one".to_owned(),
            )),
        }
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
