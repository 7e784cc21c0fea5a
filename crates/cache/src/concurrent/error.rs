//! Why a fetch gave no value.

use std::error::Error;
use std::sync::Arc;

/// An error of a fetch, whatever its type.
pub(super) type AnyError = Box<dyn Error + Send + Sync>;

/// Why [`get_or_fetch`](super::Cache::get_or_fetch) gave no value. All who waited for the fetch get the same.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The fetch returned this error.
    #[error("{0}")]
    Failed(Arc<dyn Error + Send + Sync>),
    /// The fetch panicked, with this message.
    #[error("the fetch panicked: {0}")]
    Panicked(Arc<str>),
    /// The task that the spawner was given was dropped before the fetch ended, as by a runtime that shuts down.
    #[error("the fetch was dropped before it ended")]
    Dropped,
    /// A fetch for many keys brought no value for this one.
    #[error("the fetch brought no value for this key")]
    NotBrought,
    /// So many requests wait for this key that no more may ([`max_waiters`](super::Builder::max_waiters)).
    #[error("{0} requests wait for this key, and no more may")]
    TooManyWaiters(usize),
    /// So many fetches are on their way that no more may be ([`max_fetches`](super::Builder::max_fetches)).
    #[error("{0} fetches are on their way, and no more may be")]
    TooManyFetches(usize),
    /// The fetch of a key asks for the same key, perhaps by way of others: it would wait for itself.
    #[error("the fetch of a key waits for itself")]
    WaitsForItself,
}

impl FetchError {
    /// The error that the fetch returned, if it is an `E`.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        match self {
            FetchError::Failed(error) => error.downcast_ref(),
            _ => None,
        }
    }

    pub(super) fn failed(error: impl Into<AnyError>) -> Self {
        FetchError::Failed(error.into().into())
    }

    /// The error of a panic with this payload.
    pub(super) fn panicked(payload: &(dyn std::any::Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        FetchError::Panicked(text.unwrap_or("without a message").into())
    }
}
