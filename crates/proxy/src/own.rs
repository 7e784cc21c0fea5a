//! What a request has of the fetch that it began, and others who wait have not.

use std::sync::{Mutex, PoisonError};

use http::Response;
use hyper::body::Incoming;

use crate::rules::freshness::Times;

/// The answer of an origin, which one client alone may get.
pub(crate) struct Private {
    pub(crate) response: Response<Incoming>,
    pub(crate) times: Times,
}

/// A private answer on its way from a fetch to the request that began it.
#[derive(Default)]
pub(crate) struct Own {
    private: Mutex<Option<Private>>,
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
}
