//! Policies that are not ours.

use pyo3::prelude::*;
use trueplane_cache::Policy;

use crate::callback::Callbacks;

/// A policy of the user's, which can fail.
pub(super) trait Foreign: Policy + Send + Sync {
    /// Keeps the exception that its functions raise.
    fn callbacks(&self) -> &Callbacks;

    /// The objects of Python that it holds.
    fn held(&self) -> Vec<&Py<PyAny>>;
}
