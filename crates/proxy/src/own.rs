//! What a request has of the fetch that it began for all.

use std::sync::{Mutex, OnceLock, PoisonError};

use http::Response;
use hyper::body::Incoming;
use trueplane_units::Nanos;

use crate::rules::freshness::Times;

/// What a request gets of the fetch that it began, and others who wait do not.
#[derive(Default)]
pub(crate) struct Own {
    private: Mutex<Option<Private>>,
    took: OnceLock<Nanos>,
}

impl Own {
    /// The answer, if it is private.
    pub(crate) fn private(&self) -> Option<Private> {
        self.private.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The answer is private.
    pub(crate) fn give(&self, private: Private) {
        *self.private.lock().unwrap_or_else(PoisonError::into_inner) = Some(private);
    }

    /// The fetch has ended, and took so long.
    pub(crate) fn ended(&self, took: Nanos) {
        // It ends once.
        let _ = self.took.set(took);
    }

    /// How long the fetch took, if it has ended.
    pub(crate) fn took(&self) -> Option<Nanos> {
        self.took.get().copied()
    }
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Own").field("took", &self.took).finish_non_exhaustive()
    }
}

/// The answer of an origin, which one client alone may get.
pub(crate) struct Private {
    pub(crate) response: Response<Incoming>,
    pub(crate) times: Times,
}
